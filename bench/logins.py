#!/usr/bin/env python3
"""Client CPU per login and query, compared with pgbench -C.

Both open a new connection for each select-only transaction, on one client thread, over TCP on the loopback device
without TLS, in turn within one run of this script. Start and end are left out: each figure is the difference between a
long run and a short one.

    bench/logins.py [--users 8] [--seconds 4] [--rounds 5] [--scale 10] [--protocols simple prepared]
                    [--authentication trust scram-sha-256]
"""

import argparse
import json
import os
import re
import statistics
import sys

from lib import Postgres, compare, interleaved, program, run, timed, triphammer

LIMIT = 0.80
PASSWORD = "bench"
# Seconds of the short run.
SHORT = 1


class Clients:
    """The contenders. Each method runs one for some seconds and returns its CPU seconds and its transactions."""

    def __init__(self, server, users):
        self.server, self.users = server, users
        self.environment = {**os.environ, "PGPASSWORD": PASSWORD,
                            "TRIPHAMMER_STORE": os.path.join(server.folder, "jobs.sqlite")}
        self.rates, self.logins = {}, None

    def triphammer(self, protocol, seconds):
        done = timed([triphammer(), "run", "-w", "tpc-b", "--mix", "0,0,1", "--protocol", protocol, "--reconnect",
                      "every=1", "--vus", str(self.users), "--threads", "1", "--rampup", "0s", "--duration",
                      f"{seconds}s", "--no-observe", "--json", self.server.url("bench")], env=self.environment)
        result = json.loads(done["out"])
        self.logins = result["logins"]["run"]
        return done["cpu"], self.logins["count"]

    def pgbench(self, protocol, seconds):
        done = timed([program("pgbench"), "-n", "-C", "-S", "-M", protocol, "-c", str(self.users), "-j", "1", "-T",
                      str(seconds), self.server.url("bench")], env=self.environment)
        return done["cpu"], int(re.search(r"actually processed: (\d+)", done["out"])[1])

    def contender(self, name, protocol, seconds):
        """Returns CPU microseconds per login and query, at each call."""
        def measure():
            short, long = (getattr(self, name)(protocol, s) for s in (SHORT, SHORT + seconds))
            count = long[1] - short[1]
            self.rates.setdefault(name, []).append(count / seconds)
            return (long[0] - short[0]) * 1e6 / count
        return measure

    def phases(self):
        """The medians of the phases of a login, in milliseconds."""
        known = {name: self.logins[name] for name in ("connect", "authentication", "setup", "whole")}
        return ", ".join(f"{name} {times['p50_us'] / 1000:.2f} ms" for name, times in known.items() if times)


def authenticate(server, method):
    """Has the server ask for a password by this method."""
    server.psql("postgres", f"SET password_encryption = 'scram-sha-256'; ALTER ROLE postgres PASSWORD '{PASSWORD}'",
                env={**os.environ, "PGPASSWORD": PASSWORD})
    with open(os.path.join(server.data, "pg_hba.conf"), "w", encoding="utf-8") as file:
        file.write(f"local all all trust\nhost all all 127.0.0.1/32 {method}\n")
    server.psql("postgres", "SELECT pg_reload_conf()", env={**os.environ, "PGPASSWORD": PASSWORD})


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--users", type=int, default=8)
    arguments.add_argument("--seconds", type=int, default=4)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--scale", type=int, default=10)
    arguments.add_argument("--protocols", nargs="+", default=["simple", "prepared"],
                           choices=["simple", "extended", "prepared"])
    arguments.add_argument("--authentication", nargs="+", default=["trust", "scram-sha-256"],
                           choices=["trust", "scram-sha-256"])
    given = arguments.parse_args()
    is_met = True
    with Postgres(synchronous_commit="off") as server:
        server.fresh("bench")
        run([program("pgbench"), "-i", "-q", "-s", str(given.scale), server.url("bench")])
        for method in given.authentication:
            authenticate(server, method)
            for protocol in given.protocols:
                clients = Clients(server, given.users)
                figures = interleaved(given.rounds, **{
                    name: clients.contender(name, protocol, given.seconds) for name in ("triphammer", "pgbench")})
                title = f"client CPU per login and query, {method}, {protocol}, {given.users} users"
                is_met &= compare(title, "us", figures, "triphammer", "pgbench", limit=LIMIT)
                rates = {name: statistics.median(rates) for name, rates in clients.rates.items()}
                print("  throughput: " + ", ".join(f"{name} {rate:,.0f}/s" for name, rate in rates.items()))
                print(f"  a login of triphammer, medians: {clients.phases()}")
                sys.stdout.flush()
    sys.exit(0 if is_met else 1)


if __name__ == "__main__":
    main()
