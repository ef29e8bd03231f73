#!/usr/bin/env python3
"""Makes the gallery of docs/gallery.md: one job of each kind on a private PostgreSQL (TPROC-H on DuckDB), its report as
a page in target/gallery, which tools/docs.py puts into the book, and a picture of it in docs/images/gallery.

    tools/gallery.py [NAME …]        NAME: one of the jobs, such as profile; without it, all

It needs a release build with its page (`make build`; TRIPHAMMER names another binary), PostgreSQL, DuckDB's library and
Chromium, and takes about ten minutes, on an idle host if the figures are to be worth a look.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import lib  # noqa: E402

REPORTS, PICTURES = ROOT / "target/gallery", ROOT / "docs/images/gallery"
WAREHOUSES = "10"
SHORT = ["--rampup", "5s", "--duration", "20s"]
# The commands of docs/gallery.md, which shows them with longer times; T is the target.
JOBS = {
    "run": ["run", "T", "--vus", "8", "--rampup", "20s", "--duration", "2m"],
    "profile": ["profile", "T", "--vus", "1..32", "--repeats", "2", "--rampup", "3s", "--duration", "10s"],
    "capacity": ["capacity", "T", "--limit", "all.p95 < 20ms", "--vus", "32", *SHORT],
    "compare": ["compare", "--ab", "T", "--b", "mode=statements", "--vus", "4", "--pairs", "5", *SHORT],
    "matrix": ["matrix", "T", "--over", "vus=1,4,16", "--over", "mode=procedures,statements", "--repeats", "2",
               "--rampup", "3s", "--duration", "10s"],
    "drill": ["drill", "T", "--fault", "at=10s terminate", "--fault", "at=20s cut=3s", "--duration", "40s"],
    "isolation": ["isolation", "T", "--levels", "all", "--duration", "15s"],
    "tproc-h": ["run", "DUCKDB", "-w", "tproc-h"],
}
# A comparison that found a difference ends with 1, and so does a broken promise.
GOOD = (0, 1)

SHOOT = """
import { open } from './e2e/browser.mjs';
const browser = await open();
const context = await browser.newContext({ viewport: { width: 1280, height: 960 }, deviceScaleFactor: 0.75 });
const page = await context.newPage();
for (const pair of process.env.PAIRS.split('\\n')) {
  const [report, picture] = pair.split('\\t');
  await page.goto('file://' + report);
  await page.locator('main svg, main canvas, main table').first().waitFor();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.screenshot({ path: picture });
}
await browser.close();
"""


def build(binary, targets, jobs):
    """Builds what the jobs need."""
    if any("T" in JOBS[name] for name in jobs):
        lib.run([binary, "build", targets["T"], "--create-database", "--scale", WAREHOUSES, "--jobs", "2"])
    if "tproc-h" in jobs:
        lib.run([binary, "build", targets["DUCKDB"], "-w", "tproc-h", "--scale", "0.1"])


def report(binary, targets, name):
    """Does a job and writes its report; returns the file."""
    command = [binary, *(targets.get(word, word) for word in JOBS[name])]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode not in GOOD:
        sys.exit(f"{' '.join(command)}\nexit code {done.returncode}\n{done.stdout}")
    file = REPORTS / f"{name}.html"
    lib.run([binary, "report", "last", "-o", str(file)])
    print(f"{name}: {file.stat().st_size / 1e3:.0f} KB", flush=True)
    return file


def shoot(files):
    """Saves a picture of the top of each report."""
    pairs = "\n".join(f"{file}\t{PICTURES / file.stem}.png" for file in files)
    lib.run(["node", "--input-type=module", "-e", SHOOT], cwd=ROOT / "ui", env={**os.environ, "PAIRS": pairs}, timeout=120)


def main():
    jobs = sys.argv[1:] or list(JOBS)
    unknown = [name for name in jobs if name not in JOBS]
    if unknown:
        sys.exit(f"{unknown[0]}: no such job; there are {', '.join(JOBS)}")
    binary = lib.triphammer()
    for folder in (REPORTS, PICTURES):
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, lib.Postgres() as postgres:
        os.environ["TRIPHAMMER_STORE"] = os.path.join(folder, "jobs.sqlite")
        targets = {"T": postgres.url("tpcc"), "DUCKDB": f"duckdb:{folder}/tproch.duckdb"}
        build(binary, targets, jobs)
        shoot([report(binary, targets, name) for name in jobs])
    print(f"the reports are in {REPORTS.relative_to(ROOT)}, the pictures in {PICTURES.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
