"""The end of a page: what was pressed while it was drawn is heard afterwards."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def script(pressed: str = "") -> None:
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
    app = AppTest.from_function(script).run()
    assert [text.value for text in app.markdown] == ["the end"]
    button = app.button[0].proto.id
    app = AppTest.from_function(script, kwargs={"pressed": button}).run()
    assert not app.exception
    assert not app.markdown, "nothing follows"
    assert app.session_state["heard"]
