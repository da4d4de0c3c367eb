"""The methods that runs can train, by their names in `RunSpec(method=...)`.

To add one, write a `Ranker` in its own file, and enter it in `METHODS` with its settings and the offers of a
fitted model. All other code reads this entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rankviz.common.errors import SettingError
from rankviz.common.settings import SEED, Setting, active
from rankviz.features import FEATURE_MAPS, KERNELS, check_combination
from rankviz.learning.effort import Sizes, SolverTask, Work, guessed
from rankviz.learning.losses import LOSSES
from rankviz.learning.solver_settings import PRECONDITIONER, PRECONDITIONERS
from rankviz.learning.solvers import SOLVERS, check_solver
from rankviz.models.low_rank.estimators import FactorizedRankSVM, RegularizedRankSVM
from rankviz.models.low_rank.low_rank_ranker import dual_bytes, factor_bytes
from rankviz.models.low_rank.registry import DUAL_SOLVERS, FACTOR_SOLVERS
from rankviz.models.offers import Offers
from rankviz.models.ranker import Ranker
from rankviz.models.ranksvm import RankSVM
from rankviz.models.settings import START

Values = Mapping[str, Any]
"""Settings of a run, by name."""


def _nothing(values: Values) -> None:
    """Accept every combination of settings."""


def _plain_work(values: Values, sizes: Sizes) -> Work:
    """Return the typical work of a plain method."""
    return guessed()


def _scores_only(values: Values) -> Offers:
    """Return no offers besides scores."""
    return Offers()


def _unrelated(values: Values) -> frozenset[str]:
    """Return no settings: each run is independent."""
    return frozenset()


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
    offers : settings -> Offers
        Offers of a fitted model besides scores.
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
            raise SettingError(f"{strangers[0]!r} is no setting of {who}; it has {', '.join(found)}")
        return found

    def model(self, values: Values) -> Ranker:
        """Return the unfitted estimator with these settings; `SettingError` for an invalid combination."""
        self.check(values)
        declared = self.active(lambda setting: values[setting.name])
        return self.make(**{setting.parameter: value for setting, value in declared if setting.parameter})


def _offers(values: Values) -> Offers:
    """Return the offers of a pairwise model on a feature map."""
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
"""Methods by name; the first is the default."""

USUAL = next(iter(METHODS))
"""The default method."""
