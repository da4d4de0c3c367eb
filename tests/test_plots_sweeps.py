"""Figures of sweeps: tables first, then that the figure shows them; what is not there yet looks so."""

import math

import numpy as np
import pandas as pd
import pytest
from conftest_sweeps import GRID, SPEC, bowl, made_up
from plotly.colors import sample_colorscale

from rankviz import RunSpec
from rankviz.common.errors import SettingError
from rankviz.common.numbers import superscript
from rankviz.common.settings import Setting
from rankviz.plots import sweep_map, sweep_settings
from rankviz.plots.style import style_of
from rankviz.runs import Design, Range, Values, powers

MIXED = Design(
    SPEC,
    (
        Values("feature_map", ("linear", "nystroem")),
        Range("C", 2.0**-6, 2.0**6),
        Range("gamma", 2.0**-6, 1.0),
        Range("n_components", 5, 20),
    ),
    kind="sobol",
    points=16,
    folds=("a", "b"),
)
FIGURES = {
    "map": (sweep_map.map_data, sweep_map.map_figure, ()),
    "parallel": (sweep_settings.parallel_data, sweep_settings.parallel_figure, ()),
    "curves": (sweep_settings.curves_data, sweep_settings.curves_figure, ("C", "gamma")),
    "worth": (sweep_settings.worth_data, sweep_settings.worth_figure, ()),
}


def unfinished() -> pd.DataFrame:
    """Fold a is done; of the others, those of C = 0.25."""
    table = made_up(GRID, bowl)
    return table[(table["fold"] == "a") | (table["C"] == 0.25)]


def test_the_map_has_a_value_where_all_runs_are_done_and_none_elsewhere() -> None:
    table = sweep_map.map_data(GRID, unfinished(), "MAP")
    assert table["value"].notna().tolist() == [True, True, False, False, False, False]
    assert table["done"].tolist() == [3, 3, 1, 1, 1, 1]
    assert (table["runs"] == 3).all()
    assert table.loc[table["best"], ["x", "y"]].to_numpy().tolist() == [[0.25, 0.5]]


def test_cells_that_are_not_there_yet_are_empty_and_not_zero() -> None:
    begun = unfinished().iloc[:-1]  # the last row lies in the last cell
    table = sweep_map.map_data(GRID, begun, "MAP")
    assert table["done"].tolist()[-1] == 0
    fig = sweep_map.map_figure(table, GRID, "MAP")
    cells, marks, best = fig.data
    values = np.array(cells.z, dtype=float)
    assert np.isnan(values[:, 1:]).all()
    assert np.isfinite(values[:, 0]).all()
    assert not cells.hoverongaps
    assert (marks.name, len(marks.x)) == ("begun", 3)  # one has not begun: no mark at all
    assert (best.name, list(best.x), list(best.y)) == ("best", [0], [0])


def test_numbers_in_cells_can_be_read_on_every_colour() -> None:
    (cells, *_) = sweep_map.map_figure(sweep_map.map_data(GRID, made_up(GRID, bowl), "MAP"), GRID, "MAP").data
    assert cells.textfont.color == "#000"
    scale = [colour for _, colour in cells.colorscale]
    for colour in sample_colorscale(scale, np.linspace(0, 1, 50), colortype="tuple"):
        shares = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
        luminance = float(np.dot((0.2126, 0.7152, 0.0722), shares))
        assert (luminance + 0.05) / 0.05 >= 4.5


def test_the_colour_bar_says_that_lower_values_share_its_lowest_colour() -> None:
    values = pd.Series([0.62, 0.72, 0.74, 0.76, 0.79])
    low, high = sweep_map.colours_between(values, "MAP")
    ticks = sweep_map.bar_ticks(values, [low, high])
    assert (ticks["tickvals"][0], ticks["tickvals"][-1]) == (low, high)
    assert ticks["ticktext"][0] == f"≤ {low:.3f}"
    assert not any("≤" in text for text in ticks["ticktext"][1:])
    whole = sweep_map.bar_ticks(values[1:], [low, high])
    assert not any("≤" in text for text in whole["ticktext"])
    bar = (
        sweep_map.map_figure(sweep_map.map_data(GRID, made_up(GRID, bowl), "MAP"), GRID, "MAP")
        .data[0]
        .colorbar
    )
    assert len(bar.ticktext) == len(bar.tickvals) <= 7
    assert {len(text.removeprefix("≤ ")) for text in bar.ticktext} == {5}, "equal decimals"


def test_a_map_of_nothing_done_has_no_best() -> None:
    table = sweep_map.map_data(GRID, made_up(GRID, lambda spec: math.nan), "MAP")
    assert not table["best"].any()
    fig = sweep_map.map_figure(table, GRID, "MAP")
    assert [trace.type for trace in fig.data] == ["heatmap"]
    assert not fig.layout.yaxis.title.text, "a letter on its side cannot be read"
    assert [note.text for note in fig.layout.annotations] == ["γ"]


def test_where_several_cells_have_one_place_the_best_is_shown() -> None:
    design = Design(SPEC, (*GRID.axes, Values("n_components", (10, 20))))

    def value(spec: RunSpec) -> float:
        return spec.C + spec.n_components / 100

    fig = sweep_map.map_figure(sweep_map.map_data(design, made_up(design, value), "MAP"), design, "MAP")
    assert np.array(fig.data[0].z)[0].tolist() == pytest.approx([0.45, 1.2, 4.2])


def test_values_of_ranges_are_points_by_their_powers() -> None:
    table = sweep_map.map_data(MIXED, made_up(MIXED, bowl), "MAP")
    assert set(table["x"]) == {cell["C"] for cell in MIXED.cells() if "gamma" in cell}
    fig = sweep_map.map_figure(table, MIXED, "MAP")
    assert fig.data[0].type == "scatter"
    assert list(fig.data[0].x) == pytest.approx([math.log2(C) for C in table["x"]])
    assert fig.layout.xaxis.title.text == "C"
    ticks = dict(zip(fig.layout.xaxis.tickvals, fig.layout.xaxis.ticktext, strict=True))
    assert all(text == f"2{superscript(round(place))}" for place, text in ticks.items())
    assert len(ticks) > 1


def test_parallel_coordinates_have_every_complete_cell_and_its_settings_in_words() -> None:
    table = sweep_settings.parallel_data(MIXED, made_up(MIXED, bowl), "MAP")
    assert len(table) == 16
    assert table["value"].is_monotonic_increasing
    fig = sweep_settings.parallel_figure(table, MIXED, "MAP")
    assert list(fig.layout.xaxis.ticktext) == ["Feature map", "C", "γ", "m", "MAP"]
    ticks = {place: [] for place in range(5)}
    for mark in fig.layout.annotations:
        ticks[mark.x].append((mark.y, mark.text))
    assert [words for _, words in ticks[0]] == ["linear", "Nyström"]
    below, *gamma = sorted(ticks[2])
    assert below[1] == sweep_settings.NO_VALUE_TEXT
    assert [words for _, words in gamma] == ["2⁻⁶", "2⁻⁵", "2⁻⁴", "2⁻³", "2⁻²", "2⁻¹", "2⁰"]
    *lines, best = fig.data
    drawn = np.concatenate([np.reshape(trace.y, (-1, 6)) for trace in lines])
    assert len(drawn) == len(table)
    assert (drawn[:, 2] == below[0]).sum() == (table["feature_map"] == "linear").sum()
    assert drawn[:, 4].max() == best.y[4] == 1.0
    assert f"MAP {table['value'].iloc[-1]:.4f}" in best.text[0]


def test_curves_keep_the_lines_that_come_highest() -> None:
    design = Design(SPEC, (Values("C", powers(-1, 1)), Values("gamma", powers(-9, 0))), folds=("a", "b"))
    table = sweep_settings.curves_data(design, made_up(design, bowl), "MAP", "C", "gamma")
    assert sorted(set(table["gamma"])) == list(powers(-5, 0))
    assert set(table.loc[table["best"], "gamma"]) == {0.25}
    fig = sweep_settings.curves_figure(table, design, "MAP", "C", "gamma")
    assert len(fig.data) == 1 + 6 + 1
    line = next(trace for trace in fig.data if trace.name == "γ = 2⁻²")
    assert list(line.y) == table.loc[table["best"], "mean"].tolist()
    assert fig.data[-1].name == "best"
    assert fig.layout.xaxis.ticktext == ("2⁻¹", "2⁰", "2¹")


def test_only_a_curve_over_several_folds_has_a_band() -> None:
    for folds, bands in ((("a", "b"), 1), (("a",), 0)):
        design = Design(SPEC, (Values("C", powers(-3, 1)),), folds=folds)
        table = sweep_settings.curves_data(design, made_up(design, bowl), "MAP", "C")
        fig = sweep_settings.curves_figure(table, design, "MAP", "C")
        assert sum(trace.fill == "toself" for trace in fig.data) == bands
        assert ("%{customdata[1]}" in fig.data[bands].hovertemplate) == bool(bands)


def test_a_curve_to_come_has_its_planned_values_and_no_numbers_of_a_metric() -> None:
    """Plotly would draw an axis from −1 to 4."""
    for design, n in ((Design(SPEC, (Values("C", powers(-3, 1)),)), 5), (GRID, len(GRID.axis("C").ordered))):
        table, fig = sweep_settings.planned_curve(design, "MAP", "C")
        (marks,) = fig.data
        assert len(table) == len(marks.x) == n
        assert set(marks.x) >= set(fig.layout.xaxis.tickvals)
        assert fig.layout.yaxis.tickvals == ()
        assert fig.layout.yaxis.title.text == "mean MAP over folds"


def test_feature_maps_have_their_own_colours() -> None:
    table = sweep_settings.curves_data(MIXED, made_up(MIXED, bowl), "MAP", "C", "feature_map")
    fig = sweep_settings.curves_figure(table, MIXED, "MAP", "C", "feature_map")
    line = next(trace for trace in fig.data if trace.name == "Feature map = Nyström")
    red, green, blue = (int(style_of("nystroem").colour[k : k + 2], 16) for k in (1, 3, 5))
    assert line.line.color == f"rgb({red}, {green}, {blue})"


def test_what_settings_are_worth_begins_with_the_largest_share() -> None:
    table = sweep_settings.worth_data(GRID, made_up(GRID, bowl), "MAP")
    shares = table.drop_duplicates("setting")["share"]
    assert shares.is_monotonic_decreasing
    assert shares.sum() == pytest.approx(1.0)
    fig = sweep_settings.worth_figure(table, GRID, "MAP")
    titles = [note.text for note in fig.layout.annotations]
    first = table["setting"][0]
    assert titles[0] == f"{GRID.settings[first].symbol}<br>{100 * shares[0]:.0f} % of variance"
    assert list(fig.data[0].y) == table.loc[table["setting"] == first, "best"].tolist()
    holes = sweep_settings.worth_figure(
        sweep_settings.worth_data(MIXED, made_up(MIXED, bowl), "MAP"), MIXED, "MAP"
    )
    gamma = next(t for t in holes.data if sweep_settings.NO_VALUE_TEXT in t.x and "γ" in t.hovertemplate)
    assert list(gamma.x[-2:]) == [sweep_settings.NO_VALUE_TEXT] * 2
    assert [math.isnan(y) for y in gamma.y] == [False] * (len(gamma.y) - 2) + [True, False]
    assert all("<br>about " in note.text for note in holes.layout.annotations)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_before_a_cell_is_complete(name: str) -> None:
    data, figure, more = FIGURES[name]
    table = made_up(GRID, bowl)
    table = table[table["fold"] == "a"]
    fig = figure(data(GRID, table, "MAP", *more), GRID, "MAP", *more)
    assert fig.layout.height
    with pytest.raises(SettingError, match="no run is done yet"):
        data(GRID, pd.DataFrame(), "MAP", *more)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("C", 2.0**-7, "2⁻⁷"),
        ("C", 0.012345, "0.0123"),
        ("tol", 1e-06, "10⁻⁶"),
        ("kernel", "rbf", "RBF"),
        ("gamma", "scale", "scale"),
        ("n_components", 500, "500"),
        ("rank", None, "–"),
        ("gamma", math.nan, "–"),
    ],
)
def test_values_in_words(name: str, value: object, words: str) -> None:
    setting: Setting = GRID.settings[name]
    assert sweep_settings.value_text(setting, value) == words
