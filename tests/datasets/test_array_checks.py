"""Features, grades and query ids of every type that NumPy, pandas and SciPy give: exact, or refused."""

import datetime
import io
import uuid
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rankviz import DataError, DataWarning, RankingData, RankSVM
from rankviz.common.errors import SettingError
from rankviz.datasets import (
    array_checks,
    make_data,
    make_fold,
    query_table,
    read_scores,
    write_letor,
    write_scores,
)
from rankviz.datasets.array_checks import dense_features
from rankviz.datasets.parts import take_queries
from rankviz.learning.pairs import check_costs
from rankviz.metrics.significance import interval
from rankviz.models.ranker import refuse_huge

VALUES = np.array([[0.5, 0.0, -2.0], [0.0, 0.25, 1.0]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, object, ">f8"])
def test_real_features_of_any_type_are_exact(dtype: Any) -> None:
    out = dense_features(VALUES.astype(dtype))
    np.testing.assert_array_equal(out, VALUES)
    assert out.dtype == np.float64
    assert out.flags.c_contiguous


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        ([[True, False]], [[1.0, 0.0]]),
        (np.array([[3, 200]], np.uint8), [[3.0, 200.0]]),
        ([[Decimal("0.1"), Fraction(1, 4)]], [[0.1, 0.25]]),
        (pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": [True, False]}), [[1, 0.5, 1], [2, 1.5, 0]]),
        (pd.DataFrame({"a": pd.array([1, 2], dtype="Int64")}), [[1], [2]]),
        (pd.DataFrame({"X": [1.0], "query_slice": [2.0], "vali": [3.0], "toarray": [4.0]}), [[1, 2, 3, 4]]),
        (pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 2.0])}), [[0], [2]]),
        (np.ma.masked_array([[1.0, 2.0]], [[False, False]]), [[1, 2]]),
    ],
)
def test_numbers_in_other_clothes(X: Any, expected: list[list[float]]) -> None:
    assert dense_features(X).tolist() == expected


@pytest.mark.parametrize(
    ("X", "says"),
    [
        (VALUES + 1j, "features that are not numbers .they are of type complex128"),
        (np.array([[1, 1j]], dtype=object), "some are of type complex"),
        (sparse.csr_array(VALUES + 1j), "they are of type complex128"),
        ([["1", "2"]], "they are of type <U1"),
        (np.array([["1", 2]], dtype=object), "some are of type str"),
        (np.array([["2020", "2021"]], "M8[Y]"), r"they are of type datetime64\[Y\]"),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"]), "b": [1.0]}), "some are of type Timestamp"),
        (np.array([[1, 2]], "m8[s]"), r"they are of type timedelta64\[s\]"),
        (np.ma.masked_array([[1.0, 2.0]], [[False, True]]), "missing .masked. entries"),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), "feature 1 of document 2 is nan"),
        (np.array([[1, None]], dtype=object), "feature 2 of document 1 is nan"),
        ([[1.0], [2.0, 3.0]], "features that are not numbers"),
        (sparse.csr_array([[1.0, np.inf]]), "feature 2 of document 1 is inf"),
        (np.zeros(3), r"features of shape \(3,\)"),
        (make_fold(n_queries=5).train, r"a RankingData instead of features.*data\.X"),
        (make_fold(n_queries=5), r"a Fold instead of features.*fold\.test\.X"),
    ],
)
def test_features_that_would_lose_something(X: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        dense_features(X)
    with pytest.raises(DataError, match=says):
        RankingData.from_arrays(X, [0, 1], [1, 1])


@pytest.mark.parametrize(
    ("y", "says"),
    [
        (np.array([1j, 0]), "grades that are not numbers .they are of type complex128"),
        (["0", "1"], "they are of type <U1"),
        (np.array([0, "1"], dtype=object), "some are of type str"),
        (pd.Series(["low", "high"], dtype="category"), "some are of type str"),
        (np.array([0, 1], "m8[s]"), r"they are of type timedelta64"),
        (np.ma.masked_array([0, 1], [True, False]), "grades with missing"),
        (pd.array([0, None], dtype="Int64"), "grades with missing"),
        (np.array([0, None], dtype=object), "grade nan for document 2"),
        (np.array([0, 2**63], np.uint64), r"grade 9223372036854775808 for document 2.*below 2\^63"),
        (np.array([0, -1]), "grade -1 for document 2.*Check the label column; relevance grades count 0, 1"),
        (np.array([0, 2.0**53]), "grade 9007199254740992 for document 2.*integers"),
        (np.array([Decimal("0.5"), Decimal(1)], dtype=object), "grade 0.5 for document 1"),
    ],
)
def test_grades_that_would_lose_something(y: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        RankingData.from_arrays(VALUES, y, [1, 1])


@pytest.mark.parametrize("dtype", [np.bool_, np.uint64, np.float16, object, "Int64", "boolean"])
def test_whole_grades_of_any_type(dtype: Any) -> None:
    y = pd.array([0, 1], dtype=dtype) if isinstance(dtype, str) else np.array([0, 1], dtype)
    assert RankingData.from_arrays(VALUES, y, [1, 1]).y.tolist() == [0, 1]


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_sparse_features_are_made_dense(kind: str, dtype: Any) -> None:
    X = sparse.coo_array(VALUES.round().astype(dtype)).asformat(kind)
    data = RankingData.from_arrays(X, [0, 1], [1, 1])
    np.testing.assert_array_equal(data.X, VALUES.round())
    np.testing.assert_array_equal(dense_features(X), VALUES.round())


def test_a_model_is_the_same_of_sparse_features() -> None:
    data = make_fold(n_queries=10, documents_per_query=(8, 12)).train
    X = np.where(data.X > 0.5, data.X, 0.0)
    dense = RankSVM().fit(X, data.y, qid=data.qid)
    thin = RankSVM().fit(sparse.csr_matrix(X), data.y, qid=data.qid)
    np.testing.assert_array_equal(dense.coef_, thin.coef_)


def test_sparse_features_that_would_not_fit_are_refused_before_they_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    huge = sparse.csr_array((10**9, 10**9))
    with pytest.raises(DataError, match=r"1,000,000,000 × 1,000,000,000 features, which .*9000000000\.0 GB"):
        dense_features(huge)
    X = sparse.csr_array(np.eye(100))  # 90 kB
    monkeypatch.setattr(array_checks, "free_memory", lambda: 100_000)
    with pytest.raises(DataError, match="70% of the memory that is free"):
        dense_features(X)
    monkeypatch.setattr(array_checks, "free_memory", lambda: 130_000)
    assert dense_features(X).shape == (100, 100)


def test_the_caller_s_arrays_stay_their_own() -> None:
    """Frozen data share no memory with what they were made of."""
    X, y, qid = VALUES.copy(), np.array([0, 1]), np.array([1, 1])
    for given in (X, X[:], np.ma.masked_array(X), pd.DataFrame(X, copy=False)):
        data = RankingData.from_arrays(given, y, qid)
        assert not np.shares_memory(data.X, X)
    assert X.flags.writeable
    assert y.flags.writeable
    assert qid.flags.writeable


@pytest.mark.parametrize(
    "ids",
    [
        ["a", None, "c"],
        np.array(["a", np.nan, "c"], dtype=object),
        pd.Series(["a", None, "c"]),
        ["a", float("nan"), "c"],
    ],
)
def test_documents_without_an_id_are_not_called_none(ids: Any) -> None:
    data = RankingData.from_arrays(np.zeros((3, 1)), [0, 1, 0], [1, 1, 1], document_ids=ids)
    assert data.document_ids is not None
    assert data.document_ids.tolist() == ["a", "", "c"]


def test_document_ids_of_other_types_are_texts() -> None:
    for ids in ([1, 2], np.array(["1", "2"]), np.array([1, 2])):
        data = RankingData.from_arrays(VALUES, [0, 1], [1, 1], document_ids=ids)
        assert data.document_ids is not None
        assert data.document_ids.tolist() == ["1", "2"]
        assert data.document_ids.dtype.kind == "U"


def test_complex_costs_and_values_are_refused() -> None:
    with pytest.raises(SettingError, match="not a table of numbers"):
        check_costs(np.array([[0, 1j], [1, 0]]))
    with pytest.raises(DataError, match="values that are not numbers"):
        interval(np.array([1j, 2]))


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
    with pytest.raises(DataError, match=r"2 numbers with sum 5, the number.*np\.repeat"):
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


@pytest.mark.parametrize("row", [0, 131_072, 2_600_000])
@pytest.mark.parametrize("value", [np.nan, -np.inf, -1e200])
def test_every_block_of_rows_is_checked(row: int, value: float) -> None:
    X = np.zeros((2_600_001, 1))
    X[[row, -1]] = value
    if np.isfinite(value):
        with pytest.raises(DataError, match="beyond"):
            refuse_huge(X)
    else:
        with pytest.raises(DataError, match=f"feature 1 of document {row + 1} is"):
            dense_features(X)
