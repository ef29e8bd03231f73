#!/usr/bin/env python3
"""What the Python package costs: a run from Python that reads every second, compared with the command line, and the
import of the package.

    bench/python_package.py PYTHON [--rounds 5] [--transactions 100000000]

PYTHON is an interpreter with the package in a release build, such as that of a virtual environment after
`pip install ./python`. The figure of a run is the CPU time of the whole process, its start included; each executes
the same transactions on the null database.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time

from lib import compare, interleaved, run, timed, triphammer

RUN = """
import triphammer
run = triphammer.run("null:", workload="tpc-b", mix="0,0,1", vus=1, transactions={transactions})
for second in run:
    second["all.committed"]
assert run.result().good
"""
IMPORTS = 20
IMPORT_MAX_MS = 100
RATIO_MAX = 1.01


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("python")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--transactions", type=int, default=100_000_000)
    given = arguments.parse_args()
    binary = triphammer()
    with tempfile.TemporaryDirectory(prefix="triphammer-bench-") as folder:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite")}
        line = [binary, "run", "null:", "-w", "tpc-b", "--mix", "0,0,1", "--vus", "1",
                "--transactions", str(given.transactions)]
        code = [given.python, "-c", RUN.format(transactions=given.transactions)]
        figures = interleaved(given.rounds,
                              python=lambda: timed(code, env=environment)["cpu"],
                              command=lambda: timed(line, env=environment)["cpu"])
        is_met = compare("CPU of a run", "s", figures, "python", "command", RATIO_MAX)
        bare = statistics.median(started(given.python, "pass", environment) for _ in range(IMPORTS))
        whole = statistics.median(started(given.python, "import triphammer", environment) for _ in range(IMPORTS))
    own = (whole - bare) * 1_000
    verdict = "met" if own <= IMPORT_MAX_MS else "MISSED"
    print(f"import: {own:.1f} ms beyond the {bare * 1_000:.1f} ms of the interpreter  (at most {IMPORT_MAX_MS}: {verdict})")
    sys.exit(0 if is_met and own <= IMPORT_MAX_MS else 1)


def started(python, code, environment):
    """Seconds from the start to the end of an interpreter that executes this."""
    begun = time.monotonic()
    run([python, "-c", code], env=environment)
    return time.monotonic() - begun


if __name__ == "__main__":
    main()
