# SPDX-License-Identifier: GPL-2.0
"""Puts contracts of side files into copies of the sources.

A side file NAME.acsl belongs to NAME.c or NAME.h. Its sections begin at the left margin:

logic F			definitions, put in front of F
function F		contract of F
loop F N		invariants and variant of the Nth loop of F, from 1
before F "TEXT"		annotation of the statement of F that begins with TEXT

Indented lines are ACSL, lines with # comments. Nothing is left over in silence: a section
whose place is gone, a function without a contract and a loop without a section are errors.
"""
import re

HEAD = re.compile(r"(logic|function|loop|before)\b\s*(\w*)\s*(.*)")
# A definition in kernel style: its brace stands alone at the left margin, and its type may
# have a line of its own.
DEFINITION = re.compile(r"^(?!typedef|(?:struct|enum) \w+ \{)\w[\w \t*]*?\n?\b(\w+)\([^;{}]*?\)\n\{\n",
                        re.M)
LOOP = re.compile(r"\b(?:for|while)\s*\(|\bdo\s*\{")


class Stale(Exception):
    pass


def sections(text, name):
    """(kind, function, argument, ACSL) of each section"""
    found = []
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line[0].isspace():
            if not found:
                raise Stale(f"{name}: text before the first section")
            found[-1][3].append(line.strip())
            continue
        m = HEAD.fullmatch(line)
        if not m:
            raise Stale(f"{name}: {line!r} is no section")
        found.append((*m.groups(), []))
    return found


def blank(text):
    """The same text with comments and strings blanked, so that nothing in them is found."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"',
                  lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def functions(text):
    """name: (start of the definition, start and end of the body)"""
    seen = {}
    plain = blank(text)
    for m in DEFINITION.finditer(plain):
        end = plain.index("\n}", m.end() - 1)
        if m[1] in seen:
            raise Stale(f"{m[1]}() is defined twice")
        seen[m[1]] = m.start(), m.end(), end
    return seen


def loops(text, begin, end):
    plain = blank(text)[begin:end]
    found = []
    for m in LOOP.finditer(plain):
        # the end of a do-while
        if m[0].startswith("while") and plain[:m.start()].rstrip().endswith("}") and \
           plain[plain.index("(", m.start()):].split("\n")[0].rstrip().endswith(";"):
            continue
        found.append(begin + m.start())
    return found


def annotate(source, text, acsl, name):
    """The source with its annotations; the names of its functions"""
    places = functions(text)
    inserts = []
    contracts, looped = set(), set()
    for kind, func, arg, lines in sections(acsl, name):
        body = "\n".join(lines)
        if func not in places:
            raise Stale(f"{name}: there is no {func}() in {source}")
        start, begin, end = places[func]
        if kind == "logic":
            inserts.append((start, -1, f"/*@ {body} */\n"))
        elif kind == "function":
            if func in contracts:
                raise Stale(f"{name}: two contracts of {func}()")
            contracts.add(func)
            inserts.append((start, 0, f"/*@ {body} */\n"))
        elif kind == "loop":
            found = loops(text, begin, end)
            if not arg.isdigit() or not 1 <= int(arg) <= len(found):
                raise Stale(f"{name}: {func}() has no loop {arg}")
            looped.add((func, int(arg)))
            inserts.append((found[int(arg) - 1], 0, f"/*@ {body} */\n"))
        else:
            wanted = arg.strip('"')
            if text[begin:end].count(wanted) != 1:
                raise Stale(f"{name}: {arg} is not once in {func}()")
            inserts.append((text.index(wanted, begin), 0, f"/*@ {body} */\n"))
    for func, (_, begin, end) in places.items():
        if func not in contracts:
            raise Stale(f"{name}: no contract of {func}()")
        for n in range(1, len(loops(text, begin, end)) + 1):
            if (func, n) not in looped:
                raise Stale(f"{name}: nothing about loop {n} of {func}()")
    for where, _, what in sorted(inserts, reverse=True):
        text = text[:where] + what + text[where:]
    return text, list(places)
