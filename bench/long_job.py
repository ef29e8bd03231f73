#!/usr/bin/env python3
"""The page of a job of twelve hours: how soon it is drawn, how smoothly it scrolls, how much data is transferred.

    bench/long_job.py [--seconds 43200] [--figures 300] [--rounds 5] [--picture FILE.png]

A short run on the null database is the model; bench/long-job writes one of twelve hours with as many observed figures
to the store, through the store's own code. Chromium opens its page from scratch in each round.
"""

import argparse
import contextlib
import json
import os
import sqlite3
import subprocess
import tempfile

import lib


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=12 * 3600)
    parser.add_argument("--figures", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--picture", default="")
    args = parser.parse_args()
    triphammer = lib.triphammer()
    writer = os.path.join(os.path.dirname(triphammer), "triphammer-bench-long-job")
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "jobs.sqlite")
        environment = {**os.environ, "TRIPHAMMER_STORE": store, "TRIPHAMMER_TOKEN": ""}
        lib.run([triphammer, "run", "null:?service=1ms", "--rampup", "1s", "--duration", "3s"], env=environment)
        written = lib.timed([writer, store, "1", str(args.seconds), str(args.figures)])
        job = written["out"].strip()
        print(f"{args.seconds} seconds with {args.figures} figures written in {written['wall']:.0f} s")
        size = sizes(store)
        show("the store", "MB", [size["all"] / 1e6], "")
        show("  observed figures", "MB", [size["figures"] / 1e6], "at most 60")
        server = subprocess.Popen([triphammer, "serve", "--listen", "127.0.0.1:0"], env=environment,
                                  stdout=subprocess.PIPE, text=True)
        try:
            base, token = server.stdout.readline().strip().split()[-1].split("/?token=")
            rounds = [look(base, token, job, args.picture) for _ in range(args.rounds)]
        finally:
            server.terminate()
            server.wait(30)
    show("drawn", "ms", [r["drawn"] for r in rounds], "at most 2,000")
    show("the map of 64 CPUs drawn again", "ms", [r["cores"] for r in rounds], "at most 1,000")
    show("a part compared with the rest", "ms", [r["compared"] for r in rounds], "")
    show("the page, as sent", "KB", [r["page"] / 1e3 for r in rounds], "")
    show("page and data, as sent", "KB", [(r["page"] + r["data"]) / 1e3 for r in rounds], "at most 200")
    show("moving", "frames per second", [r["fps"] for r in rounds], "at least 30")
    show("wait for a frame, p95", "ms", [r["p95_ms"] for r in rounds], "")
    for name in sorted({name for r in rounds for name, _ in r["timings"]}):
        show(f"  {name[:40]}", "ms", [ms for r in rounds for n, ms in r["timings"] if n == name], "")


def sizes(store):
    """Bytes of a store that is written out, and of the observed figures in it."""
    with contextlib.closing(sqlite3.connect(store)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        figures = database.execute("SELECT sum(length(data) + 30) FROM sample_chunk").fetchone()[0]
    return {"all": os.path.getsize(store), "figures": figures}


def look(base, token, job, picture):
    """One visit of the page by a browser with an empty cache."""
    script = os.path.join(lib.ROOT, "bench/long_job.mjs")
    return json.loads(lib.run(["node", script], env={**os.environ, "BASE": base, "TOKEN": token, "JOB": job, "SHOT": picture}))


def show(name, unit, values, wanted):
    values = sorted(values)
    print(f"{name:44} {values[len(values) // 2]:8.0f} {unit} ({values[0]:.0f} to {values[-1]:.0f}) {wanted}")


if __name__ == "__main__":
    main()
