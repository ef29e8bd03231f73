#!/usr/bin/env python3
"""The 22 answers of TPROC-H, compared by other programs than triphammer.

triphammer builds the data; the databases' own clients (psql, mariadb, Python's sqlite3 and duckdb, HTTP for Trino) run
the queries of crates/dialects/sql with the parameters of the query validation, and this script compares every field
with the truth by the rules of clause 2.1.3.5, which it reads as described at `RULES`.

The truth at SF 0.01 and 0.1 is `tpch_answers()` of DuckDB's tpch extension, at other scales what that extension's
queries (`PRAGMA tpch`) answer on data of its own generator (`CALL dbgen`): another generator and another hand's SQL.
That generator makes other addresses and comments than dbgen, so those columns are not compared there, and Q13, which
searches comments, is counted by this script in the files of `triphammer datagen`, which are those of dbgen. At SF 1, the
truth is the answers published with the specification, all columns included, from the tpchgen crate in cargo's
registry; only that of Q11, whose keys are cut off there, is from `tpch_answers()`.

    bench/tproch_answers.py [--scale 0.1] [--limit 60] [--folder DIR] [DATABASE...]

DATABASE is postgres, mariadb, sqlite, duckdb or the URL of a schema in Trino, where the tables exist already
(trino://ann@127.0.0.1:8080/tpch/sf0.1); the default is the first four. The exit code is 1 if an answer is wrong or
missing.
"""

import argparse
import collections
import contextlib
import glob
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import urllib.parse
import urllib.request
from decimal import Decimal, InvalidOperation

import lib
from build_duckdb import environment

# Parameters of the query validation (clauses 2.4.1.4 to 2.4.22.4); ends of ranges are dates, patterns have their %.
PARAMETERS = {
    1: {"until": "1998-09-02"},
    2: {"size": 15, "type": "%BRASS", "region": "EUROPE"},
    3: {"segment": "BUILDING", "date": "1995-03-15"},
    4: {"from_date": "1993-07-01", "to_date": "1993-10-01"},
    5: {"region": "ASIA", "from_date": "1994-01-01", "to_date": "1995-01-01"},
    6: {"from_date": "1994-01-01", "to_date": "1995-01-01", "discount_low": Decimal("0.05"),
        "discount_high": Decimal("0.07"), "quantity": 24},
    7: {"nation1": "FRANCE", "nation2": "GERMANY"},
    8: {"nation": "BRAZIL", "region": "AMERICA", "type": "ECONOMY ANODIZED STEEL"},
    9: {"name": "%green%"},
    10: {"from_date": "1993-10-01", "to_date": "1994-01-01"},
    11: {"nation": "GERMANY", "fraction": Decimal("0.0001000000")},
    12: {"mode1": "MAIL", "mode2": "SHIP", "from_date": "1994-01-01", "to_date": "1995-01-01"},
    13: {"words": "%special%requests%"},
    14: {"from_date": "1995-09-01", "to_date": "1995-10-01"},
    15: {"from_date": "1996-01-01", "to_date": "1996-04-01"},
    16: {"brand": "Brand#45", "type": "MEDIUM POLISHED%",
         **{f"size{n}": size for n, size in enumerate((49, 14, 23, 45, 19, 3, 36, 9), 1)}},
    17: {"brand": "Brand#23", "container": "MED BOX"},
    18: {"quantity": 300},
    19: {"brand1": "Brand#12", "quantity1": 1, "brand2": "Brand#23", "quantity2": 10, "brand3": "Brand#34",
         "quantity3": 20},
    20: {"name": "forest%", "from_date": "1994-01-01", "to_date": "1995-01-01", "nation": "CANADA"},
    21: {"nation": "SAUDI ARABIA"},
    22: {f"code{n}": code for n, code in enumerate(("13", "31", "23", "29", "30", "18", "17"), 1)},
}
DATE = re.compile(r"\d{4}-\d\d-\d\d")
SQL = os.path.join(lib.ROOT, "crates/dialects/sql")

# Columns that may differ: sums by 100 (and 1 %, which is stricter at small scales), averages and ratios by 1 % of their
# value or of both rounded to a hundredth. All others must be equal: numbers as numbers, text without blanks at its ends.
SUMS = {"sum_qty", "sum_base_price", "sum_disc_price", "sum_charge", "revenue", "sum_profit", "value", "total_revenue",
        "totacctbal"}
RATIOS = {"avg_qty", "avg_price", "avg_disc", "mkt_share", "promo_revenue", "avg_yearly"}
RULES = {**dict.fromkeys(SUMS, "sum"), **dict.fromkeys(RATIOS, "ratio")}
# What DuckDB's generator makes otherwise than dbgen.
OTHERWISE = {"s_address", "s_comment", "c_address", "c_comment"}


def sections(path):
    """The statements of a catalogue file, by name."""
    with open(path, encoding="utf-8") as file:
        parts = re.split(r"^-- name: (\S+)\n", file.read(), flags=re.MULTILINE)[1:]
    return {name: text.strip().rstrip(";") for name, text in zip(parts[::2], parts[1::2])}


def words(dialect):
    """What a dialect and its parents put in place of the words in braces."""
    with open(os.path.join(SQL, dialect, "dialect.toml"), "rb") as file:
        declared = tomllib.load(file)
    inherited = words(declared["parent"]) if "parent" in declared else {}
    return {**inherited, **declared.get("words", {})}


def queries(dialect, date):
    """The texts of the queries with their parameters as literals; `date` writes a date."""
    texts = sections(os.path.join(SQL, "base/tproc-h/queries.sql"))
    bound, of_dialect = {}, words(dialect)
    for number, parameters in PARAMETERS.items():
        def literal(match, parameters=parameters):
            value = parameters[match.group(1)]
            if isinstance(value, (int, Decimal)):
                return str(value)
            return date(value) if DATE.fullmatch(value) else f"'{value}'"
        text = re.sub(r":(\w+)", literal, re.sub(r"--.*", "", texts[f"q{number}"]))
        for name, value in of_dialect.items():
            text = text.replace(f"{{{name}}}", value)
        bound[number] = text
    return bound


def standard_date(text):
    return f"date '{text}'"


def table(text):
    """Names of the columns, and rows, of an answer as text."""
    lines = [line for line in text.splitlines() if line.strip()]
    split = [[field.strip() for field in line.split("|")] for line in lines]
    return split[0], split[1:]


def published():
    """The answers published with the specification."""
    places = glob.glob(os.path.expanduser("~/.cargo/registry/src/*/tpchgen-4*/src/q_and_a/answers_sf1.rs"))
    if not places:
        sys.exit("the published answers are in the source of tpchgen: run `cargo fetch` first")
    with open(sorted(places)[-1], encoding="utf-8") as file:
        found = re.findall(r'const Q(\d+)_ANSWER: &str = r#"\n(.*?)"#;', file.read(), flags=re.DOTALL)
    return {int(number): table(text) for number, text in found}


def distribution(scale):
    """The answer of Q13: how many customers have how many orders whose comment does not match."""
    matches, orders = re.compile("special.*requests"), collections.Counter()
    with tempfile.TemporaryDirectory(prefix="triphammer-bench-") as folder:
        lib.run([lib.triphammer(), "datagen", "-w", "tproc-h", "--scale", f"{scale:g}", "-o", folder])
        with open(os.path.join(folder, "orders.tbl"), encoding="utf-8") as file:
            for line in file:
                fields = line.split("|")
                orders[fields[1]] += not matches.search(fields[8])
        with open(os.path.join(folder, "customer.tbl"), encoding="utf-8") as file:
            counts = collections.Counter(orders[line.split("|", 1)[0]] for line in file)
    rows = sorted(((customers, count) for count, customers in counts.items()), reverse=True)
    return ["c_count", "custdist"], [[str(count), str(customers)] for customers, count in rows]


def shown(value):
    return "NULL" if value is None else str(value)


def truth(scale):
    """The answers as (columns, rows), which columns are not compared, and where the answers are from."""
    import duckdb
    _, extension = environment()
    database = duckdb.connect()
    database.execute(f"LOAD '{extension}'")
    known = database.execute("SELECT query_nr, answer FROM tpch_answers() WHERE scale_factor = ?", [scale]).fetchall()
    known = {number: table(text) for number, text in known}
    if scale == 1:
        return {**published(), 11: known[11]}, set(), "the published answers, Q11 from tpch_answers()"
    if known:
        known[13] = distribution(scale)
        return known, OTHERWISE, "tpch_answers() of DuckDB 1.5.5; Q13 counted in files"
    database.execute("SET memory_limit = '2GB'")
    database.execute(f"CALL dbgen(sf={scale})")
    for number in PARAMETERS:
        answer = database.execute(f"PRAGMA tpch({number})")
        columns = [column[0] for column in answer.description]
        known[number] = columns, [[shown(value) for value in row] for row in answer.fetchall()]
    known[13] = distribution(scale)
    return known, OTHERWISE, "DuckDB 1.5.5: CALL dbgen, PRAGMA tpch; Q13 counted in files"


def number_of(text):
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def agrees(column, found, expected):
    """Whether a field is right, and by how much it differs as a share."""
    left, right = number_of(found), number_of(expected)
    if left is None or right is None or "NULL" in (found, expected):
        return found == expected, Decimal(0)
    difference = abs(left - right)
    share = difference / abs(right) if right else difference
    rule = RULES.get(column)
    if rule == "sum":
        return difference <= min(Decimal(100), abs(right) / 100), share
    if rule == "ratio":
        rounded = abs(round(left, 2) - round(right, 2))
        return difference <= abs(right) / 100 or rounded <= abs(round(right, 2)) / 100, share
    return left == right, share


def judge(rows, expected, skipped):
    """What is wrong with an answer, or None; and the largest difference that is allowed, as a share."""
    columns, known = expected
    if len(rows) != len(known):
        return f"{len(rows)} rows instead of {len(known)}", None
    largest = Decimal(0)
    for place, (row, right) in enumerate(zip(rows, known), 1):
        if len(row) != len(columns):
            return f"row {place}: {len(row)} columns instead of {len(columns)}", None
        for column, found, value in zip(columns, row, right):
            if column in skipped:
                continue
            is_right, share = agrees(column, found.strip(), value)
            if not is_right:
                return f"row {place}, {column}: {found.strip()} instead of {value}", None
            largest = max(largest, share)
    return None, largest


class TimedOut(Exception):
    """A query took longer than its limit."""


class Client:
    """Runs queries by a client of the database."""

    texts = None

    def by_command(self, command, limit, expired):
        """Runs a command that writes fields with tabs between them; `expired` is in its message after the limit."""
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if expired in done.stderr:
            raise TimedOut
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        return [line.split("\t") for line in done.stdout.splitlines()]


class Postgres(Client):
    texts = queries("postgres", standard_date)

    def __init__(self, server, database):
        self.server, self.database = server, database

    def run(self, text, limit):
        sql = f"SET statement_timeout = '{limit}s'; {text}"
        command = [lib.program("psql"), "-X", "-q", "-t", "-A", "-F", "\t", "-P", "null=NULL", "-c", sql,
                   self.server.url(self.database)]
        return self.by_command(command, limit, "canceling statement due to statement timeout")


class Mariadb(Client):
    texts = queries("mariadb", standard_date)

    def __init__(self, server, database):
        self.server, self.database = server, database

    def run(self, text, limit):
        sql = f"SET max_statement_time = {limit}; {text}"
        command = [*self.server.client(self.database), "--raw", "-e", sql]
        return self.by_command(command, limit, "max_statement_time exceeded")


class InProcess(Client):
    """A Python module; its connection is interrupted after the limit."""

    def interruptible(self, connection, text, limit):
        timer = threading.Timer(limit, connection.interrupt)
        begun = time.monotonic()
        timer.start()
        try:
            return [[shown(value) for value in row] for row in connection.execute(text).fetchall()]
        except Exception as error:
            if time.monotonic() - begun >= limit:
                raise TimedOut from error
            raise
        finally:
            timer.cancel()


class Sqlite(InProcess):
    texts = queries("sqlite", lambda text: f"'{text}'")

    def __init__(self, file):
        self.connection = sqlite3.connect(file, check_same_thread=False)

    def run(self, text, limit):
        return self.interruptible(self.connection, text, limit)


class Duckdb(InProcess):
    texts = queries("duckdb", standard_date)

    def __init__(self, file):
        import duckdb
        self.connection = duckdb.connect(file, read_only=True, config={"memory_limit": "2GB"})

    def run(self, text, limit):
        return self.interruptible(self.connection, text, limit)


class Trino(Client):
    texts = queries("trino", standard_date)

    def __init__(self, url):
        at = urllib.parse.urlsplit(url)
        self.base = f"http://{at.hostname}:{at.port or 8080}"
        _, catalog, schema = at.path.split("/")
        self.headers = {"X-Trino-User": at.username or "bench", "X-Trino-Catalog": catalog, "X-Trino-Schema": schema}

    def request(self, method, url, body=None):
        request = urllib.request.Request(url, data=body, method=method, headers=self.headers)
        with urllib.request.urlopen(request) as response:
            return json.loads(response.read() or "null")

    def run(self, text, limit):
        begun = time.monotonic()
        page, rows = self.request("POST", f"{self.base}/v1/statement", text.encode()), []
        while True:
            if "error" in page:
                raise RuntimeError(page["error"]["message"])
            rows += page.get("data", [])
            if "nextUri" not in page:
                return [[shown(value) for value in row] for row in rows]
            if time.monotonic() - begun > limit:
                self.request("DELETE", page["nextUri"])
                raise TimedOut
            page = self.request("GET", page["nextUri"])


@contextlib.contextmanager
def client(name, scale, folder):
    """Builds the data in a database, unless it is there already, and opens a client."""
    variables = {**os.environ, "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite")}

    def build(target):
        lib.run([lib.triphammer(), "build", target, "-w", "tproc-h", "--scale", f"{scale:g}"], env=variables)

    if name == "postgres":
        with lib.Postgres(fsync="off", full_page_writes="off", shared_buffers="512MB", max_wal_size="1GB",
                          work_mem="64MB") as server:
            server.fresh("tpch")
            build(server.url("tpch"))
            yield Postgres(server, "tpch")
    elif name == "mariadb":
        with lib.Mariadb() as server:
            server.fresh("tpch")
            build(server.url("tpch"))
            yield Mariadb(server, "tpch")
    elif name == "sqlite":
        file = os.path.join(folder, "tpch.sqlite")
        build(f"sqlite:{file}")
        yield Sqlite(file)
    elif name == "duckdb":
        file = os.path.join(folder, "tpch.duckdb")
        build(f"duckdb:{file}")
        yield Duckdb(file)
    elif name.startswith("trino://"):
        yield Trino(name)
    else:
        sys.exit(f"unknown database {name}: expected postgres, mariadb, sqlite, duckdb or trino://…")


def answer(database, number, limit, expected, skipped):
    """Runs a query; returns whether it is right, and the cell of the table."""
    begun = time.monotonic()
    try:
        rows = database.run(database.texts[number], limit)
    except TimedOut:
        return False, f"TIMEOUT {limit} s", None
    except Exception as error:  # whatever a client reports is the answer's fate
        return False, f"ERROR {error}", None
    seconds = time.monotonic() - begun
    wrong, largest = judge(rows, expected, skipped)
    return not wrong, f"WRONG {wrong}" if wrong else f"{seconds:.2f} s", largest


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--scale", type=float, default=0.1, help="scale factor")
    arguments.add_argument("--limit", type=int, default=60, help="maximum seconds of a query")
    arguments.add_argument("--folder", help="where files are built; the system's temporary folder by default")
    arguments.add_argument("databases", nargs="*", default=[])
    given = arguments.parse_args()
    names = given.databases or ["postgres", "mariadb", "sqlite", "duckdb"]
    try:
        import duckdb as _
    except ImportError:
        python, _ = environment()
        os.execv(python, [python, *sys.argv])
    expected, skipped, source = truth(given.scale)
    cells, right, largest = {}, {}, {}
    for name in names:
        with tempfile.TemporaryDirectory(prefix="triphammer-bench-", dir=given.folder) as folder, \
                client(name, given.scale, folder) as database:
            for number in PARAMETERS:
                is_right, cell, share = answer(database, number, given.limit, expected[number], skipped)
                cells[name, number] = cell
                right[name] = right.get(name, 0) + is_right
                largest[name] = max(largest.get(name, Decimal(0)), share or Decimal(0))
                print(f"  {name} Q{number}: {cell}", file=sys.stderr, flush=True)
    print(f"TPROC-H at {given.scale:g} SF, at most {given.limit} s per query; truth: {source}")
    if skipped:
        print(f"not compared: {', '.join(sorted(skipped))}")
    print("| query | rows | " + " | ".join(names) + " |\n|---|---|" + "---|" * len(names))
    for number in PARAMETERS:
        row = [cells[name, number] for name in names]
        print(f"| Q{number} | {len(expected[number][1])} | " + " | ".join(row) + " |")
    print("| right | | " + " | ".join(f"{right[name]} of 22" for name in names) + " |")
    print("| largest difference | | " + " | ".join(f"{largest[name]:.1e}" for name in names) + " |")
    sys.exit(any(right[name] < len(PARAMETERS) for name in names))


if __name__ == "__main__":
    main()
