"""Columns with a large offset: the same model as without it, and other columns as they were, bit by bit."""

import numpy as np
import pytest
from naive_ranking import slow_optimum

from rankviz import FactorizedRankSVM, RankSVM, RegularizedRankSVM
from rankviz.common.parallel import PIECE_ENTRIES, norm_bound
from rankviz.datasets import RankingData, make_data
from rankviz.features import FEATURE_MAPS, MapSettings
from rankviz.features.operator import FAR, centred, far_columns, sizes
from rankviz.learning.losses import LOSSES
from rankviz.learning.solvers import SOLVERS

DATA = make_data(n_queries=40, documents_per_query=(20, 40), n_features=6, seed=3)
WHOLE = np.round(DATA.X * 2.0**10) / 2.0**10
"""Features with few digits, so that 2^20 more is added without rounding: offsets then change no digit."""
C = 2.0**-7


def data_with(X: np.ndarray) -> RankingData:
    return RankingData.from_arrays(X, DATA.y, DATA.qid)


def offsets(kind: str) -> np.ndarray:
    """An offset of column 3: the same for all documents, or another for each query."""
    if kind == "one":
        return np.full(DATA.n_documents, 2.0**27)
    rng = np.random.default_rng(0)
    each = np.round(rng.normal(size=DATA.n_queries) * 2.0**27)
    return np.repeat(each, np.diff(DATA.ptr))


def moved(kind: str) -> RankingData:
    X = WHOLE.copy()
    X[:, 3] += offsets(kind)
    return data_with(X)


@pytest.mark.parametrize("kind", ["one", "each query"])
@pytest.mark.parametrize("preconditioner", ["auto", "none"])
def test_an_offset_changes_nothing(kind: str, preconditioner: str) -> None:
    optimum = slow_optimum(WHOLE, DATA.y, DATA.ptr, C, LOSSES["squared_hinge"])[1]
    plain = RankSVM(C=C, tol=1e-12, preconditioner=preconditioner).fit_data(data_with(WHOLE))
    model = RankSVM(C=C, tol=1e-12, preconditioner=preconditioner).fit_data(moved(kind))
    assert model.objective_ == pytest.approx(optimum, rel=1e-9)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-7)
    raw, f = model.predict(moved(kind).X), plain.predict(WHOLE)
    apart = raw - f - model.coef_[3] * offsets(kind)  # weights are those of the features as they are
    np.testing.assert_allclose(apart, 0.0, atol=1e-6 * np.ptp(f))


@pytest.mark.parametrize("solver", [name for name in SOLVERS if not name.endswith("_printed")])
def test_every_solver_takes_it(solver: str) -> None:
    plain = RankSVM(C=C, solver=solver).fit_data(data_with(WHOLE))
    model = RankSVM(C=C, solver=solver).fit_data(moved("each query"))
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert model.status_ is plain.status_


def test_low_rank_models_take_it() -> None:
    for made in (RegularizedRankSVM(), FactorizedRankSVM(solver="query_steps"), FactorizedRankSVM(rank=1)):
        plain = made.fit_data(data_with(WHOLE)).objective_
        assert made.fit_data(moved("each query")).objective_ == pytest.approx(plain, rel=2e-3)


def test_huge_offsets_overflow_nothing() -> None:
    X = WHOLE.copy()
    X[:, 3] = 1e139
    model = RankSVM(C=C).fit_data(data_with(X))
    without = RankSVM(C=C).fit_data(data_with(np.delete(WHOLE, 3, axis=1)))
    assert model.objective_ == pytest.approx(without.objective_, rel=1e-9)
    assert model.coef_[3] == 0.0


def test_other_columns_stay_as_they_are() -> None:
    features = FEATURE_MAPS["linear"].make(MapSettings()).fit(WHOLE).operator(WHOLE)
    assert centred(features, DATA.ptr) is features
    base = centred(features.__class__(moved("one").X, features.basis), DATA.ptr).base
    others = [0, 1, 2, 4, 5]
    np.testing.assert_array_equal(base[:, others], WHOLE[:, others])
    first = np.repeat(WHOLE[DATA.ptr[:-1], 3], np.diff(DATA.ptr))
    np.testing.assert_array_equal(base[:, 3], WHOLE[:, 3] - first)


def test_what_is_far() -> None:
    ptr = np.array([0, 3, 5])
    column = np.array([0.0, 0.5, 1.0, 0.0, 0.0])
    X = np.column_stack(
        (column, column + FAR, column + 2 * FAR, column - 2 * FAR, 0 * column, 0 * column + 7)
    )
    assert far_columns(X, ptr).tolist() == [1, 2, 3, 5]
    assert far_columns(np.where(X == 2 * FAR, 0.0, X), ptr).tolist() == [1, 3, 5]  # constant in the longest


@pytest.mark.parametrize("what", ["scaled", "twice", "constant", "of rank 2", "tiny"])
def test_other_awkward_features_have_the_optimum_too(what: str) -> None:
    X = {
        "scaled": WHOLE * np.array([1.0, 1e6, 1, 1, 1, 1]),
        "twice": np.hstack((WHOLE, WHOLE)),
        "constant": np.column_stack((WHOLE, np.full(len(WHOLE), 1e8))),
        "of rank 2": WHOLE[:, :2] @ np.random.default_rng(0).normal(size=(2, 6)),
        "tiny": WHOLE * 1e-200,
    }[what]
    values = [
        RankSVM(C=C, tol=1e-10, solver=s).fit_data(data_with(X)).objective_ for s in ("newton", "newton_yuan")
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-6)


@pytest.mark.parametrize("n", [0, 1, 15, 1024, 1040, 3000])
def test_sizes_of_columns(n: int) -> None:
    X = np.random.default_rng(n).normal(size=(n, 7)) * 10.0 ** np.arange(7)
    expected = [max((abs(v) for v in column), default=0.0) for column in X.T.tolist()]
    for given in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        np.testing.assert_array_equal(sizes(given), expected)


@pytest.mark.parametrize(
    "shape", [(0, 3), (7, 2), (3 * PIECE_ENTRIES, 1), (5, 2 * PIECE_ENTRIES), (9999, 46)]
)
def test_the_bound_of_features_is_near_their_largest(shape: tuple[int, int]) -> None:
    X = np.random.default_rng(0).normal(size=shape)
    largest = np.abs(X).max(initial=0.0)
    assert largest <= norm_bound(X) <= largest * np.sqrt(max(PIECE_ENTRIES, shape[1]))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("row", [0, 9998])
def test_a_number_that_is_not_finite_is_found_in_every_block(value: float, row: int) -> None:
    X = np.zeros((9999, 46))
    X[row, 45] = value
    assert not norm_bound(X) < np.inf
