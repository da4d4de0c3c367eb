"""How a sweep chooses among its cells: checked before its runs are made, and kept with its study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted
from rankviz.common.settings import one_of
from rankviz.metrics.evaluation import evaluate
from rankviz.runs.designs import CHOICE, Design
from rankviz.runs.rules import RULES


@dataclass(frozen=True)
class Choice:
    """The arguments of `rankviz.runs.select`: what is chosen by, and how.

    Attributes
    ----------
    metric : str
        A column of what runs tell, of validation parts.
    rule : str
        A name in `rankviz.runs.RULES`.
    per_fold : bool
        Whether each fold has a choice of its own.
    """

    metric: str = "MAP"
    rule: str = "best"
    per_fold: bool = False

    @classmethod
    def of_study(cls, design: Mapping[str, Any]) -> Self | None:
        """Return the choice that is kept beside a study's design; None where none is."""
        return cls(**design[CHOICE]) if CHOICE in design else None

    def beside(self, design: Design) -> dict[str, Any]:
        """Return what a study keeps: the design as plain values, and this choice."""
        return design.to_dict() | {CHOICE: asdict(self)}

    def check(self, design: Design) -> None:
        """Raise `SettingError` for an unknown metric or rule, and for a rule that needs more folds."""
        one_of("metric", self.metric, map(str, evaluate([0.0], [0], qid=[0]).per_query))
        one_of("rule", self.rule, RULES)
        folds, least = 1 if self.per_fold else len(design.folds), RULES[self.rule].least_folds
        if folds < least:
            raise SettingError(
                f"rule={self.rule!r} needs a standard error over {least} folds at least, and each choice is "
                f"made on {counted(folds, 'fold')}: take the rule 'best', or one choice for more folds"
            )

    def __str__(self) -> str:
        many = "a cell for each fold" if self.per_fold else "one cell for all folds"
        return f"validation {self.metric}, rule {self.rule}, {many}"
