"""Pictures of figures as they are laid out before the browser draws them."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from rankviz.plots.style import finished
from ui.shell import figures
from ui.shell.figures import LARGE_SIZE, MOST_ROWS, ON_DARK, SIZE, TEXT_COLOURS, once, themed


def small_print() -> go.Figure:
    """A figure with letters that are too small for paper, and a title longer than its axis."""
    fig = go.Figure(go.Scatter(x=[1, 2], y=[3, 4], text=["a", "b"], textfont={"size": 7}))
    fig.add_annotation(text="<span style='font-size:9px'>note</span>", font={"size": 8})
    fig.update_yaxes(title=" ".join(["word"] * 30))
    return finished(fig)


def test_no_letters_are_smaller_than_the_others_and_all_is_light() -> None:
    printed = figures.printable(small_print())
    text = printed.to_json()
    sizes = re.findall(r'font":\{[^}]*"size":([\d.]+)', text) + re.findall(r"font-size:(\d+)px", text)
    assert len(sizes) > 5
    assert {float(size) for size in sizes} == {SIZE}
    assert printed.layout.font.color == TEXT_COLOURS["light"]
    assert printed.layout.template.layout.paper_bgcolor == "#ffffff"


def test_the_figure_on_the_page_stays_as_it_is() -> None:
    figure = small_print()
    before = figure.to_json()
    figures.break_titles(figures.printable(figure), 385, 300)
    assert figure.to_json() == before


def test_large_type_on_the_page_leaves_the_picture_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.shell.figures.is_on", lambda _: True)
    figure = small_print()
    printed = figures.printable(figure).to_json()
    themed(figure)
    assert figures.printable(figure).to_json() == printed


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("large", [False, True])
def test_text_and_colours_on_the_page_follow_the_theme(
    theme: str, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = SimpleNamespace(theme=SimpleNamespace(type=theme))
    monkeypatch.setattr("ui.shell.figures.st", SimpleNamespace(context=context, query_params={}))
    monkeypatch.setattr("ui.shell.figures.is_on", lambda key: key == "large" and large)
    figure = make_subplots(1, 2, subplot_titles=["left", "right"])
    figure.add_scatter(x=[1, 10], y=[1, 2], line={"color": "#0072B2", "width": 2}, marker={"size": 8})
    figure.update_xaxes(type="log", exponentformat="power", title="m", row=1, col=1)
    before = figure.to_json()
    drawn = go.Figure(themed(figure).to_dict())
    assert figure.to_json() == before
    size, ink = LARGE_SIZE if large else SIZE, TEXT_COLOURS[theme]
    layout, (line,) = drawn.layout, drawn.data
    fonts = (
        layout.font,
        layout.legend.font,
        layout.title.font,
        layout.yaxis2.tickfont,
        layout.xaxis.title.font,
    )
    assert {(font.color, font.size) for font in fonts} == {(ink, size)}
    assert layout.xaxis.tickfont.size == 0.8 * size, "Plotly enlarges powers"
    assert layout.xaxis2.automargin
    assert layout.hoverlabel.font.size == size
    assert line.line.color == ("#0072B2" if theme == "light" else ON_DARK["#0072B2"])
    assert (line.line.width, line.marker.size) == ((3.2, 8 * 1.4) if large else (2, 8))
    assert {note.font.size == LARGE_SIZE for note in layout.annotations} == {large}


def test_numbers_have_no_prefixes_and_colour_bars_the_text_style() -> None:
    """Plotly would write 100μ for 0.0001."""
    bar, figure = {"title": "κ", "exponentformat": "e"}, make_subplots(1, 2)
    figure.add_heatmap(z=[[1e-4, 2e5]], colorbar={"title": "z"}, row=1, col=1)
    figure.add_scatter(x=[1e-4], y=[2e5], marker={"color": [1], "colorbar": {"nticks": 3}}, row=1, col=2)
    figure.update_layout(coloraxis={"colorbar": bar}, yaxis2={"type": "log", "tickformat": "~g"})
    drawn = figure.to_dict()
    figures.set_text_style(drawn, "#123456", 17)
    heat, points = drawn["data"]
    layout = drawn["layout"]
    bars = heat["colorbar"], points["marker"]["colorbar"], layout["coloraxis"]["colorbar"]
    for part in (layout["xaxis"], layout["yaxis2"], *bars):
        assert (part["minexponent"], part["separatethousands"]) == (5, True)
        assert part["tickfont"] == {"color": "#123456", "size": 17}
    assert [part["exponentformat"] for part in bars] == ["power", "power", "e"], "a figure may have its own"
    assert layout["coloraxis"]["colorbar"]["title"] == {"text": "κ", "font": layout["font"]}


def test_the_page_of_a_figure_has_its_text_style() -> None:
    figure = small_print()
    before = figure.to_json()
    text = figures._page(figure, "As drawn.")
    style = f'"font":{{"color":"{TEXT_COLOURS["light"]}","size":{SIZE}}}'
    assert style in text
    assert "As drawn." in text
    assert figure.to_json() == before


def test_titles_longer_than_their_axis_are_broken() -> None:
    printed = figures.printable(small_print())
    figures.break_titles(printed, 385, 300)
    lines = printed.layout.yaxis.title.text.split("<br>")
    assert len(lines) > 1
    assert max(map(len, lines)) * figures.LETTER <= 300 - figures.AROUND


def test_equal_tables_share_a_figure_and_others_do_not() -> None:
    made = []

    def draw(table: pd.DataFrame, name: str) -> go.Figure:
        made.append(name)
        return go.Figure(layout={"title": name})

    def table(last: float = 1.0, column: str = "a") -> pd.DataFrame:
        return pd.DataFrame({column: [0.0, last]})

    first = once(draw, table(), "x")
    assert once(draw, table(), "x") is first
    for other in (table(1.5), table(column="b"), table().set_axis([1, 2])):
        assert once(draw, other, "x") is not first
    assert once(draw, table(), "y") is not first
    assert len(made) == 5
    long = pd.DataFrame({"a": np.zeros(MOST_ROWS + 1)})
    assert once(draw, long, "x") is not once(draw, long, "x")


def test_words_of_others_cannot_end_the_script_they_stand_in() -> None:
    asked = figures._asking({"id": "x", "about": "</script><img src=x onerror=alert(1)>"})
    assert asked.count("<") == 4  # <p>, </p>, <script>, </script>


def test_the_font_that_pictures_carry_is_there() -> None:
    assert figures.font().stat().st_size > 50_000
