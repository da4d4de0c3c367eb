"""Tables of metrics against a setting: queries pooled over folds, comparisons pair by pair."""

from __future__ import annotations

import pytest

from rankviz import RunRecord, RunSpec, execute
from rankviz.datasets import make_fold
from rankviz.metrics.significance import compare
from rankviz.plots import influence

SPEC = RunSpec("demo", feature_map="linear", C=0.25)


@pytest.fixture(scope="module")
def groups() -> dict[float, list[RunRecord]]:
    folds = {name: make_fold(n_queries=20, n_features=4, seed=seed) for seed, name in enumerate("ab")}
    return {
        C: [execute(SPEC.but(fold=name, C=C), fold=fold) for name, fold in folds.items()]
        for C in (2.0**-8, 0.25, 1.0)
    }


def test_means_are_over_the_queries_of_all_folds(groups: dict[float, list[RunRecord]]) -> None:
    table = influence.data(groups, "vali", "MAP")
    for row in table.itertuples():
        values = influence.pooled(groups[float(str(row.value))], "vali", "MAP")
        assert row.mean == pytest.approx(values.mean())
        assert row.queries == len(values)
        assert row.low <= row.mean <= row.high
    assert (table["folds"] == 2).all()


def test_values_are_compared_query_by_query(groups: dict[float, list[RunRecord]]) -> None:
    found = influence.against(groups, 0.25, "vali", "MAP")
    assert set(found) == {2.0**-8, 1.0}
    expected = compare(*(influence.pooled(groups[C], "vali", "MAP") for C in (1.0, 0.25)))
    assert found[1.0].interval == expected.interval


def test_figures_hold_the_table(groups: dict[float, list[RunRecord]]) -> None:
    table = influence.data(groups, "vali", "MAP")
    fig = influence.figure_of_C(table, "linear", "MAP", 0.25)
    assert [trace.name for trace in fig.data] == [
        "95 % interval over queries",
        "mean over queries",
        "products",
    ]
    fig = influence.figure_of_cost(table, "linear", "MAP", "λ₂₁", 1.3, 0.5)
    assert list(fig.data[1].y) == table["mean"].tolist()
