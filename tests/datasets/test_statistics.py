"""Counts against plain loops, and against what is known of the real sets."""

import copy

import numpy as np
import pytest
from scipy.stats import rankdata

from rankviz.common.errors import DataError
from rankviz.datasets import RankingData, make_data
from rankviz.datasets.statistics import describe, feature_table, grade_correlation, query_table


def coarse_data(seed):
    """Few different values, so that rows repeat, ranks tie, and some queries have one grade only."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(12), rng.integers(1, 7, 12))
    X = rng.choice([0.0, -0.0, 0.5], size=(len(qid), 4))
    X[:, 2] = 0.25 * (seed % 2)
    return RankingData.from_arrays(X, rng.integers(0, 3, len(qid)) * 2, qid, name="coarse")


def naive_pairs(y):
    return sum(int(a > b) for a in y for b in y)


@pytest.mark.parametrize("seed", range(6))
def test_summary_equals_plain_loops(seed):
    data = coarse_data(seed)
    got = describe(data)
    queries = [data.y[data.query_slice(q)].tolist() for q in range(data.n_queries)]
    rows = [tuple(row) for row in data.X.tolist()]
    assert (got.queries, got.documents, got.features) == (data.n_queries, len(data.y), 4)
    assert got.grades == {g: data.y.tolist().count(g) for g in sorted(set(data.y.tolist()))}
    assert got.pairs == sum(naive_pairs(y) for y in queries)
    assert got.queries_without_relevant == sum(max(y) == 0 for y in queries)
    assert got.queries_without_pairs == sum(naive_pairs(y) == 0 for y in queries)
    assert got.constant_features == tuple(j + 1 for j in range(4) if len({row[j] for row in rows}) == 1)
    assert got.duplicate_documents == sum(row in rows[:i] for i, row in enumerate(rows))
    assert got.distinct_documents == len(set(rows))
    assert got.zero_documents == sum(not any(row) for row in rows)
    sizes = [len(y) for y in queries]
    assert got.documents_per_query == (min(sizes), np.median(sizes), max(sizes))
    assert copy.deepcopy(got) == got


@pytest.mark.parametrize("seed", range(3))
def test_query_table_equals_plain_loops(seed):
    data = coarse_data(seed)
    table = query_table(data)
    assert list(table) == ["query", "documents", "grade 0", "grade 2", "grade 4", "pairs"]
    for q, row in enumerate(table.to_dict("records")):
        y = data.y[data.query_slice(q)].tolist()
        assert row["query"] == data.query_ids[q]
        assert row["documents"] == len(y)
        assert [row[f"grade {g}"] for g in (0, 2, 4)] == [y.count(g) for g in (0, 2, 4)]
        assert row["pairs"] == naive_pairs(y)


def naive_correlation(x, data):
    ranks = {"x": [], "y": []}
    for q in range(data.n_queries):
        at = data.query_slice(q)
        for key, values in (("x", x[at]), ("y", data.y[at])):
            r = rankdata(values) / len(values)
            ranks[key] += (r - r.mean()).tolist()
    a, b = np.array(ranks["x"]), np.array(ranks["y"])
    scale = np.sqrt((a @ a) * (b @ b))
    return a @ b / scale if scale > 1e-12 else np.nan


@pytest.mark.parametrize("seed", range(3))
def test_correlation_equals_plain_loops(seed):
    data = coarse_data(seed)
    expected = [naive_correlation(data.X[:, j] + 0.0, data) for j in range(4)]
    np.testing.assert_allclose(grade_correlation(data), expected, atol=1e-12)
    assert np.isnan(expected[2])


def test_correlation_of_the_grade_with_itself_is_one():
    data = make_data(n_queries=5, n_features=2)
    itself = RankingData.from_arrays(np.column_stack([data.y, -data.y]), data.y, data.qid)
    np.testing.assert_allclose(grade_correlation(itself), [1, -1])


def test_feature_table():
    data = coarse_data(1)
    table = feature_table(data)
    assert table["number"].tolist() == [1, 2, 3, 4]
    assert table["name"].tolist() == [""] * 4
    assert table["constant"].tolist() == [False, False, True, False]
    np.testing.assert_array_equal(table["mean"], data.X.mean(axis=0))


def test_nothing_at_all_can_be_described():
    empty = RankingData.from_arrays(np.zeros((0, 2)), np.zeros(0, int), np.zeros(0, int))
    got = describe(empty)
    assert (got.queries, got.pairs, got.distinct_documents, got.documents_per_query) == (0, 0, 0, (0, 0.0, 0))
    assert len(query_table(empty)) == 0
    assert feature_table(empty)["correlation"].isna().all()


def test_any_number_of_grades_can_be_described_but_not_put_into_a_table():
    """Documents with a grade of their own each: a table of them would have n²/2 counts."""
    n = 6000
    data = RankingData.from_arrays(np.zeros((n, 1)), np.arange(n), np.repeat(np.arange(n // 2), 2))
    got = describe(data)
    assert (len(got.grades), got.pairs, got.queries_without_relevant) == (n, n // 2, 0)
    with pytest.raises(DataError, match="6,000 different grades in 3,000 queries"):
        query_table(data)
