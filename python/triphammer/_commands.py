"""The functions: one for each command, with the settings that the program declares for it."""

from __future__ import annotations

import json

from . import _native
from ._arguments import documented, given, text
from ._job import Job


def start(kind, *positional, **settings):
    """Starts a job of any kind, such as ``"profile"``, and returns its handle without waiting."""
    job = Job(kind, given(kind, positional, settings))
    job._start()
    return job


def preview(kind, *positional, **settings):
    """Reads every setting of a job without running it, as ``--show-spec`` does. Returns records with ``name``,
    ``value`` and ``source``; for a comparison that makes runs, a list of them per side."""
    from ._record import Record

    lists = json.loads(_native.Job(kind, given(kind, positional, settings)).preview())
    lists = [[Record(setting) for setting in one] for one in lists]
    return lists[0] if len(lists) == 1 else lists


def _job(kind):
    @documented(kind, "Waits for the end and returns the result. Ctrl-C stops the job in an orderly way.")
    def function(*positional, **settings):
        return start(kind, *positional, **settings).result()

    return function


build = _job("build")
check = _job("check")
drill = _job("drill")
isolation = _job("isolation")
drop = _job("drop")
profile = _job("profile")
capacity = _job("capacity")
compare = _job("compare")
matrix = _job("matrix")


@documented("run", "Returns the handle of the run, which has started: see `triphammer.Job`.")
def run(*positional, **settings):
    return start("run", *positional, **settings)


@documented("doctor", "Returns the examination; `good` is false if something is wrong.")
def doctor(*positional, **settings):
    from ._job import warn
    from ._record import document

    found, good, warnings = _native.doctor(given("doctor", positional, settings))
    for warning in warnings:
        warn(warning)
    return document("doctor", json.loads(found), good=good)


@documented("history", "Returns the history; with `fail_if_slower`, `good` is false if the last change was for the worse.")
def history(*positional, **settings):
    from ._record import document

    found, good = _native.history(given("history", positional, settings))
    return document("history", json.loads(found), good=good)


@documented("jobs", "Returns records, the newest first.")
def jobs(*positional, **settings):
    from ._record import Record

    return [Record(job) for job in json.loads(_native.jobs(given("jobs", positional, settings)))]


def job(which="last", *, store=None):
    """Returns the result of a stored job, by its number, ``"last"``, or its handle or earlier result; ``None`` for a job
    that left none, such as one that is running. ``store`` is the file of the job store, by default the user's."""
    from ._record import document

    store = None if store is None else text("store", store)
    number, kind, found, good = _native.load(store, text("which", which))
    if found is None:
        return None
    return document(kind, json.loads(found), good=good, job=number, store=store)
