"""Figures of the Why page: bars that begin where the one before ends, places in ranges, names as they are."""

import numpy as np
import pandas as pd
import pytest

from rankviz.common.numbers import alike
from rankviz.plots import margin_explanation

VALUES = np.array([0.1, -0.5, 0.0, 0.3, 0.02, -0.01])
NAMES = ["a", "b", "c", "<b>d</b>", "e", "f"]
A, B = np.arange(6.0), np.array([1.0, 0.0, 2.0, -1.0, 0.5, 0.25])
TABLE = margin_explanation.waterfall_data(VALUES, NAMES, A, B)


def test_numbers_of_a_column_have_as_many_decimals() -> None:
    assert alike([0.985, 0.23, -0.0068, 0.0]) == ["+0.985", "+0.230", "−0.007", "0.000"]
    assert alike([-12.34, 0.5]) == ["−12.3", "+0.5"]
    assert alike([1234.5, 2.0]) == ["+1234", "+2"]
    assert alike([1e-9, -2e-10]) == ["+1.00 × 10⁻⁹", "−2.00 × 10⁻¹⁰"]
    assert alike([0.0]) == ["0"]
    assert alike([]) == []


def test_the_largest_share_comes_first() -> None:
    assert TABLE["number"].tolist() == [2, 4, 1, 5, 6, 3]
    assert TABLE["share"].tolist() == [-0.5, 0.3, 0.1, 0.02, -0.01, 0.0]
    assert TABLE["value_A"].tolist() == A[TABLE["number"] - 1].tolist()


def test_what_has_no_row_is_summed_and_what_has_no_share_is_left_out() -> None:
    bars = margin_explanation.waterfall_bars(TABLE, 2)
    assert bars["label"].tolist()[0] == "b"
    assert bars["label"].tolist()[2] == "3 others"
    assert bars["share"].tolist() == pytest.approx([-0.5, 0.3, 0.11])
    assert len(margin_explanation.waterfall_bars(TABLE, 5)) == 5
    assert margin_explanation.waterfall_bars(TABLE, 4)["label"].tolist()[-1] == "f", "no row says 1 others"


def test_bars_begin_where_the_one_before_ends() -> None:
    figure = margin_explanation.waterfall_figure(TABLE, float(VALUES.sum()), 3)
    bars = figure.data[0]
    ends = np.array(bars.base[:-1]) + np.array(bars.x[:-1])
    np.testing.assert_allclose(bars.base[1:-1], ends[:-1])
    assert ends[-1] == pytest.approx(VALUES.sum())
    assert [line.x0 for line in figure.layout.shapes] == pytest.approx([*ends, 0.0]), "steps, then zero"
    assert (bars.base[-1], bars.x[-1]) == (0.0, pytest.approx(VALUES.sum()))
    colours = bars.marker.color
    assert colours[0] == margin_explanation.BELOW_COLOUR
    assert colours[1] == margin_explanation.ABOVE_COLOUR
    assert figure.layout.yaxis2.ticktext[0] == "−0.500"
    assert len(figure.layout.yaxis2.ticktext) == len(bars.x)


def test_a_margin_without_shares_is_drawn_too() -> None:
    nothing = margin_explanation.waterfall_data(np.zeros(3), NAMES[:3], A[:3], A[:3])
    assert margin_explanation.waterfall_figure(nothing, 0.0).data[0].x == (0.0,)


def test_names_are_shown_as_they_are() -> None:
    labels = margin_explanation.waterfall_figure(TABLE, 0.0).layout.yaxis.ticktext
    assert [label for label in labels if "<b>" in label] == ["<b>margin</b>"]


def test_places_are_within_the_range_of_the_data() -> None:
    X = np.random.default_rng(0).normal(size=(50, 6))
    X[:, 2] = 7.0
    table = margin_explanation.features_data(TABLE, X).set_index("number")
    for j in range(6):
        row = table.loc[j + 1]
        assert (row["min"], row["max"]) == (X[:, j].min(), X[:, j].max())
        assert row["q25"] == pytest.approx(np.quantile(X[:, j], 0.25))
        assert row["below_B"] == pytest.approx((X[:, j] < B[j]).mean())
    figure = margin_explanation.features_figure(margin_explanation.features_data(TABLE, X), ("<i>x</i>", "y"))
    above = next(trace for trace in figure.data if (trace.name or "").startswith("A: "))
    assert "<i>" not in above.name
    j = 1  # the first row is the second feature
    assert above.x[0] == pytest.approx((A[j] - X[:, j].min()) / np.ptp(X[:, j]))
    assert np.isfinite(above.x).all()


def test_the_curve_has_a_tick_at_every_crossing() -> None:
    values = np.linspace(0, 1, 5)
    figure = margin_explanation.curve_figure(
        margin_explanation.curve_data(values, values - 0.5),
        "nystroem",
        "x",
        (0.75, 0.25),
        0.1,
        np.array([0.5]),
    )
    ticks = next(trace for trace in figure.data if trace.name == "they swap")
    assert (list(ticks.x), list(ticks.y)) == ([0.5], [0.0])
    now = next(trace for trace in figure.data if trace.name == "A as it is")
    assert (now.x[0], now.y[0]) == (0.75, 0.25)


def test_the_strongest_landmarks_of_both_sides_are_drawn() -> None:
    share = [0.1, -0.2, 0.0, 0.5, -0.1, 0.3]
    table = pd.DataFrame({"landmark": range(6), "share": share, "coefficient": 1.0, "near_A": 0, "near_B": 0})
    strongest = margin_explanation.strongest_landmarks(table, 2)
    assert strongest["share"].tolist() == [0.5, 0.3, -0.2, -0.1]
    figure = margin_explanation.landmarks_figure(strongest, ["a", "b", "c", "d"])
    assert list(figure.data[0].x) == strongest["share"].tolist()
    assert figure.layout.yaxis2.ticktext == ("+0.500", "+0.300", "−0.200", "−0.100")
    assert len(margin_explanation.strongest_landmarks(table[table["share"] > 0], 2)) == 2


def without(margin: float) -> pd.DataFrame:
    changes = np.array([-0.3, 0.2, 0.1])
    return pd.DataFrame(
        {
            "query": ["<b>7</b>", "8", "9"],
            "pairs": [4, 5, 6],
            "margin": margin,
            "estimate": changes,
            "refit": [-0.35, 0.21, np.nan],
            "after": margin + changes,
        }
    )


def test_queries_with_a_refit_have_a_bar_and_a_tick_at_the_estimate() -> None:
    figure = margin_explanation.left_out_figure(without(0.25))
    bars, ticks = figure.data[:2]
    assert list(bars.x) == [-0.35, 0.21]
    assert list(ticks.x) == [-0.3, 0.2]
    assert list(bars.y) == list(ticks.y)
    assert bars.marker.color == (margin_explanation.BELOW_COLOUR, margin_explanation.ABOVE_COLOUR)
    assert figure.layout.yaxis2.ticktext == ("−0.350", "+0.210")
    assert "<b>" not in figure.layout.yaxis.ticktext[0]


def test_the_order_turns_where_the_change_takes_the_margin() -> None:
    def lines(margin: float) -> list[float]:
        figure = margin_explanation.left_out_figure(without(margin))
        low, high = figure.layout.xaxis.range
        found = [line.x0 for line in figure.layout.shapes]
        assert all(low <= x <= high for x in (*found, *figure.data[0].x, *figure.data[1].x))
        return found

    assert lines(0.25) == [0.0, -0.25]
    assert lines(-1.0) == [0.0, 1.0]
    assert lines(5.0) == [0.0], "bars beside so far a line would be slivers"
    assert lines(0.0) == [0.0]


def test_changes_of_nothing_are_drawn_too() -> None:
    nothing = without(0.0).assign(estimate=0.0, refit=0.0)
    assert margin_explanation.left_out_figure(nothing).layout.xaxis.range is None
