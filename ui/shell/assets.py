"""Streamlit's scripts and styles, compressed once, and its page, which asks for the scripts of figures early.

Streamlit sends these files uncompressed. A browser asks for the script of a figure only when the first figure
arrives. Here the page names that script, and those of the controls, in its head. All names come from
Streamlit's own list of files. Without that list, or without a file, Streamlit answers alone.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.file_util import get_static_dir

EARLY = ("PlotlyChart", "Selectbox", "Slider", "NumberInput", "TextInput", "Html", "PageLink")
"""Streamlit's parts that the first figure and the controls beside it need, the largest first."""
LEVEL = 6
"""Level 9 takes longer and saves 0.2 % of Plotly's script."""
KEEP = "public, immutable, max-age=31536000"
"""The name of such a file contains a hash of its content, so browsers keep it for a year."""
_NAME = re.compile(r"/static/((?:js|css)/[^/]+\.(?:js|css))$")
_TYPES = {".js": "text/javascript", ".css": "text/css"}


class Assets:
    """Middleware that answers for Streamlit's scripts and styles, and completes its page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app, self._packing = app, dict[Path, asyncio.Task[tuple[bytes, str]]]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a file or the page; pass on all others.

        When the server starts, compress what the page asks for: else the first visitors wait for it.
        """
        if scope["type"] == "lifespan":
            self._start(first_files())
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        found = _NAME.search(scope["path"])
        file = files().get(found[1]) if found else None
        asked = Headers(scope=scope)
        if file is None:
            await self._app(_uncompressed_page(scope, asked), receive, _Completed(scope, receive, send))
        elif not takes_gzip(asked) or "range" in asked:
            await self._app(scope, receive, _varying(send))
        else:
            head = {"Content-Type": f"{_TYPES[file.suffix]}; charset=utf-8", "Cache-Control": KEEP}
            answer = _answer(*await self._packed(file), head | {"Content-Encoding": "gzip"}, scope)
            await answer(scope, receive, send)

    async def _packed(self, file: Path) -> tuple[bytes, str]:
        """Return a compressed file and its digest; the first request makes both, in a thread."""
        self._start([file])
        return await asyncio.shield(self._packing[file])

    def _start(self, wanted: Iterable[Path]) -> None:
        for file in wanted:
            if file not in self._packing:
                self._packing[file] = asyncio.create_task(asyncio.to_thread(_compressed, file))


class _Completed:
    """Sends an answer on; if it is Streamlit's page, sends the page with its links instead."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        """Hold back what may be the page until all of it has come."""
        if message["type"] == "http.response.start" and self._may_be_page(message):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message["body"]
            if not message.get("more_body"):
                await self._end(self._start)

    def _may_be_page(self, start: Message) -> bool:
        head, (plain, completed) = Headers(raw=start["headers"]), pages()
        of_size = head.get("content-length") == str(len(plain)) and plain != completed
        return of_size and start["status"] == 200 and head.get("content-type", "").startswith("text/html")

    async def _end(self, start: Message) -> None:
        plain, completed = pages()
        if self._body != (plain if self._scope["method"] == "GET" else b""):  # another page of that size
            await self._send(start)
            await self._send({"type": "http.response.body", "body": self._body})
            return
        unknown = ("content-length", "etag", "last-modified")  # those of the file
        head = {name: value for name, value in Headers(raw=start["headers"]).items() if name not in unknown}
        answer = _answer(completed, _digest(completed), head, self._scope)
        await answer(self._scope, self._receive, self._send)


def _answer(body: bytes, digest: str, head: Mapping[str, str], scope: Scope) -> Response:
    """Return an answer with a digest as its ETag, without a body if the browser has it or asks for none."""
    tag = f'"{digest}"'
    headers = {**head, "ETag": tag, "Vary": "Accept-Encoding", "Content-Length": str(len(body))}
    held = Headers(scope=scope).get("if-none-match", "")
    if tag in (one.strip().removeprefix("W/") for one in held.split(",")):
        kept = {name: value for name, value in headers.items() if not name.lower().startswith("content-")}
        return Response(status_code=304, headers=kept)
    return Response(body if scope["method"] == "GET" else b"", headers=headers)


def _uncompressed_page(scope: Scope, asked: Headers) -> Scope:
    """Return the request without its encodings if it may be for the page: Streamlit would compress that."""
    if "text/html" not in asked.get("accept", "") or "/app/static/" in scope["path"]:
        return scope
    kept = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
    return {**scope, "headers": kept}


def _varying(send: Send) -> Send:
    """Return `send` with a header that caches must keep one answer per encoding."""

    async def send_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(raw=message["headers"]).add_vary_header("Accept-Encoding")
        await send(message)

    return send_on


def takes_gzip(asked: Headers) -> bool:
    """Return True if a request accepts gzip; an encoding with the quality 0 is refused."""
    accepted = {}
    for part in asked.get("accept-encoding", "").lower().split(","):
        name, _, quality = part.replace(" ", "").partition(";")
        accepted[name] = not re.fullmatch(r"q=0(\.0*)?", quality)
    return accepted.get("gzip", accepted.get("*", False))


def _compressed(file: Path) -> tuple[bytes, str]:
    body = gzip.compress(file.read_bytes(), LEVEL, mtime=0)
    return body, _digest(body)


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=16).hexdigest()


@cache
def files() -> Mapping[str, Path]:
    """Return Streamlit's scripts and styles by their names below `static`."""
    folder = Path(get_static_dir()) / "static"
    found = [*folder.glob("js/*.js"), *folder.glob("css/*.css")]
    return {file.relative_to(folder).as_posix(): file for file in found}


@cache
def pages() -> tuple[bytes, bytes]:
    """Return Streamlit's page, and the page with links to `early_files` at the end of its head."""
    page = Path(get_static_dir()) / "index.html"
    plain = page.read_bytes() if page.is_file() else b""
    names = [name for name in early_files(manifest()) if name.encode() not in plain]
    link = '<link rel="modulepreload" crossorigin href="./static/{}">'
    links = "".join(link.format(name) for name in names)
    return plain, plain.replace(b"</head>", links.encode() + b"</head>", 1)


def early_files(listed: Mapping[str, Any]) -> Iterator[str]:
    """Yield the existing scripts of `EARLY` and those that they import, each once, below `static`."""
    sources = {Path(source).stem: source for source in listed if "/components/" in source}
    wanted = _with_imports([sources[name] for name in EARLY if name in sources], listed)
    for source in wanted:
        name = str(listed[source].get("file", "")).removeprefix("static/")
        if name in files() and name.endswith(".js"):
            yield name


def first_files() -> list[Path]:
    """Return the scripts and styles of the page, and those of `EARLY`."""
    listed = manifest()
    first = _with_imports(["index.html"], listed)
    names = [name for one in first for name in (listed[one].get("file", ""), *listed[one].get("css", []))]
    found = dict.fromkeys([name.removeprefix("static/") for name in names] + list(early_files(listed)))
    return [files()[name] for name in found if name in files()]


def _with_imports(sources: Iterable[str], listed: Mapping[str, Any]) -> list[str]:
    found: dict[str, None] = {}
    waiting = list(sources)
    while waiting:
        source = waiting.pop(0)
        if source in listed and source not in found:
            found[source] = None
            waiting += listed[source].get("imports", [])
    return list(found)


@cache
def manifest() -> Mapping[str, Any]:
    """Return Streamlit's list of files; empty if there is none or it has another form."""
    try:
        listed = json.loads((Path(get_static_dir()) / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    whole = isinstance(listed, dict) and all(isinstance(one, dict) for one in listed.values())
    return listed if whole else {}
