"""Scripts for HammerDB's command line on PostgreSQL and MariaDB."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import lib
import pytest

import triphammer

BUILD = """
puts "SETTING CONFIGURATION"
dbset db {prefix}
dbset bm TPC-C
diset connection {prefix}_host 127.0.0.1
diset connection {prefix}_port {port}
{connection}
set vu [ numberOfCPUs ]
diset tpcc {prefix}_count_ware 1
diset tpcc {prefix}_count_ware 1
diset tpcc {prefix}_num_vu $vu
diset tpcc {prefix}_no_such_option 1
puts [ buildschema ]
checkschema
"""
RUN = """
set tmpdir $::env(TMP)
dbset db {prefix}
diset connection {prefix}_host 127.0.0.1
diset connection {prefix}_port {port}
{connection}
diset tpcc {prefix}_rampup 0
diset tpcc {prefix}_duration 0.05
loadscript
vuset vu 2
vucreate
tcset refreshrate 1
tcstart
tcstatus
set jobid [ vurun ]
vudestroy
tcstop
set of [ open $tmpdir/jobid w ]
puts $of $jobid
close $of
if {{[ catch {{ customscript none.tcl }} error ]}} {{ puts "caught: $error" }}
"""
# As the scripts of the distribution do it: `puts` is replaced while a job is printed.
RESULT = """
set f [ open $::env(TMP)/jobid r ]
set jobid [ lindex [ split [ gets $f ] = ] 1 ]
close $f
rename puts __puts
proc puts { text } { append ::seen $text }
job $jobid result
job $jobid timing
job $jobid tcount
rename puts {}
rename __puts puts
puts $seen
"""
STATUS = """
set f [ open $::env(TMP)/jobid r ]
job [ lindex [ split [ gets $f ] = ] 1 ] status
close $f
"""
PYTHON = """
dbset('db', '{prefix}')
diset('connection', '{prefix}_host', '127.0.0.1')
diset('connection', '{prefix}_port', '{port}')
tclpy.eval('''{connection}''')
giset('benchmark', 'first_result', 'TPM')
diset('tpcc', '{prefix}_rampup', '0')
diset('tpcc', '{prefix}_duration', '0.05')
loadscript()
vuset('vu', '1')
vucreate()
jobid = tclpy.eval('vurun')
print('JOB', jobid)
vudestroy()
deleteschema()
exit()
"""


@pytest.fixture
def script(tmp_path):
    """Runs a script with the console script; returns exit code, stdout and stderr."""
    def run(text, name="script.tcl", options=(), **values):
        file = tmp_path / name
        file.write_text(text.format(**values) if values else text)
        program = pathlib.Path(sys.executable).with_name("triphammer")
        done = subprocess.run([program, "hammerdb", *options, file], capture_output=True, text=True, timeout=240,
                              cwd=tmp_path, env={**os.environ, "TMP": str(tmp_path)})
        return done.returncode, done.stdout, done.stderr
    return run


@pytest.mark.parametrize("server, prefix, name", [(lib.Postgres, "pg", "PostgreSQL"), (lib.Mariadb, "maria", "MariaDB")])
def test_scripts_build_run_and_read_results(script, server, prefix, name):
    with server() as database:
        connection = "diset connection pg_sslmode disable" if prefix == "pg" else "diset tpcc maria_pass null"
        values = {"prefix": prefix, "port": database.port, "connection": connection}
        code, out, err = script(BUILD, **values)
        assert code == 0, out + err
        assert f"Database set to {name}" in out
        assert "the same as existing value 1, no change made" in out
        assert f'key "{prefix}_no_such_option" doesn\'t' in out
        assert "Schema Build jobid=" in out and "has been checked successfully" in out
        code, out, err = script(RUN, **values)
        assert code == 0, out + err
        assert f"{name} TPM\nVuser 1:FINISHED SUCCESS" in out and "NOPM from" in out
        assert f"{name} tpm\n" in out
        assert "Vuser 2 created - WAIT IDLE" in out and "ALL VIRTUAL USERS COMPLETE" in out
        assert "caught: customscript: none.tcl: no such file" in out
        code, out, err = script(RESULT)
        assert code == 0, out + err
        assert "TEST RESULT : System achieved" in out and '"NEWORD": {' in out and '"ratio_pct": ' in out and f"{name} tpm" in out
        code, out, err = script(PYTHON, "script.py", **values)
        assert code == 0, out + err
        assert f"{name} TPM at" in out and "JOB Benchmark Run jobid=" in out
        assert "has been deleted successfully" in out


@pytest.mark.parametrize("ending", ["", "exit 0\n", "quit\n"])
def test_a_script_fails_if_a_run_of_it_failed(script, ending):
    with lib.Postgres(fsync="off") as database:
        values = {"prefix": "pg", "port": database.port, "connection": "diset connection pg_sslmode disable"}
        code, out, err = script(BUILD, **values)
        assert code == 0, out + err
        database.psql("tpcc", "ALTER TABLE history ADD CONSTRAINT none CHECK (h_amount < 0) NOT VALID")
        code, out, err = script(RUN + ending, **values)
        assert "Vuser 1:FINISHED FAILED" in out, out + err
        assert code == 1, out + err
        reason = r"failures are within their limit: no, [\d.]+ % failed or in doubt \(limit 1 %\)"
        assert re.search(rf"^Error in Virtual User 1: {reason}.*\nVuser 1:FINISHED FAILED\n", out, re.MULTILINE), out
        code, out, err = script(STATUS)
        assert code == 0 and re.search(rf'"0 {reason}', out), out + err


SHORT = """
dbset db pg
dbset bm tproc-c
diset connection pg_host 127.0.0.1
diset connection pg_port {port}
diset connection pg_sslmode disable
puts "complete: [ vucomplete ]"
set built [ buildschema ]
puts "complete: [ vucomplete ]"
vudestroy
puts "checked: [ checkschema ]"
diset tpcc pg_rampup 0
diset tpcc pg_duration 0.05
vuset vu 2
vuset logtotemp 1
vuset timestamps 1
set jobid [ vurun ]
vuset vu 3
vustatus
print vucreated
puts "complete: [ vucomplete ]"
vudestroy
vustatus
diset tpcc pg_driver test
diset tpcc pg_total_iterations 5
vuset vu 1
vuset unique 1
vurun
job $jobid result
job $jobid save
job $jobid delete
job $jobid system
job $jobid 2
job $jobid nothing
puts "html: [ string match -nocase <!doctype* [ job $jobid getchart result ] ]"
if {{ [ catch {{ job $jobid getchart pie }} error ] }} {{ puts "caught: $error" }}
jobs format text
job $jobid timing
puts [ deleteschema ]
"""


def test_a_run_loads_the_script_and_creates_the_virtual_users(script, tmp_path):
    with lib.Postgres(fsync="off") as database:
        code, out, err = script(SHORT, port=database.port)
    assert code == 0, out + err
    assert re.findall("complete: (.*)", out) == ["false", "true", "true"]
    assert "Building 1 Warehouses(s) with 1 Virtual User\n" in out
    assert "checked: Schema Check jobid=" in out and "Schema Delete (No jobid)" in out
    assert "3 Virtual Users Created with Monitor VU\nVuser 1:RUNNING" in out
    assert "Error: Virtual Users exist, destroy with vudestroy before changing settings" in out
    assert "1 = FINISH SUCCESS\n2 = FINISH SUCCESS\n3 = FINISH SUCCESS\n3 Virtual Users created\n" in out
    assert "vudestroy success\nNo Virtual Users found\n" in out
    # The driver `test` has no monitor.
    assert "Vuser 1 created - WAIT IDLE\nLogging activated\n" in out and "\n1 Virtual Users Created\n" in out
    assert f"Logging activated\nto {tmp_path / 'hammerdb.log'}\n" in out
    log = (tmp_path / "hammerdb.log").read_text()
    assert log.startswith("Hammerdb Log @ ") and re.search(r"\nTimestamp 1 @ .*\nVuser 1:TEST RESULT : System achieved", log)
    [unique] = tmp_path.glob("hammerdb_*.log")
    assert "Vuser 1:TEST RESULT" in unique.read_text() and "Vuser 2" not in unique.read_text()
    # What `vurun` returns names the job, too.
    assert len(re.findall('"TEST RESULT : System achieved', out)) == 1
    [saved] = tmp_path.glob("hdb_*.json")
    assert json.loads(saved.read_text())["kind"] == "run" and str(saved) in out
    assert "Jobs are not deleted" in out and '"kernel": ' in out and "Virtual user 2 has no output" in out
    assert "Usage: jobs jobid [db|bm|" in out
    assert "html: 1\n" in out and "caught: job: the chart of a job is one of result, timing, tcount, metrics, not pie" in out
    assert re.search(r"^PAYMENT elapsed_ms 3000.0 calls \d+ min_ms ", out, re.MULTILINE)


SETTINGS = """
dbset db pg
dbset bm TPC-H
diset tpch pg_tpch_pass
diset tpch pg_tpch_pass a b
diset tpcc pg_driver soon
diset connection pg_user me
diset nothing pg_user me
giset commandline keepalive_margin 90
tcset refreshrate 60
tcstop
print
print dict
print vuconf
print bm
print datagen
"""


def test_wrong_settings_are_reported_and_change_nothing(script, tmp_path):
    code, out, err = script(SETTINGS)
    assert code == 0, out + err
    assert out.count("Error: Invalid number of arguments\nUsage: diset dict key value\n") == 2
    assert 'Error: Driver script must be either "test" or "timed"' in out
    assert 'key "pg_user" doesn\'t, key "pg_user" is in the "tpcc" dictionary' in out
    assert 'Dictionary "nothing" for PostgreSQL does not exist' in out
    assert "Changed commandline:keepalive_margin from 60 to 90 for generic" in out
    assert "less than 60 secs\nTransaction Counter refresh rate set to 10\nTransaction Counter is not running" in out
    assert "Usage: print [db|bm|dict|" in out
    shown = out.partition("Dictionary Settings for PostgreSQL\n")[2]
    assert shown.startswith("connection {\n pg_host    = localhost\n") and "tpch {" in shown and "tpcc {" not in shown
    assert "Virtual Users = 1\nUser Delay(ms) = 500\n" in shown and "Benchmark set to TPC-H\n" in shown
    assert f"with 1 scale factor with 1 virtual users in {tmp_path}\n" in shown


def test_python_has_the_names_of_hammerdb(script, tmp_path):
    (tmp_path / "more.py").write_text("dbset('db', 'maria')\nfound = 1\n")
    code, out, err = script("source('more.py')\nprint('db')\nprint('db', found)\nprint(vucomplete())\n", "a.py")
    assert code == 0, out + err
    assert out.startswith("Database set to MariaDB\nDatabase MariaDB set.\n") and out.endswith("db 1\nfalse\n")


def test_a_script_in_python_imports_modules_beside_it_from_any_folder(tmp_path, script):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "beside.py").write_text("found = 'beside'\n")
    code, out, err = script("import beside\nprint(beside.found)\n", "scripts/a.py")
    assert (code, out) == (0, "beside\n"), err


@pytest.mark.parametrize("name, text", [("a.py", "print('db')\n"), ("a.tcl", "print db\n")])
def test_a_script_may_begin_with_a_byte_order_mark(script, name, text):
    code, out, err = script("\ufeff" + text, name)
    assert code == 0 and out.startswith("Database no database set."), out + err


OWNED = """
dbset db pg
dbset bm TPC-C
diset connection pg_host 127.0.0.1
diset connection pg_port {port}
diset connection pg_sslmode prefer
diset tpcc pg_superuser {superuser}
diset tpcc pg_superuserpass {superuser}
diset tpcc pg_defaultdbase postgres
diset tpcc pg_user {user}
diset tpcc pg_pass {password}
diset tpcc pg_dbase {user}
buildschema
checkschema
"""


@pytest.fixture
def strict(tmp_path):
    """A server that asks for passwords by TCP; the superuser's is that of HammerDB's options. Also executes SQL there."""
    hba = tmp_path / "pg_hba.conf"
    hba.write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
    with lib.Postgres(fsync="off", hba_file=hba) as server:
        def psql(sql, database="postgres"):
            where = f"host={server.folder} port={server.port} user=postgres dbname={database}"
            return lib.run([lib.program("psql"), "-XqtA", "-v", "ON_ERROR_STOP=1", "-c", sql, where]).strip()

        psql("ALTER ROLE postgres PASSWORD 'postgres'")
        yield server, psql


def test_the_superuser_creates_the_user_and_the_database(script, strict):
    server, psql = strict
    owners = "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = '{0}'"
    tables = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'"
    values = {"port": server.port, "superuser": "postgres", "user": "tpcc", "password": "tpcc"}
    code, out, err = script(OWNED, **values)
    assert code == 0, out + err
    assert "Created the database tpcc of the user tpcc" in out and "has been checked successfully" in out
    assert (psql(owners.format("tpcc")), psql(tables, "tpcc")) == ("tpcc", "tpcc")
    assert triphammer.check(f"postgres://tpcc:tpcc@127.0.0.1:{server.port}/tpcc").good
    code, out, err = script(RUN + "deleteschema\n", prefix="pg", port=server.port, connection="")
    assert code == 0 and "TEST RESULT : System achieved" in out, out + err
    assert psql(tables, "tpcc") == ""
    # Once more: user and database exist.
    code, out, err = script(OWNED, **values)
    assert code == 0 and "The database tpcc exists, and is used by the user tpcc" in out, out + err
    code, out, err = script(OWNED, **{**values, "password": "wrong"})
    assert code == 2 and "buildschema: " in err and 'password authentication failed for user "tpcc"' in err, out + err


def test_users_of_other_superusers_and_in_databases_of_others(script, strict):
    server, psql = strict
    psql("CREATE ROLE cloud LOGIN CREATEROLE CREATEDB PASSWORD 'cloud'")
    quoted = "it's \"own\""
    code, out, err = script(OWNED.replace("{user}", "{{{user}}}").replace("{password}", "{{{password}}}"),
                            port=server.port, superuser="cloud", user=quoted, password=quoted)
    assert code == 0, out + err
    assert psql("SELECT count(*) FROM pg_database WHERE datname = pg_get_userbyid(datdba) AND datname LIKE 'it%'") == "1"
    psql("CREATE DATABASE empty")
    code, out, err = script(OWNED, port=server.port, superuser="postgres", user="empty", password="empty")
    assert code == 0 and "The database empty exists" in out, out + err
    # Nobody is created by a superuser who may not.
    psql("CREATE ROLE weak LOGIN PASSWORD 'weak'")
    code, out, err = script(OWNED, port=server.port, superuser="weak", user="nobody", password="nobody")
    assert code == 2 and "creating the user nobody" in err and "permission denied" in err, out + err
    assert psql("SELECT count(*) FROM pg_roles WHERE rolname = 'nobody'") == "0"


CUSTOM = """
dbset db pg
diset connection pg_host 127.0.0.1
diset connection pg_port {port}
diset connection pg_sslmode disable
diset tpcc pg_num_vu 1
diset tpcc pg_rampup 0
diset tpcc pg_duration 0.05
diset tpcc pg_total_iterations 20
buildschema
proc test {{}} {{ vucreate; puts [ vurun ]; vudestroy }}
loadscript
vuset vu 2
print script
savescript saved.toml
jobs profileid 7
customscript saved.toml
test
jobs profileid 8
customscript own.sql
custommonitor test
test
jobs profileid 0
custommonitor often
if {{[ catch {{ customscript driver.tcl }} error ]}} {{ puts "caught: $error" }}
steprun
jobs profile 7
jobs diff 7 8
jobs format text
jobs profile 8
jobs result
"""
STEPS = """<steps>
<replica1><start_after_prev>0.01</start_after_prev><duration>0.04</duration><virtual_users>1</virtual_users></replica1>
<replica2><start_after_prev>0.05</start_after_prev><duration>0.01</duration><virtual_users>2</virtual_users></replica2>
</steps>"""


def test_scripts_of_users_are_saved_and_run(script, tmp_path):
    (tmp_path / "own.sql").write_text("SELECT count(*) FROM warehouse;\n")
    (tmp_path / "driver.tcl").write_text("package require Pgtcl\n")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "steps.xml").write_text(STEPS)
    with lib.Postgres(fsync="off") as database:
        code, out, err = script(CUSTOM, port=database.port)
    assert code == 0, out + err
    saved = (tmp_path / "saved.toml").read_text()
    assert saved in out and 'vus = 2\nrampup = "0m"\nduration = "3000ms"' in saved and "pass" not in saved.partition("\n")[2]
    assert out.count("Benchmark Run jobid=") == 2
    assert "TEST RESULT : System achieved 0 TPS" not in out and " TPS from " in out
    assert "Usage: custommonitor test|timed" in out
    assert "caught: customscript: driver.tcl: a driver script of HammerDB is Tcl code" in out
    assert "Step workload of 2, 3, 5 Virtual Users" in out
    assert '"virtual users": [\n    2\n  ]' in out
    results = [triphammer.job(job.id) for job in triphammer.jobs(label="hammerdb-profile-8")]
    assert [result.run.total.completed for result in results] == [40]
    profile = triphammer.job(next(job.id for job in triphammer.jobs() if job.kind == "profile"))
    assert [level.users for level in profile.levels] == [2, 3, 5]


LENGTHS = """
dbset db pg
diset tpcc pg_driver {driver}
diset tpcc pg_total_iterations 5
diset tpcc pg_rampup 0
diset tpcc pg_duration 0.05
vuset vu 2
loadscript
customscript {file}
custommonitor {monitor}
vurun
"""
JOB_FILE = """
target = "null:"
workload = "tproc-c"
{top}
[run] # lengths
{run}
[profile]
duration = "1h"
"""


@pytest.fixture
def runs_on_null(monkeypatch):
    """Runs a script in this process; what it runs on PostgreSQL runs on the null database, where nothing is built. Returns
    the results."""
    def run(file, quiet=True):
        from triphammer.hammerdb.interpreters import Interpreter

        handles = []

        def on_null(_, **settings):
            handles.append(real("null:", **settings))
            return handles[-1]

        real = triphammer.run
        monkeypatch.setattr(triphammer, "run", on_null)
        interpreter = Interpreter()
        if quiet:
            interpreter.eval("proc puts args {}")
        interpreter.run_tcl(str(file), [])
        return [handle.result() for handle in handles]

    return run


@pytest.mark.parametrize("monitor, driver, top, run, users, completed", [
    ("test", "timed", "", 'rampup = "1s"\nduration = "1m"', 2, 10),
    ("test", "timed", 'duration = "1m"', 'vus = 7', 2, 10),
    ("timed", "timed", "", "transactions = 3", 2, None),
    ("timed", "test", "transactions = 3", "", 2, None),
    ("timed", "timed", "", "transactions = 3\nload = 'keyed' # slow\nterminals = 3\nsessions = 1", 3, None),
])
def test_the_monitor_of_a_script_replaces_the_length_of_a_job_file(
        tmp_path, runs_on_null, monitor, driver, top, run, users, completed):
    file, script = tmp_path / "saved.toml", tmp_path / "lengths.tcl"
    file.write_text(JOB_FILE.format(top=top, run=run))
    script.write_text(LENGTHS.format(file=file, monitor=monitor, driver=driver))
    [result] = runs_on_null(script)
    assert result.spec.users == users
    if completed is None:
        assert result.durations.window_asked_s == 3
    else:
        assert result.run.total.completed == completed
    # The file is as it was.
    assert file.read_text() == JOB_FILE.format(top=top, run=run)


def test_the_reasons_of_a_failed_run_are_lines(tmp_path, monkeypatch, capfd):
    """Several reasons, also in the log: requirements, which only a job file has."""
    from triphammer.hammerdb.interpreters import Interpreter

    file, script = tmp_path / "required.toml", tmp_path / "required.tcl"
    file.write_text('require = ["nopm >= 1000000000000", "failures < 50%", "all.p95 < 0.001us"]\n')
    script.write_text(f"dbset db pg\nvuset logtotemp 1\nvuset timestamps 1\ncustomscript {file}\nvurun\n")
    real = triphammer.run
    monkeypatch.setattr(triphammer, "run", lambda _, **settings: real(
        "null:", workload="tproc-c", rampup="0s", duration="1s", **settings))
    monkeypatch.setenv("TMP", str(tmp_path))
    interpreter = Interpreter()
    interpreter.run_tcl(str(script), [])
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("Error in Virtual User 1: ")]
    assert [line.partition(": ")[2].partition(": no, ")[0] for line in lines] == ["nopm >= 1000000000000", "all.p95 < 0.001us"]
    assert interpreter.session.failed
    log = (tmp_path / "hammerdb.log").read_text()
    assert re.search(r"^Timestamp 1 @ .*\nError in Virtual User 1: nopm >= 1000000000000: no, ", log, re.MULTILINE), log


SILENT = """
dbset db pg
diset tpcc pg_rampup 0
diset tpcc pg_duration 0.05
vuset showoutput 0
vuset iterations 1
vuset iterations 3
vuset logtotemp 1
loadscript
vurun
vudestroy
vuset showoutput 1
vuset logtotemp 0
vurun
"""


def test_what_virtual_users_print_can_be_hidden(tmp_path, monkeypatch, capfd, runs_on_null):
    script = tmp_path / "silent.tcl"
    script.write_text(SILENT)
    monkeypatch.setenv("TMP", str(tmp_path))
    assert len(runs_on_null(script, quiet=False)) == 2
    hidden, _, shown = capfd.readouterr().out.partition("vudestroy success\n")
    words = ["Vuser 1:Beginning rampup time", "Vuser 1:Timing test period", "Vuser 1:TEST RESULT"]
    log = (tmp_path / "hammerdb.log").read_text()
    for word in words:
        assert word not in hidden and word in shown and log.count(word) == 1, word
    assert "Vuser 1 created MONITOR" in hidden and "Vuser 1:FINISHED SUCCESS" in hidden
    assert hidden.count("Virtual Users run the script once, whatever the iterations are: repeat vurun instead\n") == 1


def test_files_are_generated(script, tmp_path):
    text = "dbset db maria\ndgset vu 2\ndgset warehouse 4\ndgset directory {folder}\ndatagenrun\n"
    code, out, err = script(text, folder=tmp_path / "files")
    assert code == 0, out + err
    assert "ALL VIRTUAL USERS COMPLETE" in out
    assert sum("warehouse" in file.name for file in (tmp_path / "files").iterdir()) == 2
    code, out, err = script(text, folder=tmp_path / "files")
    assert code == 2 and "datagenrun: " in err and "exists" in err, err
    code, out, err = script("dbset db pg\ndgset vu x\ndatagenrun\n")
    assert code == 2 and "gen_num_vu must be a number from 1, not x" in err, err


def test_what_scripts_cannot_have_says_what_to_use(script, tmp_path):
    code, out, err = script("dbset db ora\n")
    assert code == 2 and "Oracle is not among" in err
    code, out, err = script("loadscript\n")
    assert code == 2 and "the script must begin with dbset" in err
    code, out, err = script("puts before\nexit 3\nputs after\n")
    assert (code, out) == (3, "before\n")
    code, _, err = script("", "script.sh")
    assert code == 2 and "ends with .tcl or .py" in err


RUN_OF_ONE = "dbset db pg\nloadscript\nvuset vu 1\nvucreate\n"


@pytest.mark.parametrize("name, text, error", [
    ("a.tcl", RUN_OF_ONE + "diset tpcc pg_rampup soon\nvurun\n", "line 6: vurun: rampup must be a number of minutes, not soon"),
    ("b.tcl", "dbset db pg\nvudestroy now\n", "line 2: vudestroy: wrong number of arguments: 1"),
    ("c.tcl", "dbset db pg\nloadscript\nvuset vu 0\nvucreate\n", "line 4: vucreate: virtual_users must be a number from 1, not 0"),
    ("d.tcl", "dbset db pg\nno_such_command\n", 'line 2: invalid command name "no_such_command"'),
    ("a.py", "dbset('db', 'pg')\niset('tpcc')\n", "line 2: NameError: name 'iset' is not defined"),
    ("b.py", "dbset('db', 'ora')\n", "line 1: Oracle is not among"),
    ("c.py", "dbset('db'\n", "SyntaxError: "),
])
def test_mistakes_are_reported_with_their_line(script, name, text, error):
    code, out, err = script(text, name)
    assert code == 2 and f"{name}: {error}" in err and "Traceback" not in err, out + err


def test_ctrl_c_ends_a_script_and_its_run_is_stored(script, tmp_path):
    with lib.Postgres(fsync="off") as database:
        values = {"prefix": "pg", "port": database.port, "connection": "diset connection pg_sslmode disable"}
        code, out, err = script(BUILD, **values)
        assert code == 0, out + err
        file = tmp_path / "long.tcl"
        file.write_text(RUN.format(**values).replace("pg_duration 0.05", "pg_duration 10") + "\nputs unreached\n")
        program = pathlib.Path(sys.executable).with_name("triphammer")
        with subprocess.Popen([program, "hammerdb", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "TMP": str(tmp_path)}) as child:
            for line in child.stdout:
                if line.endswith("PostgreSQL tpm\n"):
                    break
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=60)
        assert child.returncode == 130 and "unreached" not in out, out + err
        last = triphammer.jobs(limit=1)[0]
        assert (last.kind, last.status) == ("run", "interrupted")


@pytest.mark.parametrize("name, text", [
    ("a.tcl", "puts waits\nafter 100000\n"),
    ("b.tcl", "vustatus\nputs waits\nwhile 1 {}\n"),
    ("c.tcl", "puts waits\nvwait forever\n"),
    ("a.py", "print('waits')\ntclpy.eval('after 100000')\n"),
    ("b.py", "import time\nvustatus()\nprint('waits')\ntime.sleep(100)\n"),
])
def test_ctrl_c_ends_a_script_that_waits(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text)
    program = pathlib.Path(sys.executable).with_name("triphammer")
    with subprocess.Popen([program, "hammerdb", file], stdout=subprocess.PIPE, text=True) as child:
        assert "waits\n" in child.stdout
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=60) in (130, -signal.SIGINT)


def test_without_tcl_the_command_that_installs_it_is_named(tmp_path):
    file = tmp_path / "a.tcl"
    file.write_text("dbset db pg\n")
    code = f"import sys; sys.modules['tkinter'] = None; from triphammer.hammerdb import main; sys.exit(main([{str(file)!r}]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2 and "apt-get install python3-tk" in done.stderr, done.stderr


def test_jobs_cannot_be_disabled_and_the_script_goes_on(script):
    code, out, err = script("jobs disable 1\njobs disable 0\njobs disable x\n")
    assert code == 0, err
    words = "Jobs stay enabled: they are always stored, in the file that TRIPHAMMER_STORE names"
    assert out.splitlines() == [words, "Jobs are enabled", "Usage: jobs disable [0|1]"]


QUERIES = """
dbset db {prefix}
dbset bm TPC-H
diset connection {prefix}_host 127.0.0.1
diset connection {prefix}_port {port}
{connection}
diset tpch {prefix}_scale_fact 0.01
diset tpch {prefix}_num_tpch_threads 1
buildschema
checkschema
diset tpch {prefix}_total_querysets 2
loadscript
vuset vu 1
vucreate
set jobid [ lindex [ split [ vurun ] = ] 1 ]
vudestroy
job $jobid 1
deleteschema
"""


@pytest.mark.parametrize("server, prefix, name", [(lib.Postgres, "pg", "PostgreSQL"), (lib.Mariadb, "maria", "MariaDB")])
def test_scripts_run_queries(script, server, prefix, name):
    with server() as database:
        connection = "diset connection pg_sslmode disable" if prefix == "pg" else "diset tpch maria_tpch_pass null"
        code, out, err = script(QUERIES, prefix=prefix, port=database.port, connection=connection)
    assert code == 0, out + err
    assert f"{name} TPROC-H Schema has been checked successfully." in out
    # Once by the run, and once by the job; in seconds.
    found = re.findall(r'Geometric mean of query times returning rows \((\d+)\) is \\?"([\d.]+)', out)
    assert len(found) == 2 and found[0] == found[1] and int(found[0][0]) <= 22, out
    times = [float(time) for time in re.findall(r"Vuser 1:query \d+ completed in ([\d.]+) seconds", out)]
    assert out.count("Completed 2 query set(s) in ") == 2
    assert len(times) == 44 and 0 < float(found[0][1]) <= max(times) + 0.001, out
    assert f"{name} TPROC-H Schema has been deleted successfully." in out


def test_jobs_are_listed_in_the_form_of_hammerdb(script, result):
    code, out, err = script("puts [ jobs ]\n")
    assert code == 0, err
    assert f"{result.job:024X}" in json.loads(out)
    code, listed, err = script("jobs format TEXT\nforeach job [ jobs joblist ] { puts $job }\njob [ lindex [ jobs joblist ] 0 ] bm\n")
    assert code == 0 and listed.splitlines()[1:-1] == json.loads(out), listed + err
    assert triphammer.job(int(json.loads(out)[0], 16)) is not None


def test_the_ids_of_all_performance_profiles_are_listed(script):
    for number in (12, 3):
        triphammer.run("null:", workload="tproc-c", rampup="0s", duration="1s", label=f"hammerdb-profile-{number}").result()
    triphammer.run("null:", workload="tproc-c", rampup="0s", duration="1s", label="hammerdb-profile-of-mine").result()
    code, out, err = script("jobs profileid 3\njobs profileid all\njobs profileid\n")
    head, _, rest = out.partition("\n")
    found, _, tail = rest.partition("]\n")
    # Other tests have profiles, too.
    assert code == 0 and {3, 12} <= set(json.loads(found + "]")), out + err
    assert (head, tail) == ("Setting performance profile id to 3", "Performance profile id is 3\n")
    code, out, err = script("jobs format text\njobs profileid all\n")
    assert code == 0 and {"3", "12"} <= set(out.splitlines()), out + err
    code, _, err = script("jobs profileid some\n")
    assert code == 2 and "the id of a performance profile is a number, or all, not some" in err, err


SIZING = """
puts "SETTING CONFIGURATION"
dbset db pg
diset connection pg_host 127.0.0.1
diset connection pg_port {port}
diset connection pg_sslmode disable
diset tpcc pg_count_ware 1
diset tpcc pg_num_vu 1
diset tpcc pg_superuserpass secret
diset tpcc pg_rampup 0
diset tpcc pg_duration 2
diset tpcc pg_allwarehouse true
buildschema
foreach users {{ 1 2 4 }} {{
    loadscript
    vuset vu $users
    vucreate
    puts [ open $::env(TMP)/jobid w ] [ vurun ]
    vudestroy
    {between}
}}
deleteschema
exit
"""
SIZING_FILE = """\
# What sizing.tcl runs. Its password is not here: use TRIPHAMMER_PASSWORD or password-file.
target = "postgres://tpcc@127.0.0.1:{port}/tpcc?sslmode=disable"
workload = "tproc-c"

# As postgres, before the build: CREATE ROLE "tpcc" LOGIN PASSWORD '…'; CREATE DATABASE "tpcc" OWNER "tpcc"
# triphammer build -f FILE
[build]
scale = 1
jobs = 1

# triphammer profile -f FILE
[profile]
rampup = "0m"
duration = "2m"
all-warehouses = true
vus = [1, 2, 4]

# triphammer drop -f FILE --yes
[drop]
"""


def test_a_script_becomes_a_job_file(script, tmp_path):
    with lib.Postgres(fsync="off") as database:
        port = database.port
        code, out, err = script(SIZING, "sizing.tcl", ["--convert"], between="", port=port)
        assert (code, out) == (0, SIZING_FILE.format(port=port)), err
        # What the script writes for others is not left: the jobs do not exist.
        assert not (tmp_path / "jobid").exists()
        file = tmp_path / "sizing.toml"
        file.write_text(out)
        for statement in next(line for line in out.splitlines() if "before the build" in line).partition(": ")[2].split(";"):
            database.psql("postgres", statement)
        assert triphammer.build(job_file=file).good
        settings = {one.name: (one.value, one.source) for one in triphammer.preview("profile", job_file=file)}
        assert settings["duration"][0] == "2m" and "sizing.toml" in settings["duration"][1]
        profile = triphammer.profile(job_file=file, duration="1s", repeats=1, cool_down="0s")
        assert [level.users for level in profile.levels] == [1, 2, 4]
        assert "warehouse" in triphammer.drop(job_file=file, yes=True)
    code, out, err = script(SIZING, "sizing.tcl", ["--convert"], between="diset tpcc pg_rampup $users", port=port)
    assert (code, out) == (2, "") and "3 different settings for `run`" in err, err
    code, out, err = script("dbset db pg\nprint db\n", "none.tcl", ["--convert"])
    assert (code, out) == (2, "") and "nothing to convert" in err


KEYED = """
dbset db {prefix}
diset tpcc {prefix}_keyandthink true
diset tpcc {prefix}_rampup 0
diset tpcc {prefix}_duration 0.05
vuset vu 4
{more}
vurun
"""


@pytest.mark.parametrize("prefix, more, terminals", [
    ("pg", "", 4), ("maria", "", 4),
    ("mysql", "diset tpcc mysql_async_scale true\ndiset tpcc mysql_async_client 5\ndiset tpcc mysql_async_delay 20", 20)])
def test_virtual_users_that_key_and_think_are_terminals(script, tmp_path, prefix, more, terminals):
    code, out, err = script(KEYED, "keyed.tcl", ["--convert"], prefix=prefix, more=more)
    assert code == 0, err
    delay = ['login-delay = "5000us"'] if more else []
    assert out.splitlines()[-5 - len(delay):] == [
        'rampup = "0m"', 'duration = "3000ms"', 'load = "keyed"', f"terminals = {terminals}", f"sessions = {terminals}",
        *delay], out
    file = tmp_path / "keyed.toml"
    file.write_text(out)
    # On another database, because nothing is built.
    spec = triphammer.run("null:", job_file=file, rampup="0s", duration="1s").result().spec
    assert (spec.users, spec.load) == (terminals, "keyed")
    code, out, err = script(KEYED.replace("vurun", "steprun"), prefix=prefix, more=more)
    line = 8 + more.count("\n")
    assert code == 2 and f"line {line}: steprun: a step workload has no keying and thinking times" in err, err


@pytest.mark.parametrize("benchmark, options, lines", [
    ("TPC-C", "diset tpcc maria_count_ware 08\ndiset tpcc maria_num_vu 010\ndiset tpcc maria_partition true",
     ["scale = 8", "jobs = 8", "partitions = 8"]),
    ("TPC-H", "diset tpch maria_scale_fact 010\ndiset tpch maria_num_tpch_threads 02", ["scale = 10", "jobs = 2"]),
])
def test_numbers_with_leading_zeros_are_numbers_of_a_job_file(script, benchmark, options, lines):
    text = f"dbset db maria\ndbset bm {benchmark}\n{options}\nbuildschema\n"
    code, out, err = script(text, "zeros.tcl", ["--convert"])
    assert code == 0, err
    assert set(lines) <= set(out.splitlines()), out


@pytest.mark.parametrize("host, shown", [
    ("::1", "[::1]:5432"), ("/var/run/postgresql", "%2Fvar%2Frun%2Fpostgresql:5432"), ("db1", "db1:5432"),
])
def test_hosts_are_those_of_libpq(script, host, shown):
    code, out, err = script(f"dbset db pg\ndiset connection pg_host {host}\nbuildschema\n", "host.tcl", ["--convert"])
    assert code == 0, err
    assert f'target = "postgres://tpcc@{shown}/tpcc?sslmode=prefer"' in out.splitlines(), out


@pytest.mark.parametrize("settings, parameters", [
    ("", "ssl-mode=preferred"),
    ("diset connection maria_ssl true", "ssl-mode=REQUIRED"),
    ("diset connection maria_ssl true\ndiset connection maria_ssl_ca my.pem", "ssl-ca=/etc/mysql/certs/my.pem"),
    ("diset connection maria_ssl true\ndiset connection maria_ssl_two_way true\n"
     "diset connection maria_ssl_linux_capath {/a b}", "ssl-ca=/a%20b/ca-cert.pem&ssl-cert=/a%20b/client-cert.pem"
     "&ssl-key=/a%20b/client-key.pem"),
])
def test_tls_is_what_the_script_asks_for(script, settings, parameters):
    code, out, err = script(f"dbset db maria\ndiset connection maria_host db1\n{settings}\nbuildschema\n", "tls.tcl",
                            ["--convert"])
    assert code == 0, err
    assert f'target = "mariadb://root@db1:3306/tpcc?{parameters}"' in out.splitlines(), out


def test_a_script_in_python_becomes_a_job_file(script):
    text = PYTHON.replace("deleteschema()", "print('kept')")
    code, out, err = script(text, "small.py", ["--convert"], prefix="maria", port=3306, connection="")
    assert code == 0, err
    assert out.splitlines()[1:] == [
        'target = "mariadb://root@127.0.0.1:3306/tpcc?ssl-mode=preferred"', 'workload = "tproc-c"', "",
        "# triphammer run -f FILE", "[run]", "vus = 1", 'rampup = "0m"', 'duration = "3000ms"']


WAITS = """
proc runtimer {{ seconds }} {{
    for {{ set x 0 }} {{ $x < $seconds && ![ vucomplete ] }} {{ incr x }} {{ after 1000; update }}
}}
dbset db pg
loadscript
vuset vu 2
vurun
runtimer 100000
while {{ ![ vucomplete ] }} {{ after 1000 }}
after 3600000 {{ vudestroy }}
vwait forever
puts "never reached"
"""


@pytest.mark.parametrize("name, text", [
    ("waits.tcl", WAITS.replace("{{", "{").replace("}}", "}")),
    ("waits.py", "import time\ndbset('db', 'pg')\nvurun()\nwhile vucomplete() != 'true':\n    time.sleep(60)\ntime.sleep(9999)\n"),
])
def test_conversion_does_not_wait(script, name, text):
    code, out, err = script(text, name, ["--convert"])
    assert code == 0 and "[run]" in out, err


def test_options_without_effect_say_so(script):
    code, out, err = script("dbset db pg\ndiset tpcc pg_connect_pool true\ndiset tpcc pg_vacuum true\n"
                            "diset tpcc pg_vacuum false\ndiset tpcc pg_rampup 1\n")
    assert code == 0, err
    assert "Changed tpcc:pg_connect_pool from false to true for PostgreSQL\npg_connect_pool has no effect here: use" in out
    assert out.count("has no effect here") == 2, out


def test_percentiles_have_the_lines_of_hammerdb():
    from triphammer.hammerdb.percentiles import percentiles

    result = triphammer.run("null:", vus=2, rampup="0s", duration="2s", seed=1).result()
    lines = percentiles(result)
    assert re.fullmatch(r"\|PERCENTILES \d{4}-\d\d-\d\d \d\d:\d\d:\d\d to \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", lines[0]), lines
    row = re.compile(r"\|(neword|payment|delivery|slev|ostat)\|MIN-\d+\|P50%-\d+\|P95%-\d+\|P99%-\d+\|MAX-\d+\|SAMPLES-\d+")
    assert {row.fullmatch(line)[1] for line in lines if "PERCENTILES" not in line} >= {"neword", "payment"}
