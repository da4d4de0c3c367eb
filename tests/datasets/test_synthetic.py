"""The generator, its recipes, and sets in the plane: seeded, within limits, of the stated shape."""

import numpy as np
import pytest

from rankviz.common.errors import SettingError
from rankviz.datasets import make_data, make_fold
from rankviz.datasets.statistics import describe
from rankviz.datasets.synthetic import MOST_EACH, PLANES, Recipe, make_plane
from rankviz.datasets.uploads import _tidy


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


@pytest.mark.parametrize(
    "recipe",
    [Recipe(), Recipe(5, 1, 1, 1, 2, 0.0, 0.0, 0), Recipe(2000, 8, 500, 200, 9, 1.0, 3.25, 2**31 - 1)],
)
def test_name_and_recipe_are_the_same_thing(recipe):
    assert Recipe.named(recipe.name) == recipe
    assert _tidy(recipe.name) == recipe.name  # the folder carries it unchanged


@pytest.mark.parametrize(
    "name",
    [
        "",
        "synthetic-demo",
        "../x",
        Recipe().name + " ",
        Recipe().name + "-",
        Recipe().name.replace("q2", "q02"),
    ],
)
def test_other_names_are_no_recipes(name):
    assert Recipe.named(name) is None


def test_expected_documents():
    recipe = Recipe(queries=2000, features=1)
    made = sum(part.n_documents for part in recipe.make().parts.values())
    assert made == pytest.approx(recipe.expected_documents, rel=0.05)
    assert Recipe(queries=7, smallest=4, largest=4).expected_documents == pytest.approx(31.4, abs=0.1)


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(queries=2000, largest=500, features=200),
        Recipe(smallest=9, largest=8),
        Recipe(smallest=0),
        Recipe(grades=1),
    ],
)
def test_recipes_out_of_range(recipe):
    with pytest.raises(ValueError, match=r"choose fewer|must be|at least"):
        recipe.make()


@pytest.mark.parametrize("name", PLANES)
@pytest.mark.parametrize("each", [1, 2, 16, MOST_EACH])
def test_documents_lie_in_the_square_and_are_repeatable(name: str, each: int) -> None:
    data = make_plane(name, documents_per_query=each, seed=3)
    assert data.X.shape == (3 * each, 2)
    assert np.abs(data.X).max() <= 1
    assert data.n_queries == 3
    assert data.digest == make_plane(name, documents_per_query=each, seed=3).digest
    if each > 2:
        assert data.digest != make_plane(name, documents_per_query=each, seed=4).digest
        assert all(np.ptp(data.y[data.query_slice(q)]) > 0 for q in range(3))


def test_the_noisy_query_is_the_linear_set_with_its_last_grades_dealt_anew() -> None:
    linear, noisy = make_plane("linear", seed=1), make_plane("noisy", seed=1)
    assert np.array_equal(linear.X, noisy.X)
    assert np.array_equal(linear.y[:32], noisy.y[:32])
    assert not np.array_equal(linear.y[32:], noisy.y[32:])
    assert sorted(linear.y[32:]) == sorted(noisy.y[32:])


def test_xor_goes_by_the_signs() -> None:
    data = make_plane("xor", documents_per_query=30, seed=2)
    assert np.array_equal(data.y, (data.X.prod(axis=1) > 0).astype(int))


@pytest.mark.parametrize("arguments", [{"name": "square"}, {"documents_per_query": 0}])
def test_what_there_is_not_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(SettingError, match=r"plane='square'|documents_per_query=0"):
        make_plane(**arguments)
