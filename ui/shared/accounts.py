"""Accounts, on a server whose secrets have a section [auth]: visitors must log in first.

The provider identifies visitors by OpenID Connect; Streamlit stores the result in a signed cookie.
"""

from __future__ import annotations

from functools import cache

import streamlit as st

from rankviz.common.errors import SettingError
from ui.shared import words
from ui.shared.ends import end_page


@cache
def asked_for() -> bool:
    """Return True if this server requires accounts; cached, because Streamlit reads secrets each time."""
    return "is_logged_in" in st.user


def account() -> str | None:
    """Return this visitor's account; None on a server without accounts, or before login.

    Raises `SettingError` if the provider names no account.
    """
    if not asked_for() or not st.user.get("is_logged_in"):
        return None
    issuer, subject = st.user.get("iss"), st.user.get("sub")
    if not issuer or not subject:
        raise SettingError("the login provider gives no account (iss, sub): it must support OpenID Connect")
    return f"{issuer}\n{subject}"


def ask_to_log_in() -> None:
    """Show only the login to visitors who are not logged in, if accounts are required."""
    if not asked_for() or st.user.get("is_logged_in"):
        return
    st.title("rankviz")
    st.write(words.LOG_IN)
    st.button("Log in", key="log-in", type="primary", on_click=st.login)
    end_page()


def offer_to_log_out() -> None:
    """Show who is logged in and a logout button in the sidebar."""
    if account() is None:
        return
    with st.sidebar:
        st.caption("Logged in as")
        st.text(str(st.user.get("name") or st.user.get("email") or st.user.get("sub")))
        st.button("Log out", key="log-out", on_click=st.logout)
