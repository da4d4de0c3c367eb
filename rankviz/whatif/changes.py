"""Changes of data, as values: items left out, added or different, applied in order.

`query_labels` name a query; its number in `rows`, the position in the file, names a document. Earlier changes
alter neither. No change modifies its input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, overload

import numpy as np

from rankviz.common.errors import DataError
from rankviz.common.numbers import percent
from rankviz.common.settings import LARGEST_SEED, Whole
from rankviz.datasets.array_checks import grade_array
from rankviz.datasets.parts import take_queries
from rankviz.datasets.samples import Sample
from rankviz.datasets.types import Fold, RankingData
from rankviz.whatif.lookup import (
    feature_checked,
    index_of_document,
    index_of_query,
    no_such_query,
    place_of_query,
    take_documents,
    with_document,
)


class Change(Protocol):
    """One change of data."""

    def apply(self, data: RankingData) -> RankingData:
        """Return the changed data; `DataError` naming a query, document or feature that is not there."""
        ...

    def part(self, fold: Fold) -> str:
        """Return the name of the part of a fold that it changes; "" for all parts."""
        ...

    def words(self, data: RankingData | None = None) -> str:
        """Describe the change in a few words, with the names in the data."""
        ...


@dataclass(frozen=True)
class _OfQuery:
    """A change within one query."""

    query: Any

    def part(self, fold: Fold) -> str:
        """Return the first part that has the query."""
        for name, data in fold.parts.items():
            if place_of_query(data, self.query) is not None:
                return name
        raise no_such_query(self.query, fold.name)


@dataclass(frozen=True)
class _OfDocument(_OfQuery):
    """A change of one document."""

    document: int

    def _words(self, data: RankingData | None) -> str:
        return f"document {document_name(data, self.query, self.document)} of query {self.query}"


@dataclass(frozen=True)
class QueryOut(_OfQuery):
    """A query with all of its documents is left out."""

    def apply(self, data: RankingData) -> RankingData:
        """Return the other queries."""
        q = index_of_query(data, self.query)
        _refuse_nothing_left(data.n_queries, "query")
        return take_queries(data, np.delete(np.arange(data.n_queries), q))

    def words(self, data: RankingData | None = None) -> str:
        """Say "query 7 left out"."""
        return f"query {self.query} left out"


@dataclass(frozen=True)
class QueryWeighed(_OfQuery):
    """The pairs of a query have this weight in training; its data do not change."""

    weight: float

    def apply(self, data: RankingData) -> RankingData:
        """Return the same data; `DataError` for a weight that is not above 0."""
        index_of_query(data, self.query)
        if not (np.isfinite(self.weight) and self.weight > 0):
            raise DataError(
                f"query {self.query} with the weight {self.weight}",
                expected="a finite weight above 0",
                remedy="Leave the query out, or give it a weight above 0.",
                path=data.name or None,
            )
        return data

    def words(self, data: RankingData | None = None) -> str:
        """Say "query 7 counts 10 times"."""
        return f"query {self.query} counts {self.weight:g} times"


@dataclass(frozen=True)
class OnlyQueries:
    """Only these queries are used, in the order of the data; for a fold, of its training part."""

    queries: tuple[Any, ...]

    def apply(self, data: RankingData) -> RankingData:
        """Return the data of these queries."""
        kept = sorted({index_of_query(data, query) for query in self.queries})
        _refuse_nothing_left(len(kept) + 1, "query")
        return take_queries(data, kept)

    def part(self, fold: Fold) -> str:
        """Return the training part."""
        return "train"

    def words(self, data: RankingData | None = None) -> str:
        """Say "only 12 queries"."""
        n = len(self.queries)
        return f"only query {self.queries[0]}" if n == 1 else f"only {n} queries"


class _OfTraining:
    """A change of a training part, or of how a model is trained on it."""

    def part(self, fold: Fold) -> str:
        """Return the training part."""
        return "train"


@dataclass(frozen=True)
class _Drawn(_OfTraining):
    """A change of randomly drawn items; a larger share of a draw contains its smaller ones."""

    share: float
    draw: int = 0

    def __post_init__(self) -> None:
        """Raise `SettingError` for values out of range."""
        _ = self.sample

    @property
    def sample(self) -> Sample:
        """Return the changed training part, as runs have it."""
        raise NotImplementedError

    def apply(self, data: RankingData) -> RankingData:
        """Return the changed data."""
        return self.sample.of(data)


@dataclass(frozen=True)
class SomeQueries(_Drawn):
    """Only a random share of the training queries is learned from."""

    @property
    def sample(self) -> Sample:
        """Return the sample of queries."""
        return Sample(share=self.share, draw=self.draw)

    def words(self, data: RankingData | None = None) -> str:
        """Say "50 % of the training queries, draw 0"."""
        return f"{percent(self.share)} of the training queries, draw {self.draw}"


@dataclass(frozen=True)
class WrongGrades(_Drawn):
    """A random share of the training documents has another grade."""

    @property
    def sample(self) -> Sample:
        """Return the sample with flipped grades."""
        return Sample(flipped=self.share, draw=self.draw)

    def words(self, data: RankingData | None = None) -> str:
        """Say "10 % wrong training grades, draw 0"."""
        return f"{percent(self.share)} wrong training grades, draw {self.draw}"


@dataclass(frozen=True)
class OtherDraw(_OfTraining):
    """Landmarks or frequencies are drawn with this seed; the data do not change."""

    seed: int

    def __post_init__(self) -> None:
        """Raise `SettingError` for a value that is not a seed."""
        Whole(0, LARGEST_SEED).check("seed", self.seed)

    def apply(self, data: RankingData) -> RankingData:
        """Return the same data."""
        return data

    def words(self, data: RankingData | None = None) -> str:
        """Say "drawn with seed 1"."""
        return f"drawn with seed {self.seed}"


@dataclass(frozen=True)
class DocumentOut(_OfDocument):
    """A document is left out."""

    def apply(self, data: RankingData) -> RankingData:
        """Return the other documents."""
        i = index_of_document(data, self.query, self.document)
        own = data.query_slice(index_of_query(data, self.query))
        _refuse_nothing_left(own.stop - own.start, f"document of query {self.query}")
        return take_documents(data, np.delete(np.arange(data.n_documents), i))

    def words(self, data: RankingData | None = None) -> str:
        """Say "document 3 of query 7 left out"."""
        return f"{self._words(data)} left out"


@dataclass(frozen=True)
class GradeSet(_OfDocument):
    """A document has another grade."""

    grade: int

    def apply(self, data: RankingData) -> RankingData:
        """Return the data with that grade; X is the same array."""
        y = data.y.copy()
        y[index_of_document(data, self.query, self.document)] = _grade(self.grade, data.name)
        return replace(data, y=y)

    def words(self, data: RankingData | None = None) -> str:
        """Say "document 3 of query 7 has grade 2"."""
        return f"{self._words(data)} has grade {self.grade}"


@dataclass(frozen=True)
class FeatureSet(_OfDocument):
    """A feature of a document, counted from 0, has another value."""

    feature: int
    value: float

    def apply(self, data: RankingData) -> RankingData:
        """Return the data with that value."""
        i, X = index_of_document(data, self.query, self.document), data.X.copy()
        X[i, feature_checked(data, self.feature)] = _finite(self.value, data.name)
        return replace(data, X=X)

    def words(self, data: RankingData | None = None) -> str:
        """Say "document 3 of query 7 has feature 5 = 0.25"."""
        return f"{self._words(data)} has {feature_name(data, self.feature)} = {self.value:g}"


@dataclass(frozen=True)
class FeatureOff:
    """A feature, counted from 0, is 0 for all documents of all parts."""

    feature: int

    def apply(self, data: RankingData) -> RankingData:
        """Return the data with the feature set to 0."""
        X = data.X.copy()
        X[:, feature_checked(data, self.feature)] = 0.0
        return replace(data, X=X)

    def part(self, fold: Fold) -> str:
        """Return "" for all parts."""
        return ""

    def words(self, data: RankingData | None = None) -> str:
        """Say "feature 5 off"."""
        return f"{feature_name(data, self.feature)} off"


@dataclass(frozen=True)
class DocumentAdded(_OfQuery):
    """A new document, the last one of its query; `document` will be its number in `rows`."""

    document: int
    features: tuple[float, ...]
    grade: int = 0
    name: str = ""

    def apply(self, data: RankingData) -> RankingData:
        """Return the data with the document."""
        if (data.rows == self.document).any():
            raise DataError(
                f"a new document with the number {self.document}, which another one has",
                expected="a number that no document has",
                remedy=f"Choose {next_document(data)}.",
                path=data.name or None,
            )
        if len(self.features) != data.n_features:
            raise DataError(
                f"a new document with {len(self.features)} features",
                expected=f"{data.n_features} features, as the others have",
                remedy="Give a value for every feature.",
                path=data.name or None,
            )
        x = np.array([_finite(value, data.name) for value in self.features])
        return with_document(data, self.query, self.document, x, _grade(self.grade, data.name), self.name)

    def words(self, data: RankingData | None = None) -> str:
        """Say "document 90 added to query 7 with grade 1"."""
        called = self.name or f"{self.document}"
        return f"document {called} added to query {self.query} with grade {self.grade}"


@overload
def changed(data: RankingData, changes: Sequence[Change]) -> RankingData: ...
@overload
def changed(data: Fold, changes: Sequence[Change]) -> Fold: ...
def changed(data: RankingData | Fold, changes: Sequence[Change]) -> RankingData | Fold:
    """Apply changes in order to a part, or to the affected parts of a fold.

    Raises `DataError` that names the missing query, document or feature.
    """
    for change in changes:
        if isinstance(data, Fold):
            affected = change.part(data)
            parts = {n: change.apply(p) if affected in ("", n) else p for n, p in data.parts.items()}
            data = Fold(**parts, name=data.name)
        else:
            data = change.apply(data)
    return data


def next_document(data: RankingData) -> int:
    """Return a number for a new document that no other one has."""
    return int(data.rows.max(initial=-1)) + 1


def weights_asked(changes: Sequence[Change]) -> dict[Any, float]:
    """Return the weights of the queries in these changes by their labels; other queries have weight 1."""
    asked: dict[Any, float] = {}
    for change in changes:
        if isinstance(change, QueryWeighed):
            asked[change.query] = asked.get(change.query, 1.0) * change.weight
    return asked


def seed_asked(changes: Sequence[Change]) -> int | None:
    """Return the seed of the last `OtherDraw` in these changes; None without one."""
    seeds = [change.seed for change in changes if isinstance(change, OtherDraw)]
    return seeds[-1] if seeds else None


def document_name(data: RankingData | None, query: object, document: int) -> str:
    """Return a document's name: its id if it has one, else its number."""
    if data is None or data.document_ids is None or place_of_query(data, query) is None:
        return str(document)
    own = data.query_slice(index_of_query(data, query))
    found = np.flatnonzero(data.rows[own] == document)
    name = str(data.document_ids[own.start + int(found[0])]) if len(found) else ""
    return name or str(document)


def feature_name(data: RankingData | None, feature: int) -> str:
    """Return a feature's name; without one, "feature 5" for index 4."""
    names = None if data is None else data.feature_names
    return f"feature {feature + 1}" if names is None or feature >= len(names) else names[feature]


def _grade(grade: int, name: str) -> int:
    return int(grade_array([grade], 1, name)[0])


def _finite(value: float, name: str) -> float:
    if not np.isfinite(value):
        raise DataError(
            f"a feature with the value {value}",
            expected="a finite number",
            remedy="Give one.",
            path=name or None,
        )
    return float(value)


def _refuse_nothing_left(there: int, what: str) -> None:
    if there < 2:
        raise DataError(
            f"no {what} would remain",
            expected="at least one that remains",
            remedy="Leave the query out, or keep one." if "document" in what else "Keep one.",
        )


GRADE_RULE = (
    "A document that is dropped above another gets the least grade above that one's; where there is none, it "
    "gets the highest grade and the other one the grade below. Dropped below another it gets the highest "
    "grade below that one's; where that is 0, it gets 0 and the other one 1."
)
"""The rule of `preferring`, in words."""


def grades_to_prefer(
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
