"""The histogram of a class's predictions."""

import pytest

from rankviz.plots.predictions import MOST_BARS, gap_data, gap_figure


@pytest.mark.parametrize(
    ("gaps", "bars"),
    [
        ({}, []),
        ({3.0: 4}, [(3, 3, 4)]),
        ({1.0: 2, 3.0: 1, 0.0: 5}, [(0, 0, 5), (1, 1, 2), (2, 2, 0), (3, 3, 1)]),
        ({0.27: 1, 0.29: 2}, [(0.27, 0.27, 1), (0.28, 0.28, 0), (0.29, 0.29, 2)]),
        ({-1.0: 1, 8.0: 2}, [(-2, -1, 1), (0, 1, 0), (2, 3, 0), (4, 5, 0), (6, 7, 0), (8, 9, 2)]),
    ],
)
def test_bars_have_round_widths_and_count_every_student(
    gaps: dict[float, int], bars: list[tuple[float, float, int]]
) -> None:
    assert list(gap_data(gaps).itertuples(index=False, name=None)) == bars


def test_bars_are_few_and_lose_nobody() -> None:
    for scale in (0.001, 0.07, 1.0, 3.3, 999.0):
        table = gap_data({round(scale * k, 3): k + 1 for k in range(-50, 50)})
        assert 2 <= len(table) <= MOST_BARS
        assert table["students"].sum() == sum(k + 1 for k in range(-50, 50))


def test_the_figure_names_its_axes_and_writes_counts_on_bars() -> None:
    figure = gap_figure(gap_data({-1.0: 5, 1.0: 2, -2.0: 1}), "rank: guess minus answer")
    assert figure.layout.xaxis.title.text == "rank: guess minus answer"
    assert figure.layout.yaxis.title.text == "students"
    (bars,) = figure.data
    assert [list(bars.x), list(bars.text)] == [[-2, -1, 0, 1], ["1", "5", "", "2"]]
