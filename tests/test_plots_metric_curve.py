"""NDCG or P against the cut-off: the table is the records' means, the axis ends around what is drawn."""

from __future__ import annotations

import pytest

from rankviz import RunRecord, RunSpec, execute
from rankviz.datasets import make_fold
from rankviz.plots import model_comparison
from rankviz.plots.style import line_of


@pytest.fixture(scope="module")
def records() -> list[RunRecord]:
    fold = make_fold(n_queries=10, documents_per_query=(12, 15), n_features=4, seed=3)
    spec = RunSpec("demo", feature_map="nystroem", n_components=5, C=0.1, gamma=0.1)
    return [execute(one, fold=fold) for one in (spec.linear(0.1), spec)]


@pytest.mark.parametrize("metric", ["NDCG", "P"])
def test_the_table_has_the_mean_at_every_cut_off(records: list[RunRecord], metric: str) -> None:
    table = model_comparison.curve_data(records, "vali", metric)
    assert table["method"].unique().tolist() == ["linear", "nystroem"]
    for record, (_, rows) in zip(records, table.groupby("label", sort=False), strict=True):
        columns = [name for name in record.metrics["vali"] if str(name).startswith(f"{metric}@")]
        assert [f"{metric}@{k}" for k in rows["k"]] == columns
        assert rows["value"].tolist() == pytest.approx(record.metrics["vali"][columns].mean().tolist())


def test_a_line_per_model_within_the_axis(records: list[RunRecord]) -> None:
    table = model_comparison.curve_data(records, "vali")
    fig = model_comparison.curve_figure(table)
    assert [trace.name for trace in fig.data] == table["label"].unique().tolist()
    assert [trace.line.color for trace in fig.data] == [
        line_of(method)["line"]["color"] for method in ("linear", "nystroem")
    ]
    low, high = fig.layout.yaxis.range
    assert low <= table["value"].min()
    assert table["value"].max() <= high
    assert fig.layout.yaxis.title.text == "mean NDCG@k over queries"


def test_without_a_record_there_is_an_empty_figure() -> None:
    assert not model_comparison.curve_figure(model_comparison.curve_data([], "vali")).data
