"""One entry per page in the browser's history: Back leads to the previous page."""

from __future__ import annotations

import streamlit as st

_SCRIPT = """<script>
if (!history.replacesOnOnePage) {{
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  const whole = (url) => {{
    const to = new URL(url ?? "", location.href), told = to.searchParams;
    const missing = told.has("{name}") ? "" : (told.size ? "&" : "?") + "{name}={value}";
    return to.pathname + to.search + missing + to.hash;
  }};
  history.pushState = (state, title, url) => {{
    const samePage = new URL(url ?? "", location.href).pathname === location.pathname;
    if (samePage) replace(state, title, whole(url));
    else push(state, title, url);
  }};
  history.replacesOnOnePage = true;
  replace(history.state, "", whole(location.href));
}}
</script>"""
"""Streamlit adds an entry for each parameter that a script sets, such as a started job."""


def one_entry_a_page(name: str, value: str) -> None:
    """Make the browser replace the history entry when a page's parameters change.

    One parameter is in every address. At first the browser sets it, later we do too. Parameters set by the
    first run of a script arrive before the browser knows it. Those set later by a fragment lack the browser's
    parameters.
    """
    st.html(_SCRIPT.format(name=name, value=value), unsafe_allow_javascript=True)
    if st.session_state.setdefault(_TOLD, False):
        st.query_params[name] = value
    st.session_state[_TOLD] = True


_TOLD = "history-told"
