#!/usr/bin/env python3
"""Client CPU per transaction and throughput, compared with pgbench and with bare loops.

All do the same round trips with prepared statements on one client thread, over TCP on the loopback device
without TLS: pgbench's select-only and tpcb-like scripts, and for select-only the floors: hand-made messages
on one epoll, and on io_uring where the kernel has it (bench/floor). Start, end and audits are left out: each figure
is the difference between a long run and a short one, for all alike.

    bench/client_cost.py [--users 1 8 64] [--seconds 4] [--rounds 5] [--scale 10] [--io epoll uring]
                         [--scripts select-only tpcb-like] [--pipeline begin on]

Without --io, triphammer chooses; with it, each way is a contender too. So is each way of --pipeline, for tpcb-like only:
it takes fewer round trips than pgbench does, which has no such option for its built-in scripts.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

from lib import ROOT, Postgres, compare, interleaved, program, run, timed, triphammer

LIMITS = {("select-only", 1): 0.75, ("select-only", 8): 0.65, ("select-only", 64): 0.65}
FLOOR_LIMIT = 1.15
# Of tpcb-like with --pipeline on, by users.
PIPELINED_LIMITS = {1: 0.80, 8: 0.70, 64: 0.70}
MIXES = {"select-only": "0,0,1", "tpcb-like": "1,0,0"}
# Seconds of the short run: long enough that the server's caches and plans are those of the long
# one.
SHORT = 1


class Clients:
    """The contenders. Each method runs one for some seconds and returns its CPU seconds and its transactions."""

    def __init__(self, server, scale):
        self.server, self.scale = server, scale
        self.binary = triphammer()
        self.floor = os.path.join(os.path.dirname(self.binary), "triphammer-bench-floor")
        run(["cargo", "build", "--release", "-p", "triphammer-bench-floor"], cwd=ROOT)
        self.environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(server.folder, "jobs.sqlite")}
        self.throughput = {}

    def triphammer(self, script, users, seconds, *options):
        done = timed([self.binary, "run", *options, "-w", "tpc-b", "--mix", MIXES[script], "--vus", str(users), "--threads", "1",
                      "--rampup", "0s", "--duration", f"{seconds}s", "--json", self.server.url("bench")],
                     env=self.environment)
        return done["cpu"], sum(t["committed"] for t in json.loads(done["out"])["run"]["types"])

    def triphammer_epoll(self, script, users, seconds):
        return self.triphammer(script, users, seconds, "--io", "epoll")

    def triphammer_uring(self, script, users, seconds):
        return self.triphammer(script, users, seconds, "--io", "uring")

    def triphammer_begin(self, script, users, seconds):
        return self.triphammer(script, users, seconds, "--pipeline", "begin")

    def triphammer_on(self, script, users, seconds):
        return self.triphammer(script, users, seconds, "--pipeline", "on")

    def pgbench(self, script, users, seconds, sslmode="disable"):
        done = timed([program("pgbench"), "-n", "-M", "prepared", "-b", script, "-c", str(users), "-j", "1",
                      "-T", str(seconds), self.server.url("bench", sslmode)])
        return done["cpu"], int(re.search(r"actually processed: (\d+)", done["out"])[1])

    def pgbench_tls(self, script, users, seconds):
        return self.pgbench(script, users, seconds, "require")

    def epoll(self, _, users, seconds, *options):
        done = timed([self.floor, str(self.server.port), "bench", str(self.scale), str(users), str(seconds), *options])
        return done["cpu"], int(done["out"].split()[0])

    def io_uring(self, script, users, seconds):
        return self.epoll(script, users, seconds, "--io-uring")

    def has_io_uring(self):
        """Whether the kernel allows io_uring; many systems disable it."""
        command = [self.floor, str(self.server.port), "bench", str(self.scale), "1", "1", "--io-uring"]
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def contender(self, name, script, users, seconds):
        """Returns CPU microseconds per transaction of steady work, at each call."""
        def measure():
            short, long = (getattr(self, name)(script, users, s) for s in (SHORT, SHORT + seconds))
            count = long[1] - short[1]
            self.throughput.setdefault((script, users, name), []).append(count / seconds)
            return (long[0] - short[0]) * 1e6 / count
        return measure

    def rate(self, script, users, name):
        return statistics.median(self.throughput[script, users, name])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--users", type=int, nargs="+", default=[1, 8, 64])
    arguments.add_argument("--seconds", type=int, default=4)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--scale", type=int, default=10)
    arguments.add_argument("--io", nargs="*", default=[], choices=["epoll", "uring"])
    arguments.add_argument("--pipeline", nargs="*", default=[], choices=["begin", "on"])
    arguments.add_argument("--scripts", nargs="+", default=list(MIXES), choices=list(MIXES))
    given = arguments.parse_args()
    has_tls = shutil.which("openssl") is not None
    with Postgres(tls=has_tls, synchronous_commit="off") as server:
        server.fresh("bench")
        run([program("pgbench"), "-i", "-q", "-s", str(given.scale), server.url("bench")])
        clients = Clients(server, given.scale)
        floors = ["epoll"]
        if clients.has_io_uring():
            floors.append("io_uring")
        else:
            print("the kernel does not allow io_uring, so it is omitted")
        for script in given.scripts:
            pipelined = given.pipeline if script == "tpcb-like" else []
            ways = [f"triphammer_{way}" for way in given.io + pipelined]
            for users in given.users:
                names = ["triphammer", *ways, "pgbench"] + (floors if script == "select-only" else [])
                figures = interleaved(given.rounds, **{
                    name: clients.contender(name, script, users, given.seconds) for name in names})
                title = f"client CPU, {script}, {users} users"
                compare(title, "us", figures, "triphammer", "pgbench", limit=LIMITS.get((script, users), 0.80))
                for way in ways:
                    for other in names[1 + len(ways):]:
                        limit = PIPELINED_LIMITS.get(users) if way == "triphammer_on" else None
                        compare(title, "us", figures, way, other, limit=limit)
                for floor in names[2 + len(ways):]:
                    limit = FLOOR_LIMIT if floor == "epoll" and users > 1 else None
                    compare(title, "us", figures, "triphammer", floor, limit=limit)
                rates = [f"{name} {clients.rate(script, users, name):,.0f}/s" for name in names]
                print("  throughput: " + ", ".join(rates))
                sys.stdout.flush()
        if has_tls:
            with_tls = clients.contender("pgbench_tls", "select-only", 8, given.seconds)()
            print(f"for comparison, pgbench with TLS, select-only, 8 users: {with_tls:.2f} us")


if __name__ == "__main__":
    main()
