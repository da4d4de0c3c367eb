"""Models as files: `save` and `load` a fitted ranker, ready to predict and to give its dual variables."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.npz import Arrays, read_npz, unreadable, write_npz
from rankviz.features.exact import FittedExact, FittedKernelPCA
from rankviz.features.maps import FittedFourier, FittedLinear, FittedMap, FittedNystroem
from rankviz.features.operator import CholeskyBasis, DenseBasis
from rankviz.models.base import Ranker
from rankviz.models.low_rank.base import LowRankRanker
from rankviz.models.low_rank.estimators import FactorizedRankSVM, RegularizedRankSVM
from rankviz.models.ranksvm import RankSVM
from rankviz.risk.costs import frozen_costs

FORMAT = 1


def save(model: Ranker, path: str | Path) -> Path:
    """Write a fitted RankSVM, plain, factorised or regularised, to `path`, complete or not at all.

    Npz and JSON, no pickle. Of the low-rank models factors or dual variables are kept, for `rankviz.duals`.
    Raises ValueError for a model that was not fitted or is none of these, OSError where the path is not
    writable.

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
    meta = {
        "format": FORMAT,
        "model": kind,
        "params": _plain_params(model),
        "map": type(model.feature_map_).__name__,
        "gamma": model.gamma_,
        "n_features": model.n_features_in_,
        "objective": model.objective_,
        "n_pairs": model.n_pairs_,
    }
    found = model.solution if isinstance(model, LowRankRanker) else {}
    return write_npz(Path(path), meta, _map_arrays(model.feature_map_) | found | {"coef": model.coef_})


def load(path: str | Path) -> Ranker:
    """Read a model that `save` wrote, ready to `predict`; its trace is not kept.

    Raises `DataError` for a file that is missing, damaged, too large, or not a model of this format.

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
        model = _MODELS[meta.get("model", "RankSVM")](meta["params"], arrays)
        model.feature_map_ = fitted = _MAPS[meta["map"]](arrays, d, gamma)
        model.coef_, model.gamma_ = _shaped(arrays, "coef", fitted.n_components), gamma
        model.n_features_in_, model.n_components_ = d, fitted.n_components
        model.objective_, model.n_pairs_ = float(meta["objective"]), int(meta["n_pairs"])
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise unreadable(path, "model", str(error)) from error
    return model


def _kind_of(model: Ranker) -> str:
    """The name in `_MODELS`, also of a model of a class derived from one."""
    kind = next((base.__name__ for base in type(model).__mro__ if base.__name__ in _MODELS), None)
    if kind is None:
        raise ValueError(f"{type(model).__name__} cannot be saved; these can: {', '.join(_MODELS)}")
    return kind


def _plain_params(model: Ranker) -> dict[str, Any]:
    """Its settings as JSON can hold them: a random state that is not a number is left out."""
    params: dict[str, Any] = model.get_params()
    if not isinstance(params["random_state"], numbers.Integral):
        params["random_state"] = None
    return params | ({"costs": frozen_costs(params["costs"])} if "costs" in params else {})


def _rank_svm(params: dict[str, Any], arrays: Arrays) -> RankSVM:
    model = RankSVM(**params)
    model.costs = frozen_costs(model.costs)
    return model


def _factorized(params: dict[str, Any], arrays: Arrays) -> FactorizedRankSVM:
    model, n = FactorizedRankSVM(**params), len(arrays["factors"])
    model.keep({"factors": _shaped(arrays, "factors", n, int(model.rank)), "gap": _shaped(arrays, "gap", 1)})
    return model


def _regularized(params: dict[str, Any], arrays: Arrays) -> RegularizedRankSVM:
    model, entries = RegularizedRankSVM(**params), len(arrays["alpha"])
    found = {name: _shaped(arrays, name, entries) for name in ("alpha", "low_rank")}
    model.keep(found | {"gap": _shaped(arrays, "gap", 1)})
    return model


def _shaped(arrays: Arrays, name: str, *shape: int) -> FloatArray:
    array = arrays[name]
    if array.dtype != np.float64 or array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"array {name!r} is {array.dtype}{array.shape}, expected finite float64{shape}")
    return array


def _map_arrays(fitted: FittedMap) -> Arrays:
    if isinstance(fitted, FittedFourier):
        return {"frequencies": fitted.frequencies, "phases": fitted.phases}
    if isinstance(fitted, FittedExact):
        return {"documents": fitted.documents}
    if isinstance(fitted, FittedNystroem):
        basis = fitted.basis
        matrix: Arrays = {"L": basis.L} if isinstance(basis, CholeskyBasis) else {}
        matrix |= {"T": basis.T} if isinstance(basis, DenseBasis) else {}
        places: Arrays = {} if fitted.kept is None else {"kept": fitted.kept}
        return {"landmarks": fitted.landmarks} | matrix | places
    return {}


def _linear(arrays: Arrays, d: int, gamma: float) -> FittedMap:
    return FittedLinear(d)


def _exact(arrays: Arrays, d: int, gamma: float) -> FittedMap:
    return FittedExact(_shaped(arrays, "documents", len(arrays["documents"]), d), gamma)


def _kernel_pca(arrays: Arrays, d: int, gamma: float) -> FittedMap:
    nystroem = _nystroem(arrays, d, gamma)
    return FittedKernelPCA(nystroem.landmarks, gamma, nystroem.basis, nystroem.kept)


def _nystroem(arrays: Arrays, d: int, gamma: float) -> FittedNystroem:
    k = len(arrays["landmarks"])
    landmarks, kept = _shaped(arrays, "landmarks", k, d), _kept(arrays, k)
    if "L" in arrays:
        L = _shaped(arrays, "L", k, k)
        if not (np.diag(L) > 0).all():
            raise ValueError("array 'L' is not a Cholesky factor")
        return FittedNystroem(landmarks, gamma, CholeskyBasis(L), kept)
    basis = DenseBasis(_shaped(arrays, "T", k, arrays["T"].shape[1]))
    return FittedNystroem(landmarks, gamma, basis, kept)


def _kept(arrays: Arrays, k: int) -> IntArray | None:
    if "kept" not in arrays:
        return None
    kept = arrays["kept"]
    if kept.dtype != np.int64 or kept.shape != (k,) or (np.diff(kept, prepend=-1) < 1).any():
        raise ValueError("array 'kept' does not count landmarks in their order")
    return kept


def _fourier(arrays: Arrays, d: int, gamma: float) -> FittedMap:
    m = len(arrays["phases"])
    return FittedFourier(_shaped(arrays, "frequencies", d, m), _shaped(arrays, "phases", m), gamma)


_MODELS: dict[str, Callable[[dict[str, Any], Arrays], RankSVM | LowRankRanker]] = {
    "RankSVM": _rank_svm,
    "FactorizedRankSVM": _factorized,
    "RegularizedRankSVM": _regularized,
}

_MAPS: dict[str, Callable[[Arrays, int, float], FittedMap]] = {
    "FittedLinear": _linear,
    "FittedNystroem": _nystroem,
    "FittedFourier": _fourier,
    "FittedExact": _exact,
    "FittedKernelPCA": _kernel_pca,
}
