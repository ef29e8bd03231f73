#!/usr/bin/env python3
"""What `triphammer isolation` finds on real servers, what recording and checking cost, how fast the checker is.

Findings: each with one command on a private server: PostgreSQL at its three levels, MariaDB with and without
innodb_snapshot_isolation, Galera of three nodes.
Cost: the same load unrecorded, recorded, and recorded and checked, in turn, on PostgreSQL without waits for the disk.
Checker: operations of lists in memory, and whether twice as many take twice as long.
Peer: the verdicts and times of adya 0.1.0 (crates.io), a checker written apart, on histories recorded here.
Quiet runs (--quiet N): runs on PostgreSQL in which nothing may be found that the level excludes.
Long fork (--fork MINUTES): readers of a PostgreSQL primary and of its standby, which may see commits in two orders.

    bench/isolation.py [--rounds 5] [--seconds 10] [--only findings,cost,checker,peer] [--quiet 0] [--fork 0]
"""

import argparse
import json
import os
import subprocess
import sys

import lib


def isolation(store, target, *options):
    """Runs the command; returns its document."""
    command = [lib.triphammer(), "isolation", target, "--json", "--store", store, *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def tell(title, found):
    """Prints what was found at each level, and whether that is a failure."""
    for level in found["levels"]:
        kinds = [f"{kind['kind']} {kind['count']}" for kind in level["kinds"] if kind["count"]]
        late = level["staleness"]
        age = f", p50 {late['p50_ms']:.1f} p99 {late['p99_ms']:.1f} max {late['max_ms']:.1f} ms" if late["stale"] else ""
        print(f"{title}, {level['level']}: {level['committed']} commits, {level['price']['tps']:.0f}/s; "
              f"{', '.join(kinds) or 'nothing found'}; {late['stale']} of {late['reads']} reads late{age}")
    if not found["ending"]["good"]:
        print(f"  {found['ending']['words']}")


def findings(store, seconds):
    """What each product shows."""
    load = ["--duration", f"{seconds}s", "--vus", "6", "--control", "2s"]
    with lib.Postgres(fsync="off") as server:
        server.fresh("t")
        tell("PostgreSQL", isolation(store, server.url("t"), "--levels", "all", *load))
    for snapshot in ("OFF", "ON"):
        setting = {"innodb-snapshot-isolation": snapshot}
        with lib.Mariadb(**setting, **{"innodb-flush-log-at-trx-commit": 0}) as server:
            server.fresh("t")
            tell(f"MariaDB, snapshots {snapshot}", isolation(store, server.url("t"), *load))
        with lib.Galera(**setting) as cluster:
            cluster.nodes[0].fresh("t")
            nodes = ["--nodes", cluster.file("t")]
            tell(f"Galera, snapshots {snapshot}", isolation(store, cluster.nodes[0].url("t"), *nodes, *load))


def cost(store, rounds, seconds):
    """The same load with and without what the command adds to it."""
    loader = os.path.join(os.path.dirname(lib.triphammer()), "triphammer-bench-isolation")
    with lib.Postgres(synchronous_commit="off") as server:
        server.fresh("t")
        isolation(store, server.url("t"), "--duration", "1s", "--control", "0s")
        for level in ("repeatable-read", "serializable"):
            def drive(how, level=level):
                return float(lib.run([loader, server.url("t"), level, "16", "333", str(seconds), how]))

            ways = {how: (lambda how=how: drive(how)) for how in ("unrecorded", "recorded", "checked")}
            figures = lib.interleaved(rounds, **ways)
            print(f"{level}, 16 users on 1,000 rows:")
            lib.compare("  unrecorded against recorded", "commits/s", figures, "unrecorded", "recorded", 1.1)
            lib.compare("  unrecorded against checked", "commits/s", figures, "unrecorded", "checked")


def checker():
    """The checker alone."""
    lib.run(["cargo", "build", "--release", "-p", "triphammer-isolation", "--example", "checker"], cwd=lib.ROOT)
    example = os.path.join(os.path.dirname(lib.triphammer()), "examples", "checker")
    for operations in ("2500000", "5000000", "10000000"):
        done = lib.timed([example, operations])
        print(f"{int(operations):,} operations: {done['cpu']:.1f} s of CPU, {done['memory']:.0f} MB")


def peer(store, folder):
    """The same histories by this checker and by adya, which calls G-single that of two appends `lost-update`, too."""
    lib.run(["cargo", "install", "adya", "--version", "0.1.0", "--no-default-features", "--root", folder])
    load = ["--duration", "3s", "--control", "0s", "--rows", "8", "--vus", "8", "--weights", "append=4,read=2"]

    def compare(product, target, level):
        history = f"{folder}/history.edn"
        isolation(store, target, "--isolation", level, "--history", history, *load)
        ours = lib.timed([lib.triphammer(), "isolation", "check", history], check=False)
        rows = [line.split()[:2] for line in ours["out"].splitlines() if line.startswith("  ")]
        adya = [f"{folder}/bin/adya", "check", "-c", "serializable", "--json", history]
        theirs = lib.timed(adya, check=False)
        report = json.loads(theirs["out"])
        kinds = {name.removesuffix("-item") if name != "G2-item" else name for name in anomalies(report)}
        same = {kind for _, kind in rows} == kinds - {"lost-update"}
        print(f"{product}, {level}: {', '.join(f'{kind} {count}' for count, kind in rows) or 'nothing'}; adya: "
              f"{', '.join(sorted(kinds)) or 'nothing'}; {'the same kinds' if same else 'DIFFERENT'}; "
              f"{ours['cpu']:.2f} s of CPU, adya {theirs['cpu']:.2f} s")

    with lib.Postgres(fsync="off") as server:
        server.fresh("t")
        for level in ("read-committed", "repeatable-read", "serializable"):
            compare("PostgreSQL", server.url("t"), level)
    with lib.Mariadb(**{"innodb-flush-log-at-trx-commit": 0}) as server:
        server.fresh("t")
        for level in ("read-uncommitted", "read-committed", "repeatable-read", "serializable"):
            compare("MariaDB", server.url("t"), level)


def anomalies(report):
    """The names of what adya found, wherever its report has them."""
    if isinstance(report, dict):
        found = report.get("anomaly_types")
        return found if found else [name for part in report.values() for name in anomalies(part)]
    return [name for part in report for name in anomalies(part)] if isinstance(report, list) else []


def quiet(store, runs):
    """Runs in which nothing may be found."""
    with lib.Postgres(fsync="off") as server:
        server.fresh("t")
        for level in ("serializable", "repeatable-read"):
            broken = 0
            for _ in range(runs):
                options = ["--isolation", level, "--duration", "20s", "--control", "0s"]
                found = isolation(store, server.url("t"), *options)
                kinds = [kind for of in found["levels"] for kind in of["kinds"] if kind["verdict"] == "violated"]
                broken += bool(kinds)
            print(f"{level}: {broken} of {runs} runs with a broken promise")


def fork(store, minutes):
    """Readers of both nodes, of few rows."""
    with lib.Postgres(fsync="off", wal_level="replica", max_wal_senders=4) as primary, lib.Standby(primary) as standby:
        primary.fresh("t")
        options = ["--isolation", "repeatable-read", "--nodes", standby.file(primary, "t"), "--route",
                   "reads=random:all", "--duration", f"{minutes}m", "--control", "0s", "--rows", "4",
                   "--weights", "append=4,read=4"]
        tell("PostgreSQL with a standby", isolation(store, primary.url("t"), *options))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--only", default="findings,cost,checker")
    parser.add_argument("--quiet", type=int, default=0)
    parser.add_argument("--fork", type=int, default=0, metavar="MINUTES")
    options = parser.parse_args()
    with lib.memory_folder() as folder:
        store = f"{folder}/jobs.sqlite"
        if "findings" in options.only:
            findings(store, options.seconds)
        if "cost" in options.only:
            cost(store, options.rounds, options.seconds)
        if "checker" in options.only:
            checker()
        if "peer" in options.only:
            peer(store, folder)
        if options.fork:
            fork(store, options.fork)
        if options.quiet:
            quiet(store, options.quiet)


if __name__ == "__main__":
    main()
