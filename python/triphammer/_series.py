"""Seconds of a run and histograms of times, as arrays."""

from __future__ import annotations

import math
from array import array


class Series:
    """The seconds of a run by column, in the order of the series files: ``series["all.committed"]``. A column is an
    array of doubles with NaN where nothing was measured, or a list of words."""

    def __init__(self, columns, counts):
        self._columns, self._counts = columns, counts

    @classmethod
    def of(cls, found):
        """Creates it from the native part's columns."""
        columns = {name: array("d", numbers) if words is None else words for name, words, _, numbers in found}
        return cls(columns, {name for name, _, is_count, _ in found if is_count})

    @property
    def columns(self):
        """Names of the columns."""
        return list(self._columns)

    def __getitem__(self, name):
        try:
            return self._columns[name]
        except KeyError:
            from difflib import get_close_matches

            near = get_close_matches(str(name), self._columns, 1)
            raise KeyError(f"no column {name!r}; " + (f"did you mean {near[0]!r}?" if near else "see `columns`")) from None

    def __len__(self):
        return len(self._columns["second"])

    def __repr__(self):
        return f"<triphammer.Series of {len(self)} seconds, {len(self._columns)} columns>"

    def to_dict(self):
        """Lists by column, with ``None`` where nothing was measured and whole numbers where they are counts."""
        return {name: self._list(name) for name in self._columns}

    def _list(self, name):
        column = self._columns[name]
        if isinstance(column, list):
            return [word or None for word in column]
        as_number = int if name in self._counts else float
        return [None if math.isnan(number) else as_number(number) for number in column]

    def _is_whole(self, name):
        return name in self._counts and not any(map(math.isnan, self._columns[name]))

    def to_pandas(self):
        """A `pandas.DataFrame` with the second as its index."""
        import pandas

        # NumPy reads the arrays' memory; pandas requires it.
        import numpy

        def column(name):
            values = self._columns[name]
            if isinstance(values, list):
                return pandas.Categorical([word or None for word in values])
            values = numpy.frombuffer(values)
            return values.astype("int64") if self._is_whole(name) else values.copy()

        frame = pandas.DataFrame({name: column(name) for name in self._columns})
        return frame.set_index("second")

    def to_arrow(self):
        """A `pyarrow.Table`, with nulls where nothing was measured."""
        import pyarrow

        def column(name):
            values = self._list(name)
            if isinstance(self._columns[name], list):
                return pyarrow.array(values, pyarrow.string()).dictionary_encode()
            return pyarrow.array(values, pyarrow.int64() if name in self._counts else pyarrow.float64())

        return pyarrow.table({name: column(name) for name in self._columns})

    def __arrow_c_stream__(self, requested_schema=None):
        return self.to_arrow().__arrow_c_stream__(requested_schema)


class Histogram:
    """Times in microseconds and how often they occurred: two arrays of the same length. A time is the upper end of
    its bin, which is at most 0.1 % wide."""

    def __init__(self, us, counts):
        #: Times in microseconds, ascending.
        self.us = us
        #: Number of transactions of each time.
        self.counts = counts

    @classmethod
    def of(cls, us, counts):
        """Creates it from the native part's bytes."""
        return cls(array("Q", us), array("Q", counts))

    @property
    def count(self):
        """Number of all transactions."""
        return sum(self.counts)

    def percentile(self, percent):
        """The time in microseconds within which this share of transactions, in percent, ended; ``None`` without any."""
        if not 0 <= percent <= 100:
            raise ValueError(f"a percentile is from 0 to 100, not {percent}")
        rank, seen = max(1, math.ceil(self.count * percent / 100)), 0
        for us, count in zip(self.us, self.counts):
            seen += count
            if seen >= rank:
                return us
        return None

    def __len__(self):
        return len(self.us)

    def __repr__(self):
        return f"<triphammer.Histogram of {self.count} times>"

    def to_dict(self):
        """Two lists: ``us`` and ``counts``."""
        return {"us": list(self.us), "counts": list(self.counts)}

    def to_pandas(self):
        """A `pandas.Series` of counts with the times as its index."""
        import pandas

        return pandas.Series(list(self.counts), index=pandas.Index(list(self.us), name="us"), name="count")

    def to_arrow(self):
        """A `pyarrow.Table` with the columns ``us`` and ``count``."""
        import pyarrow

        return pyarrow.table({"us": pyarrow.array(self.us, pyarrow.uint64()),
                              "count": pyarrow.array(self.counts, pyarrow.uint64())})
