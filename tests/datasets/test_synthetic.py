"""The generator: seeded, within its limits, of the stated shape."""

from __future__ import annotations

import numpy as np
import pytest

from rankviz.datasets import make_data, make_fold
from rankviz.datasets.statistics import describe


def explained(X, target):
    """Share of the variance of `target` that a linear model of X explains."""
    A = np.column_stack([np.ones(len(X)), X])
    residual = target - A @ np.linalg.lstsq(A, target, rcond=None)[0]
    return 1 - residual.var() / target.var()


def test_equal_arguments_give_equal_data():
    assert make_data(n_queries=8, seed=4).digest == make_data(n_queries=8, seed=4).digest
    assert make_data(n_queries=8, seed=4).digest != make_data(n_queries=8, seed=5).digest
    assert make_fold(n_queries=8, seed=4).digest == make_fold(n_queries=8, seed=4).digest


def test_shape_of_what_is_made():
    data = make_data(n_queries=300, documents_per_query=(5, 80), n_features=7, n_grades=3, seed=0)
    sizes = np.diff(data.ptr)
    got = describe(data)
    assert (got.queries, got.features, list(got.grades)) == (300, 7, [0, 1, 2])
    assert sizes.min() < 8
    assert sizes.max() > 70
    assert sizes.max() <= 80
    assert sizes.min() >= 5
    assert np.median(sizes) < sizes.mean()  # log-uniform: many short queries, few long ones
    assert got.grades[0] > got.grades[1] > got.grades[2] > 0
    assert 0 < got.queries_without_relevant < 30
    assert len(set(data.document_ids.tolist())) == data.n_documents


def test_sizes_are_log_uniform():
    sizes = np.diff(make_data(n_queries=1000, documents_per_query=(8, 127), n_features=1).ptr)
    doublings = np.histogram(sizes, [8, 16, 32, 64, 128])[0]
    np.testing.assert_allclose(doublings, 250, atol=55)  # four standard deviations


def test_features_fill_the_unit_interval_in_every_query():
    data = make_data(n_queries=20, n_features=5)
    np.testing.assert_array_equal(np.minimum.reduceat(data.X, data.ptr[:-1]), 0)
    np.testing.assert_array_equal(np.maximum.reduceat(data.X, data.ptr[:-1]), 1)


def test_nonlinearity_is_what_a_linear_model_does_not_explain():
    kinds = {"n_queries": 150, "n_grades": 40, "noise": 0.0, "seed": 1}
    straight, bent = (make_data(nonlinearity=nu, **kinds) for nu in (0.0, 1.0))

    def share(data):
        centred = data.y - np.repeat(
            np.add.reduceat(data.y, data.ptr[:-1]) / np.diff(data.ptr), np.diff(data.ptr)
        )
        return explained(data.X, centred)

    assert share(straight) > 0.4
    assert share(bent) < 0.1


@pytest.mark.parametrize("n_grades", [2, 3, 5])
def test_grades_have_falling_shares(n_grades):
    counts = np.bincount(make_data(n_queries=200, n_grades=n_grades).y)
    shares = 0.4 ** np.arange(n_grades)
    np.testing.assert_allclose(counts / counts.sum(), shares / shares.sum(), atol=1e-3)


def test_smallest_data():
    data = make_data(n_queries=1, documents_per_query=(1, 1), n_features=1)
    assert data.X.tolist() == [[0.0]]
    assert make_data(n_queries=3, n_features=2, noise=0.0).n_features == 2


def test_fold_is_split_by_query():
    fold = make_fold(n_queries=10, seed=3)
    assert [part.n_queries for part in fold.parts.values()] == [6, 2, 2]
    assert fold.name == "synthetic (seed 3)"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_queries": 0}, "n_queries"),
        ({"documents_per_query": (0, 5)}, "documents_per_query"),
        ({"documents_per_query": (6, 5)}, "documents_per_query"),
        ({"n_features": 0}, "n_features"),
        ({"n_grades": 1}, "n_grades"),
        ({"nonlinearity": 1.1}, "nonlinearity"),
        ({"noise": -0.1}, "noise"),
        ({"noise": float("nan")}, "noise"),
    ],
)
def test_arguments_outside_the_limits(wrong, message):
    with pytest.raises(ValueError, match=message):
        make_data(**wrong)
