"""Type checkers know the settings of functions and the fields of results."""

import subprocess
import sys

PROGRAM = """
import triphammer

run = triphammer.run("null:", workload="tpc-b", vus=2, duration="1s")
for second in run:
    print(second.phase)
tps: float = run.result().primary_metric.value
users: int = run.result().spec.users
names: list[str] = [type.name for type in run.result().window.types]


class Shop(triphammer.Workload):
    @triphammer.transaction(weight=2, reads=True)
    async def look(self, session: triphammer.Session) -> None:
        rows: list[tuple[object, ...]] = await session.query("SELECT 1")

    @triphammer.transaction
    async def buy(self, session: triphammer.Session) -> None:
        async with session.transaction():
            count: int = await session.execute("UPDATE t SET a = ?", (session.random.random(),))


triphammer.run("null:", workload=Shop)
"""
MISTAKES = """
import triphammer

triphammer.run("null:", duratoin="1s")
triphammer.run("null:", vus=[1])
word: int = triphammer.check("null:").target
"""


def check(code, folder):
    """Checks a program with mypy; returns what it says."""
    file = folder / "program.py"
    file.write_text(code)
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder / "cache", file],
                          capture_output=True, text=True, timeout=300, cwd=folder)
    return done.stdout


def test_programs_with_correct_types_pass_and_mistakes_are_found(tmp_path):
    assert "Success" in check(PROGRAM, tmp_path)
    found = check(MISTAKES, tmp_path)
    assert 'Unexpected keyword argument "duratoin"' in found
    assert 'incompatible type "list[int]"' in found
    assert "Incompatible types in assignment" in found
