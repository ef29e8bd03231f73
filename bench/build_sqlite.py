#!/usr/bin/env python3
"""Building TPROC-C on SQLite, compared with the sqlite3 shell.

The reference imports the same rows from CSV files in memory, each table in one transaction, and creates the
same indexes and statistics; the file is in the same folder.

    bench/build_sqlite.py [--scale 2] [--rounds 5]
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

from lib import compare, interleaved, memory_folder, run, timed, triphammer

TABLES = ["item", "warehouse", "district", "customer", "history", "stock", "orders", "order_line", "new_order"]


def shell(database, script):
    """Feeds a script to the sqlite3 shell."""
    done = subprocess.run(["sqlite3", "-bail", database], input=script, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--scale", type=int, default=2)
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    if not shutil.which("sqlite3"):
        sys.exit("the sqlite3 shell is not installed: apt-get install sqlite3")
    with tempfile.TemporaryDirectory(prefix="triphammer-bench-") as disk, memory_folder() as memory:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(disk, "jobs.sqlite")}
        model, bench = os.path.join(disk, "model.sqlite"), os.path.join(disk, "bench.sqlite")
        build = [triphammer(), "build", "--scale", str(given.scale)]
        run([*build, f"sqlite:{model}"], env=environment)
        for table in TABLES:
            shell(model, f".mode csv\n.output {memory}/{table}.csv\nSELECT * FROM {table};\n")
        listed = "('" + "','".join(TABLES) + "')"
        tables = shell(model, f"SELECT sql || ';' FROM sqlite_master WHERE type = 'table' AND name IN {listed};")
        indexes = shell(model, f"SELECT sql || ';' FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN {listed};")
        imports = "".join(f"BEGIN;\n.import --csv {memory}/{table}.csv {table}\nCOMMIT;\n" for table in TABLES)

        def fresh():
            for suffix in ("", "-wal", "-shm", "-journal", "-triphammer"):
                if os.path.exists(bench + suffix):
                    os.remove(bench + suffix)
            os.sync()

        def ours():
            fresh()
            return timed([*build, f"sqlite:{bench}"], env=environment)["wall"]

        def reference():
            fresh()
            begun = time.monotonic()
            shell(bench, f"{tables}\n{imports}\n{indexes}\nANALYZE;\n")
            return time.monotonic() - begun

        figures = interleaved(given.rounds, triphammer=ours, shell=reference)
        compare(f"build of {given.scale} warehouses on SQLite", "s", figures, "triphammer", "shell", limit=1.5)


if __name__ == "__main__":
    main()
