"""The command `jobs` of HammerDB's command line, on the job store."""

from __future__ import annotations

import json
import math
import os
from xml.etree import ElementTree

import triphammer

#: Most jobs that are read for a list.
_JOBS_MAX = 1000
#: Charts that HammerDB has of a job; here they are parts of one report.
_CHARTS = ("result", "timing", "tcount", "metrics")
#: What HammerDB calls the transactions of TPROC-C: programs look for these names.
_PROCEDURES = {"new_order": "NEWORD", "payment": "PAYMENT", "delivery": "DELIVERY", "stock_level": "SLEV",
               "order_status": "OSTAT"}


class Jobs:
    """A part of a session, which has the options, prints, and knows the lines of a result."""

    def jobs(self, which="", what="", other="", *_):
        commands = {"": self._ids, "joblist": self._list, "result": self._results, "timestamp": self._timestamps,
                    "format": self._format, "disable": self._disable, "profileid": self._profile_id,
                    "profile": self._profile, "diff": self._diff}
        if which in commands:
            return commands[which](what, other)
        # `vurun` returns more than the number.
        which = which.rpartition("jobid=")[2].strip()
        try:
            result = triphammer.job(int(which, 16))
        except (ValueError, triphammer.Error):
            return self._say(f"Jobid {which} does not exist")
        if result is None:
            return self._say(f"Jobid {which} has no result")
        return self._chart(result, other) if what == "getchart" else self._of_job(result, which, what)

    job = jobs

    def label(self):
        """The label of runs of the performance profile that was set; ``None`` without one."""
        number = self._generic["commandline"]["jobs_profile_id"]
        return None if number == "0" else _label(number)

    # These two return what they find, so that a script can use it.

    def _ids(self, *_):
        return self._formatted([identifier(job.id) for job in _stored()])

    def _list(self, *_):
        return " ".join(identifier(job.id) for job in _stored())

    def _results(self, *_):
        found = {}
        for job in _stored(kind="run"):
            result = triphammer.job(job.id)
            if result is not None and "window" in result:
                found[identifier(job.id)] = f"{round(result.primary_metric.value)} {result.primary_metric.name}"
        return self._show(found)

    def _timestamps(self, *_):
        return self._show({identifier(job.id): job.started_at for job in _stored()})

    def _format(self, form="", *_):
        if form.upper() not in ("TEXT", "JSON"):
            return self._say("Error: Usage: jobs format [ text | JSON ]")
        form = "JSON" if form.upper() == "JSON" else "text"
        self._generic["commandline"]["jobsoutput"] = form
        return self._say(f"Setting jobs output format to {form}")

    def _disable(self, switch="", *_):
        if switch not in ("0", "1"):
            return self._say("Usage: jobs disable [0|1]")
        if switch == "0":
            return self._say("Jobs are enabled")
        return self._say("Jobs stay enabled: they are always stored, in the file that TRIPHAMMER_STORE names")

    def _profile_id(self, number="", *_):
        options = self._generic["commandline"]
        if number == "":
            return self._say(f"Performance profile id is {options['jobs_profile_id']}")
        if number == "all":
            return self._show(_profile_ids())
        if not number.isdecimal():
            return self._refuse(f"the id of a performance profile is a number, or all, not {number}")
        options["jobs_profile_id"] = str(int(number))
        return self._say(f"Setting performance profile id to {int(number)}")

    def _profile(self, number="", *_):
        return self._show(_by_users(number))

    def _diff(self, base="", other="", *_):
        first, second = _by_users(base), _by_users(other)
        common = [users for users in first if users in second]
        if not common:
            return self._refuse(f"the performance profiles {base} and {other} have no number of virtual users in common")
        sums = [sum(profile[users]["NOPM"] for users in common) for profile in (first, second)]
        if not sums[0]:
            return self._refuse(f"the performance profile {base} has no throughput to compare with")
        return self._show({"virtual users": common, "ratio of NOPM": round(sums[1] / sums[0], 4)})

    def _of_job(self, result, which, what):
        """One part of a job. What only runs have is the report for other jobs."""
        parts = {"": result.text, "db": lambda: result.server.product, "bm": lambda: result.workload.title,
                 "timestamp": lambda: result.started_at,
                 "dict": lambda: {setting.name: setting.value for setting in result.settings},
                 "status": lambda: [f"0 {line}" for line in (result.text().splitlines()[0], *reasons(result))],
                 "system": lambda: result.host.to_dict(),
                 "metrics": lambda: f"CPU and I/O are in the report: triphammer report {result.job}",
                 "save": lambda: _saved(which, result.to_json()),
                 "delete": lambda: "Jobs are not deleted: they stay in the file that TRIPHAMMER_STORE names"}
        of_run = {"timing": lambda: _timing(result), "tcount": lambda: _counts(result),
                  "result": lambda: [which, result.started_at, *self._lines(result, result.spec.users)]}
        # Number 1 is the virtual user that prints results.
        part = "result" if what == "1" else what
        if part.isdigit():
            return self._say(f"Virtual user {part} has no output of its own")
        if part in of_run:
            found = of_run[part]() if "window" in result else result.text()
        elif part in parts:
            found = parts[part]()
        else:
            return self._say(f"Usage: jobs jobid [{'|'.join([*filter(None, parts), *of_run, 'vuid'])}]")
        # A text is shown as it is in both forms.
        is_value = part in ("db", "bm", "timestamp") or not isinstance(found, str)
        return self._show(found) if is_value else self._say(found)

    @staticmethod
    def _chart(result, kind):
        """The HTML report, which a script writes where it wants."""
        if kind not in _CHARTS:
            raise triphammer.Error(f"the chart of a job is one of {', '.join(_CHARTS)}, not {kind or 'empty'}")
        return result.report("html")

    def _show(self, value):
        return self._say(self._formatted(value))

    def _formatted(self, value):
        """A value in the form that was set."""
        if self._generic["commandline"]["jobsoutput"] == "JSON":
            return json.dumps(value, indent=2, ensure_ascii=False)
        if isinstance(value, dict):
            return "\n".join(f"{key} {_in_line(one)}" for key, one in value.items())
        return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def identifier(number):
    """A job number in HammerDB's form: 24 hexadecimal digits."""
    return f"{number or 0:024X}"


def _in_line(value):
    return " ".join(f"{key} {one}" for key, one in value.items()) if isinstance(value, dict) else str(value)


def _label(number):
    return f"hammerdb-profile-{number}"


def _stored(kind=None, **which):
    return [job for job in triphammer.jobs(limit=_JOBS_MAX, **which) if kind in (None, job.kind)]


def _profile_ids():
    """The ids of all performance profiles that have a run."""
    labels = [job.label or "" for job in _stored(kind="run")]
    ids = {label[len(_label("")):] for label in labels if label.startswith(_label(""))}
    return sorted(int(one) for one in ids if one.isdecimal())


def _by_users(number):
    """Mean figures of the runs of a performance profile, by number of virtual users."""
    runs = {}
    for job in _stored(kind="run", label=_label(number)):
        result = triphammer.job(job.id)
        if result is not None and "window" in result:
            runs.setdefault(result.spec.users, []).append(result)
    if not runs:
        raise triphammer.Error(f"no run has the performance profile id {number}")

    def mean(values):
        return round(sum(values) / len(values))

    return {users: {"NOPM": mean([one.primary_metric.value for one in found]), "TPM": mean(list(map(tpm, found)))}
            for users, found in sorted(runs.items())}


def tpm(result):
    """Transactions per minute as the server counted them, or else as the client did."""
    return result.tpm_client if result.tpm_server is None else result.tpm_server


def reasons(result):
    """Why a result is not good, a line for each reason, in the words of the test report, which has all of them."""
    report = result.junit()
    cases = ElementTree.fromstring(report).iter("testcase") if report else ()
    failed = [(case.get("name"), failure.get("message")) for case in cases for failure in case.iter("failure")]
    return [f"{name}: no, {message}".splitlines()[0] for name, message in failed]


def _timing(result):
    """Times of each type, with HammerDB's names. What failed is not part of them."""
    types = [type for type in result.window.types if type.response is not None and type.response.count]
    totals = {type.name: type.response.mean_us * type.response.count for type in types}
    return {_PROCEDURES.get(type.name, type.name.upper()): _times(result, type, totals[type.name] / sum(totals.values()))
            for type in types}


def _times(result, type, share):
    times, histogram = type.response, result.histogram(type.name)
    mean = times.mean_us
    variance = sum((us - mean) ** 2 * count for us, count in zip(histogram.us, histogram.counts)) / histogram.count
    us = {"min": times.min_us, "avg": mean, "max": times.max_us, "total": mean * times.count, "p99": times.p99_us,
          "p95": times.p95_us, "p75": histogram.percentile(75), "p50": times.p50_us, "p25": histogram.percentile(25)}
    milliseconds = {f"{name}_ms": f"{value / 1_000:.3f}" for name, value in us.items()}
    return {"elapsed_ms": f"{result.window.seconds * 1_000:.1f}", "calls": str(times.count), **milliseconds,
            "sd": f"{math.sqrt(variance) / 1_000:.3f}", "ratio_pct": f"{share * 100:.3f}"}


def _counts(result):
    series = result.series()
    ended = zip(series["second"], series["all.committed"], series["all.rolled_back"])
    return {f"{result.server.product} tpm": {int(s): round((c + r) * 60) for s, c, r in ended}}


def _saved(which, text):
    """Writes the file that HammerDB's `save` does; returns what happened."""
    path = os.path.join(os.environ["TMP"], f"hdb_{which}.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return f"Success ... wrote job {which} to {path}"
