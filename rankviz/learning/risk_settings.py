"""The settings of the risk: its weight, the loss, and costs of pairs (see `rankviz.common.settings`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankviz.common.settings import Choice, Positive, Powers, Setting
from rankviz.learning.costs import RULES, check_costs, choices_in_words, cost_words, frozen_costs
from rankviz.learning.losses import LOSSES

LOSS_WEIGHT = Setting(
    name="C",
    symbol="C",
    label="C",
    domain=Positive(),
    default=2.0**-7,
    start=2.0**-4,
    help="Weight of the loss against ½‖w‖²: larger fits the training part more closely. It multiplies the "
    "plain loss, for RankSVM as in chen2017 eq. 22.",
    key="c",
    offer=Powers(-15, 10),
)

LOSS = Setting(
    name="loss",
    symbol="loss",
    label="Loss",
    domain=Choice(LOSSES),
    default="squared_hinge",
    help="What a pair with margin t = f(preferred) − f(other) costs. C means something else with each.",
    key="loss",
)


@dataclass(frozen=True)
class CostDomain:
    """None, the name of a rule, a table λ[r][s], or ("query", a table)."""

    def check(self, name: str, value: object) -> None:
        """Raise `SettingError` unless `value` is a valid choice of costs."""
        check_costs(value)

    def plain(self, value: Any) -> Any:
        """Return the value as nested tuples."""
        return frozen_costs(value)

    @property
    def words(self) -> str:
        """Valid values, in words."""
        return choices_in_words()


COSTS = Setting(
    name="costs",
    symbol="costs",
    label="Costs of pairs",
    domain=CostDomain(),
    default=None,
    help="What multiplies the loss of a pair. "
    + "; ".join(f"{rule.label}: {rule.meaning}" for rule in RULES.values() if rule.meaning)
    + ".",
    key="costs",
    caption=cost_words,
    quiet=True,
)
