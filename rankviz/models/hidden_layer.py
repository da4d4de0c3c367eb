"""One hidden layer of cosines with RankNet's loss: random Fourier features whose frequencies learn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.npz import Arrays, shaped
from rankviz.common.progress import Report
from rankviz.common.settings import SEED, Choice, Positive, Setting, Steps
from rankviz.datasets.types import RankingData
from rankviz.features.fourier import FittedFourier
from rankviz.features.kernels import GAMMA
from rankviz.features.registry import N_COMPONENTS
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.losses import LOSS_WEIGHT, LOSSES
from rankviz.learning.newton import TruncatedNewton
from rankviz.learning.objective import ScoredPoint, Status, frame_of
from rankviz.learning.pairs import count_pairs
from rankviz.learning.risk import PairRisk, limit_of
from rankviz.learning.solvers import TOL, Sizes, Work
from rankviz.models.map_ranker import MapRanker, Problem, Trained, work_of
from rankviz.models.smooth_ranker import MOST_ITERATIONS, STARTS_OF, End, StartRow, descend, lowest


@dataclass(frozen=True)
class Layer:
    """A choice for the first layer."""

    label: str
    learns: bool


LAYERS = {
    "trained": Layer("trained", learns=True),
    "frozen": Layer("frozen: random Fourier features", learns=False),
}

FIRST_LAYER = Setting(
    name="first_layer",
    symbol="first layer",
    label="First layer",
    domain=Choice(LAYERS),
    default="trained",
    help="trained: frequencies and phases learn too. frozen: they stay as drawn, so the model is RankNet on "
    "random Fourier features.",
    key="layer",
    caption=lambda name: f"first layer {name}",
)

RIGIDITY = Setting(
    name="rigidity",
    symbol="rigidity",
    label="Rigidity of the first layer",
    domain=Positive(),
    default=1.0,
    help="Weight of ½‖Ω − Ω₀‖² + ½‖b − b₀‖², the distance of the first layer from its draw.",
    key="rigidity",
    offer=Steps((0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)),
)


@dataclass(frozen=True, eq=False)
class NetworkObjective:
    """½‖w‖² + ½ρ‖Ω − Ω₀‖² + ½ρ‖b − b₀‖² + C·risk(f), f = √(2/m) cos(XΩ + b) w.

    A vector of this objective is w (m,), then Ω (d, m), then b (m,).
    """

    X: FloatArray
    drawn: FittedFourier
    risk: PairRisk
    C: float
    rigidity: float

    convex = False

    @property
    def first(self) -> FloatArray:
        """Ω₀ and b₀ in one vector."""
        return np.concatenate((self.drawn.frequencies.ravel(), self.drawn.phases))

    def layers(self, v: FloatArray) -> tuple[FloatArray, FittedFourier]:
        """Return w and the first layer of a vector."""
        d, m = self.drawn.frequencies.shape
        return v[:m], replace(self.drawn, frequencies=v[m : m + d * m].reshape(d, m), phases=v[m + d * m :])

    def inner(self, a: FloatArray, b: FloatArray) -> float:
        """Return aᵀb."""
        return float(a @ b)

    def at(self, v: FloatArray) -> ScoredPoint:
        """Return value and gradient at a vector: backpropagation through one hidden layer."""
        w, layer = self.layers(v)
        m, scale = len(w), math.sqrt(2.0 / len(w))
        angles = self.X @ layer.frequencies + layer.phases
        hidden = np.cos(angles)
        scores = scale * (hidden @ w)
        risk, moved = self.risk.at(scores), v[m:] - self.first
        back = (-self.C * scale * risk.gradient)[:, None] * np.sin(angles) * w
        inner = np.concatenate(((self.X.T @ back).ravel(), back.sum(axis=0)))
        outer = w + self.C * scale * (hidden.T @ risk.gradient)
        value = 0.5 * float(w @ w) + 0.5 * self.rigidity * float(moved @ moved) + self.C * risk.value
        return ScoredPoint(v, scores, value, np.concatenate((outer, inner + self.rigidity * moved)), risk)

    def limit(self, point: ScoredPoint) -> tuple[float, float]:
        """Return what the trace adds to ½‖v‖² over C, so that its objective is the value."""
        return (point.value - 0.5 * self.inner(point.w, point.w)) / self.C, limit_of(
            self.risk, point.scores, point.risk
        )[1]


@dataclass(eq=False, repr=False)
class HiddenLayer(MapRanker):
    """RankNet with one hidden layer of m cosines (burges2005 has another activation), in NumPy.

    f(x) = √(2/m) Σ_k w_k cos(ω_k·x + b_k). Frequencies ω and phases b start as random Fourier features of the
    RBF kernel. With `first_layer="frozen"` they stay, and training is convex: RankNet on these features. Else
    L-BFGS trains all weights from the frozen solution, with a penalty on the distance from the draw. So its
    objective is never above that of the frozen network. Each start has its own draw; the lowest end is kept.

    Parameters
    ----------
    n_components : int
        Hidden units m.
    gamma : float or "scale"
        γ of the kernel whose frequencies are drawn.
    first_layer : {"trained", "frozen"}
    rigidity : float
        Weight of the distance from the draw.
    starts : int
        Number of draws.

    Examples
    --------
    >>> from rankviz import HiddenLayer
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> settings = {"n_components": 20, "C": 0.1, "starts": 1}
    >>> frozen, trained = (
    ...     HiddenLayer(first_layer=name, **settings).fit(data.X, data.y, qid=data.qid)
    ...     for name in ("frozen", "trained")
    ... )
    >>> trained.objective_ < frozen.objective_
    True
    """

    feature_map: str = field(default="fourier", init=False)
    kernel: Any = field(default="rbf", init=False)
    rank: None = field(default=None, init=False)
    landmarks: str = field(default="uniform", init=False)
    frequencies: str = field(default="gaussian", init=False)
    degree: int = field(default=3, init=False)
    coef0: float = field(default=1.0, init=False)
    first_layer: str = "trained"
    rigidity: float = 1.0
    starts: int = 3

    settings = (LOSS_WEIGHT, N_COMPONENTS, GAMMA, FIRST_LAYER, RIGIDITY, STARTS_OF, SEED, TOL)
    kept = ("starts", "omega", "phase")

    def entries(self, data: RankingData) -> int:
        """Preference pairs, and three more layers of features than a map has."""
        return int(count_pairs(data.y, data.ptr).sum()) + data.n_documents * int(self.n_components) // 4

    def train(self, problem: Problem, report: Report) -> Trained:
        """Train the second layer on each draw; then both layers."""
        data, ends, layers = problem.data, list[End](), list[FittedFourier]()
        risk = PairRisk(data.y, data.ptr, LOSSES["logistic"])
        for k in range(self.starts):
            drawn = self.unfitted_map(self.gamma_, problem.seed + k).fit(data.X)
            assert isinstance(drawn, FittedFourier)
            end, layer = self._from(drawn, problem, risk, report)
            ends.append(end)
            layers.append(layer)
            if end.status is Status.STOPPED:
                break
        best, rows = lowest(ends)
        self.starts_ = np.array([end.point.value for end in ends])
        status = Status.STOPPED if ends[-1].status is Status.STOPPED else ends[best].status
        w = ends[best].point.w[: layers[best].n_components]
        return Trained(layers[best], w, ends[best].point.value, status, frame_of(rows, StartRow))

    def _from(
        self, drawn: FittedFourier, problem: Problem, risk: PairRisk, report: Report
    ) -> tuple[End, FittedFourier]:
        """Train from one draw."""
        objective = RankObjective(drawn.operator(problem.data.X, report), risk, float(self.C), problem.seed)
        frozen = TruncatedNewton(tol=self.tol).solve(objective, None, report)
        if not LAYERS[self.first_layer].learns or frozen.status is Status.STOPPED:
            return End(frozen.point, frozen.status, list(frozen.trace)), drawn
        network = NetworkObjective(problem.data.X, drawn, risk, float(self.C), float(self.rigidity))
        most = MOST_ITERATIONS if self.max_iter is None else self.max_iter
        start = np.concatenate((frozen.point.w, network.first))
        end = descend([network], start, self.tol, most, report)
        return end, network.layers(end.point.w)[1]

    @property
    def solution(self) -> dict[str, FloatArray]:
        """The first layer, and the objectives at the ends of all starts."""
        fitted = self.feature_map_
        assert isinstance(fitted, FittedFourier)
        return {"starts": self.starts_, "omega": fitted.frequencies, "phase": fitted.phases}

    def keep(self, solution: dict[str, FloatArray]) -> None:
        """Set the first layer, in place of the draw."""
        layer: Arrays = {name: solution[name] for name in ("omega", "phase") if name in solution}
        super().keep({name: found for name, found in solution.items() if name not in layer})
        if layer:
            fitted = self.feature_map_
            assert isinstance(fitted, FittedFourier)
            d, m = fitted.frequencies.shape
            omega, phase = shaped(layer, "omega", d, m), shaped(layer, "phase", m)
            self.feature_map_ = replace(fitted, frequencies=omega, phases=phase)


EVALUATIONS, ARRAYS = 150.0, 7
"""Typical evaluations of the objective beyond those of the frozen layer; arrays (n, m) in memory at once."""


def work_of_layer(values: Mapping[str, Any], sizes: Sizes) -> Work:
    """Return the work of training: each evaluation forms n × m angles, and goes back through them."""
    entries = sizes.n * int(values[N_COMPONENTS.name])
    plain: Work = work_of(300.0, 150.0)(values, sizes)
    return replace(
        plain,
        flops=EVALUATIONS * 4.0 * entries * sizes.d,
        traffic=EVALUATIONS * ARRAYS * 8.0 * entries,
        memory=plain.memory + ARRAYS * 8 * entries,
    )
