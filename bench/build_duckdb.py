#!/usr/bin/env python3
"""Loading TPROC-H into DuckDB, compared with DuckDB's own generator, `CALL dbgen`.

Both load the same rows into a file in the same folder. Our time is that of the whole build, with primary keys and the
record of what was built; dbgen makes no keys. The reference runs in Python's DuckDB 1.5.5 with its tpch extension, both
from PyPI, in an environment that the script makes once in the user's cache.

    bench/build_duckdb.py [--scale 0.1] [--rounds 5]
"""

import argparse
import os
import subprocess
import sys
import tempfile

from lib import compare, interleaved, run, timed, triphammer

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
    with tempfile.TemporaryDirectory(prefix="triphammer-bench-") as disk:
        variables = {**os.environ, "TRIPHAMMER_STORE": os.path.join(disk, "jobs.sqlite")}
        file = os.path.join(disk, "bench.duckdb")

        def fresh():
            for suffix in ("", ".wal"):
                if os.path.exists(file + suffix):
                    os.remove(file + suffix)
            os.sync()

        def ours():
            fresh()
            build = [triphammer(), "build", f"duckdb:{file}", "-w", "tproc-h", "--scale", given.scale]
            return timed(build, env=variables)["wall"]

        def dbgen():
            fresh()
            command = [python, "-c", REFERENCE, extension, file, given.scale]
            return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

        figures = interleaved(given.rounds, triphammer=ours, dbgen=dbgen)
        compare(f"build of {given.scale} SF on DuckDB", "s", figures, "triphammer", "dbgen", limit=1.3)


if __name__ == "__main__":
    main()
