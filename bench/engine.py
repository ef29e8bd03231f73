#!/usr/bin/env python3
"""What the tool itself costs, on the null database.

CPU nanoseconds per transaction with the smallest inputs (tpc-b select-only) and with TPROC-C's, nanoseconds
per recorded event, memory per virtual user; with --callgrind also instructions, which repeat on any machine.

    bench/engine.py [--rounds 5] [--callgrind]
"""

import argparse
import json
import os
import re
import shutil
import statistics
import sys
import tempfile

from lib import ROOT, peak_memory_mb, run, triphammer


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--callgrind", action="store_true")
    given = arguments.parse_args()
    binary = triphammer()
    recorder = os.path.join(os.path.dirname(binary), "triphammer-bench-recorder")
    if not os.path.exists(recorder):
        run(["cargo", "build", "--release", "-p", "triphammer-bench-recorder"], cwd=ROOT)
    with tempfile.TemporaryDirectory(prefix="triphammer-bench-") as folder:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite")}

        def cost(*options):
            out = run([binary, "run", "null:", "--vus", "1", "--json", *options], env=environment)
            return json.loads(out)["client"]["cpu_us_per_transaction"] * 1000

        select = ["-w", "tpc-b", "--mix", "0,0,1", "--transactions", "2000000"]
        tproc_c = ["--transactions", "1000000"]
        for title, options, limit in [("tpc-b select-only", select, 1000), ("TPROC-C, inputs and outputs", tproc_c, None)]:
            figure = statistics.median(cost(*options) for _ in range(given.rounds))
            verdict = "" if limit is None else f"  (at most {limit}: {'met' if figure <= limit else 'MISSED'})"
            print(f"{title}: {figure:.0f} ns of CPU per transaction{verdict}")
        events = [float(re.match(r"[\d.]+", run([recorder, "20000000"]))[0]) for _ in range(given.rounds)]
        figure = statistics.median(events)
        print(f"recorder: {figure:.1f} ns per event  (at most 30: {'met' if figure <= 30 else 'MISSED'})")

        def memory(users):
            return peak_memory_mb([binary, "run", "null:?service=20ms", "--vus", str(users), "--threads", "2",
                                   "--rampup", "0s", "--duration", "2s"], env=environment)

        few, many = memory(100), memory(10100)
        print(f"memory: {few:.0f} MB with 100 users, {(many - few) / 10000 * 1024:.1f} KiB for each further one "
              f"(session, statements and buffers included)")
        thousand = memory(1000)
        print(f"memory: {thousand:.0f} MB with 1,000 users  (at most 60: {'met' if thousand <= 60 else 'MISSED'})")
        if given.callgrind:
            if not shutil.which("valgrind"):
                sys.exit("valgrind is not installed: apt-get install valgrind")
            out = os.path.join(folder, "callgrind")
            counts = []
            for events in (200_000, 1_200_000):
                run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", recorder, str(events)])
                with open(out, encoding="utf-8") as file:
                    counts.append(int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)[1]))
            print(f"recorder: {(counts[1] - counts[0]) / 1e6:.1f} instructions per event")


if __name__ == "__main__":
    main()
