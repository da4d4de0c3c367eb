"""Facts about a loss that solvers, memory plans and pages read, whatever the loss is a function of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, Self

from rankviz.common.settings import Setting

FAMILIES = {
    "pointwise": "one document",
    "pointwise and pairwise": "one document, and two",
    "pairwise": "two documents of a query",
    "listwise": "all documents of a query",
    "boosting": "trees or features, one after another",
    "other": "not declared",
}
"""Families of methods, with what one term of their objective is about."""


class AnyLoss:
    """Facts about a loss.

    Attributes
    ----------
    label, formula : str
        Name, and formula in one line.
    family : str
        The key of its family in `FAMILIES`.
    method : str
        The name of the method with this loss in papers; "" if it is RankSVM.
    of_pairs : bool
        True if it is a function of one margin, summed over preference pairs with costs.
    by_query : bool
        True if it is a sum over queries, and a constant added to all scores of a query changes nothing.
    quadratic : bool
        True if its risk is quadratic in the scores, so that one linear solve trains it for every C.
    convex : bool
        If False, no solver can bound its distance from the minimum.
    smooth : bool
        True if its derivative is continuous.
    falling : bool
        True if ℓ'(t) ≤ 0 for every margin t. Then no dual variable α = −C·c·ℓ'(t) is negative. The default
        assumes that it may rise.
    curvature : float
        The largest second derivative, also at a corner; infinite without a bound.
    by_continuation : bool
        True if it is the limit of smoothed hinges (see `rankviz.learning.hinge`).
    smoothing : float
        Its width of smoothing, for the trace, if it is annealed; 0 if not.
    unlisted : str
        Name of the most similar loss that needs no list of pairs; "" without one.
    settings : tuple of Setting
        Settings of its own, each with a field of the same name.
    """

    label: str
    formula: str
    curvature: float
    convex: ClassVar[bool]
    smooth: ClassVar[bool]
    family: ClassVar[str] = "pairwise"
    method: ClassVar[str] = ""
    of_pairs: ClassVar[bool] = True
    by_query: ClassVar[bool] = True
    quadratic: ClassVar[bool] = False
    falling: ClassVar[bool] = False
    by_continuation: ClassVar[bool] = False
    smoothing: ClassVar[float] = 0.0
    unlisted: ClassVar[str] = ""
    settings: ClassVar[tuple[Setting, ...]] = ()

    def surrogate(self) -> AnyLoss:
        """Return the initial loss of training: itself, or a smooth approximation."""
        return self

    def at(self, C: float, total_cost: Callable[[], float]) -> AnyLoss:
        """Return the loss trained at C with total cost Σc_ij of pairs: itself for most."""
        return self

    def with_settings(self, value_of: Callable[[Setting], Any]) -> Self:
        """Return the loss with its own settings from `value_of`."""
        if not self.settings or not is_dataclass(self):
            return self
        known = {one.name for one in fields(self)}
        return replace(self, **{s.name: value_of(s) for s in self.settings if s.name in known})
