"""Widgets bound to the address: values, labels, helps and starts."""

import json
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from ui.controls import selection


def drawn() -> None:
    import streamlit as st

    from ui.controls.widgets import Bound

    row = Bound(helps={"a": "help of a"})
    sizes = {1: "one", 2: "two"}
    values = [
        row.menu("a", "Menu", sizes, 2),
        row.menu_of_data("b", "Held", [3, 4, 5], 1),
        row.optional_menu("c", "Optional", [6, 7], "six", help="own help"),
        row.buttons("d", "Buttons", sizes),
        row.several("e", "Several", [1, 2, 3], [2]),
        row.switch("f", "Switch", True),
        row.slider("g", "Slider", 1, 9, 5),
        row.steps("h", "Steps", (10, 20, 30), 20),
        row.number("i", "Number", 0, 9),
        row.at(st.sidebar).text("j", "Text", "start", disabled=True),
    ]
    st.session_state["values"] = values


def opened(**address: str) -> tuple[AppTest, list[Any]]:
    app = AppTest.from_function(drawn)
    for key, value in address.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app, app.session_state["values"]


def test_widgets_begin_with_their_starts() -> None:
    assert opened()[1] == [2, 4, None, 1, [2], True, 5, 20, 0, "start"]


def test_the_address_sets_each_widget() -> None:
    address = {"a": "one", "c": "7", "d": "two", "e": "3", "f": "false", "g": "7", "h": "30", "i": "4"}
    assert opened(**address, j="other")[1] == [1, 4, 7, 2, [3], False, 7, 30, 4, "other"]


def test_labels_follow_from_a_mapping_and_helps_from_the_key() -> None:
    app, _ = opened()
    assert app.selectbox(key="a").options == ["one", "two"]
    assert app.selectbox(key="a").help == "help of a"
    assert app.selectbox(key="c").help == "own help"
    assert app.sidebar.text_input(key="j").disabled


def table() -> None:
    import pandas as pd
    import streamlit as st

    from ui.shell.figures import show_table

    columns = {"change": [-5, 4], "score": [-0.25, 0.123456], "loss": [-0.0314159, None], "n": [1, 2]}
    columns |= {"share": [-0.5, 0.5], "unsigned": [0.488, 0.5]}
    config = {"change": st.column_config.NumberColumn("change", format="%+d")}
    config["loss"] = st.column_config.NumberColumn("loss", format="%.3f", help="help")
    config["share"] = st.column_config.NumberColumn("share", format="percent")
    show_table(pd.DataFrame(columns), column_config=config, hide_index=True)


def test_tables_have_minus_signs_and_stay_numbers() -> None:
    (drawn,) = AppTest.from_function(table, default_timeout=60).run().dataframe
    assert drawn.value["change"].tolist() == [-5, 4]
    styler = drawn.proto.arrow_data.styler
    shown = pa.ipc.open_stream(styler.display_values).read_pandas()
    assert shown["change"].tolist() == ["−5", "+4"]
    assert shown["score"].tolist() == ["−0.25", "0.1235"]
    assert shown["loss"].tolist() == ["−0.031", "–"]
    assert shown["unsigned"].tolist() == ["0.488", "0.5"], "as without signed columns beside it"
    config = json.loads(drawn.proto.columns)
    assert config["share"]["type_config"]["format"] == "percent", "the browser writes it"
    assert config["loss"]["help"] == "help"
    assert config["change"]["type_config"] == config["loss"]["type_config"] == {"type": "number"}


def test_a_menu_keeps_its_value_while_that_is_an_option() -> None:
    app, _ = opened()
    app.selectbox(key="b").set_value(5).run()
    assert app.session_state["values"][1] == 5
    app.selectbox(key="c").set_value(6).run()
    assert app.session_state["values"][1:3] == [5, 6]


def test_a_click_on_the_only_selected_query_deselects_it_and_a_box_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = pd.DataFrame({"query": [1, 2], "difference": [0.1, -0.2]})
    marked: dict[str, Any] = {"points": [{"customdata": [2]}], "box": [], "lasso": []}
    state: dict[str, Any] = {"chart": {"selection": marked}, selection.KEY: [2]}
    monkeypatch.setattr(selection.st, "session_state", state)
    marked["box"] = [{}]
    selection.on_chart("chart", table)()
    assert state[selection.KEY] == [2]
    marked["box"] = []
    selection.on_chart("chart", table)()
    assert state[selection.KEY] == []
