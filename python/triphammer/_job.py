"""The handle of a job that runs on a thread of its own, which never holds the interpreter's lock."""

from __future__ import annotations

import atexit
import json
import os
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from . import _native
from ._errors import Error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator, Iterator

    from ._record import Second

#: Milliseconds after which a wait looks for Ctrl-C.
_SLICE_MS = 50

#: Jobs that run, so that the interpreter does not end before they are stored.
_running: set[Job[Any]] = set()

#: The result of a job.
_Result = TypeVar("_Result")


def warn(text):
    """Passes a warning to the log `triphammer`, which prints it to stderr unless the program changes that."""
    import logging

    logging.getLogger("triphammer").warning("%s", text)


class Job(Generic[_Result]):
    """A job that is running or has ended.

    - ``result()`` waits and returns the result; ``await job`` does the same in asyncio.
    - ``for second in job`` and ``async for`` yield each second of a run when it is complete.
    - ``with triphammer.run(…) as job`` waits for the end, and stops the job if an exception leaves the block.
    - ``stop()`` lets transactions in flight finish, ``abort()`` abandons them. Both return at once, and the job is
      stored with what it has.

    While the program waits for it, the first Ctrl-C stops the job and the second aborts it; ``KeyboardInterrupt`` is
    raised when it has ended, and ``result()`` then returns what it measured. A program that ends before its jobs stops them.
    """

    def __init__(self, kind, settings):
        self._native = _native.Job(kind, settings)
        self._interrupted = False
        self._result = None
        #: Warnings so far.
        self.warnings: list[str] = []
        #: Called with each message, a dictionary whose ``type`` says what it is: ``began``, ``progress`` of a build,
        #: check or run of queries, ``phase``, ``step`` of a campaign, ``requirements``, ``checked`` or ``note``, as in the
        #: live events of ``triphammer serve``.
        self.on_message = None
        #: Number of the job in the store, once it is known.
        self.number: int | None = None

    def _start(self):
        self._native.start()
        _running.difference_update([job for job in _running if job.done])
        _running.add(self)

    @property
    def kind(self) -> str:
        """Kind of the job: ``"run"``."""
        return self._native.kind

    @property
    def done(self) -> bool:
        """Whether the job has ended."""
        return self._native.is_over()

    @property
    def missed(self) -> int:
        """Number of seconds that were not read within an hour, and are only in the job store."""
        return self._native.missed()

    def stop(self) -> None:
        """Requests the end: transactions in flight finish. Returns at once."""
        self._native.stop()

    def abort(self) -> None:
        """Requests the end, without waiting for transactions in flight. Returns at once."""
        self._native.abort()

    def result(self, timeout: float | None = None) -> _Result:
        """Waits for the end and returns the result. Raises `TimeoutError` if it does not come within this number of
        seconds, and `triphammer.Error` if the job could not do its work."""
        slices = None if timeout is None else max(1, round(timeout * 1_000 / _SLICE_MS))
        while not self._patiently(lambda: self._native.wait(_SLICE_MS)):
            if slices is not None:
                slices -= 1
                if slices <= 0:
                    raise TimeoutError(f"the {self.kind} has not ended within {timeout} s")
        return self._ended()

    def _ended(self):
        """The result of a job that has ended."""
        from ._record import document

        _running.discard(self)
        self._messages()
        if self._interrupted:
            self._interrupted = False
            raise KeyboardInterrupt
        if self._result is None:
            kind, found, number, good, outcome = self._native.end()
            if found is None:
                raise Error(outcome)
            store = self._native.store
            self._result = document(kind, json.loads(found), good=good, job=number, store=store)
        return self._result

    def _patiently(self, wait, otherwise=None):
        """Calls a function that waits for a moment. The first Ctrl-C stops the job, the second aborts it."""
        try:
            found = wait()
            self._messages()
            return found
        except KeyboardInterrupt:
            if self._interrupted:
                self.abort()
            else:
                self._interrupted = True
                self.stop()
            return otherwise

    def _messages(self):
        """Passes on what the job has reported."""
        while True:
            message = self._native.message()
            if message is None:
                return
            message = json.loads(message)
            kind = message["type"]
            if kind == "note" and message["kind"] == "warning":
                self.warnings.append(message["text"])
                warn(message["text"])
            elif kind == "began":
                self.number = message["job"]
            if self.on_message is not None:
                self.on_message(message)

    def _second(self):
        """The next second; ``None`` at the end, ``False`` if there is none yet."""
        from ._record import Second

        found = self._native.second(_SLICE_MS)
        if found is None:
            return False
        return Second(json.loads(found)) if found else None

    def __iter__(self) -> Iterator[Second]:
        while True:
            second = self._patiently(self._second, False)
            if second is None:
                break
            if second:
                yield second
        # Raises what ended the job, so that a loop over seconds does not hide a failure.
        self._ended()

    def __enter__(self) -> Job[_Result]:
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            # The next Ctrl-C aborts.
            self._interrupted = True
            self.stop()
        while not self._patiently(lambda: self._native.wait(_SLICE_MS)):
            pass
        if kind is None:
            self._ended()
        self._interrupted = False
        _running.discard(self)
        return False

    def __await__(self) -> Generator[Any, None, _Result]:
        return self._in_asyncio(self._wait).__await__()

    def _wait(self):
        while not self._native.wait(_SLICE_MS):
            self._messages()
        return self._ended()

    async def _in_asyncio(self, function):
        """Calls a function on another thread. A task that is cancelled stops the job and waits for its end."""
        import asyncio

        work = asyncio.get_running_loop().run_in_executor(None, function)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            self.stop()
            await asyncio.wait([work])
            work.exception()
            raise

    async def __aiter__(self) -> AsyncIterator[Second]:
        def next_second():
            second = self._second()
            while second is False:
                self._messages()
                second = self._second()
            return second

        while True:
            second = await self._in_asyncio(next_second)
            if second is None:
                self._ended()
                return
            yield second

    def __repr__(self):
        state = "ended" if self.done else "running"
        number = "" if self.number is None else f" {self.number}"
        return f"<triphammer.Job {self.kind}{number}, {state}>"


# The threads of a job are not in a process that was forked from this one, which would wait for them at its end.
os.register_at_fork(after_in_child=_running.clear)


@atexit.register
def _end_all():
    """Stops the jobs that still run when the program ends, and waits until they are stored."""
    for job in list(_running):
        job.stop()
    for job in list(_running):
        while not job._patiently(lambda job=job: job._native.wait(_SLICE_MS)):
            pass
