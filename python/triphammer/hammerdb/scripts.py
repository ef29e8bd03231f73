"""What virtual users run: the workload of the options (`loadscript`), or a file (`customscript`)."""

from __future__ import annotations

import os
import re
import tempfile

import triphammer

from . import job_files
from .settings import minutes

#: Files that take the place of HammerDB's driver scripts, by the end of their names.
_KINDS = {".sql": "script", ".lua": "sysbench", ".py": "python"}
_FILES = ("a job file (.toml) as savescript writes it, a workload file (.toml), pgbench's SQL (.sql), a script of sysbench "
          "(.lua) or a workload in Python (.py)")
#: What a custom script has from the options.
_LENGTHS = ("rampup", "duration", "transactions")
#: Lengths of a job file that contradict those of a monitor.
_REPLACED = {"timed": ("transactions", "until-ci"), "test": ("rampup", "duration", "until-ci")}


class Script:
    """A script that is loaded."""

    def __init__(self, file=None):
        self.file = file
        #: Whether a custom script is to be timed, or to do a number of transactions; ``None`` unless that is given.
        self.monitor = None
        #: Where a copy of a job file is, while it is loaded; ``None`` without one.
        self._folder = None
        self._own = {} if file is None else _own(file)

    def settings(self, given, users):
        """The settings of a run with this number of virtual users."""
        found = given.run(users)
        if self.file is None:
            return found
        lengths = self._lengths(given, found)
        if not self.is_job_file:
            return {"vus": users, **lengths, **self._own}
        with open(self.file, encoding="utf-8") as text:
            text = text.read()
        file = self._without(text, _REPLACED[self.monitor]) if self.monitor and lengths else self.file
        # Terminals are not virtual users: such a file has the numbers of both.
        is_keyed = job_files.setting(text, "load") == "keyed"
        return {"vus": None if is_keyed else users, **lengths, "job_file": file}

    def _lengths(self, given, found):
        """What the options say about the length of a custom script. Those of TPROC-H say nothing."""
        if given.benchmark == "tpcc" and self.monitor == "test":
            return {"transactions": given["total_iterations"]}
        if given.benchmark == "tpcc" and self.monitor == "timed":
            return {name: minutes(name, given[name]) for name in ("rampup", "duration")}
        return {} if self.is_job_file else {name: found.get(name) for name in _LENGTHS}

    def _without(self, text, names):
        """The job file, or if it has these settings a copy without them: a call can change what a file gives, but not take
        it away."""
        kept = job_files.without(text, names)
        if kept == text:
            return self.file
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="triphammer-")
        copy = os.path.join(self._folder.name, os.path.basename(self.file))
        with open(copy, "w", encoding="utf-8") as file:
            file.write(kept)
        return copy

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
