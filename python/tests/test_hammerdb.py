"""Scripts for HammerDB's command line on PostgreSQL and MariaDB."""

import json
import os
import pathlib
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
if {{[ catch {{ steprun }} error ]}} {{ puts "caught: $error" }}
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
    def run(text, name="script.tcl", **values):
        file = tmp_path / name
        file.write_text(text.format(**values) if values else text)
        program = pathlib.Path(sys.executable).with_name("triphammer")
        done = subprocess.run([program, "hammerdb", file], capture_output=True, text=True, timeout=240,
                              env={**os.environ, "TMP": str(tmp_path)})
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
        assert "caught: steprun: use a load that changes over time" in out
        code, out, err = script(RESULT)
        assert code == 0, out + err
        assert "TEST RESULT : System achieved" in out and "NEW_ORDER" in out and f"{name} tpm" in out
        code, out, err = script(PYTHON, "script.py", **values)
        assert code == 0, out + err
        assert f"{name} TPM at" in out and "JOB Benchmark Run jobid=" in out
        assert "has been deleted successfully" in out


def test_what_scripts_cannot_have_says_what_to_use(script, tmp_path):
    code, out, err = script("dbset db ora\n")
    assert code == 2 and "Oracle is not among" in err
    code, out, err = script("loadscript\n")
    assert code == 2 and "the script must begin with dbset" in err
    code, out, err = script("puts before\nexit 3\nputs after\n")
    assert (code, out) == (3, "before\n")
    code, _, err = script("", "script.sh")
    assert code == 2 and "ends with .tcl or .py" in err


def test_jobs_are_listed_in_the_form_of_hammerdb(script, result):
    code, out, err = script("jobs\n")
    assert code == 0, err
    assert f"{result.job:024X}" in json.loads(out)
    assert triphammer.job(int(json.loads(out)[0], 16)) is not None
