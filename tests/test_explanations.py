"""Shares of features in a margin: against all coalitions, for every map and kernel, and on the real folds."""

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from conftest_kernels import SETTINGS
from sklearn.exceptions import NotFittedError
from strangers import FEATURE_MAP, Cauchy, FeatureMean, FittedSquares

from rankviz import (
    MART,
    FactorizedRankSVM,
    LambdaMART,
    RandomForest,
    RankSVM,
    RegularizedRankSVM,
    StopRequested,
    XGBoostRanker,
    explain_margin,
    load_fold,
)
from rankviz.common.errors import DataError, SettingError
from rankviz.datasets import make_data
from rankviz.features import FEATURE_MAPS, KERNELS, exact
from rankviz.features.kernel_base import ByFeature, Fill, Kernel
from rankviz.features.kernels import RBF, Laplacian
from rankviz.features.maps import Expansion, ProductForm, SumForm
from rankviz.models.low_rank import LowRankRanker
from rankviz.models.rounds import RoundRanker
from rankviz.runs.spec import RunSpec
from rankviz.whatif import explanations
from rankviz.whatif.explanations import shapley_values

D = 9
DATA = make_data(n_queries=6, documents_per_query=(6, 9), n_features=D, seed=3)
MADE = {"rbf": {"gamma": 0.3}, "laplacian": {"gamma": 0.2}, "linear": {}}
"""Settings of the kernels that are made of functions of single features."""
RANKERS: dict[str, Callable[..., Any]] = {
    "RankSVM": lambda **settings: RankSVM(C=0.5, **settings),
    "factorised": lambda **settings: FactorizedRankSVM(C=0.5, **settings),
    "regularised": lambda **settings: RegularizedRankSVM(C=0.5, nuclear=0.01, **settings),
}


def models() -> dict[str, Callable[[], Any]]:
    """Every ranker on every map with every kernel that it goes with."""
    found: dict[str, Callable[[], Any]] = {}
    for ranker, make in RANKERS.items():
        for name, kind in FEATURE_MAPS.items():
            for kernel in MADE if kind.has_kernel else {"none": {}}:
                if kernel == "none" or kind.takes(KERNELS[kernel]):
                    settings: dict[str, Any] = {"feature_map": name, "n_components": 12}
                    settings |= {} if kernel == "none" else {"kernel": kernel, **MADE[kernel]}
                    found[f"{ranker}, {name}, {kernel}"] = lambda m=make, s=settings: m(**s)
    return found


MODELS = models()
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def by_coalitions(score: Callable[[np.ndarray], np.ndarray], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Shapley's own definition, over all 2^d coalitions of features that have A's values."""
    d = len(a)
    on = (np.arange(2**d)[:, None] >> np.arange(d)) & 1
    f = score(np.where(on, a, b))
    size, values = on.sum(axis=1), np.zeros(d)
    for j in range(d):
        without = np.flatnonzero(on[:, j] == 0)
        weights = np.array([1 / (d * comb(d - 1, int(s))) for s in size[without]])
        values[j] = weights @ (f[without | (1 << j)] - f[without])
    return values


def small_share(values: np.ndarray, expected: np.ndarray, scale: float) -> None:
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12 * scale)


@each_model
def test_it_is_the_mean_over_all_coalitions(make: Callable[[], Any]) -> None:
    model = make().fit_data(DATA)
    scale = max(1.0, float(np.abs(model.predict(DATA.X)).max()))
    for i, j in ((0, 1), (7, 30)):
        a, b = DATA.X[i], DATA.X[j]
        found = explain_margin(model, a, b)
        small_share(found.values, by_coalitions(model.predict, a, b), scale)
        assert abs(found.rest) < 1e-12 * scale
        assert found.margin == pytest.approx(model.predict([a])[0] - model.predict([b])[0], abs=1e-12 * scale)


def test_it_is_so_for_coefficients_of_documents_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact kernel of many documents has no factor, but one coefficient for each of them."""
    monkeypatch.setattr(exact, "SMALL", 10)
    model = RankSVM("exact", gamma=0.3, C=0.5).fit_data(DATA)
    assert model.feature_map_.in_kernel_space
    a, b = DATA.X[:2]
    small_share(explain_margin(model, a, b).values, by_coalitions(model.predict, a, b), 1.0)


@pytest.mark.parametrize("entries", [1, 37, 10**9])
def test_blocks_change_nothing(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = RankSVM("fourier", n_components=40, gamma=0.3).fit_data(DATA)
    expected = explain_margin(model, DATA.X[0], DATA.X[1]).values
    monkeypatch.setattr(explanations, "SHAPLEY_ENTRIES", entries)
    np.testing.assert_allclose(explain_margin(model, DATA.X[0], DATA.X[1]).values, expected, atol=1e-14)


def not_asked(values: np.ndarray, feature: int, terms: slice) -> np.ndarray:
    """One feature alone, of which shares are not made."""
    raise NotImplementedError


@pytest.mark.parametrize("d", [1, 2, 3, 4, 7, 8])
def test_nodes_suffice_for_odd_and_even_numbers_of_features(d: int) -> None:
    """Factors that are far from each other: the polynomials have every degree that they may have."""
    rng = np.random.default_rng(d)
    on, off = rng.uniform(-1, 1, (2, 5, d))
    form = ProductForm(rng.normal(size=5), lambda x, terms: np.where(x > 0, on, off)[terms], not_asked)

    def score(X: np.ndarray) -> np.ndarray:
        return np.array([form.coefficients @ form.factors(x, slice(None)).prod(axis=1) for x in X])

    a, b = np.ones(d), np.zeros(d)
    small_share(shapley_values(form, a, b), by_coalitions(score, a, b), 1.0)


@pytest.mark.parametrize("kernel", [RBF(1e4), Laplacian(1e3), RBF(30.0)], ids=lambda kernel: repr(kernel))
def test_factors_that_underflow_leave_the_others_alone(kernel: Any) -> None:
    """κ with one landmark is that document itself, with the others 0: what is left is shared out."""
    rng = np.random.default_rng(1)
    documents = rng.uniform(size=(20, 6))
    expansion = Expansion(kernel, documents, rng.normal(size=20))
    a, b = documents[0], documents[1]

    def score(X: np.ndarray) -> np.ndarray:
        return kernel.matrix(X, documents) @ expansion.coefficients

    values = shapley_values(expansion.form, a, b)
    assert np.isfinite(values).all()
    small_share(values, by_coalitions(score, a, b), 1.0)
    assert values.sum() == pytest.approx(score(a[None])[0] - score(b[None])[0], abs=1e-12)


def test_factors_that_vanish_are_not_divided_by() -> None:
    """A cosine may be 0 at A, at B, and between."""
    form = ProductForm(
        np.array([1.0, -0.5]),
        lambda x, terms: np.array([[1.0, 0.0, -1.0], [0.0, 2.0, 1.0]])[terms] * x,
        not_asked,
    )

    def score(X: np.ndarray) -> np.ndarray:
        return np.array([form.coefficients @ form.factors(x, slice(None)).prod(axis=1) for x in X])

    a, b = np.array([1.0, 0.0, 2.0]), np.array([0.0, 3.0, -1.0])
    small_share(shapley_values(form, a, b), by_coalitions(score, a, b), 1.0)


def test_features_that_agree_have_no_share() -> None:
    model = RankSVM("nystroem", n_components=12, gamma=0.3, C=0.5).fit_data(DATA)
    a = DATA.X[0]
    same = explain_margin(model, a, a)
    assert not same.values.any()
    assert same.margin == 0.0
    b = a.copy()
    b[4] = DATA.X[1, 4] + 0.1
    one = explain_margin(model, a, b)
    assert not np.delete(one.values, 4).any()
    assert one.values[4] == pytest.approx(float(one.margin), abs=1e-12)


def test_shares_of_a_linear_model_keep_what_a_large_offset_hides() -> None:
    """Scores of columns at 10⁸ lose eight digits; the shares are of differences, which lose none."""
    X = DATA.X.copy()
    X[:, 3] += 2.0**27
    model = RankSVM(C=0.1).fit(X, DATA.y, qid=DATA.qid)
    found = explain_margin(model, X[0], X[1])
    np.testing.assert_array_equal(found.values, model.coef_ * (X[0] - X[1]))
    assert abs(found.rest) < 1e-15 * 2.0**27 * np.abs(model.coef_[3])


def test_many_pairs_at_once_are_the_single_ones() -> None:
    model = RankSVM("nystroem", n_components=30, gamma=0.3).fit_data(DATA)
    A, B = DATA.X[:5], DATA.X[1:6]
    found = explain_margin(model, A, B)
    assert found.values.shape == (5, D)
    assert found.margin.shape == found.rest.shape == (5,)
    for i in range(5):
        one = explain_margin(model, A[i], B[i])
        np.testing.assert_array_equal(found.values[i], one.values)
        assert found.margin[i] == pytest.approx(float(one.margin), abs=1e-13)
    none = explain_margin(model, A[:0], B[:0])
    assert none.values.shape == (0, D)
    assert none.margin.shape == (0,)


def test_it_can_be_stopped_between_pairs() -> None:
    model = RankSVM().fit_data(DATA)
    with pytest.raises(StopRequested):
        explain_margin(model, DATA.X[:3], DATA.X[1:4], callback=lambda progress: True)


# --- What is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [LambdaMART, MART, RandomForest, XGBoostRanker])
def test_trees_of_several_splits_are_explained_exactly(kind: type[RoundRanker]) -> None:
    if kind is XGBoostRanker:
        pytest.importorskip("xgboost")
    leaf = {"leaf_weight": 0.01} if kind is XGBoostRanker else {"leaf_documents": 2}
    model = kind(n_rounds=12, **leaf).fit_data(DATA)
    for i, j in ((12, 3), (7, 30), (0, 1)):
        a, b = DATA.X[i], DATA.X[j]
        found = explain_margin(model, a, b)
        small_share(found.values, by_coalitions(model.predict, a, b), 10.0)
        assert (found.error, found.orders) == (None, 0)
        assert abs(found.rest) < 1e-12
    assert np.count_nonzero(found.values) > 2


@pytest.mark.parametrize("feature_map", ["nystroem", "exact"])
def test_a_polynomial_kernel_has_sampled_shares(feature_map: str) -> None:
    model = RankSVM(feature_map, kernel="polynomial", gamma=0.3).fit_data(DATA)
    exact_values = by_coalitions(model.predict, DATA.X[0], DATA.X[1])
    few, many = (explain_margin(model, DATA.X[0], DATA.X[1], orders=n) for n in (100, 6400))
    for found, orders in ((few, 100), (many, 6400)):
        assert found.error is not None
        assert found.orders == orders
        assert (np.abs(found.values - exact_values) <= 4.5 * found.error + 1e-12).all()
        assert abs(found.rest) < 1e-12 * max(1.0, abs(float(found.margin)))
    assert 0.05 * few.error.sum() < many.error.sum() < 0.25 * few.error.sum()
    again = explain_margin(model, DATA.X[0], DATA.X[1], orders=100)
    np.testing.assert_array_equal(again.values, few.values)


def test_sampled_shares_approach_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    models = RankSVM(C=0.5), RankSVM("nystroem", n_components=12, gamma=0.3, C=0.5)
    exact_ones = [explain_margin(model.fit_data(DATA), DATA.X[:3], DATA.X[3:6]) for model in models]
    monkeypatch.setattr(explanations, "form_of", lambda model: None)
    for model, known in zip(models, exact_ones, strict=True):
        found = explain_margin(model, DATA.X[:3], DATA.X[3:6], orders=2000)
        assert found.error is not None
        assert (np.abs(found.values - known.values) <= 4.5 * found.error + 1e-12).all()
    assert found.error.max() < 0.05 * np.abs(known.values).max()
    monkeypatch.setattr(explanations, "SAMPLED_ENTRIES", 1)
    blocks = explain_margin(models[1], DATA.X[:3], DATA.X[3:6], orders=20)
    assert blocks.values.shape == (3, D)
    assert np.abs(blocks.rest).max() < 1e-12


def test_a_ranker_that_declares_nothing_has_sampled_shares() -> None:
    model = FeatureMean().fit_data(DATA)
    found = explain_margin(model, DATA.X[0], DATA.X[1])
    np.testing.assert_allclose(found.values, (DATA.X[0] - DATA.X[1]) / D, atol=1e-12)
    with pytest.raises(SettingError, match="orders"):
        explain_margin(model, DATA.X[0], DATA.X[1], orders=1)


@dataclass(frozen=True)
class Bumps(Kernel):
    """κ(x, z) = Π_l (1 + γ x_l z_l), a foreign kernel that declares itself a product over features."""

    gamma: float = 0.1

    label: ClassVar[str] = "bumps"
    formula: ClassVar[str] = "Π (1 + γ x z)"
    by_feature: ClassVar[ByFeature | None] = ByFeature(lambda k, x, z: 1 + k.gamma * x * z, multiplied=True)

    def argument_blocks(self, Z: np.ndarray) -> Fill:
        return lambda X, block: np.prod(1 + self.gamma * X[:, None, :] * Z, axis=2, out=block)

    def apply(self, arguments: np.ndarray, out: np.ndarray) -> None:
        np.copyto(out, arguments)

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        return np.prod(1 + self.gamma * X**2, axis=1)


def test_a_kernel_of_a_stranger_is_taken_at_its_word() -> None:
    rng = np.random.default_rng(4)
    expansion = Expansion(Bumps(0.3), rng.normal(size=(15, 6)), rng.normal(size=15))
    a, b = rng.normal(size=(2, 6))

    def score(X: np.ndarray) -> np.ndarray:
        return expansion.kernel.matrix(X, expansion.documents) @ expansion.coefficients

    small_share(shapley_values(expansion.form, a, b), by_coalitions(score, a, b), 10.0)
    silent = Expansion(Cauchy(0.3), expansion.documents, expansion.coefficients)
    with pytest.raises(SettingError, match=r"Cauchy kernel .* is neither a product nor a sum"):
        _ = silent.form


def test_a_map_of_a_stranger_is_sampled_unless_it_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FEATURE_MAPS, "squares", FEATURE_MAP)
    model = RankSVM("squares", C=0.5).fit_data(DATA)
    assert explain_margin(model, DATA.X[0], DATA.X[1]).orders

    def form(self: FittedSquares, w: np.ndarray) -> SumForm:
        return SumForm(lambda a, b: w[:D] * (a - b) + w[D:] * (a**2 - b**2))

    monkeypatch.setattr(FittedSquares, "form", form, raising=False)
    found = explain_margin(model, DATA.X[0], DATA.X[1])
    small_share(found.values, by_coalitions(model.predict, DATA.X[0], DATA.X[1]), 1.0)


def test_documents_that_do_not_fit_are_refused() -> None:
    model = RankSVM().fit_data(DATA)
    with pytest.raises(DataError, match="of the same shape"):
        explain_margin(model, DATA.X[:2], DATA.X[0])
    with pytest.raises(DataError, match="8 features"):
        explain_margin(model, DATA.X[0, :8], DATA.X[1, :8])
    with pytest.raises(DataError, match="NaN"):
        explain_margin(model, np.full(D, np.nan), DATA.X[1])
    with pytest.raises(NotFittedError):
        explain_margin(RankSVM(), DATA.X[0], DATA.X[1])


@pytest.mark.parametrize("feature_map", FEATURE_MAPS)
@pytest.mark.parametrize("kernel", SETTINGS)
@pytest.mark.parametrize("method", ["ranksvm", "factorized", "regularized"])
def test_what_is_offered_is_what_can_be_had(feature_map: str, kernel: str, method: str) -> None:
    """Pages ask the spec before anything is trained."""
    kind = FEATURE_MAPS[feature_map]
    if kind.has_kernel and not kind.takes(KERNELS[kernel]):
        return
    settings = {"kernel": kernel} if kind.has_kernel else {}
    spec = RunSpec("made", method=method, feature_map=feature_map, **settings)
    model = spec.kind.model(spec.values).set_params(**SETTINGS[kernel])
    model.take(np.ones(1), DATA, 0.0, 1)
    model.coef_ = np.ones(model.n_components_)
    try:
        model.form()
        found = True
    except SettingError:
        found = False
    assert spec.offers.form is found


# --- The real folds -----------------------------------------------------------------------------------------

REAL: dict[str, Callable[[], Any]] = {
    "linear": lambda: RankSVM(C=2.0**-7),
    "nystroem": lambda: RankSVM("nystroem", n_components=200, gamma=2.0**-3, C=2.0**-7),
    "nystroem, laplacian": lambda: RankSVM("nystroem", 200, 2.0**-3, 2.0**-7, kernel="laplacian"),
    "nystroem, linear": lambda: RankSVM("nystroem", 200, C=2.0**-7, kernel="linear"),
    "fourier": lambda: RankSVM("fourier", n_components=200, gamma=2.0**-3, C=2.0**-7),
    "exact": lambda: RankSVM("exact", gamma=2.0**-3, C=2.0**-7),
    "factorised": lambda: FactorizedRankSVM(2, 2.0**-7, "nystroem", 100, 2.0**-3),
    "regularised": lambda: RegularizedRankSVM(2.0**-7, feature_map="nystroem", n_components=100, max_iter=30),
}


@pytest.mark.letor
@pytest.mark.parametrize("make", REAL.values(), ids=REAL)
def test_shares_sum_to_the_margins_of_real_lists(letor_root: Path, make: Callable[[], Any]) -> None:
    """All neighbours of a validation query as the model ranks it: to 10⁻¹¹ of its largest margin."""
    fold = load_fold(letor_root / "OHSUMED" / "Fold1")
    train = fold.train
    if isinstance(make(), LowRankRanker):  # a few queries do: what is asked is not how well it ranks
        end = int(train.ptr[12])
        train = type(train).from_arrays(train.X[:end], train.y[:end], train.qid[:end])
    model = make().fit_data(train)
    X = fold.vali.X[fold.vali.query_slice(0)][:40]
    scores = model.predict(X)
    order = np.argsort(-scores, kind="stable")
    found = explain_margin(model, X[order[:-1]], X[order[1:]])
    np.testing.assert_allclose(found.values.sum(axis=1), found.margin, rtol=0, atol=1e-11 * np.ptp(scores))
    np.testing.assert_allclose(found.margin, -np.diff(scores[order]), rtol=0, atol=1e-11 * np.ptp(scores))
    if isinstance(model, RankSVM):
        assert np.ptp(scores) > 0
