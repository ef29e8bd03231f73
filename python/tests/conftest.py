"""What the tests share: a job store of their own, and databases built once."""

import os
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))


@pytest.fixture(scope="session", autouse=True)
def store(tmp_path_factory):
    """The file of a job store that no other program uses."""
    path = tmp_path_factory.mktemp("store") / "jobs.sqlite"
    os.environ["TRIPHAMMER_STORE"] = str(path)
    return path


@pytest.fixture(scope="session")
def sqlite(tmp_path_factory, store):
    """The target of an SQLite file with TPC-B."""
    import triphammer

    target = f"sqlite:{tmp_path_factory.mktemp('sqlite') / 'bank.sqlite'}"
    triphammer.build(target, workload="tpc-b", scale=1)
    return target


@pytest.fixture(scope="session")
def postgres(store):
    """The target of a private PostgreSQL with TPROC-C."""
    import lib

    import triphammer

    with lib.Postgres(fsync="off") as server:
        server.fresh("tpcc")
        target = server.url("tpcc")
        triphammer.build(target, scale=1)
        yield target


@pytest.fixture(scope="session")
def result(sqlite):
    """The result of a run on SQLite."""
    import triphammer

    return triphammer.run(sqlite, workload="tpc-b", vus=2, rampup="1s", duration="3s", label="python").result()
