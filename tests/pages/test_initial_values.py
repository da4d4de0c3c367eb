"""Test the starting settings of data sets, and the way back to earlier ones."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sidebar_script import sidebar_alone
from streamlit.testing.v1 import AppTest

from rankviz.runs.starting_points import StartingPoint
from ui.controls.settings import OF_DATA, SET_FOR, state_of

KEYS = [setting.key for setting in OF_DATA]
USUAL, OWN = [200, -4, -2, -10], [200, -9, -7, -13]
POINT = StartingPoint({"C": 2.0**-9, "gamma": 2.0**-7}, 2.0**-13, "Found in a test")


@pytest.fixture(autouse=True)
def own(data_set: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """A data set called edge with a starting point that is known here."""
    data_set("small")
    monkeypatch.setattr("ui.controls.sidebar.starting_point", lambda fold: POINT)


def now(app: AppTest) -> list[Any]:
    return [app.session_state[key] for key in KEYS]


def notes(app: AppTest) -> list[Any]:
    return [one for one in app.button if one.key == "back-to-mine"]


def test_an_address_that_names_a_data_set_alone_shows_its_own_settings() -> None:
    app = sidebar_alone(data="edge")
    assert now(app) == OWN
    assert app.session_state["spec"].C == 2.0**-9
    assert app.session_state["baseline"].C == 2.0**-13
    assert set(app.query_params) == {"data"}
    assert "Default here: C = 2⁻⁹ (Found in a test)." in app.slider(key="c").help
    assert "Default here" not in app.select_slider(key="m").help
    assert not notes(app)
    assert now(sidebar_alone()) == USUAL


def test_a_link_keeps_what_it_names() -> None:
    app = sidebar_alone(data="edge", c=-4, m=50, v=2)
    assert now(app) == [50, -4, -7, -13]
    assert app.query_params["c"] == "-4"
    again = sidebar_alone(**dict(app.query_params.items()))
    assert now(again) == now(app)


def test_another_data_set_brings_its_own_settings_and_one_can_go_back() -> None:
    app = sidebar_alone(c=3, m=50)
    app.selectbox(key="data").set_value("edge").run()
    assert now(app) == [50, *OWN[1:]], "it has no m of its own"
    assert "c" not in app.query_params
    assert app.query_params["m"] == "50"
    assert app.button(key="back-to-mine").label == ":small[:gray[Found in a test] – restore mine]"
    assert app.button(key="back-to-mine").help == (
        "Now: m = 50, C = 2⁻⁹, γ = 2⁻⁷, linear baseline C = 2⁻¹³. "
        "Before: m = 50, C = 2³, γ = 2⁻², linear baseline C = 2⁻¹⁰."
    )
    app.button(key="back-to-mine").click().run()
    assert now(app) == [50, 3, -2, -10]
    assert {key: app.query_params[key] for key in ("c", "g", "clin")} == {"c": "3", "g": "-2", "clin": "-10"}
    assert not notes(app)
    opened = sidebar_alone(**dict(app.query_params.items()))
    assert now(opened) == now(app)


def test_the_line_stays_while_a_setting_is_moved() -> None:
    app = sidebar_alone()
    app.selectbox(key="data").set_value("edge").run()
    app.slider(key="c").set_value(0).run()
    assert app.session_state["spec"].C == 1.0
    (line,) = notes(app)
    assert "Now: m = 200, C = 2⁰, " in line.help
    line.click().run()
    assert now(app) == USUAL


def test_the_line_goes_with_its_data_set() -> None:
    app = sidebar_alone()
    app.selectbox(key="data").set_value("edge").run()
    app.session_state["data"] = app.session_state[SET_FOR] = "synthetic-demo"  # as `open_run` does
    app.run()
    assert not notes(app)


def test_there_and_back_again_is_as_before() -> None:
    app = sidebar_alone()
    app.selectbox(key="data").set_value("edge").run()
    app.selectbox(key="data").set_value("synthetic-demo").run()
    assert now(app) == USUAL
    assert not set(app.query_params) - {"v"}


def test_what_the_new_set_has_no_setting_for_stays_and_is_in_the_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = sidebar_alone(data="edge")
    monkeypatch.setattr("ui.controls.sidebar._start", lambda dataset: ("", {}))
    app.selectbox(key="data").set_value("synthetic-demo").run()
    assert now(app) == OWN
    assert {"c", "g", "clin"} <= set(app.query_params)


def test_a_link_of_another_version_starts_as_this_one_and_says_so() -> None:
    app = sidebar_alone(data="edge", g=-5, v=1)
    assert now(app) == [OWN[0], OWN[1], -5, OWN[3]]
    assert "from another version (v = 1)" in app.warning[0].value


def test_the_preset_is_where_the_data_set_starts() -> None:
    app = sidebar_alone(data="edge", c=5)
    next(one for one in app.button if one.label == "Start values of this data set").click().run()
    assert now(app) == OWN


def test_a_run_that_is_opened_keeps_its_settings() -> None:
    app = sidebar_alone()
    spec = app.session_state["spec"].but(dataset="edge", C=4.0)
    for key, value in state_of(spec).items():
        app.session_state[key] = value
    app.session_state[SET_FOR] = "edge"  # as `open_run` does
    app.run()
    assert app.session_state["spec"] == spec


def test_large_data_sets_are_not_read_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.controls.sidebar.MOST_BYTES", 10)
    assert now(sidebar_alone(data="edge")) == USUAL


def test_data_that_cannot_be_read_leave_the_sidebar_whole(
    tmp_path: Path, data_set: Callable[..., None]
) -> None:
    data_set("small", copied=True)
    (tmp_path / "data" / "edge" / "Fold1" / "train.txt").write_text("nonsense\n")
    app = sidebar_alone(data="edge")
    assert now(app) == USUAL
