"""Workloads in Python, on SQLite and PostgreSQL."""

import datetime
import decimal
import inspect
import json
import pathlib
import subprocess
import sys
import threading

import pytest

import triphammer
from triphammer import transaction


class Shop(triphammer.Workload):
    """Reads and writes one table."""

    async def setup(self, session):
        self.rows = int(self.options.get("rows", "100"))
        await session.script("DROP TABLE IF EXISTS shop; CREATE TABLE shop (id int PRIMARY KEY, sold int NOT NULL)")
        async with session.transaction():
            for number in range(self.rows):
                await session.execute("INSERT INTO shop VALUES (?, 0)", (number,))

    async def connected(self, session):
        session.seen = 0

    @transaction(weight=3, reads=True)
    async def look(self, session):
        rows = await session.query("SELECT id, sold FROM shop WHERE id = ?", [session.random.randrange(self.rows)])
        assert len(rows) == 1
        session.seen += 1

    @transaction
    async def buy(self, session):
        number = session.random.randrange(self.rows)
        async with session.transaction():
            changed = await session.execute("UPDATE shop SET sold = sold + 1 WHERE id = ?", (number,))
            assert changed == 1

    @transaction(weight=1)
    async def regret(self, session):
        await session.begin()
        await session.execute("UPDATE shop SET sold = -1 WHERE id = ?", (session.random.randrange(self.rows),))
        await session.rollback()


@pytest.fixture(params=["sqlite", "postgres"])
def target(request, tmp_path):
    """An empty SQLite file, and the PostgreSQL of the other tests."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'shop.sqlite'}"
    return request.getfixturevalue("postgres")


def one(target, transaction_of, **settings):
    """Runs a workload of one transaction once; returns the result."""
    class One(triphammer.Workload):
        only = transaction(transaction_of)

    settings = {"vus": 1, "transactions": 1, **settings}
    return triphammer.run(target, workload=One, **settings).result()


def test_transactions_are_weighted_and_counted(target):
    with triphammer.run(target, workload=Shop, vus=4, rampup="0s", duration="3s", define=["rows=50"], seed=7) as run:
        for _ in run:
            pass
    result = run.result()
    assert result.good, result.text()
    types = {type.name: type for type in result.run.types}
    assert list(types) == ["look", "buy", "regret"]
    assert types["look"].committed > types["buy"].committed > 0
    assert types["regret"].committed == 0 and types["regret"].rolled_back > 0
    assert result.workload.name == "python" and "class Shop" in json.dumps(result.to_dict())
    figures = {figure.name: figure.value for figure in result.figures}
    assert 0 < figures["client.script_cpu"] <= 1
    assert 0 < figures["client.script_lock"] <= 1
    # A thread holds the lock, waits for it, or does neither; there are no more threads than users.
    assert 0 <= figures["client.script_lock_wait"] <= 1 - figures["client.script_lock"] / 4
    assert figures["script.writes"] > 0 and figures["script.errors"] == 0
    # What the database has is what the run committed.
    sold = []

    async def count(self, session):
        sold.append((await session.query("SELECT sum(sold), min(sold) FROM shop"))[0])

    one(target, count)
    assert int(sold[0][0]) == types["buy"].committed and int(sold[0][1]) >= 0


def test_the_same_seed_draws_the_same_numbers(tmp_path):
    target, drawn = f"sqlite:{tmp_path / 'x.sqlite'}", {}

    def draw(key):
        async def draw(self, session):
            await session.query("SELECT 1")
            drawn.setdefault(key, []).append(session.random.random())
        return draw

    for key, seed in (("a", 3), ("b", 3), ("c", 4)):
        one(target, draw(key), transactions=5, seed=seed)
    assert len(set(drawn["a"])) == 5
    assert drawn["a"] == drawn["b"] != drawn["c"]


def test_the_numbers_of_setup_and_connected_depend_on_the_seed_and_the_session(tmp_path):
    def drawn(seed):
        of_setup, of_sessions = [], {}

        class Draws(triphammer.Workload):
            async def setup(self, session):
                of_setup.append(session.random.random())

            async def connected(self, session):
                of_sessions[session.number] = session.random.random()

            @transaction
            async def only(self, session):
                await session.query("SELECT 1")

        target = f"sqlite:{tmp_path / 'x.sqlite'}"
        assert triphammer.run(target, workload=Draws, vus=3, transactions=1, seed=seed).result().good
        return of_setup, of_sessions

    of_setup, of_sessions = drawn(3)
    assert len(of_setup) == 1 and sorted(of_sessions) == [0, 1, 2]
    assert len({*of_setup, *of_sessions.values()}) == 4
    assert drawn(3) == (of_setup, of_sessions)
    other_setup, other_sessions = drawn(4)
    assert other_setup != of_setup
    assert not set(other_sessions.values()) & set(of_sessions.values())


def test_one_thread_drives_many_users(postgres):
    """While one user waits for the database, others use the same thread."""
    threads, open_now, most = set(), set(), []

    async def wait(self, session):
        threads.add(threading.get_ident())
        open_now.add(session.number)
        await session.query("SELECT pg_sleep(0.3)")
        most.append(len(open_now))
        open_now.discard(session.number)

    result = one(postgres, wait, vus=20, transactions=4)
    assert result.run.total.committed == 80
    assert max(most) == 20
    assert len(threads) < 20


def test_values_keep_their_types(target):
    found = []
    now, today = datetime.datetime(2024, 2, 29, 12, 30, 1, 5), datetime.date(2024, 2, 29)

    async def values(self, session):
        await session.script("DROP TABLE IF EXISTS kinds; CREATE TABLE kinds (i bigint, f double precision, t varchar(20), "
                             "d numeric(10, 2), n int, at timestamp, day date)")
        await session.execute("INSERT INTO kinds VALUES (?, ?, ?, ?, ?, ?, ?)",
                              (2**40, 0.5, "žluťoučký '?", decimal.Decimal("12.50"), None, now, today))
        found.extend(await session.query("SELECT i, f, t, d, n, at, day FROM kinds"))
        assert await session.query("SELECT i FROM kinds WHERE t = '?' AND i = ?", (1,)) == []

    assert one(target, values).good
    [(i, f, t, d, n, at, day)] = found
    assert (i, f, t, n) == (2**40, 0.5, "žluťoučký '?", None)
    assert decimal.Decimal(str(d)) == decimal.Decimal("12.5")
    if "postgres" in target:
        assert (at, day, type(d)) == (now, today, decimal.Decimal)


def test_arrays_are_lists(postgres):
    found = []

    async def arrays(self, session):
        found.extend(await session.query("SELECT '{1,NULL,3}'::int[], '{a,b}'::text[], '{}'::numeric[], '{1.50}'::numeric[]"))

    assert one(postgres, arrays).good
    assert found == [([1, None, 3], ["a", "b"], [], [decimal.Decimal("1.50")])]


def test_errors_of_statements_can_be_caught_and_are_counted(target):
    codes = []

    async def catch(self, session):
        try:
            await session.query("SELECT a FROM nowhere")
        except triphammer.DatabaseError as error:
            codes.append(error.code)
            assert "nowhere" in str(error)
        assert await session.query("SELECT 1") == [(1,)]

    result = one(target, catch)
    assert result.good and codes and codes[0]
    figures = {figure.name: figure.value for figure in result.figures}
    assert figures["script.errors"] == 1

    async def fail(self, session):
        await session.query("SELECT a FROM nowhere")

    result = one(target, fail, transactions=3)
    assert result.run.total.failed == 3 and result.run.total.committed == 0


def line_of(text):
    """The line of this file that has a text."""
    lines = pathlib.Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line and "line_of" not in line)


def test_an_exception_ends_the_run_with_file_and_line(target):
    async def divide(self, session):
        await session.query("SELECT 1")
        return 1 // 0  # the mistake

    run = triphammer.run(target, workload=type("Bad", (triphammer.Workload,), {"divide": transaction(divide)}), vus=2,
                         rampup="0s", duration="60s")
    result = run.result(timeout=30)
    assert not result.good
    place = f"{__file__}:{line_of('# the mistake')}: ZeroDivisionError"
    assert any(place in warning for warning in run.warnings), run.warnings
    # At most one transaction of each user, and its session is as good as before.
    assert 1 <= result.run.total.failed <= 2 and result.sessions.lost == 0


@pytest.mark.parametrize("code, message", [
    ("import asyncio; await asyncio.sleep(0)", "can await only methods of its session"),
    ("await session.query('SELECT ?', 'text')", "not one str"),
    ("await session.query('SELECT ?', (object(),))", "a parameter cannot be object"),
    ("await session.query(5)", "a statement is a str, not int"),
    ("await session.sleep(-1)", "cannot wait for -1"),
    ("await session.begin()", "returned without commit() or rollback()"),
    ("await session.execute('SELECT ?', (2**70,))", "OverflowError"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt"),
])
def test_mistakes_say_what_to_do(tmp_path, code, message):
    file = tmp_path / "bad.py"
    file.write_text(f"import triphammer\nclass Bad(triphammer.Workload):\n    @triphammer.transaction\n"
                    f"    async def go(self, session):\n        {code}\n")
    run = triphammer.run(f"sqlite:{tmp_path / 'x.sqlite'}", workload="python", script=str(file), vus=1, transactions=2)
    result = run.result(timeout=60)
    assert not result.good
    said = " ".join(run.warnings)
    assert message in said, said
    assert "go()" in said


@pytest.mark.parametrize("text, message", [
    ("x = 1", "expected one subclass of triphammer.Workload, found none"),
    ("import triphammer\nclass A(triphammer.Workload): pass", "A has no transactions"),
    ("import triphammer\nclass A(triphammer.Workload):\n  @triphammer.transaction\n  def f(self, session): pass",
     "write `async def f`"),
    ("import triphammer\nclass A(triphammer.Workload): pass\nclass B(triphammer.Workload): pass", "found several: A, B"),
    ("x = (", "bad.py:1: SyntaxError"),
    ("\n\n1 / 0", "bad.py:3: ZeroDivisionError"),
    ("import triphammer\nclass A(triphammer.Workload):\n  @triphammer.transaction(weight=-1)\n  async def f(self, session): pass",
     "the weight of a transaction is a whole number from 0"),
    ("import triphammer\nclass A(triphammer.Workload):\n  def setup(self, session): pass\n  @triphammer.transaction\n"
     "  async def f(self, session): pass", "A.setup: it must be a coroutine: write `async def setup`"),
])
def test_a_script_that_cannot_be_loaded_is_refused(tmp_path, text, message):
    file = tmp_path / "bad.py"
    file.write_text(text)
    with pytest.raises(triphammer.SettingError) as raised:
        triphammer.run("null:", workload="python", script=file)
    assert message in str(raised.value)


SCRIPT = """
import triphammer

class Numbers(triphammer.Workload):
    async def setup(self, session):
        await session.script("CREATE TABLE IF NOT EXISTS numbers (n int)")

    @triphammer.transaction
    async def add(self, session):
        await session.execute("INSERT INTO numbers VALUES (?)", (int(self.options["n"]),))
"""


def test_the_console_script_runs_a_file(tmp_path):
    file = tmp_path / "numbers.py"
    file.write_text(SCRIPT)
    target = f"sqlite:{tmp_path / 'numbers.sqlite'}"
    program = pathlib.Path(sys.executable).with_name("triphammer")
    line = [program, "run", target, "-w", "python", "--script", f"{file}:Numbers", "-D", "n=5", "--vus", "1",
            "--transactions", "20", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["run"]["total"]["committed"] == 20
    found = []

    async def count(self, session):
        found.extend(await session.query("SELECT count(*), sum(n) FROM numbers"))

    one(target, count)
    assert found == [(20, 100)]
    done = subprocess.run([program, "build", target, "-w", "python"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 2 and "setup()" in done.stderr


def test_a_script_may_begin_with_a_byte_order_mark(tmp_path):
    file = tmp_path / "marked.py"
    file.write_bytes(b"\xef\xbb\xbf" + b"""
import triphammer

class Marked(triphammer.Workload):
    @triphammer.transaction
    async def one(self, session):
        await session.query("SELECT 1")
""")
    target = f"sqlite:{tmp_path / 'x.sqlite'}"
    result = triphammer.run(target, workload="python", script=file, vus=1, transactions=1).result()
    assert result.run.total.committed == 1


def test_a_script_of_the_same_name_as_a_class_that_was_passed_is_another(tmp_path):
    seen = []

    class Twice(triphammer.Workload):
        @transaction
        async def only(self, session):
            await session.query("SELECT 1")
            seen.append("class")

    target = f"sqlite:{tmp_path / 'x.sqlite'}"
    assert triphammer.run(target, workload=Twice, vus=1, transactions=1).result().good
    file = inspect.getsourcefile(Twice)
    text = ("import triphammer\nclass Twice(triphammer.Workload):\n    @triphammer.transaction\n"
            "    async def other(self, session):\n        await session.query('SELECT 1')\n")
    script = json.dumps([{"name": f"{file}:Twice", "text": text}])
    result = triphammer.run(target, workload="python", script=script, vus=1, transactions=1).result()
    assert result.good and seen == ["class"]
    assert [type.name for type in result.run.types] == ["other"]


def test_a_class_without_a_file_runs(tmp_path):
    code = ("import triphammer\n"
            "class Selects(triphammer.Workload):\n"
            "    @triphammer.transaction\n"
            "    async def select(self, session):\n"
            "        await session.query('SELECT 1')\n"
            "result = triphammer.run('sqlite:x.sqlite', workload=Selects, vus=1, transactions=10).result()\n"
            "assert result.good and result.run.total.committed == 10, result.text()\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_an_endless_loop_is_ended(tmp_path):
    async def loop(self, session):
        await session.query("SELECT 1")
        while True:
            pass

    class Loops(triphammer.Workload):
        loop_on = transaction(loop)

    run = triphammer.run(f"sqlite:{tmp_path / 'x.sqlite'}", workload=Loops, vus=1, transactions=1)
    assert not run.result(timeout=60).good
    assert any("10 s without a statement" in warning for warning in run.warnings), run.warnings


def test_campaigns_and_load_models_have_workloads_in_python(tmp_path):
    target = f"sqlite:{tmp_path / 'shop.sqlite'}"
    times = {"rampup": "0s", "duration": "1s", "cool_down": "0s"}
    profile = triphammer.profile(target, workload=Shop, vus=[1, 2], repeats=1, **times)
    assert [level.users for level in profile.levels] == [1, 2]
    pair = triphammer.compare(target, ab=True, workload=Shop, pairs=2, a="define=rows=10", b="define=rows=20", **times)
    assert pair.verdict.kind in ("faster", "slower", "equivalent", "inconclusive")
    rate = triphammer.run(target, workload=Shop, load="rate:20/s", vus=2, rampup="0s", duration="2s").result()
    assert 1 <= rate.run.total.started <= 60, rate.text()


def test_an_interrupted_run_closes_its_coroutines(postgres):
    closed = []

    async def wait(self, session):
        try:
            await session.query("SELECT pg_sleep(60)")
        finally:
            closed.append(session.number)

    class Waits(triphammer.Workload):
        wait_long = transaction(wait)

    run = triphammer.run(postgres, workload=Waits, vus=3, rampup="0s", duration="60s")
    for _ in run:
        run.abort()
        break
    run.result(timeout=30)
    assert sorted(closed) == [0, 1, 2]
