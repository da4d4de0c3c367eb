"""Accounts, on a server whose secrets have a section [auth]: its visitors log in before they see anything.

Who they are is what their provider says by OpenID Connect, kept by Streamlit in a signed cookie.
"""

from __future__ import annotations

from functools import cache

import streamlit as st

from rankviz.common.errors import SettingError
from ui.shared import words
from ui.shared.ends import end_page


@cache
def asked_for() -> bool:
    """Whether this server asks for accounts, looked up once: Streamlit looks for secrets each time."""
    return "is_logged_in" in st.user


def account() -> str | None:
    """The account of this visitor; None on a server that has none, or before they have logged in.

    Raises `SettingError` where the provider does not say whose it is.
    """
    if not asked_for() or not st.user.get("is_logged_in"):
        return None
    issuer, subject = st.user.get("iss"), st.user.get("sub")
    if not issuer or not subject:
        raise SettingError("the login provider gives no account (iss, sub): it must support OpenID Connect")
    return f"{issuer}\n{subject}"


def ask_to_log_in() -> None:
    """Where accounts are asked for, show the way in and nothing else to who has not logged in."""
    if not asked_for() or st.user.get("is_logged_in"):
        return
    st.title("rankviz")
    st.write(words.LOG_IN)
    st.button("Log in", key="log-in", type="primary", on_click=st.login)
    end_page()


def offer_to_log_out() -> None:
    """Say in the sidebar who is logged in, with the way out."""
    if account() is None:
        return
    with st.sidebar:
        st.caption("Logged in as")
        st.text(str(st.user.get("name") or st.user.get("email") or st.user.get("sub")))
        st.button("Log out", key="log-out", on_click=st.logout)
