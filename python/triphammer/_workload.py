"""Workloads whose transactions are coroutines in Python."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, overload

from ._errors import DatabaseError, SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator, Sequence
    from random import Random
    from typing import TypeVar

    _Transaction = TypeVar("_Transaction", bound=Callable[..., Coroutine[Any, Any, Any]])

#: Requests, by the numbers that the native part knows.
_QUERY, _EXECUTE, _SCRIPT, _BEGIN, _COMMIT, _ROLLBACK, _SLEEP = range(7)


class Workload:
    """A workload of your own: a subclass whose methods with `transaction` are the transactions.

    One object of the class serves all sessions of a run. What belongs to one session is kept on the session.
    """

    #: Options of the run: ``define=["rows=1000"]``, or ``-D rows=1000`` on the command line.
    options: dict[str, str] = {}

    async def setup(self, session: Session) -> None:
        """Called once before each run; creates what the transactions need, if it is not there yet."""

    async def connected(self, session: Session) -> None:
        """Called for each session when it has connected, and again when it has reconnected."""


@overload
def transaction(function: _Transaction, /) -> _Transaction: ...
@overload
def transaction(*, weight: int = 1, reads: bool = False) -> Callable[[_Transaction], _Transaction]: ...
def transaction(function=None, /, *, weight=1, reads=False):
    """Makes a coroutine function ``async def name(self, session)`` a transaction of this weight in the mix. One that only
    ``reads`` may run on another node of a cluster."""
    if function is not None:
        return transaction()(function)
    if isinstance(weight, bool) or not isinstance(weight, int) or not 0 <= weight < 2**31:
        raise SettingError(f"the weight of a transaction is a whole number from 0 to 2147483647, not {weight!r}")

    def mark(function):
        function._triphammer = (weight, reads)
        return function

    return mark


class Session:
    """A connection of the engine: each method is awaited, and lets other users work until the database has answered.
    Attributes of your own may be added."""

    def __init__(self, number: int, sessions: int) -> None:
        #: Number of the session in the run, from 0.
        self.number = number
        #: Number of sessions of the run.
        self.sessions = sessions
        self._seed: int | None = None
        self._random: Random | None = None

    @property
    def random(self) -> Random:
        """Random numbers, which a transaction that is repeated draws again."""
        if self._random is None:
            import random

            self._random = random.Random()
        if self._seed is not None:
            self._random.seed(self._seed)
            self._seed = None
        return self._random

    @types.coroutine
    def query(self, sql: str, params: Sequence[Any] = ()) -> Generator[Any, Any, list[tuple[Any, ...]]]:
        """Returns the rows of a statement. Its placeholders are ``?`` on every database."""
        return (yield (_QUERY, sql, params))

    @types.coroutine
    def execute(self, sql: str, params: Sequence[Any] = ()) -> Generator[Any, Any, int]:
        """Runs a statement and returns the number of rows that it changed."""
        return (yield (_EXECUTE, sql, params))

    @types.coroutine
    def script(self, sql: str) -> Generator[Any, Any, None]:
        """Runs any text of SQL, which may contain several statements."""
        return (yield (_SCRIPT, sql, ()))

    @types.coroutine
    def begin(self) -> Generator[Any, Any, None]:
        """Begins a transaction. Without one, each statement commits itself."""
        return (yield (_BEGIN, None, ()))

    @types.coroutine
    def commit(self) -> Generator[Any, Any, None]:
        """Commits it."""
        return (yield (_COMMIT, None, ()))

    @types.coroutine
    def rollback(self) -> Generator[Any, Any, None]:
        """Rolls it back. A transaction of the workload that ends so counts as rolled back, not as failed."""
        return (yield (_ROLLBACK, None, ()))

    @types.coroutine
    def sleep(self, seconds: float) -> Generator[Any, Any, None]:
        """Waits; the time is part of the response time."""
        return (yield (_SLEEP, None, (seconds,)))

    def transaction(self) -> _Block:
        """``async with session.transaction():`` begins a transaction, and commits it at the end of the block. An
        exception that leaves the block rolls it back."""
        return _Block(self)


class _Block:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def __aenter__(self) -> None:
        await self._session.begin()

    async def __aexit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is None:
            await self._session.commit()
        elif kind is not GeneratorExit:
            # One that nobody awaits any more is rolled back by the engine.
            await self._session.rollback()


class TimeLimit(Exception):
    """Raised in code that runs on without a statement."""

    def __str__(self):
        return "the code ran for 10 s without a statement: check it for an endless loop, and for calls that wait"


#: Classes that were passed to a run, and those of scripts, by file, class and text.
_classes: dict[tuple[str, str | None, str], type] = {}


def settings(workload, given):
    """The settings of a run of this class."""
    import inspect
    import json

    if "script" in given:
        raise SettingError("workload is a class, so there is no script: omit `script`")
    try:
        file = inspect.getsourcefile(workload) or "<python>"
    except (OSError, TypeError):
        file = "<python>"  # Such as the text of `python -c`.
    try:
        text = inspect.getsource(workload)
    except (OSError, TypeError):
        text = f"# The source of {workload.__name__} is not known."
    _classes[file, workload.__name__, text] = workload
    script = json.dumps([{"name": f"{file}:{workload.__name__}", "text": text}])
    return {**given, "workload": "python", "script": script}


def load(file, name, text, options):
    """The workload of a script: its transactions as (name, weight, reads, function), and the functions `setup` and
    `connected`, or ``None`` where they do nothing."""
    found = _classes.get((file, name, text))
    if found is None:
        found = _classes[file, name, text] = _class(_executed(file, text), file, name)
    transactions = _transactions(found)
    try:
        workload = found()
    except Exception as error:
        raise SettingError(f"{found.__name__}(): {describe(error, file)}") from error
    workload.options = dict(options)
    own = [_hook(found, workload, name) for name in ("setup", "connected")]
    return [(*one, getattr(workload, one[0])) for one in transactions], *own


def _hook(cls, workload, name):
    """The user's own `setup` or `connected`; ``None`` without one."""
    import inspect

    if getattr(cls, name) is getattr(Workload, name):
        return None
    hook = getattr(workload, name)
    if not inspect.iscoroutinefunction(hook):
        raise SettingError(f"{cls.__name__}.{name}: it must be a coroutine: write `async def {name}`")
    return hook


def _executed(file, text):
    """The module of a script."""
    import os
    import sys

    module = types.ModuleType(f"triphammer_script_{os.path.splitext(os.path.basename(file))[0]}")
    module.__file__ = file
    sys.modules[module.__name__] = module
    folder = os.path.dirname(os.path.abspath(file))
    if folder not in sys.path:
        # At the end: a script that is called like a module of Python does not hide it.
        sys.path.append(folder)
    try:
        # An editor may have written a byte-order mark, which only files can begin with.
        exec(compile(text[text.startswith("\ufeff"):], file, "exec"), module.__dict__)
    except Exception as error:
        raise SettingError(f"--script {file}: {describe(error, file)}") from error
    return module


def _class(module, file, name):
    """The workload of a module."""
    own = {key: one for key, one in vars(module).items()
           if isinstance(one, type) and issubclass(one, Workload) and one.__module__ == module.__name__}
    if name is not None:
        if name not in own:
            raise SettingError(f"--script {file}:{name}: the file has no subclass of triphammer.Workload with this name")
        return own[name]
    if len(own) != 1:
        found = f"several: {', '.join(own)}; name one, as in --script {file}:{next(iter(own))}" if own else "none"
        raise SettingError(f"--script {file}: expected one subclass of triphammer.Workload, found {found}")
    return next(iter(own.values()))


def _transactions(workload):
    """The transactions of a class as (name, weight, reads), in the order of their declaration."""
    import inspect

    found = {}
    for base in reversed(workload.__mro__):
        for name, function in vars(base).items():
            if hasattr(function, "_triphammer"):
                found[name] = function
            else:
                found.pop(name, None)
    for name, function in found.items():
        if not inspect.iscoroutinefunction(function):
            raise SettingError(f"{workload.__name__}.{name}: a transaction must be a coroutine: write `async def {name}`")
    if not found:
        raise SettingError(f"{workload.__name__} has no transactions: mark coroutines with @triphammer.transaction(weight)")
    if not any(function._triphammer[0] for function in found.values()):
        raise SettingError(f"{workload.__name__}: at least one transaction needs a weight above 0")
    return [(name, *function._triphammer) for name, function in found.items()]


def describe(error, file):
    """An exception in one line: the place in the user's code, and what it says."""
    import traceback

    kind = type(error).__name__
    text = f"{kind}: {error}" if str(error) else kind
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {kind}: {error.msg}"
    places = traceback.extract_tb(error.__traceback__)
    own = [place for place in places if place.filename == file] or [place for place in places
                                                                   if place.filename != __file__]
    return f"{own[-1].filename}:{own[-1].lineno}: {text}" if own else text


def failed(message, code):
    """The exception that a failed statement raises."""
    error = DatabaseError(message)
    error.code = code
    return error
