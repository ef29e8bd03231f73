#!/usr/bin/env python3
"""Client CPU per event of sysbench's oltp_point_select: run by triphammer, and by sysbench 1.0.

Both use prepared statements on MariaDB over TCP on the loopback device without TLS. Start and end are left out: each
figure is the difference between a long run and a short one, for both alike. Needs sysbench.

    bench/sysbench.py [--users 8 64] [--seconds 4] [--rounds 5] [--table-size 100000]
"""

import argparse
import json
import os
import re
import sys

from lib import Mariadb, compare, interleaved, program, run, timed, triphammer

LIMIT = 1.3
SCRIPT = "oltp_point_select"
# Seconds of the short run: long enough that the server's caches are those of the long one.
SHORT = 1


class Clients:
    """The contenders. Each method runs one for some seconds and returns its CPU seconds and its events."""

    def __init__(self, server, size):
        self.server, self.size = server, size
        self.binary, self.sysbench_binary = triphammer(), program("sysbench")
        self.environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(server.folder, "jobs.sqlite")}

    def options(self):
        return ["--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={self.server.port}", "--mysql-user=root",
                "--mysql-db=bench", f"--table-size={self.size}"]

    def prepare(self):
        run([self.sysbench_binary, SCRIPT, *self.options(), "prepare"])

    def triphammer(self, users, seconds):
        done = timed([self.binary, "run", "-w", "sysbench", "--script", SCRIPT, "-D", f"table_size={self.size}", "--vus",
                      str(users), "--threads", "1", "--rampup", "0s", "--duration", f"{seconds}s", "--json",
                      "--no-observe", f"{self.server.url('bench')}?ssl-mode=DISABLED"], env=self.environment)
        document = json.loads(done["out"])
        for figure in document["figures"]:
            if figure["name"] == "client.script_cpu":
                self.share = figure["value"]
        return done["cpu"], document["run"]["total"]["committed"]

    def sysbench(self, users, seconds):
        done = timed([self.sysbench_binary, SCRIPT, *self.options(), f"--threads={users}", f"--time={seconds}", "run"])
        return done["cpu"], int(re.search(r"total number of events:\s+(\d+)", done["out"])[1])

    def contender(self, name, users, seconds):
        """Returns CPU microseconds per event of steady work, at each call."""
        def measure():
            short, long = (getattr(self, name)(users, s) for s in (SHORT, SHORT + seconds))
            return (long[0] - short[0]) * 1e6 / (long[1] - short[1])
        return measure


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--users", type=int, nargs="+", default=[8, 64])
    arguments.add_argument("--seconds", type=int, default=4)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--table-size", type=int, default=100_000)
    given = arguments.parse_args()
    with Mariadb() as server:
        server.fresh("bench")
        clients = Clients(server, given.table_size)
        clients.prepare()
        for users in given.users:
            figures = interleaved(given.rounds, **{
                name: clients.contender(name, users, given.seconds) for name in ("triphammer", "sysbench")})
            compare(f"client CPU, {SCRIPT}, {users} users", "us", figures, "triphammer", "sysbench", limit=LIMIT)
            print(f"  Lua's share of triphammer's: {clients.share:.0%}")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
