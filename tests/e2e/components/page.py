"""One component and what it has told."""

from pathlib import Path

import streamlit as st

from ui.shell.components import mount, number

place = st.session_state.setdefault("place", 10)
mount(
    Path(__file__).with_name("slide.js"),
    key="slide",
    data={"at": place, "most": 200},
    handlers={"moved": (number, lambda value: st.session_state.update(place=value))},
)
st.write(f"At {place}, told {st.session_state['slide'].get('moved')}")
