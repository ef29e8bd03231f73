#!/usr/bin/env python3
"""What a replay is worth: the share of statements that succeed and the answers that differ when applications are recorded
at the wire and replayed on a copy of their database, how fast a recording is replayed at most, how late its statements
start, and how often two equal databases are said to differ.

The applications: TPROC-C with statements of our own, whose ids are the database's; pgbench's tpcb-like; and a shop of
pgbench scripts whose orders and items get their ids from sequences (\\gset), on PostgreSQL.

    bench/replay.py [--seconds 10] [--clients 8] [--comparisons 20]
"""

import argparse
import contextlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile

from lib import Postgres, program, run, triphammer

# Statements of a transaction of tpcb-like.
TPCB_STATEMENTS = 7
# Transactions per second of the recording whose starts are measured.
PACED = 300
SHOP_TABLES = """
    CREATE TABLE customers (id serial PRIMARY KEY, name text NOT NULL, orders int NOT NULL DEFAULT 0);
    CREATE TABLE orders (id serial PRIMARY KEY, customer_id int NOT NULL REFERENCES customers, total numeric(10, 2) NOT NULL);
    CREATE TABLE items (id bigserial PRIMARY KEY, order_id int NOT NULL REFERENCES orders, product int NOT NULL, quantity int NOT NULL);
    CREATE INDEX ON items (order_id);
    INSERT INTO customers (name) SELECT 'customer ' || n FROM generate_series(1, 1000) n;"""
SHOP = """
\\set customer random(1, 1000)
\\set product random(1, 100)
BEGIN;
INSERT INTO orders (customer_id, total) VALUES (:customer, 0) RETURNING id AS order_id \\gset
INSERT INTO items (order_id, product, quantity) VALUES (:order_id, :product, 1) RETURNING id AS item_id \\gset
INSERT INTO items (order_id, product, quantity) VALUES (:order_id, :product + 1, 2);
UPDATE items SET quantity = quantity + 1 WHERE id = :item_id;
UPDATE orders SET total = (SELECT sum(quantity * product) FROM items WHERE order_id = :order_id) WHERE id = :order_id;
UPDATE customers SET orders = orders + 1 WHERE id = :customer;
COMMIT;
SELECT o.id, o.total, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = :order_id;
SELECT product, quantity FROM items WHERE order_id = :order_id ORDER BY id;
"""


@contextlib.contextmanager
def capture(server, database, file):
    """Records what passes; yields the port of the proxy."""
    command = [triphammer(), "capture", "--listen", "127.0.0.1:0", server.url(database), "-o", file, "--drain", "1s"]
    with subprocess.Popen(command, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as started:
        line = started.stderr.readline()
        found = re.search(r"at 127\.0\.0\.1:(\d+);", line)
        if not found:
            sys.exit(line + started.stderr.read())
        yield int(found.group(1))
        started.send_signal(signal.SIGINT)
        started.communicate(timeout=60)


def pgbench(port, database, options, clients, seconds):
    run([program("pgbench"), "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "-n", "-c", str(clients),
         "-T", str(seconds), *options, database], env={**os.environ, "PGSSLMODE": "disable"})


def shop(server, folder):
    """Builds the shop; returns what runs it."""
    server.fresh("shop")
    server.psql("shop", SHOP_TABLES)
    script = os.path.join(folder, "shop.sql")
    with open(script, "w", encoding="utf-8") as file:
        file.write(SHOP)
    return lambda port, options, *more: pgbench(port, "shop", ["-M", "prepared", "-f", script, *more], options.clients,
                                                options.seconds)


def tpcb(server, _folder):
    server.fresh("tpcb")
    run([program("pgbench"), "-i", "-q", "-s", "10", server.url("tpcb")])
    return lambda port, options: pgbench(port, "tpcb", ["-M", "extended"], options.clients, options.seconds)


def tproc_c(server, _folder):
    server.fresh("tproc_c")
    run([triphammer(), "build", server.url("tproc_c"), "--scale", "4", "--jobs", "2"])

    def work(port, options):
        target = f"postgres://postgres@127.0.0.1:{port}/tproc_c?sslmode=disable"
        run([triphammer(), "run", target, "--mode", "statements", "--vus", str(options.clients), "--rampup", "0s",
             "--duration", f"{options.seconds}s", "--no-observe"])
    return work


APPLICATIONS = {"shop": shop, "tpcb": tpcb, "tproc_c": tproc_c}


def copy(server, database, name):
    """A database that is as another was."""
    server.psql("postgres", f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    server.psql("postgres", f"CREATE DATABASE {name} TEMPLATE {database}")


def replayed(target, load, *more):
    document = json.loads(subprocess.run([triphammer(), "run", target, "--load", load, "--json", *more], check=False, text=True,
                                         stdout=subprocess.PIPE).stdout)
    return document


def application(server, name, options, folder):
    """Records an application and replays it; returns the recording."""
    work = APPLICATIONS[name](server, folder)
    copy(server, name, f"{name}_before")
    file = os.path.join(folder, f"{name}.recording")
    with capture(server, name, file) as port:
        work(port, options)
    copy(server, f"{name}_before", f"{name}_replay")
    answers = replayed(server.url(f"{name}_replay"), f"replay:{file}")["replay"]
    print(f"{name}: {answers['sent']} statements, {answers['succeeded'] / answers['sent']:.4%} succeeded; "
          f"{answers['differing']} of {answers['compared']} answers differ; made {answers['made']}; order {answers['order']}",
          flush=True)
    for one in answers["statements"][:5]:
        if one["differing"]:
            print(f"    {one['differing']} of {one['compared']}: {one['text'][:90]}: {one['divergences']} {one['examples'][:1]}")
    return file


def rate(file):
    """Statements per second on the null database, as fast as they can be sent."""
    document = replayed("null:", f"replay:{file},speed=1000x")
    seconds = max(document["durations"]["window_s"], 1e-9)
    print(f"null database: {document['replay']['sent'] / seconds:.0f} statements/s")


def rate_on_server(server, file, options):
    """Statements per second of the recording of tpcb-like (extended protocol) as fast as the server takes it, also in the order of
    commits, beside the same script by the workload `script`, in alternating rounds."""
    rates = {"times": [], "commit": [], "script": []}
    for _ in range(3):
        for order in ("times", "commit"):
            copy(server, "tpcb_before", "tpcb_replay")
            document = replayed(server.url("tpcb_replay"), f"replay:{file},speed=1000x", "--no-observe", "--order", order)
            rates[order].append(document["replay"]["sent"] / document["durations"]["window_s"])
        copy(server, "tpcb_before", "tpcb_replay")
        done = run([triphammer(), "run", server.url("tpcb_replay"), "-w", "script", "--script", "tpcb-like", "--protocol", "extended", "--vus",
                    str(options.clients), "--rampup", "0s", "--duration", f"{options.seconds}s", "--no-observe", "--json"])
        total = json.loads(done)["window"]["total"]
        rates["script"].append(total["committed"] / options.seconds * TPCB_STATEMENTS)
    of = {name: statistics.median(all_of) for name, all_of in rates.items()}
    print(f"PostgreSQL: replay {of['times']:.0f} statements/s, script {of['script']:.0f}: {of['times'] / of['script']:.2f} x "
          f"(wanted 1); in the order of commits {of['commit']:.0f}: {of['commit'] / of['script']:.2f} x")


def starts(server, folder, options):
    """How late the transactions of a recording start that leaves the server time: on PostgreSQL, where one waits for the one
    before it in its session if that takes longer than it did, and on the null database, which is always in time."""
    work = shop(server, folder)
    copy(server, "shop", "shop_before")
    file = os.path.join(folder, "paced.recording")
    with capture(server, "shop", file) as port:
        work(port, options, "--rate", str(PACED))
    copy(server, "shop_before", "shop_replay")
    for name, target in (("PostgreSQL", server.url("shop_replay")), ("the null database", "null:")):
        waits = replayed(target, f"replay:{file}")["pool_wait"]
        print(f"starts at {PACED} transactions/s on {name}: p50 {waits['p50_us']} us late, p99 {waits['p99_us']} us (wanted 2000)")


def comparisons(server, file, options):
    """How often a database is said to differ from itself."""
    copy(server, "shop_before", "shop_run_a")
    copy(server, "shop_before", "shop_run_b")
    restore = " ".join([f"cmd={program('psql')} -q", f"'{server.url('postgres')}'",
                        "-c 'DROP DATABASE IF EXISTS shop_run_'$CELL_SIDE' WITH (FORCE)'",
                        "-c 'CREATE DATABASE shop_run_'$CELL_SIDE' TEMPLATE shop_before'"])
    differing, verdicts = 0, []
    for _ in range(options.comparisons):
        done = subprocess.run([triphammer(), "compare", "--replay", f"{file},speed=4x", server.url("shop_run_a"),
                               server.url("shop_run_b"), "--restore", restore, "--pairs", "3", "--cool-down", "0s", "--json"],
                              check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        document = json.loads(done.stdout)
        differing += document["answers"]["differing"] > 0
        verdicts.append(document["verdict"]["kind"])
    print(f"A against A: answers differ in {differing} of {options.comparisons}; verdicts "
          f"{ {kind: verdicts.count(kind) for kind in sorted(set(verdicts))} }")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--comparisons", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Postgres(fsync="off") as server:
        os.environ["TRIPHAMMER_STORE"] = os.path.join(folder, "jobs.sqlite")
        files = {name: application(server, name, options, folder) for name in APPLICATIONS}
        rate(files["tpcb"])
        rate_on_server(server, files["tpcb"], options)
        starts(server, folder, options)
        if options.comparisons:
            comparisons(server, files["shop"], options)


if __name__ == "__main__":
    main()
