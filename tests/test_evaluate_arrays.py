"""Scores of arrays in the caller's order: what is matched with what, and what is refused."""

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from naive_metrics import slow_evaluate

from rankviz import NDCG, DataError, RankingData, RankSVM, evaluate
from rankviz.datasets import make_fold
from rankviz.metrics import auc, kendall_tau, top_overlap
from rankviz.metrics.paired_tests import holm, max_statistic
from rankviz.metrics.significance import interval

RNG = np.random.default_rng(0)
QID = RNG.permutation(np.repeat([30, 10, 20], [12, 9, 15]))
Y = RNG.integers(0, 3, len(QID))
X = RNG.random((len(QID), 4)) + 0.2 * Y[:, None]
SCORES = RNG.integers(0, 6, len(QID)) / 4.0  # many ties


def test_interleaved_queries_are_refused_and_both_places_named() -> None:
    with pytest.raises(DataError) as caught:
        RankingData.from_arrays(X[:4], Y[:4], [7, 7, 8, 7])
    assert caught.value.found.startswith("query 7 at document 2 and again at document 4")
    for way in (
        "evaluate(scores, y, qid=qid)",
        'np.argsort(qid, kind="stable")',
        "regroup=True",
        "data.rows",
    ):
        assert way in caught.value.remedy


def test_regrouping_says_where_each_document_stood() -> None:
    data = RankingData.from_arrays(X, Y, QID, regroup=True)
    np.testing.assert_array_equal(data.X, X[data.rows])
    np.testing.assert_array_equal(data.y, Y[data.rows])
    np.testing.assert_array_equal(data.qid, QID[data.rows])


def test_scores_in_the_order_of_the_arrays() -> None:
    """Interleaved queries were once evaluated wrongly, without an error."""
    model = RankSVM(C=0.1).fit(X, Y, qid=QID)
    here = evaluate(model.predict(X), Y, qid=QID, at=[10]).mean["NDCG@10"]
    data = RankingData.from_arrays(X, Y, QID, regroup=True)
    assert here == evaluate(model.predict(data.X), data, at=[10]).mean["NDCG@10"]
    assert here == model.score(X, Y, qid=QID, definition="letor")
    assert here != evaluate(model.predict(X), data, at=[10]).mean["NDCG@10"]  # the mistake that was possible


def test_ties_keep_the_order_of_the_arrays() -> None:
    got = evaluate(SCORES, Y, qid=QID, at=[1, 5]).per_query
    data = RankingData.from_arrays(X, Y, QID, regroup=True)
    pd.testing.assert_frame_equal(
        got, slow_evaluate(SCORES[data.rows], data, "letor", [1, 5]), check_names=False
    )
    assert evaluate([0, 0, 0], [1, 0, 0], qid=[1, 2, 1]).mean["MAP"] == 0.5
    assert evaluate([0, 0, 0], [0, 0, 1], qid=[1, 2, 1]).mean["MAP"] == 0.25


def test_values_are_by_the_ids_as_given() -> None:
    assert evaluate(SCORES, Y, qid=QID).per_query.index.tolist() == list(dict.fromkeys(QID.tolist()))
    names = pd.Series([f"query {query}" for query in QID])
    by_name = evaluate(SCORES, Y, qid=names).per_query
    assert by_name.index.tolist() == [f"query {q}" for q in dict.fromkeys(QID.tolist())]
    np.testing.assert_array_equal(by_name, evaluate(SCORES, Y, qid=QID).per_query)
    sorted_ = np.argsort(names, kind="stable")
    data = RankingData.from_arrays(X[sorted_], Y[sorted_], names[sorted_])
    assert data.query_names == ("query 10", "query 20", "query 30")
    assert evaluate(SCORES[sorted_], data).per_query.index.tolist() == list(data.query_names)


@pytest.mark.parametrize(
    ("arguments", "ids", "says"),
    [
        ((SCORES, Y), None, r"type ndarray\. Expected: a RankingData.*evaluate\(scores, y, qid=qid\)"),
        ((SCORES, make_fold(n_queries=5)), None, r"a Fold\. Expected: a RankingData.*fold\.test"),
        ((SCORES[:-1], Y), QID, r"scores of shape \(35,\) for 36 documents"),
        ((SCORES, Y[:-1]), QID, "35 grades for 36 documents"),
        ((SCORES, Y), QID[:, None], r"query ids of shape \(36, 1\)"),
        ((Y, SCORES), QID, r"grade \d\.\d+ for document .*whole number"),
        ((np.where(Y, SCORES, np.nan), Y), QID, r"score nan for document \d+ \(query \d0\)"),
        ((RankSVM(), Y), QID, "a RankSVM instead of scores.*predict"),
    ],
)
def test_what_is_no_evaluation_is_said(arguments: tuple[Any, Any], ids: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        evaluate(*arguments, qid=ids)


def test_a_query_that_is_named_for_a_bad_score_is_its_own() -> None:
    with pytest.raises(DataError, match=r"score nan for document 2 \(query b\)"):
        evaluate([1.0, np.nan, 2.0], [0, 1, 0], qid=["a", "b", "a"])
    part = RankingData.from_arrays(np.zeros((3, 1)), [0, 1, 0], ["a", "a", "b"])
    with pytest.raises(DataError, match=r"score inf for document 3 \(query b\)"):
        evaluate([1.0, 0.0, np.inf], part)


def test_ids_twice_or_in_the_wrong_place() -> None:
    data = RankingData.from_arrays(X, Y, QID, regroup=True)
    with pytest.raises(ValueError, match="omit qid"):
        evaluate(SCORES, data, qid=QID)
    with pytest.raises(ValueError, match=r"not a metric definition; .*qid=qid"):
        evaluate(SCORES, Y, QID)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        (np.array([1 + 1j, 0]), "type complex128"),
        (np.array(["1", "2"]), "type <U1"),
        (np.array(["2020", "2021"], "M8[Y]"), r"type datetime64\[Y\]"),
        (np.array([1, 1j], dtype=object), "type complex"),
        (np.ma.masked_array([1.0, 2.0], [False, True]), "masked"),
        (np.array([2**60, 2**60 + 1]), "score 1152921504606846976 for document 1, which float64 would round"),
        ([2**53, 2**53 + 1], "score 9007199254740993 for document 2, which float64 would round"),
        (np.array([2**53 + 1, 2**53]), "score 9007199254740993 for document 1, which float64 would round"),
        ([0.5, -(2**53) - 1], "score -9007199254740993 for document 2, which float64 would round"),
        ([2**70 + 1, 2**70], "score 1180591620717411303425 for document 1, which float64 would round"),
        (pd.array([2**53 + 1, 1], dtype="Int64"), "score 9007199254740993 for document 1"),
        ([10**400, 1], "scores beyond the largest float64"),
        ([0.5, 10**400], "scores beyond the largest float64"),
        ([Fraction(10**400), 1], "scores beyond the largest float64"),
        (
            np.array([1, 1 + np.finfo(np.longdouble).eps], np.longdouble),
            "for document 2, which float64 would round",
        ),
        (np.array([1.0, None], dtype=object), "score nan for document 2"),
    ],
)
def test_scores_that_would_lose_something(scores: Any, says: str) -> None:
    data = RankingData.from_arrays(np.zeros((2, 1)), [0, 1], [1, 1])
    for refuses in (
        lambda: evaluate(scores, [0, 1], qid=[1, 1]),
        lambda: evaluate(scores, data),
        lambda: NDCG(2)(scores, [0, 1], [1, 1]),
        lambda: NDCG(2)(scores, data),
        lambda: kendall_tau(scores, [0, 1], data),  # type: ignore[arg-type]
    ):
        with pytest.raises(DataError, match=says):
            refuses()


def test_whole_numbers_that_floats_hold_are_scores() -> None:
    assert evaluate([2**53, 2**53 - 1], [1, 0], qid=[1, 1]).mean["MAP"] == 1.0
    assert evaluate([1e300, 2.0**60], [1, 0], qid=[1, 1]).mean["MAP"] == 1.0


@pytest.mark.parametrize("large", [[10**400, 1, 0], [10**400, 0.5, 0]])
def test_numbers_that_no_float_holds_are_refused_wherever_they_come(large: list[float]) -> None:
    column = [[value] for value in large]
    for refuses in (
        lambda: evaluate([1, 2, 3], large, qid=[1, 1, 1]),
        lambda: RankingData.from_arrays(column, [0, 1, 2], [1, 1, 1]),
        lambda: RankSVM().fit(column, [0, 1, 2], qid=[1, 1, 1]),
        lambda: NDCG(2)([1, 2, 3], [0, 1, 2], [1, 1, 1], sample_weight=large),
        lambda: interval(large),
        lambda: max_statistic(column),
        lambda: holm(large),
    ):
        with pytest.raises(DataError):
            refuses()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint64, np.bool_, object, "Int64"])
def test_scores_of_other_types_are_taken_as_they_are(dtype: Any) -> None:
    found = evaluate(
        pd.array([0, 1], dtype=dtype) if dtype == "Int64" else np.array([0, 1], dtype), [0, 1], qid=[1, 1]
    )
    assert found.mean["MAP"] == 1


@pytest.mark.parametrize(
    "measure", [auc, lambda f, d: kendall_tau(f, f, d), lambda f, d: top_overlap(f, f, d)]
)
def test_other_measures_refuse_scores_of_other_documents(measure: Any) -> None:
    data = RankingData.from_arrays(np.zeros((3, 1)), [0, 1, 0], [1, 1, 1])
    with pytest.raises(DataError, match=r"scores of shape \(4,\) for 3 documents"):
        measure(np.arange(4.0), data)


def test_the_caption_counts_queries_too_short_for_the_largest_k() -> None:
    """By LETOR's definition their NDCG@k is 0 whatever the scores."""
    result = evaluate(SCORES, Y, qid=QID, at=[1, 10, 5])
    assert result.n_short == 1
    assert result.per_query.loc[10, "NDCG@10"] == 0
    assert result.caption.endswith("; 1 query has fewer than 10 documents, where NDCG@10 is 0")
    several = evaluate([1, 0, 1], [1, 0, 1], qid=[0, 0, 1], at=[3]).caption
    assert "; 2 queries have fewer than 3 documents" in several
    for settings in ({"definition": "textbook"}, {"at": [9]}, {"at": []}):
        other = evaluate(SCORES, Y, qid=QID, **settings)
        assert other.n_short == 0
        assert "fewer than" not in other.caption
