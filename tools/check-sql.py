#!/usr/bin/env python3
"""Parses the SQL of the dialects whose databases cannot be had here (Oracle, Db2) by sqlfluff.

It shows that the text is SQL of that dialect, as far as sqlfluff knows it; not that the database accepts it. Of Db2's
procedures only the queries and changes inside are parsed, and options of storage (partitions, clusters, columns) not at
all: sqlfluff does not know them. It is installed once, into the user's cache.

    tools/check-sql.py [--show]      --show: the parts that are not parsed
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "triphammer/sqlfluff")
VERSION = "4.5.0"


def installed():
    """Runs this script with the Python that has sqlfluff; installs it first if necessary."""
    python = os.path.join(CACHE, VERSION, "bin/python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", os.path.join(CACHE, VERSION)], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"sqlfluff=={VERSION}"], check=True)
    os.execv(python, [python, os.path.abspath(__file__), *sys.argv[1:]])


# What sqlfluff's grammar of a dialect lacks, though the manual of the database has it.
UNKNOWN = {"db2": r"ALTER TABLE \w+ ALTER COLUMN|SET \(", "oracle": None}


def plain(text, dialect):
    """A statement as sqlfluff takes it: values for placeholders, calls without ODBC's braces."""
    call = re.fullmatch(r"\{call (.*)\}", text.strip(), re.S)
    if call:
        text = f"BEGIN {call.group(1)}; END;" if dialect == "oracle" else f"CALL {call.group(1)}"
    if dialect == "db2":
        # Its grammar has no names of constraints.
        text = re.sub(r"ADD CONSTRAINT \w+ ", "ADD ", text)
    out, is_text = [], False
    for part in re.split(r"('|\?)", text):
        is_text ^= part == "'"
        out.append("1" if part == "?" and not is_text else part)
    return "".join(out)


def queries(routine):
    """The queries and changes in a routine of SQL PL, whose frame sqlfluff's grammar does not have."""
    routine = re.sub(r"--[^\n]*", "", routine)
    # Into variables; the query of a cursor and of a loop; what follows the words of the frame.
    routine = re.sub(r"\bINTO (the_\w+(, )?)+", "", routine)
    routine = re.sub(r"\b(TO CLIENT FOR|FOR line AS|THEN|ELSE|DO|REPEAT|BEGIN)\n", ";", routine)
    found = [part.strip() for part in routine.split(";")]
    begins = ("SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "COMMIT", "ROLLBACK")
    return [part for part in found if part.startswith(begins)]


def statements(text, dialect):
    """The statements of a script."""
    # A line with a slash ends a routine; it is sent by no driver.
    for part in re.split(r"^/$", plain(text, dialect), flags=re.M):
        if dialect == "db2" and re.match(r"\s*(--[^\n]*\n)*(CREATE OR REPLACE (PROCEDURE|FUNCTION)|BEGIN)", part):
            yield from queries(part)
        elif part.strip():
            single = [part] if UNKNOWN[dialect] is None else part.split(";\n")
            yield from (one for one in single if one.strip() and not re.match(UNKNOWN[dialect] or "$^", one.strip()))


def main():
    import sqlfluff

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    parsed, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["cargo", "test", "--quiet", "--package", "triphammer-workloads", "--test", "it", "for_parsers", "--", "--ignored"],
            cwd=ROOT, env={**os.environ, "TRIPHAMMER_SQL_FOLDER": folder}, stdout=subprocess.DEVNULL, check=True)
        seen = set()
        for at, _, files in sorted(os.walk(folder)):
            dialect = os.path.relpath(at, folder).split(os.sep)[0]
            for file in sorted(files):
                with open(os.path.join(at, file), encoding="utf-8") as text:
                    for statement in statements(text.read(), dialect):
                        if (dialect, statement) in seen:
                            continue
                        seen.add((dialect, statement))
                        try:
                            sqlfluff.parse(statement, dialect=dialect)
                            parsed += 1
                        except sqlfluff.api.simple.APIParsingError as error:
                            wrong.append((dialect, os.path.relpath(os.path.join(at, file), folder), error, statement))
    for dialect, file, error, statement in wrong:
        print(f"{dialect}: {file}: {str(error)[:500]}")
        if options.show:
            print(statement)
    print(f"sqlfluff {VERSION}: {parsed} statements parse, {len(wrong)} do not")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    try:
        import sqlfluff  # noqa: F401
    except ImportError:
        installed()
    main()
