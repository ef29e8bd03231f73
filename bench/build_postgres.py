#!/usr/bin/env python3
"""Building TPROC-C on PostgreSQL, compared with the server's own limit.

The reference is psql's \\copy of prepared binary files in memory, in as many jobs, one transaction per
warehouse; then the same primary keys, indexes and ANALYZE, in as many jobs too. Both on one server with one
configuration, in turn.

    bench/build_postgres.py [--scale 10] [--jobs 4] [--rounds 5] [--memory 100]
"""

import argparse
import os
import subprocess
import time

from lib import Postgres, compare, interleaved, memory_folder, peak_memory_mb, program, run, timed, triphammer

TABLES = {  # table: the column with its warehouse
    "warehouse": "w_id", "district": "d_w_id", "customer": "c_w_id", "history": "h_w_id",
    "stock": "s_w_id", "orders": "o_w_id", "order_line": "ol_w_id", "new_order": "no_w_id",
}


def export(server, folder, scale):
    """Writes one binary file per table and warehouse, matching the loader's transactions."""
    for table, column in [("item", None), *TABLES.items()]:
        for part in [0] if column is None else range(1, scale + 1):
            where = "" if column is None else f" WHERE {column} = {part}"
            server.psql("model", f"\\copy (SELECT * FROM {table}{where}) TO '{folder}/{table}.{part}' BINARY")


def statements(server):
    """The tables' definitions, and the keys and indexes, in the server's own SQL."""
    def dump(section):
        text = run([program("pg_dump"), "--section", section, "--no-owner", "--schema-only",
                    *[f"--table={table}" for table in ["item", *TABLES]], server.url("model")])
        lines = [line for line in text.splitlines() if line and not line.startswith(("--", "SET", "SELECT", "\\"))]
        return [s.strip() for s in "\n".join(lines).split(";") if s.strip()]
    return dump("pre-data"), dump("post-data")


def in_jobs(server, jobs, scripts):
    """Runs psql scripts, `jobs` at a time, each in one transaction."""
    command = [program("psql"), "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", server.url("bench"), "-f"]
    subprocess.run(["xargs", "-P", str(jobs), "-n", "1", *command], input="\n".join(scripts), text=True,
                   check=True, stdout=subprocess.DEVNULL)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--scale", type=int, default=10)
    arguments.add_argument("--jobs", type=int, default=min(2 * os.cpu_count(), 10))
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--memory", type=int, nargs="*", default=[], help="also the peak memory at these scales")
    given = arguments.parse_args()
    binary, jobs = triphammer(), str(given.jobs)

    with Postgres() as server, memory_folder() as folder:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(server.folder, "jobs.sqlite")}
        build = [binary, "build", "--scale", str(given.scale), "--jobs", jobs]
        server.fresh("model")
        run([*build, server.url("model")], env=environment)
        export(server, folder, given.scale)
        before, after = statements(server)
        parts = [[("item", 0)], *[[(t, w) for t in TABLES] for w in range(1, given.scale + 1)]]
        loads = [write(folder, f"load{n}.sql", "\n".join(f"\\copy {t} FROM '{folder}/{t}.{w}' BINARY" for t, w in part))
                 for n, part in enumerate(parts)]
        keys = [write(folder, f"key{n}.sql", s + ";") for n, s in enumerate(after)]
        analyzes = [write(folder, f"analyze{t}.sql", f"ANALYZE {t};") for t in ["item", *TABLES]]
        constraints = [k for k, s in zip(keys, after) if "CONSTRAINT" in s]
        indexes = [k for k in keys if k not in constraints]

        def ours():
            server.fresh("bench")
            return timed([*build, server.url("bench")], env=environment)["wall"]

        def reference():
            server.fresh("bench")
            begun = time.monotonic()
            server.psql("bench", ";".join(before))
            in_jobs(server, jobs, loads)
            in_jobs(server, jobs, constraints + indexes)
            in_jobs(server, jobs, analyzes)
            return time.monotonic() - begun

        figures = interleaved(given.rounds, triphammer=ours, copy=reference)
        title = f"build of {given.scale} warehouses on PostgreSQL, {jobs} jobs"
        compare(title, "s", figures, "triphammer", "copy", limit=1.15)
        for scale in given.memory:
            server.fresh("bench")
            megabytes = peak_memory_mb([binary, "build", "--scale", str(scale), "--jobs", jobs, server.url("bench")],
                                       env=environment)
            print(f"peak memory of build at {scale} warehouses: {megabytes:.0f} MB "
                  f"(at most 150: {'met' if megabytes <= 150 else 'MISSED'})")


if __name__ == "__main__":
    main()
