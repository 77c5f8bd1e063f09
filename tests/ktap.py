# SPDX-License-Identifier: GPL-2.0
"""Results of tests in KTAP, and their sum."""


class Report:
    def __init__(self):
        self.passed = self.failed = 0
        print("KTAP version 1")

    def line(self, good, text):
        if good:
            self.passed += 1
        else:
            self.failed += 1
        print("%sok %d %s" % ("" if good else "not ", self.passed + self.failed, text),
              flush=True)

    def test(self, name, function, *args):
        """A test that passes unless its function raises an exception"""
        try:
            function(*args)
        except Exception as e:  # pylint: disable=broad-exception-caught
            for line in (str(e) or repr(e)).splitlines()[:20]:
                print("# " + line[:300])
            self.line(False, name)
        else:
            self.line(True, name)

    def end(self):
        """The exit status"""
        print("1..%d\n%d passed, %d failed, 0 skipped" % (
            self.passed + self.failed, self.passed, self.failed))
        return int(self.failed > 0 or not self.passed)
