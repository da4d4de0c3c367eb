"""Test the app as deploy/ configures it for a class: behind nginx, with TLS and limits, never in frames."""

import gzip
import http.server
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

import pytest
from helpers import assert_no_errors_shown, follow, sidebar, tile
from playwright.sync_api import Browser, Page, expect
from test_uploads import upload

from rankviz.datasets import make_data, write_letor
from tools.browser import Server, app_server, launch, open_page, wait_settled
from tools.proxy import HOST, PROGRAM, Proxy, class_environment, proxy
from ui.shell.server import HEADERS

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no nginx: install Debian's package nginx-light")
MB = 1 << 20
LIMIT = 200 * MB
UPLOAD = "/_stcore/upload_file/nobody/nothing"
LARGE = 2 * MB  # nginx takes 1 MB unless it is told otherwise


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with app_server(tmp_path_factory.mktemp("class"), class_environment()) as running:
        yield running
        assert "Traceback" not in running.log(), running.log()


@pytest.fixture
def proxied(app: Server, tmp_path: Path) -> Iterator[Proxy]:
    """One of the test's own: its limits count anew."""
    with proxy([app], tmp_path) as running:
        yield running


@pytest.fixture
def visitor(proxied: Proxy, browser: Browser) -> Iterator[Page]:
    """A browser that finds the host by its name; faults in its console fail the test."""
    own = launch(browser.browser_type, f"MAP {HOST}:443 127.0.0.1:{proxied.port}")
    page = own.new_context(ignore_https_errors=True, reduced_motion="reduce").new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    yield page
    own.close()
    assert not faults


def test_every_answer_has_the_headers(proxied: Proxy) -> None:
    for path in ("/", "/train", "/_stcore/health", "/static/nothing.js", "/app/static/nothing"):
        headers = proxied.ask("GET", path, {}).headers
        assert {name: headers.get_all(name) for name in HEADERS} == {n: [v] for n, v in HEADERS.items()}, path
        assert headers["Strict-Transport-Security"] == "max-age=31536000"


def test_scripts_of_figures_are_asked_for_early_and_come_compressed(proxied: Proxy) -> None:
    page = proxied.ask("GET", "/train", {"Accept": "text/html", "Accept-Encoding": "gzip"})
    named = re.search(rb'"modulepreload" crossorigin href="\.(/static/js/PlotlyChart\.[^"]+)"', page.body)
    assert named
    assert page.headers["Cache-Control"] == "no-cache"
    packed, plain = (
        proxied.ask("GET", named[1].decode(), {"Accept-Encoding": name}) for name in ("gzip", "identity")
    )
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    for answer in (packed, plain):
        assert {name: answer.headers.get_all(name) for name in HEADERS} == {
            n: [v] for n, v in HEADERS.items()
        }


def test_the_proxy_keeps_scripts_and_asks_the_app_for_pages(proxied: Proxy) -> None:
    page = proxied.ask("GET", "/train", {"Accept": "text/html"})
    path = re.search(r'"\.(/static/js/[^"]+\.js)"', page.body.decode())[1]
    first, again = (proxied.ask("GET", path, {"Accept-Encoding": "gzip"}) for _ in range(2))
    other = proxied.ask("GET", path, {"Accept-Encoding": "identity"})
    assert [answer.headers["X-Cache"] for answer in (page, first, again, other)] == [
        None,
        "MISS",
        "HIT",
        "MISS",
    ]
    assert again.body == first.body
    assert gzip.decompress(again.body) == other.body
    missing = [proxied.ask("GET", "/static/js/nothing.js", {}).headers["X-Cache"] for _ in range(2)]
    assert missing == ["MISS", "MISS"]


def test_without_tls_it_only_says_where_it_is(proxied: Proxy) -> None:
    with closing(HTTPConnection("127.0.0.1", proxied.plain_port, timeout=30)) as connection:
        connection.request("GET", "/train?m=25", headers={"Host": HOST})
        with connection.getresponse() as answer:
            assert (answer.status, answer.headers["Location"]) == (301, f"https://{HOST}/train?m=25")


def test_it_says_how_it_is_and_keeps_its_numbers_to_itself(proxied: Proxy) -> None:
    healthy = proxied.ask("GET", "/_stcore/health", {})
    assert (healthy.status, healthy.body) == (200, b"ok")
    assert proxied.ask("GET", "/_stcore/metrics", {}).status == 404


def handshake(proxied: Proxy, **headers: str) -> int:
    """The status of an answer to who wants to open a session."""
    asked = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    return proxied.ask("GET", "/_stcore/stream", asked | headers).status


def test_a_page_of_another_site_opens_no_session(proxied: Proxy) -> None:
    assert handshake(proxied, Origin=f"https://{HOST}") == 101
    assert handshake(proxied, Origin=f"https://{HOST}", Host="elsewhere.example.net") == 403
    assert handshake(proxied, Origin="https://elsewhere.example.net") == 403


def test_files_up_to_the_limit_come_to_the_app_and_larger_ones_do_not(proxied: Proxy) -> None:
    """The proxy refuses by the length that is said, before it takes anything."""
    assert proxied.ask("PUT", UPLOAD, {"Content-Length": str(LIMIT + 2 * MB)}).status == 413
    arrived = proxied.ask("PUT", UPLOAD, {"Content-Length": str(LIMIT)}, bytes(LIMIT))
    assert arrived.status == 403  # by the app: nobody has opened a session
    assert b"XSRF" in arrived.body
    assert proxied.ask("POST", "/", {"Content-Length": str(MB)}).status == 413, "only uploads have a body"


@pytest.mark.parametrize("path", ["/", "/static/x", "/media/x", "/_stcore/stream"])
def test_who_sends_what_is_no_upload_is_told_so_before_it_has_arrived(proxied: Proxy, path: str) -> None:
    """Otherwise slow senders hold the proxy's connections."""
    for length in ({"Transfer-Encoding": "chunked"}, {"Content-Length": "8000"}):
        assert proxied.ask("POST", path, length).status == 403


def test_the_app_sees_an_upload_before_all_of_it_has_arrived(proxied: Proxy) -> None:
    """So it ends slow ones itself; the proxy keeps no file for it."""
    announced = proxied.ask("PUT", UPLOAD, {"Content-Length": str(LIMIT)}, bytes(10))
    assert announced.status == 403
    assert not [path for path in (proxied.folder / "bodies").rglob("*") if path.is_file()]


def test_home_shows_its_figure_through_tls_and_a_large_data_set_is_uploaded(
    visitor: Page, proxied: Proxy, tmp_path: Path
) -> None:
    """A too large one is refused in a sentence."""
    sockets: list[str] = []
    visitor.on("websocket", lambda socket: sockets.append(socket.url))
    open_page(visitor, f"https://{HOST}/")
    assert_no_errors_shown(visitor)
    assert visitor.locator(".js-plotly-plot").first.is_visible()
    assert sockets == [f"wss://{HOST}/_stcore/stream"]
    assert len(proxied.paths()) <= 135  # of forty who start at once burst= in nginx.conf lets all through
    data = make_data(n_queries=300, documents_per_query=(20, 20), n_features=40, seed=0)
    large = write_letor(data, tmp_path / "large.txt")
    assert (tmp_path / "large.txt").stat().st_size > LARGE, large
    follow(visitor, "Data")
    visitor.wait_for_url("**/data*")
    wait_settled(visitor)
    upload(visitor, "large.txt", (tmp_path / "large.txt").read_text())
    expect(sidebar(visitor).get_by_role("combobox", name="Data set")).to_have_value("large")
    assert tile(visitor, "Queries") == "180"
    assert_no_errors_shown(visitor)
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(LIMIT + 1)
    form = visitor.get_by_test_id("stExpander").filter(has_text="Bring your own data")
    form.locator("summary").click()
    form.locator('input[type="file"]').first.set_input_files(tmp_path / "huge.txt")
    expect(form).to_contain_text("File must be 200.0MB or smaller.")


def let_through(ask: Callable[[], int], passed: int) -> int:
    """Count the requests in a row that succeed before one gets status 429."""
    for number in range(1000):
        if (status := ask()) == 429:
            return number
        assert status == passed
    raise AssertionError("a thousand requests in a row came through")


def test_who_asks_too_often_is_told_so(proxied: Proxy) -> None:
    """Sessions and uploads, which take memory, by their own rates."""
    assert let_through(lambda: handshake(proxied, Origin=f"https://{HOST}"), 101) >= 80
    assert let_through(lambda: proxied.ask("PUT", UPLOAD, {}).status, 403) >= 40


@contextmanager
def site_that_frames(url: str, folder: Path) -> Iterator[str]:
    """Another site, whose page has the app in a frame."""
    (folder / "index.html").write_text(f'<iframe src="{url}" width="900" height="600"></iframe>')
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{other.server_port}/"
        other.shutdown()


def test_no_other_site_frames_the_app(app: Server, browser: Browser, tmp_path: Path) -> None:
    """The app itself forbids frames, with and without a proxy."""
    said: list[str] = []
    page = browser.new_page()
    page.on("console", lambda message: said.append(message.text))
    with site_that_frames(app.url, tmp_path) as url:
        page.goto(url)
        expect(page.locator("iframe")).to_be_visible()
        assert page.frames[1].locator('[data-testid="stApp"]').count() == 0
    page.close()
    assert any("frame-ancestors" in text for text in said), said
