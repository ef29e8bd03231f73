#!/usr/bin/env python3
"""Building TPROC-C on MariaDB, compared with the server's own limit.

The reference is LOAD DATA LOCAL with MariaDB's client of prepared files in memory, in as many jobs, one
transaction per warehouse, into tables with the same primary keys; then the same indexes and ANALYZE TABLE, in as
many jobs too. Both on one server with one configuration, in turn.

    bench/build_mysql.py [--scale 10] [--jobs 4] [--rounds 5]
"""

import argparse
import os
import re
import subprocess
import time

from build_postgres import TABLES, write
from lib import Mariadb, compare, interleaved, memory_folder, run, timed, triphammer


def export(server, folder, scale):
    """Writes one file per table and warehouse, matching the loader's transactions."""
    for table, column in [("item", None), *TABLES.items()]:
        for part in [0] if column is None else range(1, scale + 1):
            where = "" if column is None else f" WHERE {column} = {part}"
            server.sql("model", f"SELECT * FROM {table}{where} INTO OUTFILE '{folder}/{table}.{part}'")


def definitions(server):
    """The tables with their primary keys, and the indexes, in the server's own SQL."""
    tables, indexes = [], []
    for table in ["item", *TABLES]:
        text = run([*server.client("model"), "--raw", "-e", f"SHOW CREATE TABLE {table}"]).split("\t", 1)[1]
        for name, columns in re.findall(r",\n  KEY (\S+) (\(.*?\))", text):
            indexes.append(f"CREATE INDEX {name} ON {table} {columns}")
        tables.append(re.sub(r",\n  KEY .*", "", text))
    return tables, indexes


def in_jobs(server, jobs, scripts):
    """Runs scripts, `jobs` at a time."""
    client = " ".join(server.client("bench"))
    subprocess.run(["xargs", "-P", str(jobs), "-I", "{}", "sh", "-ec", f"{client} < {{}}"], input="\n".join(scripts),
                   text=True, check=True, stdout=subprocess.DEVNULL)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--scale", type=int, default=10)
    arguments.add_argument("--jobs", type=int, default=min(2 * os.cpu_count(), 10))
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    binary, jobs = triphammer(), str(given.jobs)

    with Mariadb() as server, memory_folder() as folder:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(server.folder, "jobs.sqlite")}
        build = [binary, "build", "--scale", str(given.scale), "--jobs", jobs]
        server.fresh("model")
        run([*build, server.url("model")], env=environment)
        export(server, folder, given.scale)
        tables, indexes = definitions(server)
        server.sql("mysql", "DROP DATABASE model")
        parts = [[("item", 0)], *[[(t, w) for t in TABLES] for w in range(1, given.scale + 1)]]
        load = "LOAD DATA LOCAL INFILE '{0}/{1}.{2}' INTO TABLE {1} CHARACTER SET utf8mb4;"
        head = "SET unique_checks = 0; SET foreign_key_checks = 0; BEGIN;"
        loads = [write(folder, f"load{n}.sql", "\n".join([head, *[load.format(folder, *p) for p in part], "COMMIT;"]))
                 for n, part in enumerate(parts)]
        keys = [write(folder, f"index{n}.sql", s + ";") for n, s in enumerate(indexes)]
        analyzes = [write(folder, f"analyze{t}.sql", f"ANALYZE TABLE {t};") for t in ["item", *TABLES]]

        def ours():
            server.fresh("bench")
            return timed([*build, server.url("bench")], env=environment)["wall"]

        def reference():
            server.fresh("bench")
            begun = time.monotonic()
            server.sql("bench", ";".join(tables))
            in_jobs(server, jobs, loads)
            in_jobs(server, jobs, keys)
            in_jobs(server, jobs, analyzes)
            return time.monotonic() - begun

        figures = interleaved(given.rounds, triphammer=ours, **{"load data": reference})
        title = f"build of {given.scale} warehouses on MariaDB, {jobs} jobs"
        compare(title, "s", figures, "triphammer", "load data", limit=1.2)


if __name__ == "__main__":
    main()
