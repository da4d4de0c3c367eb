"""A document dropped at a rank on the What if page: why it is elsewhere, and a next step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankviz.learning.pairs import count_pairs
from rankviz.whatif.changes import GradeSet, QueryWeighed, weights_asked
from rankviz.whatif.lookup import index_of_query, place_of_query
from ui.model import what_if_words as words
from ui.model.what_if_change_list import Line
from ui.model.what_if_editors import dragged, dropped_at, highest, is_of
from ui.model.what_if_lists import Lists, Shown, lists
from ui.model.what_if_words import Asked, Step
from ui.work.jobs import predicted

if TYPE_CHECKING:
    from ui.model.what_if import Page

MORE = 100.0
"""Weight of the shown query that explains why a document is not where it was dropped."""
MOST_FROM_SCRATCH = 2.0
"""Most seconds of training for one more model that only explains."""


def explained(
    page: Page, found: Lists, document: int | None, on: Sequence[Line]
) -> tuple[Asked | None, Step | None]:
    """Return the rank at which a document was dropped last, why it is elsewhere, and a next step."""
    lines = [one for one in on if one.asked and is_of(one, page.query)]
    place = None if document is None else found.rank(document)
    if place is None:
        return None, None
    asked = next((one.asked for one in lines if getattr(one.change, "document", None) == document), 0)
    if not asked and document == dragged(page.query):  # only the other's grade changed
        asked = dropped_at()
    if not 0 < asked <= len(found.now):
        return None, None
    text, step = _because(page, found, place, asked - 1)
    return Asked(asked, text), step


def heavier(page: Page) -> Step | None:
    """Return the step to a larger weight of the shown query; None if the model does not learn from it."""
    learned = page.model.training(page.changes)
    if not page.spec.offers.query_weights or place_of_query(learned, page.query) is None:
        return None
    times = MORE * weights_asked(page.changes).get(page.query, 1.0)
    return Step(words.HEAVIER.format(times=f"{times:,g}"), (QueryWeighed(page.query, times),))


def _because(page: Page, found: Lists, place: int, asked: int) -> tuple[str, Step | None]:
    """Explain why a document at a place is not at the asked one, both counted from 0; "" if it is there."""
    if place == asked:
        return "", None
    own, rises = found.now[place], asked < place
    between = found.now[asked:place] if rises else found.now[place + 1 : asked + 1]
    if all(one.grade >= own.grade if rises else one.grade <= own.grade for one in between):
        return words.grades_allow(len(between), rises=rises), _prefer(page, own, between, rises=rises)
    learned = page.model.training(page.changes)
    if place_of_query(learned, page.query) is None:
        back = Step(words.TO_TRAINING, widgets={"part": "train"}) if page.part != "train" else None
        return words.NOT_LEARNED, back
    weights = weights_asked(page.changes)
    pairs = count_pairs(learned.y, learned.ptr) * [weights.get(one, 1.0) for one in learned.query_labels]
    share = float(pairs[index_of_query(learned, page.query)] / pairs.sum())
    step = heavier(page)
    if step is None or predicted(page.spec).seconds > MOST_FROM_SCRATCH:
        return words.little_weight(page.query, share), step
    more = page.model.outcome([*page.changes, QueryWeighed(page.query, MORE)])
    there = lists(page.fold, page.model.before()[page.part], more, page.part, page.query).rank(own.number)
    rank = 0 if there is None else there
    reached = rank <= asked if rises else rank >= asked
    now = weights.get(page.query, 1.0)
    nearer = rank < place if rises else rank > place
    text = words.little_weight(page.query, share, rank + 1, MORE * now, now, reached=reached, nearer=nearer)
    return text, step if nearer else Step(words.EXPLAIN, widgets={"what-if-why": True})


def _prefer(page: Page, own: Shown, between: Sequence[Shown], *, rises: bool) -> Step:
    """Return the grades that prefer a document to all those between it and its rank, or these to it."""
    grades = [one.grade for one in between]
    if rises:
        grade = min(max(grades) + 1, max(1, highest(page.fold)))
        others = [min(one, grade - 1) for one in grades]
    else:
        grade = max(min(grades) - 1, 0)
        others = [max(one, grade + 1) for one in grades]
    changes = [
        GradeSet(page.query, one.number, other)
        for one, other in zip(between, others, strict=True)
        if one.grade != other
    ]
    return Step(words.prefer(len(between), rises=rises), (*changes, GradeSet(page.query, own.number, grade)))
