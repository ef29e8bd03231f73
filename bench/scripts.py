#!/usr/bin/env python3
"""Client CPU per transaction of pgbench's scripts: run as scripts, as workload files, as the workload tpc-b, and by
pgbench.

    bench/scripts.py URL [--users 8,64] [--seconds 20] [--scale 10]

The database of URL gets the tables of tpc-b. Needs a release build of triphammer, and pgbench.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from urllib.parse import urlsplit

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ.get("TRIPHAMMER", os.path.join(HERE, "..", "target", "release", "triphammer"))
PGBENCH = os.environ.get("PGBENCH", "pgbench")
SCRIPTS = ("select-only", "tpcb-like")

# The same transactions as workload files.
PARAMETERS = """[parameters]
aid = { generator = "integer", max = "100000 * scale" }
"""
WORKLOADS = {
    "select-only": PARAMETERS + """
[[transactions]]
name = "select_only"
statements = ["SELECT abalance FROM pgbench_accounts WHERE aid = :aid"]
""",
    "tpcb-like": PARAMETERS + """bid = { generator = "integer", max = "scale" }
tid = { generator = "integer", max = "10 * scale" }
delta = { generator = "integer", min = -5000, max = 5000 }

[[transactions]]
name = "tpcb_like"
statements = [
    "UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid",
    "SELECT abalance FROM pgbench_accounts WHERE aid = :aid",
    "UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid",
    "UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid",
    """ + '''"""INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)
        VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP)""",''' + """
]
""",
}


def triphammer(*arguments):
    """Runs the program and returns the document that it prints."""
    done = subprocess.run([PROGRAM, *arguments, "--json"], stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def ours(url, users, seconds, workload):
    """CPU of the client's threads per transaction in microseconds, and transactions per second."""
    result = triphammer(
        "run", url, *workload, "--vus", str(users), "--rampup", "0s", "--duration", f"{seconds}s"
    )
    return result["client"]["threads_cpu_us_per_transaction"], result["primary_metric"]["value"]


def theirs(url, users, seconds, script):
    """The same of pgbench: the CPU time of its process."""
    target = urlsplit(url)
    environment = dict(os.environ)
    if target.password:
        environment["PGPASSWORD"] = target.password
    command = [PGBENCH, "-n", "-M", "prepared", "-b", script, "-c", str(users), "-T", str(seconds)]
    command += ["-j", str(min(users, os.cpu_count() or 1)), "-h", target.hostname or "127.0.0.1"]
    command += ["-p", str(target.port or 5432), "-U", target.username or "postgres"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*command, target.path.lstrip("/")],
        env=environment, stdout=subprocess.PIPE, text=True, check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    label = "number of transactions actually processed: "
    lines = [line for line in done.stdout.splitlines() if line.startswith(label)]
    count = int(lines[0].removeprefix(label).split("/")[0])
    return cpu * 1e6 / count, count / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="a PostgreSQL database")
    parser.add_argument("--users", default="8,64")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--scale", type=int, default=10)
    given = parser.parse_args()
    triphammer("build", given.url, "-w", "tpc-b", "--scale", str(given.scale))
    print("script        users   CPU per transaction in us (TPS)")
    for script in SCRIPTS:
        for users in map(int, given.users.split(",")):
            as_script = ours(given.url, users, given.seconds, ["-w", "script", "--script", script])
            built_in = ours(given.url, users, given.seconds, ["-w", "tpc-b", "--mix", script])
            with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
                file.write(WORKLOADS[script])
                file.flush()
                workload = ["-w", file.name, "--scale", str(given.scale)]
                as_file = ours(given.url, users, given.seconds, workload)
            pgbench = theirs(given.url, users, given.seconds, script)
            named = (
                ("script", as_script), ("file", as_file), ("tpc-b", built_in), ("pgbench", pgbench)
            )
            figures = "   ".join(f"{name} {cpu:.1f} ({tps:.0f})" for name, (cpu, tps) in named)
            print(f"{script:12}  {users:5}   {figures}", flush=True)


if __name__ == "__main__":
    main()
