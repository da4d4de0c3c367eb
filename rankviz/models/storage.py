"""Models as files: `save` and `load` a fitted ranker, for predictions and dual variables."""

from __future__ import annotations

import math
import numbers
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rankviz.common.errors import DataWarning
from rankviz.common.npz import Arrays, read_npz, shaped, unreadable, write_npz
from rankviz.features import FEATURE_MAPS, KERNELS, FittedMap, Kernel
from rankviz.features.kernels import GAMMA, kernel_name
from rankviz.features.registry import KERNEL
from rankviz.learning.losses import loss_name
from rankviz.learning.objective import Status
from rankviz.learning.pairs import frozen_costs, stored_costs
from rankviz.models.feature_ranker import FeatureRanker
from rankviz.models.methods import METHODS
from rankviz.models.ranker import Columns, Ranker
from rankviz.models.rounds import RoundRanker, other_library

FORMAT = 1
NUMBERS = ("gap", "primal", "dual", "n_iter", "memory_need")
"""Final results of training besides the objective; not every model has all of them."""
WORDS = ("start", "memory_plan", "seconds")
TRACE = "trace."
"""Prefix of the trace's columns among the arrays of the file."""


def save(model: Ranker, path: str | Path) -> Path:
    """Write a fitted model to `path`, completely or not at all: a RankSVM of any kind, or trees.

    The file has npz and JSON, no pickle. It keeps everything that `fit` set, including trace, status and
    duality gap, and for low-rank models factors or dual variables, for `rankviz.duals`.
    Raises ValueError for a model that is not fitted or of another class, or whose feature map is not
    registered. Raises `SettingError` if its loss, costs or kernel is an object without a name in the
    registries, and OSError if the path is not writable.

    Examples
    --------
    >>> from rankviz import RankSVM, save
    >>> model = RankSVM(C=1.0).fit([[1.0], [0.0]], [1, 0], qid=[1, 1])
    >>> save(model, "model.npz").name
    'model.npz'
    """
    kind = _kind_of(model)
    if not hasattr(model, "n_features_in_"):
        raise ValueError(f"this {kind} is not fitted yet; call fit before saving it")
    if isinstance(model, RoundRanker):
        return write_npz(Path(path), _described_rounds(model, kind), _trace_arrays(model) | model.stored)
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
        "weighed_digest": model.weighed_digest_,
        "ended": _ended(model),
    }
    arrays = fitted.arrays() | _trace_arrays(model) | model.stored | {"coef": model.coef_}
    return write_npz(Path(path), meta, arrays)


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
        if meta["model"] in _ROUNDS:
            return _round_ranker(meta, arrays)
        gamma, d = float(meta["gamma"]), int(meta["n_features"])
        if not 0 < gamma < float("inf"):
            raise ValueError(f"gamma is {gamma}")
        model = _unfitted_model(meta)
        kernel = _kernel(meta["kernel"], gamma)
        model.feature_map_ = fitted = _maps()[meta["map"]].from_arrays(arrays, d, kernel)
        model.coef_, model.gamma_ = shaped(arrays, "coef", fitted.n_components), gamma
        model.n_components_ = fitted.n_components
        model.learned(d, _columns(meta["columns"], d))
        model.objective_, model.n_pairs_ = float(meta["objective"]), _count(meta["n_pairs"], "n_pairs")
        if not (math.isfinite(model.objective_) and model.objective_ >= model.least_objective):
            raise ValueError(
                f"objective is {model.objective_}, expected a finite number from {model.least_objective} on"
            )
        _keep_end(model, meta["ended"], arrays)
        model.restore(meta, arrays)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise unreadable(path, "model", error) from error
    _say_what_is_missing(model, path)
    return model


def _ended(model: FeatureRanker) -> dict[str, Any]:
    """Return the final results as JSON can hold them: NaN and infinity become null.

    A model made from a stored run has fewer of them.
    """
    known = {name: getattr(model, f"{name}_") for name in NUMBERS if hasattr(model, f"{name}_")}
    words = {name: getattr(model, f"{name}_") for name in WORDS if hasattr(model, f"{name}_")}
    words |= {"status": model.status_.name} if hasattr(model, "status_") else {}
    return {**words, "numbers": {name: v if math.isfinite(v) else None for name, v in known.items()}}


def _keep_end(model: FeatureRanker, ended: dict[str, Any], arrays: Arrays) -> None:
    """Set the results of `_ended` and the trace; KeyError, TypeError or ValueError for other values."""
    if "status" in ended:
        model.status_ = Status[ended["status"]]
    for name in ("start", "memory_plan"):
        if name in ended:
            setattr(model, f"{name}_", str(ended[name]))
    if "seconds" in ended:
        model.seconds_ = {str(stage): float(seconds) for stage, seconds in dict(ended["seconds"]).items()}
    for name in NUMBERS:
        if name in ended["numbers"]:
            value = ended["numbers"][name]
            if name in ("n_iter", "memory_need"):
                value = _count(value, name)
            setattr(model, f"{name}_", math.nan if value is None else value + 0)
    if len(trace := _trace(arrays)):
        model.trace_ = trace


def _trace_arrays(model: Any) -> Arrays:
    trace = getattr(model, "trace_", pd.DataFrame())
    return {f"{TRACE}{name}": column.to_numpy() for name, column in trace.items()}


def _trace(arrays: Arrays) -> pd.DataFrame:
    """Return the trace of `_trace_arrays`. Raises ValueError for other values."""
    columns = {name.removeprefix(TRACE): a for name, a in arrays.items() if name.startswith(TRACE)}
    if any(a.ndim != 1 or a.dtype not in (np.int64, np.float64) for a in columns.values()):
        raise ValueError("a column of the trace has no numbers")
    return pd.DataFrame(columns)


def _described_rounds(model: RoundRanker, kind: str) -> dict[str, Any]:
    """Return the description of a model of trees."""
    about = {"n_features": model.n_features_in_, "columns": asdict(model.columns), "status": model.status_}
    about |= {"library": model.library_} if model.library_ else {}
    about |= {"memory_need": model.memory_need_} if hasattr(model, "memory_need_") else {}
    return {"format": FORMAT, "model": kind, "params": model.get_params()} | about


def _round_ranker(meta: dict[str, Any], arrays: Arrays) -> RoundRanker:
    """Return the model of a file. Raises KeyError, TypeError or ValueError for a damaged one."""
    model, d = _ROUNDS[meta["model"]](**meta["params"]), _count(meta["n_features"], "n_features")
    model.check_settings()
    model.restore(arrays, d, _trace(arrays), meta["status"])
    model.learned(d, _columns(meta["columns"], d))
    model.library_ = str(meta.get("library", ""))
    if "memory_need" in meta:
        model.memory_need_ = _count(meta["memory_need"], "memory_need")
    if said := other_library(type(model), model.library_):
        warnings.warn(said, DataWarning, stacklevel=3)
    return model


def _count(value: Any, name: str) -> int:
    """Return a valid count; ValueError for other values."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{name} is {str(value)[:40]!r}, expected a whole number of at least 0")
    return value


def _say_what_is_missing(model: FeatureRanker, path: Path) -> None:
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
    return any(base.__name__ in _SAVED for base in type(model).__mro__)


_INNER = {
    "Pipeline": ". Save its last step, pipeline[-1]; what comes before it needs a file of its own",
    "GridSearchCV": ". Save its best_estimator_",
    "RandomizedSearchCV": ". Save its best_estimator_",
}
"""Position of the model inside scikit-learn's wrappers."""


def _kind_of(model: Ranker) -> str:
    """Return the name in `_MODELS` of the model's class or its base class."""
    kind = next((base.__name__ for base in type(model).__mro__ if base.__name__ in _SAVED), None)
    if kind is None:
        name, inner = type(model).__name__, _INNER.get(type(model).__name__, "")
        raise ValueError(f"{name} cannot be saved; models that can: {', '.join(_SAVED)}{inner}")
    return kind


def _plain_params(model: Ranker) -> dict[str, Any]:
    """Return the settings as JSON can hold them; a random state that is not a number becomes None.

    Losses, costs and kernels given as objects become their names, with the parameters of the kernel.
    """
    params: dict[str, Any] = model.get_params()
    if not isinstance(params["random_state"], numbers.Integral):
        params["random_state"] = None
    for name, stored in (("loss", loss_name), ("costs", stored_costs)):
        if name in params:
            params[name] = stored(params[name])
    if not isinstance(params.get("kernel", ""), str):
        params |= _kernel_params(params["kernel"])
    return params


def _kernel_params(kernel: Kernel) -> dict[str, Any]:
    """Return the name of a kernel in `KERNELS`, and its parameters; `SettingError` without a name."""
    name = kernel_name(kernel)
    own = {str(setting.parameter): getattr(kernel, setting.name) for setting in KERNELS[name].settings}
    return {"kernel": name, **own}


def _unfitted_model(meta: dict[str, Any]) -> FeatureRanker:
    """Return the unfitted model of a file."""
    params = dict(meta["params"])
    if "costs" in params:
        params["costs"] = frozen_costs(params["costs"])
    return _MODELS[meta["model"]](**params)


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
        raise ValueError(f"a {name} cannot be saved: it is not a feature map of FEATURE_MAPS")
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


_MODELS: dict[str, type[FeatureRanker]] = {
    method.make.__name__: method.make
    for method in METHODS.values()
    if isinstance(method.make, type) and issubclass(method.make, FeatureRanker)
}
_ROUNDS: dict[str, type[RoundRanker]] = {
    method.make.__name__: method.make
    for method in METHODS.values()
    if isinstance(method.make, type) and issubclass(method.make, RoundRanker)
}
_SAVED = (*_MODELS, *_ROUNDS)
