"""The tools that make releases, in pinned versions. Each is installed into the user's cache once."""

import os
import pathlib
import shutil
import sys

from .common import CACHE, Stop, run

REQUIREMENTS = pathlib.Path(__file__).parent / "requirements.txt"
NFPM = "2.48.0"
CYCLONEDX = "0.5.9"


def python_tools():
    """The folder of programs from PyPI."""
    folder = CACHE / "dist-python"
    installed = folder / REQUIREMENTS.name
    if not installed.exists() or installed.read_text() != REQUIREMENTS.read_text():
        shutil.rmtree(folder, ignore_errors=True)
        run(sys.executable, "-m", "venv", folder)
        run(folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS)
        shutil.copy(REQUIREMENTS, installed)
    return folder / "bin"


def nfpm():
    """The packer of Debian and RPM packages."""
    program = CACHE / f"nfpm-{NFPM}" / "nfpm"
    if not program.exists():
        if not shutil.which("go"):
            raise Stop("nfpm, which makes the Debian and RPM packages, is compiled by Go: install Go 1.26 or later")
        environment = {**os.environ, "GOBIN": str(program.parent), "GOFLAGS": "-trimpath"}
        run("go", "install", f"github.com/goreleaser/nfpm/v2/cmd/nfpm@v{NFPM}", env=environment)
    return program


def cyclonedx():
    """The writer of the list of parts."""
    root = CACHE / f"cargo-cyclonedx-{CYCLONEDX}"
    program = root / "bin/cargo-cyclonedx"
    if not program.exists():
        cargo = os.environ.get("CARGO", "cargo")
        environment = {name: value for name, value in os.environ.items() if name != "CARGO_TARGET_DIR"}
        run(cargo, "install", "--locked", "--version", CYCLONEDX, "--root", root, "cargo-cyclonedx", env=environment)
    return program
