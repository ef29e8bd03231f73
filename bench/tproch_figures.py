#!/usr/bin/env python3
"""The figures of a TPROC-H run, recomputed from its stored times by clause 5.4, and compared with the stored ones.

    triphammer report JOB --format json | bench/tproch_figures.py

Exit code 1 if a figure differs by more than a millionth.
"""

import json
import math
import sys


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def power(steps, scale):
    """3600 * SF / geometric mean of 22 queries and 2 refresh functions; a query counts as at least 1/1000 of the longest."""
    times = {step["name"]: step["seconds"] for step in steps}
    longest = max(time for name, time in times.items() if name.startswith("q"))
    intervals = [max(time, longest / 1000) if name.startswith("q") else time for name, time in times.items()]
    assert len(intervals) == 24, f"{len(intervals)} intervals instead of 24"
    return 3600 * scale / geometric_mean(intervals)


def throughput(steps, scale, streams):
    """Queries of all streams * 3600 / seconds * SF, from the first start to the last end."""
    begun = min(step["start_s"] for step in steps)
    ended = max(step["start_s"] + step["seconds"] for step in steps)
    return streams * 22 * 3600 / (ended - begun) * scale


def mean(values):
    return sum(values) / len(values)


def main():
    run = json.load(sys.stdin)
    queries, scale = run["queries"], float(run["workload"]["scale"])

    if any(step["outcome"] != "answered" for step in queries["steps"]):
        sys.exit("not every query was answered: there is nothing to recompute")

    def steps(test, repeat):
        return [step for step in queries["steps"] if step["test"] == test and step["repeat"] == repeat]

    repeats = sorted({step["repeat"] for step in queries["steps"]})
    tests = {step["test"] for step in queries["steps"]}
    computed = {}
    if "power" in tests:
        computed["power"] = [power(steps("power", n), scale) for n in repeats]
    if "throughput" in tests:
        computed["throughput"] = [throughput(steps("throughput", n), scale, queries["streams"]) for n in repeats]
    if len(computed) == 2:
        computed["composite"] = [math.sqrt(a * b) for a, b in zip(computed["power"], computed["throughput"])]
    of = "power" if "power" in tests else next(iter(tests))
    each = [[step["seconds"] * 1000 for step in steps(of, n) if step["name"].startswith("q")] for n in repeats]
    computed["geomean_ms"] = list(map(geometric_mean, each))
    stored = {figure["name"]: figure["value"] for figure in queries["figures"]}
    is_wrong = False
    for name, values in computed.items():
        differs = stored[name] is None or abs(stored[name] / mean(values) - 1) > 1e-6
        is_wrong |= differs
        print(f"{name}: computed {mean(values):.6f}, stored {stored[name]}{' DIFFERS' if differs else ''}")
    sys.exit(is_wrong)


if __name__ == "__main__":
    main()
