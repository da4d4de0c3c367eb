"""Per-query figures and the score scatter: what they show and how they carry a selection."""

import numpy as np
import pandas as pd
import pytest

from rankviz import Fold, RunRecord, RunSpec, execute
from rankviz.analysis.reference_runs import ranking_errors
from rankviz.datasets import RankingData, make_fold
from rankviz.plots import per_query, ranked_list
from rankviz.plots.style import CHOSEN_COLOUR, EVEN_COLOUR, second_tone, style_of

MAPS = ("nystroem", "fourier")
METRIC = "NDCG@10"
SIDES = per_query.pair_styles(MAPS, ("Nyström", "random Fourier"))


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=20, documents_per_query=(5, 20), n_features=6, seed=1)


@pytest.fixture(scope="module")
def pair(fold: Fold) -> list[RunRecord]:
    return [execute(RunSpec("demo", feature_map=m, n_components=10, gamma=0.5), fold=fold) for m in MAPS]


@pytest.fixture(scope="module")
def table(pair: list[RunRecord], fold: Fold) -> pd.DataFrame:
    return per_query.query_data(*pair, fold.vali, "vali", METRIC, ranking_errors(*pair, fold.vali, "vali"))


def test_the_table_is_the_records(table: pd.DataFrame, pair: list[RunRecord], fold: Fold) -> None:
    left, right = (record.metrics["vali"][METRIC].to_numpy() for record in pair)
    np.testing.assert_array_equal(table["left"], left)
    np.testing.assert_allclose(table["difference"], left - right, atol=1e-12)
    assert table["query"].tolist() == fold.vali.query_ids.tolist()
    assert table["documents"].sum() == fold.vali.n_documents


@pytest.mark.parametrize("draw", [per_query.scatter_figure, per_query.strip_figure])
def test_points_carry_queries_and_the_selection(draw: object, table: pd.DataFrame) -> None:
    picked = table["query"].iloc[[1, 3]].tolist()
    for name in ("queries", "tau"):
        points = trace_of(draw(table, SIDES, METRIC, picked, picked[0]), name)
        if points is None:
            continue  # τ has a panel in one of the figures only
        full = np.flatnonzero(np.asarray(points.marker.opacity) > 0.5)
        assert sorted(points.customdata[i][0] for i in full) == sorted(picked)
        assert points.selectedpoints is None, "Streamlit would not be told that a click ends the selection"
        assert all(isinstance(row, list | tuple) for row in points.customdata), "events give lists back"
        assert set(trace_of(draw(table, SIDES, METRIC), name).marker.opacity) == {per_query.SHOWN}


def trace_of(fig: object, name: str = "queries") -> object:
    return next((trace for trace in fig.data if trace.name == name), None)


def test_tau_stands_below_the_differences(table: pd.DataFrame) -> None:
    known = table.iloc[:3].assign(difference=[0.2, -0.1, 0.0], tau=[0.5, np.nan, 1.0])
    fig = per_query.strip_figure(known, SIDES, METRIC)
    queries, tau = trace_of(fig), trace_of(fig, "tau")
    assert [row[0] for row in queries.customdata] == [row[0] for row in tau.customdata]
    np.testing.assert_array_equal(tau.y, [np.nan, 1.0, 0.5])
    assert tau.customdata[0][-1] == "no Kendall's τ"
    low, high = fig.layout.yaxis2.range
    assert low < 0.5 < 1.0 < high
    assert np.isfinite(
        per_query.strip_figure(known.assign(tau=np.nan), SIDES, METRIC).layout.yaxis2.range
    ).all()


def test_colour_says_who_is_ahead(table: pd.DataFrame) -> None:
    known = table.iloc[:3].assign(difference=[0.1, -0.1, 0.0])
    colours = trace_of(per_query.scatter_figure(known, SIDES, METRIC)).marker.color
    assert list(colours) == [style_of("nystroem").colour, style_of("fourier").colour, EVEN_COLOUR]
    symbols = trace_of(per_query.scatter_figure(known, SIDES, METRIC)).marker.symbol
    assert list(symbols) == ["circle", "circle", "circle-open"], "grey and full is the linear model"


def test_two_models_of_one_look_have_two_tones_and_markers(table: pd.DataFrame) -> None:
    alike = per_query.pair_styles(("nystroem", "nystroem"), ("Nyström, C = 1", "Nyström, C = 2"))
    known = table.iloc[:3].assign(difference=[0.1, -0.1, 0.0])
    fig = per_query.scatter_figure(known, alike, METRIC)
    own = style_of("nystroem").colour
    marker = trace_of(fig).marker
    assert list(marker.color) == [own, second_tone(own), EVEN_COLOUR]
    assert list(marker.symbol) == ["circle", "diamond", "circle-open"]
    assert [a.text for a in fig.layout.annotations] == ["● Nyström, C = 1 ahead", "◆ Nyström, C = 2 ahead"]
    assert fig.layout.xaxis.title.text == f"{METRIC}, Nyström, C = 2"
    assert (
        "Nyström, C = 1 − Nyström, C = 2"
        in per_query.strip_figure(known, alike, METRIC).layout.yaxis.title.text
    )
    names = ("Nyström, m = 500, C = 2⁻¹⁰", "Nyström, m = 500, C = 2⁻¹¹")
    long = per_query.strip_figure(known, per_query.pair_styles(("nystroem", "nystroem"), names), METRIC)
    assert long.layout.yaxis.title.text == "left − right", "a longer title would not fit"


def test_the_strip_is_in_order_of_the_differences(table: pd.DataFrame) -> None:
    points = trace_of(per_query.strip_figure(table, SIDES, METRIC))
    assert (np.diff(points.y) >= 0).all()
    assert list(points.x) == list(range(1, len(table) + 1))


def test_the_ring_marks_the_chosen_query(table: pd.DataFrame) -> None:
    chosen = int(table["query"].iloc[2])
    ring = per_query.scatter_figure(table, SIDES, METRIC, (), chosen).data[-1]
    assert (ring.x[0], ring.y[0]) == tuple(table.loc[2, ["right", "left"]])


@pytest.mark.parametrize("metric", [METRIC, "MeanRank"])
def test_rings_of_extreme_queries_are_whole_on_a_phone(table: pd.DataFrame, metric: str) -> None:
    """The plots of a phone are 280 pixels wide; those of the strip are 225 and 135 high."""
    ends = [0.0, 1.0, 0.5] if metric == METRIC else [1.15, 10.85, 5.0]
    known = table.iloc[:3].assign(
        left=ends, right=ends[::-1], difference=[-1.0, 1.0, 0.0], tau=[1.0, -0.99, 0.2]
    )
    for query in known["query"]:
        scatter = per_query.scatter_figure(known, SIDES, metric, (), query)
        strip = per_query.strip_figure(known, SIDES, metric, (), query)
        assert_whole(scatter.data[-1], ("x", scatter.layout.xaxis, 280), ("y", scatter.layout.yaxis, 380))
        over, below = [trace for trace in strip.data if isinstance(trace.marker.color, str)]
        assert_whole(over, ("y", strip.layout.yaxis, 225))
        assert_whole(below, ("y", strip.layout.yaxis2, 135))


def assert_whole(ring: object, *axes: tuple[str, object, float]) -> None:
    radius = (ring.marker.size[0] + ring.marker.line.width) / 2
    for name, axis, pixels in axes:
        low, high = axis.range
        at = ring[name][0]
        assert min(at - low, high - at) / (high - low) * pixels >= radius, (name, at, axis.range)


def test_scores_are_centred_or_standardised_by_query(pair: list[RunRecord], fold: Fold) -> None:
    scores = [record.scores["vali"] for record in pair]
    plain = ranked_list.list_data(*scores, fold.vali, 2)
    for scale, spread in (("centred", plain["left_score"].std(ddof=0)), ("standardised", 1.0)):
        found = ranked_list.scatter_data(*scores, fold.vali, 2, scale)
        pd.testing.assert_frame_equal(found[plain.columns], plain)
        assert found[["left_value", "right_value"]].mean().to_numpy() == pytest.approx([0, 0], abs=1e-12)
        assert found["left_value"].std(ddof=0) == pytest.approx(spread)
        fig = ranked_list.scatter_figure(found, "Nyström", "random Fourier", scale)
        drawn = [trace for trace in fig.data[1:] if trace.showlegend is not False]
        assert sum(len(trace.x) for trace in drawn) == len(found)
        assert ranked_list.SCALES[scale] in fig.layout.xaxis.title.text


@pytest.mark.parametrize("scale", ranked_list.SCALES)
def test_one_document_has_a_figure(scale: str) -> None:
    one = RankingData.from_arrays([[0.0]], [1], [7])
    table = ranked_list.scatter_data(np.ones(1), np.zeros(1), one, 0, scale)
    assert ranked_list.scatter_figure(table, "a", "b", scale).layout.xaxis.range == (-1.0, 1.0)
    assert len(ranked_list.largest_moves(table, 5)) == 0


@pytest.fixture
def lists() -> pd.DataFrame:
    """Six documents; the second list is the first one, but for the last document on top."""
    part = RankingData.from_arrays(np.zeros((6, 1)), [0, 1, 2, 0, 0, 3], [7] * 6)
    return ranked_list.list_data(-np.arange(6.0), np.array([0, -1, -2, -3, -4, 1.0]), part, 0)


def test_what_moved_farthest(lists: pd.DataFrame) -> None:
    found = ranked_list.largest_moves(lists, 3)
    assert found["document"].tolist() == ["document 6", "document 1", "document 2"]
    assert found["change"].tolist() == [5, -1, -1]
    same = ranked_list.list_data(
        np.zeros(6), np.zeros(6), RankingData.from_arrays(np.zeros((6, 1)), [0] * 6, [7] * 6), 0
    )
    assert len(ranked_list.largest_moves(same, 3)) == 0


def test_lists_say_where_documents_went(lists: pd.DataFrame) -> None:
    fig = ranked_list.list_figure(lists, "a", "b", 3)
    words = [text for trace in fig.data if trace.mode == "text" for text in trace.text]
    assert words == ["▲ from 6", "▼ 1", "▼ 1", "to 4 ▼"]
    markers = [trace for trace in fig.data if trace.mode == "markers+text"]
    assert {(trace.name, text) for trace in markers for text in trace.text} == {
        (f"grade {grade}", str(grade)) for grade in (0, 1, 2, 3)
    }


def test_a_marked_document_has_a_ring_in_each_list(lists: pd.DataFrame) -> None:
    fig = ranked_list.list_figure(lists, "a", "b", 3, ["document 1"])
    rings = [trace for trace in fig.data if trace.mode == "markers" and trace.marker.color == CHOSEN_COLOUR]
    assert [(trace.x[0], trace.y[0]) for trace in rings] == [(0, 1), (1, 2)]
    assert all(trace.customdata[0][0] == "document 1" for trace in rings), "a click on the ring reaches it"
    none = ranked_list.list_figure(lists, "a", "b", 3)
    assert not any(len(trace.x) for trace in none.data if trace.mode == "markers")
