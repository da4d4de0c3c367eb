"""Normalisations of features.

Each is *learnt* from the train part and *applied* to every part; query-level ones learn nothing. A constant
feature (within the query, or over the train part for the global one) becomes 0, as in LETOR's own files.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import overload

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import SettingError
from rankviz.datasets.types import Fold, RankingData, require_data

BLOCK = 2_000_000
"""Features scaled at a time: 16 MB."""

Transform = Callable[[RankingData], FloatArray]


@dataclass(frozen=True)
class Normalisation:
    """A way to scale features.

    Attributes
    ----------
    key, label, description : str
        Its name in settings and code, its name on screen, and a sentence.
    learn : RankingData -> (RankingData -> (n, d) float64)
        Takes the train part and returns the function that gives the scaled features of any part.
    """

    key: str
    label: str
    description: str
    learn: Callable[[RankingData], Transform]


@overload
def normalise(data: Fold, how: str) -> Fold: ...
@overload
def normalise(data: RankingData, how: str) -> RankingData: ...
def normalise(data: Fold | RankingData, how: str) -> Fold | RankingData:
    """Scale the features of a fold or of one part; `how` is a key of `NORMALISATIONS`.

    A fold learns from its train part; a part on its own learns from itself. Raises `SettingError` for an
    unknown name.
    """
    if not isinstance(data, Fold):
        require_data(data, "Give a Fold, or RankingData.from_arrays(X, y, qid).")
    check_normalisation(how)
    learn = NORMALISATIONS[how].learn
    if isinstance(data, Fold):
        transform = learn(data.train)
        train, vali, test = (_with_features(part, transform) for part in data.parts.values())
        return replace(data, train=train, vali=vali, test=test)
    return _with_features(data, learn(data))


def _with_features(data: RankingData, transform: Transform) -> RankingData:
    X = transform(data)
    return data if X is data.X else replace(data, X=X)


def _learn_nothing(transform: Transform) -> Callable[[RankingData], Transform]:
    return lambda train: transform


def _by_query(scale: Callable[[FloatArray, IntArray], FloatArray]) -> Transform:
    """Apply `scale` to groups of queries with about `BLOCK` features, which bounds temporary memory."""

    def transform(data: RankingData) -> FloatArray:
        out, ptr = np.empty_like(data.X), data.ptr
        step = max(1, BLOCK // max(data.n_features, 1))
        cuts = np.unique(np.searchsorted(ptr, np.append(np.arange(0, data.n_documents, step), ptr[-1])))
        for first, last in itertools.pairwise(cuts.tolist()):
            rows = slice(ptr[first], ptr[last])
            out[rows] = scale(data.X[rows], ptr[first : last + 1] - ptr[first])
        return out

    return transform


def _query_minmax(X: FloatArray, ptr: IntArray) -> FloatArray:
    """Return (x − min_q) / (max_q − min_q), 0 for a feature that is constant in its query."""
    starts, sizes = ptr[:-1], np.diff(ptr)
    low, high = np.minimum.reduceat(X, starts), np.maximum.reduceat(X, starts)
    with np.errstate(over="ignore"):
        scale = np.where(np.isfinite(high - low), 1.0, 0.5)  # half of max − min does not overflow
    span = high * scale - low * scale
    scale = np.repeat(scale, sizes, axis=0)
    above = X * scale - np.repeat(low, sizes, axis=0) * scale
    out: FloatArray = above / np.repeat(np.where(span > 0, span, 1.0), sizes, axis=0)
    return out


def _query_zscore(X: FloatArray, ptr: IntArray) -> FloatArray:
    """Return (x − mean_q) / std_q (of the population), 0 for a feature that is constant in its query."""
    starts, sizes = ptr[:-1], np.diff(ptr)

    def spread(per_query: FloatArray) -> FloatArray:
        return np.repeat(per_query, sizes, axis=0)

    def mean(values: FloatArray) -> FloatArray:
        out: FloatArray = np.add.reduceat(values, starts) / sizes[:, None]
        return out

    magnitude = np.maximum.reduceat(np.abs(X), starts)
    scaled = X / spread(np.where(magnitude > 0, magnitude, 1.0))  # squares of huge values would overflow
    varies = np.minimum.reduceat(scaled, starts) < np.maximum.reduceat(scaled, starts)
    centred = scaled - spread(mean(scaled))
    deviation = np.sqrt(mean(centred**2))
    out: FloatArray = centred * spread(np.where(varies, 1 / np.where(varies, deviation, 1.0), 0.0))
    return out


def _learn_global_zscore(train: RankingData) -> Transform:
    """Return (x − mean) / std with mean and std (of the population) of the train part; 0 for constants."""
    magnitude = np.abs(train.X).max(axis=0, initial=0.0)
    magnitude = np.where(magnitude > 0, magnitude, 1.0)
    scaled = train.X / magnitude
    low, high = scaled.min(axis=0, initial=np.inf), scaled.max(axis=0, initial=-np.inf)
    varies = low < high
    mean = scaled.mean(axis=0) if len(scaled) else np.zeros(train.n_features)
    deviation = scaled.std(axis=0) if len(scaled) else np.zeros(train.n_features)
    factor = np.where(varies, 1 / np.where(varies, deviation, 1.0), 0.0)
    return lambda data: (data.X / magnitude - mean) * factor


_ALL = (
    Normalisation(
        "none",
        "None",
        "Features are used as the file has them.",
        _learn_nothing(lambda data: data.X),
    ),
    Normalisation(
        "query_minmax",
        "Query-level min-max",
        "Each feature is scaled to run from 0 to 1 within each query, as in LETOR's QueryLevelNorm files.",
        _learn_nothing(_by_query(_query_minmax)),
    ),
    Normalisation(
        "query_zscore",
        "Query-level z-score",
        "Each feature gets mean 0 and standard deviation 1 within each query.",
        _learn_nothing(_by_query(_query_zscore)),
    ),
    Normalisation(
        "global_zscore",
        "Global z-score",
        "Each feature gets mean 0 and standard deviation 1 over the train part; "
        "the same shift and scale are applied to validation and test.",
        _learn_global_zscore,
    ),
)
NORMALISATIONS: Mapping[str, Normalisation] = MappingProxyType({item.key: item for item in _ALL})


def check_normalisation(how: object) -> None:
    """Raise `SettingError` if this is no key of `NORMALISATIONS`."""
    if not isinstance(how, str) or how not in NORMALISATIONS:
        raise SettingError(f"there is no normalisation {how!r}; there are {', '.join(NORMALISATIONS)}")
