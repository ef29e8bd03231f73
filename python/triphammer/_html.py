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
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")


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


def _of_matrix(result):
    return [_heat_map(result), *([_curves(result)] if result.curves else [])]


def _heat_map(matrix):
    """The table whose columns are the values of the last axis; the darker, the better."""
    *others, last = matrix.axes
    cells = {tuple(cell.values): cell for cell in matrix.cells}
    means = [cell.mean for cell in matrix.cells]
    low, high = min(means), max(means)

    def shade(mean):
        share = (mean - low) / (high - low) if high > low else 1.0
        return 0.08 + 0.5 * (1 - share if high > low and matrix.primary_metric.better == "lower" else share)

    def shown(cell):
        if cell is None:
            return "<td>–</td>"
        interval = f"<br><small>{cell.interval.low:,.0f} to {cell.interval.high:,.0f}</small>" if cell.interval else ""
        return (f'<td style="background: rgba(0, 114, 178, {shade(cell.mean):.2f}); text-align: right">'
                f"<b>{cell.mean:,.0f}</b>{interval}</td>")

    heads = [axis.name for axis in others] + [f"{last.name} {value}" for value in last.values]
    rows = [()]
    for axis in others:
        rows = [(*row, value) for row in rows for value in axis.values]
    body = "".join(
        "<tr>" + "".join(f"<th>{escape(value)}</th>" for value in row)
        + "".join(shown(cells.get((*row, value))) for value in last.values) + "</tr>"
        for row in rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    title = f"{escape(matrix.primary_metric.name)}, with 95 % intervals"
    return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _curves(matrix):
    """The combinations of the other settings as curves over the users."""
    axis = matrix.curves[0].axis
    at = [named.name for named in matrix.axes].index(axis)
    laws = {tuple(curve.values): curve.usl.curve for curve in matrix.curves}
    others = [named.name for named in matrix.axes if named.name != axis]
    groups = {}
    for cell in matrix.cells:
        values = list(cell.values)
        level = float(values.pop(at))
        groups.setdefault(tuple(values), []).append((level, cell.mean, cell.interval))
    curves = [(", ".join(f"{name} {value}" for name, value in zip(others, values)), points, laws.get(values))
              for values, points in groups.items()]
    return _overlay(f"{matrix.primary_metric.name} by {axis}", curves)


class Chart:
    """Profiles in one chart, with their intervals and fitted curves: shown in a notebook, or as SVG by ``str()``."""

    def __init__(self, svg):
        self._svg = svg

    def _repr_html_(self):
        return self._svg

    def __str__(self):
        return self._svg


def chart(*profiles, names=None):
    """Draws two or more profiles in one chart. ``names`` are their names in it, by default their labels, targets or
    job numbers."""
    if not profiles or any(profile._kind != "profile" for profile in profiles):
        raise TypeError("chart needs the results of profiles")
    first = profiles[0]
    if any((profile.primary_metric.name, profile.level_unit) != (first.primary_metric.name, first.level_unit)
           for profile in profiles):
        raise ValueError("the profiles have different figures, which do not fit into one chart")
    names = list(names) if names is not None else _names(profiles)
    if len(names) != len(profiles):
        raise ValueError(f"{len(names)} names for {len(profiles)} profiles")
    curves = [(name, [(level.users, level.mean, level.interval) for level in profile.levels],
               profile.usl.curve if profile.usl else None) for name, profile in zip(names, profiles)]
    return Chart(_overlay(f"{first.primary_metric.name} by {first.level_unit}", curves))


def _names(profiles):
    """What tells profiles apart: labels, else targets, else jobs."""
    for of in (lambda p: p.label, lambda p: p.target):
        names = [of(profile) for profile in profiles]
        if all(names) and len(set(names)) == len(names):
            return names
    return [f"job {profile.job}" for profile in profiles]


def _overlay(title, curves):
    """Curves as (name, points, law): points are (x, mean, interval)."""
    points = [point for _, some, _ in curves for point in some]
    high = max(x for x, _, _ in points)
    ends = [interval.high for _, _, interval in points if interval]
    fastest = max(mean for _, mean, _ in points)
    top = _nice(max([fastest, *(min(end, 2 * fastest) for end in ends)]))
    height = 2 * _HEIGHT

    def place(x, y):
        across, up = x / high * (_WIDTH - _LEFT - _RIGHT), min(y / top, 1.0) * (height - _TOP - _BOTTOM)
        return f"{_LEFT + across:.1f}", f"{height - _BOTTOM - up:.1f}"

    parts = [f'<text x="{_LEFT}" y="14" font-weight="bold">{escape(title)}</text>']
    for share in (0, 0.5, 1):
        x, y = place(0, top * share)
        parts.append(f'<line x1="{x}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}" stroke="currentColor" opacity="0.2"/>'
                     f'<text x="{_LEFT - 6}" y="{float(y) + 4:.1f}" text-anchor="end">{top * share:,.4g}</text>')
    for level in sorted({x for x, _, _ in points}):
        parts.append(f'<text x="{place(level, 0)[0]}" y="{height - 6}" text-anchor="middle">{level:g}</text>')
    for number, (name, some, law) in enumerate(curves):
        color = _COLORS[number % len(_COLORS)]
        for x, mean, interval in some:
            across, up = place(x, mean)
            parts.append(f'<circle cx="{across}" cy="{up}" r="3" fill="{color}"/>')
            if interval:
                (_, low), (_, end) = place(x, interval.low), place(x, interval.high)
                parts.append(f'<line x1="{across}" x2="{across}" y1="{low}" y2="{end}" stroke="{color}"/>')
        line = [(x, mean) for x, mean, _ in sorted(some, key=lambda point: point[0])]
        if law:
            last = line[-1][0]
            line = [(x, _usl(law, x)) for x in (1 + (last - 1) * step / 100 for step in range(101))]
        line = " ".join(",".join(place(x, y)) for x, y in line)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.5"/>'
                     f'<text x="{_LEFT + 8}" y="{_TOP + 14 + 14 * number}" fill="{color}">{escape(str(name))}</text>')
    return (f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img" '
            f'aria-label="{escape(title)}" font-size="11" fill="currentColor" '
            f'style="display: block; max-width: 100%">{"".join(parts)}</svg>')


def _usl(law, users):
    """Throughput by the Universal Scalability Law (N. J. Gunther)."""
    rate, contention, coherency = (law[name].value for name in ("lambda", "sigma", "kappa"))
    return rate * users / (1 + contention * (users - 1) + coherency * users * (users - 1))


_CHARTS = {"run": _of_run, "profile": _of_profile, "matrix": _of_matrix}


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
