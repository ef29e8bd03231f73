#!/usr/bin/env python3
"""Tests the Python package: builds it in the profile of the other tests, installs it into a virtual environment in the
target folder, and runs its tests there.

    tools/test-python.py [ARGUMENTS OF PYTEST]

The packages that the tests need are downloaded once. TRIPHAMMER_PYTHON names another interpreter, 3.9 or later.
"""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGE = os.path.join(ROOT, "python")
TARGET = os.path.abspath(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")))
# The tests take a minute on two cores.
TESTS_MAX_S = 900


def main():
    interpreter = os.environ.get("TRIPHAMMER_PYTHON", "python3")
    version = subprocess.run([interpreter, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], check=True,
                             capture_output=True, text=True).stdout.strip()
    venv = os.path.join(TARGET, f"python-{version}")
    inside = os.path.join(venv, "bin", "python")
    if not os.path.exists(inside):
        run([interpreter, "-m", "venv", venv])
    # Quick if all are there.
    packages = ["maturin>=1.9,<2", "ipykernel", "mypy", "nbclient", "nbformat", "pandas", "pyarrow", "pytest"]
    run([inside, "-m", "pip", "install", "--quiet", *packages])
    path = os.path.join(venv, "bin") + os.pathsep + os.environ["PATH"]
    environment = {**os.environ, "VIRTUAL_ENV": venv, "PATH": path}
    run([os.path.join(venv, "bin", "maturin"), "develop", "--quiet"], cwd=PACKAGE, env=environment)
    run([inside, "-m", "pytest", "-q", *sys.argv[1:]], cwd=PACKAGE, env=environment, timeout=TESTS_MAX_S)


def run(command, **options):
    done = subprocess.run(command, **options)
    if done.returncode != 0:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
