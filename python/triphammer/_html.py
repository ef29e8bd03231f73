"""How a result looks in a notebook: its figure, charts as SVG, which need no script and no network, and the report."""

from __future__ import annotations

import math
from html import escape

from ._errors import Error

_WIDTH, _HEIGHT = 560, 150
#: Space for labels: left, right, top, bottom.
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 10, 24, 22
#: Maximum points of a line: about two for each pixel.
_POINTS = 1_000
#: Okabe and Ito's colours, which are distinguishable with any colour vision.
_COLORS = ("#0072b2", "#d55e00", "#009e73")


def page(document):
    """The document as HTML."""
    charts = _CHARTS.get(document._kind, lambda _: [])(document)
    parts = [_head(document), *charts, f"<details><summary>Report</summary><pre>{escape(document.text())}</pre></details>"]
    return f'<div style="font-family: system-ui, sans-serif">{"".join(parts)}</div>'


def _head(document):
    metric = document.to_dict().get("primary_metric")
    words = [document._kind]
    if isinstance(metric, dict) and "value" in metric:
        words.insert(0, f"<b>{metric['value']:,.0f} {escape(metric['name'])}</b>")
    words += [escape(str(document[name])) for name in ("status", "target", "started_at") if document._values.get(name)]
    if document.good is False:
        words.append('<b style="color: #b3261e">not good: see the report</b>')
    return f"<p>{' · '.join(words)}</p>"


def _of_run(result):
    try:
        series = result.series()
    except Error:
        # It is not in the store, or it timed a set of queries.
        return []
    if len(series) < 2:
        return []
    seconds = series["second"]
    lengths = series["seconds"]
    ended = [sum(both) / length for *both, length in zip(series["all.committed"], series["all.rolled_back"], lengths)]
    times = {name: [us / 1_000 for us in series[f"all.{name}_us"]] for name in ("p50", "p95", "p99")}
    window = [second for second, phase in zip(seconds, series["phase"]) if phase == "window"]
    return [_chart("Transactions per second", seconds, {"": ended}, window),
            _chart("Response time, ms", seconds, times, window)]


def _of_profile(result):
    levels = result.levels
    if len(levels) < 2:
        return []
    lines = {"measured": [level.mean for level in levels]}
    if all(level.fitted is not None for level in levels):
        lines["fitted"] = [level.fitted for level in levels]
    title = f"{result.primary_metric.name} by {result.level_unit}"
    return [_chart(title, [level.users for level in levels], lines, [])]


_CHARTS = {"run": _of_run, "profile": _of_profile}


def _chart(title, xs, lines, window):
    """Lines over a common axis; the timed window is shaded."""
    low, high = min(xs), max(xs)
    top = _nice(max((y for ys in lines.values() for y in ys if not math.isnan(y)), default=0.0))

    def place(x, y):
        across = (x - low) / ((high - low) or 1) * (_WIDTH - _LEFT - _RIGHT)
        return f"{_LEFT + across:.1f},{_HEIGHT - _BOTTOM - y / top * (_HEIGHT - _TOP - _BOTTOM):.1f}"

    parts = [f'<text x="{_LEFT}" y="14" font-weight="bold">{escape(title)}</text>']
    if window:
        begin, end = (float(place(x, 0).split(",")[0]) for x in (window[0], window[-1]))
        parts.append(f'<rect x="{begin:.1f}" y="{_TOP}" width="{end - begin:.1f}" height="{_HEIGHT - _TOP - _BOTTOM}" '
                     'fill="currentColor" opacity="0.06"/>')
    for share in (0, 0.5, 1):
        x, y = place(low, top * share).split(",")
        parts.append(f'<line x1="{x}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}" stroke="currentColor" opacity="0.2"/>'
                     f'<text x="{_LEFT - 6}" y="{float(y) + 4:.1f}" text-anchor="end">{top * share:,.4g}</text>')
    for x, anchor in ((low, "start"), (high, "end")):
        at = place(x, 0).split(",")[0]
        parts.append(f'<text x="{at}" y="{_HEIGHT - 6}" text-anchor="{anchor}">{x:g}</text>')
    for number, (name, ys) in enumerate(lines.items()):
        color = _COLORS[number % len(_COLORS)]
        parts += [f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.5"/>'
                  for points in _lines(xs, ys, place)]
        parts.append(f'<text x="{_WIDTH - _RIGHT - 70 * (len(lines) - 1 - number)}" y="14" text-anchor="end" '
                     f'fill="{color}">{escape(name)}</text>')
    return (f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
            f'aria-label="{escape(title)}" font-size="11" fill="currentColor" '
            f'style="display: block; max-width: 100%">{"".join(parts)}</svg>')


def _lines(xs, ys, place):
    """The stretches of a line without gaps; of many points every n-th."""
    step = max(1, len(xs) // _POINTS)
    stretch = []
    for x, y in zip(xs[::step], ys[::step]):
        if math.isnan(y):
            yield " ".join(stretch)
            stretch = []
        else:
            stretch.append(place(x, y))
    yield " ".join(stretch)


def _nice(top):
    """The next of 1, 2, 5, 10, 20, … that is not smaller."""
    if not top > 0:
        return 1.0
    power = 10 ** math.floor(math.log10(top))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= top)
