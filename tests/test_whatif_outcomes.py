"""Test outcomes of changes against new fits and scores, typed documents, and the walk to an optimum."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rankviz import DataError, Fold, RankingData, RankSVM, evaluate
from rankviz.common.errors import SettingError
from rankviz.datasets import make_data, make_fold
from rankviz.datasets.samples import Sample
from rankviz.metrics.significance import compare
from rankviz.plots import per_query
from rankviz.plots.style import CHOSEN_COLOUR
from rankviz.whatif.changes import (
    Change,
    DocumentAdded,
    DocumentOut,
    FeatureOff,
    FeatureSet,
    GradeSet,
    OtherDraw,
    QueryOut,
    QueryWeighed,
    SomeQueries,
    WrongGrades,
    changed,
)
from rankviz.whatif.lookup import typed_documents
from rankviz.whatif.outcomes import (
    Outcome,
    WhatIf,
    changed_pairs,
    count_changed_pairs,
    count_changed_pairs_of_query,
)
from rankviz.whatif.path import newton_path
from rankviz.whatif.refits import refits_of

FOLD = make_fold(n_queries=20, documents_per_query=(8, 15), n_features=5, seed=3)
METRIC = "NDCG@10"


def label(part: str, query: int) -> int:
    return int(FOLD.parts[part].query_labels[query])


def number(part: str, query: int, place: int = 0) -> int:
    data = FOLD.parts[part]
    return int(data.rows[data.ptr[query] + place])


NEW = tuple(np.linspace(-0.5, 0.5, 5))
OF_TRAINING: dict[str, list[Change]] = {
    "grade": [GradeSet(label("train", 2), number("train", 2), 2)],
    "query out": [QueryOut(label("train", 1))],
    "query weight": [QueryWeighed(label("train", 1), 10.0)],
    "document out": [DocumentOut(label("train", 2), number("train", 2))],
    "feature value": [FeatureSet(label("train", 2), number("train", 2), 1, 0.9)],
    "document added": [DocumentAdded(label("train", 2), 10_000, NEW, 2)],
    "feature off": [FeatureOff(2)],
    "half of the queries": [SomeQueries(0.5)],
    "wrong grades": [WrongGrades(0.1)],
    "other draw": [OtherDraw(1)],
    "of both parts": [
        GradeSet(label("train", 2), number("train", 2), 2),
        FeatureSet(label("vali", 1), number("vali", 1), 1, 0.9),
    ],
}
OF_VALIDATION: dict[str, list[Change]] = {
    "grade": [GradeSet(label("vali", 1), number("vali", 1), 2)],
    "document out": [DocumentOut(label("vali", 1), number("vali", 1))],
    "feature value": [FeatureSet(label("vali", 1), number("vali", 1), 1, 0.9)],
    "document added": [DocumentAdded(label("vali", 1), 10_000, NEW, 2)],
}


@pytest.fixture(scope="module")
def model() -> RankSVM:
    return RankSVM("nystroem", n_components=20, gamma=0.2, C=0.1).fit_data(FOLD.train)


@pytest.fixture(scope="module")
def what_if(model: RankSVM) -> WhatIf:
    return WhatIf(model, FOLD)


def shown(changes: list[Change]) -> Fold:
    return changed(
        FOLD, [change for change in changes if not isinstance(change, QueryOut | SomeQueries | WrongGrades)]
    )


@pytest.mark.parametrize("name", OF_TRAINING)
def test_the_new_ranking_is_that_of_the_refit(name: str, model: RankSVM, what_if: WhatIf) -> None:
    changes = OF_TRAINING[name]
    found = what_if.outcome(changes)
    own = [change for change in changes if change.part(FOLD) != "vali"]
    after = refits_of(model, FOLD.train).refit(own).model
    assert found.trained
    for part, data in shown(changes).parts.items():
        if part != "test":
            assert found.fold.parts[part].digest == data.digest
            np.testing.assert_allclose(found.new[part], after.predict(data.X), atol=1e-7)


@pytest.mark.parametrize("name", OF_VALIDATION)
def test_validation_queries_train_nothing(name: str, what_if: WhatIf, model: RankSVM) -> None:
    found = what_if.outcome(OF_VALIDATION[name])
    assert not found.trained
    np.testing.assert_array_equal(found.new["train"], what_if.before["train"])
    before = refits_of(model, FOLD.train).before.model
    np.testing.assert_allclose(found.new["vali"], before.predict(found.fold.vali.X), atol=1e-9)


def test_the_old_ranking_has_documents_as_they_were(what_if: WhatIf) -> None:
    before = what_if.before
    trained = what_if.outcome(OF_TRAINING["feature value"])
    np.testing.assert_array_equal(trained.old["train"], before["train"])
    found = what_if.outcome(OF_VALIDATION["document added"] + OF_VALIDATION["feature value"])
    known = found.fold.vali.rows < 10_000
    np.testing.assert_array_equal(found.old["vali"][known], before["vali"])
    assert found.old["vali"][~known] == pytest.approx(found.new["vali"][~known])  # one model, one score
    moved = found.fold.vali.rows[~np.isclose(found.old["vali"], found.new["vali"], atol=1e-9)]
    assert moved.tolist() == [number("vali", 1)]  # the document with another feature


def test_a_document_that_is_left_out_is_in_neither_ranking(what_if: WhatIf) -> None:
    found = what_if.outcome(OF_TRAINING["document out"])
    assert len(found.old["train"]) == len(found.new["train"]) == FOLD.train.n_documents - 1
    gone = FOLD.train.rows != number("train", 2)
    np.testing.assert_array_equal(found.old["train"], what_if.before["train"][gone])


def test_a_query_left_out_of_training_is_still_ranked(what_if: WhatIf) -> None:
    found = what_if.outcome(OF_TRAINING["query out"])
    assert found.fold.train.digest == FOLD.train.digest
    assert np.isfinite(found.new["train"]).all()


def test_draws_come_first_and_keep_their_meaning(what_if: WhatIf) -> None:
    """Changes of queries that are not drawn have no effect; others do not alter what is drawn."""
    half = SomeQueries(0.5)
    kept = changed(FOLD.train, [half]).query_labels.tolist()
    out, own = (next(q for q in FOLD.train.query_labels.tolist() if (q in kept) == there) for there in (0, 1))
    first = int(FOLD.train.rows[FOLD.train.query_slice(FOLD.train.query_labels.tolist().index(out))][0])
    alone = what_if.outcome([half])
    both = what_if.outcome([QueryOut(out), GradeSet(out, first, 1), half])
    np.testing.assert_allclose(both.new["vali"], alone.new["vali"], atol=1e-6)
    without = what_if.outcome([QueryOut(own), half])
    rest = changed(FOLD.train, [half, QueryOut(own)])
    expected = refits_of(what_if.model([]), FOLD.train).refit([half, QueryOut(own)])
    assert expected.data.digest == rest.digest
    np.testing.assert_allclose(without.new["vali"], expected.model.predict(FOLD.vali.X), atol=1e-6)


def test_wrong_grades_judge_nothing(what_if: WhatIf) -> None:
    found = what_if.outcome([WrongGrades(0.3)])
    assert found.fold.train.digest == FOLD.train.digest
    old = evaluate(what_if.before["train"], FOLD.train).per_query[METRIC]
    assert found.per_query("train", METRIC)["old"].tolist() == old.tolist()


QUESTIONS: dict[str, tuple[Change, Callable[[], RankSVM]]] = {
    "half of the queries": (SomeQueries(0.5), lambda: plain(_rows_of(Sample(share=0.5).of(FOLD.train)))),
    "10 % wrong grades": (WrongGrades(0.1), lambda: plain(Sample(flipped=0.1).of(FOLD.train))),
    "a feature gone": (
        FeatureOff(2),
        lambda: plain(replace(FOLD.train, X=FOLD.train.X * (np.arange(5) != 2))),
    ),
    "other landmarks": (OtherDraw(7), lambda: plain(FOLD.train, random_state=7)),
}


def plain(data: RankingData, **settings: Any) -> RankSVM:
    """A model that is trained directly, without changes: linear, or with landmarks if a seed is given."""
    own = {"feature_map": "nystroem", "n_components": 20, "gamma": 0.2} if settings else {}
    return RankSVM(**{"feature_map": "linear", "C": 0.1, "tol": 1e-10} | own | settings).fit(
        data.X, data.y, qid=data.qid
    )


def _rows_of(data: RankingData) -> RankingData:
    """Return the data from plain arrays of the original file's rows."""
    kept = np.isin(FOLD.train.rows, data.rows)
    return RankingData.from_arrays(FOLD.train.X[kept], FOLD.train.y[kept], FOLD.train.qid[kept])


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_those_of_a_model_that_is_trained_directly(question: str, model: RankSVM) -> None:
    change, directly = QUESTIONS[question]
    before = model if isinstance(change, OtherDraw) else plain(FOLD.train)
    found = WhatIf(before, FOLD).outcome([change])
    vali = changed(FOLD.vali, [change] if isinstance(change, FeatureOff) else [])
    new, old = (
        evaluate(one.predict(data.X), FOLD.vali).per_query[METRIC]
        for one, data in ((directly(), vali), (before, FOLD.vali))
    )
    assert found.per_query("vali", METRIC)["new"].tolist() == pytest.approx(new.tolist())
    assert found.comparison("vali", METRIC).difference == pytest.approx((new - old).mean(), abs=1e-9)
    np.testing.assert_allclose(found.new["vali"], directly().predict(vali.X), atol=1e-4)
    assert np.abs(found.new["vali"] - found.old["vali"]).max() > 0.01


def test_both_rankings_are_judged_by_the_changed_grades(what_if: WhatIf) -> None:
    found = what_if.outcome(OF_TRAINING["grade"])
    table = found.per_query("train", METRIC)
    old = evaluate(found.old["train"], found.fold.train).per_query[METRIC]
    assert table["old"].tolist() == old.tolist()
    assert table["old"].tolist() != evaluate(found.old["train"], FOLD.train).per_query[METRIC].tolist()
    new = evaluate(found.new["vali"], FOLD.vali).per_query[METRIC]
    expected = compare(new, evaluate(found.old["vali"], FOLD.vali).per_query[METRIC])
    assert found.comparison("vali", METRIC) == expected


def test_without_a_change_nothing_differs(what_if: WhatIf) -> None:
    found = what_if.outcome([])
    for part in ("train", "vali"):
        np.testing.assert_array_equal(found.old[part], found.new[part])
        assert not found.per_query(part, METRIC)["difference"].any()
    what_if.prepare()


def test_the_figure_has_a_bar_for_each_query(what_if: WhatIf) -> None:
    found = what_if.outcome(OF_TRAINING["query weight"])
    tables = {part: found.per_query(part, METRIC) for part in ("train", "vali")}
    table = per_query.difference_data(tables)
    assert len(table) == FOLD.train.n_queries + FOLD.vali.n_queries
    chosen = ("train", label("train", 1))
    figure = per_query.difference_figure(table, METRIC, "#0072B2", chosen)
    assert [len(bars.x) for bars in figure.data] == [FOLD.train.n_queries, FOLD.vali.n_queries]
    for bars, (part, own) in zip(figure.data, table.groupby("part", sort=False), strict=True):
        assert list(bars.y) == sorted(own["difference"])
        drawn = zip(bars.customdata, bars.marker.color, strict=True)
        marked = [row[0] for row, tone in drawn if tone == CHOSEN_COLOUR]
        assert marked == ([chosen[1]] if part == chosen[0] else [])
    gained = int((table[table["part"] == "vali"]["difference"] > 0).sum())
    above = figure.layout.annotations[1].text.split("<br>")
    assert above[0] == f"validation ({FOLD.vali.n_queries})"
    assert above[1].startswith(f"{gained} ▲")
    assert max(map(len, above)) <= 16, "in large type there is room for no more"
    reach = figure.layout.yaxis.range[1]
    assert reach >= table["difference"].abs().max()


def test_rounding_is_no_change_of_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rankings may have one value, summed in two ways: 0.1 + 0.2 and 0.3."""
    values = iter([0.3, 0.1 + 0.2])
    queries = FOLD.vali.query_labels
    monkeypatch.setattr(
        "rankviz.whatif.outcomes.evaluate",
        lambda *_, **__: SimpleNamespace(per_query=pd.DataFrame({"MAP": next(values)}, index=queries)),
    )
    none = {"vali": np.zeros(FOLD.vali.n_documents)}
    found = Outcome(FOLD, none, none, False, 0.0).per_query("vali", "MAP")
    assert (found["new"] != found["old"]).all()
    assert (found["difference"] == 0.0).all()


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


@pytest.mark.parametrize("block", [1, 7, 4_000_000])
def test_the_pairs_of_a_query_that_turned(
    block: int, ranked: tuple[np.ndarray, np.ndarray, RankingData], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankviz.whatif.outcomes._BLOCK", block)
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
    assert len(table) > 3
    assert changed_pairs(before[own], after[own], y, most=3).equals(table[:3])
    assert count_changed_pairs_of_query(before[own], after[own], y) == counted


def test_a_margin_of_rounding_is_a_tie() -> None:
    y, tied = np.array([2, 0, 1]), np.array([0.19, 0.19, 0.1])
    rounded = tied + np.array([2e-15, 0.0, 0.0])
    data = RankingData.from_arrays(np.zeros((3, 1)), y, np.zeros(3, int))
    for before, after in ((tied, rounded), (rounded, tied)):
        found = count_changed_pairs(before, after, data)
        assert (found.right, found.wrong) == (0, 0)
        assert changed_pairs(before, after, y).empty


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
        ("1 2 x", "not a number"),
        ("1 2 inf", "not finite"),
        ("1 qid:1 5:2", "feature 5 in document 1"),
        ("1 qid:1 1:nan", "document 1"),
        ("0.5 qid:1 1:1", "document 1"),
    ],
)
def test_other_texts_are_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        typed_documents(text, 3)


DATA = make_data(n_queries=12, documents_per_query=(8, 20), n_features=5, seed=1)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic", "huber"])
def test_a_walk_begins_where_one_stands_and_ends_at_the_optimum(loss: str) -> None:
    start = np.array([3.0, -2.0, 0.0, 1.0, 0.5])
    path = newton_path(RankSVM("linear", C=0.5, loss=loss), DATA, start)
    optimum = RankSVM("linear", C=0.5, loss=loss, tol=1e-9).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert np.array_equal(path[0], start)
    assert len(path) > 2
    assert np.linalg.norm(path[-1] - optimum.coef_) <= 1e-2 * np.linalg.norm(optimum.coef_)


def test_who_stands_at_the_optimum_stays_there() -> None:
    model = RankSVM("linear", C=0.5)
    here = newton_path(model, DATA, np.zeros(5))[-1]
    assert np.allclose(
        newton_path(RankSVM("linear", C=0.5), DATA, here), here, atol=1e-2 * np.abs(here).max()
    )


def test_a_map_with_a_kernel_is_walked_too() -> None:
    model = RankSVM("nystroem", n_components=10, gamma=0.5, C=0.5)
    path = newton_path(model, DATA, np.full(10, 0.1))
    assert np.array_equal(path[0], np.full(10, 0.1))
    assert np.array_equal(path[-1], model.coef_)


@pytest.mark.parametrize("start", [[1.0], np.zeros(6), [0, 0, 0, 0, np.nan]])
def test_weights_of_other_features_are_refused(start: list[float]) -> None:
    with pytest.raises(SettingError, match="5 finite numbers, one for each feature"):
        newton_path(RankSVM("linear"), DATA, start)
