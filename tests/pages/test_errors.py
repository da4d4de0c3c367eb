"""Errors as sentences: of data and settings with their remedy, faults of the program with their details."""

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest_pages import APP, Opener, figures
from streamlit.runtime.scriptrunner import StopException
from streamlit.testing.v1 import AppTest

from rankviz import DataError
from rankviz.common.errors import SettingError
from ui.shell.errors import details, end_page
from ui.shell.words import FAULT


def script(kind: str, where: str) -> None:
    import streamlit as st

    from rankviz import DataError
    from rankviz.common.errors import SettingError
    from rankviz.common.progress import StopRequested
    from ui.shell.errors import errors_as_sentences

    errors = {
        "data": DataError("a hole", expected="none", remedy="Fill it."),
        "setting": SettingError("m=0 must be more"),
        "stopped": StopRequested("asked"),
        "value": ValueError("a plain one"),
        "key": KeyError("absent"),
        "assertion": AssertionError(),
    }

    @errors_as_sentences()
    def alone() -> None:
        raise errors[kind]

    with errors_as_sentences():
        st.write("before")
        if where == "function":
            alone()
        with errors_as_sentences():
            if where == "inner":
                raise errors[kind]
        if where == "stop":
            st.stop()
        if where == "rerun" and "again" not in st.session_state:
            st.session_state["again"] = True
            st.rerun()
        if where == "outer":
            raise errors[kind]
    st.write("after")


def shown(kind: str = "key", where: str = "outer") -> AppTest:
    app = AppTest.from_function(script, kwargs={"kind": kind, "where": where}, default_timeout=180).run()
    assert not app.exception
    return app


@pytest.mark.parametrize("where", ["outer", "inner", "function"])
@pytest.mark.parametrize(
    ("kind", "sentence"), [("data", "a hole. Expected: none. Fill it."), ("setting", "m=0 must be more")]
)
def test_data_and_settings_are_sentences(kind: str, sentence: str, where: str, faults: list[str]) -> None:
    app = shown(kind, where)
    assert [error.value for error in app.error] == [sentence]
    assert [text.value for text in app.markdown] == ["before"]
    assert not app.code
    assert not faults


@pytest.mark.parametrize("where", ["outer", "inner", "function"])
@pytest.mark.parametrize("kind", ["value", "key", "assertion"])
def test_all_else_is_a_fault_shown_and_logged_once(kind: str, where: str, faults: list[str]) -> None:
    app = shown(kind, where)
    assert [error.value for error in app.error] == [FAULT]
    assert [text.value for text in app.markdown] == ["before"]
    assert len(app.code) == 1
    name = {"value": "ValueError: a plain one", "key": "KeyError: 'absent'", "assertion": "AssertionError"}
    assert app.code[0].value.splitlines()[-1] == name[kind]
    assert "in script" in app.code[0].value or "in alone" in app.code[0].value
    assert len(faults) == 1
    assert name[kind] in faults[0]
    faults.clear()


def test_a_stop_is_a_sentence_and_streamlit_s_own_signals_pass(faults: list[str]) -> None:
    assert [info.value for info in shown("stopped").info] == ["Stopped before the model was ready."]
    stopped, again = shown("key", "stop"), shown("key", "rerun")
    assert [text.value for text in stopped.markdown] == ["before"]
    assert [text.value for text in again.markdown] == ["before", "after"]
    assert not (*stopped.error, *again.error, *faults)


@pytest.mark.parametrize("place", ["headline", "show_limits"])
def test_a_page_shows_its_faults_wherever_they_are(
    place: str, open_page: Opener, monkeypatch: pytest.MonkeyPatch, faults: list[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("out of its mind")

    app = AppTest.from_file(str(APP), default_timeout=180)
    monkeypatch.setattr(f"ui.learn.home.{place}", broken)
    app.run()
    assert not app.exception
    assert [error.value for error in app.error] == [FAULT]
    assert app.main.code[-1].value.rstrip().endswith("RuntimeError: out of its mind")
    assert app.title, "what was drawn before stays"
    assert app.sidebar.selectbox(key="map").value == "nystroem"
    assert len(faults) == 1
    faults.clear()


@pytest.mark.parametrize(
    "error", [DataError("a hole", expected="none", remedy="Fill it."), SettingError("m=0 must be more")]
)
def test_a_page_s_parts_outside_of_blocks_say_sentences_too(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise error

    app = AppTest.from_file(str(APP), default_timeout=180)
    monkeypatch.setattr("ui.learn.home.show_limits", refused)
    app.run()
    assert [one.value for one in app.error] == [str(error)]
    assert figures(app)


def fragment_script(guarded: bool) -> None:
    import streamlit as st

    from ui.shell.errors import errors_as_sentences

    def broken() -> None:
        raise RuntimeError("out of its mind")

    with errors_as_sentences():
        st.fragment(errors_as_sentences()(broken) if guarded else broken)()


@pytest.mark.parametrize("guarded", [True, False])
def test_a_fragment_s_fault_is_shown_once(guarded: bool, faults: list[str]) -> None:
    app = AppTest.from_function(fragment_script, kwargs={"guarded": guarded}, default_timeout=180).run()
    assert len(app.error) == len(app.code) == len(faults) == int(guarded)
    assert len(app.exception) == int(not guarded), "Streamlit's own box, where nothing of ours guards it"
    faults.clear()


def test_every_fragment_is_guarded() -> None:
    fragments = []
    for path in (APP.parent / "ui").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and is_fragment(node)]
        drawn = {ast.unparse(call.args[0]) for call in calls}
        drawn |= {name for name, node in functions.items() if any(map(is_fragment, node.decorator_list))}
        fragments += [(path.stem, functions[name]) for name in drawn]
    assert {"watching", "auto_jobs"} <= {name for name, _ in fragments}
    for name, function in fragments:
        told = [ast.unparse(one) for one in function.decorator_list]
        assert told[-1] == "errors_as_sentences()", (name, function.name)


def is_fragment(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(called) == "st.fragment"


def test_a_sidebar_that_fails_is_a_fault(monkeypatch: pytest.MonkeyPatch, faults: list[str]) -> None:
    def broken() -> None:
        raise OSError("no such disk")

    monkeypatch.setattr("ui.work.folds.find_datasets", lambda roots: broken())
    app = AppTest.from_file(str(APP), default_timeout=180).run()
    assert [error.value for error in app.error] == [FAULT]
    assert "OSError: no such disk" in faults.pop()


def caught(error: Callable[[], object]) -> Exception:
    try:
        error()
    except Exception as found:
        return found
    raise AssertionError("nothing was raised")


def test_details_do_not_tell_where_the_server_has_its_files() -> None:
    import json

    text = details(caught(lambda: json.loads("{")))
    assert 'test_errors.py", line ' in text
    assert 'File "json/decoder.py"' in text
    assert "JSONDecodeError" in text
    assert str(APP.parent) not in text
    assert sys.prefix not in text
    missing = details(caught(lambda: (APP.parent / "data" / "none.txt").read_text()))
    assert "'data/none.txt'" in missing
    assert str(APP.parent) not in missing


def test_details_tell_causes_too_and_leave_other_slashes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def chained() -> None:
        try:
            raise KeyError("a/b")
        except KeyError as error:
            raise ValueError(f"in {Path('/')} and /else/where") from error

    monkeypatch.setattr(sys, "path", ["/", "", "relative", *sys.path])
    text = details(caught(chained))
    assert "KeyError: 'a/b'" in text
    assert text.splitlines()[-1] == "ValueError: in / and /else/where"


def ending(pressed: str = "") -> None:
    """A page that ends early; while it is drawn the button that is named is pressed, as by a browser."""
    import streamlit as st
    from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    from ui.shell.errors import end_page

    def hear() -> None:
        st.session_state["heard"] = True

    st.button("Stop the job", on_click=hear)
    context = get_script_run_ctx()
    if pressed and "sent" not in st.session_state and context and context.script_requests:
        st.session_state["sent"] = True
        press = WidgetStates(widgets=[WidgetState(id=pressed, trigger_value=True)])
        # of a fragment, so that it waits until the page is drawn; which one does not matter here
        asked = RerunData(widget_states=press, fragment_id="of the job", is_auto_rerun=True)
        assert context.script_requests.request_rerun(asked)
    if pressed:
        end_page()
    st.write("the end")


def test_what_is_pressed_while_a_page_is_drawn_that_ends_early_is_heard() -> None:
    app = AppTest.from_function(ending).run()
    assert [text.value for text in app.markdown] == ["the end"]
    button = app.button[0].proto.id
    app = AppTest.from_function(ending, kwargs={"pressed": button}).run()
    assert not app.exception
    assert not app.markdown, "nothing follows"
    assert app.session_state["heard"]


@pytest.mark.parametrize(("of_a_fragment", "left"), [(False, {"drawn"}), (True, {"drawn", "earlier"})])
def test_a_page_that_ends_early_drops_fragments_that_it_has_not_drawn(
    of_a_fragment: bool, left: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"drawn", "earlier"}
    context = SimpleNamespace(
        fragment_ids_this_run=["drawn"] if of_a_fragment else None,
        fragment_storage=SimpleNamespace(
            clear=lambda new_fragment_ids: kept.intersection_update(new_fragment_ids)
        ),
        shared=SimpleNamespace(new_fragment_ids=SimpleNamespace(snapshot=lambda: {"drawn"})),
    )
    monkeypatch.setattr("ui.shell.errors.get_script_run_ctx", lambda: context)
    with pytest.raises(StopException):
        end_page()
    assert kept == left
