"""The methods that runs can train, by their names in `RunSpec(method=...)`.

To add one, write a `Ranker` in its own file, and enter it in `METHODS` with its settings, and with what a
fitted model offers besides scores. All other code reads this entry.

See docs/decisions/0002-declare-do-not-guess.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from rankviz.common.errors import SettingError
from rankviz.common.settings import SEED, Setting, active, one_of
from rankviz.features import FEATURE_MAPS, KERNELS, check_combination
from rankviz.learning.losses import EVERY_LOSS, check_costs_of
from rankviz.learning.solvers import (
    PRECONDITIONER,
    PRECONDITIONERS,
    SOLVER,
    SOLVERS,
    START,
    Sizes,
    SolverTask,
    Work,
    check_solver,
    guessed,
    suitable_solver,
)
from rankviz.models.adarank import AdaRankMAP, AdaRankNDCG
from rankviz.models.approx_ndcg import ApproxNDCG
from rankviz.models.coordinate_ascent import CoordinateAscent
from rankviz.models.forest import RandomForest
from rankviz.models.frank import FRank
from rankviz.models.given import SYSTEM, GivenScores
from rankviz.models.hidden_layer import HiddenLayer, work_of_layer
from rankviz.models.lambda_rank import LambdaLoss, LambdaRank
from rankviz.models.lambdamart import LambdaMART
from rankviz.models.low_rank import FactorizedRankSVM, RegularizedRankSVM, dual_bytes, factor_bytes
from rankviz.models.low_rank_settings import DUAL_SOLVERS, FACTOR_SOLVERS
from rankviz.models.map_ranker import work_of as work_on_map
from rankviz.models.mart import MART
from rankviz.models.rankboost import RankBoost
from rankviz.models.ranker import Ranker
from rankviz.models.ranksvm import RankSVM
from rankviz.models.rounds import work_of
from rankviz.models.smooth_rank import SmoothRank
from rankviz.models.xgboost_trees import XGBoostRanker


def _offer(words: str) -> Any:
    """Return the field of a capability, with its words after "it has no"."""
    return field(default=False, metadata={"words": words})


@dataclass(frozen=True)
class Capabilities:
    """Capabilities of a fitted model besides scores; pages read them to see if they apply.

    Attributes
    ----------
    weights : bool
        Weights w of features φ(x), with f(x) = w·φ(x).
    input_weights : bool
        Weights of the input features themselves: f(x) = w·x.
    expansion : bool
        A kernel expansion f(x) = Σ αᵢ κ(x, zᵢ).
    form : bool
        Scores that are sums, or sums of products, of functions of single features, as those of trees are.
    components : bool
        A number of features m to choose.
    objective : bool
        A function that training reduces from one row of its trace to the next.
    pair_objective : bool
        An objective over preference pairs; a gap measures the distance from its optimum.
    duals : bool
        Dual variables of preference pairs, one block per query.
    positive_duals : bool
        Dual variables ≥ 0; the weights then depend only on the pairs with positive ones.
    trace : bool
        A row for every iteration of its training.
    rounds : bool
        Rounds of training, with NDCG@10 on the training and the validation part after each in its trace.
    importance : bool
        Shares of features in what its trees gain.
    random : bool
        Random parts that depend on a seed.
    query_weights : bool
        Training with query weights (`fit_weighted`).
    refits : bool
        Retraining after a change from its current weights, in a fraction of the time.
    """

    weights: bool = _offer("weights of features")
    input_weights: bool = _offer("weights of the input features")
    expansion: bool = _offer("kernel expansion")
    form: bool = _offer("form that is a sum, or a sum of products, of functions of single features")
    components: bool = _offer("number of features m")
    objective: bool = _offer("objective that training minimises")
    pair_objective: bool = _offer("objective over preference pairs")
    duals: bool = _offer("dual variables of preference pairs")
    positive_duals: bool = _offer(
        "dual variables α ≥ 0 (its loss rises at some margins, where α is negative)"
    )
    trace: bool = _offer("trace of its iterations")
    rounds: bool = _offer("rounds of training")
    importance: bool = _offer("importance of features")
    random: bool = _offer("seed that decides anything")
    query_weights: bool = _offer("weights of queries in training")
    refits: bool = _offer("training that goes on from its weights")

    def lacks(self, *names: str) -> list[str]:
        """Return the named offers that it lacks."""
        return [name for name in names if not getattr(self, name)]


WORDS = {one.name: str(one.metadata["words"]) for one in fields(Capabilities)}
"""Capabilities in words, after "it has no"."""


Values = Mapping[str, Any]
"""Settings of a run, by name."""


@dataclass(frozen=True, eq=False)
class Method:
    """A method to learn a ranker.

    Attributes
    ----------
    label : str
        Name.
    make : (**parameters) -> Ranker
        Its estimator.
    settings : tuple of Setting
        Its settings; their choices may add more.
    offers : settings -> Capabilities
        Capabilities of a fitted model besides scores.
    check : settings -> None
        Raises `SettingError` for an invalid combination, with a remedy.
    varying : settings -> names
        Settings in which runs may differ and still share features and starts. The estimator then has
        `training` and `fit_in` (see `rankviz.runs.families`).
    minimises : str
        Its objective, in one line.
    work : (settings, sizes) -> Work
        Typical work of training, for estimates; a guess if not declared.
    left_out : tuple of Setting
        Settings that its choices would add, but that it does not read.
    named_by_map : bool
        True if captions and colours name its runs by their feature map, not by the method.
    named_by : Setting or None
        The setting that names its runs in place of the label.
    trains : bool
        False if its scores are given: it reads no features, and its runs may lack parts.
    family : str
        The key of its family in `FAMILIES`. If it has losses, the family of its loss counts.
    """

    label: str
    make: Callable[..., Ranker]
    settings: tuple[Setting, ...]
    offers: Callable[[Values], Capabilities] = lambda values: Capabilities()
    check: Callable[[Values], None] = lambda values: None
    varying: Callable[[Values], frozenset[str]] = lambda values: frozenset()
    minimises: str = ""
    work: Callable[[Values, Sizes], Work] = lambda values, sizes: guessed()
    left_out: tuple[Setting, ...] = ()
    named_by_map: bool = False
    named_by: Setting | None = None
    trains: bool = True
    family: str = "other"

    def active(self, value_of: Callable[[Setting], Any]) -> Iterator[tuple[Setting, Any]]:
        """Return the settings that it reads with these values, in the order of captions."""
        return active(self.settings, value_of, self.left_out)

    def resolve(self, given: Values) -> dict[str, Any]:
        """Return all its settings by name: given ones, checked, and defaults for the others.

        Raises `SettingError` for a value out of range, or a setting that it does not read with these choices.
        """
        pairs = self.active(lambda setting: setting.checked(given.get(setting.name, setting.default)))
        found = {setting.name: value for setting, value in pairs}
        strangers = [name for name in given if name not in found]
        if strangers:
            who = f"{self.label} with these choices"
            raise SettingError(f"{strangers[0]!r} is not a setting of {who}; it has {', '.join(found)}")
        return found

    def model(self, values: Values) -> Ranker:
        """Return the unfitted estimator with these settings; `SettingError` for an invalid combination."""
        self.check(values)
        declared = self.active(lambda setting: values[setting.name])
        return self.make(**{setting.parameter: value for setting, value in declared if setting.parameter})


def _map_offers(values: Values) -> Capabilities:
    """Return the offers of any model on a feature map."""
    kind = FEATURE_MAPS[values["feature_map"]]
    return Capabilities(
        weights=True,
        input_weights=kind.is_identity,
        expansion=kind.expands,
        form=kind.has_form(KERNELS[values["kernel"]] if kind.has_kernel else None),
        components=kind.has_components,
        trace=True,
        random=SEED.name in values,
    )


def _offers(values: Values) -> Capabilities:
    """Return the offers of a pairwise model on a feature map."""
    more = dict.fromkeys(("objective", "pair_objective", "duals", "positive_duals"), True)
    return replace(_map_offers(values), **more)


def _smooth_offers(values: Values) -> Capabilities:
    """Return the offers of a model on a feature map whose objective is smooth, but not convex."""
    return replace(_map_offers(values), objective=True)


def _reweighted_offers(values: Values) -> Capabilities:
    """Return the offers of a model on a feature map without a fixed objective."""
    return replace(_map_offers(values), rounds=True)


def _network_offers(values: Values) -> Capabilities:
    """Return the offers of a network on the input features."""
    return Capabilities(weights=True, form=True, components=True, objective=True, trace=True, random=True)


def _rank_svm_offers(values: Values) -> Capabilities:
    loss, offers = EVERY_LOSS[values["loss"]], replace(_offers(values), query_weights=True)
    pairs, falling = loss.of_pairs, loss.falling and loss.of_pairs
    offers = replace(offers, refits=suitable_solver(loss) == SOLVER.default)  # the solver of refits
    return replace(offers, pair_objective=pairs, duals=pairs, positive_duals=falling)


def _check_map(values: Values) -> None:
    check_combination(values["feature_map"], values)


def _check_rank_svm(values: Values) -> None:
    _check_map(values)
    check_solver(values["solver"], EVERY_LOSS[values["loss"]])
    check_costs_of(EVERY_LOSS[values["loss"]], values["costs"])


def _rank_svm_work(values: Values, sizes: Sizes) -> Work:
    chosen = PRECONDITIONERS[values.get(PRECONDITIONER.name, PRECONDITIONER.default)]
    continued, choice = EVERY_LOSS[values["loss"]].by_continuation, SOLVERS[values["solver"]]
    if choice.needs_features and sizes.in_kernel_space:
        return Work()  # it is refused before any work
    return choice.work(SolverTask(sizes, continued, chosen.used, values["C"], _gamma(values, sizes)))


def _gamma(values: Values, sizes: Sizes) -> float:
    """Return γ of a kernel that gets rougher with γ, 0 for others; "scale" assumes features over [0, 1]."""
    if "gamma" not in values or not KERNELS[values["kernel"]].shift_invariant:
        return 0.0
    return 12.0 / max(sizes.d, 1) if isinstance(values["gamma"], str) else float(values["gamma"])


def _low_rank_work(values: Values, sizes: Sizes, solvers: Mapping[str, Any], memory: int) -> Work:
    declared = getattr(solvers[values["solver"]], "work", None)
    work: Work = guessed() if declared is None else declared(values, sizes)
    return replace(work, memory=memory)


def _factorized_work(values: Values, sizes: Sizes) -> Work:
    return _low_rank_work(values, sizes, FACTOR_SOLVERS, factor_bytes(sizes.n, values["factors"]))


def _regularized_work(values: Values, sizes: Sizes) -> Work:
    return _low_rank_work(values, sizes, DUAL_SOLVERS, dual_bytes(sizes.entries))


def _nested(values: Values) -> frozenset[str]:
    """Return m, γ and C: leading columns of a map are the map for smaller m; no m for truncated maps."""
    shared = {"gamma", "C"} if values.get("rank") is not None else {"gamma", "C", "n_components"}
    return frozenset(shared & set(values))


def _tree_offers(values: Values) -> Capabilities:
    return Capabilities(form=True, trace=True, rounds=True, importance=True, random=SEED.name in values)


def _linear_offers(values: Values) -> Capabilities:
    return replace(_tree_offers(values), weights=True, input_weights=True)


METHODS: dict[str, Method] = {
    "ranksvm": Method(
        "RankSVM",
        RankSVM,
        (*RankSVM.settings, START),
        _rank_svm_offers,
        _check_rank_svm,
        _nested,
        "½‖w‖² + C Σ c_ij ℓ(f_i − f_j), or ½‖w‖² + C·loss of the scores",
        _rank_svm_work,
        named_by_map=True,
    ),
    "factorized": Method(
        "factorised RankSVM",
        FactorizedRankSVM,
        FactorizedRankSVM.settings,
        _offers,
        _check_map,
        minimises="½‖w‖² − Σ ⟨v_i, v_j⟩",
        work=_factorized_work,
        family="pairwise",
        left_out=FactorizedRankSVM.left_out,
    ),
    "regularized": Method(
        "regularised RankSVM",
        RegularizedRankSVM,
        RegularizedRankSVM.settings,
        _offers,
        _check_map,
        minimises="½‖w‖² − Σ α_ij + nuclear·Σ‖A‖_* + coupling·Σ‖mat(α) − A‖_F²",
        work=_regularized_work,
        family="pairwise",
        left_out=RegularizedRankSVM.left_out,
    ),
    "lambdarank": Method(
        "LambdaRank",
        LambdaRank,
        LambdaRank.settings,
        _reweighted_offers,
        _check_map,
        minimises="no fixed function: Σ |ΔNDCG| log(1 + e^−(f_i − f_j)), |ΔNDCG| of the present ranking",
        work=work_on_map(150.0, 400.0),
        family="listwise",
    ),
    "lambdaloss": Method(
        "LambdaLoss",
        LambdaLoss,
        LambdaLoss.settings,
        _reweighted_offers,
        _check_map,
        minimises="no fixed function: as LambdaRank, with μ times weights by the gap of ranks",
        work=work_on_map(150.0, 400.0),
        family="listwise",
    ),
    "approx_ndcg": Method(
        "ApproxNDCG",
        ApproxNDCG,
        ApproxNDCG.settings,
        _smooth_offers,
        _check_map,
        minimises="½‖w‖² + C Σ (1 − NDCG with smooth ranks 1 + Σ_j σ((f_j − f_i)/τ)), not convex",
        work=work_on_map(150.0, 150.0),
        family="listwise",
    ),
    "smoothrank": Method(
        "SmoothRank",
        SmoothRank,
        SmoothRank.settings,
        _smooth_offers,
        _check_map,
        minimises="½‖w − w₀‖² + C Σ (1 − NDCG@k with soft ranks of width σ), not convex",
        work=work_on_map(1000.0, 450.0),
        family="listwise",
    ),
    "hidden_layer": Method(
        "hidden layer",
        HiddenLayer,
        HiddenLayer.settings,
        _network_offers,
        minimises="½‖w‖² + ½ρ‖Ω − Ω₀‖² + C Σ log(1 + e^−(f_i − f_j)), f = √(2/m) cos(XΩ + b) w, not convex",
        work=work_of_layer,
        family="pairwise",
    ),
    "lambdamart": Method(
        "LambdaMART",
        LambdaMART,
        LambdaMART.settings,
        _tree_offers,
        minimises="no fixed function: gradients λ of pairs, weighted by |ΔNDCG|",
        work=work_of(4e-8, LambdaMART),
        family="boosting",
    ),
    "mart": Method(
        "MART",
        MART,
        MART.settings,
        _tree_offers,
        minimises="Σ (y − f(x))², by trees",
        work=work_of(1e-8, MART),
        family="boosting",
    ),
    "forest": Method(
        "random forest",
        RandomForest,
        RandomForest.settings,
        _tree_offers,
        minimises="Σ (y − f(x))² in each tree; the score is their mean",
        work=work_of(1e-7, RandomForest),
        family="pointwise",
    ),
    "xgboost": Method(
        "LambdaMART (XGBoost)",
        XGBoostRanker,
        XGBoostRanker.settings,
        _tree_offers,
        minimises="no fixed function: as LambdaMART, with a penalty of leaves",
        work=work_of(4e-8, XGBoostRanker),
        family="boosting",
    ),
    "rankboost": Method(
        "RankBoost",
        RankBoost,
        RankBoost.settings,
        _tree_offers,
        minimises="Σ exp(f_j − f_i) over preference pairs, by thresholds of features",
        work=work_of(2e-8, RankBoost),
        family="boosting",
    ),
    "frank": Method(
        "FRank",
        FRank,
        FRank.settings,
        _tree_offers,
        minimises="Σ 1 − √(1/(1 + exp(f_j − f_i))) over preference pairs, by thresholds of features",
        work=work_of(1e-7, FRank, 1.5e-8),
        family="boosting",
    ),
    "adarank_ndcg": Method(
        "AdaRank-NDCG",
        AdaRankNDCG,
        AdaRankNDCG.settings,
        _linear_offers,
        minimises="Σ exp(−NDCG@10) over queries, by single features",
        work=work_of(2e-8, AdaRankNDCG),
        family="boosting",
    ),
    "adarank_map": Method(
        "AdaRank-MAP",
        AdaRankMAP,
        AdaRankMAP.settings,
        _linear_offers,
        minimises="Σ exp(−AP) over queries, by single features",
        work=work_of(2e-8, AdaRankMAP),
        family="boosting",
    ),
    "coordinate_ascent": Method(
        "coordinate ascent",
        CoordinateAscent,
        CoordinateAscent.settings,
        _linear_offers,
        minimises="−NDCG@10, or −MAP, itself: one weight after the other",
        work=work_of(4e-7, CoordinateAscent),
        family="listwise",
    ),
    "given": Method(
        "scores from files",
        GivenScores,
        (SYSTEM, SEED),
        work=lambda values, sizes: Work(),
        named_by=SYSTEM,
        trains=False,
    ),
}
"""Methods by name; the first is the default."""

USUAL = next(iter(METHODS))
"""The default method."""


def check_method(name: str) -> None:
    """Raise `SettingError` for the name of no method; for that of a loss, say how to choose it."""
    if isinstance(name, str) and name in EVERY_LOSS and name not in METHODS:
        raise SettingError(
            f"method={name!r} is a loss of {METHODS[USUAL].label}; leave method out and choose loss={name!r}"
        )
    one_of("method", name, METHODS)
