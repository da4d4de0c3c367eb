"""Tables behind the figures of the Data page."""

import numpy as np
import pandas as pd
import pytest

from rankviz.datasets import NORMALISATIONS, RankingData, feature_table, make_fold, normalise, query_table
from rankviz.datasets.statistics import document_names, queries_holding
from rankviz.plots import data_overview

FOLD = make_fold(n_queries=30, documents_per_query=(1, 12), n_features=4, seed=2)
TRAIN = FOLD.train


def one_document() -> RankingData:
    return RankingData.from_arrays([[0.0, 1.0]], [1], [7])


def test_queries_are_sorted_by_size_and_all_there_or_thinned_with_the_ends() -> None:
    queries = query_table(TRAIN)
    table = data_overview.grades_data(queries)
    assert table["documents"].is_monotonic_decreasing
    assert table["place"].tolist() == list(range(1, len(queries) + 1))
    assert sorted(table["query"]) == sorted(queries["query"])
    figure = data_overview.grades_figure(table)
    grades = [trace for trace in figure.data if trace.name.startswith("grade")]
    assert sum(np.asarray(trace.y) for trace in grades).tolist() == table["documents"].tolist()
    table = data_overview.grades_data(queries, most=5)
    assert len(table) == 5
    assert table["place"].iloc[[0, -1]].tolist() == [1, len(queries)]


@pytest.mark.parametrize(
    ("pairs", "share", "expected"),
    [
        ([1, 1, 1, 1], 0.5, 2),
        ([9, 1], 0.5, 1),
        ([1, 9, 5], 1.0, 3),
        ([3, 0], 1.0, 1),
        ([0, 0], 0.5, 0),
        ([], 0.5, 0),
    ],
)
def test_queries_holding(pairs, share, expected):
    assert queries_holding(share, pairs) == expected


@pytest.mark.parametrize("part", [TRAIN, one_document()])
def test_histograms_count_every_query(part):
    queries = query_table(part)
    table = data_overview.histograms_data(queries)
    for quantity in data_overview.QUANTITIES:
        assert table.loc[table["quantity"] == quantity, "queries"].sum() == len(queries)
    bins = table[table["quantity"] == "documents"]
    for _, row in bins.iterrows():
        inside = (queries["documents"] >= row["left"]) & (queries["documents"] < row["right"])
        assert row["queries"] == inside.sum()
    grades = data_overview.grade_totals(queries)
    assert grades["documents"].sum() == part.n_documents
    assert grades["share"].sum() == pytest.approx(1)
    data_overview.histograms_figure(table, grades)


def test_features_are_those_of_the_feature_table():
    table = data_overview.features_data(TRAIN)
    pd.testing.assert_frame_equal(table.drop(columns="label"), feature_table(TRAIN))
    assert table["label"].tolist() == [f"feature {k}" for k in range(1, 5)]
    named = data_overview.features_data(TRAIN.renamed(feature_names=("a", "b", "c", "d")))
    assert named["label"].iloc[1] == "feature 2 (b)"


def test_ranges_of_very_different_width_get_a_logarithmic_scale():
    X = np.array([[0.0, 0.0, -1e6], [1.0, 2.0, 1e6]])
    table = data_overview.features_data(RankingData.from_arrays(X, [0, 1], [1, 1]))
    assert data_overview.uses_signed_log(table)
    axis = data_overview.features_figure(table).layout.yaxis2
    assert "0" in axis.ticktext
    assert len(axis.ticktext) == len(axis.tickvals) <= 12
    assert not data_overview.uses_signed_log(data_overview.features_data(TRAIN))
    assert not data_overview.uses_signed_log(data_overview.features_data(one_document()))


def test_heat_map_lists_documents_best_grade_first():
    query = int(np.diff(TRAIN.ptr).argmax())
    table = data_overview.heatmap_data(TRAIN, query)
    rows = TRAIN.query_slice(query)
    assert table["grade"].is_monotonic_decreasing
    order = np.argsort(-TRAIN.y[rows], kind="stable")
    np.testing.assert_array_equal(table.iloc[:, 2:].to_numpy(), TRAIN.X[rows][order])
    assert table["document"].tolist() == np.asarray(document_names(TRAIN, query))[order].tolist()
    thin = data_overview.thinned_documents(table, 3)
    assert thin["document"].iloc[[0, -1]].tolist() == table["document"].iloc[[0, -1]].tolist()


@pytest.mark.parametrize("part", [TRAIN, one_document()])
def test_heat_map_is_scaled_within_the_query(part):
    figure = data_overview.heatmap_figure(data_overview.heatmap_data(part, 0))
    z = np.asarray(figure.data[1].z, dtype=float)
    assert z.shape == (np.diff(part.ptr)[0], part.n_features)
    assert np.isnan(z).all() or (np.nanmin(z) == 0 and np.nanmax(z) == 1)


def test_documents_without_ids_are_numbered_in_file_order():
    part = RankingData.from_arrays(np.zeros((4, 1)), [0, 1, 0, 1], [5, 6, 5, 6], regroup=True)
    assert document_names(part, 1) == ["document 1", "document 2"]
    assert document_names(TRAIN, 0)[0] == TRAIN.document_ids[0]


@pytest.mark.parametrize("part", ["train", "test"])
def test_normalised_values_are_those_of_the_whole_fold(part):
    table = data_overview.normalisation_data(FOLD, part, 3)
    for how in NORMALISATIONS:
        expected = normalise(FOLD, how).parts[part]
        rows = table[table["normalisation"] == how].set_index("query")
        for q, query in enumerate(expected.query_ids):
            values = expected.X[expected.query_slice(q), 2]
            found = rows.loc[query, ["low", "median", "high"]].to_numpy(float)
            np.testing.assert_allclose(found, [values.min(), np.median(values), values.max()], atol=1e-12)
    data_overview.normalisation_figure(table, "none")


def test_normalisation_thins_queries_and_says_which():
    table = data_overview.normalisation_data(FOLD, "train", 1, most=6)
    assert table.groupby("normalisation").size().tolist() == [6] * 4
    assert table.groupby("place")["query"].nunique().max() == 1  # alike in all panels


def test_share_between_queries():
    def share(x, qid):
        part = RankingData.from_arrays(np.c_[x], [0] * len(x), qid, regroup=True)
        return data_overview.between_query_share(part)

    assert share([1.0, 1.0, 3.0, 3.0], [1, 1, 2, 2]) == pytest.approx(1)
    assert share([1.0, 3.0, 1.0, 3.0], [1, 1, 2, 2]) == pytest.approx(0)
    assert np.isnan(share([2.0, 2.0], [1, 1]))
    rng = np.random.default_rng(0)
    x, qid = rng.random(30), rng.integers(0, 5, 30)
    between = sum((qid == q).sum() * (x[qid == q].mean() - x.mean()) ** 2 for q in set(qid.tolist()))
    assert share(x, qid) == pytest.approx(between / ((x - x.mean()) ** 2).sum())
