"""Runs grouped into contestants, and contestants matched: what belongs together, what cannot be compared."""

import math
from dataclasses import replace
from itertools import product

import pandas as pd
import pytest
from conftest_contestants import LINEAR, NYSTROEM, over_folds, run, single

from rankviz import DataError, RunRecord, RunSpec, execute, execute_all
from rankviz.analysis.comparison import Comparison, compare
from rankviz.analysis.contestants import Contestant, Matched, Run, contestants
from rankviz.common.errors import SettingError
from rankviz.common.settings import every
from rankviz.datasets import Fold, make_data, make_fold
from rankviz.datasets.parts import cyclic_fold
from rankviz.models.methods import METHODS


def test_folds_and_seeds_of_a_model_belong_together() -> None:
    specs = [LINEAR, NYSTROEM, LINEAR.but(fold="Fold2"), NYSTROEM.but(seed=1), NYSTROEM.but(C=2.0)]
    found = contestants(run(spec, [0.5]) for spec in specs)
    assert [one.label for one in found] == [
        "linear, C = 2⁻²",
        "Nyström, m = 25, C = 2⁻²",
        "Nyström, m = 25, C = 2¹",
    ]
    assert [len(one.runs) for one in found] == [2, 2, 1]
    assert found[0].folds == ("Fold1", "Fold2")
    assert found[1].draws == ("seed 0", "seed 1")
    assert found[0].draws == ("",)


def test_a_spec_that_comes_again_counts_once() -> None:
    assert len(contestants([run(LINEAR, [0.1]), run(LINEAR, [0.1])])[0].runs) == 1


def test_what_only_draws_is_declared_and_not_named() -> None:
    """Only settings that declare `draws` are averaged over."""
    drawing = {s.name for method in METHODS.values() for s in every(method.settings) if s.draws}
    assert drawing == {"seed"}
    sampled = LINEAR.but(share=0.5)
    found = contestants([run(sampled, [0.1]), run(sampled.but(draw=3), [0.2]), run(LINEAR, [0.3])])
    assert [one.label for one in found] == ["linear, 50 % of the training queries", "linear"]
    assert found[0].draws == ("draw 0", "draw 3")


def test_seeds_of_others_do_not_show_in_labels() -> None:
    found = contestants([run(NYSTROEM.but(seed=4), [0.1]), run(NYSTROEM.but(C=2.0, seed=5), [0.1])])
    assert not any("seed" in one.label for one in found)


def test_labels_tell_normalisations_and_what_nobody_tells() -> None:
    specs = [LINEAR, LINEAR.but(normalisation="query_minmax"), LINEAR.but(start="zero")]
    labels = [one.label for one in contestants(run(spec, [0.1]) for spec in specs)]
    assert labels[0] == "linear, not normalised"
    assert labels[1].startswith("linear, normalised: ")
    assert labels[2] == "linear, not normalised (2)"


def test_models_on_two_data_sets_are_two() -> None:
    found = contestants(run(spec, [0.1]) for spec in (LINEAR, LINEAR.but(dataset="other", fold="Fold2")))
    assert [one.label for one in found] == ["linear, demo", "linear, other"]


def test_queries_without_a_value_do_not_weigh_in_the_note_on_equal_scores() -> None:
    first = replace(run(LINEAR, [1.0, math.nan, math.nan]), by_order={"MAP": 4.0})
    other = run(LINEAR.but(fold="Fold2"), [2.0, 3.0])
    one = Contestant("linear", (first, other))
    assert one.moved_by_order(["MAP"]) == {"MAP": "3.000 instead of 2.000"}  # (4 + 2 + 3) / 3
    assert Contestant("linear", (run(LINEAR, [math.nan]),)).moved_by_order(["MAP"]) == {}


def test_records_give_their_metrics_of_a_part_and_their_seconds() -> None:
    fold = make_fold(n_queries=12, documents_per_query=(5, 9), seed=1)
    record = replace(execute(LINEAR, fold=fold), seconds={"data": 1.0, "newton": 2.0, "evaluate": 4.0})
    found = Run.of(record, "vali")
    pd.testing.assert_frame_equal(found.per_query, record.metrics["vali"])
    assert found.seconds == 2.0
    assert math.isnan(Run.of(replace(record, seconds={"data": 1.0}), "vali").seconds), "nobody told"
    with pytest.raises(SettingError, match="no part 'tests'; it has train, vali, test"):
        contestants([record], "tests")


def test_a_query_counts_once_by_its_mean_over_seeds_then_folds() -> None:
    runs = [
        run(NYSTROEM, [0.2, 0.9], [7, 8]),
        run(NYSTROEM.but(seed=1), [0.4, 0.7], [7, 8]),
        run(NYSTROEM.but(fold="Fold2"), [0.5, 0.1], [7, 9]),
    ]
    assert Contestant("a", tuple(runs)).by_query("MAP").to_dict() == pytest.approx({7: 0.4, 8: 0.8, 9: 0.1})


def test_queries_that_the_definition_leaves_out_are_missing_everywhere_or_refused() -> None:
    runs = (run(NYSTROEM, [0.2, math.nan]), run(NYSTROEM.but(seed=1), [0.4, math.nan]))
    found = Contestant("a", runs).by_query("MAP")
    assert found[1] == pytest.approx(0.3)
    assert math.isnan(found[2])
    partly = (runs[0], run(NYSTROEM.but(seed=1), [0.4, 0.5]))
    with pytest.raises(DataError, match="query 2 has MAP in some runs of a only"):
        Contestant("a", partly).by_query("MAP")
    with pytest.raises(DataError, match="query 2 has MAP for some models only"):
        Matched.of([single("a", [0.1, math.nan]), single("b", [0.1, 0.2])]).by_query("MAP")


def test_contestants_that_are_none() -> None:
    with pytest.raises(SettingError, match="has no runs"):
        Contestant("a", ())
    with pytest.raises(SettingError, match="two runs of the same fold and seed"):
        Contestant("a", (run(LINEAR, [0.1]), run(LINEAR.but(C=2.0), [0.1])))
    with pytest.raises(SettingError, match=r"a has no NDCG@10; it has MAP"):
        single("a", [0.1]).by_query("NDCG@10")
    with pytest.raises(DataError, match="query 3 twice in a on Fold1"):
        Contestant("a", (run(LINEAR, [0.1, 0.2], [3, 3]),)).by_query("MAP")


def test_metrics_are_those_that_every_run_has() -> None:
    both = (run(NYSTROEM, [0.1], **{"P@1": [1.0]}), run(NYSTROEM.but(seed=1), [0.1]))
    assert Contestant("a", both).metrics == ("MAP",)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (run(RunSpec("else", feature_map="linear"), [0.1, 0.2]), "of demo and of else"),
        (run(LINEAR.but(digest="b" * 16), [0.1, 0.2]), "its digest is aaaaaaaa and bbbbbbbb"),
        (run(LINEAR.but(fold="Fold2"), [0.1, 0.2]), "first has no run on Fold2, which others have"),
        (run(LINEAR, [0.1, 0.2], [8, 9]), "no query in common"),
    ],
)
def test_what_cannot_be_compared_is_refused(other: Run, words: str) -> None:
    first = Contestant("first", (run(LINEAR.but(digest="a" * 16), [0.1, 0.2]),))
    with pytest.raises(SettingError, match=words):
        Matched.of([first, Contestant("other", (other,))])


def test_one_model_or_two_of_one_name_are_no_comparison() -> None:
    with pytest.raises(SettingError, match="at least two models"):
        Matched.of([single("a", [0.1])])
    with pytest.raises(SettingError, match="two models have the label 'a'"):
        Matched.of([single("a", [0.1]), single("a", [0.2])])
    with pytest.raises(SettingError, match="'c' is not among the compared models: 'a', 'b'"):
        Matched.of([single("a", [0.1]), single("b", [0.2])]).named("c")


def test_queries_that_one_lacks_are_left_out_and_that_is_said() -> None:
    found = Matched.of([single("a", [0.1, 0.2, 0.3]), single("b", [0.4, 0.5], queries=[3, 2])])
    assert list(found.queries) == [2, 3]
    assert found.by_query("MAP").to_dict("index") == {2: {"a": 0.2, "b": 0.5}, 3: {"a": 0.3, "b": 0.4}}
    assert found.notes == ("1 of 3 queries is left out, because some runs lack it.",)


def test_queries_that_are_left_out_of_one_fold_stay_in_another() -> None:
    folds = LINEAR.but(fold="Fold1"), LINEAR.but(fold="Fold2")
    first = Contestant("a", tuple(run(spec, [0.1, 0.2]) for spec in folds))
    second = Contestant("b", (run(folds[0], [0.3, 0.4]), run(folds[1], [0.5], queries=[2])))
    kept = [(fold, query) for fold, _, query in Matched.of([first, second]).contestants[0].frame.index]
    assert kept == [("Fold1", 1), ("Fold1", 2), ("Fold2", 2)]


def test_runs_that_were_stopped_are_told() -> None:
    both = (run(NYSTROEM, [0.1]), replace(run(NYSTROEM.but(seed=1), [0.1]), stopped=True))
    found = Matched.of([Contestant("a", both), single("b", [0.2])])
    assert found.notes == ("Of 2 runs of a, 1 did not train to the end.",)


def test_notes_on_seeds_folds_and_normalisations() -> None:
    uneven = over_folds("drawn", NYSTROEM, {"Fold1": [[0.1], [0.2]], "Fold2": [[0.3]]})
    plain = over_folds("plain", LINEAR, {"Fold1": [[0.1]], "Fold2": [[0.3]]})
    assert Matched.of([uneven, plain]).notes == (
        "drawn has different seeds on some folds; means are over the seeds that exist.",
    )
    scaled = single("scaled", [0.1], LINEAR.but(normalisation="query_zscore"))
    assert "normalise features differently" in Matched.of([single("a", [0.1]), scaled]).notes[0]
    again = [
        Contestant(name, (run(LINEAR, [0.1]), run(LINEAR.but(fold="Fold2"), [0.3]))) for name in ("a", "b")
    ]
    assert "each counts once" in Matched.of(again).notes[0]


RBF_SPEC = RunSpec("made", n_components=10, gamma=0.5)


@pytest.fixture(scope="module")
def folds() -> dict[str, Fold]:
    data = make_data(n_queries=30, documents_per_query=(8, 16), seed=3)
    return {f"Fold{number}": cyclic_fold(data, number) for number in (1, 2)}


@pytest.fixture(scope="module")
def records(folds: dict[str, Fold]) -> list[RunRecord]:
    models = [RBF_SPEC.linear(1.0), *(RBF_SPEC.but(feature_map=m, seed=s) for m, s in product(MAPS, (0, 1)))]
    return [
        record
        for name, fold in folds.items()
        for _, record in execute_all([spec.but(fold=name) for spec in models], fold=fold)
    ]


MAPS = ("nystroem", "fourier")


@pytest.fixture(scope="module")
def found(records: list[RunRecord]) -> Comparison:
    return compare(contestants(records), ["NDCG@5", "MAP"], "linear, C = 2⁰")


def test_test_parts_of_folds_stand_beside_one_another(found: Comparison, folds: dict[str, Fold]) -> None:
    assert [one.label for one in found.matched.contestants] == [
        "linear, C = 2⁰",
        "Nyström, m = 10",
        "random Fourier, m = 10",
    ]
    assert len(found.matched.queries) == sum(fold.test.n_queries for fold in folds.values())
    assert found.standings["seeds"].tolist() == [1, 2, 2] * 2
    assert found.notes == ()


def test_training_parts_share_queries_which_count_once(
    records: list[RunRecord], folds: dict[str, Fold]
) -> None:
    found = compare(contestants(records, "train"), ["MAP"], "linear, C = 2⁰")
    queries = {query for fold in folds.values() for query in fold.train.query_labels}
    assert set(found.standings["queries"]) == {len(queries)}
    assert sum(fold.train.n_queries for fold in folds.values()) > len(queries)
    assert "each counts once" in found.notes[0]
