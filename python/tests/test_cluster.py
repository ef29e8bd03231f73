"""Runs by several hosts: without Ray, as far as that goes. `tools/test-ray.py` runs on a cluster of Ray."""

import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

import pytest

import triphammer

RUN = dict(workload="tpc-b", vus=4, rampup="0s", duration="2s")


def test_a_run_by_processes_of_this_host(store):
    result = triphammer.run("null:?service=2ms", cluster="local", hosts=2, store=store, **RUN).result()
    assert result.good
    assert [host.sessions for host in result.hosts] == [2, 2]
    assert sum(host.completed for host in result.hosts) == result.window.total.completed


def test_the_command_line_starts_them_too(store):
    run = ["run", "null:?service=2ms", "-w", "tpc-b", "--vus", "2", "--rampup", "0s", "--duration", "1s", "--json"]
    done = subprocess.run([sys.executable, "-m", "triphammer", *run, "--cluster", "local"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [host["sessions"] for host in json.loads(done.stdout)["hosts"]] == [1, 1]


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_the_package_to_install_is_named(store):
    with pytest.raises(triphammer.SettingError, match=r"pip install 'triphammer\[ray\]'"):
        triphammer.run("null:", cluster="ray://localhost:1", store=store, **RUN).result()


@pytest.fixture
def sources(tmp_path):
    """A folder with the package's source, not compiled, as the repository has it."""
    native = shutil.ignore_patterns("_native.*.so", "__pycache__")
    shutil.copytree(pathlib.Path(triphammer.__file__).parent, tmp_path / "triphammer", ignore=native)
    return tmp_path


def test_processes_are_of_this_package_whatever_the_current_folder_has(store, sources):
    command = pathlib.Path(sys.executable).with_name("triphammer")
    run = ["run", "null:?service=2ms", "-w", "tpc-b", "--vus", "2", "--rampup", "0s", "--duration", "1s", "--json"]
    done = subprocess.run([command, *run, "--cluster", "local"], capture_output=True, text=True, cwd=sources)
    assert done.returncode == 0, done.stderr
    assert [host["sessions"] for host in json.loads(done.stdout)["hosts"]] == [1, 1]


def test_sources_that_are_not_compiled_say_so(sources):
    done = subprocess.run([sys.executable, "-c", "import triphammer"], capture_output=True, text=True, cwd=sources)
    assert done.returncode == 1 and f"ImportError: {sources / 'triphammer'} is the source" in done.stderr, done.stderr
    assert f"start Python in another folder than {sources}" in done.stderr
