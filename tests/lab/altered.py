# SPDX-License-Identifier: GPL-2.0
"""A copy of the checkout whose module is altered, and guest tests of it, for
tests/mutants/run and tests/faults/run.
"""

import fcntl
import functools
import hashlib
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
SRC = "net/sunrpc/xprtrdma2"
SUMMARY = TOP / "Documentation/tests.md"
CACHE = pathlib.Path(
    os.environ.get("RPCRDMA2_CACHE") or
    pathlib.Path(os.environ.get("XDG_CACHE_HOME") or
                 pathlib.Path.home() / ".cache") / "rpcrdma2")


def say(text):
    print(text, file=sys.stderr, flush=True)


def bars(text):
    """In a table"""
    return text.replace("|", "\\|")


def with_table(name, lines):
    """The page of summaries with a new table"""
    return re.sub(rf"(?s)(<!-- {name} -->\n).*?(?=<!-- end of {name} -->)",
                  lambda m: m[1] + "\n".join(lines) + "\n",
                  SUMMARY.read_text(encoding="utf-8"))


@functools.cache
def contents(path):
    """As they were when a run began: that is what is tested."""
    return path.read_bytes()


def files_below(*places):
    """The files of the checkout that git knows or would add."""
    names = subprocess.run(
        ["git", "-C", TOP, "ls-files", "-co", "--exclude-standard", "--", *places],
        check=True, capture_output=True, text=True).stdout.split("\n")
    return [n for n in sorted(names) if n and (TOP / n).is_file()]


def checkout_of(tree):
    """As tests/lab/common.sh names it in the cache"""
    return hashlib.sha256(str(tree).encode()).hexdigest()[:12]


def copy_tree(names, to):
    for name in names:
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_bytes(contents(TOP / name))
        shutil.copymode(TOP / name, to / name)


def limits():
    os.setsid()
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(cmd, seconds, log, **kwargs):
    """Run @cmd with its output in the file @log; its status, None: too long."""
    with open(log, "wb") as out:
        child = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=subprocess.STDOUT, preexec_fn=limits,
                                 **kwargs)
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()


class Copy:
    """A copy of the checkout below @where, its modules, and the last run of tests."""

    SECONDS = {"uml": 420, "uml-debug": 1200}   # that tests may take
    # A test may allow a warning of a device; it judges this one at its end
    SPLAT = re.compile(r"^(WARNING: CPU(?!.* at drivers/infiniband/)|BUG: ).*", re.M)

    def __init__(self, where):
        self.where, self.tree, self.out = where, where / "tree", where / "lab"
        self.lock = None

    def begin(self, names):
        """Lock the copy, and make it like the checkout. What has not changed is left
        alone, and not built again.
        """
        self.out.mkdir(parents=True, exist_ok=True)
        self.lock = open(self.where / "lock", "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        for old in self.tree.rglob("*"):
            if old.is_file() and str(old.relative_to(self.tree)) not in names:
                old.unlink()
        for n in names:
            to = self.tree / n
            if not to.exists() or to.read_bytes() != contents(TOP / n):
                copy_tree([n], self.tree)

    def end(self):
        if self.lock:
            self.lock.close()

    def build(self, flavour):
        return run([self.tree / "tests/lab/modules", flavour, "--to", self.out / flavour],
                   900, self.where / "build.log") == 0

    def objects(self, flavour):
        """Where the module was built"""
        return CACHE / "build" / checkout_of(self.tree) / flavour / "src" / SRC

    def test(self, flavour, tests, *options, whole=False, splats=False):
        """Run tests in guests, up to the first failure unless @whole; what failed. With
        @splats a message of the kernel is one, too.
        """
        where = self.out / "run"
        shutil.rmtree(where, ignore_errors=True)
        failed = None
        with open(self.where / "lab.log", "wb") as log:
            child = subprocess.Popen(
                [self.tree / "tests/lab/run", flavour, "--run-dir", where,
                 "--modules", self.out / flavour, *options, *tests],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True)
            end = time.monotonic() + self.SECONDS[flavour]
            try:
                while child.poll() is None and (whole or not failed):
                    time.sleep(0.5)
                    failed = self.failure(where, splats)
                    if time.monotonic() > end and not whole and not failed:
                        failed = (f"{self.under_way(where) or tests[0]}: no end in "
                                  f"{self.SECONDS[flavour]} s")
            finally:
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGTERM)
                    child.wait()
        if not any(where.glob("*/ktap.log")):
            sys.exit(f"error: no guest has run, see {self.where}/lab.log")
        if not failed and child.returncode:
            failed = self.failure(where, splats) or f"{tests[0]}: the guest ended"
        return failed

    def under_way(self, where):
        """A test that has begun and not ended."""
        for log in where.glob("*/ktap.log"):
            text = log.read_text(errors="replace")
            for test in re.findall(r"^# (\S+) \(limit", text, re.M):
                if not re.search(rf"^(not )?ok \d+ {re.escape(test)}\b", text, re.M):
                    return test
        return None

    def failure(self, where, splats):
        for log in where.glob("*/ktap.log"):
            test = "?"
            for line in log.read_text(errors="replace").splitlines():
                m = re.match(r"# (\S+) \(limit", line)
                test = m[1] if m else test
                m = re.match(r" *not ok \d+ ([^#]*)", line)
                if m:
                    return f"{test}: {m[1].strip()}"
        for log in where.glob("*/verdict"):
            m = re.search(r"not ok 0 (\S+) # (.*)", log.read_text(errors="replace"))
            if m:
                return f"{m[1]}: {m[2]}"
        said = splats and self.SPLAT.search(self.console())
        return f"{self.under_way(where)}: {said[0]}" if said else None

    def console(self):
        """What the kernels of the last run have said"""
        return "".join(log.read_text(errors="replace")
                       for log in self.out.glob("run/*/console.log"))
