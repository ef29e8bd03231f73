"""The packages of Python: wheels of the stable interface, and the source distribution."""

import pathlib
import re
import tempfile
import zipfile

from .build import GLIBC, environment
from .common import DIST, ROOT, TARGET, Stop, epoch, run

# Numbers of processors in the header of ELF files.
MACHINES = {"x86_64": 62, "aarch64": 183}
# What an installed package must do.
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


def maturin(command, target, *options):
    """Runs maturin; returns the file that it made."""
    compilers = environment(target)
    more = {"CARGO": str(ROOT / "tools/release/cargo-zig.sh"), "GLIBC_TARGET": f"{target.triple}.{GLIBC}",
            "COMPILE_EPOCH": compilers["SOURCE_DATE_EPOCH"], "SOURCE_DATE_EPOCH": str(epoch())}
    DIST.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="wheel-", dir=TARGET) as folder:
        run("maturin", command, *options, "--out", folder, cwd=ROOT / "python", env={**compilers, **more})
        [file] = pathlib.Path(folder).iterdir()
        return file.rename(DIST / file.name)


def wheel(target):
    """Builds the wheel for a target, and checks it."""
    label = f"manylinux_{GLIBC.replace('.', '_')}"
    file = maturin("build", target, "--release", "--locked", "--target", target.triple, "--compatibility", label)
    examined(file, target.machine)
    return file


def source(target):
    """Packs the source distribution."""
    return maturin("sdist", target)


def examined(wheel, machine):
    """Checks that the module of a wheel is for the processor and the versions of Python and glibc that its name promises."""
    with zipfile.ZipFile(wheel) as archive:
        [module] = [name for name in archive.namelist() if name.endswith(".so")]
        code = archive.read(module)
    found = re.fullmatch(r"triphammer-[^-]+-cp39-abi3-manylinux_(\d+)_(\d+)_(\w+)\.whl", wheel.name)
    if not found or found[3] != machine or not module.endswith(".abi3.so"):
        raise Stop(f"{wheel.name}: not a wheel of the stable interface for glibc on {machine}")
    if int.from_bytes(code[18:20], "little") != MACHINES[machine]:
        raise Stop(f"{wheel.name}: {module} is for another processor than {machine}")
    needed = max(tuple(map(int, version.split(b"."))) for version in re.findall(rb"GLIBC_(\d+\.\d+)\0", code))
    if needed > (int(found[1]), int(found[2])):
        raise Stop(f"{wheel.name}: {module} needs glibc {needed[0]}.{needed[1]}")
