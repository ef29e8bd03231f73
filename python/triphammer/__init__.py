"""Database load testing and benchmarking.

>>> import triphammer
>>> triphammer.build("sqlite:shop.sqlite", scale=1)
>>> result = triphammer.run("sqlite:shop.sqlite", duration="10s").result()
>>> result.primary_metric.value

Every function does what the command of its name does. Settings are keyword arguments with the names of the
command line, with underscores for hyphens; see ``help(triphammer.run)``.
"""

import sys as _sys

try:
    from . import _native
except ImportError:
    from ._errors import check_compiled as _check_compiled

    _check_compiled(__path__[0])
    raise
from ._commands import (
    build,
    capacity,
    check,
    compare,
    doctor,
    drill,
    drop,
    history,
    isolation,
    job,
    jobs,
    matrix,
    preview,
    profile,
    run,
    start,
)
from ._errors import Cancelled, DatabaseError, Error, HostError, SettingError
from ._html import Chart, chart
from ._job import Job
from ._native import VERSION as __version__
from ._processes import command as _command
from ._workload import Session, Workload, transaction

# Runs by several hosts start processes: this program again, and a bridge to Ray.
if _sys.executable:
    _native.use_programs(_command("triphammer"), _command("triphammer._ray"))

__all__ = [
    "Cancelled",
    "Chart",
    "DatabaseError",
    "Error",
    "HostError",
    "Job",
    "Session",
    "SettingError",
    "Workload",
    "build",
    "capacity",
    "chart",
    "check",
    "compare",
    "doctor",
    "drill",
    "drop",
    "history",
    "isolation",
    "job",
    "jobs",
    "matrix",
    "preview",
    "profile",
    "run",
    "start",
    "transaction",
]
