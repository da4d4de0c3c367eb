"""Ranking data in the plane; each set shows one ability or limit of a scoring model.

Documents lie in [−1, 1]². To add a set: a function that draws positions and grades of one query, and an entry
in `PLANES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import SettingError
from rankviz.datasets.types import RankingData

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
