#!/usr/bin/env python3
"""Takes the README's screenshot: a run of TPROC-C on a private PostgreSQL, on its page. Prints the summary of the run,
for the README's first block.

    tools/readme-picture.py [FILE.png]        without FILE: docs/images/run.png

It needs a release build with its page (`make build`; TRIPHAMMER names another binary), PostgreSQL and Chromium. Run it
on an idle host, because the picture shows the figures. RAMPUP and DURATION set the length of the run.
"""

import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import lib  # noqa: E402

WAREHOUSES, USERS = 10, 8
RAMPUP, DURATION = os.environ.get("RAMPUP", "1m"), os.environ.get("DURATION", "5m")
WIDTH = 1280

SHOOT = """
import { open } from './e2e/browser.mjs';
const browser = await open();
const page = await browser.newPage({ viewport: { width: +process.env.WIDTH, height: 900 } });
await page.goto(process.env.LINK);
await page.goto(new URL('/#/jobs/' + process.env.JOB, process.env.LINK).href);
await page.getByText('Response times over the run').waitFor();
await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
// Tiles, verdict, transactions and the charts over time: what follows would make the README too long.
const below = await page.getByText('Response time by percentile').boundingBox();
const clip = { x: 0, y: 0, width: +process.env.WIDTH, height: below.y - 24 };
await page.screenshot({ path: process.env.PICTURE, fullPage: true, clip });
await browser.close();
"""


def drive(binary, target):
    """Builds and runs TPROC-C; returns the number of the run's job."""
    lib.run([binary, "build", target, "--create-database", "--scale", str(WAREHOUSES), "--jobs", "4"])
    print(lib.run([binary, "run", target, "--vus", str(USERS), "--rampup", RAMPUP, "--duration", DURATION]))
    return str(json.loads(lib.run([binary, "jobs", "--limit", "1", "--json"]))[0]["id"])


def shoot(binary, job, picture):
    """Saves a screenshot of a stored job's page."""
    command = [binary, "serve", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        try:
            link = server.stdout.readline().split()[-1]
            names = {"LINK": link, "JOB": job, "PICTURE": picture, "WIDTH": str(WIDTH)}
            lib.run(["node", "--input-type=module", "-e", SHOOT], cwd=os.path.join(ROOT, "ui"),
                    env={**os.environ, **names}, timeout=120)
        finally:
            server.terminate()


def main():
    binary = lib.triphammer()
    picture = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "docs/images/run.png"))
    with tempfile.TemporaryDirectory() as folder, lib.Postgres() as postgres:
        os.environ.update(TRIPHAMMER_STORE=os.path.join(folder, "jobs.sqlite"), TRIPHAMMER_TOKEN="")
        shoot(binary, drive(binary, postgres.url("tpcc")), picture)
    print(f"the picture is in {picture}")


if __name__ == "__main__":
    main()
