#!/usr/bin/env python3
"""Client CPU a transaction and throughput, beside pgbench and beside a bare epoll loop.

All three do the same round trips with prepared statements over TCP on one client thread: pgbench's select-only
and tpcb-like scripts, and for select-only the floor, hand-made messages on one epoll (bench/floor).

    bench/client_cost.py [--users 1 8 64] [--seconds 5] [--rounds 5] [--scale 10]
"""

import argparse
import json
import os
import re
import statistics
import sys

from lib import ROOT, Postgres, compare, interleaved, program, run, timed, triphammer

LIMITS = {("select-only", 1): 0.75, ("select-only", 8): 0.65, ("select-only", 64): 0.65}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--users", type=int, nargs="+", default=[1, 8, 64])
    arguments.add_argument("--seconds", type=int, default=5)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--scale", type=int, default=10)
    given = arguments.parse_args()
    binary = triphammer()
    floor = os.path.join(os.path.dirname(binary), "triphammer-bench-floor")
    if not os.path.exists(floor):
        run(["cargo", "build", "--release", "-p", "triphammer-bench-floor"], cwd=ROOT)
    seconds = str(given.seconds)

    with Postgres(synchronous_commit="off") as server:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(server.folder, "jobs.sqlite")}
        server.fresh("bench")
        run([program("pgbench"), "-i", "-q", "-s", str(given.scale), server.url("bench")])
        mixes = {"select-only": "0,0,1", "tpcb-like": "1,0,0"}
        throughput = {}

        def pgbench(script, users):
            done = timed([program("pgbench"), "-n", "-M", "prepared", "-b", script, "-c", str(users), "-j", "1",
                          "-T", seconds, server.url("bench")])
            count = int(re.search(r"actually processed: (\d+)", done["out"])[1])
            throughput.setdefault((script, users, "pgbench"), []).append(count / given.seconds)
            return done["cpu"] * 1e6 / count

        def ours(script, users):
            done = timed([binary, "run", "-w", "tpc-b", "--mix", mixes[script], "--vus", str(users), "--threads", "1",
                          "--rampup", "0s", "--duration", seconds + "s", "--json", server.url("bench")], env=environment)
            result = json.loads(done["out"])
            count = sum(t["committed"] for t in result["run"]["types"])
            throughput.setdefault((script, users, "triphammer"), []).append(count / given.seconds)
            return done["cpu"] * 1e6 / count

        def bare(users):
            done = timed([floor, str(server.port), "bench", str(given.scale), str(users), seconds])
            return float(re.search(r"([\d.]+) us", done["out"])[1])

        for script in mixes:
            for users in given.users:
                contenders = {"triphammer": lambda: ours(script, users), "pgbench": lambda: pgbench(script, users)}
                if script == "select-only":
                    contenders["floor"] = lambda: bare(users)
                figures = interleaved(given.rounds, **contenders)
                title = f"client CPU, {script}, {users} users"
                compare(title, "us", figures, "triphammer", "pgbench", limit=LIMITS.get((script, users), 0.80))
                if script == "select-only":
                    compare(title, "us", figures, "triphammer", "floor")
                mine, theirs = (statistics.median(throughput[script, users, name]) for name in ("triphammer", "pgbench"))
                print(f"  throughput: triphammer {mine:,.0f}/s, pgbench {theirs:,.0f}/s, ratio {mine / theirs:.2f}")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
