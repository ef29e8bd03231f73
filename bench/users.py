#!/usr/bin/env python3
"""A thousand virtual users: TPROC-C with procedures on PostgreSQL and on the null database, from the first connection
to exit code 0, and the client's peak memory.

    bench/users.py [--users 1000] [--scale 10] [--seconds 10] [--threads 2]
"""

import argparse
import json
import os

from lib import Postgres, run, timed, triphammer

MEMORY_LIMIT_MB = 60


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("users", 1000), ("scale", 10), ("seconds", 10), ("threads", 2)):
        arguments.add_argument(f"--{name}", type=int, default=default)
    given = arguments.parse_args()
    binary = triphammer()
    room = given.users + 50
    with Postgres(max_connections=room, fsync="off", synchronous_commit="off", shared_buffers="512MB") as server:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(server.folder, "jobs.sqlite")}
        server.fresh("bench")
        run([binary, "build", server.url("bench"), "--scale", str(given.scale)], env=environment)
        for title, target in (("null", "null:?service=20ms"), ("PostgreSQL", server.url("bench"))):
            done = timed([binary, "run", target, "--vus", str(given.users), "--threads", str(given.threads), "--mode",
                          "procedures", "--rampup", "2s", "--duration", f"{given.seconds}s", "--json"], env=environment)
            types = json.loads(done["out"])["run"]["types"]
            ended = sum(t["committed"] + t["rolled_back"] for t in types)
            verdict = "met" if done["memory"] <= MEMORY_LIMIT_MB else "MISSED"
            print(f"{title}: {given.users} users, {ended:,} transactions, {done['wall']:.1f} s from start to exit code 0, "
                  f"{done['cpu']:.1f} s of CPU, peak memory {done['memory']:.1f} MB  (at most {MEMORY_LIMIT_MB}: {verdict})",
                  flush=True)


if __name__ == "__main__":
    main()
