#!/usr/bin/env python3
"""Runs the suites of all crates, and a test that failed beside others once more with nothing beside it.

    tools/test-suites.py CARGO TEST ARGUMENTS...

Hosts of continuous integration are shared: a process may not run for seconds, and a test on real servers then fails
for no fault of the program. Such a test passes alone; it is named at the end, so that somebody mends it. A fault of the
program fails again. More failures than REPEATED are not repeated, nor is a test program that crashed or hung.

Without space for the servers' files, tests fail or hang in many ways: that is told when it begins.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import threading

REPEATED = 10
# For the reader of the output, after the command has ended.
LAST_LINES_S = 10
FAILED = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. FAILED\b")
# Cargo says so of a test program that a signal ended; no test of it has failed then.
CRASHED = re.compile(r"process didn't exit successfully: .*\(signal: ")
# Servers need it for their logs alone.
SCARCE_MB = 2_000
LOOK_EVERY_S = 5


def main():
    command = sys.argv[1:]
    if not command:
        sys.exit(__doc__)
    threading.Thread(target=warn_of_scarce_space, daemon=True).start()
    code, seen = run(command)
    if code == 0 or seen.crashed or not 0 < len(seen.failed) <= REPEATED:
        sys.exit(code)
    names = ", ".join(seen.failed)
    print(f"\nonce more, alone: {names}", flush=True)
    code, again = run([*command, "--", "--exact", "--test-threads=1", *seen.failed])
    if code == 0:
        print(f"\nunstable, failed beside others and passed alone: {names}", flush=True)
    else:
        print(f"\nfailed twice: {', '.join(again.failed)}", flush=True)
    sys.exit(code)


class Seen:
    """What the output of a command says, which is printed as it comes."""

    def __init__(self):
        self.failed, self.crashed = [], False

    def read(self, output):
        for line in output:
            print(line, end="", flush=True)
            if found := FAILED.match(line):
                self.failed.append(found[1])
            self.crashed |= bool(CRASHED.search(line))


def run(command):
    """The exit code of a command, and what was seen."""
    seen = Seen()
    # Cargo's own messages come on stderr, the tests' on stdout.
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    reader = threading.Thread(target=seen.read, args=(child.stdout,), daemon=True)
    reader.start()
    code = child.wait()
    # A server that is left behind keeps the output open.
    reader.join(LAST_LINES_S)
    return code, seen


def warn_of_scarce_space():
    """Ends when it has warned."""
    folder = tempfile.gettempdir()
    while (free_mb := shutil.disk_usage(folder).free // 1_000_000) >= SCARCE_MB:
        threading.Event().wait(LOOK_EVERY_S)
    print(f"\nonly {free_mb} MB are free in {folder}: tests will fail. `make test` needs 20 GB there and in target\n")


if __name__ == "__main__":
    main()
