"""The command line: ``triphammer`` and ``python -m triphammer``."""

import sys

from ._native import main as _main


def main() -> int:
    """Runs the program with the arguments of the process; returns the exit code."""
    if sys.argv[1:2] == ["hammerdb"]:
        from .hammerdb import main as hammerdb

        return hammerdb(sys.argv[2:])
    return _main(["triphammer", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
