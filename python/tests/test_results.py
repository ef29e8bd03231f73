"""Results: typed fields, plain values, series and histograms as arrays, reports, notebooks."""

import copy
import math
import pickle

import pytest

import triphammer
from triphammer import documents


def test_fields_have_the_types_of_the_documents(result):
    assert isinstance(result, documents.RunResult)
    assert isinstance(result.primary_metric, documents.PrimaryMetricFigure)
    assert isinstance(result.window.types[0], documents.TypeFigures)
    assert result.primary_metric.name == "TPS"
    assert result.workload.facts["seed"].isdigit()
    assert result.queries is None
    with pytest.raises(AttributeError, match="RunResult has no field `tps`"):
        result.tps
    assert "primary_metric" in dir(result)
    assert repr(result).startswith("RunResult(")


def test_every_declared_field_can_be_read(result):
    def read(record):
        for name in record:
            value = getattr(record, name + "_" if name in ("class", "lambda") else name)
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, triphammer._record.Record):
                    read(one)

    read(result)


def test_results_become_plain_values_and_can_be_copied(result):
    plain = result.to_dict()
    assert type(plain["window"]["types"][0]) is dict
    plain["status"] = "changed"
    assert result.status == "complete"
    for twin in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert twin == result and twin.good and len(twin.series()) == len(result.series())


def test_series_are_arrays(result):
    series = result.series()
    assert series.columns[:3] == ["second", "seconds", "phase"]
    with pytest.raises(KeyError, match="did you mean 'all.committed'"):
        series["all.comitted"]
    committed = series["all.committed"]
    assert sum(committed) == result.run.total.committed
    assert series["phase"][0] == "ramp_up"
    plain = series.to_dict()
    assert plain["all.committed"] == list(map(int, committed))
    rows = result.report("csv").splitlines()
    assert rows[0].split(",") == series.columns and len(rows) == 1 + len(series)


def test_series_become_tables_of_pandas_and_arrow(result):
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    series = result.series()
    frame = series.to_pandas()
    assert frame.index.name == "second" and frame["all.committed"].dtype == "int64"
    assert frame["all.committed"].sum() == result.run.total.committed
    assert list(frame[frame["phase"] == "window"].index) == [s for s, p in zip(series["second"], series["phase"]) if p == "window"]
    table = series.to_arrow()
    assert table.column_names == series.columns
    assert table["all.committed"].type == pyarrow.int64()
    missing = [name for name in series.columns if isinstance(series[name], list) is False and all(map(math.isnan, series[name]))]
    assert missing and table[missing[0]].null_count == len(series)
    assert pyarrow.table(series) == table
    assert isinstance(frame, pandas.DataFrame)


def test_histograms_are_arrays(result):
    times = result.histogram()
    assert times.count == result.window.total.committed
    assert list(times.us) == sorted(times.us) and len(times.us) == len(times.counts)
    figures = result.window.types[0]
    own = result.histogram(figures.name)
    assert own.count == figures.committed
    for percent, field in ((50, "p50_us"), (99, "p99_us")):
        assert own.percentile(percent) == figures.response[field]
    assert result.histogram(times="failed").percentile(50) is None
    assert int(times.to_pandas().sum()) == times.count
    assert times.to_arrow().num_rows == len(times)
    with pytest.raises(triphammer.SettingError, match="unknown transaction `pay`"):
        result.histogram("pay")
    with pytest.raises(triphammer.SettingError, match="use one of window, run"):
        result.histogram(scope="all")


def test_reports_are_those_of_the_program(result):
    assert "TPS" in result.text()
    assert result.markdown().startswith("#")
    assert "<testsuite" in result.junit()
    assert result.report("hdr").startswith("#")
    with pytest.raises(triphammer.SettingError, match="unknown format|use one of"):
        result.report("pdf")


def test_a_notebook_shows_charts_and_the_report(result):
    html = result._repr_html_()
    assert html.count("<svg") == 2 and "<polyline" in html
    assert "TPS" in html and "<script" not in html


def test_what_is_not_stored_says_so(result):
    bare = documents.RunResult(result.to_dict(), "run")
    with pytest.raises(triphammer.Error, match="not in the job store"):
        bare.series()
    assert "<svg" not in bare._repr_html_()
