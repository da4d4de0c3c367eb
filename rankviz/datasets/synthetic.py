"""A seeded generator of ranking data that is known to be non-linear.

All steps are vectorised over documents. For document i of query q, with k = min(4, d) hidden factors:

1. Sizes n_q are log-uniform between the limits of `documents_per_query`.
2. Features: x_i = minmax_q(W z_i + 0.7 ε_i), z_i ~ N(0, I_k), ε_i ~ N(0, I_d), W (d, k) with unit rows, then
   scaled to [0, 1] within the query as LETOR's files are.
3. Linear part: ℓ_i = v·x_i with v ~ N(0, I_d).
4. Smooth part: u = Wᵀ(x_i − x̄), each coordinate with unit variance, and g_i = Σ_j a_j cos(ω_j·u + b_j) with
   64 random frequencies, a draw from a Gaussian process with an RBF kernel of length scale 1.6 on the
   k-dimensional subspace. What a linear model of x can explain of g (least squares) is taken away.
5. Latent relevance: s_i = √(1 − ν) ℓ_i + √ν g_i + σ e_i + 0.8 b_q, with ℓ and g standardised, e and b
   standard normal: ν is `nonlinearity`, σ is `noise`, b_q makes some queries richer in relevant documents
   than others, some without any.
6. Grades: s_i is cut at global quantiles, grade r having a share proportional to 0.4^r, so that grade 0 is
   the most frequent.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import SettingError
from rankviz.common.settings import SEED, Real, Share, Whole, listed
from rankviz.datasets.normalise import normalise
from rankviz.datasets.parts import cyclic_fold
from rankviz.datasets.types import Fold, RankingData

FACTORS = 4
FREQUENCIES = 64
LENGTH_SCALE = 1.6
OWN_VARIATION = 0.7
QUERY_SPREAD = 0.8
GRADE_RATIO = 0.4
MOST = 10**10
"""Numbers of a data set at most: 80 GB."""


def make_fold(
    *,
    n_queries: int = 200,
    documents_per_query: tuple[int, int] = (8, 150),
    n_features: int = 20,
    n_grades: int = 3,
    nonlinearity: float = 0.4,
    noise: float = 0.5,
    seed: int = 0,
) -> Fold:
    """Generate a fold: the data of :func:`make_data`, split by query into 60 % train, 20 % vali, 20 % test.

    `n_queries` counts the queries of all three parts, at least 5. Raises `SettingError` as `make_data` does.
    """
    data = make_data(
        n_queries=n_queries,
        documents_per_query=documents_per_query,
        n_features=n_features,
        n_grades=n_grades,
        nonlinearity=nonlinearity,
        noise=noise,
        seed=seed,
    )
    return cyclic_fold(data, 1, seed=seed, name=data.name)


def make_data(
    *,
    n_queries: int = 200,
    documents_per_query: tuple[int, int] = (8, 150),
    n_features: int = 20,
    n_grades: int = 3,
    nonlinearity: float = 0.4,
    noise: float = 0.5,
    seed: int = 0,
) -> RankingData:
    """Generate graded documents by the formula in the module's docstring; equal arguments give equal data.

    Parameters
    ----------
    n_queries, n_features : int
        Q ≥ 1 queries, d ≥ 1 features in [0, 1].
    documents_per_query : (int, int)
        Smallest and largest number of documents of a query, drawn log-uniformly.
    n_grades : int
        Grades 0 … n_grades − 1, at least 2.
    nonlinearity : float
        ν in [0, 1], the share of the signal's variance that no linear model of the features explains.
    noise : float
        σ ≥ 0, standard deviation of the noise where the signal has about 1.
    seed : int
        Seed of all random draws.

    Raises `SettingError` for an argument outside these limits, or for more than 10¹⁰ numbers together.
    """
    _check(n_queries, documents_per_query, n_features, n_grades, nonlinearity, noise, seed)
    rng = np.random.default_rng(seed)
    ptr = _offsets(rng, n_queries, documents_per_query)
    mixing = rng.standard_normal((n_features, min(FACTORS, n_features)))
    mixing /= np.linalg.norm(mixing, axis=1, keepdims=True)
    data = _documents(rng, ptr, mixing, f"synthetic (seed {seed})")
    linear = _standardised(data.X @ rng.standard_normal(n_features))
    smooth = _smooth_part(rng, data.X, mixing)
    latent = np.sqrt(1 - nonlinearity) * linear + np.sqrt(nonlinearity) * smooth
    latent += noise * rng.standard_normal(data.n_documents)
    latent += np.repeat(QUERY_SPREAD * rng.standard_normal(n_queries), np.diff(ptr))
    return replace(data, y=_grades(latent, n_grades))


def _check(
    n_queries: int,
    sizes: tuple[int, int],
    n_features: int,
    n_grades: int,
    nonlinearity: float,
    noise: float,
    seed: int,
) -> None:
    """Raise `SettingError` for an argument outside its limits."""
    count = Whole(most=MOST)
    pair = listed("documents_per_query", sizes)
    for size in pair:
        count.check("documents_per_query", size)
    if len(pair) != 2 or pair[0] > pair[1]:
        raise SettingError(
            f"documents_per_query={sizes!r} must be (smallest, largest), 1 ≤ smallest ≤ largest"
        )
    count.check("n_queries", n_queries)
    count.check("n_features", n_features)
    Whole(least=2, most=MOST).check("n_grades", n_grades)
    Share().check("nonlinearity", nonlinearity)
    Real(low=0).check("noise", noise)
    SEED.domain.check("seed", seed)
    if int(n_queries) * int(pair[1]) * int(n_features) > MOST:
        raise SettingError(
            f"{n_queries} queries of up to {pair[1]} documents with {n_features} features are more than "
            f"{MOST:,} numbers; choose fewer"
        )


def _offsets(rng: np.random.Generator, n_queries: int, sizes: tuple[int, int]) -> IntArray:
    """Query offsets (Q + 1,) for log-uniform sizes."""
    logs = rng.uniform(np.log(sizes[0]), np.log(sizes[1] + 1), n_queries)
    drawn = np.clip(np.floor(np.exp(logs)), sizes[0], sizes[1]).astype(np.int64)
    return np.concatenate(([0], np.cumsum(drawn))).astype(np.int64)


def _documents(rng: np.random.Generator, ptr: IntArray, mixing: FloatArray, name: str) -> RankingData:
    """Ungraded documents with the features of step 2, each with an identifier that says query and place."""
    n, (d, k) = int(ptr[-1]), mixing.shape
    X = rng.standard_normal((n, k)) @ mixing.T + OWN_VARIATION * rng.standard_normal((n, d))
    query_ids = np.arange(1, len(ptr), dtype=np.int64)
    place = np.arange(n) - np.repeat(ptr[:-1], np.diff(ptr)) + 1
    labels = [f"S{q}-{i}" for q, i in zip(np.repeat(query_ids, np.diff(ptr)), place, strict=True)]
    raw = RankingData(X, np.zeros(n, np.int64), ptr, query_ids, np.asarray(labels, np.str_), name=name)
    return normalise(raw, "query_minmax")


def _smooth_part(rng: np.random.Generator, X: FloatArray, mixing: FloatArray) -> FloatArray:
    """Step 4: a smooth function of the hidden subspace, (n,), with its linear part removed."""
    k = mixing.shape[1]
    amplitude = rng.standard_normal(FREQUENCIES)
    frequency = rng.standard_normal((k, FREQUENCIES)) / LENGTH_SCALE
    phase = rng.uniform(0, 2 * np.pi, FREQUENCIES)
    centred = X - X.mean(axis=0)
    u = centred @ mixing
    spread = u.std(axis=0)
    u /= np.where(spread > 0, spread, 1.0)
    g = np.cos(u @ frequency + phase) @ amplitude
    g -= g.mean()
    return _standardised(g - centred @ np.linalg.lstsq(centred.T @ centred, centred.T @ g, rcond=None)[0])


def _standardised(values: FloatArray) -> FloatArray:
    """Mean 0 and variance 1; all zero where there is no variation to speak of."""
    centred = values - values.mean()
    spread = float(centred.std())
    return centred / spread if spread > 1e-9 else np.zeros_like(centred)


def _grades(latent: FloatArray, n_grades: int) -> IntArray:
    """Step 6: grades (n,) by global quantiles."""
    shares = GRADE_RATIO ** np.arange(n_grades)
    cuts = np.quantile(latent, np.cumsum(shares)[:-1] / shares.sum())
    return np.searchsorted(cuts, latent, side="left").astype(np.int64)
