"""Records: documents and their parts, whose fields are attributes."""

from __future__ import annotations

import functools
import json
import typing

from . import _native
from ._errors import Error

if typing.TYPE_CHECKING:
    from ._series import Histogram, Series


class Record:
    """A part of a document: its fields are attributes. A field whose name Python reserves ends with an underscore:
    ``class_``. ``to_dict()`` returns plain dictionaries, lists, texts and numbers."""

    __slots__ = ("_values",)

    def __init__(self, values):
        self._values = values

    def __getattr__(self, name):
        # Python's own protocols ask for names of this form.
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            value = self._values[name.rstrip("_")]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no field `{name}`") from None
        return _wrapped(value, _hints(type(self)).get(name))

    def __getitem__(self, name):
        return _wrapped(self._values[name], _hints(type(self)).get(name))

    def __contains__(self, name):
        return name in self._values

    def __iter__(self):
        return iter(self._values)

    def __dir__(self):
        return [*super().__dir__(), *self._values]

    def __eq__(self, other):
        return type(self) is type(other) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self):
        return type(self), (self._values,)

    def __repr__(self):
        def shown(value):
            return "…" if isinstance(value, (dict, list)) else repr(value)

        fields = ", ".join(f"{name}={shown(value)}" for name, value in self._values.items())
        return f"{type(self).__name__}({fields})"

    def to_dict(self) -> dict[str, typing.Any]:
        """The record as plain dictionaries, lists, texts and numbers: a copy of what ``--json`` prints."""
        return json.loads(json.dumps(self._values))


@functools.lru_cache(maxsize=None)
def _hints(cls):
    """The types of a record's fields."""
    return typing.get_type_hints(cls) if "__annotations__" in vars(cls) else {}


def _wrapped(value, hint):
    """A value as an object of its field's type."""
    if not isinstance(value, (dict, list)):
        return value
    ways = typing.get_args(hint) if typing.get_origin(hint) is typing.Union else (hint,)
    for way in ways:
        of = typing.get_args(way)
        if isinstance(value, list) and typing.get_origin(way) is list:
            return [_wrapped(one, of[0]) for one in value]
        if isinstance(value, dict) and typing.get_origin(way) is dict:
            return {name: _wrapped(one, of[1]) for name, one in value.items()}
        if isinstance(value, dict) and isinstance(way, type) and issubclass(way, Record):
            return way(value)
    return [_wrapped(one, None) for one in value] if isinstance(value, list) else Record(value)


class Second(Record):
    """A second of a run: ``second["all.committed"]``, ``second.phase``. The names are those of the series files."""

    __slots__ = ()


class Document(Record):
    """The result of a job or of a command."""

    __slots__ = ("_job", "_kind", "_store", "good")

    def __init__(self, values, kind=None, good=None, job=None, store=None):
        super().__init__(values)
        self._kind, self._job, self._store = kind, job, store
        #: Whether the command would exit with 0: the job is complete, and checks and requirements passed.
        self.good: bool | None = good

    def __reduce__(self):
        return type(self), (self._values, self._kind, self.good, self._job, self._store)

    def to_json(self) -> str:
        """The document as JSON, as ``--json`` prints it."""
        return json.dumps(self._values, ensure_ascii=False)

    def text(self) -> str:
        """The report as the command prints it."""
        return self._rendered("text")

    def markdown(self) -> str:
        """The report as Markdown; the text if there is none."""
        return self._rendered("markdown") or self.text()

    def junit(self) -> str | None:
        """What passed and failed, as JUnit XML; ``None`` if nothing was required or checked."""
        return self._rendered("junit")

    def _rendered(self, form):
        return _native.render(self._kind, self.to_json(), form)

    def report(self, format: str = "text") -> str:
        """The report of the stored job in a format of ``triphammer report``: ``"html"``, ``"csv"``, ``"hdr"``, …"""
        return _native.report(self._store, self._number(), format)

    def _number(self):
        if self._job is None:
            raise Error("the job is not in the job store, which has its seconds and reports")
        return str(self._job)

    def _repr_html_(self):
        from ._html import page

        return page(self)


class RunDocument(Document):
    """The result of a run, with its seconds and histograms from the job store."""

    __slots__ = ()

    def series(self) -> Series:
        """The seconds of the run, by column."""
        from ._series import Series

        return Series.of(_native.series(self._store, self._number()))

    def histogram(self, transaction: str | None = None, times: str = "response", scope: str = "window") -> Histogram:
        """The times of a transaction type, by its key, or of all types together. ``times`` is ``"response"`` or
        ``"service"`` (of committed transactions), ``"rolled_back"`` or ``"failed"``; ``scope`` is ``"window"`` or
        ``"run"``. Service times are recorded where they differ from response times: not in closed loads."""
        from ._series import Histogram

        return Histogram.of(*_native.histogram(self._store, self._number(), transaction, times, scope))


def document(kind, values, good=None, job=None, store=None):
    """The result of a kind of job; a list of tables for ``drop``."""
    from . import documents

    cls = documents.OF_KIND.get(kind)
    return values if cls is None else cls(values, kind, good, job, store)
