"""Headers of every answer: no other site frames the app, and its pages fetch from no other host.

Streamlit sets none of its own and lets an app add them (`app.py`). They are checked by the browser, so that
even a text that a page shows by mistake as HTML can fetch nothing.

See docs/decisions/0022-security-in-the-browser.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

POLICY = {
    "default-src": "'self'",
    # Streamlit's page, that of the documentation and ui/shared/visitors.py have scripts within the page
    "script-src": "'self' 'unsafe-inline'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
"""What a page of ours may fetch, run and be framed by."""

HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # the address is the state: what somebody looks at
}
_ENCODED = {name.lower().encode(): value.encode() for name, value in HEADERS.items()}


class Headers:
    """Adds `HEADERS` to the answers of an application, in place of any that it has set itself."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Have the application answer; the start of an answer gets the headers."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                others = [(name, value) for name, value in message["headers"] if name.lower() not in _ENCODED]
                message["headers"] = [*others, *_ENCODED.items()]
            await send(message)

        await self._application(scope, receive, send_with_headers)
