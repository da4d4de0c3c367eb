"""Shared traces, axes and positions of figures."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from rankviz.plots import style


def test_a_band_goes_there_and_back() -> None:
    fig, table = go.Figure(), pd.DataFrame({"x": [1, 2, 3], "low": [0.0, 0.1, 0.2], "high": [1.0, 1.1, 1.2]})
    style.add_band(fig, table["x"], table["low"], table["high"], "#000000")
    (band,) = fig.data
    assert list(band.x) == [1, 2, 3, 3, 2, 1]
    assert list(band.y) == [0.0, 0.1, 0.2, 1.2, 1.1, 1.0]
    assert (band.fill, band.line.width, band.showlegend, band.hoverinfo) == ("toself", 0, False, "skip")


def test_a_line_is_a_guide_unless_it_has_another_look() -> None:
    fig = go.Figure()
    style.add_line(fig, [0, 1], [0, 1])
    style.add_line(fig, [0, 1], [0, 1], "#ff0000", dash=None, name="level", showlegend=None)
    guide, level = fig.data
    assert {name: guide.line[name] for name in style.GUIDE} == style.GUIDE
    assert (level.line.color, level.line.dash, level.showlegend, level.name) == (
        "#ff0000",
        None,
        None,
        "level",
    )


def test_bars_reach_from_low_to_high() -> None:
    value, low, high = (np.array(numbers) for numbers in ([2.0, 3.0], [1.5, 2.0], [4.0, 3.5]))
    bars = style.error_bars(value, low, high, width=0)
    np.testing.assert_array_equal(value + bars["array"], high)
    np.testing.assert_array_equal(value - bars["arrayminus"], low)
    assert bars["width"] == 0


def test_rows_are_listed_from_the_top() -> None:
    axis = style.row_axis(["first", "second"])
    assert dict(zip(axis["ticktext"], axis["tickvals"], strict=True)) == {"first": 0, "second": 1}
    assert axis["range"] == [1.5, -0.5]


@pytest.mark.parametrize("n", [0, 1, 7, 8, 1001])
def test_even_positions_have_both_ends_and_no_copies(n: int) -> None:
    found = style.evenly(n, 7)
    assert len(found) == min(n, 7)
    assert (np.diff(found) > 0).all()
    assert n < 1 or (found[0] == 0 and (found[-1] == n - 1))
    assert np.ptp(np.diff(found)) <= 1 if n > 1 else True


def test_ranks_count_from_one_and_ties_keep_their_order() -> None:
    assert style.ranks_of(np.array([0.5, 2.0, 0.5, 1.0])).tolist() == [3, 1, 4, 2]
