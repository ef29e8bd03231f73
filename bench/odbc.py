#!/usr/bin/env python3
"""Client CPU per select by ODBC, compared with a bare loop in C on the same driver (bench/odbc_loop.c).

Both select accounts of tpc-b by a prepared statement, with one session, by PostgreSQL's ODBC driver. Start and end are
left out: each figure is the difference between a long run and a short one. It needs unixodbc, odbc-postgresql, a C
compiler and a release build.

    bench/odbc.py [--seconds 4] [--rounds 5] [--scale 10]
"""

import argparse
import glob
import json
import os
import sys

from lib import ROOT, Postgres, compare, interleaved, run, timed, triphammer

LIMIT = 1.2
SHORT = 1
ACCOUNTS = 100_000


def loop(folder):
    """Compiles the loop, and returns its path."""
    path = os.path.join(folder, "odbc_loop")
    library = glob.glob("/usr/lib/*/libodbc.so.2")[0]
    run(["cc", "-O2", "-o", path, os.path.join(ROOT, "bench/odbc_loop.c"), library])
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=int, default=10)
    options = parser.parse_args()
    with Postgres() as server:
        server.fresh("bench")
        binary, bare = triphammer(), loop(server.folder)
        string = f"Driver={{PostgreSQL Unicode}};Servername=127.0.0.1;Port={server.port};UID=postgres;" \
                 "Database=bench;UseServerSidePrepare=1;SSLmode=disable"
        target = f"odbc:{string}"
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(server.folder, "jobs.sqlite")}
        run([binary, "build", "-w", "tpc-b", "--scale", str(options.scale), target], env=environment)

        def ours(seconds):
            done = timed([binary, "run", "-w", "tpc-b", "--mix", "0,0,1", "--vus", "1", "--rampup", "0s",
                          "--duration", f"{seconds}s", "--json", target], env=environment)
            return done["cpu"], sum(t["committed"] for t in json.loads(done["out"])["run"]["types"])

        def floor(seconds):
            done = timed([bare, string, str(options.scale * ACCOUNTS), str(seconds)])
            return done["cpu"], int(done["out"])

        def steady(measure):
            def figure():
                short, long = measure(SHORT), measure(SHORT + options.seconds)
                return (long[0] - short[0]) * 1e6 / (long[1] - short[1])
            return figure

        figures = interleaved(options.rounds, triphammer=steady(ours), bare=steady(floor))
        kept = compare("client CPU per select by ODBC", "us", figures, "triphammer", "bare", LIMIT)
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
