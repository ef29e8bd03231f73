"""Job files of what scripts would run: ``triphammer hammerdb --convert SCRIPT``."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import time

import triphammer

from . import job_files, steps
from .interpreters import Interpreter
from .jobs import identifier
from .session import Quit, Session

#: Swallows what the script prints; what it writes to files stays. Passes over pauses: nothing runs that a script could wait
#: for. A script that waits for events ends there.
_QUIET = """
rename after ::triphammer_after
proc after {what args} {
    if {$what in {cancel info}} { return [::triphammer_after $what {*}$args] }
    if {[llength $args]} {
        # A script that asks to be called again and again is not.
        if {[incr ::triphammer_nested] <= 20} { uplevel #0 [concat {*}$args] }
        incr ::triphammer_nested -1
    }
}
proc vwait args { quit }
rename puts ::triphammer_puts
proc puts args {
    set rest [expr {[lindex $args 0] eq "-nonewline" ? [lrange $args 1 end] : $args}]
    if {[llength $rest] > 1 && [lindex $rest 0] ni {stdout stderr}} { ::triphammer_puts {*}$args }
}
"""


def job_file(script, run):
    """The text of the job file. ``run`` runs the script in the interpreter that it receives."""
    with tempfile.TemporaryDirectory(prefix="triphammer-") as folder:
        # Where the script writes job numbers, which are not those of jobs.
        before, os.environ["TMP"] = os.environ.get("TMP"), folder
        slept, time.sleep = time.sleep, lambda _: None
        try:
            interpreter = Interpreter(Recorder)
            interpreter.eval(_QUIET)
            with contextlib.redirect_stdout(io.StringIO()):
                run(interpreter)
        except Quit as end:
            if end.args[0] != 0:
                raise
        finally:
            time.sleep = slept
            os.environ.pop("TMP") if before is None else os.environ.update(TMP=before)
    return _text(os.path.basename(script), interpreter.session)


class Recorder(Session):
    """Notes what a script would do."""

    def __init__(self, puts):
        super().__init__(puts)
        #: Settings by command, each a list without repetitions.
        self.noted = {}
        #: Options by the URL of their target.
        self.targets = {}

    def _note(self, command, settings):
        given = self._given()
        self.targets.setdefault(given.target(with_password=False), given)
        settings = {name: value for name, value in settings.items() if value is not None and name != "create_database"}
        found = self.noted.setdefault(command, [])
        if settings not in found:
            found.append(settings)

    def buildschema(self):
        self._note("build", self._given().build())
        self.clearscript()
        self._is_complete = True
        return f"Schema Build jobid={identifier(0)}"

    def checkschema(self):
        self._note("check", {"workload": self._given().build()["workload"]})

    def deleteschema(self):
        self._note("drop", {"workload": self._given().build()["workload"]})

    def vurun(self):
        if not self._users:
            self.vucreate()
        if self._script.is_job_file:
            raise triphammer.Error(f"the script runs {self._script.file}, which is a job file already")
        self._note("run", {**self._script.settings(self._given(), self._users), "label": self.label()})
        self._each("FINISH SUCCESS")
        # A script that waits for the end of a run goes on.
        self._is_complete = True
        return f"Benchmark Run jobid={identifier(0)}"

    def steprun(self):
        self._note("profile", steps.profile(self._given().run(self._configured()), self._configured()))
        return f"Benchmark Run jobid={identifier(0)}"

    def jobs(self, which="", what="", *_):
        """There are no jobs."""
        if which == "profileid":
            self._profile_id(what)

    def savescript(self, *_):
        """Files that the script would write are not part of a job file."""

    datagenrun = savescript
    job = jobs


def _text(script, session):
    commands = dict(session.noted)
    if not commands:
        raise triphammer.Error("the script builds, checks, runs and deletes nothing, so there is nothing to convert")
    if len(session.targets) > 1:
        raise triphammer.Error(f"the script uses several databases, a job file one: {', '.join(session.targets)}")
    _as_profile(commands)
    for command, found in commands.items():
        if len(found) > 1:
            raise triphammer.Error(f"the script has {len(found)} different settings for `{command}`, a job file one: split it")
    tables = {command: found[0] for command, found in commands.items()}
    [given] = session.targets.values()
    return job_files.text(f"What {script} runs.", given, tables)


def _as_profile(commands):
    """Runs that differ only in their number of virtual users are the levels of a profile."""
    runs = commands.get("run", [])
    others = [{name: value for name, value in run.items() if name != "vus"} for run in runs]
    if len(runs) > 1 and all("vus" in run for run in runs) and all(other == others[0] for other in others):
        del commands["run"]
        commands["profile"] = [{**others[0], "vus": [run["vus"] for run in runs]}]

