"""Normalisations against plain loops, LETOR's own normalised files, and at the limits of float64."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankviz.datasets import NORMALISATIONS, Fold, RankingData, load_fold, make_data, make_fold, normalise


def some_data(seed=0, d=5):
    rng = np.random.default_rng(seed)
    qid = np.repeat([3, 1, 7, 2], [1, 4, 6, 9])
    X = rng.normal(scale=[1, 10, 1e-3, 1, 100][:d], size=(len(qid), d))
    X[:, 3] = 0.1  # constant everywhere; the mean of equal values need not equal them
    X[5:11, 0] = 0.7  # constant in one query
    return RankingData.from_arrays(X, rng.integers(0, 3, len(qid)), qid, name="some")


def naive_minmax(block):
    span = block.max(axis=0) - block.min(axis=0)
    return np.where(span == 0, 0, (block - block.min(axis=0)) / np.where(span == 0, 1, span))


def naive_zscore(block, reference=None):
    reference = block if reference is None else reference
    varies = np.ptp(reference, axis=0) > 0
    return np.where(varies, (block - reference.mean(axis=0)) / np.where(varies, reference.std(axis=0), 1), 0)


@pytest.mark.parametrize(("how", "naive"), [("query_minmax", naive_minmax), ("query_zscore", naive_zscore)])
def test_query_level_equals_loop_over_queries(how, naive):
    data = some_data()
    expected = np.vstack([naive(data.X[data.query_slice(q)]) for q in range(data.n_queries)])
    np.testing.assert_allclose(normalise(data, how).X, expected, rtol=1e-12, atol=1e-12)


def test_none_is_the_same_object():
    data = some_data()
    assert normalise(data, "none") is data


def test_global_zscore_learns_on_train_only():
    train, other = some_data(0), some_data(1)
    fold = normalise(Fold(train, other, other, "F"), "global_zscore")
    assert fold.name == "F"
    np.testing.assert_allclose(fold.train.X, naive_zscore(train.X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(fold.vali.X, naive_zscore(other.X, train.X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("how", NORMALISATIONS)
def test_constant_features_become_zero_and_the_rest_is_kept(how):
    data = some_data()
    out = normalise(data, how)
    assert np.all(out.X[:, 3] == (0.1 if how == "none" else 0))
    assert not out.X.flags.writeable
    np.testing.assert_array_equal(out.y, data.y)
    np.testing.assert_array_equal(out.query_ids, data.query_ids)
    assert (out.digest == data.digest) == (how == "none")


@given(
    arrays(np.float64, (7, 2), elements=st.floats(allow_nan=False, allow_infinity=False)),
    st.sampled_from(sorted(set(NORMALISATIONS) - {"none"})),
)
def test_any_finite_features_stay_finite(X, how):
    data = RankingData.from_arrays(X, np.zeros(7, int), [1, 1, 2, 2, 2, 3, 3])
    out = normalise(data, how).X
    assert np.isfinite(out).all()
    if how == "query_minmax":
        assert out.min() >= 0
        assert out.max() <= 1


@given(arrays(np.float64, (7, 2), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_minmax_is_idempotent(X):
    data = RankingData.from_arrays(X, np.zeros(7, int), [1, 1, 2, 2, 2, 3, 3])
    once = normalise(data, "query_minmax")
    np.testing.assert_array_equal(normalise(once, "query_minmax").X, once.X)


def test_zscore_is_idempotent():
    once = normalise(make_fold(n_queries=10), "query_zscore")
    np.testing.assert_allclose(normalise(once, "query_zscore").test.X, once.test.X, atol=1e-12)


@pytest.mark.parametrize("how", NORMALISATIONS)
def test_no_documents_are_no_problem(how):
    data = RankingData.from_arrays(np.zeros((0, 3)), np.zeros(0, int), np.zeros(0, int))
    assert normalise(data, how).X.shape == (0, 3)


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'minmax'.*query_minmax"):
        normalise(some_data(), "minmax")


def test_every_normalisation_is_described_for_the_screen():
    for key, item in NORMALISATIONS.items():
        assert item.key == key
        assert item.label
        assert item.description.endswith(".")


@pytest.mark.letor
def test_minmax_of_raw_ohsumed_is_letors_own(letor_root):
    expected = load_fold(letor_root / "OHSUMED", 1)
    got = load_fold(letor_root / "OHSUMED-min", 1, normalisation="query_minmax")
    for ours, letors in zip(got.parts.values(), expected.parts.values(), strict=True):
        np.testing.assert_allclose(ours.X, letors.X, rtol=0, atol=1e-6)
        np.testing.assert_array_equal(ours.y, letors.y)
        assert ours.document_ids.tolist() == letors.document_ids.tolist()


@pytest.mark.parametrize("how", NORMALISATIONS)
@pytest.mark.parametrize("block", [1, 100, 10**9])
def test_blocks_of_queries_change_nothing(monkeypatch, how, block):
    data = make_data(n_queries=40, documents_per_query=(1, 20), n_features=7, seed=3)
    expected = normalise(data, how).X
    monkeypatch.setattr(sys.modules["rankviz.datasets.normalise"], "BLOCK", block)
    np.testing.assert_array_equal(normalise(data, how).X, expected)
