"""The Compare page without models: how to fill it."""

from __future__ import annotations

import streamlit as st

from rankviz.store import StoreError
from ui.compare import picker, words
from ui.controls.compared import send_with_linear
from ui.controls.navigation import ENTRIES
from ui.controls.settings import go_to
from ui.shell.page import KEPT_ALONE
from ui.shell.texts import escaped
from ui.shell.visitors import visitor
from ui.work.run_store import run_store, show_store_notice


def show() -> None:
    """Explain how to add models, with links."""
    try:
        run_store().studies.titles(visitor())
        show_store_notice()
    except StoreError as error:
        st.header(words.NO_STORE, anchor=False)
        st.error(escaped(error), icon=":material/error:")
        return
    st.header(words.NO_MODELS, anchor=False)
    ways = st.container(key=KEPT_ALONE)
    ways.info(words.HOW_TO_FILL)
    row = ways.container(horizontal=True)
    row.button(
        "Compare with the linear model",
        key="send-two",
        icon=":material/rule:",
        type="primary",
        on_click=send_with_linear,
        help=words.SEND_TWO_HELP,
    )
    with row:
        picker.button()
    for entry in ENTRIES:
        if entry.file in ("runs", "sweep", "train"):
            row.button(
                entry.title, key=f"go-{entry.file}", icon=entry.material, on_click=go_to, args=(entry.file,)
            )
