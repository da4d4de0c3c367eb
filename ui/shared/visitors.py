"""Who a visitor is: an account, where the server asks for one; else who holds a secret that a browser keeps.

The server draws the secret when a visitor first starts something that outlives the page. It lives in the
session and, so that it outlives a reload and a restart of the server, in a cookie of the browser, which is
written by a line of JavaScript (Streamlit can read cookies but not set them) and read from the request that
opens the next session. It is never put into an address, a log or a run folder: only its digest is stored.
Without cookies a visitor stays the same until the page is reloaded. Cookies know hosts but not ports: another
app on this machine's address is sent it too.
"""

from __future__ import annotations

import hashlib
import re
import secrets

import streamlit as st

from ui.shared.accounts import account

COOKIE = "rankviz_visitor"
_SECRET = re.compile(r"[0-9a-f]{32}")
_KEEP = """<script>
document.cookie = "{cookie}={secret}; path=/; max-age=31536000; SameSite=Strict"
    + (location.protocol === "https:" ? "; Secure" : "");
</script>"""


def visitor() -> str:
    """The digest that stands for this visitor; the same in all their tabs, after reloads and restarts."""
    return hashlib.blake2b((account() or _secret()).encode(), digest_size=16).hexdigest()


def keep_visitor() -> None:
    """Have the browser keep the visitor's secret, if it does not yet and no account stands for it."""
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
