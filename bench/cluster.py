#!/usr/bin/env python3
"""What a run by several hosts costs, and whether it is the same run.

    bench/cluster.py [PYTHON] [--target null:?service=2ms] [--duration 10] [--rounds 5] [--hosts 50]

1. At half of the rate that one client reaches, two hosts complete the same transactions as one client, with the same CPU
   time per transaction.
2. The coordinator of many hosts, each of which sends a second of TPROC-C's five types every second, needs a small part of a
   core.
3. The hosts of one machine begin at the same time.

Without PYTHON, the hosts are processes of this machine. With it, an interpreter that has a release build of the package
and Ray, the first and the third are also measured on two nodes of Ray in network namespaces, as `tools/test-ray.py` starts
them; Ray's own CPU time is shown apart. That needs root.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from lib import ROOT, triphammer

CPU_MAX = 1.05
COORDINATOR_MAX = 0.05
SKEW_MAX_MS = 5
TICKS = os.sysconf("SC_CLK_TCK")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("python", nargs="?")
    arguments.add_argument("--target", default="null:?service=2ms")
    arguments.add_argument("--duration", type=int, default=10)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--hosts", type=int, default=50)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="triphammer-bench-") as folder:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite")}
        met = [same_run(lambda *run: result([triphammer(), *run], environment), given, "local"),
               coordinator(given, environment)]
    if given.python:
        met.append(on_ray(given))
    sys.exit(0 if all(met) else 1)


def same_run(run, given, cluster):
    """One client and two hosts, in turn. `run` runs the program with arguments and returns the document."""
    common = ["run", given.target, "-w", "tpc-b", "--vus", "32", "--rampup", "2s", "--duration", f"{given.duration}s",
              "--no-observe"]
    rate = round(run(*common)["window"]["total"]["completed"] / given.duration / 2)
    common += ["--load", f"rate:{rate}/s,constant"]
    # As many worker threads on either side: here the hosts share the CPUs of one machine.
    alone_on, shared_on = ["--threads", "2"], ["--threads", "1", "--cluster", cluster, "--hosts", "2"]
    alone, shared = [], []
    for _ in range(given.rounds):
        alone.append(run(*common, *alone_on))
        shared.append(run(*common, *shared_on))
    completed = [{one["window"]["total"]["completed"] for one in each} for each in (alone, shared)]
    # A transaction at an edge of the window may end on its other side.
    difference = abs(statistics.median(completed[0]) - statistics.median(completed[1]))
    share = difference / statistics.median(completed[0])
    cpu = [statistics.median(one["client"]["cpu_us_per_transaction"] for one in each) for each in (alone, shared)]
    skew = max(spread(one) for one in shared)
    print(f"{cluster}, {rate} transactions per second: completed {sorted(completed[0])} by one client, "
          f"{sorted(completed[1])} by two hosts")
    is_same = verdict("  transactions that differ", f"{share:.4%}", share <= 0.001, "at most 0.1 %")
    is_cheap = verdict("  CPU per transaction", f"{cpu[1]:.1f} µs / {cpu[0]:.1f} µs = {cpu[1] / cpu[0]:.3f}",
                       cpu[1] / cpu[0] <= CPU_MAX, f"at most {CPU_MAX}")
    at_once = verdict("  start skew", f"{skew:.2f} ms", skew <= SKEW_MAX_MS, f"at most {SKEW_MAX_MS} ms")
    return is_same and is_cheap and at_once


def spread(run):
    """Between the first and the last host that began, in milliseconds: on one machine, clocks are the same."""
    def applied(host):
        offset = host["clock_offset_ms"]
        return offset if abs(offset) > host["clock_error_ms"] else 0

    begun = [host["start_late_ms"] + applied(host) for host in run["hosts"]]
    return max(begun) - min(begun)


def coordinator(given, environment):
    """CPU time of the coordinator's process alone, while many hosts report."""
    seconds = 20
    run = [triphammer(), "run", "null:?service=20ms", "-w", "tproc-c", "--scale", "100", "--vus", str(2 * given.hosts),
           "--threads", "1", "--rampup", "0s", "--duration", f"{seconds + 20}s", "--cluster", "local", "--hosts",
           str(given.hosts), "--no-observe", "--json"]
    child = subprocess.Popen(run, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    # Past the start, in which plans are sent.
    wait_for_load(environment["TRIPHAMMER_STORE"], child)
    before, begun = cpu_s(child.pid), time.monotonic()
    time.sleep(seconds)
    share = (cpu_s(child.pid) - before) / (time.monotonic() - begun)
    child.communicate()
    return verdict(f"coordinator of {given.hosts} hosts", f"{share:.2%} of a core", share <= COORDINATOR_MAX,
                   f"at most {COORDINATOR_MAX:.0%}")


def wait_for_load(store, child):
    import sqlite3

    while child.poll() is None:
        try:
            with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as open_store:
                query = "SELECT count(*) FROM seconds JOIN jobs ON jobs.id = job WHERE status = 'running'"
                if open_store.execute(query).fetchone()[0] >= 5:
                    return
        except sqlite3.Error:
            pass
        time.sleep(0.2)
    sys.exit("the run ended early")


def cpu_s(process):
    """CPU time of a process, without those that it started."""
    with open(f"/proc/{process}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def on_ray(given):
    """The same on two nodes of Ray."""
    spec = importlib.util.spec_from_file_location("test_ray", os.path.join(ROOT, "tools", "test-ray.py"))
    test_ray = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(test_ray)
    reason = test_ray.obstacle()
    if reason:
        print(f"on Ray: not run: {reason}")
        return True
    with test_ray.cluster(given.python) as ray:
        before = of_ray()
        is_met = same_run(ray.triphammer, given, "auto")
        print(f"  Ray's own processes used {of_ray() - before:.1f} s of CPU meanwhile")
        return is_met


def of_ray():
    """CPU time of Ray's daemons so far."""
    total = 0
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as line:
                if b"/ray/core/src/ray/" in line.read():
                    total += cpu_s(process)
        except OSError:
            pass
    return total


def result(command, environment):
    done = subprocess.run([*command, "--json"], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def verdict(title, figure, is_met, limit):
    print(f"{title}: {figure}  ({limit}: {'met' if is_met else 'MISSED'})")
    return is_met


if __name__ == "__main__":
    main()
