#!/usr/bin/env python3
"""Client CPU per transaction of pgbench's scripts: run as scripts, as workload files, as the workload tpc-b, and by
pgbench.

All on one private PostgreSQL, in turn, each with as many client threads; medians of the rounds. Of triphammer the CPU of the client's threads counts, of
pgbench that of its process.

    bench/scripts.py [--users 8 64] [--threads 1] [--seconds 5] [--rounds 3] [--scale 10] [--scripts select-only tpcb-like]
"""

import argparse
import json
import os
import re
import sys
import tempfile

from lib import Postgres, compare, interleaved, program, run, timed, triphammer

# Ratios of a script: to tpc-b, and to pgbench.
LIMITS = {"tpc-b": 1.15, "pgbench": 1.0}
SCRIPTS = ("select-only", "tpcb-like")

# The same transactions as workload files.
PARAMETERS = """[parameters]
aid = { generator = "integer", max = "100000 * scale" }
"""
WORKLOADS = {
    "select-only": PARAMETERS + """
[[transactions]]
name = "select_only"
statements = ["SELECT abalance FROM pgbench_accounts WHERE aid = :aid"]
""",
    "tpcb-like": PARAMETERS + """bid = { generator = "integer", max = "scale" }
tid = { generator = "integer", max = "10 * scale" }
delta = { generator = "integer", min = -5000, max = 5000 }

[[transactions]]
name = "tpcb_like"
statements = [
    "UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid",
    "SELECT abalance FROM pgbench_accounts WHERE aid = :aid",
    "UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid",
    "UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid",
    """ + '''"""INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)
        VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP)""",''' + """
]
""",
}


class Clients:
    """The contenders. Each method returns CPU microseconds per transaction of one run."""

    def __init__(self, server, given, script, users):
        self.server, self.script, self.users = server, script, users
        self.scale, self.threads, self.seconds = given.scale, given.threads, given.seconds

    def ours(self, *workload):
        command = [triphammer(), "run", self.server.url("bench"), *workload, "--vus", str(self.users), "--threads",
                   str(self.threads), "--rampup", "0s", "--duration", f"{self.seconds}s", "--no-observe", "--json"]
        result = json.loads(run(command, env=environment(self.server)))
        return result["client"]["threads_cpu_us_per_transaction"]

    def as_script(self):
        return self.ours("-w", "script", "--script", self.script)

    def built_in(self):
        return self.ours("-w", "tpc-b", "--mix", self.script)

    def as_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(WORKLOADS[self.script])
            file.flush()
            return self.ours("-w", file.name, "--scale", str(self.scale))

    def pgbench(self):
        done = timed([program("pgbench"), "-n", "-M", "prepared", "-b", self.script, "-c", str(self.users), "-T",
                      str(self.seconds), "-j", str(self.threads), self.server.url("bench")])
        return done["cpu"] * 1e6 / int(re.search(r"actually processed: (\d+)", done["out"])[1])


def environment(server):
    return {**os.environ, "TRIPHAMMER_STORE": os.path.join(server.folder, "jobs.sqlite")}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--users", type=int, nargs="+", default=[8, 64])
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--seconds", type=int, default=5)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--scale", type=int, default=10)
    arguments.add_argument("--scripts", nargs="+", default=SCRIPTS, choices=SCRIPTS)
    given = arguments.parse_args()
    with Postgres(synchronous_commit="off") as server:
        server.fresh("bench")
        build = [triphammer(), "build", server.url("bench"), "-w", "tpc-b", "--scale", str(given.scale)]
        run(build, env=environment(server))
        for script in given.scripts:
            for users in given.users:
                clients = Clients(server, given, script, users)
                figures = interleaved(given.rounds, **{
                    "script": clients.as_script, "tpc-b": clients.built_in, "file": clients.as_file,
                    "pgbench": clients.pgbench})
                title = f"client CPU, {script}, {users} users"
                for other, limit in LIMITS.items():
                    compare(title, "us", figures, "script", other, limit=limit)
                compare(title, "us", figures, "file", "tpc-b")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
