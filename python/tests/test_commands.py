"""Functions do what the commands do: real SQLite, PostgreSQL, and no database."""

import ast
import datetime
import inspect
import json
import pathlib
import subprocess
import sys

import pytest

import triphammer


def program(*arguments):
    """Runs the console script; returns exit code, stdout and stderr."""
    script = pathlib.Path(sys.executable).with_name("triphammer")
    done = subprocess.run([script, *arguments], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_a_build_and_a_check_wait_for_their_results(tmp_path):
    target = f"sqlite:{tmp_path / 'shop.sqlite'}"
    built = triphammer.build(target, scale=1, jobs=2)
    assert (built.outcome, built.scale, built.good) == ("built", 1, True)
    assert built.rows > 400_000
    checked = triphammer.check(target)
    assert checked.good and checked.checks
    assert "<testsuite" in checked.junit()
    with pytest.raises(triphammer.SettingError, match="nothing was dropped: use yes=True"):
        triphammer.drop(target)
    assert "warehouse" in triphammer.drop(target, yes=True)


def test_a_run_on_postgresql_is_the_one_of_the_command_line(postgres):
    result = triphammer.run(postgres, vus=2, rampup="1s", duration=datetime.timedelta(seconds=3)).result()
    assert result.good, result.text()
    assert result.server.product == "PostgreSQL"
    assert result.spec.users == 2
    assert result.primary_metric.verification.verdict in ("verified", "within_bounds")
    sources = {setting.name: setting.source for setting in result.settings}
    assert (sources["vus"], sources["scale" if "scale" in sources else "mode"]) == ("call", "default")
    code, out, _ = program("report", str(result.job), "--format", "json")
    assert code == 0
    stored = json.loads(out)
    assert stored.keys() == result.to_dict().keys()
    assert [type["committed"] for type in stored["run"]["types"]] == [type.committed for type in result.run.types]
    assert stored["settings"] == result.to_dict()["settings"]


def test_campaigns_wait_for_their_results():
    profile = triphammer.profile("null:", workload="tpc-b", vus=[1, 2, 4], repeats=1, rampup="0s", duration="1s",
                                 cool_down="0s")
    assert [level.users for level in profile.levels] == [1, 2, 4]
    assert "<svg" in profile._repr_html_()
    both = triphammer.chart(profile, profile, names=["old", "new"])
    assert str(both).count("<polyline") == 2 and ">old</text>" in both._repr_html_()
    with pytest.raises(ValueError):
        triphammer.chart(profile, names=["a", "b"])
    matrix = triphammer.matrix("null:", workload="tpc-b", over=["vus=1,2,4", "protocol=prepared,simple"], repeats=1,
                               rampup="0s", duration="1s", cool_down="0s")
    assert len(matrix.cells) == 6 and [curve.axis for curve in matrix.curves] == ["vus", "vus"]
    assert "<table" in matrix._repr_html_() and "<svg" in matrix._repr_html_()
    pair = triphammer.compare("null:", ab=True, workload="tpc-b", pairs=2, duration="1s", rampup="0s", cool_down="0s",
                              b="vus=2", a="vus=1")
    assert pair.verdict.kind in ("faster", "slower", "equivalent", "inconclusive")


def test_a_capacity_search_finds_a_known_rate():
    steps = []
    search = triphammer.start("capacity", "null:?service=20ms&workers=4", vus=64, limit="all.p95 < 400ms", rampup="0s",
                              duration="1s", cool_down="0s", precision="20%")
    search.on_message = lambda message: steps.append(message)
    result = search.result(timeout=300)
    assert result.good, result.text()
    # Four workers that need 20 ms each; a probe during which this host stood still shows less.
    assert result.judgement.result == "found" and 0 < result.judgement.rate < 320
    assert len([step for step in steps if step["type"] == "step" and step["outcome"]]) == len(result.probes)
    assert "holds up to" in result.text()
    assert triphammer.job(result.job).judgement.rate == result.judgement.rate


def test_a_drill_proves_that_nothing_is_lost(postgres):
    result = triphammer.drill(postgres, vus=4, duration="6s", fault=["at=1s cut=1s", "at=4s terminate"])
    assert result.good, result.text()
    assert [fault.succeeded for fault in result.faults] == [True, True]
    assert result.commits.acknowledged > 0
    assert (result.commits.lost, result.commits.duplicated, result.commits.reordered) == (0, 0, 0)
    assert "<testsuite" in result.junit()
    assert triphammer.job(result.run).kind == "run"
    with pytest.raises(triphammer.SettingError, match="at="):
        triphammer.drill(postgres, fault="cut=1s")


def test_a_drill_that_loses_commits_is_not_good(postgres):
    steal = "DELETE FROM triphammer_drill WHERE usr = 0 AND seq = 1"
    fault = f"at=3s cmd=psql '{postgres}' -c '{steal}'"
    result = triphammer.drill(postgres, vus=2, duration="4s", fault=fault)
    assert result.faults[0].succeeded, result.faults[0].detail
    assert result.good is False and result.commits.lost == 1


def test_isolation_says_what_a_level_keeps_and_tells_it_while_it_runs(postgres):
    checked = []
    test = triphammer.start("isolation", postgres, isolation="read-committed", vus=4, rows=4, duration="4s",
                            control="0s", expect="lost-update")
    test.on_message = lambda message: message["type"] == "checked" and checked.append(message)
    result = test.result(timeout=120)
    assert result.good, result.text()
    [level] = result.levels
    [lost] = [kind for kind in level.kinds if kind.kind == "lost-update"]
    assert lost.count > 0 and lost.verdict == "allowed" and lost.example.transactions
    assert [found["count"] for found in checked[-1]["found"] if found["kind"] == "lost-update"] == [lost.count] and checked[-1]["level"] == "read-committed"
    assert "<testsuite" in result.junit()


def test_handles_and_results_name_their_jobs(result):
    run = triphammer.run("null:", workload="tpc-b", vus=1, rampup="0s", duration="1s")
    other = triphammer.run("null:", workload="tpc-b", vus=1, rampup="0s", duration="1s")
    pair = triphammer.compare(run, other.result())
    assert [side.runs[0].job for side in (pair.a, pair.b)] == [run.number, other.number] and run.done
    assert [triphammer.job(one).job for one in (run, result)] == [run.number, result.job]
    history = triphammer.history(label="python")
    with pytest.raises(triphammer.Error, match="the job is not in the job store"):
        triphammer.job(history)


@pytest.mark.parametrize("value", [object(), {"a": 1}, b"2", [1, object()]])
def test_a_value_of_a_type_that_no_setting_has_is_rejected_by_the_call(value):
    with pytest.raises(triphammer.SettingError, match=r"`vus` cannot be of type (object|dict|bytes): give a text, a number"):
        triphammer.run("null:", workload="tpc-b", vus=value)


def test_an_empty_list_is_not_given_and_text_is_unicode():
    given = triphammer.preview("run", "null:", workload="tpc-b", require=[], define=())
    assert not {"require", "define"} & {setting.name for setting in given if setting.source == "call"}
    with pytest.raises(triphammer.SettingError, match=r"`label` contains '\\udcff', which is not Unicode text"):
        triphammer.run("null:", workload="tpc-b", label="\udcff")


def test_stored_jobs_are_found_and_loaded(result, store):
    found = triphammer.jobs(label="python")
    assert [job.id for job in found] == [result.job]
    assert found[0].status == "complete"
    again = triphammer.job(result.job)
    assert again.good and again.run.total.committed == result.run.total.committed
    assert triphammer.job("last", store=store).to_dict()
    history = triphammer.history("python")
    assert [run.job for run in history.runs] == [result.job]
    assert "TPS" in history.text()
    with pytest.raises(triphammer.SettingError, match="no job 4711"):
        triphammer.job(4711)


def test_the_doctor_examines_the_host_and_a_database(sqlite):
    found = triphammer.doctor(sqlite)
    assert {line.group for line in found.lines} >= {"host"}
    assert found.good == (found.verdict != "wrong")
    assert "host" in found.text().lower()


def test_a_preview_names_every_setting_with_its_source(sqlite):
    settings = {one.name: (one.value, one.source) for one in triphammer.preview("run", sqlite, workload="tpc-b", vus=3)}
    assert settings["vus"] == ("3", "call")
    assert settings["duration"][1] == "default"


def test_signatures_come_from_the_declarations():
    parameters = inspect.signature(triphammer.run).parameters
    assert list(parameters)[0] == "target"
    assert {"vus", "duration", "drain_timeout", "all_warehouses"} <= set(parameters)
    assert not {"tui", "json", "show_spec", "replay_exemplar"} & set(parameters)
    assert "vus: " in triphammer.run.__doc__
    assert list(inspect.signature(triphammer.compare).parameters)[:2] == ["target", "other"]


@pytest.mark.parametrize("settings", [
    {"vus": "many"},
    {"duration": "10"},
    {"workload": "tpc-x"},
    {"load": "rate:x"},
    {"max_failures": "200%"},
])
def test_errors_are_those_of_the_command_line(settings):
    with pytest.raises(ValueError) as raised:
        triphammer.run("null:", **settings).result()
    assert isinstance(raised.value, triphammer.SettingError)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    code, _, err = program("run", "null:", *flags)
    assert code == 2
    assert f"error: {raised.value}".replace("from the call", "from the command line") in err


def test_unknown_and_repeated_arguments_are_refused():
    with pytest.raises(triphammer.SettingError, match="unknown setting for `run`: `duratoin`; did you mean `duration`"):
        triphammer.run("null:", duratoin=3)
    with pytest.raises(triphammer.SettingError, match="given by position and by name"):
        triphammer.run("null:", target="null:")
    with pytest.raises(triphammer.SettingError, match="at most 1 by position"):
        triphammer.run("null:", "tpc-b")
    with pytest.raises(triphammer.SettingError, match="unknown job `dance`|unknown command `dance`"):
        triphammer.start("dance")


def test_a_database_that_cannot_be_reached_is_a_database_error(tmp_path):
    with pytest.raises(triphammer.DatabaseError, match="check host and port"):
        triphammer.run("postgres://nobody@127.0.0.1:1/none?sslmode=disable").result()


def test_a_requirement_that_is_not_met_makes_a_result_that_is_not_good():
    result = triphammer.run("null:", workload="tpc-b", duration="1s", rampup="0s", require="tps < 1").result()
    assert result.good is False
    assert not result.requirements[0].passed


def test_the_console_script_is_the_program():
    code, out, _ = program("--version")
    assert (code, out.strip()) == (0, f"triphammer {triphammer.__version__}")
    code, _, err = program("run", "--duratoin", "3")
    assert code == 2 and "did you mean `--duration`" in err
    code, out, _ = program("run", "null:", "--workload", "tpc-b", "--rampup", "0s", "--duration", "1s", "--json")
    assert code == 0 and json.loads(out)["kind"] == "run"


def test_job_files_and_the_environment_are_weaker_layers(tmp_path, monkeypatch):
    file = tmp_path / "job.toml"
    file.write_text('workload = "tpc-b"\n[run]\nvus = 5\nduration = "2s"\nrampup = "0s"\n')
    monkeypatch.setenv("TRIPHAMMER_DURATION", "1s")
    result = triphammer.run("null:", job_file=file, vus=3).result()
    settings = {one.name: (one.value, one.source) for one in result.settings}
    assert settings["vus"] == ("3", "call")
    assert settings["duration"] == ("1s", "environment")
    assert settings["rampup"][1] == f"job file {file}"


def test_every_command_of_the_stubs_is_a_function():
    stubs = ast.parse(pathlib.Path(triphammer.__file__).with_name("_commands.pyi").read_text())
    named = {one.name for one in stubs.body if isinstance(one, ast.FunctionDef)}
    functions = {name for name in triphammer.__all__ if inspect.isfunction(getattr(triphammer, name))}
    # It decorates, and is no command.
    assert named == functions - {"transaction"}
