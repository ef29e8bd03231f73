#!/usr/bin/env python3
"""How precise are `compare --duet` and `--interleave`, beside `compare --ab` in the same total time?

Two private PostgreSQL servers on this host that are alike, and a neighbour that takes CPU time: it comes and goes by
chance, each for about --neighbour seconds. Each round makes a comparison of A with A by each way, in a random order, and
prints the half-widths of the intervals, and how often A was called different from A.

    bench/duet.py [--rounds 20] [--total 300] [--neighbour 10] [--vus 2] [--scale 2] [--rate N/s] [--seed 1]
                  [--ways duet,interleave,ab] [--hosts 2]

With --rate, the load is open: the servers are not busy, so the sides slow each other less, and p95 decides nothing.
With --hosts 2, each server has a network of its own (a namespace; needs root), and the network takes 0.5 ms for each
round trip; both still share the CPUs of this host.
"""

import argparse
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time

import lib

RAMPUP, COOL_DOWN, PAIRS, SLICE = 2, 2, 7, 2
ROUND_TRIP = "500us"
BURN = "import time\nwhile True:\n    pass"


class Neighbour(threading.Thread):
    """Takes the time of one CPU while it is there."""

    def __init__(self, mean, seed):
        super().__init__(daemon=True)
        self.mean, self.random, self.over = mean, random.Random(seed), threading.Event()

    def run(self):
        while not self.over.wait(self.random.expovariate(1 / self.mean)):
            with subprocess.Popen([sys.executable, "-c", BURN]) as burning:
                self.over.wait(self.random.expovariate(1 / self.mean))
                burning.kill()

    def __enter__(self):
        if self.mean > 0:
            self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        if self.is_alive():
            self.join()


def ways(total, wanted="duet,interleave,ab"):
    """The options of each wanted way, so that all take `total` seconds."""
    each = max(total // (2 * PAIRS) - RAMPUP - COOL_DOWN, 1)
    window = total - RAMPUP
    all_ways = {
        "ab": ["--ab", "--pairs", str(PAIRS), "--rampup", f"{RAMPUP}s", "--duration", f"{each}s", "--cool-down", f"{COOL_DOWN}s"],
        "interleave": ["--ab", "--interleave", f"{SLICE}s", "--rampup", f"{RAMPUP}s", "--duration", f"{window}s"],
        # The slices in which each side is alone are a tenth of the window.
        "duet": ["--duet", "--rampup", f"{RAMPUP}s", "--duration", f"{window * 10 // 11}s"],
    }
    return {name: options for name, options in all_ways.items() if name in wanted.split(",")}


def compare(binary, servers, options, given, store):
    """Makes a comparison; returns its document and its time."""
    load = ["--load", f"rate:{given.rate}"] if given.rate else []
    load += ["--delay", ROUND_TRIP] if given.hosts == 2 else []
    command = [binary, "compare", *options, *(server.url("bench") for server in servers), "-w", "tpc-b", "--vus", str(given.vus),
               "--seed", str(given.random.getrandbits(31)), *load, "--json", "--store", store]
    begun = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout), time.monotonic() - begun


def report(name, found):
    """Prints what a way found."""
    widths = [width for width, *_ in found if width is not None]
    different = sum(verdict in ("slower", "faster") for _, verdict, *_ in found)
    seconds = statistics.median(seconds for *_, seconds in found)
    median = statistics.median(widths) if widths else float("nan")
    print(f"{name:11} ± {100 * median:.2f} % (median of {len(found)}), different {different} of {len(found)}, {seconds:.0f} s each")
    return median


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--total", type=int, default=300)
    parser.add_argument("--neighbour", type=float, default=10)
    parser.add_argument("--vus", type=int, default=2)
    parser.add_argument("--scale", type=int, default=2)
    parser.add_argument("--rate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ways", default="duet,interleave,ab")
    parser.add_argument("--hosts", type=int, choices=[1, 2], default=1)
    given = parser.parse_args()
    given.random = random.Random(given.seed)
    binary = lib.triphammer()
    wanted = ways(given.total, given.ways)
    found = {name: [] for name in wanted}
    settings = {"shared_buffers": "128MB", "synchronous_commit": "off"}
    with contextlib.ExitStack() as stack:
        store = os.path.join(stack.enter_context(lib.memory_folder()), "jobs.sqlite")
        hosts = [stack.enter_context(lib.OtherHost(number)) if given.hosts == 2 else None for number in (1, 2)]
        a, b = (stack.enter_context(lib.Postgres(host=host, **settings)) for host in hosts)
        for server in (a, b):
            server.fresh("bench")
            lib.run([binary, "build", server.url("bench"), "-w", "tpc-b", "--scale", str(given.scale), "--store", store])
        with Neighbour(given.neighbour, given.seed):
            for number in range(given.rounds):
                order = list(wanted.items())
                given.random.shuffle(order)
                for name, options in order:
                    made, seconds = compare(binary, (a, b), options, given, store)
                    comparison = made["figures"][0]["comparison"]
                    interval = comparison and comparison["interval"]
                    width = interval and (interval["high"] - interval["low"]) / 2
                    found[name].append((width, made["verdict"]["kind"], seconds))
                    print(f"round {number + 1}, {name}: {made['words']}", flush=True)
    widths = {name: report(name, of_way) for name, of_way in found.items()}
    for name in [name for name in ("interleave", "duet") if {name, "ab"} <= set(widths)]:
        print(f"--ab / {name}: {widths['ab'] / widths[name]:.2f} times as wide")


if __name__ == "__main__":
    main()
