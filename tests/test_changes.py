"""Changes of data as values: what they leave, what they refuse, and what JSON keeps of them."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from rankviz import DataError, Fold, RankingData, SettingError
from rankviz.datasets import make_fold
from rankviz.datasets.samples import Sample
from rankviz.whatif.changes import (
    Change,
    DocumentAdded,
    DocumentOut,
    FeatureOff,
    FeatureSet,
    GradeSet,
    OnlyQueries,
    OtherDraw,
    QueryOut,
    QueryWeighed,
    SomeQueries,
    WrongGrades,
    changed,
    grades_to_prefer,
    next_document,
)

X = np.arange(12.0).reshape(6, 2)
DATA = RankingData.from_arrays(
    X, [2, 0, 1, 0, 1, 0], ["a", "a", "a", "b", "b", "c"], document_ids=list("tuvwxy"), name="part"
)
EVERY: list[Change] = [
    QueryOut("a"),
    QueryWeighed("a", 10.0),
    OnlyQueries(("c", "a")),
    DocumentOut("a", 1),
    GradeSet("b", 3, 4),
    FeatureSet("a", 2, 1, -7.0),
    FeatureOff(0),
    DocumentAdded("b", 6, (0.5, 1.5), 3, "z"),
    SomeQueries(0.5, 1),
    WrongGrades(0.1),
    OtherDraw(1),
]


def described(data: RankingData) -> list[tuple[object, str, int, list[float]]]:
    assert data.document_ids is not None
    ids = data.document_ids.tolist()
    queries = [data.query_of(i) for i in range(data.n_documents)]
    return list(zip(queries, ids, data.y.tolist(), data.X.tolist(), strict=True))


@pytest.mark.parametrize("change", EVERY, ids=lambda change: type(change).__name__)
def test_nothing_is_changed_in_place(change: Change) -> None:
    before = DATA.digest
    changed(DATA, [change])
    assert replace(DATA).digest == before


def test_what_changes_leave() -> None:
    rows = described(DATA)
    assert described(changed(DATA, [QueryOut("a")])) == rows[3:]
    assert described(changed(DATA, [OnlyQueries(("c", "a"))])) == [*rows[:3], rows[5]]
    assert described(changed(DATA, [DocumentOut("a", 1)])) == [rows[0], *rows[2:]]
    assert changed(DATA, [GradeSet("b", 3, 4)]).y.tolist() == [2, 0, 1, 4, 1, 0]
    assert changed(DATA, [FeatureSet("a", 2, 1, -7.0)]).X[2].tolist() == [4.0, -7.0]
    off = changed(DATA, [FeatureOff(0)]).X
    assert not off[:, 0].any()
    np.testing.assert_array_equal(off[:, 1], X[:, 1])
    added = changed(DATA, [DocumentAdded("b", 6, (0.5, 1.5), 3, "z")])
    assert described(added) == [*rows[:5], ("b", "z", 3, [0.5, 1.5]), rows[5]]
    assert added.rows.tolist() == [0, 1, 2, 3, 4, 6, 5]


def test_names_hold_whatever_was_left_out_before() -> None:
    both = changed(DATA, [DocumentOut("a", 0), QueryOut("b"), GradeSet("a", 2, 3), GradeSet("c", 5, 1)])
    assert [(query, name, grade) for query, name, grade, _ in described(both)] == [
        ("a", "u", 0),
        ("a", "v", 3),
        ("c", "y", 1),
    ]


def test_a_grade_keeps_the_features_themselves() -> None:
    assert changed(DATA, [GradeSet("b", 3, 4)]).X is DATA.X


def test_a_document_that_was_added_can_be_changed() -> None:
    added = DocumentAdded("b", next_document(DATA), (0.0, 0.0))
    data = changed(DATA, [added, GradeSet("b", added.document, 2), FeatureSet("b", added.document, 0, 9.0)])
    assert (data.y[5], data.X[5].tolist()) == (2, [9.0, 0.0])


def test_a_fold_is_changed_where_the_query_is() -> None:
    fold = make_fold(n_queries=10, documents_per_query=(4, 8), seed=0)
    query = fold.vali.query_labels[0]
    document = int(fold.vali.rows[0])
    after = changed(fold, [GradeSet(query, document, 9), FeatureOff(1)])
    assert isinstance(after, Fold)
    assert after.vali.y[0] == 9
    assert all(not part.X[:, 1].any() for part in after.parts.values())
    np.testing.assert_array_equal(after.train.y, fold.train.y)
    only = changed(fold, [OnlyQueries(tuple(fold.train.query_labels[:2]))])
    assert (only.train.n_queries, only.test) == (2, fold.test)
    with pytest.raises(DataError, match="no query 'nowhere'"):
        changed(fold, [QueryOut("nowhere")])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([QueryOut("d")], "no query 'd'"),
        ([QueryOut("a"), GradeSet("a", 0, 1)], "no query 'a'"),
        ([DocumentOut("a", 3)], "no document 3 in query a"),
        ([DocumentOut("a", 1), GradeSet("a", 1, 1)], "no document 1 in query a"),
        ([DocumentOut("c", 5)], "no document of query c would remain"),
        ([QueryOut("a"), QueryOut("b"), QueryOut("c")], "no query would remain"),
        ([OnlyQueries(())], "no query would remain"),
        ([QueryWeighed("a", 0.0)], "the weight 0.0"),
        ([GradeSet("a", 0, -1)], "-1"),
        ([FeatureSet("a", 0, 2, 1.0)], "no feature 2"),
        ([FeatureSet("a", 0, 0, float("nan"))], "the value nan"),
        ([FeatureOff(-1)], "no feature -1"),
        ([DocumentAdded("a", 3, (0.0, 0.0))], "number 3, which another one has"),
        ([DocumentAdded("a", 6, (0.0,))], "a new document with 1 features"),
    ],
)
def test_refuses_what_is_not_there(changes: list[Change], words: str) -> None:
    with pytest.raises(DataError, match=words):
        changed(DATA, changes)


def test_words() -> None:
    assert [change.words(DATA) for change in EVERY] == [
        "query a left out",
        "query a counts 10 times",
        "only 2 queries",
        "document u of query a left out",
        "document w of query b has grade 4",
        "document v of query a has feature 2 = -7",
        "feature 1 off",
        "document z added to query b with grade 3",
        "50\N{NO-BREAK SPACE}% of the training queries, draw 1",
        "10\N{NO-BREAK SPACE}% wrong training grades, draw 0",
        "drawn with seed 1",
    ]


def test_random_changes_are_the_samples_of_runs() -> None:
    train = make_fold(n_queries=20, seed=0).train
    sample = Sample(share=0.5, flipped=0.1, draw=3)
    both = changed(train, [WrongGrades(0.1, 3), SomeQueries(0.5, 3)])
    assert both.digest == sample.of(train).digest
    assert both.n_queries == train.n_queries // 2
    wrong = changed(train, [WrongGrades(0.1, 3)])
    assert int((wrong.y != train.y).sum()) == round(0.1 * train.n_documents)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SomeQueries(0.0),
        lambda: SomeQueries(1.5),
        lambda: WrongGrades(float("nan")),
        lambda: WrongGrades(0.1, -1),
        lambda: OtherDraw(-1),
        lambda: OtherDraw(2**40),
    ],
)
def test_random_changes_refuse_values_out_of_range(make: Callable[[], Change]) -> None:
    with pytest.raises(SettingError, match="must be"):
        make()


HIGHEST = 2


def two(above: int, below: int) -> RankingData:
    """One query with two documents of these grades."""
    return RankingData.from_arrays([[0.0], [1.0]], [above, below], ["q", "q"])


@pytest.mark.parametrize(("above", "below"), list(product(range(HIGHEST + 1), repeat=2)))
@pytest.mark.parametrize("moved", [0, 1])
def test_the_pair_is_turned_by_the_least_change(above: int, below: int, moved: int) -> None:
    data = two(above, below)
    found = grades_to_prefer(data, "q", 0, 1, moved, HIGHEST)
    after = changed(data, found).y
    assert after[0] > after[1]
    assert set(after.tolist()) <= set(range(HIGHEST + 1))
    assert (found == []) == (above > below)
    cost = np.abs(after - data.y).sum()
    others = [pair for pair in product(range(HIGHEST + 1), repeat=2) if pair[0] > pair[1]]
    assert cost == min(abs(a - above) + abs(b - below) for a, b in others)
    other = 1 - moved
    if after[other] != data.y[other]:  # only where the one that was moved could not do it alone
        assert data.y[other] == (HIGHEST if moved == 0 else 0)


def test_where_all_grades_are_zero_there_is_a_grade_one() -> None:
    assert changed(two(0, 0), grades_to_prefer(two(0, 0), "q", 0, 1, 0, 0)).y.tolist() == [1, 0]
    assert changed(two(0, 0), grades_to_prefer(two(0, 0), "q", 0, 1, 1, 0)).y.tolist() == [1, 0]


def test_a_document_that_is_not_there_is_refused() -> None:
    with pytest.raises(DataError, match="no document 7"):
        grades_to_prefer(two(0, 0), "q", 0, 7, 0, HIGHEST)
