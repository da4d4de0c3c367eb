"""Smallest change of grades that makes one document of a query preferred to another."""

from __future__ import annotations

from typing import Any

from rankviz.datasets.types import RankingData
from rankviz.whatif.changes import GradeSet
from rankviz.whatif.lookup import index_of_document

RULE = (
    "A document that is dropped above another gets the least grade above that one's; where there is none, it "
    "gets the highest grade and the other one the grade below. Dropped below another it gets the highest "
    "grade below that one's; where that is 0, it gets 0 and the other one 1."
)
"""The rule of `preferring`, in words."""


def preferring(
    data: RankingData, query: Any, above: int, below: int, moved: int, highest: int
) -> list[GradeSet]:
    """Return the grades that make document `above` of a query preferred to `below`.

    Documents are named by their numbers in `rows`. The grade of the one that was `moved` changes. The other
    grade, listed first, changes only if necessary, because grades lie in 0 … `highest`, at least 1. Empty if
    the order is already so. Raises `DataError` for a query or document that is not there.
    """
    own, other = (int(data.y[index_of_document(data, query, one)]) for one in (above, below))
    if own > other:
        return []
    highest = max(1, highest)
    if moved == above:
        wanted = {below: min(other, highest - 1), above: min(other + 1, highest)}
    else:
        wanted = {above: max(own, 1), below: max(own - 1, 0)}
    held = {above: own, below: other}
    return [GradeSet(query, one, grade) for one, grade in wanted.items() if grade != held[one]]
