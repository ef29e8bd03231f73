#!/usr/bin/env python3
"""Loading TPROC-H into DuckDB, compared with DuckDB's own generator, `CALL dbgen`, and with COPY of Parquet files.

All load the same rows into a file in the same folder. The load is compared with the faster of the two, which make no
keys either; the time of the whole build, with primary keys, statistics and the record of what was built, is shown too. The references run in Python's DuckDB 1.5.5 with its tpch extension, both from PyPI, in an environment that the
script makes once in the user's cache. The Parquet files are written by DuckDB and lie in memory.

    bench/build_duckdb.py [--scale 0.1] [--rounds 5]
"""

import argparse
import json
import os
import statistics
import sys
import tempfile

from lib import compare, interleaved, memory_folder, run, timed, triphammer

VERSION = "1.5.5"
REFERENCE = """
import sys, time, duckdb
database = duckdb.connect(sys.argv[2])
database.execute("SET enable_progress_bar = false")
database.execute(f"LOAD '{sys.argv[1]}'")
begun = time.monotonic()
database.execute(f"CALL dbgen(sf={sys.argv[3]})")
database.close()
print(time.monotonic() - begun)
"""
EXPORT = """
import sys, duckdb
database = duckdb.connect()
database.execute(f"LOAD '{sys.argv[1]}'")
database.execute(f"CALL dbgen(sf={sys.argv[3]})")
for (table,) in database.execute("SELECT table_name FROM duckdb_tables()").fetchall():
    database.execute(f"COPY {table} TO '{sys.argv[2]}/{table}.parquet'")
"""
PARQUET = """
import glob, os, sys, time, duckdb
database = duckdb.connect(sys.argv[2])
database.execute("SET enable_progress_bar = false")
database.execute(f"LOAD '{sys.argv[1]}'")
database.execute("CALL dbgen(sf=0)")
begun = time.monotonic()
for path in sorted(glob.glob(sys.argv[3] + "/*.parquet")):
    table = os.path.basename(path).removesuffix(".parquet")
    database.execute(f"COPY {table} FROM '{path}'")
database.close()
print(time.monotonic() - begun)
"""


def environment():
    """A Python with DuckDB, and the path of its tpch extension."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(base, "triphammer", f"duckdb-python-{VERSION}")
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        run([sys.executable, "-m", "venv", folder])
        packages = [f"duckdb=={VERSION}", f"duckdb-extension-tpch=={VERSION}"]
        run([python, "-m", "pip", "install", "--quiet", *packages])
    for place, _, files in os.walk(folder):
        if "tpch.duckdb_extension" in files:
            return python, os.path.join(place, "tpch.duckdb_extension")
    sys.exit(f"no tpch extension in {folder}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--scale", default="0.1")
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    python, extension = environment()
    with tempfile.TemporaryDirectory(prefix="triphammer-bench-") as disk, memory_folder() as memory:
        variables = {**os.environ, "TRIPHAMMER_STORE": os.path.join(disk, "jobs.sqlite")}
        file = os.path.join(disk, "bench.duckdb")

        def fresh():
            for suffix in ("", ".wal"):
                if os.path.exists(file + suffix):
                    os.remove(file + suffix)
            os.sync()

        run([python, "-c", EXPORT, extension, memory, given.scale])
        runs = []

        def ours():
            fresh()
            build = [triphammer(), "build", f"duckdb:{file}", "-w", "tproc-h", "--scale", given.scale, "--json"]
            runs.append(timed(build, env=variables))
            return runs[-1]["wall"]

        def reference(code, argument):
            fresh()
            return float(run([python, "-c", code, extension, file, argument]))

        def dbgen():
            return reference(REFERENCE, given.scale)

        def parquet():
            return reference(PARQUET, memory)

        figures = interleaved(given.rounds, triphammer=ours, dbgen=dbgen, parquet=parquet)
        faster = min(("dbgen", "parquet"), key=lambda name: statistics.median(figures[name]))
        slower = "dbgen" if faster == "parquet" else "parquet"
        phases = [dict(json.loads(one["out"])["phases"]) for one in runs]
        figures["load alone"] = [phase["load"] for phase in phases]
        title = f"build of {given.scale} SF on DuckDB"
        compare(title, "s", figures, "load alone", faster, limit=1.3)
        compare(title, "s", figures, "triphammer", faster)
        compare(title, "s", figures, "triphammer", slower)
        median = {name: statistics.median(phase[name] for phase in phases) for name in phases[0]}
        print("  phases in s: " + ", ".join(f"{name} {value:.2f}" for name, value in median.items()))
        print(f"  CPU {statistics.median(one['cpu'] for one in runs):.1f} s, peak memory with the engine "
              f"{max(one['memory'] for one in runs):.0f} MB")


if __name__ == "__main__":
    main()
