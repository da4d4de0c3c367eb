"""Training data of a run: the whole part, some queries, or partly wrong grades.

Draws are nested: a larger share contains the queries and wrong grades of a smaller one, with the same wrong
values. So curves over a share show the effect of added data, not of new draws. Only the training data change:
features are drawn from all training documents, without their grades.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from rankviz.common.arrays import IntArray
from rankviz.common.errors import SettingError
from rankviz.common.settings import LARGEST_SEED, Setting, Share, Steps, Typed, Whole
from rankviz.datasets.parts import take_queries
from rankviz.datasets.types import RankingData

QUERY_SHARE = Setting(
    name="share",
    symbol="share",
    label="Share of training queries",
    domain=Share(positive=True),
    default=1.0,
    help="Share of training queries for learning, drawn at random; at least one query. Features are drawn "
    "from all training documents.",
    offer=Steps((1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1.0)),
    caption=lambda share: f"{100 * share:.3g} % of the training queries",
    quiet=True,
)

FLIPPED = Setting(
    name="flipped",
    symbol="flipped",
    label="Share of grades flipped",
    domain=Share(),
    default=0.0,
    help="Share of training documents, drawn at random, whose grade is replaced by another one. All other "
    "grades are equally likely. Validation and test keep theirs.",
    offer=Steps((0.0, 0.05, 0.1, 0.2, 0.3, 0.4)),
    caption=lambda share: f"{100 * share:.3g} % of the training grades flipped",
    quiet=True,
)

DRAW = Setting(
    name="draw",
    symbol="draw",
    label="Draw",
    domain=Whole(least=0, most=LARGEST_SEED),
    default=0,
    help="Which queries or grades are drawn. A draw's larger shares contain its smaller ones.",
    offer=Typed(0, LARGEST_SEED),
    caption=lambda draw: f"draw {draw}",
    quiet=True,
    draws=True,
)

SETTINGS = (QUERY_SHARE, FLIPPED, DRAW)
"""Settings in the order of the fields of `Sample`."""


@dataclass(frozen=True)
class Sample:
    """A sample of a training part; by default, all of it.

    Attributes
    ----------
    share : float
        Share of the queries, above 0.
    flipped : float
        Share of the documents with a wrong grade.
    draw : int
        Seed of both.
    """

    share: float = QUERY_SHARE.default
    flipped: float = FLIPPED.default
    draw: int = DRAW.default

    def __post_init__(self) -> None:
        """Raise `SettingError` for values out of range, and for a draw if nothing is drawn."""
        for setting in SETTINGS:
            object.__setattr__(self, setting.name, setting.checked(getattr(self, setting.name)))
        if self.draw != DRAW.default and not self.drawn:
            raise SettingError(
                f"draw={self.draw} is not read where all training queries are learned from with their own "
                "grades; it is with share below 1 or flipped above 0"
            )

    @property
    def drawn(self) -> bool:
        """True if anything is left out or changed."""
        return self.share < 1.0 or self.flipped > 0.0

    @property
    def values(self) -> dict[str, Any]:
        """Return the values other than the default, by name."""
        return {name: value for name, value in asdict(self).items() if value != getattr(Sample, name)}

    @property
    def words(self) -> str:
        """Return the sample in words; "" for the whole part."""
        return ", ".join(filter(None, (setting.words(getattr(self, setting.name)) for setting in SETTINGS)))

    def of(self, train: RankingData) -> RankingData:
        """Return the sample of a training part; X is the same array if all queries are used."""
        by_query, by_grade = np.random.default_rng(self.draw).spawn(2)
        if self.flipped > 0.0:
            train = replace(train, y=_flipped(train.y, self.flipped, by_grade))
        if self.share < 1.0:
            order = by_query.permutation(train.n_queries)
            train = take_queries(train, np.sort(order[: n_queries(train.n_queries, self.share)]))
        return train


def n_queries(all_of_them: int, share: float) -> int:
    """Return the number of queries in a share of them: at least one, if there is one."""
    return min(all_of_them, max(1, round(share * all_of_them)))


def _flipped(y: IntArray, share: float, rng: np.random.Generator) -> IntArray:
    """Return grades (n,) of which a share is replaced by another grade; unchanged if there is only one."""
    levels, code = np.unique(y, return_inverse=True)
    order = rng.permutation(len(y))
    others = rng.integers(1, max(2, len(levels)), size=len(y))  # random cyclic steps to another grade
    chosen = order[: round(share * len(y))]
    code[chosen] = (code[chosen] + others[chosen]) % max(1, len(levels))
    flipped: IntArray = levels[code]
    return flipped
