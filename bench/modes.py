#!/usr/bin/env python3
"""TPROC-C by procedures beside client statements: throughput, round trips, client CPU, bytes; with several
servers also what a transaction by procedures costs the client on each, beside the first, at one rate for all.

    bench/modes.py [--databases postgres,mariadb] [--scale 4] [--vus 4] [--seconds 10] [--rounds 5] [--rate 300]

At one rate, because a faster server's answers come several a wake-up and into warmer caches: its client then costs
less for what is the server's merit.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys

from lib import Mariadb, Postgres, run, triphammer

# Commits do not wait for the disk, whose moods would be most of what is seen here.
SERVERS = {"postgres": lambda: Postgres(synchronous_commit="off"),
           "mariadb": lambda: Mariadb(**{"innodb-flush-log-at-trx-commit": 0})}
MODES = ("procedures", "statements")
AT_RATE = "procedures at one rate"
FIGURES = ("nopm", "trips", "cpu", "bytes")
# Client CPU per transaction on any server at the rate, beside the first's.
LIMIT = 1.5


def loopback_bytes():
    """Bytes through the loopback device so far; None where the system does not say."""
    try:
        with open("/proc/net/dev", encoding="ascii") as file:
            line = next(line for line in file if line.strip().startswith("lo:"))
        return int(line.split(":")[1].split()[0])
    except (OSError, StopIteration):
        return None


def drive(url, mode, given, environment):
    """One run's figures."""
    before = loopback_bytes()
    how = ["--mode", mode, "--vus", str(given.vus)]
    if mode == AT_RATE:
        how = ["--mode", "procedures", "--load", f"rate:{given.rate}/s", "--vus", str(4 * given.vus)]
    result = json.loads(run([triphammer(), "run", url, *how, "--rampup", "2s", "--duration", f"{given.seconds}s",
                             "--json"], env=environment))
    count = sum(t["committed"] + t["rolled_back"] for t in result["run"]["types"])
    return {"nopm": result["primary_metric"]["value"], "trips": result["round_trips"]["per_transaction"],
            "cpu": result["client"]["cpu_us_per_transaction"],
            "bytes": None if before is None else (loopback_bytes() - before) / count}


def median(runs, figure):
    values = [r[figure] for r in runs if r[figure] is not None]
    return statistics.median(values) if values else 0.0


def show(seen, databases, given):
    for database in databases:
        for mode in MODES:
            nopm, trips, cpu, sent = (median(seen[database, mode], figure) for figure in FIGURES)
            amount = f", {sent:,.0f} bytes" if sent else ""
            print(f"{database}, {mode}: NOPM {nopm:,.0f}; a transaction {trips:.1f} round trips, "
                  f"{cpu:.0f} us of client CPU{amount}")
        first, second = (median(seen[database, mode], "nopm") for mode in MODES)
        print(f"{database}, procedures / statements: {first / second:.2f}")
    first, *others = databases
    for database in others:
        ours, theirs = (median(seen[name, AT_RATE], "cpu") for name in (database, first))
        verdict = "met" if ours <= LIMIT * theirs else "MISSED"
        slower, faster = sorted(median(seen[name, AT_RATE], "nopm") for name in (database, first))
        if slower < 0.95 * faster:
            print(f"not at one rate: {slower:,.0f} and {faster:,.0f} NOPM; give a lower --rate")
        print(f"client CPU per transaction at {given.rate}/s: {database} {ours:.0f} us, {first} {theirs:.0f} us, "
              f"ratio {ours / theirs:.2f}  (at most {LIMIT}: {verdict})")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("scale", 4), ("vus", 4), ("seconds", 10), ("rounds", 5), ("rate", 300)):
        arguments.add_argument(f"--{name}", type=int, default=default)
    arguments.add_argument("--databases", default="postgres,mariadb", type=lambda text: text.split(","))
    given = arguments.parse_args()
    if unknown := [name for name in given.databases if name not in SERVERS]:
        arguments.error(f"no such database: {', '.join(unknown)}; there are {', '.join(SERVERS)}")
    modes = [*MODES, AT_RATE] if len(given.databases) > 1 else MODES
    seen = {(database, mode): [] for database in given.databases for mode in modes}
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(SERVERS[name]()) for name in given.databases}
        for server in servers.values():
            environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(server.folder, "jobs.sqlite")}
            server.fresh("bench")
            run([triphammer(), "build", server.url("bench"), "--scale", str(given.scale)], env=environment)
        for number in range(given.rounds):
            order = sorted(seen, reverse=number % 2 == 1)
            for database, mode in order:
                figures = drive(servers[database].url("bench"), mode, given, environment)
                seen[database, mode].append(figures)
                print(f"  round {number + 1}: {database}, {mode}: NOPM {figures['nopm']:,.0f}, "
                      f"{figures['cpu']:.0f} us", file=sys.stderr)
    show(seen, given.databases, given)


if __name__ == "__main__":
    main()
