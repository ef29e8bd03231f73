#!/usr/bin/env python3
"""What `capture --listen` costs: pgbench's select-only through it, compared with a plain TCP relay in the same rounds.

The relay is HAProxy in TCP mode, else socat. Rounds alternate, and their order is reversed every other round. With several
clients, the figure is the throughput; with one, the median time of a transaction, from pgbench's own log.

    bench/capture_wire.py [--rounds 7] [--seconds 5] [--clients 8 1] [--protocols simple prepared] [--scale 10]
"""

import argparse
import contextlib
import glob
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from lib import Postgres, free_port, program, run, triphammer

# Throughput to that of the relay, and µs that are added at the median.
THROUGHPUT_MIN = 0.9
ADDED_US_MAX = 25


@contextlib.contextmanager
def process(command, **options):
    """A program that is ended at the end, by Ctrl-C."""
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, text=True, **options)
    try:
        yield started
    finally:
        started.send_signal(signal.SIGINT)
        try:
            started.wait(10)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


@contextlib.contextmanager
def relay(folder, port):
    """Forwards to a port of this host; yields the port that it listens on, and its name."""
    listening = free_port()
    if shutil.which("haproxy"):
        config = os.path.join(folder, "haproxy.cfg")
        with open(config, "w", encoding="utf-8") as file:
            file.write("global\n  nbthread 1\ndefaults\n  mode tcp\n  timeout connect 5s\n  timeout client 1h\n  timeout server 1h\n"
                       f"listen all\n  bind 127.0.0.1:{listening}\n  server one 127.0.0.1:{port}\n")
        command, name = ["haproxy", "-q", "-f", config], "HAProxy"
    elif shutil.which("socat"):
        command = ["socat", f"TCP-LISTEN:{listening},bind=127.0.0.1,reuseaddr,fork,nodelay", f"TCP:127.0.0.1:{port},nodelay"]
        name = "socat"
    else:
        sys.exit("neither haproxy nor socat is installed: apt-get install haproxy")
    with process(command, stderr=subprocess.DEVNULL) as started:
        while started.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", listening)):
                break
            time.sleep(0.05)
        yield listening, name


@contextlib.contextmanager
def capture(server, folder):
    """Records what passes; yields its port."""
    file = os.path.join(folder, "bench.recording")
    if os.path.exists(file):
        os.remove(file)
    command = [triphammer(), "capture", "--listen", "127.0.0.1:0", server.url("bench"), "-o", file, "--drain", "1s"]
    with process(command, stderr=subprocess.PIPE) as started:
        line = started.stderr.readline()
        found = re.search(r"at 127\.0\.0\.1:(\d+);", line)
        if not found:
            sys.exit(line + started.stderr.read())
        yield int(found.group(1))


def pgbench(port, folder, protocol, clients, seconds):
    """Transactions per second, and the median time of one in µs."""
    for old in glob.glob(os.path.join(folder, "times*")):
        os.remove(old)
    text = run([program("pgbench"), "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "-S", "-n", "-M", protocol,
                "-c", str(clients), "-T", str(seconds), "-l", "--log-prefix", os.path.join(folder, "times"), "bench"],
               env={**os.environ, "PGSSLMODE": "disable"})
    times = []
    for file in glob.glob(os.path.join(folder, "times*")):
        with open(file, encoding="utf-8") as lines:
            times += [int(line.split()[2]) for line in lines]
    return float(re.search(r"tps = ([\d.]+)", text).group(1)), statistics.median(times)


def measure(options, server, folder, protocol, clients):
    """Alternates; returns the figures of both, round by round."""
    figures = {"relay": [], "capture": []}
    name = ""
    with relay(folder, server.port) as (relay_port, name), capture(server, folder) as capture_port:
        ports = {"relay": relay_port, "capture": capture_port}
        for who in ports:
            pgbench(ports[who], folder, protocol, clients, 1)
        for turn in range(options.rounds):
            for who in sorted(ports, reverse=turn % 2 == 1):
                figures[who].append(pgbench(ports[who], folder, protocol, clients, options.seconds))
    return figures, name


def main():
    """Measures each protocol with each number of clients."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--clients", type=int, nargs="+", default=[8, 1])
    parser.add_argument("--protocols", nargs="+", default=["simple", "prepared"])
    parser.add_argument("--scale", type=int, default=10)
    options = parser.parse_args()
    good = True
    with Postgres() as server, tempfile.TemporaryDirectory() as folder:
        server.fresh("bench")
        run([program("pgbench"), "-i", "-q", "-s", str(options.scale), server.url("bench")])
        for protocol in options.protocols:
            for clients in options.clients:
                figures, name = measure(options, server, folder, protocol, clients)
                pairs = list(zip(figures["capture"], figures["relay"]))
                ratio = statistics.median(ours[0] / theirs[0] for ours, theirs in pairs)
                added = statistics.median(ours[1] - theirs[1] for ours, theirs in pairs)
                ours, theirs = (statistics.median(each[0] for each in figures[who]) for who in ("capture", "relay"))
                holds = added <= ADDED_US_MAX if clients == 1 else ratio >= THROUGHPUT_MIN
                good &= holds
                print(f"{protocol}, {clients} clients: {ours:,.0f} tps, through {name} {theirs:,.0f} tps, ratio {ratio:.3f}; "
                      f"{added:+.0f} us at p50: {'good' if holds else 'TOO MUCH'}", flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
