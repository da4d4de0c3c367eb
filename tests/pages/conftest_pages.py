"""Helpers of the tests of pages: what they read off an app, and data at the edges that they show it."""

import base64
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.testing.v1 import AppTest

import rankviz
from rankviz import RunSpec
from rankviz.datasets import RankingData, make_data
from ui.work.run_store import keeper

APP = Path(__file__).parents[2] / "router.py"
Opener = Callable[..., AppTest]
"""What opens a page of the app."""
execute = cache(rankviz.execute)
"""Train a run once for all tests that compare a page with it."""

TABS = {
    "train": ("One query", "Margins", "Convergence", "Numbers"),
    "ndcg_vs_m": (
        "One query as m grows",
        "Distance from the exact model",
        "Numbers",
        "Learning curve",
        "Label noise",
    ),
    "convergence": ("Play", "Runs", "Iterations"),
    "data": ("Grades and pairs", "Features", "One query", "Normalisation", "Counts and download"),
    "why": ("Both documents", "Move a feature", "Landmarks", "Training queries", "Down the list"),
    "influence": ("Influence of C", "Influence of λ and μ"),
    "kernel_approximation": (
        "Error over draws",
        "κ against κ̃",
        "Residuals of one query",
        "Spectrum",
        "Error against seconds",
        "Numbers",
    ),
}
"""The tabs of pages."""
CHEAP_TABS = {tab for page in ("train", "ndcg_vs_m", "convergence", "data", "why") for tab in TABS[page]}
"""Those of pages that have to train nothing for them."""

OF_STORE = {"runs", "compare", "lecture"}
"""Pages of what is in the run store, empty where a test opens them first: no figure is there then."""


def opened(app: AppTest, key: str) -> AppTest:
    """The app after a visitor has opened what `folded` draws with this key."""
    app.session_state[key] = True
    return app.run()


def figures(app: AppTest) -> list[dict[str, Any]]:
    """Return the figures on the page; of steady ones what their script got last."""
    return [one for _, one in _keyed_figures(app)]


def named_figures(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return the figures on the page by their keys."""
    return dict(_keyed_figures(app))


def _keyed_figures(app: AppTest) -> list[tuple[str, dict[str, Any]]]:
    later = {one["key"]: one["figure"] for one in _sent(app) if one.keys() == STEADY and one["figure"]}
    charts = [(one.proto.id.split("-", 2)[2], one.proto.spec) for one in app.get("plotly_chart")]
    return [(key, json.loads(later.get(key, spec))) for key, spec in charts]


def shown(app: AppTest) -> list[dict[str, Any]]:
    """The figures on the page, plotly's and components of ours."""
    return figures(app) + components(app)


def components(app: AppTest) -> list[dict[str, Any]]:
    """Return the data sent to our components on the page, except steady figures."""
    return [one for one in _sent(app) if one.keys() not in (STEADY, AHEAD)]


STEADY, AHEAD = {"key", "alt", "figure", "slider", "at"}, {"slider", "of", "figures"}
"""What the script of steady figures gets: one figure; those for other values of a slider."""


def held_ahead(app: AppTest) -> dict[str, Any]:
    """Return the figures that this run sent for other values of a slider, with what they belong to."""
    return next(one for one in _sent(app) if one.keys() == AHEAD)


def _sent(app: AppTest) -> list[dict[str, Any]]:
    return [
        json.loads(element.proto.json or element.proto.mixed.json) for element in app.get("bidi_component")
    ]


def tell(app: AppTest, name: str, value: Any) -> None:
    """Have the browser tell something of the first component of the page, as its script does."""
    states, proto = app._tree.get_widget_states(), app.get("bidi_component")[0].proto
    one = states.widgets.add()
    if name == "changes":  # a state, which stays
        one.id, one.json_value = proto.id, json.dumps({name: value})
    else:
        one.id = _make_trigger_id(proto.id, "events")
        one.json_trigger_value = json.dumps([{"event": name, "value": value}])
    app._run(states)
    assert not app.exception, app.exception


def words(app: AppTest) -> str:
    """All texts on the page, one after the other, breakable; the glossary, which every page has, is HTML."""
    kinds = (app.header, app.markdown, app.caption, app.info, app.error, app.warning, app.title)
    texts = "\n".join(element.value for kind in kinds for element in kind)
    return texts.replace("\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}", " = ")


def sound(app: AppTest) -> str:
    """Return the words of a page that has something to show or to say, no error, and no number missing."""
    said = words(app)
    assert shown(app) or app.info or app.warning
    assert not app.error, [error.value for error in app.error]
    assert "nan" not in re.findall(r"[\w]+", said.lower())
    return said


def part(sizes: list[int], grades: list[int], *, scale: float = 1.0, first: int = 1) -> RankingData:
    """Documents with three random features; the grades are dealt out in turn."""
    n = sum(sizes)
    rng = np.random.default_rng(first)
    qid = np.repeat(np.arange(first, first + len(sizes)), sizes)
    return RankingData.from_arrays(rng.random((n, 3)) * scale, np.resize(grades, n), qid)


def ordinary(first: int) -> RankingData:
    """Twenty queries whose grades follow from six features."""
    made = make_data(n_queries=20, documents_per_query=(8, 15), n_features=6, seed=first)
    return RankingData.from_arrays(made.X, made.y, made.qid + first)


SMALL: dict[str, Callable[[int], RankingData]] = {"small": ordinary}
"""An ordinary data set, small enough that any model is trained at once."""

EDGES: dict[str, Callable[[int], RankingData]] = {
    "tiny": lambda first: part([2, 3], [0, 1], first=first),
    "one query": lambda first: part([6], [0, 1, 2], first=first),
    "one document": lambda first: part([1], [1], first=first),
    "one grade": lambda first: part([4, 5], [1], first=first),
    "nothing relevant": lambda first: part([4, 5], [0], first=first),
    "all-zero features": lambda first: part([4, 5], [0, 1], scale=0.0, first=first),
    "five grades": lambda first: part([9, 12], [0, 1, 2, 3, 4], first=first),
}


def pin_of(spec: RunSpec) -> str:
    """Train and store a run; return its digest, which pins it."""
    record = execute(spec)
    keeper().keep("somebody else", [record])
    keeper().wait()
    return record.spec.hash


def decoded(values: object) -> list[float]:
    """Plotly sends arrays as base64 with their type."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist()
    return list(values)
