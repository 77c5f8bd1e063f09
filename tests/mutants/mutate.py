# SPDX-License-Identifier: GPL-2.0
"""All small faults that can be put into a C file by rule.

The file is cut into tokens, and function bodies into statements; that is all of
C that is understood here. What a rule makes of code that the preprocessor turns
into something else may not compile, and is then not counted.
"""

import collections
import dataclasses
import hashlib
import re

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<num>\d[\w.]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<punct><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.X | re.S | re.M)

Token = collections.namedtuple("Token", "kind text start end")

# What is said to people or to debuggers, and what the compiler or lockdep checks.
SILENT = re.compile(r"(trace_|pr_|dev_|dprintk|lockdep_|might_sleep|WARN|BUILD_BUG"
                    r"|static_assert|kmemleak_|__set_current_state)")
TYPES = set("""struct union enum const static unsigned signed int char long short
    bool void u8 u16 u32 u64 s32 s64 size_t ssize_t __be32 __be64 typeof
    LIST_HEAD DECLARE_BITMAP""".split())
BEFORE_CONDITION = set("( [ { , ; = += -= |= ? : return".split())
BOUND = re.compile(r"[A-Z0-9_]*(MAX|MIN|BYTES|LEN|LIMIT|SIZE|HDR|PREFIX)[A-Z0-9_]*$")
SWAPS = {
    "compare": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    "logic": {"&&": "||", "||": "&&"},
    "arithmetic": {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<<": ">>",
                   ">>": "<<", "&": "|", "|": "&"},
    "assign": {"+=": "-=", "-=": "+=", "|=": "&=", "&=": "|="},
}
RULES = {
    "negate": "the condition of an if, a loop or a ?: is the opposite",
    "not": "a ! or a ~ is left out",
    "compare": "< for <=, == for !=, and so on",
    "logic": "&& for ||",
    "arithmetic": "+ for -, << for >>, & for |, and so on",
    "assign": "+= for -=, |= for &=",
    "constant": "a number or a bound is one more",
    "increment": "a ++ or -- is left out",
    "drop": "a statement is left out: a call, an assignment, a jump",
    "return": "0 is returned for something else, true for false",
}


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One fault: the text from @start to @end of @file becomes @new."""
    file: str
    function: str
    rule: str
    start: int
    end: int
    new: str
    before: str     # the lines as they are
    after: str      # and as they become
    number: int     # of several with the same lines in one function
    body: str       # the function as it is

    @property
    def key(self):
        """What names it when lines move, and orders mutants at random."""
        return "\0".join((self.file, self.function, self.rule, self.before,
                          self.after, str(self.number)))

    @property
    def rank(self):
        return hashlib.sha256(("1\0" + self.key).encode()).hexdigest()

    def apply(self, source):
        return source[:self.start] + self.new + source[self.end:]


def tokens_of(source):
    return [Token(m.lastgroup, m[0], m.start(), m.end())
            for m in TOKEN.finditer(source) if m.lastgroup != "skip"]


def brackets(toks):
    """From the index of each bracket to that of its partner."""
    partner, open_ = {}, []
    for i, t in enumerate(toks):
        if t.text in ("(", "[", "{"):
            open_.append(i)
        elif t.text in (")", "]", "}"):
            partner[i] = open_.pop()
            partner[partner[i]] = i
    return partner


class Body:
    """The tokens of one function, and what can be wrong in them."""

    def __init__(self, source, toks, partner, first, last):
        self.source, self.toks, self.partner = source, toks, partner
        self.edits = []         # (rule, start, end, new)
        self.quiet = set()      # tokens that no rule touches
        at = first + 1
        while at < last:
            at = self.statement(at)
        for i in range(first + 1, last):
            if i not in self.quiet:
                self.expression(i)

    def edit(self, rule, first, last, new):
        self.edits.append((rule, self.toks[first].start, self.toks[last].end, new))

    def text(self, i):
        return self.toks[i].text

    def end_of(self, i):
        """The index of the ; of the statement that begins at @i."""
        while self.text(i) != ";":
            i = self.partner[i] + 1 if self.text(i) in "([{" else i + 1
        return i

    def statement(self, i):
        """Look at the statement at @i; return the index behind it."""
        t = self.text(i)
        if t == "{":
            end = self.partner[i]
            i += 1
            while i < end:
                i = self.statement(i)
            return end + 1
        if t in ("else", "do"):
            return self.statement(i + 1)
        if t in ("case", "default"):
            while self.text(i) != ":":
                self.quiet.add(i)
                i += 1
            return i + 1
        if self.toks[i].kind == "name" and self.text(i + 1) == ":":
            return i + 2
        if self.text(i + 1) == "(" and self.toks[i].kind == "name" and t != "return":
            end = self.partner[i + 1]
            if t in ("if", "while"):
                self.negate(i + 2, end)
            elif t == "for":
                first = self.end_of(i + 2) + 1
                self.negate(first, self.end_of(first))
            if t in ("if", "while", "for", "switch") or self.loop(end + 1):
                # "do {} while ();" has nothing behind it
                return end + 1 + (self.text(end + 1) == ";")
        end = self.end_of(i)
        self.simple(i, end)
        return end + 1

    def loop(self, i):
        """Is what ends before @i the head of a loop macro?"""
        return self.text(i) == "{" or self.toks[i].kind == "name"

    def simple(self, first, end):
        """A statement from @first to the ; at @end."""
        t = self.text(first)
        if SILENT.match(t):
            self.quiet.update(range(first, end))
        elif t == "return":
            self.returned(first + 1, end)
        elif t in ("goto", "break", "continue"):
            self.edit("drop", first, end - 1, "")
        elif self.declares(first):
            # An array that is longer makes no difference
            for i in range(first, end):
                if self.text(i) == "=":
                    break
                if self.text(i) == "[":
                    self.quiet.update(range(i, self.partner[i]))
        elif end > first:
            self.edit("drop", first, end - 1, "")

    def declares(self, i):
        a, b, c = self.toks[i:i + 3]
        return (a.text in TYPES or a.kind == b.kind == "name" or
                a.kind == "name" and b.text == "*" and c.kind == "name")

    def returned(self, first, end):
        what = " ".join(self.text(i) for i in range(first, end))
        if what in ("true", "false"):
            self.edit("return", first, end - 1,
                      "true" if what == "false" else "false")
        elif what not in ("", "0", "NULL"):
            self.edit("return", first, end - 1, "0")

    def negate(self, first, end):
        """A condition, unless another rule does the same to it."""
        texts = [self.text(i) for i in range(first, end)]
        simple = not any(t in ("&&", "||", "?") for t in texts)
        if not texts or simple and (
                texts[0] == "!" or sum(t in ("==", "!=") for t in texts) == 1):
            return
        a, b = self.toks[first].start, self.toks[end - 1].end
        self.edits.append(("negate", a, b, "!(" + self.source[a:b] + ")"))

    def negate_before(self, i):
        """The condition that ends before the ? at @i."""
        first = i
        while self.text(first - 1) not in BEFORE_CONDITION:
            first = self.partner.get(first - 1, first - 1)
        self.negate(first, i)

    def expression(self, i):
        t, kind = self.text(i), self.toks[i].kind
        operand = (self.toks[i - 1].kind in ("num", "name", "text") and
                   self.text(i - 1) not in ("return", "case") or
                   self.text(i - 1) in (")", "]"))
        if kind == "num":
            m = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[1-9]\d*|0)([uUlL]*)", t)
            if m and self.text(i - 1) != "~":
                self.edit("constant", i, i, f"{int(m[1], 0) + 1}{m[2]}")
        elif kind == "name":
            if BOUND.fullmatch(t) and self.text(i + 1) != "(":
                self.edit("constant", i, i, f"({t} + 1)")
        elif t in ("++", "--") and self.text(i + 1) != ";":
            self.edit("increment", i, i, "")
        elif t in ("!", "~"):
            self.edit("not", i, i, "")
        elif t == "?":
            self.negate_before(i)
        elif t == "*" and self.pointer(i):
            pass
        else:
            for rule, swap in SWAPS.items():
                if t in swap and (rule != "arithmetic" or operand):
                    self.edit(rule, i, i, swap[t])

    def pointer(self, i):
        """Is the * at @i that of a type or of a dereference?"""
        return (self.toks[i - 1].kind == "name" and self.toks[i + 1].kind != "num" and
                self.text(i + 1) != "sizeof" or self.text(i + 1) == ")")


def bodies(source):
    """All tokens, their brackets, (name, first, last) of each function."""
    toks = tokens_of(source)
    partner = brackets(toks)
    depth, name, found, begin = 0, None, [], None
    for i, t in enumerate(toks):
        if t.text in ("{", "(", "["):
            if t.text == "{" and not depth and toks[i - 1].text == ")":
                begin = i
            if t.text == "(" and not depth and name is None:
                name = toks[i - 1].text
            depth += 1
        elif t.text in ("}", ")", "]"):
            depth -= 1
            if not depth and t.text == "}":
                if begin is not None:
                    found.append((name, begin, i))
                begin = name = None
        elif t.text == ";" and not depth:
            name = None
    return toks, partner, found


def lines_around(source, start, end):
    a = source.rfind("\n", 0, start) + 1
    b = source.find("\n", end)
    return a, b if b >= 0 else len(source)


def squeeze(text):
    return " ".join(text.split())


def mutants_of(file, source):
    """All mutants of @source, in the order of their places."""
    toks, partner, found = bodies(source)
    out, seen, taken = [], collections.Counter(), set()
    for function, first, last in found:
        edits = Body(source, toks, partner, first, last).edits
        body = source[toks[first].start:toks[last].end]
        for rule, start, end, new in sorted(edits, key=lambda e: (e[1], e[2], e[0])):
            if (start, end, new) in taken:
                continue
            taken.add((start, end, new))
            a, b = lines_around(source, start, end)
            before = squeeze(source[a:b])
            after = squeeze(source[a:start] + new + source[end:b])
            seen[function, rule, before, after] += 1
            out.append(Mutant(file, function, rule, start, end, new, before, after,
                              seen[function, rule, before, after], body))
    return out
