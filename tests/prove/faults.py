# SPDX-License-Identifier: GPL-2.0
"""Deliberate faults in functions of proto/, each one line that is wrong:

FILE FUNCTION: what is wrong        or FILE FUNCTION HARNESS: what is wrong
- the line, or a part of it, as it is
+ as it is with the fault
"""
import pathlib
import re
from typing import NamedTuple

import annotate

PROTO = pathlib.Path(__file__).resolve().parents[2] / "net/sunrpc/xprtrdma2/proto"
FAULT = re.compile(r"^(\S+) (\w+)(?: (\w+))?: (.*)\n- *(.*)\n\+ *(.*)$", re.M)


class Fault(NamedTuple):
    file: str
    func: str
    harness: str
    why: str
    old: str
    new: str

    def put(self, text):
        """The source with the fault"""
        _, begin, end = annotate.functions(text)[self.func]
        return text[:begin] + text[begin:end].replace(self.old, self.new) + text[end:]


def read(path):
    """The faults of a file. Each function exists, and has its line once."""
    text = path.read_text()
    found = [Fault(*f) for f in FAULT.findall(text)]
    if len(found) != len(re.findall(r"^[-+]", text, re.M)) / 2:
        raise annotate.Stale(f"{path.name}: lines of no fault")
    for f in found:
        source = (PROTO / f.file).read_text()
        place = annotate.functions(source).get(f.func)
        if not place or source[place[1]:place[2]].count(f.old) != 1:
            raise annotate.Stale(f"{path.name}: {f.old!r} is not once in {f.func}() of {f.file}")
    return found
