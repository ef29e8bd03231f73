#!/usr/bin/env python3
"""The client for SQL Server, on Babelfish: CPU per procedure call and time of a load.

Calls: Payment of TPROC-C, one session, at one rate. The references are the same call on PostgreSQL, and python-tds, which
calls the procedure with drawn inputs of the same kind. Start and end are left out: each figure is the difference between a
long run and a short one. The load is tpc-b's accounts without their key, compared with Microsoft's JDBC driver, which
copies ready-made rows in as many sessions. Babelfish is no SQL Server: only the clients are compared.

It needs TRIPHAMMER_BABELFISH, python-tds (pip install python-tds), a JDK, and the driver's jar (mssql-jdbc of Maven
Central) in MSSQL_JDBC; what is missing is left out.

    bench/sqlserver.py [--seconds 4] [--rounds 5] [--rate 300] [--scale 8] [--jobs 2] [--only calls|load]
"""

import argparse
import contextlib
import importlib.util
import json
import os
import random
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from lib import ROOT, Postgres, compare, interleaved, run, timed, triphammer

USER, PASSWORD = "babel", "bench"
SHORT = 1
AGAINST_POSTGRES, AGAINST_PYTHON, AGAINST_JDBC = 1.3, 0.5, 1.2
ACCOUNTS = 100_000


@contextlib.contextmanager
def babelfish():
    """A private server; returns its port."""
    programs = os.environ.get("TRIPHAMMER_BABELFISH") or sys.exit("TRIPHAMMER_BABELFISH names no folder of Babelfish")
    folder = tempfile.mkdtemp(prefix="th-bf-")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # The server keeps the output of its parent open: give it files.
    with open(os.path.join(folder, "start.log"), "w") as log:
        subprocess.run([os.path.join(programs, "start"), os.path.join(folder, "data"), str(port)], stdout=log, stderr=log,
                       check=True, env={**os.environ, "BABEL_PASSWORD": PASSWORD})
    try:
        yield port
    finally:
        subprocess.run([os.path.join(programs, "stop"), os.path.join(folder, "data")], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)


def target(port, database):
    return f"sqlserver://{USER}:{PASSWORD}@127.0.0.1:{port}/{database}?encrypt=off"


def payments(binary, environment, url, rate):
    """CPU seconds and calls of a run of triphammer, at a rate."""
    def measure(seconds):
        done = timed([binary, "run", url, "--mix", "0,1,0,0,0", "--vus", "1", "--load", f"rate:{rate}/s,constant",
                      "--no-observe", "--rampup", "0s", "--duration", f"{seconds}s", "--json"], env=environment)
        return done["cpu"], sum(t["committed"] for t in json.loads(done["out"])["run"]["types"])
    return measure


def python_calls(port, rate, seconds):
    """Calls Payment at a rate by python-tds; prints CPU seconds and calls. Runs in a process of its own."""
    import datetime
    import decimal

    import pytds

    session = pytds.connect("127.0.0.1", port=port, user=USER, password=PASSWORD, database="calls", autocommit=True,
                            disable_connect_retry=True)
    cursor = session.cursor()
    begun, calls = time.monotonic(), 0
    while time.monotonic() - begun < seconds:
        district, amount = random.randint(1, 10), decimal.Decimal(random.randint(100, 500_000)) / 100
        cursor.callproc("triphammer_payment", (1, district, 1, district, random.randint(1, 3000), None, amount,
                                               datetime.datetime.now()))
        cursor.fetchall()
        calls += 1
        time.sleep(max(0, begun + calls / rate - time.monotonic()))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(usage.ru_utime + usage.ru_stime, calls)


def by_python(port, rate):
    def measure(seconds):
        out = run([sys.executable, os.path.abspath(__file__), "--python-calls", f"{port},{rate},{seconds}"])
        cpu, calls = out.split()
        return float(cpu), int(calls)
    return measure


def steady(measure, seconds):
    """Microseconds of CPU per call, without start and end."""
    def figure():
        short, long = measure(SHORT), measure(SHORT + seconds)
        return (long[0] - short[0]) * 1e6 / (long[1] - short[1])
    return figure


def calls(options, binary, environment, port):
    with Postgres() as postgres:
        postgres.fresh("calls")
        urls = {"Babelfish": target(port, "calls"), "PostgreSQL": postgres.url("calls")}
        for name, url in urls.items():
            more = ["--create-database"] if name == "Babelfish" else []
            run([binary, "build", url, "--scale", "1", *more], env=environment)
        contenders = {name: payments(binary, environment, url, options.rate) for name, url in urls.items()}
        if importlib.util.find_spec("pytds"):
            contenders["python-tds"] = by_python(port, options.rate)
        contenders = {name: steady(measure, options.seconds) for name, measure in contenders.items()}
        figures = interleaved(options.rounds, **contenders)
    title = f"client CPU per Payment by procedure at {options.rate}/s"
    kept = compare(title, "us", figures, "Babelfish", "PostgreSQL", AGAINST_POSTGRES)
    if "python-tds" in figures:
        return compare(title, "us", figures, "Babelfish", "python-tds", AGAINST_PYTHON) and kept
    print("python-tds is not installed: left out")
    return kept


def load(options, binary, environment, port):
    jar = os.environ.get("MSSQL_JDBC")
    if not jar or not shutil.which("javac"):
        print("MSSQL_JDBC names no jar, or there is no JDK: the load is left out")
        return True
    rows, url = options.scale * ACCOUNTS, target(port, "load")
    with tempfile.TemporaryDirectory() as classes:
        run(["javac", "-cp", jar, "-d", classes, os.path.join(ROOT, "bench/BulkCopy.java")])
        jdbc = f"jdbc:sqlserver://127.0.0.1:{port};databaseName=load;user={USER};password={PASSWORD};encrypt=false"

        def ours():
            out = run([binary, "build", url, "-w", "tpc-b", "--scale", str(options.scale), "--jobs", str(options.jobs),
                       "--replace", "--create-database", "--json"], env=environment)
            phases = json.loads(out)["phases"]
            return next(seconds for name, seconds in phases if name == "load")

        def theirs():
            out = run(["java", "-Xmx2g", "-cp", f"{jar}:{classes}", "BulkCopy", jdbc, str(rows), str(options.jobs)])
            return float(out.split()[-1])

        ours()
        figures = interleaved(options.rounds, triphammer=ours, jdbc=theirs)
    return compare(f"load of {rows} rows by {options.jobs} sessions", "s", figures, "triphammer", "jdbc", AGAINST_JDBC)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=int, default=4)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--rate", type=int, default=300)
    arguments.add_argument("--scale", type=int, default=8)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--only", choices=["calls", "load"])
    arguments.add_argument("--python-calls", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.python_calls:
        port, rate, seconds = map(int, options.python_calls.split(","))
        return python_calls(port, rate, seconds)
    parts = [calls, load] if options.only is None else [{"calls": calls, "load": load}[options.only]]
    with babelfish() as port, tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite")}
        kept = [part(options, triphammer(), environment, port) for part in parts]
    sys.exit(0 if all(kept) else 1)


if __name__ == "__main__":
    main()
