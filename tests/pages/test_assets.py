"""Streamlit's files as browsers get them: compressed once, kept for a year, and asked for early."""

import asyncio
import gzip
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from streamlit.file_util import get_static_dir
from streamlit.web.server.starlette.starlette_gzip_middleware import SelectiveGZipMiddleware
from streamlit.web.server.starlette.starlette_static_routes import create_streamlit_static_assets_routes

from ui.shell import assets, server

STATIC = Path(get_static_dir())
PLOTLY = next(iter(STATIC.glob("static/js/PlotlyChart.*.js")))
STYLE = next(iter(STATIC.glob("static/css/index.*.css")))
FONT = next(iter(STATIC.glob("static/media/SourceSansVF-Upright*")))
HTML = "text/html,application/xhtml+xml,*/*;q=0.8"
LINK = re.compile(rb'<link rel="modulepreload" crossorigin href="\./([^"]+)">')


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Headers
    body: bytes


async def answer_of(app: Any, path: str, method: str, asked: dict[str, str]) -> Answer:
    sent: list[Any] = []
    scope = {"type": "http", "method": method, "path": path, "root_path": "", "query_string": b""}
    scope["headers"] = [(name.lower().encode(), value.encode()) for name, value in asked.items()]

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start, *parts = sent
    return Answer(start["status"], Headers(raw=start["headers"]), b"".join(part["body"] for part in parts))


class Site:
    """Streamlit's own server of files, below our middleware."""

    def __init__(self, base: str | None = None) -> None:
        own = [Middleware(server.Headers), Middleware(assets.Assets), Middleware(SelectiveGZipMiddleware)]
        routes = create_streamlit_static_assets_routes(base)
        self._app, self._plain = Starlette(routes=routes, middleware=own), Starlette(routes=routes)

    def ask(self, path: str, method: str = "GET", **asked: str) -> Answer:
        asked = {name.replace("_", "-"): value for name, value in asked.items()}
        return asyncio.run(answer_of(self._app, path, method, asked))

    def plain(self, path: str) -> Answer:
        return asyncio.run(answer_of(self._plain, path, "GET", {}))


@pytest.fixture
def site() -> Iterator[Site]:
    assets.pages.cache_clear()
    yield Site()
    assets.pages.cache_clear()


def path_of(file: Path) -> str:
    return f"/{file.relative_to(STATIC).as_posix()}"


@pytest.mark.parametrize("file", [PLOTLY, STYLE], ids=["script", "style"])
def test_a_file_is_compressed_and_kept_for_a_year(site: Site, file: Path) -> None:
    found, own = site.ask(path_of(file), accept_encoding="gzip, deflate, br"), site.plain(path_of(file))
    assert gzip.decompress(found.body) == file.read_bytes()
    assert found.headers["content-encoding"] == "gzip"
    assert int(found.headers["content-length"]) == len(found.body) < 0.4 * file.stat().st_size
    assert found.headers["content-type"] == own.headers["content-type"]
    assert found.headers["cache-control"] == own.headers["cache-control"]
    assert "max-age=31536000" in found.headers["cache-control"]
    assert found.headers["vary"] == "Accept-Encoding"
    assert all(found.headers[name] == value for name, value in server.HEADERS.items())


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"accept_encoding": "identity"},
        {"accept_encoding": "br, gzip;q=0"},
        {"accept_encoding": "gzip; q=0.0, *"},
        {"accept_encoding": "*;q=0"},
    ],
)
def test_who_refuses_gzip_gets_the_file(site: Site, asked: dict[str, str]) -> None:
    found = site.ask(path_of(PLOTLY), **asked)
    assert (found.status, found.body) == (200, PLOTLY.read_bytes())
    assert "content-encoding" not in found.headers
    assert found.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("accepted", ["gzip", "*", "br;q=1.0, gzip;q=0.8", "GZIP;q=0.001"])
def test_who_accepts_gzip_gets_it(site: Site, accepted: str) -> None:
    assert site.ask(path_of(STYLE), accept_encoding=accepted).headers["content-encoding"] == "gzip"


def test_a_part_of_a_file_is_a_part_of_its_plain_text(site: Site) -> None:
    found = site.ask(path_of(PLOTLY), accept_encoding="gzip", range="bytes=100-199")
    assert (found.status, found.body) == (206, PLOTLY.read_bytes()[100:200])
    assert "content-encoding" not in found.headers
    packed = site.ask(path_of(PLOTLY), accept_encoding="gzip").headers["etag"]
    whole = site.ask(path_of(PLOTLY), accept_encoding="gzip", range="bytes=100-199", if_range=packed)
    assert (whole.status, len(whole.body)) == (200, PLOTLY.stat().st_size)


@pytest.mark.parametrize("path", ["/", "/train", path_of(PLOTLY)])
def test_the_head_alone_is_that_of_the_answer(site: Site, path: str) -> None:
    whole, head = (site.ask(path, method, accept=HTML, accept_encoding="gzip") for method in ("GET", "HEAD"))
    assert (head.status, head.body) == (200, b"")
    assert dict(head.headers) == dict(whole.headers)
    assert int(head.headers["content-length"]) == len(whole.body)


@pytest.mark.parametrize("path", ["/", path_of(PLOTLY)])
def test_what_a_browser_has_is_not_sent_again(site: Site, path: str) -> None:
    whole = site.ask(path, accept_encoding="gzip")
    again = site.ask(path, accept_encoding="gzip", if_none_match=f'"other", W/{whole.headers["etag"]}')
    assert (again.status, again.body) == (304, b"")
    for name in ("etag", "vary", "cache-control"):
        assert again.headers[name] == whole.headers[name]
    assert not {"content-length", "content-encoding"} & set(again.headers)
    other = site.ask(path, accept_encoding="gzip", if_none_match='"other"')
    assert (other.status, other.body) == (200, whole.body)


def test_each_file_is_compressed_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    monkeypatch.setattr(assets, "_compressed", lambda file: read.append(file) or (b"packed", "digest"))

    async def crowd() -> list[Answer]:
        asks = (answer_of(site._app, path_of(PLOTLY), "GET", {"accept-encoding": "gzip"}) for _ in range(30))
        return await asyncio.gather(*asks)

    assert {(one.body, one.headers["etag"]) for one in asyncio.run(crowd())} == {(b"packed", '"digest"')}
    assert read == [PLOTLY]


def test_files_of_the_page_are_compressed_before_the_first_visitor(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(assets, "_compressed", lambda file: read.append(file.name) or (b"packed", "digest"))

    async def start() -> None:
        messages = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

        async def receive() -> dict[str, str]:
            await asyncio.sleep(0.3)
            return next(messages)

        async def send(_: Any) -> None:
            pass

        await site._app({"type": "lifespan", "app": site._app}, receive, send)
        before = sorted(read)
        page = (STATIC / "index.html").read_text()
        wanted = re.findall(r"static/(?:js|css)/([^\"]+\.(?:js|css))", page)
        assert {PLOTLY.name, *wanted} <= set(before)
        assert len(before) == len(set(before))
        await answer_of(site._app, path_of(PLOTLY), "GET", {"accept-encoding": "gzip"})
        assert sorted(read) == before, "compressed again"

    asyncio.run(start())


@pytest.mark.parametrize("path", ["/static/js/nothing.js", "/static/js/..%2f..%2findex.html", path_of(FONT)])
def test_other_answers_are_streamlits(site: Site, path: str) -> None:
    """Unknown names, and fonts, which are compressed already."""
    found, own = site.ask(path, accept_encoding="gzip"), site.plain(path)
    expected = assets.pages()[1] if own.headers["content-type"].startswith("text/html") else own.body
    assert (found.status, found.body) == (own.status, expected)
    assert "content-encoding" not in found.headers


def test_every_page_asks_early_for_the_scripts_of_figures(site: Site) -> None:
    for path in ("/", "/train"):
        found = site.ask(path, accept=HTML, accept_encoding="gzip")
        names = [name.decode() for name in LINK.findall(found.body)]
        assert path_of(PLOTLY)[1:] in names
        assert len(names) == len(set(names)) < 130
        assert all((STATIC / name).is_file() for name in names)
        assert LINK.sub(b"", found.body) == LINK.sub(b"", (STATIC / "index.html").read_bytes())
        assert found.headers["cache-control"] == "no-cache"
        assert "last-modified" not in found.headers


def test_links_are_those_of_the_app_below_a_base_path() -> None:
    below = Site("/class/")
    assert path_of(PLOTLY)[1:].encode() in below.ask("/class/").body
    found = below.ask(f"/class{path_of(PLOTLY)}", accept_encoding="gzip")
    assert gzip.decompress(found.body) == PLOTLY.read_bytes()


@pytest.mark.parametrize(
    "listed",
    [
        "",
        "[]",
        '{"a": 1}',
        '{"x/components/PlotlyChart.tsx": {}}',
        '{"x/components/PlotlyChart.tsx": {"file": "static/js/gone.js", "imports": ["nowhere"]}}',
    ],
    ids=["none", "list", "numbers", "no file", "gone"],
)
def test_without_the_script_in_streamlits_list_the_page_is_streamlits(
    listed: str, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = STATIC / "index.html"
    (tmp_path / "index.html").write_bytes(page.read_bytes())
    if listed:
        (tmp_path / "manifest.json").write_text(listed)
    monkeypatch.setattr(assets, "get_static_dir", lambda: str(tmp_path))
    caches = (assets.files, assets.pages, assets.manifest)
    for one in caches:
        one.cache_clear()
    try:
        found = site.ask("/", accept_encoding="gzip")
        script = site.ask(path_of(PLOTLY), accept_encoding="gzip")
    finally:
        for one in caches:
            one.cache_clear()
    assert (found.status, found.body) == (200, page.read_bytes())
    assert (script.status, script.body) == (200, PLOTLY.read_bytes())


def test_another_page_of_the_same_length_stays_as_it_is(site: Site) -> None:
    other = bytes(len(assets.pages()[0]))

    async def app(_: Any, __: Any, send: Any) -> None:
        head = [(b"content-type", b"text/html"), (b"content-length", str(len(other)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": other[:10], "more_body": True})
        await send({"type": "http.response.body", "body": other[10:]})

    found = asyncio.run(answer_of(assets.Assets(app), "/app/static/docs/index.html", "GET", {}))
    assert (found.status, found.body) == (200, other)


def test_small_answers_do_not_wait_for_the_browser() -> None:
    """As Streamlit makes its socket: without a protocol, for which asyncio sets nothing."""
    with socket.socket(socket.AF_INET) as listening, socket.socket(socket.AF_INET) as other:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server.send_at_once()
        with socket.create_connection(listening.getsockname()) as browser, listening.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert not browser.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert not other.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), "only listening sockets"
