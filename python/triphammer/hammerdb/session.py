"""The commands of HammerDB's command line on a session's options and virtual users. They print what scripts and people
look for, and do their work with the package."""

from __future__ import annotations

import os
import subprocess

import triphammer
from triphammer._processes import command as this

from . import job_files, options, owner, steps
from .jobs import Jobs, identifier, tpm
from .scripts import Script
from .settings import Options, number

_BENCHMARKS = {"TPC-C": "tpcc", "TPROC-C": "tpcc", "TPC-H": "tpch", "TPROC-H": "tpch"}
#: Options of `vuset`, with their names among the generic options.
_VUSET = {"vu": "virtual_users", "delay": "user_delay", "repeat": "repeat_delay", "iterations": "iterations",
          "showoutput": "show_output", "logtotemp": "log_to_temp", "unique": "unique_log_name", "nobuff": "no_log_buffer",
          "timestamps": "log_timestamps"}
_TCSET = {"refreshrate": "tc_refresh_rate", "logtotemp": "tc_log_to_temp", "unique": "tc_unique_log_name",
          "timestamps": "tc_log_timestamps"}
_METSET = {"agent_hostname": "agent_hostname", "agent_id": "agent_id"}
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
            return self._say(f"Database set to {options.NAMES[value]}")
        if what == "bm":
            if value not in _BENCHMARKS:
                return self._say(f"Unknown benchmark {value}, choose one from {' '.join(_BENCHMARKS)}")
            self._benchmark = _BENCHMARKS[value]
            return self._say(f"Benchmark set to {value} for {self._name()}")
        return self._say("Usage: dbset [db|bm] value")

    def diset(self, dictionary="", key="", value=""):
        self._change(self._dictionaries(), dictionary, key, str(value), f" for {self._name()}")

    def giset(self, dictionary="", key="", value=""):
        self._change(self._generic, dictionary, key, str(value), "")

    def vuset(self, what="", value=""):
        if what == "vu" and value == "vcpu":
            value = self.numberOfCPUs()
        if what == "vu" and not str(value).isdigit():
            return self._say("The number of virtual users must be an integer or vcpu")
        return self._set(_VUSET, "virtual_user_options", what, value)

    def tcset(self, what="", value=""):
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

    def _change(self, dictionaries, dictionary, key, value, suffix):
        found = dictionaries.get(dictionary)
        if found is None:
            return self._say(f"Dictionary \"{dictionary}\"{suffix} does not exist, choose one from {' '.join(dictionaries)}")
        if key not in found:
            return self._say(f"Dictionary \"{dictionary}\"{suffix} exists but key \"{key}\" doesn't")
        old = found[key]
        if old == value:
            value = _open(key, value)
            return self._say(f"Value {value} for {dictionary}:{key} is the same as existing value {value}, no change made")
        found[key] = value
        return self._say(f"Changed {dictionary}:{key} from {_open(key, old)} to {_open(key, value)}{suffix}")

    # Schemas

    def buildschema(self):
        given = self._given()
        settings = given.build()
        self._say(f"Script cleared\nBuilding {settings['scale']} with {settings['jobs']} Virtual Users")
        if given.superuser is not None:
            self._say(owner.create(given))
        job = triphammer.start("build", given.target(), **settings)
        built = job.result()
        self._say(f"Vuser 1:{built.outcome}: {built.rows} rows\nVuser 1:FINISHED SUCCESS\nALL VIRTUAL USERS COMPLETE")
        return f"Schema Build jobid={identifier(job.number)}"

    def checkschema(self):
        given = self._given()
        workload = given.build()["workload"]
        found = triphammer.check(given.target(), workload=workload)
        self._say(found.text())
        name = workload.upper()
        words = "has been checked successfully" if found.good else "violates the conditions above"
        self._say(f"{self._name()} {name} Schema {words}.")
        if not found.good:
            raise triphammer.Error(f"the check of the schema found violations in {name}")

    def deleteschema(self):
        given = self._given()
        workload = given.build()["workload"]
        triphammer.drop(given.target(), workload=workload, yes=True)
        self._say(f"{self._name()} {workload.upper()} Schema has been deleted successfully.")

    def datagenrun(self):
        """Writes files without a database."""
        given = self._generic["datageneration"]
        workload, scale = {"tpcc": ("tproc-c", "gen_count_ware"), "tpch": ("tproc-h", "gen_scale_fact")}[self._benchmark]
        parts, folder = given["gen_num_vu"], given["gen_directory"] or os.environ["TMP"]
        if self._benchmark == "tpcc":
            parts = min(number("gen_num_vu", parts), number("gen_count_ware", given["gen_count_ware"]))
        command = ["datagen", "-w", workload, "--scale", given[scale], "--parts", str(parts), "--output", folder]
        done = subprocess.run([*this("triphammer"), *command], capture_output=True, text=True)
        if done.returncode:
            return self._refuse(done.stderr.strip().rpartition("error: ")[2])
        self._say(f"{done.stdout.strip()}\nVuser 1:FINISHED SUCCESS\nALL VIRTUAL USERS COMPLETE")
        return None

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
            return self._say("Usage: custommonitor [test|timed]")
        if self._script is None or self._script.file is None:
            return self._say("No custom script loaded, use customscript")
        self._script.monitor = what
        return self._say(f"Monitor set to {what}")

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
            return self._say("No workload script loaded, use loadscript")
        if self._users:
            return self._say(f"{self._users} Virtual Users exist, destroy with vudestroy before creating")
        self._users = self._configured()
        self._say("Vuser 1 created MONITOR - WAIT IDLE")
        for number in range(2, self._users + 2):
            self._say(f"Vuser {number} created - WAIT IDLE")
        self._say(f"{self._users} Virtual Users Created with Monitor VU")
        self._status = dict.fromkeys(range(1, self._users + 2), "WAIT IDLE")
        return None

    def vudestroy(self):
        if not self._users:
            return self._say("No virtual users found to destroy")
        self._users, self._status = 0, {}
        return self._say("vudestroy success")

    def vustatus(self):
        if not self._status:
            return self._say("No Virtual Users found")
        return self._say("\n".join(f"{number} {status}" for number, status in self._status.items()))

    def vucomplete(self):
        is_complete = all(status.startswith("FINISHED") for status in self._status.values())
        return "true" if is_complete else "false"

    def vurun(self):
        if not self._users:
            return self._say("Error: Virtual Users must be created before running, use vucreate")
        if self._script is None:
            return self._say("No workload script loaded, use loadscript")
        given = self._given()
        settings = {**self._script.settings(given, self._users), "label": self.label()}
        self._refresh_rate()  # A mistake is reported before the run.
        self._each("RUNNING")
        try:
            run = triphammer.run(given.target(), **settings)
            self._follow(run, given)
            result = run.result()
        except triphammer.Error:
            self._each("FINISHED FAILED")
            raise
        for line in self._lines(result, self._users):
            self._say(f"Vuser 1:{line}")
        self.failed |= not result.good
        self._each("FINISHED SUCCESS" if result.good else "FINISHED FAILED")
        self._say("ALL VIRTUAL USERS COMPLETE")
        return f"Benchmark Run jobid={identifier(run.number)}"

    def _each(self, status):
        for number in self._status:
            self._status[number] = status
            self._say(f"Vuser {number}:{status}")

    def _follow(self, run, given):
        """Prints the progress of a run, and the transaction counter if it was started."""
        if given.benchmark == "tpcc" and self._script.file is None:
            self._say(f"Vuser 1:Beginning rampup time of {given['rampup']} minutes")
        phase, ended, every = "ramp_up", 0, self._refresh_rate()
        for second in run:
            if second.phase != phase:
                phase = second.phase
                self._say({"window": "Vuser 1:Rampup complete, Taking start Transaction Count.\n"
                                     f"Vuser 1:Timing test period of {given['duration']} in minutes",
                           "drain": "Vuser 1:Test complete, Taking end Transaction Count."}.get(phase, phase))
            ended += second["all.committed"] + second["all.rolled_back"]
            if self._counts and (second.second + 1) % every == 0:
                self._say(f"{ended * 60 // every} {self._name()} tpm")
            if (second.second + 1) % every == 0:
                ended = 0

    def _lines(self, result, users):
        """The lines of a result, as the monitor prints them."""
        lines = [f"{users} Active Virtual Users configured"]
        primary_metric = result.primary_metric
        if "queries" in result and result.queries is not None:
            return [*lines, *_of_queries(result.queries)]
        database = self._name() if self._database else result.server.product
        first, second = f"{round(primary_metric.value)} {primary_metric.name}", f"{round(tpm(result))} {database} TPM"
        words = f"{first} from {second}"
        if self._generic["benchmark"]["first_result"].upper() == "TPM":
            words = f"{second} at {first}"
        return [*lines, f"TEST RESULT : System achieved {words}"]

    # Transaction counter and metrics: runs always have both

    def _refresh_rate(self):
        """Seconds between two lines of the transaction counter."""
        return number("refreshrate", self._generic["transaction_counter"]["tc_refresh_rate"])

    def tcstart(self):
        self._counts = True
        self._say("Transaction Counter Started")

    def tcstatus(self):
        self._say("Transaction Counter thread running" if self._counts else "Transaction Counter is not running")

    def tcstop(self):
        self._counts = False
        self._say("Transaction Counter thread stopped")

    def metstart(self):
        self._meters = True
        self._say("Metrics are part of every run: see `triphammer report`")

    def metstatus(self):
        self._say("Metrics are " + ("on" if self._meters else "off"))

    def metstop(self):
        self._meters = False
        self._say("Metrics are off")

    # Others

    def print(self, what="", *_):
        state = {"db": lambda: f"Database {self._name()} set.", "bm": lambda: f"Benchmark set to {self._benchmark.upper()}",
                 "dict": lambda: f"Dictionary Settings for {self._name()}\n{_shown(self._dictionaries())}",
                 "generic": lambda: _shown(self._generic), "script": lambda: self._job_file() if self._script else "No workload script loaded, use loadscript",
                 "vuconf": lambda: _shown({"": self._generic["virtual_user_options"]}),
                 "vucreated": lambda: f"{self._users} Virtual Users created", "vustatus": self.vustatus,
                 "vucomplete": self.vucomplete, "datagen": lambda: _shown({"": self._generic["datageneration"]}),
                 "tcconf": lambda: _shown({"": self._generic["transaction_counter"]})}
        if what not in state:
            return self._say(f"Usage: print [{'|'.join(state)}]")
        text = state[what]()
        return None if text is None else self._say(text)

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

    def _say(self, text):
        self._puts(text)

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
    """The times of queries in seconds, and their geometric mean, as HammerDB prints them."""
    lines = [f"query {step.name[1:]} completed in {step.seconds:.3f} seconds"
             for step in queries.steps if step.outcome == "answered" and step.name.startswith("q")]
    mean = next(figure for figure in queries.figures if figure.name == "geomean_with_rows_ms")
    if mean.value is None:
        return [*lines, f"No geometric mean of query times: {mean.reason}"]
    with_rows = sum(1 for query in queries.queries if query.rows)
    return [*lines, f"Geometric mean of query times returning rows ({with_rows}) is {mean.value / 1_000:.5f}"]


def _shown(dictionaries):
    return "\n".join(f"{name} {{\n" + "\n".join(f" {key} = {_open(key, value)}" for key, value in found.items()) + "\n}"
                     for name, found in dictionaries.items())


def _open(key, value):
    """A value to show: no password."""
    return "********" if "pass" in key else value
