#!/usr/bin/env python3
"""Does a new version of the client cost more than an old one? CPU per transaction of two builds of the program,
interleaved: on the null database (the engine with the smallest inputs, and with TPROC-C's), and with pgbench's
scripts on a private PostgreSQL server. Each figure is the difference between a long run and a short one, as the
operating system counts it, so that start, end and audits are left out.

    bench/versions.py BEFORE AFTER [--rounds 7] [--seconds 4] [--scale 10] [--only PostgreSQL] [--new=--no-observe]
"""

import argparse
import json
import os
import statistics
import sys
import tempfile

from lib import Postgres, interleaved, program, run, timed

# At most this much more CPU per transaction: the engine, and a client with a server.
ENGINE, CLIENT = 1.03, 1.02
NULL = {"null database, select-only": ["-w", "tpc-b", "--mix", "0,0,1"], "null database, TPROC-C": []}
SERVER = {"PostgreSQL, select-only": ["--mix", "0,0,1"], "PostgreSQL, tpcb-like": ["--mix", "1,0,0"]}


def measure(name, binary, short, long, folder, own=()):
    """Returns a function that gives the CPU nanoseconds per transaction of one build, at each call. Each build has its
    own job store, because an old one cannot read what a new one wrote, and may have options of its own."""
    def once(options):
        command = [binary, "run", *options, *own, "--threads", "1", "--rampup", "0s", "--json"]
        done = timed(command, env={**os.environ, "TRIPHAMMER_STORE": os.path.join(folder, f"{name}.sqlite")})
        return done["cpu"], sum(t["committed"] for t in json.loads(done["out"])["run"]["types"])

    def difference():
        (cpu_short, few), (cpu_long, many) = once(short), once(long)
        return (cpu_long - cpu_short) * 1e9 / (many - few)
    return difference


def judge(title, figures, limit):
    """Prints both medians and the median ratio of the pairs, and whether it is within the limit."""
    before, after = (statistics.median(figures[name]) for name in ("before", "after"))
    ratios = sorted(b / a for a, b in zip(figures["before"], figures["after"]))
    ratio = statistics.median(ratios)
    print(f"{title}: before {before:.0f} ns, after {after:.0f} ns, ratio {ratio:.3f} of {len(ratios)} pairs from "
          f"{ratios[0]:.3f} to {ratios[-1]:.3f}  (at most {limit}: {'met' if ratio <= limit else 'MISSED'})")
    sys.stdout.flush()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("before")
    arguments.add_argument("after")
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--seconds", type=int, default=4)
    arguments.add_argument("--scale", type=int, default=10)
    arguments.add_argument("--only", default="", help="only the figures whose title contains this text")
    arguments.add_argument("--new", action="append", default=[], metavar="OPTION",
                           help="an option of `run` for AFTER only, such as --new=--no-observe: like with like, if "
                                "BEFORE does not observe the database")
    given = arguments.parse_args()
    # An absolute path: a run creates its files where it starts.
    builds = {"before": os.path.abspath(given.before), "after": os.path.abspath(given.after)}
    with tempfile.TemporaryDirectory(prefix="triphammer-bench-") as folder:
        def compared(title, short, long, limit):
            if given.only not in title:
                return
            own = {"after": given.new}
            contenders = {name: measure(name, build, short, long, folder, own.get(name, ()))
                          for name, build in builds.items()}
            judge(title, interleaved(given.rounds, **contenders), limit)

        for title, options in NULL.items():
            options = ["null:", "--vus", "1", *options]
            compared(title, [*options, "--transactions", "200000"], [*options, "--transactions", "2200000"], ENGINE)
        with Postgres(synchronous_commit="off") as server:
            server.fresh("bench")
            run([program("pgbench"), "-i", "-q", "-s", str(given.scale), server.url("bench")])
            for title, options in SERVER.items():
                for users in (1, 8):
                    run_of = [server.url("bench"), "-w", "tpc-b", "--vus", str(users), *options]
                    compared(f"{title}, {users} users", [*run_of, "--duration", "1s"],
                             [*run_of, "--duration", f"{1 + given.seconds}s"], CLIENT)


if __name__ == "__main__":
    main()
