"""Percentiles over a run in the form of HammerDB's profiler `etprof`, which scripts read: for each slice of the timed window
a line with its time, and one for each procedure."""

from __future__ import annotations

import datetime

#: Names of the procedures.
_PROCEDURES = {"new_order": "neword", "payment": "payment", "delivery": "delivery", "stock_level": "slev",
               "order_status": "ostat"}


def percentiles(result):
    """The lines of a result, with times in microseconds; none for a run without a timed window."""
    begun = datetime.datetime.fromisoformat(result.started_at.replace("Z", "+00:00"))
    lines = []
    for part in result.slices:
        ends = [begun + datetime.timedelta(seconds=at) for at in (part.start_s, part.start_s + part.seconds)]
        lines.append("|PERCENTILES " + " to ".join(f"{at:%Y-%m-%d %H:%M:%S}" for at in ends))
        for type in part.types:
            times, name = type.response, _PROCEDURES.get(type.name, type.name)
            if times.count:
                lines.append(f"|{name}|MIN-{times.min_us}|P50%-{times.p50_us}|P95%-{times.p95_us}|P99%-{times.p99_us}"
                             f"|MAX-{times.max_us}|SAMPLES-{times.count}")
    return lines
