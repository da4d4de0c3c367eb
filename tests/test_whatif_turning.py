"""Grades that turn a pair, pairs that turned, and documents that somebody typed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rankviz import DataError, RankingData
from rankviz.whatif.changes import changed, grades_to_prefer
from rankviz.whatif.lookup import typed_documents
from rankviz.whatif.outcomes import changed_pairs, count_changed_pairs

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


@pytest.fixture
def ranked() -> tuple[np.ndarray, np.ndarray, RankingData]:
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(4), [5, 1, 9, 30])
    data = RankingData.from_arrays(rng.random((len(qid), 2)), rng.integers(0, 3, len(qid)), qid)
    scores = rng.integers(0, 6, (2, len(qid))).astype(float)  # with ties
    return scores[0], scores[1], data


def naive(before: np.ndarray, after: np.ndarray, data: RankingData) -> tuple[int, int, int]:
    right = wrong = pairs = 0
    for i, j in product(range(data.n_documents), repeat=2):
        if data.qid[i] == data.qid[j] and data.y[i] > data.y[j]:
            pairs += 1
            right += bool(after[i] > after[j] and before[i] <= before[j])
            wrong += bool(after[i] <= after[j] and before[i] > before[j])
    return right, wrong, pairs


@pytest.mark.parametrize("block", [1, 7, 4_000_000])
def test_turned_pairs_are_counted(
    block: int, ranked: tuple[np.ndarray, np.ndarray, RankingData], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankviz.whatif.outcomes._BLOCK", block)
    found = count_changed_pairs(*ranked)
    assert (found.right, found.wrong, found.n_pairs) == naive(*ranked)
    assert found.right > 0
    assert found.wrong > 0


def test_the_pairs_of_a_query_that_turned(ranked: tuple[np.ndarray, np.ndarray, RankingData]) -> None:
    before, after, data = ranked
    own = data.query_slice(3)
    table = changed_pairs(before[own], after[own], data.y[own])
    y = data.y[own]
    assert (y[table["winner"]] > y[table["loser"]]).all()
    counted = count_changed_pairs(
        before[own], after[own], RankingData.from_arrays(data.X[own], y, data.qid[own])
    )
    assert (table["right"].sum(), (~table["right"]).sum()) == (counted.right, counted.wrong)
    change = (table["after"] - table["before"]).abs()
    assert change.is_monotonic_decreasing


def test_documents_are_read_as_letor_or_as_numbers() -> None:
    letor = "2 qid:9 1:0.5 3:1e-2 # docid = x\n\n# a comment\n0 qid:9 2:1\n"
    found = typed_documents(letor, 4)
    assert [one.grade for one in found] == [2, 0]
    assert [one.features for one in found] == [(0.5, 0.0, 0.01, 0.0), (0.0, 1.0, 0.0, 0.0)]
    for text in ("1 2 -3", "1,2,-3", "1; 2;\t-3", " 1\t2 , -3 "):
        assert typed_documents(text, 3)[0].features == (1.0, 2.0, -3.0)
        assert typed_documents(text, 3)[0].grade is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty text"),
        ("# only a comment", "empty text"),
        ("1 2", "2 numbers in document 1"),
        ("1 2 3\n1 2", "2 numbers in document 2"),
        ("1 2 x", "no number"),
        ("1 2 inf", "not finite"),
        ("1 qid:1 5:2", "feature 5 in document 1"),
        ("1 qid:1 1:nan", "document 1"),
        ("0.5 qid:1 1:1", "document 1"),
    ],
)
def test_other_texts_are_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        typed_documents(text, 3)
