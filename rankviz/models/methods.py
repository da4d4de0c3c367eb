"""The methods that runs can train, by the names that `RunSpec(method=...)` uses.

To add one: a `Ranker` in a file of its own, and one entry in `METHODS` that names its settings and says what
a fitted model offers. Everything else asks the entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rankviz.common.errors import SettingError
from rankviz.common.settings import SEED, Setting, active
from rankviz.features import FEATURE_MAPS, KERNELS, check_combination
from rankviz.models.low_rank.estimators import FactorizedRankSVM, RegularizedRankSVM
from rankviz.models.low_rank.low_rank_ranker import dual_bytes, factor_bytes
from rankviz.models.low_rank.registry import DUAL_SOLVERS, FACTOR_SOLVERS
from rankviz.models.offers import Offers
from rankviz.models.ranker import Ranker
from rankviz.models.ranksvm import RankSVM
from rankviz.models.settings import START
from rankviz.risk.losses import LOSSES
from rankviz.solvers.effort import Sizes, SolverTask, Work, guessed
from rankviz.solvers.registry import SOLVERS, check_solver
from rankviz.solvers.settings import PRECONDITIONER, PRECONDITIONERS

Values = Mapping[str, Any]
"""Settings of a run, by name."""


def _nothing(values: Values) -> None:
    """Every combination of its settings goes together."""


def _plain_work(values: Values, sizes: Sizes) -> Work:
    """About what a plain method takes."""
    return guessed()


def _scores_only(values: Values) -> Offers:
    """Scores and nothing else."""
    return Offers()


def _unrelated(values: Values) -> frozenset[str]:
    """Each run by itself."""
    return frozenset()


@dataclass(frozen=True, eq=False)
class Method:
    """A way to learn a ranker, to choose.

    Attributes
    ----------
    label : str
        What to call it.
    make : (**parameters) -> Ranker
        Its estimator.
    settings : tuple of Setting
        Those it reads; what is chosen there may bring along more.
    offers : settings -> Offers
        What a fitted model offers beside scores.
    check : settings -> None
        Raises `SettingError` for settings that do not go together, saying what would.
    varying : settings -> names
        Settings in which runs may differ and yet share their features and starts; then the estimator has
        `training` and `fit_in` (see `rankviz.experiments.sweep`).
    minimises : str
        What it minimises, in a line.
    work : (settings, sizes) -> Work
        Typical work of training, for estimates; a guess where it is not declared.
    left_out : tuple of Setting
        Those that it does not read although a choice of its own would bring them along.
    """

    label: str
    make: Callable[..., Ranker]
    settings: tuple[Setting, ...]
    offers: Callable[[Values], Offers] = _scores_only
    check: Callable[[Values], None] = _nothing
    varying: Callable[[Values], frozenset[str]] = _unrelated
    minimises: str = ""
    work: Callable[[Values, Sizes], Work] = _plain_work
    left_out: tuple[Setting, ...] = ()

    def active(self, value_of: Callable[[Setting], Any]) -> Iterator[tuple[Setting, Any]]:
        """The settings that it reads with these values, in the order in which captions tell them."""
        return active(self.settings, value_of, self.left_out)

    def resolve(self, given: Values) -> dict[str, Any]:
        """All its settings by name: what is given, checked, and defaults for the rest.

        Raises `SettingError` for a value out of range, and for what it does not read with these choices.
        """
        pairs = self.active(lambda setting: setting.checked(given.get(setting.name, setting.default)))
        found = {setting.name: value for setting, value in pairs}
        strangers = [name for name in given if name not in found]
        if strangers:
            who = f"{self.label} with these choices"
            raise SettingError(f"{strangers[0]!r} is no setting of {who}; it has {', '.join(found)}")
        return found

    def model(self, values: Values) -> Ranker:
        """The unfitted estimator with these settings; `SettingError` where they do not go together."""
        self.check(values)
        declared = self.active(lambda setting: values[setting.name])
        return self.make(**{setting.parameter: value for setting, value in declared if setting.parameter})


def _offers(values: Values) -> Offers:
    """What a model of pairs on a feature map offers."""
    kind = FEATURE_MAPS[values["feature_map"]]
    return Offers(
        weights=True,
        input_weights=kind.is_identity,
        expansion=kind.expands,
        form=kind.has_form(KERNELS[values["kernel"]] if kind.has_kernel else None),
        components=kind.has_components,
        objective=True,
        pair_objective=True,
        duals=True,
        positive_duals=True,
        trace=True,
        random=SEED.name in values,
    )


def _rank_svm_offers(values: Values) -> Offers:
    falling = LOSSES[values["loss"]].falling
    return replace(_offers(values), positive_duals=falling, query_weights=True, refits=True)


def _check_map(values: Values) -> None:
    check_combination(values["feature_map"], values)


def _check_rank_svm(values: Values) -> None:
    _check_map(values)
    check_solver(values["solver"], LOSSES[values["loss"]])


def _rank_svm_work(values: Values, sizes: Sizes) -> Work:
    chosen = PRECONDITIONERS[values.get(PRECONDITIONER.name, PRECONDITIONER.default)]
    continued, choice = LOSSES[values["loss"]].by_continuation, SOLVERS[values["solver"]]
    if choice.needs_features and sizes.in_kernel_space:
        return Work()  # it is refused before anything is done
    return choice.work(SolverTask(sizes, continued, chosen.used, values["C"], _gamma(values, sizes)))


def _gamma(values: Values, sizes: Sizes) -> float:
    """γ of a kernel that is rougher the larger it is, 0 of any other; "scale" as for features over [0, 1]."""
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
    """m, γ and C, for maps of fewer features are the leading columns of larger ones; not truncated ones."""
    shared = {"gamma", "C"} if values.get("rank") is not None else {"gamma", "C", "n_components"}
    return frozenset(shared & set(values))


METHODS: dict[str, Method] = {
    "ranksvm": Method(
        "RankSVM",
        RankSVM,
        (*RankSVM.settings, START),
        _rank_svm_offers,
        _check_rank_svm,
        _nested,
        "½‖w‖² + C Σ c_ij ℓ(f_i − f_j)",
        _rank_svm_work,
    ),
    "factorized": Method(
        "factorised RankSVM",
        FactorizedRankSVM,
        FactorizedRankSVM.settings,
        _offers,
        _check_map,
        minimises="½‖w‖² − Σ ⟨v_i, v_j⟩",
        work=_factorized_work,
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
        left_out=RegularizedRankSVM.left_out,
    ),
}
"""Methods by name; the first is what is meant where nothing is said."""

USUAL = next(iter(METHODS))
"""The method that is meant where nothing is said."""
