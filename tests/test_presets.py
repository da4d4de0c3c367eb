"""The papers' designs: what they print, and he2009's second stage on the results of the first."""

import math

import pytest
from conftest_sweeps import SPEC, made_up

from rankviz import RunSpec
from rankviz.common.errors import DataError
from rankviz.plots import sweep_settings
from rankviz.runs import select
from rankviz.runs.presets import PRESETS, Preset

FOLDS = ("a", "b")
HE = PRESETS["he2009"]


def test_chen2017_has_19_values_of_C_and_15_of_gamma() -> None:
    design = PRESETS["chen2017"].design(RunSpec("OHSUMED", feature_map="fourier"), FOLDS)
    assert len(design.cells()) == 285
    assert len(design.specs()) == 570
    assert {spec.C for spec in design.specs()} == {2.0**k for k in range(-12, 7)}
    assert {spec.gamma for spec in design.specs()} == {2.0**k for k in range(-12, 3)}
    assert {(s.feature_map, s.n_components, s.loss) for s in design.specs()} == {
        ("fourier", 500, "squared_hinge")
    }
    large = PRESETS["chen2017"].design(RunSpec("MQ2007", feature_map="linear"))
    assert {(s.feature_map, s.n_components) for s in large.specs()} == {("nystroem", 2000)}


def test_chapelle2010_chooses_among_what_table_2_prints() -> None:
    preset = PRESETS["chapelle2010"]
    design = preset.design(SPEC, FOLDS)
    assert {spec.feature_map for spec in design.specs()} == {"linear"}
    values = {cell["C"] for cell in design.cells()}
    assert all(set(printed) <= values for printed in preset.printed.values())
    assert preset.printed["OHSUMED"] == (0.01, 0.001, 0.0001, 0.6, 0.1)
    assert preset.per_fold
    assert preset.next_stage(design, made_up(design, lambda s: s.C)) == ()


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_data_and_solver_of_the_base_are_kept(preset: Preset) -> None:
    base = SPEC.but(normalisation="query_minmax", solver="lbfgs", method="ranksvm")
    design = preset.design(base, FOLDS)
    assert {(s.dataset, s.normalisation, s.solver) for s in design.specs()} == {
        ("demo", "query_minmax", "lbfgs")
    }
    assert preset.source.split()[0] in PRESETS
    assert preset.note


def test_he2009_looks_closer_around_the_best_of_each_fold() -> None:
    first = HE.design(SPEC, FOLDS)
    assert [cell["C"] for cell in first.cells()] == pytest.approx([1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
    target = {"a": 1.2e-3, "b": 0.8e-2}

    def value(spec: RunSpec) -> float:
        return -abs(math.log(spec.C / target[spec.fold]))

    later = HE.next_stage(first, made_up(first, value))
    assert [design.folds for design in later] == [("a",), ("b",)]
    for design, coarse in zip(later, (1e-3, 1e-2), strict=True):
        added = [cell["C"] for cell in design.cells()[5:]]
        assert added == pytest.approx([0.6 * coarse, 0.8 * coarse, 1.2 * coarse, 1.4 * coarse])
        assert set(design.specs()) & set(first.specs())
        fold = design.folds[0]
        table = made_up(design, value)
        curve = sweep_settings.curves_data(design, table, "MAP", "C")
        line = sweep_settings.curves_figure(curve, design, "MAP", "C").data[0]  # one fold has no band
        assert list(line.x) == list(range(9))
        assert curve["C"].is_monotonic_increasing
        found = select(design, table, "MAP").settings[fold]
        assert found["C"] == pytest.approx(target[fold])


def test_he2009_waits_for_a_fold_that_has_nothing() -> None:
    first = HE.design(SPEC, FOLDS)
    table = made_up(first, lambda s: s.C)
    with pytest.raises(DataError, match="no cell has finished all runs with MAP on b"):
        HE.next_stage(first, table[table["fold"] == "a"])
