"""What a page puts into its address adds nothing to the browser's history: Back leads to the page before."""

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
"""Streamlit makes an entry for each parameter that a script sets, such as the job that it has begun."""


def one_entry_a_page(name: str, value: str) -> None:
    """Have the browser replace the entry of a page whose parameters change.

    A parameter that every address has is put there by the browser at first, and from then on by us too: what
    the first run of a script sets arrives before the browser has been told, and what a fragment sets after
    it comes without what the browser has put there.
    """
    st.html(_SCRIPT.format(name=name, value=value), unsafe_allow_javascript=True)
    if st.session_state.setdefault(_TOLD, False):
        st.query_params[name] = value
    st.session_state[_TOLD] = True


_TOLD = "history-told"
