"""The table of methods: its rows, the choice of C, differences to a baseline, LETOR's printed results."""

import numpy as np
import pytest

from rankviz import RankSVM, RunRecord, RunSpec, SettingError
from rankviz.analysis.methods import (
    EXPONENTS,
    METRICS,
    best_on_validation,
    catalogue,
    compared,
    printed_means,
    with_weights,
)
from rankviz.datasets import load_demo
from rankviz.datasets.folds import DEMONSTRATION
from rankviz.datasets.known import KNOWN_SETS, Recognition
from rankviz.learning.loss_facts import FAMILIES
from rankviz.learning.losses import EVERY_LOSS
from rankviz.metrics.paired_tests import paired_tests
from rankviz.models.methods import METHODS, Method
from rankviz.plots.methods import tree_data, tree_figure
from rankviz.runs.run import execute_all

BASE = RunSpec(DEMONSTRATION, feature_map="linear")
OHSUMED = KNOWN_SETS[0]
FOLDS = [f"Fold{k}" for k in range(1, 6)]


@pytest.fixture(scope="module")
def records() -> dict[str, list[RunRecord]]:
    fold, own = load_demo(1), ("squared_hinge", "logistic")
    specs = {key: with_weights(catalogue()[key].on(BASE, "Fold1", fold.digest)) for key in own}
    made = dict(execute_all([spec for runs in specs.values() for spec in runs], fold=fold))
    return {key: [made[spec] for spec in runs] for key, runs in specs.items()}


def test_every_method_that_trains_is_listed_with_its_family() -> None:
    listed = catalogue()
    assert {one.changes["method"] for one in listed.values()} == {
        k for k, one in METHODS.items() if one.trains
    }
    assert listed.keys() >= EVERY_LOSS.keys()
    assert {one.family for one in listed.values()} <= FAMILIES.keys()
    assert all(one.label and one.minimises for one in listed.values())
    assert len({one.label for one in listed.values()}) == len(listed)


def test_every_method_can_be_made_from_the_usual_run() -> None:
    for one in catalogue().values():
        spec = one.on(BASE, "Fold2", "")
        assert spec.fold == "Fold2"
        assert all(getattr(spec, name) == value for name, value in one.changes.items())


def test_c_is_chosen_on_the_validation_part(records: dict[str, list[RunRecord]]) -> None:
    own = records["squared_hinge"]
    assert [record.spec.C for record in own] == [2.0**k for k in EXPONENTS]
    means = [record.metrics["vali"]["NDCG@10"].mean() for record in own]
    assert best_on_validation(own) is own[int(np.argmax(means))]
    assert len(set(means)) > 1


def test_a_method_without_c_has_one_run() -> None:
    spec = RunSpec("any", method="lambdamart")
    assert with_weights(spec) == [spec]


def test_differences_are_those_of_paired_tests(records: dict[str, list[RunRecord]]) -> None:
    chosen = {key: [best_on_validation(own)] for key, own in records.items()}
    found, table = compared(chosen, "test", "squared_hinge")
    assert found is not None
    for metric in METRICS:
        new, old = (chosen[key][0].metrics["test"][metric] for key in ("logistic", "squared_hinge"))
        tests = paired_tests(new, old)
        assert table.loc["logistic", f"{metric} mean"] == pytest.approx(new.mean(), abs=1e-15)
        assert table.loc["logistic", f"{metric} difference"] == pytest.approx(tests.interval.mean, abs=1e-15)
        assert np.isnan(table.loc["squared_hinge", f"{metric} difference"])
    assert table.loc["logistic", "seconds"] > 0
    assert table["features"].unique().tolist() == ["linear"]


def test_a_single_method_has_no_differences(records: dict[str, list[RunRecord]]) -> None:
    found, table = compared({"logistic": records["logistic"][:1]}, "vali", "logistic")
    assert found is None
    assert "NDCG@10 difference" not in table
    assert table.loc["logistic", "MAP mean"] == records["logistic"][0].metrics["vali"]["MAP"].mean()


def test_without_the_baseline_there_are_means_but_no_differences(records: dict[str, list[RunRecord]]) -> None:
    chosen = {key: own[:1] for key, own in records.items()}
    found, table = compared(chosen, "vali", "hinge")
    assert found is None
    assert table["NDCG@10 mean"].notna().all()


def test_settings_that_a_method_cannot_have_are_refused() -> None:
    costly = BASE.but(costs=((0.0, 0.0), (1.0, 0.0)))
    with pytest.raises(SettingError):
        catalogue()["listnet"].on(costly, "Fold1", "")
    assert catalogue()["hinge"].on(costly, "Fold1", "").costs == costly.costs


def test_a_method_that_is_entered_later_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "mine", Method("mine", RankSVM, ()))
    assert catalogue()["mine"].family == "other"


def test_printed_means_are_letors() -> None:
    table = printed_means(Recognition(OHSUMED, True, ""), FOLDS)
    assert table.loc["squared_hinge", "NDCG@10"] == pytest.approx(0.4504, abs=5e-5)  # LETOR's own mean
    assert table.loc["listnet", "MAP"] == pytest.approx(0.4457, abs=5e-5)
    one = printed_means(Recognition(OHSUMED, True, ""), ["Fold2"])
    assert one.loc["squared_hinge", "NDCG@10"] == 0.4643


@pytest.mark.parametrize(
    "recognition",
    [Recognition(None, False, ""), Recognition(OHSUMED, False, ""), Recognition(KNOWN_SETS[1], True, "")],
    ids=["unknown", "incomplete", "another release"],
)
def test_other_data_have_no_printed_means(recognition: Recognition) -> None:
    assert printed_means(recognition, FOLDS).empty


def test_a_fold_that_letor_does_not_have_gives_no_printed_means() -> None:
    assert printed_means(Recognition(OHSUMED, True, ""), [*FOLDS, "Fold6"]).empty


def test_the_tree_has_a_point_for_each_method_and_fills_those_with_a_value() -> None:
    table = tree_data(catalogue().values(), {"logistic": 0.5}, "MAP")
    assert set(table["key"]) == set(catalogue())
    assert list(dict.fromkeys(table["family"])) == [k for k in FAMILIES if k in set(table["family"])]
    points = [trace for trace in tree_figure(table, "MAP", "hinge").data if trace.mode == "markers+text"]
    filled = {
        data[0]
        for trace in points
        for data, colour in zip(trace.customdata, trace.marker.color, strict=True)
        if colour.startswith("#")
    }
    assert filled == {"logistic"}
    assert sum(len(trace.x) for trace in points) == len(table)
