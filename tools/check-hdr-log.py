#!/usr/bin/env python3
"""Checks that HdrHistogram's own HistogramLogProcessor reads our histogram logs and finds our percentiles.

Makes a run on the null database, exports it, and compares Java's figures with the result document, for each
transaction type. The jar comes from Maven Central, pinned by version and SHA-256, into $XDG_CACHE_HOME/triphammer or
~/.cache/triphammer. Needs java, mvn, and the program: cargo build --package triphammer.

    tools/check-hdr-log.py [PROGRAM]        target/debug/triphammer when none is given
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

ARTIFACT = "org.hdrhistogram:HdrHistogram:2.2.2"
PINNED = "22d1d4316c4ec13a68b559e98c8256d69071593731da96136640f864fa14fad8"
QUANTILES = {"p50_us": 0.5, "p90_us": 0.9, "p95_us": 0.95, "p99_us": 0.99, "p99_9_us": 0.999, "p99_99_us": 0.9999}


def jar():
    """Path of the processor's jar, fetched if it is not in the cache."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(base, "triphammer")
    path = os.path.join(folder, "HdrHistogram-2.2.2.jar")
    if not os.path.exists(path):
        subprocess.run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}",
                        f"-DoutputDirectory={folder}"], check=True)
    with open(path, "rb") as file:
        found = hashlib.sha256(file.read()).hexdigest()
    if found != PINNED:
        os.remove(path)
        sys.exit(f"{os.path.basename(path)} has SHA-256 {found}, not the pinned {PINNED}")
    return path


def percentiles(log, tag, window):
    """The processor's output for a tag in the window: [(value, quantile)], and the number of values."""
    said = subprocess.run(["java", "-cp", jar(), "org.HdrHistogram.HistogramLogProcessor", "-i", log, "-tag", tag,
                           "-outputValueUnitRatio", "1", "-percentilesOutputTicksPerHalf", "100", *window],
                          check=True, capture_output=True, text=True).stdout
    rows = re.findall(r"^\s*([\d.]+)\s+([\d.]+)\s+(\d+)(?:\s|$)", said, re.M)
    count = int(re.search(r"Total count\s*=\s*(\d+)", said).group(1))
    return [(float(value), int(below)) for value, _, below in rows], count


def at(rows, count, quantile):
    """The value at a quantile: that of the first row below which there are enough values."""
    needed = max(1, -(-quantile * count // 1))
    return next(value for value, below in rows if below >= needed)


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    program = sys.argv[1] if len(sys.argv) > 1 else os.path.join(root, "target/debug/triphammer")
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, TRIPHAMMER_STORE=os.path.join(folder, "jobs.sqlite"))
        log = os.path.join(folder, "run.hdr")
        run = subprocess.run([program, "run", "null:?service=1ms", "--vus", "4", "--rampup", "2s", "--duration", "8s",
                              "--json"], env=env, check=True, capture_output=True, text=True)
        subprocess.run([program, "report", "last", "--output", log], env=env, check=True)
        with open(log) as file:
            window = re.search(r"the timed window: (.*)", file.read()).group(1).split()
        wrong = 0
        for figures in json.loads(run.stdout)["window"]["types"]:
            rows, count = percentiles(log, figures["name"] + ".response", window)
            ours = figures["response"]
            theirs = {name: at(rows, count, quantile) for name, quantile in QUANTILES.items()} | {"count": count}
            differ = {name: (ours[name], theirs[name]) for name in theirs if ours[name] != theirs[name]}
            wrong += len(differ)
            print(f"{figures['name']:14} {count:7} values: {differ or 'the same percentiles'}")
        sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
