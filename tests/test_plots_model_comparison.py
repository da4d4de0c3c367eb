"""Figures of comparisons: what their tables hold and what is drawn of them."""

import json
import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from conftest_contestants import LINEAR, NYSTROEM, single

from rankviz import RunRecord, RunSpec, execute
from rankviz.analysis import slices
from rankviz.analysis.comparison import Comparison, compare, front, metric_by_cutoff
from rankviz.analysis.contestants import Matched
from rankviz.datasets import make_fold
from rankviz.plots import model_comparison, per_query
from rankviz.plots.style import second_tone, style_of
from ui.compare.compare_words import headline

BASE = np.linspace(0.2, 0.7, 12)
BETTER = BASE + 0.1 + np.linspace(-0.02, 0.02, 12)
LIKE = BASE + np.where(np.arange(12) % 2, 0.03, -0.03)
FIRST_FULL = ["circle", "diamond-open", "circle-open", "diamond-open"]
FOURIER = NYSTROEM.but(feature_map="fourier")


@pytest.fixture(scope="module")
def found() -> Comparison:
    given = [
        single("base", BASE, LINEAR, seconds=0.5, **{"NDCG@1": LIKE, "NDCG@2": BASE}),
        single("<b>better", BETTER, NYSTROEM, seconds=20.0, **{"NDCG@1": BASE, "NDCG@2": BASE}),
        single("like", LIKE, FOURIER, seconds=4.0, **{"NDCG@1": BASE, "NDCG@2": LIKE}),
    ]
    return compare(given, ["MAP", "NDCG@1"], "base")


def dots(figure: go.Figure) -> list[go.Scatter]:
    return [trace for trace in figure.data if trace.mode == "markers" and trace.error_x.array is not None]


def test_means_have_a_panel_for_each_metric_and_a_row_for_each_model(found: Comparison) -> None:
    table = model_comparison.metrics_data(found)
    assert table["method"].tolist() == ["linear", "nystroem", "fourier"] * 2
    figure = model_comparison.metrics_figure(table)
    drawn = dots(figure)
    assert [trace.yaxis for trace in drawn] == ["y"] * 3 + ["y2"] * 3
    assert [trace.y[0] for trace in drawn] == [0, 1, 2] * 2
    for trace, row in zip(drawn, table.itertuples(), strict=True):
        assert trace.x[0] == row.mean
        assert trace.x[0] + trace.error_x.array[0] == pytest.approx(row.high)
        assert trace.x[0] - trace.error_x.arrayminus[0] == pytest.approx(row.low)
        assert trace.marker.color == style_of(row.method).colour
    assert [note.text for note in figure.layout.annotations] == ["<b>MAP</b>", "<b>NDCG@1</b>"]
    levels = [trace.x[0] for trace in figure.data if trace.mode == "lines"]
    assert levels == pytest.approx([BASE.mean(), LIKE.mean()]), "the baseline's"
    assert figure.layout.xaxis.anchor == "y2", "ticks stand below the last panel"


def test_foreign_names_are_no_markup(found: Comparison) -> None:
    for figure in (
        model_comparison.metrics_figure(model_comparison.metrics_data(found)),
        model_comparison.deltas_figure(model_comparison.deltas_data(found)),
        model_comparison.time_figure(model_comparison.time_data(front(found.matched, "MAP")), "MAP"),
        model_comparison.curve_figure(metric_by_cutoff(found.matched)),
    ):
        drawn = json.dumps(json.loads(figure.to_json()), ensure_ascii=False)
        assert "<b>better" not in drawn
        assert "<\u2060b>better" in drawn


def test_differences_are_full_where_they_hold(found: Comparison) -> None:
    figure = model_comparison.deltas_figure(model_comparison.deltas_data(found))
    drawn = dots(figure)
    assert [trace.marker.symbol for trace in drawn] == FIRST_FULL
    assert drawn[0].x[0] == pytest.approx(0.1)
    assert figure.layout.xaxis.tickformat.startswith("+")
    assert figure.layout.xaxis.labelalias["+0.00"] == "0"
    assert (
        "better on 12 of 12 queries, worse on 0<br>paired randomisation test p = 4.9"
        in drawn[0].hovertemplate
    )


def test_slices_have_a_panel_each(found: Comparison) -> None:
    chosen = slices.by_choice({"first": range(1, 8), "last": [12]})
    table = model_comparison.slices_data(found.matched, "MAP", "base", chosen)
    figure = model_comparison.slices_figure(table, "MAP")
    titles = [note.text for note in figure.layout.annotations]
    assert titles == ["<b>first (7 queries)</b>", "<b>last (1 query)</b>"]
    drawn = dots(figure)
    assert [trace.marker.symbol for trace in drawn] == FIRST_FULL
    assert drawn[2].error_x.array[0] == 0.0, "one query has no interval"
    heights = [axis.domain[1] - axis.domain[0] for axis in (figure.layout.yaxis, figure.layout.yaxis2)]
    assert heights[0] == pytest.approx(heights[1])


def test_wins_and_losses_are_drawn_by_query_differences(found: Comparison) -> None:
    pair = found.matched.pair("MAP", "<b>better", "base")
    table = per_query.difference_data({"test": pair})
    assert table["difference"].to_numpy() == pytest.approx(np.sort(BETTER - BASE))
    assert set(table["query"]) == set(range(1, 13))


def test_cutoffs_have_bands_of_their_intervals(found: Comparison) -> None:
    table = metric_by_cutoff(found.matched)
    figure = model_comparison.curve_figure(table)
    bands = [trace for trace in figure.data if trace.fill == "toself"]
    assert len(bands) == 3
    own = table[table["label"] == "base"]
    assert list(bands[0].y) == [*own["low"], *own["high"][::-1]]
    assert figure.layout.yaxis.range[0] <= table["low"].min()
    assert figure.layout.yaxis.range[1] >= table["high"].max()
    assert figure.layout.yaxis.title.text == "mean NDCG@k over queries"


def test_models_of_one_look_have_tones_and_dashes_of_their_own() -> None:
    rows = [("nystroem", f"C {n}", k, 0.5) for n in range(4) for k in (1, 2)]
    lines = model_comparison.curve_figure(pd.DataFrame(rows, columns=["method", "label", "k", "value"])).data
    assert len({(trace.line.color, trace.line.dash) for trace in lines}) == 4
    assert lines[-1].line.color == style_of("nystroem").colour
    assert lines[-2].line.color == second_tone(style_of("nystroem").colour)


def test_time_and_quality_marks_the_front_and_the_cheapest(found: Comparison) -> None:
    result = front(found.matched, "MAP")
    table = model_comparison.time_data(result)
    assert table["chosen"].tolist() == ["", "", "best"]
    figure = model_comparison.time_figure(table, "MAP")
    step = figure.data[0]
    assert list(step.x) == table.loc[table["efficient"], "seconds"].tolist()
    ring = figure.data[-1]
    assert (ring.x[0], ring.y[0]) == (20.0, pytest.approx(BETTER.mean())), "nothing cheaper is as good"
    points = figure.data[1:-1]
    assert [trace.error_y.array[0] for trace in points] == table["se"].tolist()
    low, high = figure.layout.xaxis.range
    assert low < math.log10(0.5) < math.log10(20.0) < high
    other = front(Matched.of(found.matched.contestants[::2]), "NDCG@2")
    assert model_comparison.time_data(other)["chosen"].tolist() == ["best", ""]


def test_figures_stand_without_intervals() -> None:
    """Five queries give no interval: means and lines are drawn, bands and bars are not."""
    few = {"NDCG@1": BASE[:5], "NDCG@2": BASE[:5]}
    five = compare([single("a", BASE[:5], **few), single("b", LIKE[:5], NYSTROEM, **few)], ["MAP"], "a")
    table = model_comparison.metrics_data(five)
    assert table[["low", "high"]].isna().all(axis=None)
    for fig in (
        model_comparison.metrics_figure(table),
        model_comparison.deltas_figure(model_comparison.deltas_data(five)),
    ):
        assert "NaN" not in fig.to_json()
        dots = [trace for trace in fig.data if trace.error_x.array is not None]
        assert [tuple(trace.error_x.array) for trace in dots] == [(0.0,)] * len(dots)
    curves = metric_by_cutoff(five.matched)
    curves.loc[curves["label"] == "b", ["low", "high"]] = 0.1, 0.9
    fig = model_comparison.curve_figure(curves)
    bands = [len(trace.x) for trace in fig.data if trace.fill == "toself"]
    assert bands == [0, 4]
    assert tuple(fig.layout.yaxis.range) == pytest.approx((0.0, 1.0), abs=0.11)
    assert "too few queries for a 95 % interval" in five.sentence("b", "MAP")
    assert "too few queries for a 95 % interval" in headline(five, "MAP")


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


def test_without_a_record_there_is_an_empty_figure() -> None:
    assert not model_comparison.curve_figure(model_comparison.curve_data([], "vali")).data
