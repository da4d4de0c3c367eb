"""The sidebar alone as an app under test, for what a page need not be drawn for."""

from typing import Any

from streamlit.testing.v1 import AppTest


def _script(page: str) -> None:
    import streamlit as st

    from ui.controls.link import link_as_opened, report_rejected
    from ui.controls.navigation import ENTRIES
    from ui.controls.settings import baseline, spec_from_state
    from ui.controls.sidebar import show_link, sidebar
    from ui.shell.errors import errors_as_sentences
    from ui.work.folds import datasets

    with errors_as_sentences():
        link = link_as_opened()
        entry = next(one for one in ENTRIES if one.file == page)
        sidebar(datasets(), entry.unread, entry.no_fold)
        show_link()
        report_rejected(link, st.empty())
        st.session_state["spec"] = spec_from_state(st.session_state)
        st.session_state["baseline"] = baseline(st.session_state)


def sidebar_alone(page: str = "home", **link: Any) -> AppTest:
    """The sidebar as a link to a page opens it; what it stands for is the state's `spec` and `baseline`."""
    app = AppTest.from_function(_script, default_timeout=180, kwargs={"page": page})
    app.query_params.update({key: str(value) for key, value in link.items()})
    app.run()
    assert not app.exception, app.exception
    return app


def controls(app: AppTest) -> dict[str, list[Any]]:
    """The controls in view and those in the expander, each in the order of the sidebar, without twins."""
    below = _widgets(app.sidebar.expander[0])
    keys = {"fold-named", *(widget.key for widget in below)}
    return {"in view": [one for one in _widgets(app.sidebar) if one.key not in keys], "below": below}


def _widgets(block: Any) -> list[Any]:
    found: list[Any] = []
    for child in block.children.values():
        if hasattr(child, "children"):
            found += _widgets(child)
        elif getattr(child, "key", None) and hasattr(child, "disabled") and child.type != "button":
            found.append(child)
    return found
