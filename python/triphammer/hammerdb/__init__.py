"""Runs scripts that were written for HammerDB's command line: ``triphammer hammerdb SCRIPT``."""

from __future__ import annotations

import argparse
import os
import sys

import triphammer


def main(arguments):
    """Runs a script, or converts it; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="triphammer hammerdb",
        description="Runs a script for HammerDB's command line, in Tcl or Python, on PostgreSQL, MySQL and MariaDB.")
    parser.add_argument("--convert", action="store_true",
                        help="run nothing, but print the job file of what the script would run")
    parser.add_argument("script", metavar="SCRIPT", help="file that ends with .tcl or .py")
    parser.add_argument("arguments", metavar="ARGUMENT", nargs="*", help="arguments of the script")
    given = parser.parse_args(arguments)
    is_python = given.script.endswith(".py")
    if not is_python and not given.script.endswith(".tcl"):
        return _failed(f"{given.script}: the name of a script ends with .tcl or .py")
    if not os.path.isfile(given.script):
        return _failed(f"{given.script}: no such file")
    from .interpreters import Interpreter
    from .session import Quit

    def run(interpreter):
        run = interpreter.run_python if is_python else interpreter.run_tcl
        run(given.script, given.arguments)

    code, interpreter = 0, None
    try:
        if given.convert:
            from .convert import job_file

            print(job_file(given.script, run), end="")
        else:
            interpreter = Interpreter()
            run(interpreter)
    except Quit as end:
        code = end.args[0]
    except KeyboardInterrupt:
        return 130
    except (triphammer.Error, OSError) as error:
        return _failed(f"{given.script}: {error}")
    # A failed run is a failure even where the script does not look at it.
    return code or int(interpreter is not None and interpreter.session.failed)


def _failed(text):
    print(f"error: {text}", file=sys.stderr)
    return 2
