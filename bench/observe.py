#!/usr/bin/env python3
"""What observing costs: throughput of pairs of runs with and without observers, on a private PostgreSQL and a private
MariaDB; the CPU time of the observers' threads in the client; and that of the observers' session in the server, as a
share of all CPU time of the server. Where the server has no time to spare, that share of the throughput is lost. The
ratio of two runs varies by several per cent on a host that others use; the CPU time does not.

    bench/observe.py [--databases postgres,mariadb] [--pairs 7] [--seconds 7] [--scale 4] [--vus 4]

Commits do not wait for the disk, whose variation would dominate the result, and the server has no time to spare.
Exit code 1 if a cost is higher than its limit by more than the interval allows, or one of the CPU times is.
"""

import argparse
import json
import os
import subprocess
import sys
import time

from lib import Mariadb, Postgres, run, triphammer

SERVERS = {"postgres": lambda: Postgres(synchronous_commit="off"),
           "mariadb": lambda: Mariadb(**{"innodb-flush-log-at-trx-commit": 0})}
# Throughput with observers, of that without.
RATIO_MIN = 0.99
# How far from 1 the ends of the interval may be.
INTERVAL_MAX = 0.02
# CPU time of the observers' threads, of one core.
CLIENT_MAX = 0.02
# CPU time of the observers' session, of the server's.
SERVER_MAX = 0.01
# Seconds of the run in which it is measured, before and after which the run goes on.
MEASURED, MARGIN = 20, 4


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


def threads(server):
    """The observers' session, and the process of the server with its children; paths below /proc."""
    if isinstance(server, Postgres):
        find = ("SELECT pid FROM pg_stat_activity WHERE application_name = 'triphammer' "
                "AND query LIKE '%backend_type NOT IN%'")
        with open(os.path.join(server.data, "postmaster.pid"), encoding="utf-8") as file:
            first = file.readline().strip()
        found = ""
        while not found:
            found = server.psql("bench", find).strip()
        with open(f"/proc/{first}/task/{first}/children", encoding="utf-8") as file:
            return found, [first, *file.read().split()]
    find = "SELECT TID FROM information_schema.PROCESSLIST WHERE INFO LIKE '%trx_mysql_thread_id%' AND ID <> CONNECTION_ID()"
    first = str(server.process.pid)
    found = ""
    while not found:
        found = server.sql("bench", find).strip()
    return f"{first}/task/{found.split()[0]}", [first]


def cpu_seconds(place):
    """CPU time of a process or thread; 0 of one that has ended, such as a worker of autovacuum."""
    try:
        with open(f"/proc/{place}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except FileNotFoundError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cost_in_server(server, given, environment):
    """CPU time of the observers' session, of that of the server."""
    command = [triphammer(), "run", server.url("bench"), "--vus", str(given.vus), "--rampup", "1s",
               "--duration", f"{MEASURED + 2 * MARGIN}s"]
    load = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    time.sleep(1 + MARGIN)
    session, processes = threads(server)
    before = {place: cpu_seconds(place) for place in [session, *processes]}
    time.sleep(MEASURED)
    used = {place: max(cpu_seconds(place) - seconds, 0) for place, seconds in before.items()}
    if load.wait() not in (0, 1):
        sys.exit(f"{' '.join(command)} failed")
    return used[session] / sum(used[place] for place in processes)


def judge(name, document, server_cpu, environment):
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
          f"{query_ms:.2f} ms per query\n"
          f"  server: {server_cpu:.2%} of its CPU time  (at most {SERVER_MAX:.0%}: "
          f"{'met' if server_cpu <= SERVER_MAX else 'MISSED'})", flush=True)
    return high >= RATIO_MIN and cpu <= CLIENT_MAX and server_cpu <= SERVER_MAX


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
            server_cpu = cost_in_server(server, given, environment)
            met &= judge(name, pairs(server, given, environment), server_cpu, environment)
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
