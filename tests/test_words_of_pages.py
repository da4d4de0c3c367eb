"""Words of pages: percentages with their space, one way to say one thing, edges that are called edges."""

import ast
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pytest

from rankviz.plots import metric_vs_m
from ui.compare.runs import _says_anything
from ui.shell.figures import alt_of
from ui.study.sweep_words import at_the_edge
from ui.work.watching import _of_the_current


def test_no_text_replaces_another_of_the_same_name() -> None:
    found = sorted((Path(__file__).parents[1] / "ui").rglob("*words.py"))
    assert found
    for path in found:
        assigned = [one for one in ast.parse(path.read_text("utf-8")).body if isinstance(one, ast.Assign)]
        targets = (name for one in assigned for target in one.targets for name in ast.walk(target))
        names = Counter(name.id for name in targets if isinstance(name, ast.Name))
        assert not [name for name, times in names.items() if times > 1], path


def test_a_job_that_has_runs_ready_is_not_starting() -> None:
    status: Any = SimpleNamespace(latest=None, current=None, finished=("one",))
    assert _of_the_current(status, named=True) == "starting the next run"
    status.finished = ()
    assert _of_the_current(status, named=True) == "starting"


def test_a_column_without_a_word_is_none() -> None:
    assert not _says_anything(pd.Series([None, None, "none"], dtype=object))
    assert _says_anything(pd.Series([None, "warm"], dtype=object))
    assert _says_anything(pd.Series([0.0, float("nan")]))


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ({"C": 1.0, "loss": "a"}, ""),
        ({"C": 4.0, "loss": "a"}, "; at the edge, the largest C tried: values beyond may be better"),
        ({"C": 0.5, "loss": "b"}, "; at the edge, the smallest C tried: values beyond may be better"),
    ],
)
def test_the_best_cell_at_the_edge_of_the_grid_is_said_to_be(cell: dict[str, Any], expected: str) -> None:
    cells = [{"C": C, "loss": loss} for C in (0.5, 1.0, 4.0) for loss in "abc"]
    settings = {"C": SimpleNamespace(symbol="C", label="C", key="c", options={})}
    design: Any = SimpleNamespace(plan=SimpleNamespace(cells=cells), settings=settings)
    assert at_the_edge(design, cell) == expected


def test_the_legend_says_what_bands_are_where_there_are_any() -> None:
    one = {
        "metric": "MAP",
        "method": "nystroem",
        "label": "Nyström",
        "fold": "F",
        "seconds": 1.0,
        "spec": "s",
    }
    rows = [one | {"m": m, "seed": s, "value": 0.5 + s / 10, "seconds": 1.0} for m in (5, 10) for s in (0, 1)]
    table = pd.DataFrame(rows)
    said = "bands: lowest to highest run"
    assert said in [trace.name for trace in metric_vs_m.metric_figure(table).data]
    alone = metric_vs_m.metric_figure(table[table["seed"] == 0])
    assert said not in [trace.name for trace in alone.data]


def test_a_figure_is_described_by_its_titles() -> None:
    figure = go.Figure([go.Scatter(name="Nyström"), go.Scatter(name="band", showlegend=False)])
    figure.update_layout(xaxis_title="m", yaxis_title="NDCG<br>@10", title="One query")
    assert alt_of(figure) == "One query: NDCG @10 against m: Nyström"
