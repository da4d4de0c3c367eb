"""Test selection: from validation results of complete cells only, with its sentence."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest_sweeps import GRID, LINEAR, SPEC, bowl, made_up

from rankviz import RunSpec, execute_all
from rankviz.common.errors import DataError, SettingError
from rankviz.datasets import make_fold
from rankviz.runs import Design, Values, runs_table, select

ONE_FOLD = Design(SPEC, GRID.axes, folds=("a",))


def without(table: pd.DataFrame, **settings: object) -> pd.DataFrame:
    gone = np.logical_and.reduce([table[name] == value for name, value in settings.items()])
    return table[~gone]


def test_the_best_mean_over_folds_is_taken_for_all_of_them() -> None:
    found = select(GRID, made_up(GRID, bowl, test=lambda spec: spec.C), "MAP")
    assert found.settings == {fold: {"C": 1.0, "gamma": 0.5} for fold in "abc"}
    assert found.validation == pytest.approx(0.5 - 0.001 + 0.05)
    assert found.chosen["error"].tolist() == pytest.approx([0.05 / math.sqrt(3)] * 3)
    assert found.test["MAP"].tolist() == [1.0, 1.0, 1.0]
    assert found.test_means["MAP"] == 1.0
    assert (found.left_out, found.cells, found.notes) == (0, 6, ())


def test_each_fold_can_have_a_choice_of_its_own() -> None:
    best = {"a": 0.25, "b": 1.0, "c": 4.0}
    table = made_up(GRID, lambda s: -abs(math.log2(s.C / best[s.fold])) - s.gamma, test=lambda s: s.C)
    found = select(GRID, table, "MAP", per_fold=True)
    assert {fold: cell["C"] for fold, cell in found.settings.items()} == best
    assert found.test["MAP"].to_dict() == best
    assert "there is no standard error" in found.notes[0]


def test_the_test_part_has_no_say() -> None:
    """The choice ignores the test part, and only the chosen cell's test results are reported."""
    validated = made_up(GRID, bowl)
    rng = np.random.default_rng(0)
    for _ in range(5):
        table = validated.assign(**{"test:MAP": rng.random(len(validated))})
        found = select(GRID, table, "MAP")
        assert found.settings["a"] == {"C": 1.0, "gamma": 0.5}
        chosen = table[(table["C"] == 1.0) & (table["gamma"] == 0.5)]
        assert found.test["MAP"].tolist() == chosen["test:MAP"].tolist()


def test_seeds_are_averaged() -> None:
    design = Design(SPEC, GRID.axes, folds=("a",), seeds=(0, 1))
    table = made_up(design, lambda s: {0.25: (0.9, 0.1), 1.0: (0.6, 0.6), 4.0: (0.5, 0.5)}[s.C][s.seed])
    found = select(design, table, "MAP")
    assert found.settings["a"]["C"] == 1.0
    assert found.validation == pytest.approx(0.6)


def test_a_cell_that_lacks_a_seed_on_one_fold_cannot_be_chosen() -> None:
    """Its best cell is best by the seeds that are there, too."""
    design = Design(SPEC, GRID.axes, folds=("a", "b"), seeds=(0, 1))
    table = without(made_up(design, bowl), C=1.0, gamma=0.5, fold="b", seed=1)
    found = select(design, table, "MAP")
    assert found.settings["a"] == {"C": 0.25, "gamma": 0.5}
    assert found.left_out == 1
    assert select(design, table, "MAP", per_fold=True).settings["a"] == {"C": 1.0, "gamma": 0.5}


@pytest.mark.parametrize("how", ["missing", "NaN", "infinite"])
def test_a_cell_that_lacks_a_run_cannot_be_chosen_and_is_told(how: str) -> None:
    """The best cell lacks its lowest fold: the mean over the other two would be the best by far."""
    table = made_up(GRID, bowl)
    if how == "missing":
        table = without(table, C=1.0, gamma=0.5, fold="a")
    else:
        gone = (table["C"] == 1.0) & (table["gamma"] == 0.5) & (table["fold"] == "a")
        table.loc[gone, "vali:MAP"] = math.nan if how == "NaN" else math.inf
    found = select(GRID, table, "MAP")
    assert found.settings["a"] == {"C": 0.25, "gamma": 0.5}
    assert found.left_out == 1
    assert "1 of 6 cells are left out: runs of theirs are missing or have no MAP" in found.notes


def test_fold_by_fold_a_cell_is_left_out_only_where_it_lacks_a_run() -> None:
    table = without(made_up(GRID, bowl), C=1.0, gamma=0.5, fold="a")
    found = select(GRID, table, "MAP", per_fold=True)
    assert [cell["C"] for cell in found.settings.values()] == [0.25, 1.0, 1.0]
    assert found.left_out == 1


def test_one_standard_error_takes_the_simplest_that_is_near() -> None:
    """Folds differ by s = 0.01: C = 0.25 is 0.005 behind, within s/√3 = 0.0058, and 0.007 is not."""
    behind = {1.0: 0.0, 4.0: 0.0, 0.25: 0.005}
    design = Design(LINEAR, (Values("C", (1.0, 4.0, 0.25)),), folds=("a", "b", "c"))
    table = made_up(design, lambda s: 0.5 - behind[s.C] + 0.01 * "abc".index(s.fold))
    assert select(design, table, "MAP", rule="one_standard_error").settings["a"] == {"C": 0.25}
    behind[0.25] = 0.007
    table = made_up(design, lambda s: 0.5 - behind[s.C] + 0.01 * "abc".index(s.fold))
    assert select(design, table, "MAP", rule="one_standard_error").settings["a"] == {"C": 1.0}


def test_the_paired_rule_lets_what_makes_folds_hard_cancel() -> None:
    """The same 0.005 in every fold is no chance, however much the folds differ."""
    design = Design(LINEAR, (Values("C", (1.0, 0.25)),), folds=("a", "b", "c"))
    table = made_up(design, lambda s: 0.5 - 0.005 * (s.C < 1) + 0.1 * "abc".index(s.fold))
    assert select(design, table, "MAP", rule="one_standard_error").settings["a"] == {"C": 0.25}
    assert select(design, table, "MAP", rule="one_paired_error").settings["a"] == {"C": 1.0}
    noisy = {"a": 0.03, "b": -0.02, "c": 0.01}
    table = made_up(design, lambda s: 0.5 - noisy[s.fold] * (s.C < 1))
    assert select(design, table, "MAP", rule="one_paired_error").settings["a"] == {"C": 0.25}


def test_simple_is_few_features_then_small_C_and_linear_first_or_what_one_says() -> None:
    axes = (
        Values("feature_map", ("nystroem", "linear")),
        Values("n_components", (50, 10)),
        Values("C", (4.0, 1.0)),
    )
    design = Design(SPEC, axes)
    table = made_up(design, lambda s: 0.5)
    assert select(design, table, "MAP").settings["Fold1"] == {"feature_map": "linear", "C": 1.0}
    table["seconds"] = [0.1 if row == 0 else 1.0 for row in range(len(table))]
    fastest = select(design, table, "MAP", simpler=("seconds",)).settings["Fold1"]
    assert fastest == {"feature_map": "nystroem", "n_components": 50, "C": 4.0}
    with pytest.raises(SettingError, match="simpler='size' is not a setting of these runs; choose seconds, "):
        select(design, table, "MAP", simpler=("size",))


@pytest.mark.parametrize("rule", ["one_standard_error", "one_paired_error"])
def test_one_fold_has_no_standard_error(rule: str) -> None:
    table = made_up(ONE_FOLD, bowl)
    found = select(ONE_FOLD, table, "MAP")
    assert math.isnan(found.chosen["error"]["a"])
    assert found.notes[0].startswith("there is no standard error: it takes several folds")
    with pytest.raises(SettingError, match=r"1 fold alone cannot give one .*: use the best cell or more"):
        select(ONE_FOLD, table, "MAP", rule=rule)


def test_given_by_query_one_fold_has_a_standard_error() -> None:
    """Values by query have s/√n = 0.5/√25 = 0.1."""
    table = made_up(ONE_FOLD, bowl)
    queries = pd.Series(np.tile([-0.5, 0.5], 13)[:25])
    queries *= 0.5 / queries.std(ddof=1)
    per_query = {digest: queries + row["vali:MAP"] for digest, row in table.iterrows()}
    found = select(ONE_FOLD, table, "MAP", rule="one_standard_error", per_query=per_query)
    assert found.chosen["error"]["a"] == pytest.approx(0.1)
    assert found.settings["a"] == {"C": 0.25, "gamma": 0.5}
    more = select(
        GRID, made_up(GRID, bowl), "MAP", per_query=dict.fromkeys(made_up(GRID, bowl).index, queries)
    )
    assert more.chosen["error"].tolist() == pytest.approx([0.1 / math.sqrt(3)] * 3)


def test_given_by_query_for_some_runs_only_there_is_no_standard_error() -> None:
    table, queries = made_up(GRID, bowl), pd.Series([0.1, 0.5, 0.3])
    known = table[~((table["C"] == 1.0) & (table["gamma"] == 0.5) & (table["fold"] == "b"))]
    per_query = dict.fromkeys(known.index, queries)
    found = select(GRID, table, "MAP", per_query=per_query)
    assert found.settings["a"] == {"C": 1.0, "gamma": 0.5}
    assert found.chosen["error"].isna().all()
    with pytest.raises(SettingError, match="alone cannot give one standard error"):
        select(GRID, table, "MAP", rule="one_standard_error", per_query=per_query)


def test_runs_of_other_settings_or_data_are_not_taken_for_the_designs_own() -> None:
    others = [
        Design(SPEC.but(loss="huber"), GRID.axes, folds=GRID.folds),
        Design(SPEC.but(dataset="another"), GRID.axes, folds=GRID.folds),
        Design(SPEC.but(seed=8), GRID.axes, folds=GRID.folds),
        Design(SPEC.but(normalisation="query_minmax"), GRID.axes, folds=GRID.folds),
    ]
    strangers = pd.concat([made_up(other, lambda s: 1.0) for other in others])
    with pytest.raises(DataError, match="no cell has finished all runs with MAP on a, b, c"):
        select(GRID, strangers, "MAP")
    both = pd.concat([strangers, made_up(GRID, bowl)])
    assert select(GRID, both, "MAP").validation == select(GRID, made_up(GRID, bowl), "MAP").validation


def test_two_runs_of_the_same_settings_are_refused() -> None:
    table = made_up(GRID, bowl)
    again = table.iloc[:1].rename(index=lambda digest: "before")
    with pytest.raises(DataError, match="have the same settings"):
        select(GRID, pd.concat([table, again]), "MAP")


def test_a_run_that_failed_and_was_made_since_is_there() -> None:
    table = made_up(GRID, bowl)
    failed = table.iloc[:1].rename(index=lambda digest: "before").assign(**{"vali:MAP": math.nan})
    for both in ([failed, table], [table, failed]):
        found = select(GRID, pd.concat(both), "MAP")
        assert found.left_out == 0
        assert found.validation == select(GRID, table, "MAP").validation


def test_runs_on_samples_beside_it_change_nothing() -> None:
    """Tables say what was learned from only where that is not all."""
    samples = {"share": 0.5, "draw": 1}, {"share": 0.5, "draw": 2}, {"flipped": 0.1}, {"flipped": 0.2}
    designs = [Design(SPEC.but(**sample), GRID.axes, folds=GRID.folds) for sample in samples]
    made = [
        made_up(one, lambda s, value=value: value).assign(**one.base.sample.values)
        for value, one in enumerate(designs, 1)
    ]
    table = pd.concat([made_up(GRID, bowl), *made])
    assert table["share"].isna().any()
    assert select(GRID, table, "MAP").validation == select(GRID, made_up(GRID, bowl), "MAP").validation
    assert [select(one, table, "MAP").validation for one in designs] == [1.0, 2.0, 3.0, 4.0]


def test_whole_numbers_that_a_table_with_gaps_holds_as_floats_are_found() -> None:
    axes = (Values("feature_map", ("linear", "nystroem")), Values("n_components", (10, 20)))
    design = Design(SPEC, axes)
    table = made_up(design, lambda s: s.get("n_components", 0) / 100)
    assert table["n_components"].dtype == np.float64
    assert select(design, table, "MAP").settings["Fold1"]["n_components"] == 20


@pytest.mark.parametrize("rows", [slice(0, 0), slice(None)])
def test_an_unknown_metric_names_those_that_there_are(rows: slice) -> None:
    with pytest.raises(SettingError, match="metric 'AUC' is not available for this part; there are MAP"):
        select(GRID, made_up(GRID, bowl)[rows], "AUC")
    with pytest.raises(SettingError, match="no run is done yet"):
        select(GRID, pd.DataFrame(), "MAP")
    with pytest.raises(SettingError, match="rule='worst' is not known"):
        select(GRID, made_up(GRID, bowl), "MAP", rule="worst")


def test_runs_without_a_test_part_are_chosen_all_the_same() -> None:
    found = select(GRID, made_up(GRID, bowl), "MAP")
    assert found.test.empty
    assert found.notes == ("the chosen runs tell nothing of a test part",)


def test_real_runs_are_chosen_by_what_their_records_say() -> None:
    design = Design(RunSpec("made", n_components=15), (Values("C", (0.01, 1.0)), Values("gamma", (0.1, 1.0))))
    runs = dict(execute_all(design.specs(), fold=make_fold(n_queries=24, seed=3)))
    found = select(design, runs_table(runs.items()), "NDCG@10")
    means = {spec: record.metrics["vali"]["NDCG@10"].mean() for spec, record in runs.items()}
    best = max(means, key=lambda spec: means[spec])
    assert found.settings["Fold1"] == {"C": best.C, "gamma": best.gamma}
    assert found.validation == means[best]
    assert found.test["MAP"]["Fold1"] == runs[best].metrics["test"]["MAP"].mean()


@pytest.mark.letor
def test_real_folds(letor_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKVIZ_DATA", str(letor_root))
    design = Design(
        RunSpec("OHSUMED", n_components=20), (Values("C", (2.0**-12, 2.0**-6)),), folds=("Fold1", "Fold2")
    )
    table = runs_table(execute_all(design.specs()))
    found = select(design, table, "MAP")
    means = table.groupby("C")["vali:MAP"].mean()
    assert found.settings["Fold1"]["C"] == means.idxmax()
    assert found.validation == pytest.approx(means.max())
    assert 0.3 < found.test_means["MAP"] < 0.6
