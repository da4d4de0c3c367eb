"""The files that a browser fetches from Streamlit: which ones, and over connections that are kept open."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit

CONNECTIONS = 6
"""That browsers open to one server at once."""
FONTS = ("SourceSansVF-Upright", "SourceCodeVF-Upright", "MaterialSymbols")
_ENTRY = "index.html"


@cache
def _manifest() -> dict[str, Any]:
    """What each module of Streamlit's frontend imports, as its build has written it down."""
    path = Path(streamlit.__file__).parent / "static" / "manifest.json"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@cache
def files_of_the_frame() -> tuple[str, ...]:
    """What is loaded before anything is asked of the app: the script with all it imports, styles, fonts."""
    entry = _manifest()[_ENTRY]
    fonts = [name for name in entry["assets"] if Path(name).name.startswith(FONTS)]
    return (*_with_imports(_ENTRY), *entry["css"], *fonts)


@cache
def files_of(kind: str) -> tuple[str, ...]:
    """What is loaded when the first element of a kind (as its message names it) is drawn."""
    stem = kind.replace("_", "")
    for source in _manifest():
        if "/components/" in source and Path(source).stem.lower() == stem:
            return _with_imports(source)
    return ()


def _with_imports(source: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    waiting = [source]
    while waiting:
        name = waiting.pop()
        if _manifest()[name]["file"] not in found:
            found[_manifest()[name]["file"]] = None
            waiting += _manifest()[name].get("imports", [])
    return tuple(found)


class Connections:
    """Connections to one server, of one browser."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._free = asyncio.Semaphore(CONNECTIONS)
        self._kept: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.bytes = self.requests = 0

    async def get(self, path: str, headers: Mapping[str, str]) -> dict[str, str]:
        """Fetch a file and throw it away; its headers, and its status under ":status".

        Raises `ConnectionError`. A connection that the server has closed meanwhile is opened anew.
        """
        lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        request = "\r\n".join([*lines, "", ""]).encode()
        async with self._free:
            while self._kept:
                with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                    return await self._ask(request, *self._kept.pop())
            try:
                return await self._ask(request, *await asyncio.open_connection(self._host, self._port))
            except asyncio.IncompleteReadError as error:
                raise ConnectionError(f"the server closed the connection within {path}") from error

    async def _ask(
        self, request: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> dict[str, str]:
        try:
            writer.write(request)
            found = await _headers(reader)
            size = await _body(reader, found)
        except BaseException:
            writer.close()
            raise
        self._kept.append((reader, writer))
        self.requests, self.bytes = self.requests + 1, self.bytes + size
        return found

    def close(self) -> None:
        """Close what is kept open."""
        for _, writer in self._kept:
            writer.close()
        self._kept.clear()


async def _headers(reader: asyncio.StreamReader) -> dict[str, str]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    found = {":status": head[0].split()[1]}
    for line in filter(None, head[1:]):
        name, value = line.split(":", 1)
        found[name.strip().lower()] = value.strip()
    return found


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> int:
    if headers.get("transfer-encoding") != "chunked":
        return await _skip(reader, int(headers.get("content-length", 0)))
    total = 0
    while size := int((await reader.readline()).split(b";")[0], 16):
        total += await _skip(reader, size)
        await reader.readline()
    await reader.readline()
    return total


async def _skip(reader: asyncio.StreamReader, size: int) -> int:
    left = size
    while left:
        part = await reader.read(min(left, 1 << 18))
        if not part:
            raise asyncio.IncompleteReadError(b"", left)
        left -= len(part)
    return size
