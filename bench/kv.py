#!/usr/bin/env python3
"""The key-value load on PostgreSQL: client CPU per point read, and the speed of its build.

A read is compared with select-only of tpc-b on as many rows, by the CPU of the client's threads per transaction. A build is
compared with psql's \\copy of the same rows from prepared files in memory, in as many jobs, then the same key
and ANALYZE. All on one server, in turn; medians of the rounds.

    bench/kv.py [--scale 10] [--users 8,64] [--seconds 20] [--jobs 2] [--rounds 3]
"""

import argparse
import json
import os
import statistics
import subprocess
import time

from lib import Postgres, memory_folder, program, run, triphammer

KEYS_OF_CHUNK = 100_000
ACCOUNTS_OF_BRANCH = 100_000
CREATE = "CREATE TABLE kv_store (id bigint NOT NULL, version bigint NOT NULL, checksum bigint NOT NULL, " \
         "payload text NOT NULL)"
FINISH = "ALTER TABLE kv_store ADD PRIMARY KEY (id); ANALYZE kv_store"


def cpu_per_transaction(binary, server, users, seconds, workload, environment):
    """CPU of the client's threads per transaction in microseconds, and transactions per second."""
    command = [binary, "run", server.url("bench"), *workload, "--vus", str(users), "--rampup", "0s",
               "--duration", f"{seconds}s", "--json"]
    result = json.loads(run(command, env=environment))
    return result["client"]["threads_cpu_us_per_transaction"], result["primary_metric"]["value"]


def copy(server, folder, jobs, chunks):
    """Loads the prepared files with psql, `jobs` at a time; returns the seconds of the load and of all."""
    server.psql("copied", f"DROP TABLE IF EXISTS kv_store; {CREATE}")
    command = [program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", server.url("copied"), "-c"]
    copies = "\0".join(f"\\copy kv_store FROM '{folder}/{n}'" for n in range(chunks))
    begun = time.monotonic()
    subprocess.run(["xargs", "-0", "-P", str(jobs), "-n", "1", *command], input=copies, text=True,
                   check=True, stdout=subprocess.DEVNULL)
    loaded = time.monotonic()
    server.psql("copied", FINISH)
    return loaded - begun, time.monotonic() - begun


def build(binary, server, scale, jobs, environment):
    """Builds the table; returns the seconds of the load and of all."""
    command = [binary, "build", server.url("bench"), "-w", "kv", "--scale", scale, "--jobs", str(jobs),
               "--replace", "--json"]
    begun = time.monotonic()
    report = json.loads(run(command, env=environment))
    return dict(report["phases"])["load"], time.monotonic() - begun


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--scale", default="10", help="million rows")
    arguments.add_argument("--users", default="8,64")
    arguments.add_argument("--seconds", type=int, default=20)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    binary = triphammer()
    with Postgres() as server, memory_folder() as folder:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(server.folder, "jobs.sqlite")}
        server.fresh("bench")
        server.fresh("copied")
        build(binary, server, given.scale, given.jobs, environment)
        rows = round(float(given.scale) * 1_000_000)
        chunks = -(-rows // KEYS_OF_CHUNK)
        for n in range(chunks):
            where = f"id BETWEEN {n * KEYS_OF_CHUNK + 1} AND {(n + 1) * KEYS_OF_CHUNK}"
            server.psql("bench", f"\\copy (SELECT * FROM kv_store WHERE {where} ORDER BY id) TO '{folder}/{n}'")
        ours, theirs = [], []
        for _ in range(given.rounds):
            theirs.append(copy(server, folder, given.jobs, chunks))
            ours.append(build(binary, server, given.scale, given.jobs, environment))
        for place, name in enumerate(("load", "load, key and ANALYZE")):
            built = statistics.median(seconds[place] for seconds in ours)
            copied = statistics.median(seconds[place] for seconds in theirs)
            print(f"{name}: build {built:.2f} s ({rows / built:,.0f} rows/s), \\copy {copied:.2f} s "
                  f"({rows / copied:,.0f} rows/s): {copied / built:.2f} of its rate", flush=True)
        # As many accounts as keys.
        branches = max(rows // ACCOUNTS_OF_BRANCH, 1)
        run([binary, "build", server.url("bench"), "-w", "tpc-b", "--scale", str(branches)], env=environment)
        workloads = {"kv": ["-w", "kv", "--mix", "read=1"], "tpc-b": ["-w", "tpc-b", "--mix", "select-only"]}
        for users in map(int, given.users.split(",")):
            cpu = {name: [] for name in workloads}
            for _ in range(given.rounds):
                for name, workload in workloads.items():
                    used, _ = cpu_per_transaction(binary, server, users, given.seconds, workload, environment)
                    cpu[name].append(used)
            read, select = (statistics.median(cpu[name]) for name in workloads)
            print(f"point read, {users} users: kv {read:.1f} us, tpc-b {select:.1f} us: {read / select:.2f}",
                  flush=True)


if __name__ == "__main__":
    main()
