#!/usr/bin/env python3
"""TPROC-C by procedures beside client statements on one server: throughput, round trips, bytes.

    bench/modes.py [--database postgres|mariadb] [--scale 4] [--vus 4] [--seconds 10] [--rounds 5]
"""

import argparse
import json
import os
import statistics

from lib import Mariadb, Postgres, run, triphammer


def loopback_bytes():
    """Bytes through the loopback device so far; None where the system does not say."""
    try:
        with open("/proc/net/dev", encoding="ascii") as file:
            line = next(line for line in file if line.strip().startswith("lo:"))
        return int(line.split(":")[1].split()[0])
    except (OSError, StopIteration):
        return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("scale", 4), ("vus", 4), ("seconds", 10), ("rounds", 5)):
        arguments.add_argument(f"--{name}", type=int, default=default)
    servers = {"postgres": Postgres, "mariadb": Mariadb}
    arguments.add_argument("--database", choices=servers, default="postgres")
    given = arguments.parse_args()
    binary = triphammer()
    with servers[given.database]() as server:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(server.folder, "jobs.sqlite")}
        server.fresh("bench")
        run([binary, "build", server.url("bench"), "--scale", str(given.scale)], env=environment)
        seen = {"procedures": [], "statements": []}
        for number in range(given.rounds):
            for mode in sorted(seen, reverse=number % 2 == 1):
                before = loopback_bytes()
                result = json.loads(run([binary, "run", server.url("bench"), "--mode", mode, "--vus", str(given.vus),
                                         "--rampup", "2s", "--duration", f"{given.seconds}s", "--json"], env=environment))
                count = sum(t["committed"] + t["rolled_back"] for t in result["run"]["types"])
                sent = None if before is None else (loopback_bytes() - before) / count
                seen[mode].append((result["headline"]["value"], result["round_trips"]["per_transaction"],
                                   result["client"]["cpu_us_per_transaction"], sent))
        medians = {}
        for mode, rows in seen.items():
            nopm, trips, cpu = (statistics.median(row[i] for row in rows) for i in range(3))
            sent = [row[3] for row in rows if row[3] is not None]
            medians[mode] = nopm
            amount = f", {statistics.median(sent):,.0f} bytes" if sent else ""
            print(f"{mode}: NOPM {nopm:,.0f}; a transaction {trips:.1f} round trips, {cpu:.0f} us of client CPU{amount}")
        print(f"procedures / statements: {medians['procedures'] / medians['statements']:.2f}")


if __name__ == "__main__":
    main()
