"""Identity of a visitor: an account, if the server requires one; else a secret stored by the browser.

The server creates the secret when a visitor first starts something that outlives the page. It is stored in
the session, and, to survive a reload and a restart of the server, in a browser cookie. A line of JavaScript
writes the cookie (Streamlit can read cookies but not set them); the request that opens the next session
contains it. The secret is never put into an address, a log or a run folder: only its digest is stored.
Without cookies a visitor keeps the identity until a reload. Cookies depend on hosts but not on ports: other
apps at this machine's address receive it too.
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
    """Return this visitor's digest; the same in all their tabs, after reloads and restarts."""
    return hashlib.blake2b((account() or _secret()).encode(), digest_size=16).hexdigest()


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
