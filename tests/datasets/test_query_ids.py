"""Ids of queries of any type: numbers stay what they are, the rest is numbered, and none are confused."""

from __future__ import annotations

import datetime
import io
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rankviz import DataError, DataWarning, RankingData, RankSVM
from rankviz.datasets import make_data, query_table, read_scores, write_letor, write_scores
from rankviz.datasets.parts import take_queries

A, B = uuid.uuid4(), uuid.uuid4()


def make(qid: Any, regroup: bool = True) -> RankingData:
    n = len(qid)
    return RankingData.from_arrays(np.arange(float(n))[:, None], np.arange(n) % 2, qid, regroup=regroup)


@pytest.mark.parametrize(
    "qid",
    [
        [5, -3, 5],
        np.array([5.0, -3.0, 5.0]),
        np.array([5, 253, 5], np.uint8),
        np.array([2**63 - 1, -(2**63), 2**63 - 1]),
        np.array([2**53 - 1, 7, 2**53 - 1], np.float64),
        np.array([2047, 0, 2047], np.float16),
        pd.array([5, -3, 5], dtype="Int64"),
        np.array([5, -3, 5], dtype=object),
        np.array([5.0, -3.0, 5.0], dtype=object),
        pd.Categorical([5, -3, 5]),
    ],
)
def test_whole_numbers_stay_what_they_are(qid: Any) -> None:
    data = make(qid)
    given = [int(v) for v in np.asarray(qid)]
    assert data.query_ids.tolist() == given[:2]
    assert data.qid.tolist() == [given[0], given[0], given[1]]
    assert data.query_names is None
    assert data.query_labels is data.query_ids


@pytest.mark.parametrize(
    "names",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"]),
        np.array([b"b", b"a", b"b"]),
        np.array(["b", "a", "b"], np.dtypes.StringDType()),
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        np.array([B, A, B], dtype=object),
        [2**64, 1, 2**64],
        np.array([2**63, 2**63 + 1, 2**63], np.uint64),
        np.array([Decimal(5), Decimal("5.5"), Decimal(5)], dtype=object),
    ],
)
def test_other_ids_are_numbered_and_their_names_kept(names: Any) -> None:
    data = make(names)
    given = list(names)
    assert data.query_ids.tolist() == [0, 1]
    assert data.rows.tolist() == [0, 2, 1]
    assert data.query_names == (given[0], given[1])
    assert data.query_labels.tolist() == given[:2]
    assert (data.query_of(1), data.query_of(2)) == (given[0], given[1])


@pytest.mark.parametrize(
    ("qid", "says"),
    [
        (
            np.array([2.0**53, 2.0**53 + 2, 1]),
            "query id 9007199254740992 for document 1.*integers, or as texts",
        ),
        (np.array([1, -(2.0**63), 1]), "query id -9223372036854775808 for document 2"),
        (np.array([1e300, 1, 1]), "for document 1"),
        (np.array([2.0**24, 1, 1], np.float32), "16777216 for document 1.*float32 tells from its neighbours"),
        (np.array([2048, 1, 1], np.float16), "2048 for document 1"),
        ([1, 1.5, 2], "query id 1.5 for document 2"),
        ([1, np.nan, 2], "query id nan for document 2"),
        ([1, None, 2], "query id None for document 2"),
        (["a", None, "b"], "query id None for document 2"),
        (["a", float("nan"), "b"], r"several types \(float and str\)"),
        (pd.Series(["a", None, "b"]), "query id .* for document 2"),
        (pd.array([1, None, 2], dtype="Int64"), "query ids with missing"),
        (["1", 1, "2"], r"several types \(int and str\)"),
        (np.array([1, "1", 2], dtype=object), r"several types \(int and str\)"),
        (np.array([1j, 1, 2]), "query ids of type complex128"),
        (np.array(["2020", "2021", "2020"], "M8[Y]"), r"type datetime64\[Y\].*astype\(str\)"),
        (np.array([{}, {}, {}], dtype=object), "cannot be compared"),
        (np.ma.masked_array([1, 2, 3], [0, 1, 0]), "query ids with missing .masked. entries"),
    ],
)
def test_ids_that_are_missing_or_would_be_confused(qid: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        make(qid)


def test_no_ids_at_all() -> None:
    for call in (
        lambda: RankingData.from_arrays([[1.0]], [1], None),  # type: ignore[arg-type]
        lambda: RankSVM().fit([[1.0]], [1], qid=None),  # type: ignore[arg-type]
    ):
        with pytest.raises(
            DataError, match=r"no query ids.*the query that each document belongs to.*np\.zeros"
        ):
            call()


def test_sizes_of_queries_are_told_from_ids() -> None:
    """LightGBM and XGBoost take sizes of groups."""
    features, grades = np.ones((5, 1)), np.arange(5)
    with pytest.raises(DataError, match=r"2 numbers that add up to the 5 documents.*np\.repeat"):
        RankingData.from_arrays(features, grades, [2, 3])
    for other in ([2, 2], [5, 0], [-1, 6], ["2", "3"]):
        with pytest.raises(DataError, match="2 query ids for 5 documents"):
            RankingData.from_arrays(features, grades, other)


def test_models_are_the_same_whatever_queries_are_called() -> None:
    data = make_data(n_queries=12, documents_per_query=(8, 20), n_features=5, seed=0)
    order = np.random.default_rng(0).permutation(data.n_documents)
    X, y, qid = data.X[order], data.y[order], data.qid[order]
    plain = RankSVM(C=0.1).fit(X, y, qid=qid).predict(X)
    named = RankSVM(C=0.1).fit(X, y, qid=[f"q{query}" for query in qid])
    np.testing.assert_array_equal(named.predict(X), plain)
    assert named.score(X, y, qid=qid.astype(str)) == named.score(X, y, qid=qid)


def test_names_go_with_their_queries() -> None:
    data = make(["b", "a", "b", "c"])
    assert take_queries(data, [2, 0]).query_names == ("c", "b")
    assert query_table(data)["query"].tolist() == ["b", "a", "c"]
    assert data.renamed("other").query_names == data.query_names


def test_the_digest_tells_names_and_stays_what_it_was_for_numbers() -> None:
    assert make(["a", "b"]).digest != make(["a", "c"]).digest
    assert make([7, 8]).digest == "117e9be357293805e25a4ba7ea2a6ee2"


def test_names_are_not_written_without_a_word() -> None:
    stream = io.BytesIO()
    with pytest.warns(DataWarning, match="query 'b' is written as qid:0"):
        write_letor(make(["b", "a", "b"]), stream)
    assert [line.split()[1] for line in stream.getvalue().splitlines()] == [b"qid:0", b"qid:1", b"qid:0"]


def test_score_files_of_regrouped_arrays(tmp_path: Any) -> None:
    data = make(["b", "a", "b"])
    write_scores(tmp_path / "scores.txt", data, data.X[:, 0])
    assert (tmp_path / "scores.txt").read_text() == "0.0\n1.0\n2.0\n"
    assert read_scores(tmp_path / "scores.txt", data).tolist() == data.X[:, 0].tolist()


def test_dates_as_objects_are_names() -> None:
    day = datetime.date(2020, 1, 1)
    assert make(np.array([day, day], dtype=object)).query_names == (day,)
