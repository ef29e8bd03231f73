#!/usr/bin/env python3
"""Loading TPROC-H into PostgreSQL, compared with COPY of ready-made .tbl files, and the client's memory.

The reference is the server's own COPY of files in memory, which it reads itself, without a client in between: one file
per table and part, one transaction per part, in as many jobs; then the same primary keys, indexes and ANALYZE, in as
many jobs too. The separator at the end of each line, which COPY rejects, was removed from the files before. Both on one
server with one configuration, in turn. With --queries, the power test follows, for the client's memory.

    bench/build_tproch.py [--scale 1] [--jobs 4] [--rounds 3] [--queries]
"""

import argparse
import glob
import json
import os
import statistics
import time

from build_postgres import in_jobs, write
from lib import Postgres, compare, interleaved, memory_folder, program, run, timed, triphammer

TABLES = ["region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem"]
MEMORY_MB = 150


def definitions(server):
    """The tables' definitions, and the keys and indexes, in the server's own SQL."""
    def dump(section):
        text = run([program("pg_dump"), "--section", section, "--no-owner", "--schema-only",
                    *[f"--table={table}" for table in TABLES], server.url("model")])
        lines = [line for line in text.splitlines() if line and not line.startswith(("--", "SET", "SELECT", "\\"))]
        return [s.strip() for s in "\n".join(lines).split(";") if s.strip()]
    return dump("pre-data"), dump("post-data")


def files(folder, scale, parts, environment):
    """Writes the .tbl files without their last separators; returns the names of each part's files."""
    run([triphammer(), "datagen", "-w", "tproc-h", "--scale", scale, "--parts", str(parts), "-o",
         os.path.join(folder, "tbl")], env=environment)
    found = glob.glob(os.path.join(folder, "tbl", "*.tbl*"))
    run(["sed", "-i", "s/|$//", *found])
    by_part = {}
    for path in found:
        os.chmod(path, 0o644)
        by_part.setdefault(path.rpartition(".tbl")[2], []).append(path)
    os.chmod(os.path.join(folder, "tbl"), 0o755)
    return list(by_part.values())


def memory(what, megabytes):
    verdict = "met" if megabytes <= MEMORY_MB else "MISSED"
    print(f"peak memory of the client, {what}: {megabytes:.0f} MB (at most {MEMORY_MB}: {verdict})")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--scale", default="1")
    arguments.add_argument("--jobs", type=int, default=min(2 * os.cpu_count(), 10))
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--parts", type=int, default=0, help="of the files; by default about 100 MB each")
    arguments.add_argument("--queries", action="store_true", help="also the memory of the power test")
    given = arguments.parse_args()
    jobs = str(given.jobs)
    parts = given.parts or max(given.jobs, round(float(given.scale) * 10))

    with Postgres() as server, memory_folder() as folder:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(server.folder, "jobs.sqlite")}
        build = [triphammer(), "build", "-w", "tproc-h", "--scale", given.scale, "--jobs", jobs, "--json"]
        server.fresh("model")
        run([triphammer(), "build", "-w", "tproc-h", "--scale", "0.01", server.url("model")], env=environment)
        before, after = definitions(server)
        server.psql("postgres", "DROP DATABASE model")

        def load(path):
            table = os.path.basename(path).partition(".")[0]
            return f"COPY {table} FROM '{path}' (DELIMITER '|');"

        loads = [write(folder, f"load{n}.sql", "\n".join(map(load, sorted(part))))
                 for n, part in enumerate(files(folder, given.scale, parts, environment))]
        keys = [write(folder, f"key{n}.sql", s + ";") for n, s in enumerate(after)]
        constraints = [k for k, s in zip(keys, after) if "CONSTRAINT" in s]
        indexes = [k for k in keys if k not in constraints]
        analyzes = [write(folder, f"analyze{t}.sql", f"ANALYZE {t};") for t in TABLES]
        peaks, phases = [], []

        def ours():
            server.fresh("bench")
            done = timed([*build, server.url("bench")], env=environment)
            peaks.append(done["memory"])
            phases.append({"cpu": done["cpu"], **dict(json.loads(done["out"])["phases"])})
            return done["wall"]

        def reference():
            server.fresh("bench")
            begun = time.monotonic()
            server.psql("bench", ";".join(before))
            in_jobs(server, jobs, loads)
            loaded = time.monotonic()
            in_jobs(server, jobs, constraints + indexes)
            in_jobs(server, jobs, analyzes)
            print(f"  reference: load {loaded - begun:.1f} s", flush=True)
            return time.monotonic() - begun

        figures = interleaved(given.rounds, copy=reference, triphammer=ours)
        compare(f"build of {given.scale} SF on PostgreSQL, {jobs} jobs", "s", figures, "triphammer", "copy", limit=1.2)
        median = {name: statistics.median(phase[name] for phase in phases) for phase in phases[:1] for name in phase}
        print("  phases in s: " + ", ".join(f"{name} {value:.1f}" for name, value in median.items()))
        memory(f"build at {given.scale} SF", max(peaks))
        if given.queries:
            # The last build may be the reference's, which has no record.
            server.fresh("bench")
            run([*build, server.url("bench")], env=environment)
            done = timed([triphammer(), "run", "-w", "tproc-h", server.url("bench"), "--json"], env=environment)
            steps = json.loads(done["out"])["queries"]["steps"]
            print(f"  power test: {done['wall']:.1f} s, {len(steps)} steps")
            memory(f"power test at {given.scale} SF", done["memory"])


if __name__ == "__main__":
    main()
