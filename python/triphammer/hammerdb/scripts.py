"""What virtual users run: the workload of the options (`loadscript`), or a file (`customscript`)."""

from __future__ import annotations

import os
import re

import triphammer

#: Files that take the place of HammerDB's driver scripts, by the end of their names.
_KINDS = {".sql": "script", ".lua": "sysbench", ".py": "python"}
_FILES = ("a job file (.toml) as savescript writes it, a workload file (.toml), pgbench's SQL (.sql), a script of sysbench "
          "(.lua) or a workload in Python (.py)")
#: What a custom script has from the options.
_LENGTHS = ("rampup", "duration", "transactions")


class Script:
    """A script that is loaded."""

    def __init__(self, file=None):
        self.file = file
        #: Whether a custom script is to be timed, or to do a number of transactions; ``None`` unless that is given.
        self.monitor = None
        self._own = {} if file is None else _own(file)

    def settings(self, given, users):
        """The settings of a run with this number of virtual users."""
        found = given.run(users)
        if self.file is None:
            return found
        lengths = {name: found.get(name) for name in _LENGTHS}
        if self.monitor == "test":
            lengths = {"transactions": given["total_iterations"]}
        elif self.monitor is None and "job_file" in self._own:
            lengths = {}
        return {"vus": users, **lengths, **self._own}

    @property
    def is_job_file(self):
        """Whether its settings are those of a job file."""
        return "job_file" in self._own


def _own(file):
    if not os.path.isfile(file):
        raise triphammer.Error(f"{file or 'no file given'}: no such file")
    kind = os.path.splitext(file)[1]
    if kind in _KINDS:
        return {"workload": _KINDS[kind], "script": file}
    if kind != ".toml":
        raise triphammer.Error(f"{file}: a driver script of HammerDB is Tcl code against its own libraries, which are not "
                               f"here; use {_FILES}")
    with open(file, encoding="utf-8") as text:
        is_workload = re.search(r"^\s*\[\[\s*transactions\s*\]\]", text.read(), re.MULTILINE)
    return {"workload" if is_workload else "job_file": file}
