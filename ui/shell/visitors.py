"""Visitors: by account if the server requires log-in, else by a secret that the browser stores.

With a section [auth] in the server's secrets, a provider identifies visitors by OpenID Connect; Streamlit
stores the result in a signed cookie. Otherwise the server creates a secret when a visitor first starts
something that outlives the page. It is in the session, and in a cookie, to survive reloads and restarts.
A line of JavaScript writes the cookie, because Streamlit can only read cookies. The secret is never put into
an address, a log or a run folder: only its digest is stored. Without cookies a visitor keeps the identity
until a reload. Cookies depend on hosts but not on ports: other apps at this machine's address receive it too.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from ipaddress import IPv6Address, IPv6Network, ip_address

import streamlit as st
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from rankviz.common.errors import SettingError
from ui.shell import words
from ui.shell.errors import end_page
from ui.shell.locks import unlocked


@cache
def accounts_required() -> bool:
    """Return True if this server requires accounts; cached, because Streamlit reads secrets each time."""
    return "is_logged_in" in st.user


def account() -> str | None:
    """Return this visitor's account; None on a server without accounts, or before login.

    Raises `SettingError` if the provider names no account.
    """
    if not accounts_required() or not st.user.get("is_logged_in"):
        return None
    issuer, subject = st.user.get("iss"), st.user.get("sub")
    if not issuer or not subject:
        raise SettingError("the login provider gives no account (iss, sub): it must support OpenID Connect")
    return f"{issuer}\n{subject}"


@unlocked()
def require_login() -> None:
    """Show only the login to visitors who are not logged in, if accounts are required."""
    if not accounts_required() or st.user.get("is_logged_in"):
        return
    st.title("rankviz")
    st.write(words.LOG_IN)
    st.button("Log in", key="log-in", type="primary", on_click=st.login)
    end_page()


@unlocked()
def show_account() -> None:
    """Show who is logged in and a logout button in the sidebar."""
    if account() is None:
        return
    with st.sidebar:
        st.caption("Logged in as")
        st.text(str(st.user.get("name") or st.user.get("email") or st.user.get("sub")))
        st.button("Log out", key="log-out", on_click=st.logout)


COOKIE = "rankviz_visitor"
_SECRET = re.compile(r"[0-9a-f]{32}")
_KEEP = """<script>
document.cookie = "{cookie}={secret}; path=/; max-age=31536000; SameSite=Strict"
    + (location.protocol === "https:" ? "; Secure" : "");
</script>"""


def visitor() -> str:
    """Return this visitor's digest; the same in all their tabs, after reloads and restarts."""
    return hashlib.blake2b((account() or _secret()).encode(), digest_size=16).hexdigest()


PROXY = "RANKVIZ_BEHIND_PROXY"
"""If set, the address of a visitor is the last one of X-Forwarded-For, which the proxy writes."""


def address() -> str:
    """Return a digest of this visitor's network address, as `address_of`."""
    return address_of(st.context.ip_address, st.context.headers.get_all("X-Forwarded-For"))


def address_of(seen: object, forwarded: Sequence[str]) -> str:
    """Return a digest of the address of a connection; "" if unknown, as behind an unnamed proxy.

    `forwarded` has the values of X-Forwarded-For: a proxy may add one of its own. Of IPv6, only the first
    64 bits count: one machine may choose the others as it likes.
    """
    if os.environ.get(PROXY):
        found = ",".join(forwarded).rpartition(",")[2].strip()
    else:  # this machine's own has no meaning: a proxy may run there
        found = seen if isinstance(seen, str) and seen not in ("127.0.0.1", "::1") else ""
    return hashlib.blake2b(_network(found).encode(), digest_size=8).hexdigest() if found else ""


def believe_no_forwarded_address() -> None:
    """Make the server give the true addresses of connections; call it while the server starts.

    Uvicorn takes X-Forwarded-For of connections from this machine for their address. Behind a proxy,
    `address_of` reads the header itself.
    """
    for found in gc.get_objects():
        if type(found) is ProxyHeadersMiddleware and not os.environ.get(PROXY):
            found.trusted_hosts = type(found.trusted_hosts)([])


_PORT = re.compile(r"\[(.*)\](?::\d+)?|([\d.]+):\d+")
"""An IPv6 address in brackets, or an address with a port."""


def _network(text: str) -> str:
    """Return an IPv4 address, or the network of an IPv6 address, without ports; other texts unchanged."""
    if with_port := _PORT.fullmatch(text):
        text = with_port[1] or with_port[2] or ""
    with suppress(ValueError):
        found = ip_address(text.partition("%")[0])
        if isinstance(found, IPv6Address):
            mapped = found.ipv4_mapped
            return str(mapped or IPv6Network((int(found), 64), strict=False))
        return str(found)
    return text


def keep_visitor() -> None:
    """Make the browser store the visitor's secret, if it has not and there is no account."""
    if account() is not None:
        return
    secret = _secret()
    if st.context.cookies.get(COOKIE) != secret:
        st.html(_KEEP.format(cookie=COOKIE, secret=secret), unsafe_allow_javascript=True)


def _secret() -> str:
    if COOKIE not in st.session_state:
        kept = str(st.context.cookies.get(COOKIE, ""))
        st.session_state[COOKIE] = kept if _SECRET.fullmatch(kept) else secrets.token_hex(16)
    return str(st.session_state[COOKIE])
