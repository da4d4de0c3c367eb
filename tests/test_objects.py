"""Losses, kernels and costs given as objects: equal to those by name, without a registry entry."""

import math
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from naive_ranking import problem, qid_of
from sklearn.base import clone
from strangers import Cauchy, Exponential, SquaredInsensitive

from rankviz import (
    FactorizedRankSVM,
    RankingData,
    RankSVM,
    RegularizedRankSVM,
    RunSpec,
    SettingError,
    SettingWarning,
    duals,
    load,
    save,
)
from rankviz.common.arrays import FloatArray
from rankviz.features.kernels import RBF, Laplacian, LinearKernel, Polynomial
from rankviz.features.operator import FeatureOperator, IdentityBasis
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.losses import LOSSES, Hinge, Loss, PiecewiseQuadratic, SmoothHinge, Zone
from rankviz.learning.newton import TruncatedNewton
from rankviz.learning.objective import certificate
from rankviz.learning.pairs import RULES, CostRule, GradeCodes, PairCosts
from rankviz.learning.risk import PairRisk
from rankviz.learning.sorted_risk import SortedRisk, risk_of
from rankviz.models.ranker import Ranker
from rankviz.shards import Here

X, Y, PTR = problem(7, n_queries=9)
QID = qid_of(PTR)
DATA = RankingData.from_arrays(X, Y, QID)
HALF = PiecewiseQuadratic("half hinge", "max(0, 1 − t)²/2 + …", (Zone(1.0, 0.25, 1.0), Zone(0.25, 0.0, 0.5)))
"""A loss of no registry that is computed by sorting."""
SHARED = ("coef_", "objective_", "gap_", "n_iter_", "gamma_")


class Squared(Loss):
    """max(0, 1 − t)² written as a plain loss: its pairs are listed."""

    label = "my squared hinge"
    formula = "max(0, 1 − t)²"
    convex = True
    smooth = True
    falling = True
    curvature = 2.0

    def value(self, t: FloatArray) -> FloatArray:
        return np.maximum(0.0, 1.0 - t) ** 2

    def derivative(self, t: FloatArray) -> FloatArray:
        return -2.0 * np.maximum(0.0, 1.0 - t)

    def second_derivative(self, t: FloatArray) -> FloatArray:
        return np.where(t < 1.0, 2.0, 0.0)


@dataclass
class Unhashable(Squared):
    """A loss whose objects have no hash, as those of a plain dataclass."""

    scale: float = 1.0


def doubled(codes: GradeCodes, y: np.ndarray, ptr: np.ndarray) -> PairCosts:
    return PairCosts(np.full((1, 1, 1), 2.0))


def fitted(**settings: object) -> RankSVM:
    return RankSVM(**{"C": 0.1, **settings}).fit(X, Y, qid=QID)


def assert_same(model: Ranker, other: Ranker) -> None:
    """Equal to the bit."""
    for name in SHARED:
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name))
    for name in ("objective", "gap", "cg_iterations", "step"):
        np.testing.assert_array_equal(model.trace_[name], other.trace_[name])
    np.testing.assert_array_equal(model.predict(X), other.predict(X))


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_object_equals_the_same_loss_by_name(name: str) -> None:
    assert_same(fitted(loss=LOSSES[name]), fitted(loss=name))


@pytest.mark.parametrize("name", RULES)
def test_a_cost_rule_equals_the_same_costs_by_name(name: str) -> None:
    assert_same(fitted(costs=RULES[name]), fitted(costs=name))


@pytest.mark.parametrize(
    ("name", "settings", "kernel"),
    [
        ("rbf", {"gamma": 0.3}, RBF(0.3)),
        ("laplacian", {"gamma": 0.3}, Laplacian(0.3)),
        ("polynomial", {"gamma": 0.3, "degree": 2, "coef0": 0.5}, Polynomial(0.3, 2, 0.5)),
        ("linear", {}, LinearKernel()),
    ],
)
@pytest.mark.parametrize("feature_map", ["nystroem", "fourier", "exact"])
def test_a_kernel_object_equals_the_same_kernel_by_name(
    feature_map: str, name: str, settings: dict[str, float], kernel: object
) -> None:
    if feature_map == "fourier" and name not in ("rbf", "laplacian"):
        with pytest.raises(SettingError, match="spectral density"):
            fitted(feature_map=feature_map, kernel=kernel)
        return
    common = {"feature_map": feature_map} | ({} if feature_map == "exact" else {"n_components": 20})
    assert_same(fitted(kernel=kernel, **common), fitted(kernel=name, **settings, **common))


def test_a_kernel_object_serves_the_exact_map_in_its_own_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankviz.features.exact.SMALL", 10)
    model = fitted(feature_map="exact", kernel=RBF(0.3))
    assert model.feature_map_.in_kernel_space
    assert_same(model, fitted(feature_map="exact", kernel="rbf", gamma=0.3))


@pytest.mark.parametrize("make", [FactorizedRankSVM, RegularizedRankSVM])
def test_low_rank_models_take_a_kernel_object(make: type[Ranker]) -> None:
    common = {"feature_map": "nystroem", "n_components": 8, "C": 0.01, "max_iter": 5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, other = make(kernel=RBF(0.3), **common), make(kernel="rbf", gamma=0.3, **common)
        model.fit(X, Y, qid=QID)
        other.fit(X, Y, qid=QID)
    np.testing.assert_array_equal(model.coef_, other.coef_)


@pytest.mark.parametrize(
    "loss", [Exponential(), SquaredInsensitive(), HALF, Unhashable()], ids=lambda loss: type(loss).__name__
)
def test_a_loss_of_no_registry_has_derivatives_a_certificate_and_duals(loss: Loss) -> None:
    features, rng = FeatureOperator(X, IdentityBasis(X.shape[1])), np.random.default_rng(0)
    objective = RankObjective(features, risk_of(Y, PTR, loss), 0.1)
    w, s = rng.normal(size=(2, X.shape[1]))
    at, e = objective.at, 1e-6
    point, ahead, behind = at(w), at(w + e * s), at(w - e * s)
    assert float(point.gradient @ s) == pytest.approx((ahead.value - behind.value) / (2 * e), rel=1e-5)
    slopes = (ahead.gradient - behind.gradient) / (2 * e)
    np.testing.assert_allclose(objective.hessian_product(point, s), slopes, rtol=1e-4, atol=1e-4)
    best = TruncatedNewton(tol=1e-12).solve(objective).point
    proved = certificate(objective, point)
    assert proved.value * (1.0 - proved.gap) <= best.value <= proved.value
    model = fitted(loss=loss, tol=1e-10)
    assert model.objective_ == pytest.approx(best.value, rel=1e-8)
    w = X.T @ duals(model, DATA).document_weights()
    np.testing.assert_allclose(w, model.coef_, atol=1e-3 * np.abs(model.coef_).max())


def test_both_forms_of_the_risk_agree_for_a_loss_of_no_registry() -> None:
    f = np.random.default_rng(1).normal(size=len(Y))
    listed, cut = PairRisk(Y, PTR, HALF).at(f), SortedRisk(Y, PTR, HALF).at(f)
    assert cut.value == pytest.approx(listed.value, rel=1e-12)
    np.testing.assert_allclose(cut.gradient, listed.gradient, atol=1e-10)
    np.testing.assert_allclose(cut.hessian_product(f), listed.hessian_product(f), atol=1e-9)
    assert isinstance(risk_of(np.tile([0, 1], 200), np.array([0, 400]), HALF), SortedRisk)


def test_a_loss_object_is_trained_in_shards() -> None:
    whole = fitted(loss=SquaredInsensitive(), tol=1e-9)
    model = RankSVM(C=0.1, loss=SquaredInsensitive(), tol=1e-9).fit_in_shards(DATA, Here(3))
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-5)


def test_a_kernel_of_no_registry_has_its_own_parameters() -> None:
    flat, sharp = (
        fitted(feature_map="nystroem", n_components=20, kernel=Cauchy(gamma)) for gamma in (0.1, 5.0)
    )
    assert (flat.gamma_, sharp.gamma_) == (0.1, 5.0)
    assert flat.feature_map_.kernel == Cauchy(0.1)
    assert np.abs(flat.predict(X) - sharp.predict(X)).max() > 1e-3


def test_parameters_beside_a_kernel_object_are_not_read() -> None:
    with pytest.warns(SettingWarning, match=r"gamma=0.5 is not read with kernel=Cauchy\(gamma=0.1\)"):
        model = fitted(feature_map="nystroem", n_components=20, kernel=Cauchy(0.1), gamma=0.5)
    assert model.gamma_ == 0.1


def test_costs_of_no_registry_multiply_the_loss() -> None:
    model = fitted(costs=CostRule("twice", doubled), tol=1e-10)
    np.testing.assert_allclose(model.coef_, fitted(C=0.2, tol=1e-10).coef_, atol=1e-6)


@pytest.mark.parametrize(
    "settings",
    [{"loss": Exponential()}, {"loss": Unhashable(2.0)}, {"costs": CostRule("twice", doubled)}],
    ids=["loss", "without hash", "costs"],
)
def test_scikit_learn_copies_and_prints_objects(settings: dict[str, object]) -> None:
    model, ((name, given),) = RankSVM(C=0.1, **settings), settings.items()
    assert model.get_params()[name] is given
    copy = clone(model)
    assert type(copy.get_params()[name]) is type(given)
    assert f"{name}=" in repr(model)
    assert name in model._repr_html_()
    assert_same(copy.fit(X, Y, qid=QID), model.fit(X, Y, qid=QID))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": 3}, "loss=3 is not known; choose one of 'squared_hinge'"),
        ({"loss": "cube"}, "or give an object of a class derived from rankviz.learning.losses.Loss"),
        ({"loss": Squared}, "loss is the class Squared; give an instance"),
        ({"loss": RBF(1.0)}, r"loss=RBF\(gamma=1.0\) is not known"),
        ({"kernel": Squared()}, "kernel=<.*> is not known; choose one of 'rbf'"),
        ({"kernel": RBF}, "kernel is the class RBF; give an instance"),
        ({"kernel": RBF(-1.0)}, "gamma=-1.0 must be a positive finite number"),
        ({"costs": doubled}, "not a table of numbers; choose one of None, 'query'"),
        ({"costs": CostRule("none", lambda codes, y, ptr: None)}, "costs 'none' returned NoneType"),
        ({"costs": CostRule("flat", lambda codes, y, ptr: PairCosts(np.ones(3)))}, "weights of shape"),
        (
            {"costs": CostRule("bad", lambda codes, y, ptr: PairCosts(np.full((1, 1, 1), -1.0)))},
            "weights that are not finite and at least 0",
        ),
        (
            {
                "costs": CostRule(
                    "edge", lambda codes, y, ptr: PairCosts(np.ones((1, 1, 1)), np.zeros((1, 1, 1)))
                )
            },
            "margins that are not finite and above 0",
        ),
    ],
)
def test_an_object_of_the_wrong_kind_gets_an_error(settings: dict[str, object], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        fitted(feature_map="nystroem", n_components=5, **settings)


def test_a_loss_without_its_properties_gets_an_error() -> None:
    class Unfinished(Squared):
        curvature = property()  # reading it raises AttributeError

    with pytest.raises(SettingError, match="does not define curvature"):
        fitted(loss=Unfinished())


def test_runs_take_names_only() -> None:
    for name, given in (("loss", Squared()), ("costs", CostRule("twice", doubled)), ("kernel", RBF(1.0))):
        with pytest.raises(SettingError, match="name"):
            RunSpec("synthetic-demo", feature_map="nystroem", **{name: given})


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": Hinge()},
        {"loss": SmoothHinge(0.2)},
        {"costs": RULES["query"]},
        {"feature_map": "nystroem", "n_components": 10, "kernel": Polynomial(0.3, 2, 0.5)},
    ],
    ids=["hinge", "smooth hinge", "costs", "kernel"],
)
def test_objects_with_a_name_are_saved_by_it(settings: dict[str, object], tmp_path: Path) -> None:
    model = fitted(**settings)
    again = load(save(model, tmp_path / "model.npz"))
    assert isinstance(again.loss, str)
    assert isinstance(again.kernel, str)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    refitted = clone(again).fit(X, Y, qid=QID)
    np.testing.assert_allclose(refitted.coef_, model.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": Exponential()}, "register it in rankviz.learning.losses.LOSSES"),
        ({"costs": CostRule("twice", doubled)}, "register the rule in rankviz.learning.pairs.RULES"),
        (
            {"feature_map": "nystroem", "n_components": 10, "kernel": Cauchy(0.1)},
            "register its class in rankviz.features.kernels.KERNELS",
        ),
    ],
    ids=["loss", "costs", "kernel"],
)
def test_objects_without_a_name_are_not_saved(
    settings: dict[str, object], words: str, tmp_path: Path
) -> None:
    model = fitted(**settings)
    with pytest.raises(SettingError, match=words):
        save(model, tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_a_loss_is_saved_once_it_is_registered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(LOSSES, "exponential", Exponential())
    model = fitted(loss=Exponential())
    assert load(save(model, tmp_path / "model.npz")).loss == "exponential"
    assert math.isfinite(model.objective_)
