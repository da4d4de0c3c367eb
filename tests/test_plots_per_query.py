"""Per-query figures and the score scatter: what they show and how they carry a selection."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rankviz import Fold, RunRecord, RunSpec, execute
from rankviz.datasets import RankingData, make_fold
from rankviz.plots import per_query, ranked_list, score_scatter
from rankviz.plots.style import EVEN_COLOUR, METHODS

MAPS = ("nystroem", "fourier")
METRIC = "NDCG@10"


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=20, documents_per_query=(5, 20), n_features=6, seed=1)


@pytest.fixture(scope="module")
def pair(fold: Fold) -> list[RunRecord]:
    return [execute(RunSpec("demo", feature_map=m, n_components=10, gamma=0.5), fold=fold) for m in MAPS]


@pytest.fixture(scope="module")
def table(pair: list[RunRecord], fold: Fold) -> pd.DataFrame:
    return per_query.data(*pair, fold.vali, "vali", METRIC)


def test_the_table_is_the_records(table: pd.DataFrame, pair: list[RunRecord], fold: Fold) -> None:
    left, right = (record.metrics["vali"][METRIC].to_numpy() for record in pair)
    np.testing.assert_array_equal(table["left"], left)
    np.testing.assert_allclose(table["difference"], left - right, atol=1e-12)
    assert table["query"].tolist() == fold.vali.query_ids.tolist()
    assert table["documents"].sum() == fold.vali.n_documents


@pytest.mark.parametrize("draw", [per_query.figure, per_query.strip])
def test_points_carry_queries_and_the_selection(draw: object, table: pd.DataFrame) -> None:
    picked = table["query"].iloc[[1, 3]].tolist()
    points = trace_of(draw(table, MAPS, METRIC, picked, picked[0]))
    assert sorted(points.customdata[i][0] for i in points.selectedpoints) == sorted(picked)
    assert all(isinstance(row, list | tuple) for row in points.customdata), "events give lists back"
    assert trace_of(draw(table, MAPS, METRIC)).selectedpoints is None


def trace_of(fig: object) -> object:
    return next(trace for trace in fig.data if trace.name == "queries")


def test_colour_says_who_is_ahead(table: pd.DataFrame) -> None:
    known = table.iloc[:3].assign(difference=[0.1, -0.1, 0.0])
    colours = trace_of(per_query.figure(known, MAPS, METRIC)).marker.color
    assert list(colours) == [METHODS["nystroem"].colour, METHODS["fourier"].colour, EVEN_COLOUR]
    symbols = trace_of(per_query.figure(known, MAPS, METRIC)).marker.symbol
    assert list(symbols) == ["circle", "circle", "circle-open"], "grey and full is the linear model"


def test_the_strip_is_in_order_of_the_differences(table: pd.DataFrame) -> None:
    points = trace_of(per_query.strip(table, MAPS, METRIC))
    assert (np.diff(points.y) >= 0).all()
    assert list(points.x) == list(range(1, len(table) + 1))


def test_the_ring_marks_the_chosen_query(table: pd.DataFrame) -> None:
    chosen = int(table["query"].iloc[2])
    ring = per_query.figure(table, MAPS, METRIC, (), chosen).data[-1]
    assert (ring.x[0], ring.y[0]) == tuple(table.loc[2, ["right", "left"]])


def test_scores_are_centred_by_query(pair: list[RunRecord], fold: Fold) -> None:
    scores = [record.scores["vali"] for record in pair]
    found = score_scatter.data(*scores, fold.vali, 2)
    plain = ranked_list.data(*scores, fold.vali, 2)
    pd.testing.assert_frame_equal(found[plain.columns], plain)
    assert found[["left_centred", "right_centred"]].mean().to_numpy() == pytest.approx([0, 0], abs=1e-12)
    fig = score_scatter.figure(found, "Nyström", "random Fourier")
    assert sum(len(trace.x) for trace in fig.data[1:]) == len(found)


def test_one_document_has_a_figure() -> None:
    one = RankingData.from_arrays([[0.0]], [1], [7])
    table = score_scatter.data(np.ones(1), np.zeros(1), one, 0)
    assert score_scatter.figure(table, "a", "b").layout.xaxis.range == (-1.0, 1.0)
