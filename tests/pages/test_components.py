"""Test messages of components: those of the declared shape are accepted, others ignored."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from conftest_pages import Opener, components, tell
from streamlit.testing.v1 import AppTest

from ui.shell import components as shapes
from ui.shell.components import digits, each, either, number, one_of, pair, record, text, whole

LARGE = 10**400
JUNK: list[Any] = [
    5, -1, True, None, "", "x", "-1", "9" * 5000, [], [None], [[]], {}, {"w": 5}, {"rev": 1}, 1e308, 2**60,
    LARGE, float("nan"), float("inf"),
]  # fmt: skip
FEATURES = 20
"""Of the bundled data."""
MESSAGES: dict[str, list[tuple[str, Any]]] = {
    "what_if": [
        ("gesture", {"do": "grade", "key": "0", "grade": 1}),
        ("gesture", {"do": "out", "key": "0"}),
        ("gesture", {"do": "above", "key": "0", "other": "1"}),
    ],
    "weights": [
        ("walk", {"w": [0.0] * FEATURES, "at": 1.5}),
        ("walk", {"w": [shapes.LARGEST, *[0.0] * (FEATURES - 1)]}),
        ("moved", {"id": "", "w": [[0, 0.5], [1, -1.5]]}),
    ],
    "lessons": [
        ("moved", {"lesson": "ndcg", "step": 2, "guess": "0.5_0.25_1"}),
        ("moved", {"lesson": "pairs", "step": 0, "guess": ""}),
    ],
    "playground": [
        ("changes", [{"rev": 1, "kind": "put", "id": 0, "x": 0.5, "y": 0.1, "grade": 1, "query": 0}]),
        ("changes", [{"rev": 1, "kind": "landmark", "number": 0, "x": 0.5, "y": 0.1}]),
        ("changes", [{"rev": 1, "kind": "frequency", "number": 0, "x": 0.5, "y": 0.1}]),
        ("changes", [{"rev": 1, "kind": "set", "name": "m", "raw": 20}]),
    ],
}
"""What the scripts tell, by page: a name and a value."""


def opened(page: str, open_by_menu: Opener) -> AppTest:
    return open_by_menu(page, m=10)


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all parts of a value, itself among them."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(way for key, one in inside for way in places(one, (*here, key)))]


def spoilt(value: Any, rng: np.random.Generator) -> Any:
    """A value of which one part is something else, or missing."""
    found = {"all": deepcopy(value)}
    *way, last = ("all", *places(value)[rng.integers(len(places(value)))])
    holder: Any = found
    for key in way:
        holder = holder[key]
    if way and rng.random() < 0.2:
        del holder[last]
    else:
        holder[last] = JUNK[rng.integers(len(JUNK))]
    return found["all"]


@pytest.mark.parametrize("page", MESSAGES)
def test_what_has_another_shape_is_ignored(page: str, open_by_menu: Opener) -> None:
    app = opened(page, open_by_menu)
    before = app.query_params, components(app)[0].get("now")
    for name in {name: None for name, _ in MESSAGES[page]}:
        for value in JUNK:
            tell(app, name, value)
    assert (app.query_params, components(app)[0].get("now")) == before
    assert not app.error


@pytest.mark.parametrize("page", MESSAGES)
def test_no_value_is_a_fault(page: str, open_by_menu: Opener) -> None:
    app, rng = opened(page, open_by_menu), np.random.default_rng(0)
    for _ in range(8):
        name, value = MESSAGES[page][rng.integers(len(MESSAGES[page]))]
        tell(app, name, spoilt(value, rng))
    assert components(app)


def test_what_has_its_shape_is_taken(open_by_menu: Opener) -> None:
    app = opened("what_if", open_by_menu)
    tell(app, "gesture", {"do": "out", "key": components(app)[0]["now"][0]["key"]})
    assert app.query_params["changes"].startswith("o_t0_")
    app = opened("playground", open_by_menu)
    tell(app, "changes", [{"rev": 1, "kind": "drop", "id": 3}])
    assert app.query_params["docs"] == "3"
    app = opened("lessons", open_by_menu)
    tell(app, "moved", {"lesson": "ndcg", "step": 2, "guess": "shown"})
    assert [app.query_params[key] for key in ("lesson", "step", "guess")] == ["ndcg", "3", "shown"]
    app = opened("weights", open_by_menu)
    sent = components(app)[0]
    tell(app, "moved", {"id": sent["id"], "w": [[2, 0.5]]})
    assert app.query_params["weights"] == "2_0.5"
    assert sent["features"] == FEATURES
    tell(app, "walk", {"w": [0.0] * FEATURES})
    assert len(components(app)[1]["path"]) > 1


def test_shapes() -> None:
    told = record(id=text, w=each(pair(whole, number)))
    assert told({"id": "a", "w": [[1, 2.5], [3, -4]], "more": None})
    for wrong in (
        [],
        {},
        {"id": "a"},
        {"id": 1, "w": []},
        {"id": "a", "w": [[1.5, 2]]},
        {"id": "a", "w": [[1]]},
    ):
        assert not told(wrong)
    assert not any(map(number, [True, None, "1", 1e101, LARGE, float("nan"), float("inf")]))
    assert not any(map(whole, [True, 1.0, 2**53 + 1, LARGE]))
    assert text("a" * shapes.LONGEST)
    assert not text("a" * (shapes.LONGEST + 1))
    assert not text("half a pair: \ud800")
    assert each(whole, most=2)([1, 2])
    assert not each(whole, most=2)([1, 2, 3])
    assert digits("12")
    assert not any(map(digits, ["", "-1", "1.0", "²", "9" * 50, 5]))
    assert either(one_of("a"), whole)("a")
    assert not either(one_of("a"), whole)(["a"])


def test_browsers_can_read_scripts_and_styles_of_ours_and_nothing_else() -> None:
    found = {path.suffix for path in shapes.SCRIPTS.rglob("*") if path.is_file()}
    assert found <= {".js", ".css", ".json"}, "Streamlit serves all that is below the folder of a component"
