"""Tables of metrics against a setting: queries pooled over folds, comparisons pair by pair."""

import math

import numpy as np
import pandas as pd
import pytest

from rankviz import RunRecord, RunSpec, execute
from rankviz.datasets import make_fold
from rankviz.metrics.significance import Comparison, Interval, compare
from rankviz.plots import metric_vs_setting

SPEC = RunSpec("demo", feature_map="linear", C=0.25)


@pytest.fixture(scope="module")
def groups() -> dict[float, list[RunRecord]]:
    folds = {name: make_fold(n_queries=20, n_features=4, seed=seed) for seed, name in enumerate("ab")}
    return {
        C: [execute(SPEC.but(fold=name, C=C), fold=fold) for name, fold in folds.items()]
        for C in (2.0**-8, 0.25, 1.0)
    }


def test_means_are_over_the_queries_of_all_folds(groups: dict[float, list[RunRecord]]) -> None:
    table = metric_vs_setting.setting_data(groups, "vali", "MAP")
    for row in table.itertuples():
        values = metric_vs_setting.pooled(groups[float(str(row.value))], "vali", "MAP")
        assert row.mean == pytest.approx(values.mean())
        assert row.queries == len(values)
        assert row.low <= row.mean <= row.high
    assert (table["folds"] == 2).all()


def test_values_are_compared_query_by_query(groups: dict[float, list[RunRecord]]) -> None:
    found = metric_vs_setting.compared_with(groups, 0.25, "vali", "MAP")
    assert set(found) == {2.0**-8, 1.0}
    expected = compare(*(metric_vs_setting.pooled(groups[C], "vali", "MAP") for C in (1.0, 0.25)))
    assert found[1.0].interval == expected.interval


def test_figures_hold_the_table(groups: dict[float, list[RunRecord]]) -> None:
    table = metric_vs_setting.setting_data(groups, "vali", "MAP")
    beside = metric_vs_setting.beside_best(
        table, metric_vs_setting.compared_with(groups, 0.25, "vali", "MAP"), 0.25
    )
    assert beside["beside_best"].tolist()[1] == "best"
    fig = metric_vs_setting.C_figure(beside, "linear", "MAP", 0.25)
    names = [trace.name for trace in fig.data]
    assert names[:2] == ["95 % interval", "mean over queries"]
    assert max(map(len, names)) <= 20, "three stand in a row in large type"
    assert {"best", "products"} <= set(names)
    fig = metric_vs_setting.cost_figure(table, "linear", "MAP", "λ₂₁", 1.3, 0.5)
    assert list(fig.data[1].y) == table["mean"].tolist()


def test_values_that_are_worse_are_hollow_and_the_best_has_a_ring(
    groups: dict[float, list[RunRecord]],
) -> None:
    table = metric_vs_setting.setting_data(groups, "vali", "MAP")
    found = metric_vs_setting.compared_with(groups, 1.0, "vali", "MAP")
    certain, open_end = (Comparison(Interval(-0.1, -0.2, high, 0.95, 40)) for high in (-0.05, 0.05))
    assert set(found) == {2.0**-8, 0.25}
    table = metric_vs_setting.beside_best(table, {2.0**-8: certain, 0.25: open_end}, 1.0)
    fig = metric_vs_setting.C_figure(table, "linear", "MAP", 0.25)
    at = {trace.name: trace for trace in fig.data}
    assert at["worse than the best"].x == (2.0**-8,)
    assert at["worse than the best"].marker.symbol == "square-open"
    assert at["not distinguishable"].x == (0.25,)
    assert at["best"].x == (1.0,)
    assert at["best"].marker.line.width
    assert [note.text for note in fig.layout.annotations] == ["C = 2⁻²"]
    assert fig.layout.annotations[0].x == pytest.approx(math.log10(0.25))


def test_without_intervals_there_is_a_line_and_no_band() -> None:
    fold = make_fold(n_queries=25, n_features=4, seed=0)
    few = {C: [execute(SPEC.but(C=C), fold=fold)] for C in (0.25, 1.0)}
    table = metric_vs_setting.setting_data(few, "vali", "MAP")
    assert table["queries"].tolist() == [5, 5]
    assert table["low"].isna().all()
    fig = metric_vs_setting.C_figure(table.assign(beside_best="alike"), "linear", "MAP", 1.0)
    band, line = fig.data[:2]
    assert (len(band.x or ()), len(line.x)) == (0, 2)
    assert line.customdata[0][0] == "too few queries for a 95 % interval"


METRIC = "vali:MAP"


def runs(n: int) -> pd.DataFrame:
    maps = np.resize(["nystroem", "linear"], n)
    table = pd.DataFrame({"method": "ranksvm", "feature_map": maps, "dataset": "<a>", "fold": "Fold1"})
    return table.assign(**{METRIC: np.linspace(0.2, 0.4, n)}).set_index(
        pd.Index([f"run {k}" for k in range(n)])
    )


def test_runs_without_a_value_are_left_out() -> None:
    table = runs(5)
    table.iloc[0, table.columns.get_loc(METRIC)] = np.nan
    data = metric_vs_setting.runs_data(table, [1.0, 2.0, np.nan, 4.0, 5.0], METRIC, "run 3")
    assert data["run"].tolist() == ["run 1", "run 3", "run 4"]
    assert data["best"].tolist() == [False, True, False]


def test_of_many_some_are_drawn_and_the_best_always() -> None:
    n = 3 * metric_vs_setting.MOST_RUNS
    for best in ("run 1", "run 2", f"run {n - 2}"):
        drawn = metric_vs_setting.thinned_runs(metric_vs_setting.runs_data(runs(n), range(n), METRIC, best))
        assert metric_vs_setting.MOST_RUNS <= len(drawn) <= metric_vs_setting.MOST_RUNS + 1
        assert drawn["best"].sum() == 1
        assert drawn["x"].max() - drawn["x"].min() == n - 1


def test_colours_are_those_of_methods_and_names_of_data_are_no_tags() -> None:
    figure = metric_vs_setting.runs_figure(
        metric_vs_setting.runs_data(runs(4), range(4), METRIC, "run 3"), "seed", "MAP"
    )
    assert [trace.name for trace in figure.data] == ["linear", "Nyström", "best"]
    assert all("<a>" not in text for trace in figure.data[:2] for text in trace.text)
    assert figure.data[-1].x == (3,)


def test_runs_on_other_queries_than_the_best_are_grey() -> None:
    """Beside a run with 0.7 on easy queries, one with 0.3 on hard queries would look bad."""
    table = runs(6).assign(fold=["Fold1", "Fold2"] * 3)
    data = metric_vs_setting.runs_data(table, range(6), METRIC, "run 4")
    other, own, best = metric_vs_setting.runs_figure(data, "seed", "MAP").data
    assert (other.name, list(other.x)) == ("other data or fold", [1, 3, 5])
    assert (own.name, list(own.x), best.x) == ("Nyström", [0, 2, 4], (4,))
    assert other.marker.color != own.marker.color
