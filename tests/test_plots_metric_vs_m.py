"""Plots against m: metrics with bands and levels, ranks of one query, distances from the exact model."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rankviz import Fold, RunRecord, RunSpec, execute
from rankviz.analysis.reference_runs import objective_table, ranking_error_table
from rankviz.datasets import make_fold
from rankviz.plots import metric_vs_m, ranked_list
from rankviz.runs.record import training_seconds

SPEC = RunSpec("demo", n_components=5, C=0.1, gamma=0.1)
GRID = (5, 20)


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=10, documents_per_query=(12, 15), n_features=4, seed=3)


@pytest.fixture(scope="module")
def records(fold: Fold) -> list[RunRecord]:
    specs = [SPEC.linear(0.1), SPEC.exact()]
    specs += [
        SPEC.but(feature_map=name, n_components=m, seed=seed)
        for name in ("nystroem", "fourier")
        for m in GRID
        for seed in (0, 1)
    ]
    return [execute(spec, fold=fold) for spec in specs]


def of(records: list[RunRecord], name: str) -> list[RunRecord]:
    return [record for record in records if record.spec.feature_map == name]


# --- metrics ----------------------------------------------------------------------------------------------


def test_curves_are_means_and_ranges_over_runs(records: list[RunRecord]) -> None:
    table = metric_vs_m.metric_data(records, "vali", ["MAP"])
    curves = metric_vs_m.curves(table).set_index(["method", "m"])
    runs = [r for r in of(records, "fourier") if r.spec.n_components == 20]
    values = [r.metrics["vali"]["MAP"].mean() for r in runs]
    row = curves.loc[("fourier", 20)]
    assert row["mean"] == pytest.approx(np.mean(values))
    assert (row["low"], row["high"], row["runs"]) == (min(values), max(values), 2)
    assert row["seconds"] == pytest.approx(np.median([training_seconds(r) for r in runs]))
    assert list(curves.loc[["linear", "exact"]].index.get_level_values("m")) == [0, 0]


def test_training_seconds_leave_out_data_and_evaluation(records: list[RunRecord]) -> None:
    seconds = {"data": 100.0, "features": 1.0, "pairs": 2.0, "start": 3.0, "newton": 4.0, "evaluate": 50.0}
    assert training_seconds(replace(records[0], seconds=seconds)) == 10.0


@pytest.mark.parametrize("x", ["m", "seconds"])
def test_levels_and_lines_of_a_figure(records: list[RunRecord], x: str) -> None:
    table = metric_vs_m.metric_data(records, "vali", ["NDCG@10", "MAP"])
    figure = metric_vs_m.metric_figure(table, 5, GRID, x)
    named = [trace for trace in figure.data if trace.name]
    assert [t.name for t in named[:4]] == [
        "linear (no m)",
        "exact kernel (no m)",
        "Nyström",
        "random Fourier",
    ]
    assert (named[0].line.dash, named[1].line.dash) == ("dot", "dash")
    exact = of(records, "exact")[0]
    assert set(named[1].y) == {exact.metrics["vali"]["NDCG@10"].mean()}
    assert named[1].customdata[0][0] == exact.spec.hash
    assert len(named) == 8 + (x == "m"), "two panels, and what bands are"
    if x == "seconds":
        assert named[1].x[1] == pytest.approx(training_seconds(exact))
        assert named[2].error_y.visible
        assert not [t for t in figure.data if t.fill == "toself"]
    else:
        assert list(named[2].x) == list(GRID)
        assert len([t for t in figure.data if t.fill == "toself"]) == 4


@pytest.mark.parametrize(("m", "side"), [(5, "left"), (20, "right")])
def test_the_m_that_is_set_is_labelled_within_the_figure(records: list[RunRecord], m: int, side: str) -> None:
    (label,) = metric_vs_m.metric_figure(metric_vs_m.metric_data(records, "vali"), m, GRID).layout.annotations
    assert (label.text.strip(), label.xanchor) == (f"m = {m}", side)


@pytest.mark.parametrize("m", [2, 2000])
def test_the_axis_reaches_an_m_without_a_point(records: list[RunRecord], m: int) -> None:
    table = metric_vs_m.metric_data(records, "vali", ["MAP"])
    for grid in ((), GRID):
        low, high = metric_vs_m.metric_figure(table, m, grid).layout.xaxis.range
        assert low < np.log10(m) < high


def test_figures_of_little(records: list[RunRecord]) -> None:
    for some in (of(records, "linear"), of(records, "exact"), of(records, "nystroem")[:1]):
        for x in ("m", "seconds"):
            assert metric_vs_m.metric_figure(metric_vs_m.metric_data(some, "vali"), None, (), x).data


# --- ranks of one query -----------------------------------------------------------------------------------


def test_ranks_follow_the_scores_with_the_exact_ones_last(records: list[RunRecord], fold: Fold) -> None:
    runs = [r for r in of(records, "nystroem") if r.spec.seed == 0]
    exact = of(records, "exact")[0]
    table = ranked_list.ranks_data(runs[::-1], exact, fold.vali, "vali", 1)
    rows = fold.vali.query_slice(1)
    assert table.drop_duplicates("place")["label"].tolist() == ["5", "20", "exact"]
    last = table[table["label"] == "exact"]
    order = np.argsort(-exact.scores["vali"][rows], kind="stable")
    assert last.sort_values("rank")["row"].tolist() == order.tolist()
    assert last.sort_values("row")["grade"].tolist() == fold.vali.y[rows].tolist()


def test_ties_keep_file_order(records: list[RunRecord], fold: Fold) -> None:
    tied = replace(records[1], scores={"vali": np.zeros(fold.vali.n_documents)})
    table = ranked_list.ranks_data([], tied, fold.vali, "vali", 0)
    assert table["rank"].tolist() == list(range(1, len(table) + 1))


def ranks(*columns: list[int]) -> pd.DataFrame:
    """A table of rankings, each given as the ranks of documents 0, 1, …"""
    rows = [
        (row, f"d{row}", row % 3, place, str(place), rank, -float(rank))
        for place, column in enumerate(columns)
        for row, rank in enumerate(column)
    ]
    return pd.DataFrame(rows, columns=["row", "document", "grade", "place", "label", "rank", "score"])


def test_how_many_of_the_last_first_documents_are_kept() -> None:
    table = ranks([4, 3, 2, 1], [1, 3, 2, 4], [1, 2, 3, 4])
    assert ranked_list.kept_in_top(table, 2).tolist() == [0, 1, 2]
    assert set(ranked_list.in_any_top(table, 1)["row"]) == {0, 3}


def test_stretches_within_entering_and_below() -> None:
    within, leaving = ranked_list.segments(ranks([1, 2, 3, 4], [2, 4, 1, 3], [1, 2, 3, 4]), 2)
    assert sorted(within) == [((0, 1), (1, 2)), ((1, 2), (2, 1))]
    assert sorted(leaving) == [((0, 1), (2, 3)), ((0, 1), (3, 1)), ((1, 2), (1, 3)), ((1, 2), (3, 2))]


@pytest.mark.parametrize("k", [1, 4, 30, 90])
def test_bump_charts_have_a_marker_for_each_rank(k: int) -> None:
    rng = np.random.default_rng(0)
    table = ranks(*(list(1 + rng.permutation(90)) for _ in range(3)))
    figure = ranked_list.ranks_figure(table, k)
    assert sum(len(t.x) for t in figure.data if t.mode == "markers") == 3 * k


# --- distance from the exact model ------------------------------------------------------------------------


def test_quartiles_over_queries_and_range_over_seeds(records: list[RunRecord], fold: Fold) -> None:
    approximate = of(records, "nystroem") + of(records, "fourier")
    errors = ranking_error_table(approximate, of(records, "exact")[0], fold.vali, "vali")
    table = metric_vs_m.agreement_data(errors)
    row = table[(table["map"] == "fourier") & (table["m"] == 5) & (table["measure"] == "tau")].iloc[0]
    some = errors[(errors["map"] == "fourier") & (errors["m"] == 5)]
    medians = some.groupby("seed")["tau"].median()
    assert row["median"] == pytest.approx(medians.mean())
    assert (row["low"], row["high"]) == pytest.approx((medians.min(), medians.max()))
    assert row["seeds"] == 2
    assert row["q25"] == pytest.approx(some.groupby("seed")["tau"].quantile(0.25).mean())
    for measure in metric_vs_m.MEASURES:
        figure = metric_vs_m.agreement_figure(table, measure, GRID, 5)
        assert "thin: quartiles over queries" in [
            trace.name for trace in figure.data if trace.showlegend is None
        ]
        named = [trace.name for trace in figure.data if trace.name]
        assert [name for name in named if ":" not in name] == ["Nyström", "random Fourier"]


def test_queries_without_a_tau_are_left_out() -> None:
    errors = pd.DataFrame(
        {
            "map": "nystroem",
            "choice": "",
            "m": 5,
            "seed": 0,
            "query": [1, 2],
            "tau": [np.nan, 0.5],
            "overlap": 1.0,
        }
    )
    table = metric_vs_m.agreement_data(errors)
    assert table.set_index("measure").loc["tau", "median"] == 0.5
    assert metric_vs_m.agreement_data(errors.assign(tau=np.nan, overlap=np.nan)).empty


def test_distances_of_objectives(records: list[RunRecord]) -> None:
    runs = of(records, "nystroem") + of(records, "fourier")
    table = metric_vs_m.objective_data(objective_table(runs, of(records, "exact")[0]))
    at = table.set_index(["map", "m"])
    assert at.loc[("nystroem", 5), "seeds"] == 2
    assert at.loc[("nystroem", 20), "distance"] > 0
    far = table.assign(distance=[0.1, 0.01, 2.0, 1.0])
    assert not metric_vs_m.objective_figure(far, 1e-6, GRID).layout.annotations
    near = table.assign(distance=[1e-5, -1e-3, 0.0, 1.0])
    figure = metric_vs_m.objective_figure(near, 1e-6, GRID)
    assert figure.layout.annotations[0].text == "tolerance"
    assert list(figure.data[0].marker.symbol) == ["circle", "circle-open"]
    assert list(figure.data[1].y) == [metric_vs_m.LEAST_DISTANCE, 1.0]
