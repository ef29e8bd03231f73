#!/usr/bin/env python3
"""What the language of pgbench's scripts costs: a zipfian \\set, and reading a script of 1,000 statements; and whether
its random numbers have the distributions of pgbench's.

The costs are those on the null database. Each figure is the difference of CPU time between two runs of the program: with many zipfian
draws per transaction and with one; and with a script of 1,000 statements and of one, which includes that the session
prepares and runs them once. The distributions are compared by draws of both programs, in ten classes each, by the
chi-square of two samples of the same size.

    bench/script_language.py [--rounds 5] [--draws 1000000]
"""

import argparse
import collections
import os
import re
import statistics
import subprocess
import tempfile

from lib import Postgres, program, timed, triphammer

SET_LIMIT_NS = 200
READ_LIMIT_MS = 50
DRAWS = 101
TRANSACTIONS = 50_000
STATEMENTS = 1_000
DISTRIBUTIONS = ["random(1, 10)", "random_exponential(1, 10, 3.0)", "random_gaussian(1, 10, 2.5)",
                 "random_zipfian(1, 10, 1.2)", "random_zipfian(1, 10, 2.5)"]
# Nine degrees of freedom: it is exceeded once in a million times.
CHI_SQUARE_MAX = 45


def cpu(folder, script, transactions):
    """CPU seconds of a run of the script."""
    path = os.path.join(folder, "script.sql")
    with open(path, "w", encoding="utf-8") as file:
        file.write(script)
    environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite")}
    command = [triphammer(), "run", "null:", "-w", "script", "--script", path, "--vus", "1", "--transactions",
               str(transactions), "--no-observe", "--json"]
    return timed(command, env=environment)["cpu"]


def difference(rounds, folder, big, small, transactions):
    """The median over the rounds of the CPU seconds that `big` takes more than `small`."""
    return statistics.median(
        cpu(folder, big, transactions) - cpu(folder, small, transactions) for _ in range(rounds))


def drawn(command, draws, **options):
    """How often each command of the script drew each number, from what `debug` prints."""
    process = subprocess.Popen([*command, "--transactions", str(draws)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, **options)
    counts = collections.Counter(
        re.match(r"debug\(script=0,command=(\d+)\): int (\d+)", line).groups()
        for line in process.stderr if line.startswith("debug("))
    if process.wait():
        raise SystemExit(f"{command[0]} ended with exit code {process.returncode}")
    return counts


def compare_distributions(folder, draws):
    """Draws from both programs, and prints how far their distributions are apart."""
    path = os.path.join(folder, "draws.sql")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"\\set drawn debug({distribution})\n" for distribution in DISTRIBUTIONS)
    environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite")}
    ours = drawn([triphammer(), "run", "null:", "-w", "script", "--script", path, "--vus", "1", "--no-observe"],
                 draws, env=environment)
    with Postgres() as server:
        theirs = drawn([program("pgbench"), server.url("postgres"), "-n", "-f", path], draws)
    commands = sorted({command for command, _ in theirs}, key=int)
    for command, distribution in zip(commands, DISTRIBUTIONS, strict=True):
        pairs = [(ours[command, number], theirs[command, number]) for number in map(str, range(1, 11))]
        assert sum(a for a, _ in pairs) == sum(b for _, b in pairs) == draws
        distance = sum((a - b) ** 2 / (a + b) for a, b in pairs if a + b)
        show(f"{distribution}, {draws:,} draws, chi-square of triphammer and pgbench", distance, "", CHI_SQUARE_MAX)


def show(title, figure, unit, limit):
    print(f"{title}: {figure:.0f}{unit}  (at most {limit}: {'met' if figure <= limit else 'MISSED'})", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--draws", type=int, default=1_000_000)
    given = arguments.parse_args()
    draw = "\\set key random_zipfian(1, 100000 * :scale, 1.07)\n"
    statement = "UPDATE table_{0} SET a = a + :delta, b = 'text {0}' WHERE id = :key AND c <> {0};\n"
    with tempfile.TemporaryDirectory() as folder:
        seconds = difference(given.rounds, folder, DRAWS * draw, draw, TRANSACTIONS)
        show("a zipfian \\set", seconds * 1e9 / TRANSACTIONS / (DRAWS - 1), " ns", SET_LIMIT_NS)
        values = "\\set key 1\n\\set delta 2\n"
        many = values + "".join(statement.format(n) for n in range(STATEMENTS))
        seconds = difference(given.rounds, folder, many, values + statement.format(0), 1)
        show(f"reading {STATEMENTS:,} statements", seconds * 1e3, " ms", READ_LIMIT_MS)
        compare_distributions(folder, given.draws)


if __name__ == "__main__":
    main()
