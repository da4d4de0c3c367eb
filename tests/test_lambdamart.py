"""LambdaMART: LightGBM called by hand, early stopping by our metric, Stop, ties, and runs."""

from typing import Any

import lightgbm
import numpy as np
import pytest

from rankviz import Fold, LambdaMART, Progress, RunRecord, RunSpec, evaluate, execute
from rankviz.common.errors import DataError, SettingError
from rankviz.datasets import RankingData, make_fold
from rankviz.metrics.definitions import COMPARED
from rankviz.models.lambdamart import trees_of

SMALL = {"n_rounds": 30, "leaves": 6, "leaf_documents": 5, "learning_rate": 0.2}


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=40, documents_per_query=(12, 30), n_features=8, seed=3)


def by_hand(fold: Fold, n_rounds: int = 30) -> lightgbm.LGBMRanker:
    """LightGBM as its users call it."""
    ranker = lightgbm.LGBMRanker(
        n_estimators=n_rounds,
        num_leaves=6,
        min_child_samples=5,
        learning_rate=0.2,
        label_gain=[2**y - 1 for y in range(5)],
        n_jobs=1,
        deterministic=True,
        force_row_wise=True,
        random_state=0,
        verbosity=-1,
    )
    return ranker.fit(fold.train.X, fold.train.y, group=np.diff(fold.train.ptr))


def test_scores_are_those_of_lightgbm_called_by_hand(fold: Fold) -> None:
    ours = LambdaMART(**SMALL, patience=0).fit_data(fold.train)
    theirs = by_hand(fold)
    for part in fold.parts.values():
        np.testing.assert_array_equal(ours.predict(part.X), theirs.predict(part.X))
    gains = theirs.booster_.feature_importance("gain")
    np.testing.assert_allclose(
        ours.feature_importances_, gains / gains.sum(), rtol=1e-5
    )  # its text has 6 digits
    assert ours.feature_importances_.sum() == pytest.approx(1.0)


def test_early_stopping_keeps_the_round_that_our_metric_names(fold: Fold) -> None:
    model = LambdaMART(**(SMALL | {"n_rounds": 200}), patience=15).fit_watching(fold.train, fold.vali)
    theirs, values = by_hand(fold, len(model.trace_) - 1), []
    for rounds in range(1, len(model.trace_)):
        scores = theirs.predict(fold.vali.X, num_iteration=rounds)
        values.append(evaluate(scores, fold.vali, COMPARED, measures=["NDCG@10"]).mean["NDCG@10"])
    np.testing.assert_array_equal(model.trace_["validation"][1:], values)
    best = 1 + int(np.argmax(values))
    assert model.n_rounds_ == best < len(values) == best + 15 < 200
    kept = theirs.predict(fold.test.X, num_iteration=best)
    np.testing.assert_array_equal(model.predict(fold.test.X), kept)
    assert model.status_ == (
        f"trained {best + 15} rounds, and kept {best} rounds: "
        "NDCG@10 on the validation part was highest there"
    )


def test_the_trace_begins_with_equal_scores_at_the_mean_over_their_orders(fold: Fold) -> None:
    trace = LambdaMART(**SMALL).fit_watching(fold.train, fold.vali).trace_
    for name, part in (("training", fold.train), ("validation", fold.vali)):
        equal = evaluate(np.zeros(part.n_documents), part, COMPARED, measures=["NDCG@10"])
        assert trace[name][0] == equal.mean["NDCG@10"]
    assert trace["training"].iloc[-1] > trace["training"][0]


def test_stop_keeps_the_rounds_so_far(fold: Fold) -> None:
    def after(n: int) -> object:
        return lambda progress: progress.record is not None and progress.record["iteration"] == n

    stopped = LambdaMART(**SMALL).fit_data(fold.train, callback=after(7))
    assert stopped.outcome().stopped
    assert stopped.status_ == "stopped on request after 7 rounds, and kept all of them"
    np.testing.assert_array_equal(
        stopped.predict(fold.test.X),
        LambdaMART(**(SMALL | {"n_rounds": 7})).fit_data(fold.train).predict(fold.test.X),
    )


def test_a_run_watches_the_validation_part(fold: Fold) -> None:
    record = execute(RunSpec("demo", method="lambdamart", n_rounds=25, patience=5), fold=fold)
    model = LambdaMART(n_rounds=25, patience=5).fit_watching(fold.train, fold.vali)
    np.testing.assert_array_equal(record.scores["test"], model.predict(fold.test.X))
    np.testing.assert_array_equal(record.solution["importance"], model.feature_importances_)
    again = RunRecord.from_bytes(record.to_bytes())
    np.testing.assert_array_equal(again.trace["validation"], model.trace_["validation"])
    assert list(again.trace) == ["iteration", "seconds", "training", "validation"]


def test_fit_takes_documents_in_any_order_and_a_validation_part(fold: Fold) -> None:
    train, vali = fold.train, fold.vali
    shuffled = np.random.default_rng(0).permutation(train.n_documents)
    seen: list[Progress] = []
    model = LambdaMART(**SMALL, patience=4).fit(
        train.X[shuffled],
        train.y[shuffled],
        qid=train.qid[shuffled],
        validation=(vali.X, vali.y, vali.qid),
        callback=seen.append,
    )
    assert [p.record["iteration"] for p in seen] == list(model.trace_["iteration"])
    assert "validation" in model.trace_
    assert "validation" not in model.fit(train.X, train.y, qid=train.qid).trace_


def test_many_grades_have_their_own_gains() -> None:
    """LightGBM refuses grades from 31 on, unless gains are given."""
    data = RankingData.from_arrays(
        np.arange(40.0)[:, None] % 20, np.tile([0, 3, 33, 40], 10), np.repeat([1, 2], 20)
    )
    model = LambdaMART(leaf_documents=1, n_rounds=3, leaves=3).fit_data(data)
    assert len(np.unique(model.predict(data.X))) > 1


def test_what_lightgbm_does_not_take_is_said_before() -> None:
    n = 10_001
    data = RankingData.from_arrays(np.zeros((n, 1)), np.arange(n) % 2, np.ones(n))
    with pytest.raises(DataError, match="query 1 has 10,001 documents"):
        LambdaMART().fit_data(data)
    with pytest.raises(SettingError, match="leaves=1 must be a whole number of at least 2"):
        LambdaMART(leaves=1).fit([[1.0]], [1], qid=[1])


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: text.replace("num_leaves=6", "num_leaves=7", 1), "differ in length"),
        (lambda text: text.replace("left_child=", "left_child=9 ", 1), "differ in length"),
        (lambda text: text.replace("num_cat=0", "num_cat=1", 1), "not numerical"),
        (lambda text: text.replace("threshold=", "threshold=x", 1), "could not convert"),
    ],
)
def test_damaged_text_of_trees_is_refused(fold: Fold, damage: object, words: str) -> None:
    text = by_hand(fold, 2).booster_.model_to_string()
    trees_of(text).check(8)
    with pytest.raises(ValueError, match=words):
        trees_of(damage(text)).check(8)


def test_all_data_of_lightgbm_have_its_threads(fold: Fold, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data without the setting make LightGBM use all cores, which wait for each other on a busy machine."""
    given: list[int] = []
    made = lightgbm.Dataset

    def dataset(*data: Any, **about: Any) -> lightgbm.Dataset:
        given.append(about.get("params", {}).get("num_threads"))
        return made(*data, **about)

    monkeypatch.setattr(lightgbm, "Dataset", dataset)
    LambdaMART(n_rounds=3, n_threads=1).fit_watching(fold.train, fold.vali)
    assert given == [1, 1]
