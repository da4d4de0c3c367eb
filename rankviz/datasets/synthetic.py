"""Generated data: a seeded, non-linear generator, its arguments as a `Recipe`, and sets in the plane.

All steps are vectorised over documents. For document i of query q, with k = min(4, d) hidden factors:

1. Sizes n_q are log-uniform between the limits of `documents_per_query`.
2. Features: x_i = minmax_q(W z_i + 0.7 ε_i), z_i ~ N(0, I_k), ε_i ~ N(0, I_d), W (d, k) with unit rows, then
   scaled to [0, 1] within the query as LETOR's files are.
3. Linear part: ℓ_i = v·x_i with v ~ N(0, I_d).
4. Smooth part: u = Wᵀ(x_i − x̄), each coordinate with unit variance, and g_i = Σ_j a_j cos(ω_j·u + b_j) with
   64 random frequencies, a draw from a Gaussian process with an RBF kernel of length scale 1.6 on the
   k-dimensional subspace. The part of g that a linear model of x explains (least squares) is removed.
5. Latent relevance: s_i = √(1 − ν) ℓ_i + √ν g_i + σ e_i + 0.8 b_q, with ℓ and g standardised, e and b
   standard normal: ν is `nonlinearity`, σ is `noise`, b_q makes some queries richer in relevant documents
   than others, some without any.
6. Grades: s_i is cut at global quantiles, grade r having a share proportional to 0.4^r, so that grade 0 is
   the most frequent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

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
    count = Whole(most=MOST)
    sizes = listed("documents_per_query", documents_per_query)
    for size in sizes:
        count.check("documents_per_query", size)
    if len(sizes) != 2 or sizes[0] > sizes[1]:
        raise SettingError(
            f"documents_per_query={documents_per_query!r} must be (smallest, largest), 1 ≤ smallest ≤ largest"
        )
    count.check("n_queries", n_queries)
    count.check("n_features", n_features)
    Whole(least=2, most=MOST).check("n_grades", n_grades)
    Share().check("nonlinearity", nonlinearity)
    Real(low=0).check("noise", noise)
    SEED.domain.check("seed", seed)
    if int(n_queries) * int(sizes[1]) * int(n_features) > MOST:
        raise SettingError(
            f"{n_queries} queries of up to {sizes[1]} documents with {n_features} features are more than "
            f"{MOST:,} numbers; choose fewer"
        )
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


def _offsets(rng: np.random.Generator, n_queries: int, sizes: tuple[int, int]) -> IntArray:
    """Draw query offsets (Q + 1,) with log-uniform sizes."""
    logs = rng.uniform(np.log(sizes[0]), np.log(sizes[1] + 1), n_queries)
    drawn = np.clip(np.floor(np.exp(logs)), sizes[0], sizes[1]).astype(np.int64)
    return np.concatenate(([0], np.cumsum(drawn))).astype(np.int64)


def _documents(rng: np.random.Generator, ptr: IntArray, mixing: FloatArray, name: str) -> RankingData:
    """Draw ungraded documents with the features of step 2; identifiers contain query and place."""
    n, (d, k) = int(ptr[-1]), mixing.shape
    X = rng.standard_normal((n, k)) @ mixing.T + OWN_VARIATION * rng.standard_normal((n, d))
    query_ids = np.arange(1, len(ptr), dtype=np.int64)
    place = np.arange(n) - np.repeat(ptr[:-1], np.diff(ptr)) + 1
    labels = [f"S{q}-{i}" for q, i in zip(np.repeat(query_ids, np.diff(ptr)), place, strict=True)]
    raw = RankingData(X, np.zeros(n, np.int64), ptr, query_ids, np.asarray(labels, np.str_), name=name)
    return normalise(raw, "query_minmax")


def _smooth_part(rng: np.random.Generator, X: FloatArray, mixing: FloatArray) -> FloatArray:
    """Draw step 4: a smooth function of the hidden subspace, (n,), without its linear part."""
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
    """Return values with mean 0 and variance 1; zeros for values without variation."""
    centred = values - values.mean()
    spread = float(centred.std())
    return centred / spread if spread > 1e-9 else np.zeros_like(centred)


def _grades(latent: FloatArray, n_grades: int) -> IntArray:
    """Return step 6: grades (n,) by global quantiles."""
    shares = GRADE_RATIO ** np.arange(n_grades)
    cuts = np.quantile(latent, np.cumsum(shares)[:-1] / shares.sum())
    return np.searchsorted(cuts, latent, side="left").astype(np.int64)


MAX_CELLS = 4_000_000
"""Most documents times features of a recipe; about ten seconds and 80 MB of text."""
BYTES_PER_CELL, BYTES_PER_DOCUMENT = 21, 15
"""Bytes of text: a space, the feature's number, a colon and 17 digits; grade, query and line end."""
_NAME = re.compile(
    r"synthetic-q(\d{1,4})-d(\d{1,4})to(\d{1,4})-f(\d{1,3})-g(\d)-v(\d\.\d{1,2})-n(\d\.\d{1,2})-s(\d{1,10})"
)


@dataclass(frozen=True)
class Recipe:
    """Arguments of `make_fold`; see there.

    Attributes
    ----------
    queries, features, grades, seed : int
        `n_queries`, `n_features`, `n_grades` and `seed`.
    smallest, largest : int
        `documents_per_query`.
    nonlinearity, noise : float
        With at most two decimals.
    """

    queries: int = 200
    smallest: int = 8
    largest: int = 100
    features: int = 20
    grades: int = 3
    nonlinearity: float = 0.5
    noise: float = 0.6
    seed: int = 0

    @property
    def name(self) -> str:
        """Name of the data set; `named` reads it."""
        return (
            f"synthetic-q{self.queries}-d{self.smallest}to{self.largest}-f{self.features}-g{self.grades}"
            f"-v{_decimal(self.nonlinearity)}-n{_decimal(self.noise)}-s{self.seed}"
        )

    @classmethod
    def named(cls, name: str) -> Self | None:
        """Return the recipe of a name, None for any other name."""
        found = _NAME.fullmatch(name)
        if found is None:
            return None
        queries, smallest, largest, features, grades, nonlinearity, noise, seed = found.groups()
        whole = (int(queries), int(smallest), int(largest), int(features), int(grades))
        recipe = cls(*whole, float(nonlinearity), float(noise), int(seed))
        return recipe if recipe.name == name else None

    @property
    def expected_documents(self) -> float:
        """Return the mean number of documents, Q (b − a + 1) / ln((b + 1) / a) for sizes from a to b."""
        if not 1 <= self.smallest <= self.largest:
            return 0.0
        width = self.largest + 1 - self.smallest
        return self.queries * width / math.log((self.largest + 1) / self.smallest)

    @property
    def expected_bytes(self) -> float:
        """Return the approximate size of its text."""
        return self.expected_documents * (BYTES_PER_DOCUMENT + BYTES_PER_CELL * self.features)

    def check_size(self) -> None:
        """Raise ValueError for a recipe beyond `MAX_CELLS`."""
        if self.expected_documents * self.features > MAX_CELLS:
            raise ValueError(
                f"about {self.expected_documents:,.0f} documents of {self.features} features are more than "
                f"{MAX_CELLS:,} values; choose fewer queries, documents or features"
            )

    def make(self) -> Fold:
        """Generate the fold. Raises ValueError for arguments out of range, or beyond `MAX_CELLS`."""
        self.check_size()
        return make_fold(
            n_queries=self.queries,
            documents_per_query=(self.smallest, self.largest),
            n_features=self.features,
            n_grades=self.grades,
            nonlinearity=self.nonlinearity,
            noise=self.noise,
            seed=self.seed,
        )


def _decimal(value: float) -> str:
    text = f"{value:.2f}"
    return text[:-1] if text.endswith("0") else text


QUERIES = 3
MOST_EACH = 50
FEATURES = ("x1", "x2")
DIRECTION = np.array([0.8, 0.6])
"""Direction of increasing grades in the sets that a linear model can order."""
GAP = 0.06
"""Half width of the empty strip between two grades, a tolerance for the model's line."""


@dataclass(frozen=True)
class Plane:
    """A set of documents in the plane.

    Attributes
    ----------
    label : str
    shows : str
        Its purpose, in a sentence.
    draw : (rng, n) -> X (n, 2), y (n,)
        Documents of one query with their grades.
    misled : bool
        True if the grades of its last query are shuffled.
    """

    label: str
    shows: str
    draw: Callable[[np.random.Generator, int], tuple[FloatArray, IntArray]]
    misled: bool = False


def make_plane(name: str = "ring", *, documents_per_query: int = 16, seed: int = 0) -> RankingData:
    """Draw documents of three queries in the plane, by the name of a set in `PLANES`.

    Raises `SettingError` for an unknown name, or a number of documents outside of 1 to 50.
    """
    if name not in PLANES:
        raise SettingError(f"plane={name!r} must be one of {', '.join(map(repr, PLANES))}")
    if not 1 <= documents_per_query <= MOST_EACH:
        raise SettingError(f"documents_per_query={documents_per_query!r} must be from 1 to {MOST_EACH}")
    rng, plane = np.random.default_rng(seed), PLANES[name]
    drawn = [plane.draw(rng, documents_per_query) for _ in range(QUERIES)]
    X = np.vstack([x for x, _ in drawn]).round(2)
    y = np.concatenate([grades for _, grades in drawn])
    if plane.misled:
        y[-documents_per_query:] = rng.permutation(y[-documents_per_query:])
    qid = np.repeat(np.arange(1, QUERIES + 1), documents_per_query)
    return RankingData.from_arrays(X, y, qid, feature_names=FEATURES, name=plane.label)


def _linear(rng: np.random.Generator, n: int) -> tuple[FloatArray, IntArray]:
    """Draw grades 0, 1, 2 in strips across `DIRECTION`, equally many, a gap between strips."""
    cuts = np.array([-0.3, 0.3])
    X, y = np.empty((0, 2)), _dealt(n, 3)
    for grade in y:
        while True:
            x = rng.uniform(-1, 1, 2)
            height = float(x @ DIRECTION)
            if np.searchsorted(cuts, height) == grade and np.abs(cuts - height).min() > GAP:
                break
        X = np.vstack((X, x))
    return X, y


def _ring(rng: np.random.Generator, n: int) -> tuple[FloatArray, IntArray]:
    """Draw grade 0 in the middle, 1 around it, 2 on a ring around both."""
    y = _dealt(n, 3)
    inner, outer = np.array([0.0, 0.42, 0.72])[y], np.array([0.3, 0.62, 0.95])[y]
    radius = np.sqrt(rng.uniform(inner**2, outer**2))
    turn = rng.uniform(0, n)
    angle = 2 * np.pi * (np.arange(n) + rng.uniform(0, 1, n) + turn) / n  # spread all around in every query
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle))), y


def _moons(rng: np.random.Generator, n: int) -> tuple[FloatArray, IntArray]:
    """Draw two interlocking half circles, grades 0 and 1."""
    y, angle = _dealt(n, 2), rng.uniform(0, np.pi, n)
    upper = np.column_stack((np.cos(angle) - 0.5, np.sin(angle) - 0.4))
    lower = np.column_stack((0.5 - np.cos(angle), 0.4 - np.sin(angle)))
    X = 0.62 * np.where(y[:, None] == 1, upper, lower) + rng.normal(0, 0.05, (n, 2))
    return np.clip(X, -1, 1), y


def _xor(rng: np.random.Generator, n: int) -> tuple[FloatArray, IntArray]:
    """Draw grade 1 if both coordinates have the same sign, else 0."""
    y = _dealt(n, 2)
    X = rng.uniform(GAP, 1, (n, 2)) * np.resize([1, 1, -1, -1], n)[:, None]
    X[:, 1] *= np.where(y == 1, 1, -1)
    return X, y


def _dealt(n: int, grades: int) -> IntArray:
    """Return equally many grades of each kind, as far as possible."""
    return np.arange(n, dtype=np.int64) % grades


PLANES: dict[str, Plane] = {
    "linear": Plane("Linear", "Grades grow in one direction: one arrow w orders everything.", _linear),
    "ring": Plane("Ring", "The best documents lie around the others: no arrow points to all of them.", _ring),
    "moons": Plane("Two moons", "Each grade is a half circle that reaches into the other.", _moons),
    "xor": Plane("XOR", "Good where both coordinates have the same sign: no coordinate helps alone.", _xor),
    "noisy": Plane(
        "One noisy query",
        "Two queries agree on a direction; the grades of the third were dealt at random.",
        _linear,
        misled=True,
    ),
}
"""The sets by their names in `make_plane`."""
