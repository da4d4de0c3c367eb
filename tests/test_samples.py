"""Runs on samples of the training part: what is drawn, specs that name it, and what they learn."""

import json

import numpy as np
import pytest

from rankviz import FactorizedRankSVM, Fold, RankSVM, RunSpec, evaluate, execute, execute_all
from rankviz.common.errors import SettingError
from rankviz.datasets import make_fold
from rankviz.datasets.samples import SETTINGS, Sample, n_queries
from rankviz.features import exact
from rankviz.runs.description import describe
from rankviz.runs.estimate import estimate, total_seconds
from rankviz.runs.families import families
from rankviz.runs.run import model_from
from rankviz.runs.spec import DataSpec

FOLD = make_fold(n_queries=40, documents_per_query=(6, 14), seed=2)
TRAIN = FOLD.train
SPEC = RunSpec("made", feature_map="nystroem", n_components=20, gamma=0.25, C=0.05)
MAPS = {
    "linear": SPEC.but(feature_map="linear"),
    "nystroem": SPEC,
    "fourier": SPEC.but(feature_map="fourier"),
    "exact": SPEC.but(feature_map="exact"),
    "scale": SPEC.but(gamma="scale"),
    "truncated": SPEC.but(rank=5),
    "hinge": SPEC.but(loss="hinge"),
}
SAMPLES = [Sample(0.25, draw=1), Sample(0.5, draw=1), Sample(flipped=0.2, draw=1), Sample(0.5, 0.3, 2)]


def test_all_of_it_is_the_part_itself() -> None:
    assert Sample().of(TRAIN) is TRAIN
    assert not Sample().drawn
    assert Sample().words == ""


def test_smaller_shares_are_parts_of_larger_ones() -> None:
    found = [set(Sample(share, draw=3).of(TRAIN).query_ids.tolist()) for share in (0.01, 0.3, 0.9)]
    assert [len(queries) for queries in found] == [n_queries(24, s) for s in (0.01, 0.3, 0.9)]
    assert len(found[0]) == 1
    assert found[0] < found[1] < found[2]
    other = set(Sample(0.3, draw=4).of(TRAIN).query_ids.tolist())
    assert other != found[1]


def test_queries_stay_whole_and_in_order() -> None:
    some = Sample(0.4, draw=1).of(TRAIN)
    places = np.searchsorted(TRAIN.query_ids, some.query_ids)
    assert (np.diff(places) > 0).all()
    for place, q in zip(places, range(some.n_queries), strict=True):
        np.testing.assert_array_equal(some.X[some.query_slice(q)], TRAIN.X[TRAIN.query_slice(int(place))])


def test_flipped_grades_are_other_grades_that_there_are() -> None:
    few, many = (Sample(flipped=share, draw=5).of(TRAIN).y for share in (0.1, 0.4))
    wrong = np.flatnonzero(few != TRAIN.y)
    assert len(wrong) == round(0.1 * TRAIN.n_documents)
    assert (many != TRAIN.y).sum() == round(0.4 * TRAIN.n_documents)
    np.testing.assert_array_equal(many[wrong], few[wrong])
    assert set(many.tolist()) <= set(TRAIN.y.tolist())
    assert Sample(flipped=0.1).of(TRAIN).X is TRAIN.X


def test_one_grade_only_cannot_be_flipped() -> None:
    fold = make_fold(n_queries=10, documents_per_query=(3, 4), seed=0)
    same = fold.train.renamed("same")
    object.__setattr__(same, "y", np.ones(same.n_documents, np.int64))
    np.testing.assert_array_equal(Sample(flipped=1.0).of(same).y, same.y)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"share": 0.0}, "share=0.0 must be a number above 0"),
        ({"share": 1.5}, "share=1.5"),
        ({"flipped": -0.1}, "flipped=-0.1 must be a number from 0 to 1"),
        ({"flipped": "some"}, "flipped='some'"),
        ({"draw": 3}, "draw=3 is not read"),
        ({"share": 0.5, "draw": -1}, "draw=-1"),
    ],
)
def test_refuses_samples_that_are_none(values: dict[str, object], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        SPEC.but(**values)


def test_specs_of_all_data_are_written_as_ever() -> None:
    assert "share" not in SPEC.to_json()
    assert RunSpec("OHSUMED", feature_map="linear", C=0.5).hash == "c344680100351784"
    assert SPEC.but(share=0.5).but(share=1.0) == SPEC


def test_specs_of_samples_are_specs_like_any_other() -> None:
    spec = SPEC.but(share=0.25, flipped=0.1, draw=7)
    assert RunSpec.from_json(spec.to_json()) == spec
    assert json.loads(spec.to_json())["data"]["share"] == 0.25
    assert (spec.share, spec.flipped, spec.draw) == (0.25, 0.1, 7)
    assert eval(repr(spec)) == spec
    assert len({spec.hash, spec.but(draw=8).hash, SPEC.hash}) == 3
    assert spec.data.whole == SPEC.data
    words = "made fold 1, 25 % of the training queries, 10 % of the training grades flipped, draw 7"
    assert describe(spec).data == words


def test_settings_are_declared_in_the_order_of_the_sample() -> None:
    assert tuple(setting.name for setting in SETTINGS) == ("share", "flipped", "draw")
    assert DataSpec("made").sample == Sample()


def test_samples_are_a_family_draw_by_draw() -> None:
    specs = [SPEC.but(share=s, draw=d) for s in (0.5, 0.25) for d in (1, 0)]
    (first, second) = families([*specs, SPEC])
    assert [(s.draw, s.share) for s in first] == [(0, 0.25), (0, 0.5), (1, 0.25), (1, 0.5)]
    assert second == [SPEC]
    assert len(families([SPEC.but(share=0.5), SPEC.but(share=0.5, n_components=10)])) == 2


def by_hand(spec: RunSpec, fold: Fold) -> RankSVM:
    """The model on a sample, with the features of the whole training part, its weights from zero."""
    whole = execute(spec.but(share=1.0, flipped=0.0, draw=0), fold=fold)
    model, sample = model_from(whole, fold.train), spec.sample.of(fold.train)
    features = model.feature_map_.operator(sample.X).dense()
    kept = RankSVM("linear", C=spec.C, loss=spec.loss, tol=1e-9)
    return kept.fit(features, sample.y, qid=sample.qid)


@pytest.mark.parametrize("name", MAPS)
def test_learns_from_the_sample_with_features_of_all(name: str) -> None:
    specs = [MAPS[name].but(share=s.share, flipped=s.flipped, draw=s.draw) for s in SAMPLES]
    for spec, record in execute_all(specs, fold=FOLD):
        reference = by_hand(spec, FOLD)
        assert record.objective == pytest.approx(reference.objective_, rel=3e-6)
        assert record.n_pairs == reference.n_pairs_
        assert record.spec == spec.but(digest=FOLD.digest)
        for part, data in FOLD.parts.items():
            assert len(record.scores[part]) == data.n_documents
            metrics = evaluate(record.scores[part], data).per_query
            np.testing.assert_array_equal(metrics["NDCG@10"], record.metrics[part]["NDCG@10"])
        again = model_from(record, FOLD.train).predict(FOLD.vali.X)
        np.testing.assert_allclose(again, record.scores["vali"], atol=1e-9)


def test_in_the_space_of_an_exact_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = [MAPS["exact"].but(share=s.share, flipped=s.flipped, draw=s.draw) for s in SAMPLES]
    factored = dict(execute_all(specs, fold=FOLD))
    monkeypatch.setattr(exact, "SMALL", 10)
    for spec, record in execute_all(specs, fold=FOLD):
        assert len(record.weights) == TRAIN.n_documents
        assert record.objective == pytest.approx(factored[spec].objective, rel=3e-6)
        again = model_from(record, FOLD.train).predict(FOLD.vali.X)
        np.testing.assert_allclose(again, record.scores["vali"], atol=1e-9)


def test_each_starts_from_the_sample_before() -> None:
    specs = [SPEC.but(share=share) for share in (0.5, 0.25)]
    starts = {spec.share: record.start for spec, record in execute_all(specs, fold=FOLD)}
    assert starts == {0.25: "zero", 0.5: "the weights for 25 % of the training queries"}
    alone = [spec.but(start="zero") for spec in specs]
    assert {record.start for _, record in execute_all(alone, fold=FOLD)} == {"zero"}


def test_features_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from rankviz.features.nystroem import FittedNystroem

    counted: list[int] = []
    computed = FittedNystroem.operator

    def counting(self: FittedNystroem, X: np.ndarray, *rest: object) -> object:
        counted.append(len(X))
        return computed(self, X, *rest)

    monkeypatch.setattr(FittedNystroem, "operator", counting)
    list(execute_all([SPEC.but(share=s, draw=d) for s in (0.25, 0.5) for d in (0, 1)], fold=FOLD))
    assert sorted(counted) == sorted(part.n_documents for part in FOLD.parts.values())


def test_low_rank_models_learn_from_samples_too() -> None:
    spec = SPEC.factorized(2, 0.05).but(share=0.5, draw=1)
    record = execute(spec, fold=FOLD)
    sample = spec.sample.of(TRAIN)
    plain = FactorizedRankSVM(feature_map="nystroem", n_components=20, gamma=0.25, C=0.05, rank=2)
    np.testing.assert_array_equal(record.scores["vali"], plain.fit_data(sample).predict(FOLD.vali.X))
    assert record.n_pairs < execute(SPEC, fold=FOLD).n_pairs
    again = model_from(record, TRAIN).predict(FOLD.vali.X)
    np.testing.assert_allclose(again, record.scores["vali"], atol=1e-9)


def test_estimates_share_features() -> None:
    specs = [SPEC.but(share=0.5, draw=d) for d in range(5)]
    costs = [estimate(spec, FOLD) for spec in specs]
    assert total_seconds(costs) < sum(cost.seconds for cost in costs)
    assert estimate(SPEC.but(share=0.1), FOLD).stages["newton"] < estimate(SPEC, FOLD).stages["newton"]
