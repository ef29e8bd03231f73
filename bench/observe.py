#!/usr/bin/env python3
"""What observing costs: throughput of pairs of runs with and without observers, on a private PostgreSQL and a private
MariaDB, and the CPU time of the observers' threads in the client.

    bench/observe.py [--databases postgres,mariadb] [--pairs 7] [--seconds 7] [--scale 4] [--vus 4]

Commits do not wait for the disk, whose variation would dominate the result, and the server has no time to spare.
Exit code 1 if a cost is higher than its limit by more than the interval allows, or the client's CPU is.
"""

import argparse
import json
import os
import subprocess
import sys

from lib import Mariadb, Postgres, run, triphammer

SERVERS = {"postgres": lambda: Postgres(synchronous_commit="off"),
           "mariadb": lambda: Mariadb(**{"innodb-flush-log-at-trx-commit": 0})}
# Throughput with observers, of that without.
RATIO_MIN = 0.99
# How far from 1 the ends of the interval may be.
INTERVAL_MAX = 0.02
# CPU time of the observers' threads, of one core.
CLIENT_MAX = 0.02


def pairs(server, given, environment):
    """The document of a comparison: A without observers, B with them."""
    command = [triphammer(), "compare", "--ab", server.url("bench"), "--a", "no-observe=true", "--vus", str(given.vus),
               "--pairs", str(given.pairs), "--duration", f"{given.seconds}s", "--rampup", "1s", "--cool-down", "1s",
               "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def cost_in_client(document, environment):
    """Mean share of a core that the observers used, samples per second, and mean time of their queries in ms."""
    costs = []
    for side in document["b"]["runs"]:
        result = json.loads(run([triphammer(), "report", str(side["job"]), "--format", "json"], env=environment))
        seen = result["observed"]
        samples = seen["sessions"]["samples"] / result["durations"]["window_s"]
        costs.append((seen["cost"]["cpu_share"], samples, 1e3 * seen["cost"]["query_s"] / seen["cost"]["queries"]))
    return [sum(values) / len(costs) for values in zip(*costs)]


def judge(name, document, environment):
    """Prints the costs on one database; returns whether none is above its limit for certain."""
    compared = document["figures"][0]["comparison"]
    ratio, low, high = compared["ratio"], compared["interval"]["low"], compared["interval"]["high"]
    cpu, samples, query_ms = cost_in_client(document, environment)
    verdict = "met" if ratio >= RATIO_MIN else "not excluded" if high >= RATIO_MIN else "MISSED"
    width = "met" if low >= 1 - INTERVAL_MAX and high <= 1 + INTERVAL_MAX else "wider, as narrow as this host allows"
    client = "met" if cpu <= CLIENT_MAX else "MISSED"
    print(f"{name}: NOPM with observers, of that without: {ratio:.4f}, 95 % interval {low:.4f} to {high:.4f}\n"
          f"  at least {RATIO_MIN}: {verdict}; interval within ± {INTERVAL_MAX:.0%}: {width}\n"
          f"  client: {cpu:.2%} of a core  (at most {CLIENT_MAX:.0%}: {client}); {samples:.1f} samples per second, "
          f"{query_ms:.2f} ms per query", flush=True)
    return high >= RATIO_MIN and cpu <= CLIENT_MAX


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("pairs", 7), ("seconds", 7), ("scale", 4), ("vus", 4)):
        arguments.add_argument(f"--{name}", type=int, default=default)
    arguments.add_argument("--databases", default="postgres,mariadb", type=lambda text: text.split(","))
    given = arguments.parse_args()
    if unknown := [name for name in given.databases if name not in SERVERS]:
        arguments.error(f"unknown database {', '.join(unknown)}: expected one of {', '.join(SERVERS)}")
    met = True
    for name in given.databases:
        with SERVERS[name]() as server:
            environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(server.folder, "jobs.sqlite")}
            server.fresh("bench")
            run([triphammer(), "build", server.url("bench"), "--scale", str(given.scale)], env=environment)
            met &= judge(name, pairs(server, given, environment), environment)
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
