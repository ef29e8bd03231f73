#!/usr/bin/env python3
"""Builds the packages of Python, a wheel for this machine and the source distribution, and tries them in fresh virtual
environments.

    tools/wheels.py [--python python3.9 --python python3.13] [--from-source]

They are in target/dist. --from-source also compiles the source distribution, with the first interpreter. `tools/dist.py`
builds the same files, for other machines too.
"""

import argparse
import os
import pathlib
import platform
import sys
import tempfile

sys.dont_write_bytecode = True

from release import build, wheels
from release.common import Stop, output, run


def tried(interpreter, package):
    """Installs a package into a fresh environment, and uses it there."""
    with tempfile.TemporaryDirectory(prefix="triphammer-venv-") as folder:
        run(interpreter, "-m", "venv", folder)
        inside = pathlib.Path(folder, "bin")
        run(inside / "pip", "install", "--quiet", "--disable-pip-version-check", package)
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite")}
        version = output(inside / "python", "--version")
        ran = output(inside / "python", "-c", wheels.TRY, cwd=folder, env=environment)
        program = output(inside / "triphammer", "--version")
        print(f"  {version}: {package.suffix[1:]} {ran}; {program}", flush=True)


def make(interpreters, from_source):
    """Builds the packages and tries them."""
    [target] = [one for one in build.TARGETS if one.machine == platform.machine() and not one.static]
    wheel, source = wheels.wheel(target), wheels.source(target)
    for file in (wheel, source):
        print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB", flush=True)
    for interpreter in interpreters:
        tried(interpreter, wheel)
    if from_source:
        tried(interpreters[0], source)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", help="an interpreter to try; can be repeated")
    parser.add_argument("--from-source", action="store_true", help="also compile the source distribution")
    given = parser.parse_args()
    try:
        make(given.python or [sys.executable], given.from_source)
    except Stop as stop:
        sys.exit(str(stop))


if __name__ == "__main__":
    main()
