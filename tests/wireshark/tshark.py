# SPDX-License-Identifier: GPL-2.0
"""Runs tshark with rpcrdma2.lua.

TSHARK may be another command than tshark, TSHARK_HAS_IT says that it has the
dissector among its plugins: see newer.
"""

import os
import shlex
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
LUA = os.path.normpath(os.path.join(HERE, "..", "..", "tools", "wireshark",
                                    "rpcrdma2.lua"))
SEPARATOR, WITHIN = "\t", ","


def command():
    cmd = shlex.split(os.environ.get("TSHARK", "tshark"))
    return cmd if "TSHARK_HAS_IT" in os.environ else \
        [*cmd, "-X", "lua_script:" + LUA]


def run(path, *args):
    """What tshark prints; complaints of Lua or tshark are an error."""
    cmd = [*command(), "-n", "-r", path, *args]
    # Nobody's own preferences
    env = dict(os.environ, XDG_CONFIG_HOME="/nonexistent", LC_ALL="C.UTF-8")
    done = subprocess.run(cmd, capture_output=True, text=True, env=env,
                          errors="replace", check=False)
    complaints = [line for line in done.stderr.splitlines()
                  if line and not line.startswith("Running as user")]
    if done.returncode or complaints:
        raise RuntimeError("%s: status %d: %s" % (
            " ".join(cmd), done.returncode, "; ".join(complaints[:5])))
    if "Lua Error" in done.stdout:
        raise RuntimeError("%s: %s" % (" ".join(cmd), done.stdout[:500]))
    return done.stdout


def fields(path, names, *args):
    """For each packet a dictionary of lists, empty where there is no field."""
    options = [o for n in names for o in ("-e", n)]
    out = run(path, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a",
              "-E", "aggregator=" + WITHIN, *options, *args)
    rows = []
    for line in out.split("\n")[:-1]:
        values = line.split(SEPARATOR)
        rows.append({n: v.split(WITHIN) if v else []
                     for n, v in zip(names, values)})
    return rows


LINK = ["ip.src", "infiniband.bth.destqp", "infiniband.bth.psn"]


def once(rows):
    """Without the packets of RoCE that were sent again, as the acknowledgment came
    late: the receiver drops them. The rows have the fields of LINK."""
    seen, first = set(), []
    for r in rows:
        packet = tuple(v for n in LINK for v in r[n][:1])
        if len(packet) < len(LINK) or packet not in seen:
            first.append(r)
        seen.add(packet)
    return first


def number(text):
    return {"True": 1, "False": 0}[text] if text in ("True", "False") else \
        int(text, 0)


def numbers(row, name):
    return [number(v) for v in row[name]]


def same(got, want, what):
    if got != want:
        raise AssertionError("%s: have %.100s, want %.100s" % (what, got, want))


def none(path, filter_, what):
    """No packet of the capture is like that."""
    out = run(path, "-Y", filter_)
    assert not out, "%s:\n%s" % (what, "\n".join(out.splitlines()[:5]))
