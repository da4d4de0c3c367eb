"""Margins by sorting: the same counts as listing every pair."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rankviz.datasets import RankingData, make_fold
from rankviz.learning.losses import LOSSES
from rankviz.learning.pairs import preference_pairs
from rankviz.metrics.margins import histogram, summary
from rankviz.plots import margins as plot


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_listed_pairs(seed: int) -> None:
    part = make_fold(n_queries=9, documents_per_query=(1, 30), n_features=3, seed=seed).train
    rng = np.random.default_rng(seed)
    for scores in (rng.normal(size=part.n_documents), rng.integers(-3, 4, part.n_documents) / 2.0):
        t = preference_pairs(part.y, part.ptr).margins(scores)
        found = summary(scores, part)
        assert (found.n_pairs, found.misordered) == (len(t), int((t <= 0).sum()))
        assert (found.low, found.high) == (t.min(), t.max())
        edges = np.arange(-5.0, 8.0) / 2.0
        expected = [int(((t >= a) & (t < b)).sum()) for a, b in pairwise(edges)]
        assert histogram(scores, part, edges).tolist() == expected


def test_all_pairs_are_in_the_bins_and_zero_and_one_are_edges() -> None:
    part = make_fold(n_queries=9, documents_per_query=(1, 30), n_features=3, seed=1).train
    for scale in (0.0, 1e-3, 1.0, 7.0, 1e4):
        table = plot.data(scale * part.X[:, 0], part)
        assert table["pairs"].sum() == len(preference_pairs(part.y, part.ptr))
        assert 0.0 in table["left"].to_list()
        assert scale > 1.0 or np.isclose(table["right"], 1.0).any()
        assert len(table) <= plot.MOST_BINS + 2


def test_no_pairs() -> None:
    part = RankingData.from_arrays(np.ones((3, 1)), [1, 1, 1], [1, 1, 2])
    assert summary(np.zeros(3), part).n_pairs == 0
    assert plot.data(np.zeros(3), part)["pairs"].sum() == 0


def test_every_loss_is_drawn_with_its_derivative() -> None:
    part = make_fold(n_queries=9, documents_per_query=(5, 30), n_features=3, seed=1).train
    table = plot.data(part.X[:, 0], part)
    lines = plot.curves(table)
    assert set(lines["loss"]) == set(LOSSES)
    fig = plot.figure(table, lines, "nystroem", "hinge")
    assert len(fig.data) == 2 * len(LOSSES) + 1
    for name, rows in lines.groupby("loss"):
        slope = np.diff(rows["value"]) / np.diff(rows["t"])
        assert (slope >= rows["slope"].to_numpy()[:-1] - 1e-6).all(), name  # convex
        assert (slope <= rows["slope"].to_numpy()[1:] + 1e-6).all(), name
