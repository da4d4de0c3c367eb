"""The Compare page without models: how to fill it."""

from __future__ import annotations

import streamlit as st

from rankviz.store import StoreError
from ui.compare import picker
from ui.shared.compared import send_with_linear
from ui.shared.foreign import escaped
from ui.shared.look import WAYS
from ui.shared.navigation import ENTRIES
from ui.shared.run_store import run_store, say_what_was_set_aside
from ui.shared.settings import go_to
from ui.shared.visitors import visitor


def show() -> None:
    """Explain how to add models, with links."""
    try:
        run_store().studies.titles(visitor())
        say_what_was_set_aside()
    except StoreError as error:
        st.header("No models can be compared just now.", anchor=False)
        st.error(escaped(error), icon=":material/error:")
        return
    st.header("No models to compare yet.", anchor=False)
    ways = st.container(key=WAYS)
    ways.info(
        "Runs that pages have trained are kept, and are compared here: two models or more, over the folds "
        "and seeds that they were trained with. Any page's present model is sent here from **Presets and "
        "link** in the sidebar, **Compare this model**."
    )
    row = ways.container(horizontal=True)
    row.button(
        "Compare the present model with the linear one",
        key="send-two",
        icon=":material/rule:",
        type="primary",
        on_click=send_with_linear,
        help="Those of their runs that were made; what was not yet is trained on Train.",
    )
    with row:
        picker.button()
    for entry in ENTRIES:
        if entry.file in ("runs", "sweep", "train"):
            row.button(
                entry.title, key=f"go-{entry.file}", icon=entry.material, on_click=go_to, args=(entry.file,)
            )
