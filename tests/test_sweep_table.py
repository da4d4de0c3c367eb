"""Test the effect of each setting of a sweep: marginal tables, shares of variance, curves."""

import math

import numpy as np
import pytest
from conftest_sweeps import GRID, SPEC, bowl, made_up

from rankviz import RunSpec
from rankviz.common.errors import SettingError
from rankviz.runs import Design, Range, Values, powers
from rankviz.runs.sweep_table import cell_values, curves, shares, worth

SQUARE = Design(SPEC, (Values("C", powers(-2, 2)), Values("gamma", powers(-4, 0))), folds=("a", "b"))


def test_every_value_has_its_best_and_its_mean_over_the_others() -> None:
    table = worth(GRID, made_up(GRID, bowl), "MAP")
    assert table["setting"].tolist() == ["C"] * 3 + ["gamma"] * 2
    assert table["value"].tolist() == [0.25, 1.0, 4.0, 0.5, 2.0]
    row = table.iloc[1]  # C = 1: γ = 2^-1 and 2^1 are 1 and 9 thousandths behind
    assert (row["best"], row["mean"], row["cells"]) == (pytest.approx(0.549), pytest.approx(0.545), 2)


def test_shares_of_an_additive_grid_are_those_of_its_terms() -> None:
    """The variances of a(C) + b(γ) add up; differences between folds do not count."""
    found = shares(SQUARE, made_up(SQUARE, lambda s: math.log2(s.C) + 2 * math.log2(s.gamma)), "MAP")
    assert found["share"].tolist() == pytest.approx([1 / 5, 4 / 5])
    assert found["exact"].all()


def test_what_only_two_settings_together_explain_is_nobodys_share() -> None:
    found = shares(SQUARE, made_up(SQUARE, lambda s: math.log2(s.C) * (math.log2(s.gamma) + 2)), "MAP")
    assert found["share"].tolist() == pytest.approx([0.0, 0.0])


def test_settings_without_effect_get_no_share_by_chance() -> None:
    """For noise in 60 random cells, six groups explain 5/59 of the variance on average."""
    axes = (Range("C", 0.01, 100), Range("gamma", 0.01, 100))
    found = []
    for draw in range(40):
        design = Design(SPEC, axes, kind="random", points=60, draw=draw)
        rng = np.random.default_rng(draw)
        table = made_up(design, lambda s, rng=rng: float(rng.standard_normal()))
        told = shares(design, table, "MAP")
        assert not told["exact"].any()
        found += told["share"].tolist()
    assert np.mean(found) < 0.045  # cut off at 0; half of what it would be uncorrected
    assert np.median(found) < 0.02


def test_a_grid_with_holes_is_told_not_to_be_exact() -> None:
    table = made_up(SQUARE, bowl)
    assert not shares(SQUARE, table.iloc[1:], "MAP")["exact"].any()
    equal = shares(SQUARE, made_up(SQUARE, lambda s: 0.5), "MAP")
    assert equal["share"].isna().all()
    rounded = iter(np.tile([0.3, 0.1 + 0.2, 0.3], 100))
    alike = made_up(SQUARE, lambda s: float(next(rounded)))
    assert shares(SQUARE, alike, "MAP")["share"].isna().all(), "0.1 + 0.2 and 0.3 are one value"
    assert shares(SQUARE, table.iloc[:2], "MAP")["share"].isna().all()  # one cell


def test_values_of_a_range_are_put_into_groups() -> None:
    design = Design(SPEC, (Range("C", 2.0**-6, 2.0**6), Values("gamma", (0.5,))), kind="sobol", points=32)
    table = worth(design, made_up(design, lambda s: -abs(math.log2(s.C))), "MAP")
    groups = table[table["setting"] == "C"]
    assert len(groups) == 6
    assert groups["cells"].sum() == 32
    assert set(groups["cells"]) <= {5, 6}
    middle = groups.loc[groups["best"].idxmax(), "value"]
    assert 2.0**-2 < middle < 2.0**2


def test_cells_that_do_not_read_a_setting_are_a_group_of_their_own() -> None:
    design = Design(SPEC, (Values("feature_map", ("linear", "nystroem")), Values("gamma", (0.5, 1.0))))
    table = made_up(design, lambda s: s.get("gamma", 0.0))
    found = worth(design, table, "MAP")
    assert found["value"].tolist() == ["linear", "nystroem", 0.5, 1.0, None]
    assert found["cells"].tolist() == [1, 2, 1, 1, 1]
    line = curves(design, table, "MAP", "gamma")
    assert line["gamma"].tolist() == [0.5, 1.0]  # the linear model has no place on it


def test_curves_have_the_best_of_the_other_settings_and_its_folds() -> None:
    axes = (*SQUARE.axes, Values("n_components", (10, 20)))
    design = Design(SPEC, axes, folds=("a", "b"))

    def value(spec: RunSpec) -> float:
        return bowl(spec) + 0.001 * spec.n_components

    table = curves(design, made_up(design, value), "MAP", "C", "gamma")
    assert len(table) == 25
    row = table[(table["C"] == 1.0) & (table["gamma"] == 0.25)].iloc[0]
    assert (row["low"], row["mean"], row["high"]) == pytest.approx((0.545, 0.545, 0.545))
    assert design.cells()[int(row["cell"])] == {"C": 1.0, "gamma": 0.25, "n_components": 20}
    assert row["cells"] == 2
    assert table["C"].tolist() == 5 * list(powers(-2, 2))
    alone = curves(design, made_up(design, value), "MAP", "C")
    assert alone["cells"].tolist() == [10] * 5
    with pytest.raises(SettingError, match="'loss' is not known"):
        curves(design, made_up(design, value), "MAP", "loss")


def test_incomplete_cells_are_not_there() -> None:
    table = made_up(GRID, bowl)
    table.iloc[0, table.columns.get_loc("vali:MAP")] = math.nan
    cells = cell_values(GRID, table, "MAP")
    assert cells.index.tolist() == [1, 2, 3, 4, 5]
    assert worth(GRID, table, "MAP")["cells"].tolist() == [1, 2, 2, 2, 3]


def test_the_spread_over_folds_is_not_that_of_how_hard_they_are() -> None:
    """Fold b is 0.1 easier for all; of C = 1 alone it is another 0.06, a third of it the fold's level."""
    design = Design(SPEC, (Values("C", (0.25, 1.0, 4.0)),), folds=("a", "b"))
    table = made_up(design, lambda s: 0.5 + (s.fold == "b") * (0.1 + 0.06 * (s.C == 1.0)))
    cells = cell_values(design, table, "MAP")
    assert cells["value"].tolist() == pytest.approx([0.55, 0.58, 0.55])
    assert (cells["high"] - cells["low"]).tolist() == pytest.approx([0.02, 0.04, 0.02])
    one = Design(SPEC, design.axes, folds=("a",))
    alone = cell_values(one, table, "MAP")
    assert alone["low"].tolist() == alone["high"].tolist() == alone["value"].tolist()
