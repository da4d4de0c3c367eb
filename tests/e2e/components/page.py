"""One component and what it has told."""

from pathlib import Path

import streamlit as st

from ui.shared.components import mount

place = st.session_state.setdefault("place", 10)
told = mount(
    Path(__file__).with_name("slide.js"),
    key="slide",
    data={"at": place, "most": 200},
    on_moved_change=lambda: st.session_state.update(place=st.session_state["slide"].moved),
)
st.write(f"At {place}, told {told.moved}")
