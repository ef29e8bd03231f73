#!/usr/bin/env python3
"""Speed and memory of `datagen -w tproc-h`: gigabytes of .tbl per second of CPU, and peak memory.

Files are written to memory. With --build the same data is also loaded into a private PostgreSQL, for the client's
memory.

    bench/datagen.py [--scale 1] [--rounds 3] [--jobs 1] [--build]
"""

import argparse
import json
import os
import shutil
import statistics
import tempfile

from lib import Postgres, memory_folder, timed, triphammer


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--scale", default="1")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--jobs", type=int, default=1)
    arguments.add_argument("--build", action="store_true")
    given = arguments.parse_args()
    size = ["-w", "tproc-h", "--scale", given.scale, "--jobs", str(given.jobs)]
    per_cpu, per_second, memory = [], [], []
    with memory_folder() as folder, tempfile.TemporaryDirectory(prefix="triphammer-bench-") as disk:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(disk, "jobs.sqlite")}
        for _ in range(given.rounds):
            files = os.path.join(folder, "tproc-h")
            command = [triphammer(), "datagen", *size, "--parts", str(given.jobs), "-o", files, "--json"]
            done = timed(command, env=environment)
            gigabytes = json.loads(done["out"])["bytes"] / 1e9
            per_cpu.append(gigabytes / done["cpu"])
            per_second.append(gigabytes / done["wall"])
            memory.append(done["memory"])
            shutil.rmtree(files)
        print(f"datagen at SF {given.scale}, {given.jobs} jobs: {statistics.median(per_cpu):.3f} GB per second of CPU, "
              f"{statistics.median(per_second):.3f} GB/s, peak memory {max(memory):.0f} MiB")
        if given.build:
            with Postgres() as server:
                server.fresh("tpch")
                done = timed([triphammer(), "build", server.url("tpch"), *size], env=environment)
            print(f"build on PostgreSQL at SF {given.scale}, {given.jobs} jobs: {done['wall']:.1f} s, {done['cpu']:.1f} s of CPU, "
                  f"peak memory {done['memory']:.0f} MiB")


if __name__ == "__main__":
    main()
