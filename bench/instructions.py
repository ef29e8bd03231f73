#!/usr/bin/env python3
"""The client's cost in figures that do not depend on the host: user-space instructions per transaction, counted by
callgrind, and system calls and bytes through them per transaction, counted by strace; of triphammer, of the peer and
of a bare loop, for the same transactions. No neighbour, clock rate or cache changes them.

Each figure is the difference between a long run and a short one, so that start, end and audits are left out. Of
triphammer, the instructions are those of the thread that runs the users: what a run does once a second, on other
threads, is a figure of its own (`idle_second`), because under callgrind a run takes many times longer, and would have
it in each transaction as many times more often. The figure of the whole process is printed too.

    bench/instructions.py [--paths point_select_epoll_8 ...] [--transactions 4000] [--rounds 2] [--limits FILE]
                          [--write FILE] [--only-ours]

`--write` stores the figures of triphammer, `--limits` fails if one of them is more than 3 % above a stored one. Needs valgrind, strace, and PostgreSQL's pgbench; sysbench for
its paths.
"""

import argparse
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from lib import ROOT, Mariadb, Postgres, program, run, triphammer

# Of the stored figure: a path that has grown by more has changed.
GROWTH_MAX = 1.03
# Transactions of the short run: long enough that statements are prepared and buffers have grown.
SHORT = 500
# The calls of which strace counts the bytes.
TRANSFERS = {"read", "write", "readv", "writev", "recvfrom", "sendto", "recvmsg", "sendmsg"}
HEADLINE = "point_select_epoll_8"


class Path:
    """One path of a transaction: how triphammer runs it, the same by others, and what is wanted."""

    def __init__(self, server, users, options, peer=None, floor=False, limit=None):
        self.server, self.users, self.options = server, users, options
        self.peer, self.has_floor, self.limit = peer, floor, limit


SELECT_ONLY = ["-w", "tpc-b", "--mix", "0,0,1", "--no-observe"]
TPCB_LIKE = ["-w", "tpc-b", "--mix", "1,0,0", "--no-observe"]
SYSBENCH = ["-w", "sysbench", "-D", "table_size=10000", "--no-observe"]
PATHS = {
    "null_select": Path("null", 1, [*SELECT_ONLY, "--io", "epoll"]),
    "null_tproc_c": Path("null", 1, ["--no-observe", "--io", "epoll"]),
    "point_select_epoll_1": Path("postgres", 1, [*SELECT_ONLY, "--io", "epoll"], "select-only", True),
    "point_select_epoll_64": Path("postgres", 64, [*SELECT_ONLY, "--io", "epoll"], "select-only", True),
    "tpcb_like_epoll_8": Path("postgres", 8, [*TPCB_LIKE, "--io", "epoll", "--pipeline", "off"], "tpcb-like"),
    "sysbench_point_select_8": Path("mariadb", 8, [*SYSBENCH, "--script", "oltp_point_select", "--io", "epoll"],
                                    "oltp_point_select"),
    "sysbench_read_write_8": Path("mariadb", 8, [*SYSBENCH, "--script", "oltp_read_write", "--io", "epoll"],
                                  "oltp_read_write"),
    # The last one is the last line.
    HEADLINE: Path("postgres", 8, [*SELECT_ONLY, "--io", "epoll"], "select-only", True, 2_800),
}
IDLE_LIMIT = 1e6


class Counted:
    """Instructions of a run: of the whole process, and of its busiest thread beside the main one (0 without others)."""

    def __init__(self, whole, thread):
        self.whole, self.thread = whole, thread


def callgrind(command, folder, environment):
    """Runs a command under callgrind, and counts."""
    with tempfile.TemporaryDirectory(dir=folder) as counts:
        done = subprocess.run(["valgrind", "--tool=callgrind", "--separate-threads=yes",
                               f"--callgrind-out-file={counts}/count", f"--log-file={counts}/log", *command],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        threads = []
        for name in sorted(glob.glob(f"{counts}/count-*")):
            with open(name, encoding="utf-8", errors="replace") as file:
                threads.append(sum(int(line.split()[1]) for line in file if line.startswith("totals:")))
        return Counted(sum(threads), max(threads[1:], default=0))


def strace(command, folder, environment):
    """Runs a command under strace; returns its system calls and the bytes that they have moved."""
    log = os.path.join(folder, "strace.log")
    done = subprocess.run(["strace", "-f", "-qq", "-e", "signal=none", "-o", log, *command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    calls = moved = 0
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            found = re.match(r"\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed).*?(?:= (-?\d+)\b[^=]*)?$", line)
            if not found or line.rstrip().endswith("<unfinished ...>"):
                continue
            calls += 1
            if found[1] in TRANSFERS and found[2]:
                moved += max(int(found[2]), 0)
    return calls, moved


class Clients:
    """The contenders: each makes the command for a path and a number of transactions per user."""

    def __init__(self, folder):
        self.folder = folder
        self.binary = triphammer()
        self.floor_binary = os.path.join(os.path.dirname(self.binary), "triphammer-bench-floor")
        self.environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite")}
        self.targets = {"null": "null:"}
        self.servers = {}

    def triphammer(self, path, each):
        return [self.binary, "run", self.targets[path.server], *path.options, "--vus", str(path.users), "--threads", "1",
                "--rampup", "0s", "--transactions", str(each), "--json"]

    def peer(self, path, each):
        if path.server == "postgres":
            return [program("pgbench"), "-n", "-M", "prepared", "-b", path.peer, "-c", str(path.users), "-j", "1",
                    "-t", str(each), self.targets["postgres"]]
        return [program("sysbench"), path.peer, *self.sysbench_options(), f"--threads={path.users}", "--time=0",
                f"--events={each * path.users}", "run"]

    def floor(self, path, each):
        port = str(self.servers["postgres"].port)
        return [self.floor_binary, port, "bench", "1", str(path.users), f"{each * path.users}t"]

    def sysbench_options(self):
        return ["--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={self.servers['mariadb'].port}",
                "--mysql-user=root", "--mysql-db=bench", "--table-size=10000"]

    def count(self, command):
        """Counts one run."""
        return callgrind(command, self.folder, self.environment)

    def each(self, contender, path, transactions):
        """Instructions per transaction: of the users' thread, and of the whole process; the same of others."""
        make = getattr(self, contender)
        short, long = (self.count(make(path, n)) for n in (SHORT, SHORT + transactions))
        count = transactions * path.users
        whole = (long.whole - short.whole) / count
        return ((long.thread - short.thread) / count if contender == "triphammer" else whole), whole

    def calls(self, contender, path, transactions):
        """System calls and the bytes that they moved, per transaction."""
        make = getattr(self, contender)
        short, long = (strace(make(path, n), self.folder, self.environment) for n in (SHORT, SHORT + transactions))
        count = transactions * path.users
        return (long[0] - short[0]) / count, (long[1] - short[1]) / count

    def idle_second(self):
        """Instructions per second of a run that has nothing to do: its user waits for one arrival a second."""
        def run_of(seconds):
            return [self.binary, "run", "null:", "-w", "tpc-b", "--mix", "0,0,1", "--load", "rate:1/s", "--vus", "1",
                    "--threads", "1", "--rampup", "0s", "--duration", f"{seconds}s", "--json"]
        short, long = (self.count(run_of(seconds)).whole for seconds in (3, 13))
        return (long - short) / 10


def measure(clients, name, path, given):
    """Prints the figures of a path; returns triphammer's instructions per transaction."""
    contenders = ["triphammer"]
    if not given.only_ours:
        contenders += ["peer"] * bool(path.peer) + ["floor"] * path.has_floor
    figures = {}
    for contender in contenders:
        rounds = [clients.each(contender, path, given.transactions // path.users) for _ in range(given.rounds)]
        values = [each for each, _ in rounds]
        figures[contender] = statistics.median(values)
        calls, moved = clients.calls(contender, path, given.transactions // path.users)
        whole = f", whole process {statistics.median(w for _, w in rounds):,.0f}" if contender == "triphammer" else ""
        title = contender if contender != "peer" else ("pgbench" if path.server == "postgres" else "sysbench")
        print(f"{name}: {title} {figures[contender]:,.0f} instructions ({min(values):,.0f} to {max(values):,.0f} of "
              f"{given.rounds}){whole}; {calls:.2f} system calls, {moved:,.0f} bytes per transaction")
    ours = figures["triphammer"]
    for other in contenders[1:]:
        print(f"  ratio to the {other}: {ours / figures[other]:.2f}")
    if path.limit:
        print(f"  wanted: at most {path.limit:,}: {'met' if ours <= path.limit else 'MISSED'}")
    sys.stdout.flush()
    return ours


def prepare(clients, servers):
    """Fills the databases of the servers that are needed."""
    if "postgres" in servers:
        server = clients.servers["postgres"]
        server.fresh("bench")
        run([program("pgbench"), "-i", "-q", "-s", "1", server.url("bench")])
        clients.targets["postgres"] = server.url("bench")
    if "mariadb" in servers:
        server = clients.servers["mariadb"]
        server.fresh("bench")
        run([program("sysbench"), "oltp_read_write", *clients.sysbench_options(), "prepare"])
        clients.targets["mariadb"] = server.url("bench") + "?ssl-mode=DISABLED"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--paths", nargs="+", default=list(PATHS), choices=list(PATHS))
    arguments.add_argument("--transactions", type=int, default=8_000)
    arguments.add_argument("--rounds", type=int, default=2)
    arguments.add_argument("--limits")
    arguments.add_argument("--write")
    arguments.add_argument("--only-ours", action="store_true")
    given = arguments.parse_args()
    for needed in ("valgrind", "strace"):
        if not shutil.which(needed):
            sys.exit(f"{needed} is not installed: apt-get install {needed}")
    figures = {}
    run(["cargo", "build", "--release", "-p", "triphammer-bench-floor"], cwd=ROOT)
    with tempfile.TemporaryDirectory(prefix="triphammer-bench-") as folder:
        clients = Clients(folder)
        names = [name for name in PATHS if name in given.paths]
        servers = {PATHS[name].server for name in names}
        kinds = {"postgres": Postgres, "mariadb": Mariadb}
        started = [(kind, kinds[kind]()) for kind in servers if kind in kinds]
        clients.servers = dict(started)
        try:
            prepare(clients, servers)
            idle = figures["idle_second"] = clients.idle_second()
            print(f"idle_second: triphammer {idle:,.0f} instructions per second of an idle run "
                  f"(wanted: at most {IDLE_LIMIT:,.0f}: {'met' if idle <= IDLE_LIMIT else 'MISSED'})")
            for name in names:
                figures[name] = measure(clients, name, PATHS[name], given)
        finally:
            for _, server in started:
                server.__exit__()
    if given.write:
        with open(given.write, "w", encoding="utf-8") as file:
            json.dump({name: round(value) for name, value in figures.items()}, file, indent=2)
            file.write("\n")
    grown = []
    if given.limits:
        with open(given.limits, encoding="utf-8") as file:
            stored = json.load(file)
        grown = [f"{name}: {figures[name]:,.0f} instructions, stored {before:,}" for name, before in stored.items()
                 if name in figures and figures[name] > before * GROWTH_MAX]
        for line in grown:
            print(f"more than {GROWTH_MAX - 1:.0%} above the stored figure: {line}")
    if HEADLINE in figures:
        print(f"{HEADLINE} {figures[HEADLINE]:.0f}")
    sys.exit(1 if grown else 0)


if __name__ == "__main__":
    main()
