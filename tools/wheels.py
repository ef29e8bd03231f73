#!/usr/bin/env python3
"""Builds the packages of Python: wheels for this machine and, with --arm64, for Linux on arm64, and the source
distribution. Installs what can run here into fresh virtual environments, and tries it.

    tools/wheels.py [--python python3.9 --python python3.13] [--arm64] [--from-source]

They are in target/wheels. The wheel for arm64 is cross-compiled: it is not run, but its module is examined. It needs
`rustup target add aarch64-unknown-linux-gnu` and, on Debian, gcc-aarch64-linux-gnu. --from-source also compiles the
source distribution.
"""

import argparse
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
WHEELS = TARGET / "wheels"
ARM64 = "aarch64-unknown-linux-gnu"
# Numbers of processors in the header of ELF files.
MACHINES = {"x86_64": 62, "aarch64": 183}
TRY = """
import triphammer
run = triphammer.run("null:", workload="tpc-b", rampup="0s", duration="1s")
seconds = [second.second for second in run]
assert run.result().good and seconds, run.result().text()

class Selects(triphammer.Workload):
    @triphammer.transaction
    async def select(self, session):
        assert await session.query("SELECT ?", (1,)) == [(1,)]

assert triphammer.run("sqlite:x.sqlite", workload=Selects, vus=1, transactions=100).result().run.total.committed == 100
print("ran", triphammer.__version__)
"""


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--python", action="append", help="an interpreter to try; can be repeated")
    arguments.add_argument("--arm64", action="store_true")
    arguments.add_argument("--from-source", action="store_true")
    given = arguments.parse_args()
    WHEELS.mkdir(parents=True, exist_ok=True)
    tools = TARGET / "python-tools"
    if not tools.exists():
        run(sys.executable, "-m", "venv", tools)
    run(tools / "bin/pip", "install", "--quiet", "maturin>=1.9,<2")
    maturin = [tools / "bin/maturin"]
    wheel = built(maturin, "build", "--release")
    examined(wheel, platform.machine())
    source = built(maturin, "sdist")
    for interpreter in given.python or [sys.executable]:
        tried(interpreter, wheel)
    if given.from_source:
        tried((given.python or [sys.executable])[0], source)
    if given.arm64:
        linker = {"CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER": "aarch64-linux-gnu-gcc",
                  "CC_aarch64_unknown_linux_gnu": "aarch64-linux-gnu-gcc"}
        examined(built(maturin, "build", "--release", "--target", ARM64, env={**os.environ, **linker}), "aarch64")
        print("  cross-compiled, not run")


def built(maturin, command, *options, env=None):
    """Runs maturin; returns the file that it made, and prints its size."""
    with tempfile.TemporaryDirectory(prefix="wheel-", dir=WHEELS) as folder:
        run(*maturin, command, *options, "--out", folder, cwd=ROOT / "python", env=env)
        [file] = pathlib.Path(folder).iterdir()
        file = file.rename(WHEELS / file.name)
    print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB", flush=True)
    return file


def examined(wheel, machine):
    """Checks that the module of a wheel is for the processor and the versions of Python and glibc that its name promises."""
    with zipfile.ZipFile(wheel) as archive:
        [module] = [name for name in archive.namelist() if name.endswith(".so")]
        code = archive.read(module)
    found = re.fullmatch(r"triphammer-[^-]+-cp39-abi3-manylinux_(\d+)_(\d+)_(\w+)\.whl", wheel.name)
    if not found or found[3] != machine or not module.endswith(".abi3.so"):
        sys.exit(f"{wheel.name}: not a wheel of the stable interface for glibc on {machine}")
    if int.from_bytes(code[18:20], "little") != MACHINES[machine]:
        sys.exit(f"{wheel.name}: {module} is for another processor than {machine}")
    needed = max(tuple(map(int, version.split(b"."))) for version in re.findall(rb"GLIBC_(\d+\.\d+)\0", code))
    if needed > (int(found[1]), int(found[2])):
        sys.exit(f"{wheel.name}: {module} needs glibc {needed[0]}.{needed[1]}")
    print(f"  {module}: {machine}, needs glibc {needed[0]}.{needed[1]}", flush=True)


def tried(interpreter, package):
    """Installs a package into a fresh environment, and uses it there."""
    with tempfile.TemporaryDirectory(prefix="triphammer-venv-") as folder:
        run(interpreter, "-m", "venv", folder)
        inside = pathlib.Path(folder, "bin")
        run(inside / "pip", "install", "--quiet", "--disable-pip-version-check", package)
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite")}
        version = run(inside / "python", "--version", capture_output=True, text=True).stdout.strip()
        ran = run(inside / "python", "-c", TRY, cwd=folder, env=environment, capture_output=True, text=True).stdout.strip()
        program = run(inside / "triphammer", "--version", capture_output=True, text=True).stdout.strip()
        print(f"  {version}: {package.suffix[1:]} {ran}; {program}", flush=True)


def run(*command, **options):
    done = subprocess.run([str(one) for one in command], **options)
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with {done.returncode}\n{done.stderr or ''}")
    return done


if __name__ == "__main__":
    main()
