#!/usr/bin/env python3
"""How accurately load models keep time, and what waiting terminals cost.

An open load of 2,000 per second and 100,000 terminals at TPC-C's keying and thinking times on the null database; then
1,000 terminals with their own sessions, and 10,000 over 64 sessions, on a private PostgreSQL. Lateness is the
time from when a transaction was due to the start of its first attempt.

    bench/terminals.py [--rounds 3] [--seconds 20] [--no-server] [--first]

--first makes the kernel run the client before anything else (chrt), for hosts that others use too.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from lib import Postgres, run, triphammer

# Keying and thinking take 20.7 s on average in the default mix: 10 / 23 of them New-Orders, and so
# on.
CYCLE_S = 20.7
RAMPUP_S = 120


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--seconds", type=int, default=20)
    arguments.add_argument("--no-server", action="store_true")
    arguments.add_argument("--first", action="store_true")
    given = arguments.parse_args()
    first = ["chrt", "-f", "20"] if given.first else []
    with tempfile.TemporaryDirectory(prefix="triphammer-bench-") as folder:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite")}

        def measure(*options, rampup=2):
            """The run's document, with the client's peak memory in MB."""
            document = os.path.join(folder, "result.json")
            command = [*first, triphammer(), "run", *options, "--rampup", f"{rampup}s",
                       "--duration", f"{given.seconds}s", "--json"]
            with open(document, "w", encoding="utf-8") as out:
                process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True, env=environment)
            # wait4 reports the memory of this child only.
            _, status, usage = os.wait4(process.pid, 0)
            if status != 0:
                sys.exit(f"{' '.join(command)}\n{process.stderr.read()}")
            with open(document, encoding="utf-8") as file:
                return {**json.load(file), "memory_mb": usage.ru_maxrss / 1024}

        open_load(given, measure)
        many_terminals(given, measure)
        if not given.no_server:
            on_a_server(measure, environment)


def cores(result):
    return result["client"]["cpu_s"] / result["durations"]["whole_s"]


def late_ms(result):
    return result["pool_wait"]["p99_us"] / 1000


def verdict(figure, limit):
    return f"(at most {limit}: {'met' if figure <= limit else 'MISSED'})"


def open_load(given, measure):
    options = ["null:", "-w", "tpc-b", "--load", "rate:2000/s,constant", "--vus", "64"]
    results = [measure(*options) for _ in range(given.rounds)]
    off = statistics.median(abs(r["window"]["total"]["completed"] / given.seconds / 2000 - 1) for r in results) * 100
    late = statistics.median(map(late_ms, results))
    print(f"rate of 2,000/s: off by {off:.2f} %  {verdict(off, 0.5)}")
    print(f"rate of 2,000/s: late p99 {late:.2f} ms  {verdict(late, 2)}, {cores(results[0]):.2f} cores")


def many_terminals(given, measure):
    def keyed(terminals, rampup):
        return measure("null:?service=1ms", "--scale", "10000", "--load", "keyed", "--terminals", str(terminals),
                       "--sessions", "64", rampup=rampup)

    few = keyed(100, 2)["memory_mb"]
    result = keyed(100_000, RAMPUP_S)
    each = (result["memory_mb"] - few) / 99_900 * 1024
    rate = result["window"]["total"]["completed"] / given.seconds
    used, late = cores(result), late_ms(result)
    print(f"100,000 terminals: {each:.2f} KiB each  {verdict(each, 7)}")
    print(f"100,000 terminals: {rate:,.0f} transactions per second, {100_000 / CYCLE_S:,.0f} by their cycle, "
          f"{used:.2f} cores  {verdict(used, 1)}")
    print(f"100,000 terminals: late p99 {late:.2f} ms  {verdict(late, 2)}")


def on_a_server(measure, environment):
    with Postgres(max_connections=1100) as server:
        server.fresh("bench")
        target = server.url("bench")
        run([triphammer(), "build", target, "--scale", "10"], env=environment)
        for terminals, sessions in [(1_000, "own"), (10_000, "64")]:
            result = measure(target, "--load", "keyed", "--terminals", str(terminals), "--sessions", sessions,
                             rampup=RAMPUP_S)
            total = result["window"]["total"]
            print(f"{terminals:,} terminals over {sessions} sessions on PostgreSQL: "
                  f"{total['completed'] / result['window']['seconds']:.1f} transactions per second, "
                  f"{terminals / CYCLE_S:.1f} by their cycle without waits; response p99 "
                  f"{total['response']['p99_us'] / 1000:.1f} ms, wait p99 {late_ms(result):.1f} ms, "
                  f"{result['run']['total']['failed']} failed, {cores(result):.2f} cores, "
                  f"{result['memory_mb']:.0f} MB")


if __name__ == "__main__":
    main()
