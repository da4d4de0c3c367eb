"""A system known by its scores only: a name, and no training."""

from __future__ import annotations

import re
from typing import Any, Self

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Callback, Report
from rankviz.common.settings import Setting
from rankviz.datasets.score_files import safe_name
from rankviz.datasets.types import RankingData
from rankviz.models.ranker import Ranker

_DIGEST = re.compile(r"[0-9a-f]{16}")


class SystemDomain:
    """Names of systems with the digest of their scores, NAME@DIGEST; "" for no system."""

    words = "a name of safe signs, @, and sixteen hexadecimal digits"

    def check(self, name: str, value: object) -> None:
        """Raise `SettingError` for any other value."""
        called, at, digest = value.rpartition("@") if isinstance(value, str) else ("", "", "")
        if value != "" and not (at and safe_name(called) == called and _DIGEST.fullmatch(digest)):
            raise SettingError(f"{name}={value!r} must be {self.words}")

    def plain(self, value: Any) -> str:
        """Return the text."""
        return str(value)


SYSTEM = Setting(
    name="system",
    symbol="system",
    label="System",
    domain=SystemDomain(),
    default="",
    help="A system whose scores were added on the Data page.",
    key="system",
    caption=lambda value: value.rpartition("@")[0] or "no system",
    named=True,
)


class GivenScores(Ranker):
    """A system that was given by its scores: they belong to the documents of a fold, so it cannot be trained.

    `rankviz.runs.given` makes its runs.
    """

    def __init__(self, system: str = "", random_state: int = 0) -> None:
        self.system, self.random_state = system, random_state

    def fit_data(self, data: RankingData, *, callback: Callback | None = None) -> Self:
        """Raise `SettingError`: there is nothing to train."""
        if not self.system:
            raise SettingError("no system is chosen: add its scores on the Data page, then choose it")
        raise SettingError(
            f"{SYSTEM.format(self.system)} has no scores on this fold with seed {self.random_state}: choose "
            "a fold and a seed that it has, or add its scores again with these too"
        )

    def scores(self, X: FloatArray, report: Report) -> FloatArray:
        """Raise `SettingError`, as `fit_data`."""
        raise SettingError("scores that were given cannot be computed for other documents")
