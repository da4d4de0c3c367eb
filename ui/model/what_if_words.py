"""Texts of the What if page: changes and their effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankviz.common.numbers import metric_in_words, percent, small, with_minus
from rankviz.datasets import Fold
from rankviz.metrics.significance import Comparison
from rankviz.whatif.changes import (
    Change,
    DocumentAdded,
    DocumentOut,
    FeatureOff,
    FeatureSet,
    GradeSet,
    OtherDraw,
    QueryOut,
    QueryWeighed,
    SomeQueries,
    WrongGrades,
    feature_name,
    next_document,
)
from rankviz.whatif.lookup import index_of_document, place_of_query
from ui.model.what_if_lists import Lists, names_by_number
from ui.shell.texts import escaped

NOT_COUNTED = "not counted"
TOO_MANY_PAIRS = "This query has too many pairs to compare them one by one."
LARGEST_PAIRS = "The {most:,} pairs whose margin changed most."
WEIGHT_HELP = "Multiplies its pairs."
TYPED_HELP = "One document per line, LETOR text or numbers; values are normalised."
TOO_LONG = "The changes are too long for a link ({long:,} of {longest:,} letters): save the program."
IN_ADDRESS = "Link with every setting:"
SCRIPT_HELP = "Trains with and without the changes."
ALREADY = (
    "{above} (grade {first}) already has a higher grade than {below} (grade {second}); the model disagrees. "
    "A larger query weight may convince it."
)
SETTINGS = "Settings: "
"""Before the effect of the sidebar's settings, which the changes of the page do not alter."""
TIGHTER = "RankSVM is trained further here than on Train: values can differ by a few thousandths."
METRIC_HELP = f"Of the answer, the table and the chart. {TIGHTER}"
PART_HELP = "Validation queries judge the model."
QUERIES = "Change of {metric}, both values with the new grades. Highlighted: the query shown. {about}."
ONE_DOCUMENT = "This query has only one document."
SAME = "Choose two different documents."

OTHER_METRIC = (
    "Another metric moves nothing: {metric} judges the same model. Over {n} validation queries: {values}."
)
NOTHING_YET = {
    "train": "Drag a document above another: the ranking updates.",
    "vali": "Drag a document above another: its grade changes.",
}
HALF = "Half of the queries"
WRONG = "10 % wrong grades"
OTHER_DRAW = "Other {drawn}"
DRAWN = "random numbers"
DRAWS_AGAIN = "For training only. Click again for another draw."
OTHER_DRAW_HELP = "For training and for scores. Click again for another draw."
KEEPS = "For training only; {drawn} stay those of all queries. Click again for another draw."
NOT_TRAINED = "No training query has changed."
OF_THE_PART = {
    "train": "Changes to this query train the model again.",
    "vali": "Not a training query: changes affect only its metric.",
}
OF_THE_VALUE = "Now {value:.4g}; this query: {values}."
LEAVE_OUT = "× in a row leaves out its document."
TOO_SLOW = "{model} takes {cost} to train here, too long. Choose {choice}."
FEWER = {"n_components": "fewer features", "n_rounds": "fewer rounds", "starts": "fewer starts"}
"""What to choose less of, by the name of the setting."""
SCORES_ONLY = (
    "{model} is known by its scores only, so it cannot be trained on changed data. Train and Two models show "
    "its lists. Choose another method here."
)
REFUSED = "{changes} of this link {are} not possible here and left out. {reason}: {first}."


def of_change(change: Change, fold: Fold, drawn: str = DRAWN) -> str:
    """Describe a change of the list, for Markdown; `drawn` names what the model draws, "" for nothing."""
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
            text = f"query {change.query}: weight {change.weight:,g}×"
        case FeatureOff():
            text = f"{feature_name(data, change.feature)} left out of all documents"
        case SomeQueries():
            text = f"{percent(change.share)} of the training queries (draw {change.draw})"
        case WrongGrades():
            text = f"{percent(change.share)} wrong training grades (draw {change.draw})"
        case OtherDraw():
            text = f"other {drawn} (seed {change.seed})" if drawn else f"seed {change.seed}: nothing is drawn"
        case _:
            text = change.words(data)
    return escaped(text)


def named(change: Change, fold: Fold, drawn: str = DRAWN, *, subject: bool = False) -> str:
    """Name a change at the start of a sentence, such as "Without feature 7", for Markdown.

    With `subject` the sentence goes on with the document of the change.
    """
    match change:
        case GradeSet():
            text = f"With grade {change.grade}" + ("" if subject else f" for {_document(change, fold)}")
        case DocumentOut():
            text = f"Without {_document(change, fold)}"
        case FeatureSet():
            name = feature_name(fold.parts[change.part(fold)], change.feature)
            text = f"With {name} = {_number(change.value)}"
            text += "" if subject else f" for {_document(change, fold)}"
        case DocumentAdded():
            text = "With a new document" + ("" if subject else f" in query {change.query}")
        case QueryOut():
            text = f"Without query {change.query} in training"
        case QueryWeighed():
            text = f"With weight {change.weight:,g}× of query {change.query}"
        case FeatureOff():
            text = f"Without {feature_name(fold.train, change.feature)}"
        case _:
            return f"With {of_change(change, fold, drawn)}"
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


@dataclass(frozen=True)
class Asked:
    """A drop: the rank at which a document was dropped, and why it is elsewhere; ranks count from 1."""

    rank: int
    because: str


@dataclass(frozen=True)
class Step:
    """A click that may bring a document to its rank, or explains it: changes, or values of widgets to set."""

    label: str
    changes: tuple[Change, ...] = ()
    widgets: dict[str, Any] = field(default_factory=dict)


def answer(
    found: Lists,
    head: str,
    marked: int | None,
    own: OfQuery,
    train: Comparison,
    vali: Comparison,
    *,
    metric: str,
    trained: bool,
    asked: Asked | None = None,
) -> str:
    """Describe the effects of changes on the marked document, its query, and all queries.

    `head` names the changes; it is empty without any.
    """
    if not head:
        return NOTHING_YET[found.part]
    place = _of_the_document(found, marked)
    if asked is not None and place:
        start = f"You asked for rank {asked.rank}: {place}{asked.because}. Query"
    else:
        start = f"{head}, {place} and query" if place else f"{head}, query"
    start = f"{start} {escaped(str(found.query))}"
    if not trained:
        values = metric_in_words(own.new), metric_in_words(own.as_was)
        return f"{start} has {metric} {values[0]}, before {values[1]}. {NOT_TRAINED}"
    return f"{start} {_of_the_query(own, metric)}. {_of_all(train, vali, metric)}"


def head_of(changes: Sequence[Change], fold: Fold, drawn: str, marked: int | None) -> str:
    """Name the change, or count them and name the last; "" without any. The sentence is about `marked`."""
    if not changes:
        return ""
    own = marked is not None and getattr(changes[-1], "document", None) == marked
    name = named(changes[-1], fold, drawn, subject=own)
    if len(changes) == 1:
        return name
    return f"With {len(changes)} changes instead of none (the last: {name[0].lower()}{name[1:]})"


def other_metric(
    metric: str, before: str, means: Mapping[str, float], by_before: Comparison, *, changed: bool
) -> str:
    """Say how the metric chosen last and the one before judge the same rankings."""
    if changed:
        return f" By {before} the same changes make: {by_before.effect(before)}."
    values = " and ".join(f"{name} {metric_in_words(means[name])}" for name in (before, metric))
    return f" {OTHER_METRIC.format(metric=metric, n=by_before.n_queries, values=values)}"


def grades_allow(n: int, *, rises: bool) -> str:
    """Explain by grades why a document is below its asked rank, or above it."""
    place, grade = ("above", "higher") if rises else ("below", "lower")
    have = f"the document {place} has" if n == 1 else f"the {n} documents {place} have"
    return f", because {have} an equal or {grade} grade"


def little_weight(
    query: object,
    share: float,
    rank: int | None = None,
    times: float = 1.0,
    now: float = 1.0,
    *,
    reached: bool = False,
    nearer: bool = True,
) -> str:
    """Say why a rank is missed: few pairs if a larger weight reaches it, else what that does.

    `times` is the larger weight, in place of the weight `now`.
    """
    name = f"query {escaped(str(query))}"
    text = f"{name} has {small(100 * share)} % of the training pairs"
    if rank is None:
        return f"; {text}"
    weight = f"weight {times:,g}×" + (f" instead of {now:,g}×" if now != 1 else "")
    if reached:
        return f", because {text}; with {weight} it is at rank {rank}"
    if not nearer:
        return f"; {weight} for {name} does not help"
    return f"; with {weight} for {name} it would be at rank {rank}"


HEAVIER = "Try weight {times}×"
TO_TRAINING = "Show a training query"
EXPLAIN = "Why?"


def prefer(n: int, *, rises: bool) -> str:
    """Name the step that gives a document a higher grade than n others, or them than it."""
    others = "the other" if n == 1 else f"all {n}"
    return f"Prefer it to {others}" if rises else f"Prefer {others} to it"


NOT_LEARNED = ", because the model does not learn from this query"


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


def _of_the_query(own: OfQuery, metric: str) -> str:
    as_was, old, new = map(metric_in_words, (own.as_was, own.old, own.new))
    judged = "" if old == as_was else " with the new grades"
    if new == old:
        return f"keeps {metric} {new}{judged}"
    return f"goes from {metric} {old} to {new}{judged}"


def _of_all(train: Comparison, vali: Comparison, metric: str) -> str:
    """Describe the mean over validation queries, before it that of training if only that is significant."""
    if vali.distinguishable or not train.distinguishable:
        return _of_validation(vali, metric)
    word = GAINS[train.verdict(metric)]
    text = f"Significant {word} on {train.n_queries} training queries ({_change(train)})."
    return f"{text} {_of_validation(vali, metric)}"


GAINS = {1: "gain", -1: "loss"}


def _change(found: Comparison) -> str:
    return f"{with_minus(found.difference, found.form)}, {found.interval.in_words(found.form)}"


def _of_validation(found: Comparison, metric: str) -> str:
    """Describe the mean over validation queries, with its interval."""
    if found.n_queries < 2:
        return "Too few validation queries to compare."
    if found.n_uneven == 0:
        return f"{metric} of all validation queries is unchanged."
    if not found.distinguishable:
        few = f", {found.n_uneven} of them changed" if found.n_uneven is not None else ""
        return f"No significant difference on {found.n_queries} validation queries{few} ({_change(found)})."
    word = GAINS[found.verdict(metric)]
    return f"Significant {word} on {found.n_queries} validation queries ({_change(found)})."
