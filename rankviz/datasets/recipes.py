"""Recipes of synthetic data sets: all arguments as a value, and as the data set's name.

The name is complete, so a link with the name can recreate the data set elsewhere.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Self

from rankviz.datasets.synthetic import make_fold
from rankviz.datasets.types import Fold

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
        """Mean number of documents: Q (b − a + 1) / ln((b + 1) / a) for sizes log-uniform from a to b."""
        if not 1 <= self.smallest <= self.largest:
            return 0.0
        width = self.largest + 1 - self.smallest
        return self.queries * width / math.log((self.largest + 1) / self.smallest)

    @property
    def expected_bytes(self) -> float:
        """Approximate size of its text."""
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
