"""The commands of HammerDB's command line on a session's options and virtual users. They print what scripts and people
look for, and do their work with the package."""

from __future__ import annotations

import math
import os
import subprocess

import triphammer
from triphammer._processes import command as this

from . import job_files, options, owner, steps
from .jobs import Jobs, identifier, reasons, tpm
from .log import Log
from .percentiles import percentiles
from .scripts import Script
from .settings import Options, number

_BENCHMARKS = {"TPC-C": "tpcc", "TPROC-C": "tpcc", "TPC-H": "tpch", "TPROC-H": "tpch"}
_TITLES = {"tpcc": "TPC-C", "tpch": "TPC-H"}
#: Options of `vuset`, with their names among the generic options.
_VUSET = {"vu": "virtual_users", "delay": "user_delay", "repeat": "repeat_delay", "iterations": "iterations",
          "showoutput": "show_output", "logtotemp": "log_to_temp", "unique": "unique_log_name", "nobuff": "no_log_buffer",
          "timestamps": "log_timestamps"}
_TCSET = {"refreshrate": "tc_refresh_rate", "logtotemp": "tc_log_to_temp", "unique": "tc_unique_log_name",
          "timestamps": "tc_log_timestamps"}
_METSET = {"agent_hostname": "agent_hostname", "agent_id": "agent_id"}
#: How `print vuconf` names the options of virtual users.
_VUCONF = {"virtual_users": "Virtual Users", "user_delay": "User Delay(ms)", "repeat_delay": "Repeat Delay(ms)",
           "iterations": "Iterations", "show_output": "Show Output", "log_to_temp": "Log Output",
           "unique_log_name": "Unique Log Name", "no_log_buffer": "No Log Buffer", "log_timestamps": "Log Timestamps"}
#: Longest time between two lines of the transaction counter, in seconds.
_REFRESH_MAX_S = 59
_DGSET = {"vu": "gen_num_vu", "warehouse": "gen_count_ware", "scale_fact": "gen_scale_fact", "directory": "gen_directory"}


class Quit(Exception):
    """The script ends here, with this exit code."""


class Session(Jobs):
    """What `hammerdbcli` keeps between commands."""

    #: The commands that scripts may use.
    COMMANDS = ("buildschema checkschema clearscript customscript custommonitor datagenrun dbset deleteschema dgset diset "
                "giset job jobs librarycheck loadscript metset metstart metstatus metstop numberOfCPUs numberOfWHs print "
                "quit runtimer savescript steprun tcset tcstart tcstatus tcstop vucomplete vucreate vudestroy vurun "
                "vuset vustatus waittocomplete").split()

    def __init__(self, puts):
        self._puts = puts
        self._database, self._benchmark = None, "tpcc"
        self._options = {prefix: options.of_database(prefix) for prefix in ("pg", "mysql", "maria")}
        self._generic = options.generic()
        #: The script that is loaded.
        self._script = None
        self._users = 0
        self._status = {}
        #: The log of the virtual users, if they have one.
        self._log = None
        #: Whether what the virtual users did last has ended. (Those of a build are gone then.)
        self._is_complete = False
        self._counts = self._meters = False
        #: Whether a run of the script ended with a result that is not good.
        self.failed = False

    # Settings

    def dbset(self, what="", value=""):
        if what == "db":
            if value not in options.NAMES:
                return self._say(f"Unknown prefix {value}, choose one from {' '.join(options.NAMES)}")
            if value not in self._options:
                return self._refuse(f"{options.NAMES[value]} is not among the databases of triphammer that HammerDB's "
                                    f"scripts can use: {', '.join(self._options)}")
            self._database = value
            self._generic["benchmark"]["rdbms"] = options.NAMES[value]
            return self._say(f"Database set to {options.NAMES[value]}")
        if what == "bm":
            value = value.upper()
            if value not in _BENCHMARKS:
                return self._say(f"Unknown benchmark {value}, choose one from {' '.join(_BENCHMARKS)}")
            self._benchmark = _BENCHMARKS[value]
            self._generic["benchmark"]["bm"] = _TITLES[self._benchmark]
            return self._say(f"Benchmark set to {value} for {self._name()}")
        return self._say("Usage: dbset [db|bm] value")

    def diset(self, *given):
        if len(given) != 3:
            return self._say("Error: Invalid number of arguments\nUsage: diset dict key value")
        dictionary, key, value = given
        if key.endswith("_driver"):
            if value not in ("test", "timed"):
                return self._say('Error: Driver script must be either "test" or "timed"')
            if self._script is not None and self._dictionaries().get(dictionary, {}).get(key, value) != value:
                self._say("Clearing Script, reload script to activate new setting")
                self.clearscript()
        return self._change(self._dictionaries(), dictionary, key, value, self._name())

    def giset(self, *given):
        if len(given) != 3:
            return self._say("Error: Invalid number of arguments\nUsage: giset dict key value")
        return self._change(self._generic, *given, "generic")

    def vuset(self, what="", value=""):
        if self._users:
            return self._say("Error: Virtual Users exist, destroy with vudestroy before changing settings")
        if what == "vu" and value == "vcpu":
            value = self.numberOfCPUs()
        if what == "vu" and not str(value).isdigit():
            return self._say("The number of virtual users must be an integer or vcpu")
        if what == "iterations" and str(value) != "1":
            self._say("Virtual Users run the script once, whatever the iterations are: repeat vurun instead")
        return self._set(_VUSET, "virtual_user_options", what, value)

    def tcset(self, what="", value=""):
        if what == "refreshrate":
            if not value.isdigit() or not 1 <= int(value) <= _REFRESH_MAX_S:
                self._say("Refresh rate must be an integer more than 0 secs and less than 60 secs")
                value = "10"
            self._say(f"Transaction Counter refresh rate set to {value}")
        return self._set(_TCSET, "transaction_counter", what, value)

    def metset(self, what="", value=""):
        return self._set(_METSET, "metrics", what, value)

    def dgset(self, what="", value=""):
        return self._set(_DGSET, "datageneration", what, value)

    def _set(self, names, dictionary, what, value):
        if what not in names:
            return self._say(f"Unknown option {what}, choose one from {' '.join(names)}")
        self._generic[dictionary][names[what]] = str(value)
        return None

    def _change(self, dictionaries, dictionary, key, value, owner):
        suffix = f" for {owner}"
        found = dictionaries.get(dictionary)
        if found is None:
            return self._say(f"Dictionary \"{dictionary}\"{suffix} does not exist, choose one from {' '.join(dictionaries)}")
        if key not in found:
            others = [name for name, other in dictionaries.items() if key in other]
            where = f'is in the "{others[0]}" dictionary' if others else f"cannot be found in any {owner} dictionary"
            return self._say(f"Dictionary \"{dictionary}\"{suffix} exists but key \"{key}\" doesn't, key \"{key}\" {where}")
        old = found[key]
        if old == value:
            value = _open(key, value)
            return self._say(f"Value {value} for {dictionary}:{key} is the same as existing value {value}, no change made")
        found[key] = value
        self._say(f"Changed {dictionary}:{key} from {_open(key, old)} to {_open(key, value)}{suffix}")
        why = options.without_effect(self._database or "", dictionary, key)
        if why is not None and value.lower() not in ("false", "0"):
            self._say(f"{key} has no effect here: {why}")
        return None

    # Schemas

    def buildschema(self):
        given = self._given()
        settings = given.build()
        self.clearscript()
        self._say(_building(given, settings))
        if given.superuser is not None:
            self._say(owner.create(given))
        job = triphammer.start("build", given.target(), **settings)
        built = job.result()
        self._tell(1, f"{built.outcome}: {built.rows} rows")
        self._finished()
        return f"Schema Build jobid={identifier(job.number)}"

    def checkschema(self):
        given = self._given()
        workload = given.build()["workload"]
        job = triphammer.start("check", given.target(), workload=workload)
        found = job.result()
        self._say(found.text())
        name = workload.upper()
        words = "has been checked successfully" if found.good else "violates the conditions above"
        self._say(f"{self._name()} {name} Schema {words}.")
        if not found.good:
            raise triphammer.Error(f"the check of the schema found violations in {name}")
        self._finished()
        return f"Schema Check jobid={identifier(job.number)}"

    def deleteschema(self):
        given = self._given()
        workload = given.build()["workload"]
        triphammer.drop(given.target(), workload=workload, yes=True)
        self._say(f"{self._name()} {workload.upper()} Schema has been deleted successfully.")
        self._finished()
        return "Schema Delete (No jobid)"

    def datagenrun(self):
        """Writes files without a database."""
        given = self._generic["datageneration"]
        workload, scale = {"tpcc": ("tproc-c", "gen_count_ware"), "tpch": ("tproc-h", "gen_scale_fact")}[self._benchmark]
        parts, folder = given["gen_num_vu"], self._directory()
        if self._benchmark == "tpcc":
            parts = min(number("gen_num_vu", parts), number("gen_count_ware", given["gen_count_ware"]))
        command = ["datagen", "-w", workload, "--scale", given[scale], "--parts", str(parts), "--output", folder]
        done = subprocess.run([*this("triphammer"), *command], capture_output=True, text=True)
        if done.returncode:
            return self._refuse(done.stderr.strip().rpartition("error: ")[2])
        self._say(done.stdout.strip())
        return self._finished()

    def _finished(self):
        self._say("Vuser 1:FINISHED SUCCESS\nALL VIRTUAL USERS COMPLETE")
        self._is_complete = True

    def _directory(self):
        """Where `datagenrun` writes."""
        return self._generic["datageneration"]["gen_directory"] or os.environ["TMP"]

    # Scripts

    def loadscript(self):
        self._given()
        self._script = Script()
        self._say('Script loaded, Type "print script" to view')

    def clearscript(self):
        self._script = None
        self._say("Script cleared")

    def customscript(self, file=""):
        self._script = Script(file)
        self._say(f"Loaded {file}")

    def custommonitor(self, what=""):
        if what not in ("test", "timed"):
            return self._say("Usage: custommonitor test|timed")
        if self._script is None or self._script.file is None:
            return self._say("No custom script loaded, use customscript")
        self._script.monitor = what
        return self._say(f"Monitor Virtual User {'enabled' if what == 'timed' else 'disabled'} for customscript")

    def savescript(self, file=""):
        if self._script is None:
            return self._say("No workload script loaded, use loadscript")
        if not file:
            return self._say("Usage: savescript file")
        with open(file, "w", encoding="utf-8") as out:
            out.write(self._job_file())
        return self._say(f"Success ... wrote script to {file}")

    def _job_file(self):
        """The script as a job file."""
        if self._script.is_job_file:
            with open(self._script.file, encoding="utf-8") as text:
                return text.read()
        given = self._given()
        tables = {"run": self._script.settings(given, self._configured())}
        return job_files.text(f"{self._name()} by its options.", given, tables)

    def _configured(self):
        """Number of virtual users that the options ask for."""
        return number("virtual_users", self._generic["virtual_user_options"]["virtual_users"])

    # Virtual users

    def vucreate(self):
        if self._script is None:
            self.loadscript()
        if self._users:
            return self._say("Error: Virtual Users exist, destroy with vudestroy before creating")
        self._users, self._is_complete = self._configured(), False
        has_monitor = self._has_monitor()
        all_users = range(1, self._users + 1 + has_monitor)
        for user in all_users:
            monitor = " MONITOR" if has_monitor and user == 1 else ""
            self._say(f"Vuser {user} created{monitor} - WAIT IDLE")
        if self._generic["virtual_user_options"]["log_to_temp"] == "1":
            self._log = Log(self._generic["virtual_user_options"])
            self._say(f"Logging activated\nto {self._log.path}")
        self._say(f"{len(all_users)} Virtual Users Created" + (" with Monitor VU" if has_monitor else ""))
        self._status = dict.fromkeys(all_users, "WAIT IDLE")
        return None

    def _has_monitor(self):
        """Whether one more virtual user is named that times the others. (The program needs none.)"""
        if self._script.monitor is not None:
            return self._script.monitor == "timed"
        return self._benchmark == "tpcc" and self._given()["driver"] == "timed"

    def vudestroy(self):
        if not self._users and not self._is_complete:
            return self._say("No Virtual Users found to destroy")
        self._users, self._status, self._is_complete = 0, {}, False
        if self._log is not None:
            self._log.close()
            self._log = None
        return self._say("vudestroy success")

    def vustatus(self):
        if not self._status:
            return self._say("No Virtual Users found")
        return self._say("\n".join(f"{user} = {status}" for user, status in self._status.items()))

    def vucomplete(self):
        return "true" if self._is_complete else "false"

    def vurun(self):
        if not self._users:
            self.vucreate()
        if self._script is None:
            self.loadscript()
        given = self._given()
        settings = {**self._script.settings(given, self._users), "label": self.label()}
        if given.benchmark == "tpcc" and given.is_on("async_scale") and not given.is_on("keyandthink"):
            self._say(f"{given.prefix}_async_scale needs {given.prefix}_keyandthink true: without keying and thinking times the "
                      "clients of a virtual user would wait for each other, so each virtual user has one session")
        self._is_complete = False
        self._each("RUNNING")
        try:
            run = triphammer.run(given.target(), **settings)
            self._follow(run, given)
            result = run.result()
        except triphammer.Error:
            self._each("FINISH FAILED")
            self._is_complete = True
            raise
        for user, line in self._output(result, self._users):
            self._tell(user, line)
        if not result.good:
            self.failed = True
            for reason in reasons(result):
                self._say(f"Error in Virtual User 1: {reason}")
        self._each("FINISH SUCCESS" if result.good else "FINISH FAILED")
        self._say("ALL VIRTUAL USERS COMPLETE")
        self._is_complete = True
        return f"Benchmark Run jobid={identifier(run.number)}"

    def _each(self, status):
        """Sets the status of all virtual users. `vustatus` has FINISH where their output has FINISHED."""
        for user in self._status:
            self._status[user] = status
            self._say(f"Vuser {user}:{status.replace('FINISH', 'FINISHED')}")

    def _follow(self, run, given):
        """Prints the progress of a run, and the transaction counter if it was started."""
        is_timed = given.benchmark == "tpcc" and self._has_monitor()
        if is_timed and self._script.file is None:
            self._tell(1, f"Beginning rampup time of {given['rampup']} minutes")
        phase, ended, every = "ramp_up", 0, self._refresh_rate()
        for second in run:
            if is_timed and second.phase != phase:
                phase = second.phase
                for line in {"window": ["Rampup complete, Taking start Transaction Count.",
                                        f"Timing test period of {given['duration']} in minutes"],
                             "drain": ["Test complete, Taking end Transaction Count."]}.get(phase, [phase]):
                    self._tell(1, line)
            ended += second["all.committed"] + second["all.rolled_back"]
            if self._counts and (second.second + 1) % every == 0:
                self._say(f"{ended * 60 // every} {self._name()} tpm")
            if (second.second + 1) % every == 0:
                ended = 0

    def _lines(self, result, users):
        return [line for _, line in self._output(result, users)]

    def _output(self, result, users):
        """The lines of a result, each with the virtual user that prints it: the monitor, or one for each stream of queries."""
        primary_metric = result.primary_metric
        if "queries" in result and result.queries is not None:
            return _of_queries(result.queries)
        database = self._name() if self._database else result.server.product
        first, second = f"{round(primary_metric.value)} {primary_metric.name}", f"{round(tpm(result))} {database} TPM"
        words = f"{first} from {second}"
        if self._generic["benchmark"]["first_result"].upper() == "TPM":
            words = f"{second} at {first}"
        lines = [self._active(users), f"TEST RESULT : System achieved {words}"]
        if self._has_percentiles():
            lines += percentiles(result)
        return [(1, line) for line in lines]

    def _active(self, users):
        """How many sessions there were: with asynchronous clients, those of all virtual users."""
        clients = self._given().clients() if self._database and self._benchmark == "tpcc" else 1
        if clients == 1:
            return f"{users} Active Virtual Users configured"
        return f"{users} VU * {clients} AC = {users * clients} Active Sessions configured"

    def _has_percentiles(self):
        """Whether the script wants the lines of HammerDB's profiler `etprof`."""
        profiler = self._generic["timeprofile"]["profiler"]
        return self._database is not None and self._benchmark == "tpcc" and profiler == "etprof" and self._given().is_on("timeprofile")

    # Transaction counter and metrics: runs always have both

    def _refresh_rate(self):
        """Seconds between two lines of the transaction counter."""
        return number("refreshrate", self._generic["transaction_counter"]["tc_refresh_rate"])

    def tcstart(self):
        self._say("Transaction Counter thread already running" if self._counts else "Transaction Counter Started")
        self._counts = True

    def tcstatus(self):
        self._say("Transaction Counter thread running" if self._counts else "Transaction Counter is not running")

    def tcstop(self):
        self._say("Transaction Counter thread stopped" if self._counts else "Transaction Counter is not running")
        self._counts = False

    def metstart(self):
        self._meters = True
        self._say("Metrics are part of every run: see `triphammer report`")

    def metstatus(self):
        self._say("Metrics are " + ("on" if self._meters else "off"))

    def metstop(self):
        self._meters = False
        self._say("Metrics are off")

    # Others

    #: What `print` shows.
    PRINTED = "db bm dict generic script vuconf vucreated vustatus vucomplete datagen tcconf".split()

    def print(self, *what):
        if len(what) != 1 or what[0] not in self.PRINTED:
            return self._say(f"Usage: print [{'|'.join(self.PRINTED)}]")
        text = getattr(self, f"_print_{what[0]}")()
        return None if text is None else self._say(text)

    def _print_db(self):
        prefixes = " ".join(f"{name} = {prefix}" for prefix, name in options.NAMES.items() if prefix in self._options)
        return f"Database {self._name()} set.\nTo change do: dbset db prefix, one of:\n{prefixes}"

    def _print_bm(self):
        return f"Benchmark set to {_TITLES[self._benchmark]}"

    def _print_dict(self):
        """Without the dictionary of the other benchmark."""
        found = {name: keys for name, keys in self._dictionaries().items() if name in ("connection", self._benchmark)}
        return f"Dictionary Settings for {self._name()}\n{_shown(found)}"

    def _print_generic(self):
        return f"Generic Dictionary Settings\n{_shown(self._generic)}"

    def _print_script(self):
        return self._job_file() if self._script else "No Script loaded: Load with loadscript"

    def _print_vuconf(self):
        configured = self._generic["virtual_user_options"]
        return "\n".join(f"{title} = {configured[key]}" for key, title in _VUCONF.items())

    def _print_vucreated(self):
        return f"{len(self._status)} Virtual Users created"

    def _print_vustatus(self):
        self.vustatus()

    def _print_vucomplete(self):
        return self.vucomplete()

    def _print_datagen(self):
        given = self._generic["datageneration"]
        size = {"tpcc": f"{given['gen_count_ware']} warehouses", "tpch": f"{given['gen_scale_fact']} scale factor"}
        return (f"Data Generation set to build a {_TITLES[self._benchmark]} schema for {self._name()} with "
                f"{size[self._benchmark]} with {given['gen_num_vu']} virtual users in {self._directory()}")

    def _print_tcconf(self):
        return _values(self._generic["transaction_counter"])

    def librarycheck(self):
        for prefix, name in options.NAMES.items():
            words = "is part of the program" if prefix in self._options else "is not available"
            self._say(f"Checking database library for {name}\nSuccess ... the client {words}"
                      if prefix in self._options else f"Checking database library for {name}\nError: the client {words}")

    def numberOfCPUs(self):
        return str(os.cpu_count())

    def numberOfWHs(self):
        wanted = 8 * os.cpu_count()
        return str(min(4_000, -(-wanted // 10) * 10 if wanted < 100 else -(-wanted // 100) * 100))

    def steprun(self):
        """Measures each number of virtual users that the step workload goes through."""
        given = self._given()
        if given.benchmark != "tpcc":
            return self._refuse("a step workload is one of TPROC-C: set it with dbset bm TPC-C")
        settings = steps.profile(given.run(self._configured()), self._configured())
        self._say(f"Step workload of {', '.join(map(str, settings['vus']))} Virtual Users")
        job = triphammer.start("profile", given.target(), **settings)
        self._say(job.result().text())
        return f"Benchmark Run jobid={identifier(job.number)}"

    def runtimer(self, seconds="0"):
        """Runs wait for their end."""

    def waittocomplete(self):
        """Runs wait for their end."""

    def quit(self, code="0"):
        raise Quit(int(code))

    def _say(self, text, is_shown=True):
        if is_shown:
            self._puts(text)
        if self._log is not None:
            self._log.write(text)

    def _tell(self, user, text):
        """Says what a virtual user prints, which `vuset showoutput 0` leaves to the log."""
        self._say(f"Vuser {user}:{text}", self._generic["virtual_user_options"]["show_output"] != "0")

    @staticmethod
    def _refuse(text):
        raise triphammer.Error(text)

    def _name(self):
        return options.NAMES.get(self._database, "no database")

    def _dictionaries(self):
        if self._database is None:
            raise triphammer.Error("no database is set: the script must begin with dbset db pg, mysql or maria")
        return self._options[self._database]

    def _given(self):
        return Options(self._database, self._dictionaries(), self._benchmark)


def _of_queries(queries):
    """The times of queries in seconds, and of each stream its duration and the geometric mean, as HammerDB prints them."""
    lines = []
    streams = sorted({step.stream for step in queries.steps if step.name.startswith("q")})
    for user, stream in enumerate(streams, 1):
        steps = [step for step in queries.steps if step.stream == stream and step.name.startswith("q")]
        answered = [step for step in steps if step.outcome == "answered"]
        found = [f"query {step.name[1:]} completed in {step.seconds:.3f} seconds" for step in answered]
        sets = {step.repeat for step in steps}
        seconds = sum(_length([step for step in steps if step.repeat == one]) for one in sets)
        found.append(f"Completed {len(sets)} query set(s) in {seconds:.0f} seconds")
        with_rows = [step for step in answered if step.rows and step.seconds > 0]
        if with_rows:
            mean = math.exp(sum(math.log(step.seconds) for step in with_rows) / len(with_rows))
            # The queries, however often each was repeated.
            count = len({step.name for step in with_rows})
            found.append(f'Geometric mean of query times returning rows ({count}) is "{mean:.5f}"')
        else:
            found.append("No geometric mean of query times: no query returned rows")
        lines += [(user, line) for line in found]
    return lines


def _length(steps):
    """Seconds from the start of the first to the end of the last."""
    return max(step.start_s + step.seconds for step in steps) - min(step.start_s for step in steps)


def _building(given, settings):
    """What is built by whom, as HammerDB says it: several virtual users have a monitor."""
    users, scale = int(settings["jobs"]), settings["scale"]
    what = f"Scale Factor {scale}" if given.benchmark == "tpch" else f"{scale} Warehouses" if users > 1 else f"{scale} Warehouses(s)"
    if users == 1:
        return f"Building {what} with 1 Virtual User"
    name = "num_vu" if given.benchmark == "tpcc" else "num_tpch_threads"
    return (f"Building {what} with {users + 1} Virtual Users, {users} active + 1 Monitor VU"
            f"(dict value {given.prefix}_{name} is set to {users})")


def _shown(dictionaries):
    return "\n".join(f"{name} {{\n{_values(found, ' ')}\n}}" for name, found in dictionaries.items())


def _values(found, indent=""):
    width = max(map(len, found))
    return "\n".join(f"{indent}{key:{width}} = {_open(key, value)}" for key, value in found.items())


def _open(key, value):
    """A value to show: no password."""
    return "********" if "pass" in key else value
