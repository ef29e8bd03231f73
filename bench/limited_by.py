#!/usr/bin/env python3
"""What `Limited by` says of nine set-ups whose limit is known, each alone and beside a CPU-bound neighbour on every
CPU: a confusion matrix. At least 90 % must be right, and no wrong verdict may be sure of itself.

    bench/limited_by.py [--rounds 3] [--seconds 5] [--only 'one user,far below'] [--neighbours 2]

Beside a neighbour, "the host, because of other processes" is right as well wherever the run needs CPU, because the
neighbour has half of it. Round trips are slowed by a proxy; a slow disk is PostgreSQL's own commit_delay without
commit_siblings: each commit sleeps before it writes, while the others wait for the lock that it holds.
"""

import argparse
import asyncio
import collections
import contextlib
import json
import multiprocessing
import os
import socket
import subprocess
import sys

from lib import Postgres, run, triphammer

RIGHT_MIN = 0.9
DELAY_S = 0.010
DISK_US = 30_000
SHOWN = {"load_limited": "load", "client_bound": "client", "host_bound": "host", "network_bound": "network",
         "database_bound": "database", "undecided": "undecided"}
OTHERS = "host: others"


async def forward(reader, writer):
    """One direction of a connection, each piece later by the delay."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            loop.call_later(DELAY_S, writer.write, data)
        loop.call_later(DELAY_S, writer.close)


async def serve(listening, port):
    async def accept(reader, writer):
        try:
            server = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        for stream in (writer, server[1]):
            stream.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.gather(forward(reader, server[1]), forward(server[0], writer))

    async with await asyncio.start_server(accept, sock=listening) as server:
        await server.serve_forever()


@contextlib.contextmanager
def proxy(port):
    """The port of a proxy that makes every round trip 20 ms longer."""
    listening = socket.create_server(("127.0.0.1", 0))
    process = multiprocessing.get_context("fork").Process(
        target=lambda: asyncio.run(serve(listening, port)), daemon=True)
    process.start()
    try:
        yield listening.getsockname()[1]
    finally:
        process.kill()
        process.join()
        listening.close()


@contextlib.contextmanager
def burning(count):
    """So many processes that do nothing but use a CPU."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def pin(server, cpus):
    """Lets a server use some CPUs alone; its sessions are still to come, and inherit that."""
    with open(os.path.join(server.data, "postmaster.pid"), encoding="utf-8") as file:
        postmaster = file.readline().strip()
    children = run(["pgrep", "-P", postmaster]).split()
    for process in (postmaster, *children):
        subprocess.run(["taskset", "-p", "-c", cpus, process], stdout=subprocess.DEVNULL, check=False)


class Bench:
    """Two servers with data, and what drives them."""

    def __init__(self, stack, given):
        self.given = given
        # Commits of the one do not wait for a disk, so that only the set-up is seen; the other's are slow.
        self.fast = stack.enter_context(Postgres(synchronous_commit="off"))
        self.disk = stack.enter_context(Postgres(commit_delay=DISK_US, commit_siblings=0, shared_buffers="256MB"))
        self.real = stack.enter_context(Postgres(shared_buffers="256MB"))
        self.distant_port = stack.enter_context(proxy(self.fast.port))
        self.environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(self.fast.folder, "jobs.sqlite")}
        for server, scale in ((self.fast, given.scale), (self.disk, given.scale), (self.real, 1)):
            server.fresh("bench")
            run([triphammer(), "build", server.url("bench"), "--scale", str(scale)], env=self.environment)
        self.all_cpus = f"0-{os.cpu_count() - 1}"

    def limited(self, target, *options, before=()):
        """What a run says limited it."""
        command = [*before, triphammer(), "run", target, "--rampup", "1s", "--duration", f"{self.given.seconds}s",
                   "--json", *options]
        return json.loads(run(command, env=self.environment))["bottleneck"]

    def set_ups(self):
        """Name, right verdicts alone, right ones beside a neighbour too, and how to run it."""
        fast = self.fast.url("bench")
        distant = fast.replace(f":{self.fast.port}/", f":{self.distant_port}/")
        by_procedures = ("--mode", "procedures", "--threads", "1")

        def pinned():
            pin(self.fast, "0")
            try:
                return self.limited(fast, "--vus", "8", *by_procedures)
            finally:
                pin(self.fast, self.all_cpus)

        return [
            ("one user", {"load"}, {OTHERS}, lambda: self.limited(fast, "--vus", "1", *by_procedures)),
            ("far below capacity", {"load"}, set(),
             lambda: self.limited(fast, "--vus", "16", "--load", "rate:25/s", *by_procedures)),
            ("client fills a core", {"client"}, {OTHERS},
             lambda: self.limited("null:", "--vus", "8", *by_procedures)),
            ("20 ms, procedures", {"network"}, set(), lambda: self.limited(distant, "--vus", "8", *by_procedures)),
            ("20 ms, statements", {"network"}, set(),
             lambda: self.limited(distant, "--vus", "8", "--mode", "statements", "--threads", "1")),
            ("32 on a warehouse", {"database"}, {OTHERS},
             lambda: self.limited(self.real.url("bench"), "--vus", "32", *by_procedures)),
            ("disk of 30 ms", {"database"}, set(),
             lambda: self.limited(self.disk.url("bench"), "--vus", "8", *by_procedures)),
            ("server on one core", {"database"}, {OTHERS}, pinned),
            ("client starved", {"client"}, {OTHERS},
             lambda: self.limited(fast, "--vus", "16", *by_procedures, before=("taskset", "-c", "0", "nice", "-n", "19"))),
        ]


def short(limited):
    """`host: others`."""
    kind = SHOWN[limited["kind"]]
    return OTHERS if limited["cause"] == "other_processes" else kind


def measure(bench, given):
    """Verdicts by set-up and neighbour."""
    seen = collections.defaultdict(list)
    wanted = [name.strip() for name in given.only.split(",")] if given.only else [""]
    for number in range(given.rounds):
        for name, right, beside, drive in bench.set_ups():
            if not any(part in name for part in wanted):
                continue
            for neighbours in (0, given.neighbours):
                with burning(neighbours):
                    limited = drive()
                allowed = right | beside if neighbours else right
                seen[name, neighbours].append((limited, short(limited) in allowed))
                mark = "" if short(limited) in allowed else "  WRONG"
                print(f"  round {number + 1}: {name}{', neighbour' if neighbours else ''}: {limited['certainty']} "
                      f"{short(limited)} ({limited['second']}): {limited['words']}{mark}", file=sys.stderr, flush=True)
    return seen


def show(seen):
    """The matrix, and whether it will do. A question mark is a verdict in doubt."""
    names = [*SHOWN.values(), OTHERS]
    print(f"{'':32}" + "".join(f"{name:>14}" for name in names) + f"{'right':>8}")
    for (name, neighbours), verdicts in seen.items():
        cells = []
        for column in names:
            of_it = [limited for limited, _ in verdicts if short(limited) == column]
            doubt = sum(limited["certainty"] == "probable" for limited in of_it)
            cells.append((str(len(of_it)) + (f" ({doubt}?)" if doubt else "")) if of_it else ".")
        right = sum(ok for _, ok in verdicts)
        title = name + (" + neighbour" if neighbours else "")
        print(f"{title:32}" + "".join(f"{cell:>14}" for cell in cells) + f"{right:>5}/{len(verdicts)}")
    every = [verdict for verdicts in seen.values() for verdict in verdicts]
    share = sum(ok for _, ok in every) / len(every)
    bold = sum(not ok and limited["certainty"] == "sure" for limited, ok in every)
    named = sum(not ok for _, ok in every)
    print(f"right: {share:.0%} of {len(every)} (at least {RIGHT_MIN:.0%}: {'met' if share >= RIGHT_MIN else 'MISSED'}); "
          f"wrong: {named}, of them without doubt: {bold} (none: {'met' if bold == 0 else 'MISSED'})")
    return share >= RIGHT_MIN and bold == 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("rounds", 3), ("seconds", 5), ("scale", 4), ("neighbours", os.cpu_count())):
        arguments.add_argument(f"--{name}", type=int, default=default)
    arguments.add_argument("--only", default="", help="parts of set-ups' names, with commas between")
    given = arguments.parse_args()
    with contextlib.ExitStack() as stack:
        seen = measure(Bench(stack, given), given)
    sys.exit(0 if show(seen) else 1)


if __name__ == "__main__":
    main()
