"""Losses that exist nowhere in the project: every solver reaches their optimum, or says what they lack."""

import math

import numpy as np
import pytest
from naive_ranking import problem, qid_of
from scipy.optimize import minimize
from strangers import Exponential, SquaredInsensitive

from rankviz import Fold, RankSVM, RunSpec, execute
from rankviz.common.errors import SettingError
from rankviz.datasets import RankingData
from rankviz.learning.losses import LOSSES, Loss
from rankviz.learning.objective import Status
from rankviz.learning.pairs import pair_costs
from rankviz.learning.risk import PairRisk
from rankviz.learning.solvers import SOLVERS
from rankviz.runs.estimate import estimate

X, Y, PTR = problem(7, n_queries=9)
DATA = RankingData.from_arrays(X, Y, qid_of(PTR))
NOISE = np.random.default_rng(0).normal(size=(len(Y), 3))


class Sigmoid(Loss):
    """ℓ(t) = 1/(1 + e^t): smooth, its second derivative bounded, and not convex."""

    label = "sigmoid"
    formula = "1/(1 + e^t)"
    convex = False
    smooth = True
    curvature = 0.1

    def value(self, t: np.ndarray) -> np.ndarray:
        return 0.5 - 0.5 * np.tanh(0.5 * t)

    def derivative(self, t: np.ndarray) -> np.ndarray:
        return -self.value(t) * (1.0 - self.value(t))

    def second_derivative(self, t: np.ndarray) -> np.ndarray:
        return self.value(t) * (1.0 - self.value(t)) * (1.0 - 2.0 * self.value(t))


class Absolute(Loss):
    """ℓ(t) = |1 − t|: convex, with a corner, and no limit of smoothed hinges."""

    label = "absolute"
    formula = "|1 − t|"
    convex = True
    smooth = False
    curvature = math.inf

    def value(self, t: np.ndarray) -> np.ndarray:
        return np.abs(1.0 - t)

    def derivative(self, t: np.ndarray) -> np.ndarray:
        """A subgradient."""
        return np.sign(t - 1.0)

    def second_derivative(self, t: np.ndarray) -> np.ndarray:
        """Zero, where it exists."""
        return np.zeros_like(t)


class RootHinge(Loss):
    """ℓ(t) = √(1 + u²) + u with u = 1 − t: convex, smooth, its second derivative at most one."""

    label = "root hinge"
    formula = "√(1 + (1 − t)²) + 1 − t"
    convex = True
    smooth = True
    curvature = 1.0

    def value(self, t: np.ndarray) -> np.ndarray:
        return np.hypot(1.0, 1.0 - t) + 1.0 - t

    def derivative(self, t: np.ndarray) -> np.ndarray:
        return -(1.0 - t) / np.hypot(1.0, 1.0 - t) - 1.0

    def second_derivative(self, t: np.ndarray) -> np.ndarray:
        return np.hypot(1.0, 1.0 - t) ** -3


STRANGERS: dict[str, Loss] = {
    "exponential": Exponential(),
    "root_hinge": RootHinge(),
    "insensitive": SquaredInsensitive(),
    "sigmoid": Sigmoid(),
    "absolute": Absolute(),
}
LACKING = {
    "exponential": dict.fromkeys(SOLVERS, "bounded second derivative") | {"newton": "", "lbfgs": ""},
    "root_hinge": dict.fromkeys(SOLVERS, ""),
    "insensitive": dict.fromkeys(SOLVERS, ""),
    "sigmoid": dict.fromkeys(SOLVERS, "a single minimum"),
    "absolute": dict.fromkeys(SOLVERS, "a derivative everywhere") | {"cutting_planes": ""},
}
EXACT_TO = {"newton": 1e-8, "newton_yuan": 1e-5, "lbfgs": 1e-8, "cutting_planes": 1e-7}
"""Relative to the optimum; the others are stochastic and end where their passes do."""


@pytest.fixture(autouse=True)
def entered(monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry each, where the project's own losses are."""
    for name, loss in STRANGERS.items():
        monkeypatch.setitem(LOSSES, name, loss)


def slow_optimum(name: str, Z: np.ndarray, C: float, scale: float, costs: object) -> float:
    """By SciPy over the pairs as they are, in units in which ‖w‖² is ‖v‖²/scale²."""
    risk = PairRisk(Y, PTR, LOSSES[name], pair_costs(costs, Y, PTR))
    D = Z[risk.pairs.winner] - Z[risk.pairs.loser]

    def objective(v: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope, _ = risk._of_margins(np.maximum(D @ v, -600.0))
        return 0.5 * v @ v / scale**2 + C * value.sum(), v / scale**2 + C * D.T @ slope

    options = {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 5000, "maxfun": 20_000}
    best = minimize(objective, np.zeros(Z.shape[1]), jac=True, method="L-BFGS-B", options=options)
    return float(best.fun)


@pytest.mark.parametrize(("C", "costs"), [(1.0, None), (2.0**-8, "margin")])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", STRANGERS)
def test_the_optimum_or_what_is_missing(loss: str, solver: str, C: float, costs: object) -> None:
    svm = RankSVM(C=C, loss=loss, solver=solver, costs=costs, tol=1e-9)
    if LACKING[loss][solver]:
        with pytest.raises(SettingError, match=LACKING[loss][solver]) as refused:
            svm.fit_data(DATA)
        assert LOSSES[loss].label in str(refused.value)
        able = [name for name, lacking in LACKING[loss].items() if not lacking]
        assert (f"solver={able[0]!r}" if able else "no solver here can train it") in str(refused.value)
        assert not hasattr(svm, "coef_")
        return
    value = slow_optimum(loss, X, C, 1.0, costs)
    assert svm.fit_data(DATA).coef_.any()
    reached = 1e-9 if LOSSES[loss].smooth else 1e-6  # SciPy's optimum of a loss with corners
    assert value * (1 - reached) <= svm.objective_
    if solver in EXACT_TO:
        assert svm.objective_ == pytest.approx(value, rel=max(EXACT_TO[solver], reached))
        assert svm.status_ in (Status.CONVERGED, Status.CERTIFIED, Status.RULE, Status.STALLED)
    else:
        assert svm.objective_ * (1 - svm.gap_) <= value  # no nearer than that, and the run says so
        assert svm.status_ in (Status.CERTIFIED, Status.MAX_ITERATIONS)


@pytest.mark.parametrize("scale", [300.0, 1e4])
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e8])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_a_loss_beyond_all_numbers_makes_steps_shorter(solver: str, C: float, scale: float) -> None:
    """A step of length one would make margins of hundreds, and e^−t infinite."""
    data = RankingData.from_arrays(scale * NOISE, Y, DATA.qid)
    svm = RankSVM(C=C, loss="exponential", solver=solver, tol=1e-8).fit_data(data)
    assert svm.objective_ == pytest.approx(slow_optimum("exponential", NOISE, C, scale, None), rel=1e-7)
    assert svm.coef_.any()


@pytest.mark.parametrize("feature_map", ["nystroem", "fourier", "exact"])
def test_on_features_of_a_kernel(feature_map: str) -> None:
    found = [
        RankSVM(feature_map, 12, gamma=0.3, C=0.5, loss="exponential", solver=solver, tol=1e-9).fit_data(DATA)
        for solver in ("newton", "lbfgs")
    ]
    assert found[0].objective_ == pytest.approx(found[1].objective_, rel=1e-7)
    assert found[0].gap_ < 1e-3


def test_a_run_of_it_is_predicted_made_and_told(fold: Fold) -> None:
    spec = RunSpec("demo", feature_map="linear", loss="exponential")
    assert estimate(spec, fold).seconds > 0
    record = execute(spec, fold=fold)
    assert record.status == Status.CONVERGED.value
    assert record.trace["objective"].is_monotonic_decreasing
    for change in ({"loss": "sigmoid"}, {"loss": "absolute"}, {"solver": "sgd_pair"}):
        with pytest.raises(SettingError, match="needs a loss with"):
            execute(spec.but(**change), fold=fold)
