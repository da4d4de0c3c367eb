"""Metrics as objects: names, values, weights, and their place in scikit-learn."""

import itertools
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import sklearn
from conftest_estimators import QID, X, Y
from sklearn.model_selection import GridSearchCV, GroupKFold

from rankviz import (
    MAP,
    NDCG,
    DataError,
    DataWarning,
    MeanNDCG,
    P,
    RankingData,
    RankSVM,
    SettingError,
    evaluate,
    load_fold,
    measure,
)
from rankviz.datasets.parts import query_weights
from rankviz.metrics import DEFINITIONS, Measure
from rankviz.metrics.evaluation import column_name

DATA = RankingData.from_arrays(X, Y, QID)
SCORES = np.random.default_rng(0).normal(size=len(Y))
ALL = [NDCG(10), NDCG(3, "letor"), P(5), P(2, "he2009"), MAP(), MAP("mslr"), MeanNDCG("letor")]
ALL += [
    measure(name)
    for name in ("ERR@10", "RBP(p=0.5)", "RR", "R@5 (letor)", "Rprec", "Bpref (mslr)", "PairAccuracy")
]
ALL += [measure("nDCG(gains={1: 1, 2: 9}, discount=(1, 0.5), ties='worst')@3 (letor)"), measure("AP(rel=2)")]
each = pytest.mark.parametrize("metric", ALL, ids=repr)


@pytest.mark.parametrize("name", ["a" + " " * 50_000 + "x", "P" + " " * 100_000 + "@5", "a(" * 100_000])
def test_a_very_long_name_is_refused_at_once(name: str) -> None:
    """An expression with several spaces in a row took hours, and no other thread could work."""
    with pytest.raises(SettingError, match=rf"…, {len(name) + 2:,} characters, is not a metric"):
        column_name(name)


@each
def test_the_value_is_that_of_evaluate(metric: Measure) -> None:
    name, definition = metric.name, metric.definition
    whole = evaluate(SCORES, DATA, definition, measures=[name])
    assert metric(SCORES, DATA) == pytest.approx(whole.mean[name], rel=1e-14)
    assert metric(SCORES, Y, QID) == metric(SCORES, DATA) == metric.of_grades(Y, SCORES, qid=QID)
    np.testing.assert_array_equal(metric.per_query(SCORES, DATA), whole.per_query[name])


@each
def test_the_name_is_the_identity(metric: Measure) -> None:
    assert measure(repr(metric)) == metric == pickle.loads(pickle.dumps(metric))  # noqa: S301
    assert hash(measure(repr(metric))) == hash(metric)
    assert measure(metric) is metric
    assert [other for other in ALL if other == metric] == [metric]


def test_names() -> None:
    assert [repr(m) for m in ALL[:4]] == ["nDCG@10", "nDCG@3 (letor)", "P@5", "P@2 (he2009)"]
    assert NDCG @ 10 == NDCG(10) == NDCG(10, DEFINITIONS["textbook"]) == measure(" NDCG @ 10 ")
    assert NDCG(10) != NDCG(10, "letor") != P(10, "letor")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ERR@10 (a=b)", "cannot be read|not a metric"),
        ("ERR", "the metrics are NDCG@k, MeanNDCG, P@k, MAP"),
        ("RBP(p=2)", "between 0 and 1"),
        ("nDCG(gains={2: 1})@3", "cannot be read"),
        (f"nDCG(gains={{1: {'9' * 400}}})@3", "cannot be read"),
        ("nDCG(gains={1: 1e300})@3", "cannot be read"),
        (f"P(rel={'9' * 400})@3", "cannot be read"),
        ("nDCG(gain={1, 2})@3", "cannot be read"),
        ("nDCG(dcg=[1])@3", "cannot be read"),
        ("nDCG(gains={1: 2, 2: 1})@3", "never fall"),
        ("nDCG(discount=(0.5, 1))@3", "never rise"),
        ("AvgNDCG", "only evaluate has AvgNDCG"),
        ("NDCG", "not a metric"),
        ("MAP@3", "not a metric"),
        (10, "not a metric"),
        ("NDCG@0", "@0 is not a cut-off"),
        (f"ERR@{'9' * 29}", "is not a cut-off"),
        ("NDCG@11 (letor)", "largest k is 10"),
        ("NDCG@5 (book)", "metric definition 'book'"),
        ("MeanNDCG (he2009)", "no MeanNDCG"),
    ],
)
def test_names_of_nothing(name: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        measure(name)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "10", None])
def test_cut_offs_that_mean_nothing(k: object) -> None:
    with pytest.raises(ValueError, match="is not a cut-off"):
        NDCG(k)


def test_queries_may_stand_in_any_order() -> None:
    """Whole queries shuffled: each keeps its value."""
    ids = np.random.default_rng(1).permutation(np.unique(QID))
    order = np.concatenate([np.flatnonzero(q == QID) for q in ids])
    assert NDCG(10)(SCORES[order], Y[order], QID[order]) == pytest.approx(NDCG(10)(SCORES, Y, QID))


def test_short_queries_count() -> None:
    """The fault: LETOR's NDCG@10 is 0 for every query of fewer than 10 documents, whatever the model."""
    y, qid = np.tile([2, 0, 1], 8), np.repeat(np.arange(8), 3)
    good, bad = y.astype(float), -y.astype(float)
    assert NDCG(10)(good, y, qid) == 1.0 > NDCG(10)(bad, y, qid)
    with pytest.warns(DataWarning, match="same for every ranking"):
        assert NDCG(10, "letor")(good, y, qid) == 0.0


@pytest.mark.parametrize(
    ("y", "value"), [([0, 0, 0, 0], np.nan), ([1, 1, 0, 0], 1.0), ([1, 1, 2, 2], 1.0)], ids=str
)
def test_what_cannot_compare_models_says_so(y: list[int], value: float) -> None:
    model = RankSVM().fit(X, Y, qid=QID)
    with pytest.warns(DataWarning, match="cannot compare models"):
        assert model.score(X[:4], y, qid=[1, 1, 2, 2]) == pytest.approx(value, nan_ok=True)


def test_one_query_that_tells_is_enough() -> None:
    """Also where it comes after many that do not."""
    y, qid = np.zeros(400, int), np.repeat(np.arange(200), 2)
    y[0::4] = 1
    y[1::4] = 1  # every second query has two relevant documents, the others none
    y[-1] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0 < NDCG(10)(np.arange(400.0), y, qid) <= 1
        many = (
            np.concatenate((np.tile([1, 0], 100), [1] + [0] * 12)),
            np.repeat(np.arange(101), [2] * 100 + [13]),
        )
        assert 0 <= NDCG(10, "letor")(np.arange(213.0), *many) <= 1


def test_weights_of_queries_weigh_the_mean() -> None:
    weights = np.arange(len(DATA.query_ids), dtype=float)
    per_document = np.repeat(weights, np.diff(DATA.ptr))
    values = NDCG(5).per_query(SCORES, DATA)
    there = values.notna().to_numpy()
    expected = np.average(values[there], weights=weights[there])
    assert NDCG(5)(SCORES, Y, QID, sample_weight=per_document) == pytest.approx(expected)
    twice = np.concatenate((np.arange(len(Y)), np.flatnonzero(QID == 103)))
    again = np.where(np.arange(len(twice)) >= len(Y), 999, QID[twice])
    heavier = np.where(QID == 103, 2, 1)
    assert NDCG(5)(SCORES, Y, QID, sample_weight=heavier) == pytest.approx(
        NDCG(5)(SCORES[twice], Y[twice], again)
    )
    assert NDCG(5)(SCORES, Y, QID, sample_weight=QID != 103) == pytest.approx(
        NDCG(5)(SCORES[QID != 103], Y[QID != 103], QID[QID != 103])
    )
    model = RankSVM().fit(X, Y, qid=QID)
    scored = model.score(X, Y, qid=QID, sample_weight=per_document)
    assert scored == NDCG(10)(model.predict(X), Y, QID, sample_weight=per_document)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(3), "one number for each document"),
        (np.full(len(Y), "a"), "one number for each document"),
        (-np.ones(len(Y)), "at least 0"),
        (np.full(len(Y), np.nan), "at least 0"),
        (np.full(len(Y), np.inf), "at least 0"),
        (np.zeros(len(Y)), "every query"),
        (np.ma.masked_array(np.ones(len(Y)), QID == 103), "masked"),
        (np.arange(len(Y)), "sample_weight 1 beside 0 in query 100.*one weight for all documents"),
    ],
)
def test_weights_that_are_none_of_queries(weights: np.ndarray, words: str) -> None:
    with pytest.raises(DataError, match=words):
        query_weights(weights, DATA)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(DataError, match="qid"):
        NDCG(10)(SCORES, Y)
    with pytest.raises(ValueError, match="contains its own"):
        NDCG(10)(SCORES, DATA, QID)
    for weights in (None, QID != 103):
        with pytest.raises(DataError, match="shape"):
            NDCG(10)(SCORES[:3], Y, QID, sample_weight=weights)
    with pytest.raises(DataError, match=r"RankSVM instead of scores.*NDCG\(10\)\.scorer\(\)"):
        NDCG(10)(RankSVM(), X, Y)  # type: ignore[arg-type]


@pytest.mark.parametrize("metric", [NDCG(3, "letor"), MAP()], ids=repr)
def test_a_scorer_is_passed_qid(metric: Measure) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        svm = RankSVM().set_fit_request(qid=True)
        grid = {"C": [1e-6, 1.0]}
        search = GridSearchCV(svm, grid, cv=GroupKFold(3), scoring=metric.scorer(), n_jobs=1)
        search.fit(X, Y, qid=QID, groups=QID)
        assert metric.scorer()(search, X, Y, qid=QID) == metric(search.predict(X), Y, QID)
    train, test = next(GroupKFold(3).split(X, Y, QID))
    by_hand = RankSVM(C=1.0).fit(X[train], Y[train], qid=QID[train]).predict(X[test])
    assert search.cv_results_["split0_test_score"][1] == metric(by_hand, Y[test], QID[test])


def test_without_metadata_routing_a_scorer_says_what_to_switch_on() -> None:
    with pytest.raises(RuntimeError, match="enable_metadata_routing=True"):
        NDCG(10).scorer()


def tied(scores: object, y: object, qid: object, metric: Measure, **more: object) -> str:
    """Return the warning about ties; "" without one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        metric(scores, y, qid, **more)
    return " ".join(str(one.message) for one in caught if "share a score" in str(one.message))


@pytest.mark.parametrize(
    "metric", [NDCG(3, "letor"), NDCG(2, "mslr"), NDCG(4, "he2009"), MAP("letor"), MeanNDCG("letor")]
)
def test_ties_are_told_with_the_range_over_all_orders(metric: Measure) -> None:
    """Try all orders of two queries with one tie each."""
    scores = [3, 2, 2, 2, 1, 5, 5, 4]
    y, qid = [0, 2, 0, 1, 1, 1, 0, 2], [1] * 5 + [2] * 3
    means = []
    for first in itertools.permutations(range(3)):
        for second in itertools.permutations(range(2)):
            moved = np.array(scores, float)
            moved[1:4] += np.array(first) / 10
            moved[5:7] += np.array(second) / 10
            means.append(metric(moved, y, qid))
    told = tied(scores, y, qid, metric)
    assert f"and {min(means):.3f} to {max(means):.3f} in others" in told
    assert f"{metric(np.array(scores) - np.arange(8) / 100, y, qid):.3f} in the order given" in told
    assert f"it is {np.mean(means):.3f} as the mean over all orders" in told
    assert "In 2 of 2 queries" in told


def test_ties_that_change_nothing_are_not_told() -> None:
    y, qid = np.array([0] * 10 + [1] + [2] * 9), np.ones(20, int)
    apart, metric = np.arange(20.0), MAP("letor")
    assert tied(np.where(y == 0, 0.0, apart), y, qid, metric) == "", "all of one grade"
    assert tied(np.where(apart >= 18, 3, -apart), y, qid, metric) == "", "all of one grade"
    two = np.where((apart == 10) | (apart == 9), 9.5, apart)
    assert tied(two, y, qid, metric) != ""
    assert tied(two, y, qid, P(5, "letor")) == "", "all of them rank below the fifth"
    assert tied(two, y, qid, MAP()) == "", "the mean depends on no order"
    weights = np.repeat([1.0, 0.0], 20)
    doubled = [np.concatenate([one, one]) for one in (y, qid)]
    doubled[1][20:] = 2
    assert tied(np.concatenate([apart, two * 0]), *doubled, metric, sample_weight=weights) == "", "weighs 0"
    rest = [np.arange(2000.0), np.tile([0, 1], 1000), np.repeat(np.arange(100, 1100), 2)]
    many = [np.concatenate(both) for both in zip((two, y, qid), rest, strict=True)]
    assert tied(*many, metric) == "", "less than half of the third digit"


def test_score_takes_the_mean_over_orders_and_evaluate_counts_ties() -> None:
    model = RankSVM(C=1.0).fit(X, Y, qid=QID)
    model.coef_ = np.zeros_like(model.coef_)
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(float(len(Y))), (150, 1)), axis=1)
    drawn = np.mean([NDCG(10)(order, DATA) for order in orders])
    assert model.score(X, Y, qid=QID) == NDCG(10)(0 * SCORES, DATA) == pytest.approx(drawn, abs=0.02)
    with pytest.warns(DataWarning, match="NDCG@10 .letor. depends on the order of documents that share"):
        model.score(X, Y, qid=QID, definition="letor")
    constant = evaluate(np.zeros(len(Y)), DATA)
    assert constant.n_tied == sum(np.ptp(Y[DATA.query_slice(k)]) > 0 for k in range(DATA.n_queries))
    assert "share a score" in repr(constant)
    assert "share a score" not in constant.caption
    assert "share a score" not in repr(evaluate(SCORES, DATA))


@pytest.mark.letor
def test_a_constant_model_on_ohsumed_has_a_wide_range(letor_root: Path) -> None:
    """In the order of the file NDCG@10 is 0.319, on average over orders 0.129."""
    test = load_fold(letor_root / "OHSUMED", 1).test
    told = NDCG(10, "letor").ties(np.zeros(test.n_documents), test)
    mean, order, low, high = (float(number) for number in re.findall(r"0\.\d{3}|1\.000", told))
    assert (mean, order) == (0.129, 0.319)
    assert low < mean < order <= high
