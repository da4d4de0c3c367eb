"""Models as files: `save` and `load` a fitted ranker, for predictions and dual variables."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rankviz.common.npz import Arrays, read_npz, shaped, unreadable, write_npz
from rankviz.datasets.types import DataWarning
from rankviz.features import FEATURE_MAPS, KERNELS, FittedMap, Kernel
from rankviz.features.kernels import kernel_name
from rankviz.features.settings import GAMMA, KERNEL
from rankviz.learning.costs import frozen_costs
from rankviz.learning.result import Status
from rankviz.models.inputs import Columns
from rankviz.models.low_rank.estimators import FactorizedRankSVM, RegularizedRankSVM
from rankviz.models.low_rank.low_rank_ranker import LowRankRanker
from rankviz.models.ranker import Ranker
from rankviz.models.ranksvm import RankSVM

FORMAT = 1
NUMBERS = ("gap", "primal", "dual", "n_iter", "memory_need")
"""Final results of training besides the objective; not every model has all of them."""
TRACE = "trace."
"""Prefix of the trace's columns among the arrays of the file."""


def save(model: Ranker, path: str | Path) -> Path:
    """Write a fitted RankSVM, plain, factorised or regularised, to `path`, completely or not at all.

    The file has npz and JSON, no pickle. It keeps everything that `fit` set, including trace, status and
    duality gap, and for low-rank models factors or dual variables, for `rankviz.duals`.
    Raises ValueError for a model that is not fitted or of another class, or whose feature map or kernel is
    not registered; OSError if the path is not writable.

    Examples
    --------
    >>> from rankviz import RankSVM, save
    >>> model = RankSVM(C=1.0).fit([[1.0], [0.0]], [1, 0], qid=[1, 1])
    >>> save(model, "model.npz").name
    'model.npz'
    """
    kind = _kind_of(model)
    if not hasattr(model, "coef_"):
        raise ValueError(f"this {kind} is not fitted yet; call fit before saving it")
    fitted = model.feature_map_
    meta = {
        "format": FORMAT,
        "model": kind,
        "params": _plain_params(model),
        "map": _map_name(fitted),
        "kernel": _described(fitted.kernel),
        "gamma": model.gamma_,
        "n_features": model.n_features_in_,
        "columns": asdict(model.columns),
        "objective": model.objective_,
        "n_pairs": model.n_pairs_,
        "weighed_digest": getattr(model, "weighed_digest_", ""),
        "ended": _ended(model),
    }
    found: Arrays = {**model.solution, **_end_arrays(model), "coef": model.coef_}
    weights = getattr(model, "query_weights_", None)
    found |= {} if weights is None else {"query_weights": weights}
    return write_npz(Path(path), meta, fitted.arrays() | found)


def load(path: str | Path) -> Ranker:
    """Read a model written by `save`, ready to `predict`, with everything that its `fit` set.

    A model of a stored run has no duality gap: its `gap_` is NaN, and a `DataWarning` says so. Raises
    `DataError` for a file that is missing, damaged, too large, or not a model of this format.

    Examples
    --------
    >>> from rankviz import RankSVM, load, save
    >>> model = RankSVM(C=1.0).fit([[1.0], [0.0]], [1, 0], qid=[1, 1])
    >>> again = load(save(model, "model.npz"))
    >>> bool((again.predict([[0.5]]) == model.predict([[0.5]])).all())
    True
    """
    path = Path(path)
    meta, arrays = read_npz(path, "model")
    try:
        if meta["format"] != FORMAT:
            raise ValueError(f"format {meta['format']}; this version reads {FORMAT}")
        gamma, d = float(meta["gamma"]), int(meta["n_features"])
        if not 0 < gamma < float("inf"):
            raise ValueError(f"gamma is {gamma}")
        model = _MODELS[meta["model"]](meta["params"], arrays)
        kernel = _kernel(meta["kernel"], gamma)
        model.feature_map_ = fitted = _maps()[meta["map"]].from_arrays(arrays, d, kernel)
        model.coef_, model.gamma_ = shaped(arrays, "coef", fitted.n_components), gamma
        model.n_components_ = fitted.n_components
        model.learned(d, _columns(meta["columns"], d))
        model.objective_, model.n_pairs_ = float(meta["objective"]), _count(meta["n_pairs"], "n_pairs")
        least = 0.0 if isinstance(model, RankSVM) else -math.inf  # others minimise a dual, which is negative
        if not (math.isfinite(model.objective_) and model.objective_ >= least):
            raise ValueError(f"objective is {model.objective_}, expected a finite number from {least} on")
        if isinstance(model, RankSVM):
            model.weighed_digest_ = str(meta["weighed_digest"])
        _keep_end(model, meta["ended"], arrays)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise unreadable(path, "model", error) from error
    _say_what_is_missing(model, path)
    return model


def _ended(model: RankSVM | LowRankRanker) -> dict[str, Any]:
    """Return the final results as JSON can hold them: NaN and infinity become null.

    A model made from a stored run has fewer of them.
    """
    known = {name: getattr(model, f"{name}_") for name in NUMBERS if hasattr(model, f"{name}_")}
    words = {name: getattr(model, f"{name}_") for name in ("start", "seconds") if hasattr(model, f"{name}_")}
    words |= {"status": model.status_.name} if hasattr(model, "status_") else {}
    return {**words, "numbers": {name: v if math.isfinite(v) else None for name, v in known.items()}}


def _end_arrays(model: RankSVM | LowRankRanker) -> Arrays:
    """Return the columns of the trace, and the ranks of a low-rank model."""
    trace = getattr(model, "trace_", pd.DataFrame())
    found: Arrays = {f"{TRACE}{name}": column.to_numpy() for name, column in trace.items()}
    return found | ({"ranks": model.ranks_} if hasattr(model, "ranks_") else {})


def _keep_end(model: RankSVM | LowRankRanker, ended: dict[str, Any], arrays: Arrays) -> None:
    """Set the results of `_ended` and `_end_arrays`; KeyError, TypeError or ValueError for other values."""
    if "status" in ended:
        model.status_ = Status[ended["status"]]
    if "start" in ended:
        model.start_ = str(ended["start"])
    if "seconds" in ended:
        model.seconds_ = {str(stage): float(seconds) for stage, seconds in dict(ended["seconds"]).items()}
    for name in NUMBERS:
        if name in ended["numbers"]:
            value = ended["numbers"][name]
            if name in ("n_iter", "memory_need"):
                value = _count(value, name)
            setattr(model, f"{name}_", math.nan if value is None else value + 0)
    columns = {name.removeprefix(TRACE): a for name, a in arrays.items() if name.startswith(TRACE)}
    if any(a.ndim != 1 or a.dtype not in (np.int64, np.float64) for a in columns.values()):
        raise ValueError("a column of the trace has no numbers")
    if columns:
        model.trace_ = pd.DataFrame(columns)
        _check_end(model)
    if isinstance(model, RegularizedRankSVM) and "ranks" in arrays:
        model.ranks_ = arrays["ranks"]
        if model.ranks_.ndim != 1 or model.ranks_.dtype != np.int64:
            raise ValueError("array 'ranks' has no whole numbers")


def _count(value: Any, name: str) -> int:
    """Return a valid count; ValueError for other values."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{name} is {str(value)[:40]!r}, expected a whole number of at least 0")
    return value


def _check_end(model: RankSVM | LowRankRanker) -> None:
    """Raise ValueError if RankSVM's gap or steps differ from the end of its trace."""
    if not isinstance(model, RankSVM) or model.trace_.empty:
        return
    if "gap" in model.trace_ and hasattr(model, "gap_"):
        last = float(model.trace_["gap"].iloc[-1])
        if model.gap_ != last and not (math.isnan(model.gap_) and math.isnan(last)):
            raise ValueError(f"gap is {model.gap_}, and its trace ends at {last}")
    if "step" in model.trace_ and hasattr(model, "n_iter_"):
        steps = int((model.trace_["step"] > 0).sum())
        if model.n_iter_ != steps:
            raise ValueError(f"n_iter is {model.n_iter_}, and its trace has {steps} steps")


def _say_what_is_missing(model: RankSVM | LowRankRanker, path: Path) -> None:
    """Set `gap_` to NaN with a warning if the file has no duality gap."""
    if hasattr(model, "gap_"):
        return
    model.gap_ = math.nan
    text = (
        f"{path}: this file has no duality gap, for its model is of a stored run. So gap_ is NaN, and how "
        "far the model is from the optimum is not known; fit it again to know it"
    )
    warnings.warn(text, DataWarning, stacklevel=3)


def can_save(model: Ranker) -> bool:
    """Return True if `save` supports this model's class."""
    return any(base.__name__ in _MODELS for base in type(model).__mro__)


_INNER = {
    "Pipeline": ". Save its last step, pipeline[-1]; what comes before it needs a file of its own",
    "GridSearchCV": ". Save its best_estimator_",
    "RandomizedSearchCV": ". Save its best_estimator_",
}
"""Position of the model inside scikit-learn's wrappers."""


def _kind_of(model: Ranker) -> str:
    """Return the name in `_MODELS` of the model's class or its base class."""
    kind = next((base.__name__ for base in type(model).__mro__ if base.__name__ in _MODELS), None)
    if kind is None:
        name, inner = type(model).__name__, _INNER.get(type(model).__name__, "")
        raise ValueError(f"{name} cannot be saved; these can: {', '.join(_MODELS)}{inner}")
    return kind


def _plain_params(model: Ranker) -> dict[str, Any]:
    """Return the settings as JSON can hold them; a random state that is not a number becomes None."""
    params: dict[str, Any] = model.get_params()
    if not isinstance(params["random_state"], numbers.Integral):
        params["random_state"] = None
    return params | ({"costs": frozen_costs(params["costs"])} if "costs" in params else {})


def _rank_svm(params: dict[str, Any], arrays: Arrays) -> RankSVM:
    model = RankSVM(**params)
    model.costs = frozen_costs(model.costs)
    weights = arrays.get("query_weights")
    model.query_weights_ = None if weights is None else shaped(arrays, "query_weights", len(weights))
    return model


def _factorized(params: dict[str, Any], arrays: Arrays) -> FactorizedRankSVM:
    model, n = FactorizedRankSVM(**params), len(arrays["factors"])
    model.keep({"factors": shaped(arrays, "factors", n, int(model.rank)), "gap": shaped(arrays, "gap", 1)})
    return model


def _regularized(params: dict[str, Any], arrays: Arrays) -> RegularizedRankSVM:
    model, entries = RegularizedRankSVM(**params), len(arrays["alpha"])
    found = {name: shaped(arrays, name, entries) for name in ("alpha", "low_rank")}
    model.keep(found | {"gap": shaped(arrays, "gap", 1)})
    return model


def _columns(described: dict[str, list[str] | None], d: int) -> Columns:
    """Return the `Columns` that a file describes; raise ValueError if they do not fit d features."""
    if not isinstance(described, dict):
        raise ValueError(f"columns are {described!r}")
    kept = {name: None if listed is None else tuple(listed) for name, listed in described.items()}
    for listed in kept.values():
        if listed is not None and (len(listed) != d or not all(isinstance(name, str) for name in listed)):
            raise ValueError(f"columns are {listed!r}, for {d} features")
    return Columns(**kept)


def _maps() -> dict[str, type[FittedMap]]:
    """Return all fitted feature maps by the names of their classes."""
    return {fitted.__name__: fitted for kind in FEATURE_MAPS.values() for fitted in kind.fitted}


def _map_name(fitted: FittedMap) -> str:
    name = type(fitted).__name__
    if _maps().get(name) is not type(fitted):
        raise ValueError(f"a {name} cannot be saved: no feature map of FEATURE_MAPS gives it")
    return name


def _described(kernel: Kernel | None) -> dict[str, Any] | None:
    """Return a kernel's name in `KERNELS` and its settings except γ, which is stored separately."""
    if kernel is None:
        return None
    name = kernel_name(kernel)
    settings = (setting for setting in KERNELS[name].settings if setting is not GAMMA)
    return {"name": name, "settings": {setting.name: getattr(kernel, setting.name) for setting in settings}}


def _kernel(described: dict[str, Any] | None, gamma: float) -> Kernel | None:
    """Return the kernel given to `_described`, at γ."""
    if described is None:
        return None
    kind, values = KERNELS[KERNEL.checked(described["name"])], {**described["settings"], "gamma": gamma}
    return kind.make({setting.name: setting.checked(values[setting.name]) for setting in kind.settings})


_MODELS: dict[str, Callable[[dict[str, Any], Arrays], RankSVM | LowRankRanker]] = {
    "RankSVM": _rank_svm,
    "FactorizedRankSVM": _factorized,
    "RegularizedRankSVM": _regularized,
}
