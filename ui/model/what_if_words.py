"""Texts of the What if page: changes and their effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankviz.common.numbers import with_minus
from rankviz.datasets import Fold
from rankviz.metrics.significance import Comparison
from rankviz.whatif.changes import (
    Change,
    DocumentAdded,
    DocumentOut,
    FeatureOff,
    FeatureSet,
    GradeSet,
    QueryOut,
    QueryWeighed,
    feature_name,
    next_document,
)
from rankviz.whatif.lookup import index_of_document, place_of_query
from ui.model.what_if_lists import Lists, names_by_number
from ui.shell.texts import escaped

WEIGHT_HELP = "Multiplies its pairs."
TYPED_HELP = "One document per line, LETOR text or numbers; values are normalised."
TOO_LONG = "The changes are too long for a link ({long:,} of {longest:,} letters): save the program."
IN_ADDRESS = "Link with every setting:"
SCRIPT_HELP = "Trains with and without the changes."
ALREADY = (
    "{above} (grade {first}) already has a higher grade than {below} (grade {second}); the model disagrees."
)
PART_HELP = "Validation queries judge the model."
QUERIES = "Change of {metric}, both values with the new grades. Highlighted: the query shown. {about}."
ONE_DOCUMENT = "This query has only one document."
SAME = "Choose two different documents."

METRIC = "NDCG@10"
NOTHING_YET = {
    "train": "Drag a document above another: the ranking updates.",
    "vali": "Drag a document above another: its grade changes.",
}
NOT_TRAINED = "No training query has changed."
OF_THE_PART = {
    "train": "Changes to this query train the model again.",
    "vali": "Not a training query: changes affect only its metric.",
}
OF_THE_VALUE = "Now {value:.4g}; this query: {low:.4g} to {high:.4g}."
LEAVE_OUT = "× in a row leaves out its document."
TOO_SLOW = "{model} takes {cost} to train here, too long. Choose fewer features, or RankSVM."
REFUSED = "{changes} of this link {are} not possible here and left out. {reason}: {first}."


def of_change(change: Change, fold: Fold) -> str:
    """Describe a change of the list, for Markdown."""
    data = fold.train if isinstance(change, FeatureOff) else fold.parts[change.part(fold)]
    match change:
        case GradeSet():
            was = _grade_before(change, fold)
            text = f"{_document(change, fold)}: grade {was}{change.grade}"
        case DocumentOut():
            text = f"{_document(change, fold)} left out"
        case FeatureSet():
            name = feature_name(data, change.feature)
            text = f"{_document(change, fold)}: {name} = {_number(change.value)}"
        case DocumentAdded():
            text = f"new document in query {change.query}, grade {change.grade}"
        case QueryOut():
            text = f"query {change.query} left out of training"
        case QueryWeighed():
            text = f"query {change.query}: weight {change.weight:g}×"
        case FeatureOff():
            text = f"{feature_name(data, change.feature)} left out of all documents"
        case _:
            text = change.words(data)
    return escaped(text)


def _document(change: Any, fold: Fold) -> str:
    data = fold.parts[change.part(fold)]
    new = change.document - next_document(data) + 1
    name = f"new document {new}" if new > 0 else names_by_number(data, change.query)[change.document]
    return f"{name} of query {change.query}"


def _grade_before(change: GradeSet, fold: Fold) -> str:
    data = fold.parts[change.part(fold)]
    if place_of_query(data, change.query) is None or change.document >= next_document(data):
        return ""
    return f"{data.y[index_of_document(data, change.query, change.document)]} → "


def _number(value: float) -> str:
    return with_minus(value, ".4g")


@dataclass(frozen=True)
class OfQuery:
    """The metric of the shown query.

    `as_was` is without any change; `old` and `new` are for the old and the new order, with the present
    grades.
    """

    as_was: float
    old: float
    new: float


def answer(
    found: Lists, n_changes: int, marked: int | None, own: OfQuery, vali: Comparison, *, trained: bool
) -> str:
    """Describe the effects of changes on the marked document, its query, and the validation part."""
    if n_changes == 0:
        return NOTHING_YET[found.part]
    place = _of_the_document(found, marked)
    head = place or ("With this change" if n_changes == 1 else f"With these {n_changes} changes")
    joined = ", its" if place else " the"
    if not trained:
        return f"{head}{joined} query has {METRIC} {own.new:.4f}, before {own.as_was:.4f}. {NOT_TRAINED}"
    return f"{head}{joined} query {_of_the_query(own)}. {_of_validation(vali)}"


def _of_the_document(found: Lists, marked: int | None) -> str:
    """Describe the move of a document; "" if it is not in this list."""
    one = None if marked is None else found.find(marked)
    if one is None:
        return ""
    rank = found.rank(one.number)
    now, name = (rank or 0) + 1, escaped(one.name)
    if one.before is None:
        return f"{name} enters at rank {now} of {len(found.now)}"
    was = one.before + 1
    if was == now:
        return f"{name} stays at rank {now} of {len(found.now)}"
    return f"{name} {'rises' if now < was else 'falls'} from rank {was} to {now} of {len(found.now)}"


def _of_the_query(own: OfQuery) -> str:
    judged = "" if abs(own.old - own.as_was) < 5e-5 else " with the new grades"
    if abs(own.new - own.old) < 5e-5:
        return f"keeps {METRIC} {own.new:.4f}{judged}"
    return f"goes from {METRIC} {own.old:.4f} to {own.new:.4f}{judged}"


def _of_validation(found: Comparison) -> str:
    """Describe the mean over validation queries, with its interval."""
    if found.n_queries < 2:
        return "Too few validation queries to compare."
    if found.n_uneven == 0:
        return f"{METRIC} of all validation queries is unchanged."
    change = f"{with_minus(found.difference, '+.4f')}, {found.interval.in_words('+.4f')}"
    if not found.distinguishable:
        few = f", {found.n_uneven} of them changed" if found.n_uneven is not None else ""
        return f"No significant difference on {found.n_queries} validation queries{few} ({change})."
    word = "gain" if found.difference > 0 else "loss"
    return f"Significant {word} on {found.n_queries} validation queries ({change})."
