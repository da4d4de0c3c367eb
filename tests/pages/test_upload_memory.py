"""Test the memory of uploads: counted in advance, bounded, released."""

import asyncio
import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import closing
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile, UploadedFileRec
from streamlit.web.server.starlette import starlette_routes

from rankviz.datasets.uploads import LIMITS
from ui.model import data_serving as serving
from ui.model import upload_memory
from ui.model.upload_memory import AWAY_SECONDS, CROWDED_SECONDS, RELEASED, WAITING_SECONDS, UploadMemory

MOST = 1000


@pytest.fixture(autouse=True)
def bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bounds.toml").write_text(f"held_bytes = {MOST}")
    monkeypatch.setenv("RANKVIZ_BOUNDS", str(tmp_path / "bounds.toml"))


class Files(MemoryUploadedFileManager):
    """Streamlit's keeper of files, for some sessions that are there or have left."""

    def __init__(self) -> None:
        super().__init__("/_stcore/upload_file")
        self.active = {"me", "you"}
        self.uploaded_file_mgr = self

    def is_active_session(self, session: str) -> bool:
        return session in self.active

    def keep(self, session: str, file: str, size: int) -> None:
        self.add_file(session, UploadedFileRec(file, "a.txt", "text/plain", b"0" * size))

    def here(self) -> dict[str, list[str]]:
        return {session: sorted(files) for session, files in self.file_storage.items() if files}


def took(counted: UploadMemory, files: Files, session: str, file: str, size: int) -> bool:
    """Upload a file; whether it was admitted."""
    if counted.admit(session, file, size) is not None:
        return False
    assert counted.arrive(session, file, size) is None
    files.keep(session, file, size)
    return counted.finish(session, file, there=True)


def test_files_of_all_visitors_are_bounded_together_also_what_has_arrived_of_a_file() -> None:
    counted, files = UploadMemory(), Files()
    assert counted.admit("me", "a", 600) is None
    assert counted.arrive("me", "a", 600) is None
    why = counted.admit("you", "b", 401)
    assert why is not None
    assert "Try again later" in why
    assert (counted.refusal("me"), counted.refusal("you"), counted.refusal("you")) == (None, why, None)
    assert not counted.finish("me", "a", there=False)
    assert took(counted, files, "you", "b", 1000)
    assert not took(counted, files, "me", "a", 1)


def test_what_is_only_announced_takes_no_place_of_others() -> None:
    counted, files = UploadMemory(), Files()
    for number in range(6):
        assert counted.admit(f"slow {number}", "a", MOST - 10) is None
        assert counted.arrive(f"slow {number}", "a", 1) is None
    assert took(counted, files, "me", "a", MOST - 6)
    assert counted.arrive("slow 0", "a", 1) is not None
    assert "Try again later" in str(counted.refusal("slow 0"))
    assert counted.arrive("slow 1", "a", 1) is None, "a refused upload frees its place at once"
    assert counted.is_over("slow 0", "a")


def share(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "shared.toml").write_text(f"held_bytes = {MOST}\nheld_bytes_address = {MOST // 2}")
    monkeypatch.setenv("RANKVIZ_BOUNDS", str(tmp_path / "shared.toml"))


def test_one_address_never_takes_the_memory_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share(monkeypatch, tmp_path)
    counted = UploadMemory()
    for number in range(4):
        assert counted.admit(f"made up {number}", "a", 200, "near") is None
    arrived = [counted.arrive(f"made up {number}", "a", 200) for number in range(4)]
    assert [why is None for why in arrived] == [True, True, False, False]
    assert "your network address" in str(arrived[-1])
    assert "your network address" in str(counted.admit("made up", "a", 101, "near"))
    assert counted.admit("me", "a", 300, "far") is None
    assert counted.arrive("me", "a", 300) is None
    assert counted.admit("me", "b", 201, "far") is not None, "its own share"


def test_the_last_tenth_of_the_memory_is_for_addresses_that_hold_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share(monkeypatch, tmp_path)
    counted = UploadMemory()
    for number, address in enumerate(("one", "two", "one", "two")):
        assert counted.admit(f"{number}", "a", 220, address) is None
        assert counted.arrive(f"{number}", "a", 220) is None
    assert counted.admit("more", "a", 30, "one") is not None
    assert counted.admit("me", "a", 100, "three") is None
    assert [counted.arrive("me", "a", 50) for _ in range(2)] == [None, None]


def test_files_wait_less_long_while_the_share_of_their_address_is_scarce(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share(monkeypatch, tmp_path)
    counted, files = UploadMemory(), Files()
    for session, size in (("me", 260), ("you", 200)):
        assert counted.admit(session, "a", size, session) is None
        assert counted.arrive(session, "a", size) is None
        files.keep(session, "a", size)
        assert counted.finish(session, "a", there=True)
    assert counted.free_old(files.is_active_session, files, time.monotonic() + CROWDED_SECONDS + 1)
    assert files.here() == {"you": ["a"]}


def test_one_page_holds_no_more_than_can_be_checked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RANKVIZ_BOUNDS")
    counted = UploadMemory()
    half = LIMITS.upload_bytes // 2
    assert [counted.admit("me", name, half + 1) is None for name in "abc"] == [True, False, False]
    assert counted.admit("you", "a", half + 1) is None
    assert "at once" in str(counted.refusal("me"))


def test_a_file_that_is_here_is_not_taken_again() -> None:
    counted = UploadMemory()
    assert counted.admit("me", "a", 1) is None
    assert counted.admit("me", "a", 1) == "This file is here already."


def test_what_is_let_go_makes_room_and_what_was_on_its_way_does_not_stay() -> None:
    counted, files = UploadMemory(), Files()
    assert took(counted, files, "me", "a", 400)
    assert took(counted, files, "you", "c", 100)
    assert counted.admit("me", "b", 500) is None
    assert counted.arrive("me", "b", 500) is None
    counted.release("me", files)
    assert files.here() == {"you": ["c"]}
    assert counted.is_over("me", "b")
    files.keep("me", "b", 500)
    assert not counted.finish("me", "b", there=True)
    assert took(counted, files, "you", "d", MOST - 100)


def test_files_of_who_has_left_and_files_that_nobody_has_checked_are_let_go() -> None:
    counted, files = UploadMemory(), Files()
    for session in ("me", "you"):
        assert took(counted, files, session, "a", 400)
    now = time.monotonic()
    counted.free_old(files.is_active_session, files, now)
    files.active = {"you"}
    assert not counted.free_old(files.is_active_session, files, now + AWAY_SECONDS)
    assert files.here() == {"me": ["a"], "you": ["a"]}
    assert counted.free_old(files.is_active_session, files, now + AWAY_SECONDS + 1)
    assert files.here() == {"you": ["a"]}
    assert took(counted, files, "you", "b", 600)
    counted.free_old(files.is_active_session, files, now + WAITING_SECONDS + 60)
    assert files.here() == {}
    assert took(counted, files, "me", "c", MOST)


@pytest.mark.parametrize(("held", "most"), [(MOST // 2, WAITING_SECONDS), (MOST // 2 + 1, CROWDED_SECONDS)])
def test_an_upload_has_a_deadline_and_less_time_while_memory_is_scarce(held: int, most: float) -> None:
    counted, files = UploadMemory(), Files()
    assert counted.admit("me", "a", MOST) is None
    assert counted.arrive("me", "a", held) is None
    now = time.monotonic()
    counted.free_old(files.is_active_session, files, now + most - 1)
    assert not counted.is_over("me", "a")
    counted.free_old(files.is_active_session, files, now + most + 1)
    assert counted.is_over("me", "a")
    assert not took(counted, files, "me", "a", 1), "it is still being ended"
    assert took(counted, files, "you", "b", MOST)


def test_files_that_wait_go_sooner_while_memory_is_scarce() -> None:
    counted, files = UploadMemory(), Files()
    assert took(counted, files, "me", "a", MOST // 2)
    later = time.monotonic() + CROWDED_SECONDS + 1
    assert not counted.free_old(files.is_active_session, files, later)
    assert took(counted, files, "you", "b", 1)
    assert counted.free_old(files.is_active_session, files, later)
    assert str(CROWDED_SECONDS // 60) in RELEASED


def test_a_page_that_comes_back_in_time_keeps_its_files() -> None:
    counted, files = UploadMemory(), Files()
    assert took(counted, files, "me", "a", 400)
    now = time.monotonic()
    for seconds in range(0, 10 * AWAY_SECONDS, AWAY_SECONDS):
        files.active = {"me"} if seconds // AWAY_SECONDS % 2 == 0 else set()
        counted.free_old(files.is_active_session, files, now + seconds)
    assert files.here() == {"me": ["a"]}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Files:
    files = Files()
    monkeypatch.setattr(serving.runtime, "get_instance", lambda: files)
    monkeypatch.setattr(serving, "UPLOADS", UploadMemory())
    return files


def asked(
    files: Files,
    method: str,
    session: str,
    file: str,
    size: int | None,
    keeps: Callable[[], Any] = bool,
    **about: Any,
) -> tuple[int, int]:
    answers: list[Message] = []
    half = bytes((size or 0) // 2)
    blocks = [{"type": "http.request", "body": half, "more_body": more} for more in (True, False)]
    waiting = list(blocks)

    async def streamlit(scope: Scope, receive: Receive, send: Send) -> None:
        while method == "PUT" and (await receive())["more_body"]:
            pass
        if keeps() is None and method == "PUT":
            files.keep(session, file, size or 0)
        elif method == "DELETE" and keeps() != "refused":
            files.remove_file(session, file)
        await Response(status_code=204)(scope, receive, send)

    async def receive() -> MutableMapping[str, Any]:
        return waiting.pop(0)

    async def send(message: Message) -> None:
        answers.append(message)

    headers = [(b"x-forwarded-for", about.pop("forwarded", "").encode())]
    headers += [] if size is None else [(b"content-length", str(size).encode())]
    path = f"/base/_stcore/upload_file/{session}/{file}"
    scope = {"type": "http", "method": method, "path": path, "headers": headers, **about}
    asyncio.run(serving.BoundedUploads(ExceptionMiddleware(streamlit))(scope, receive, send))
    return answers[0]["status"], len(blocks) - len(waiting)


def kept() -> None:
    """Stand in for Streamlit's handling of a file."""


def test_uploads_are_counted_where_they_arrive(served: Files) -> None:
    assert asked(served, "PUT", "me", "a", 600, kept) == (204, 2)
    assert asked(served, "PUT", "you", "b", 600, kept) == (202, 2)
    assert "Try again" in str(serving.UPLOADS.refusal("you"))
    assert served.here() == {"me": ["a"]}
    assert asked(served, "DELETE", "me", "a", None) == (204, 0)
    assert asked(served, "PUT", "you", "b", 600, kept) == (204, 2)


def test_an_upload_counts_for_the_address_that_sends_it(
    served: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share(monkeypatch, tmp_path)
    near, far = {"client": ("192.0.2.1", 1)}, {"client": ("192.0.2.2", 1)}
    assert asked(served, "PUT", "me", "a", 400, kept, **near) == (204, 2)
    assert asked(served, "PUT", "you", "a", 400, kept, **near, forwarded="192.0.2.9") == (202, 2)
    assert asked(served, "PUT", "you", "b", 400, kept, **far) == (204, 2)
    monkeypatch.setenv("RANKVIZ_BEHIND_PROXY", "1")
    assert asked(served, "PUT", "you", "c", 101, kept, **near, forwarded="made up, 192.0.2.2") == (202, 2)
    assert asked(served, "PUT", "you", "c", 101, kept, **near, forwarded="192.0.2.3") == (204, 2)


def test_a_browser_that_leaves_during_an_upload_is_no_fault(served: Files) -> None:
    messages = [{"type": "http.request", "body": bytes(600), "more_body": True}, {"type": "http.disconnect"}]

    async def streamlit(scope: Scope, receive: Receive, send: Send) -> None:
        await Request(scope, receive).body()

    async def receive() -> MutableMapping[str, Any]:
        return messages.pop(0)

    async def send(message: Message) -> None:
        raise AssertionError(message)

    path, headers = "/_stcore/upload_file/me/a", [(b"content-length", b"900")]
    scope = {"type": "http", "method": "PUT", "path": path, "headers": headers}
    asyncio.run(serving.BoundedUploads(streamlit)(scope, receive, send))
    assert not messages
    assert serving.UPLOADS._held() == 0


def test_a_file_that_streamlit_does_not_delete_still_counts(served: Files) -> None:
    """It refuses without its token."""
    assert asked(served, "PUT", "me", "a", 600, kept) == (204, 2)
    assert asked(served, "DELETE", "me", "a", None, lambda: "refused") == (204, 0)
    assert asked(served, "PUT", "you", "b", 600, kept) == (202, 2)


def test_an_upload_that_fails_or_is_refused_by_streamlit_does_not_count(served: Files) -> None:
    def fails() -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        asked(served, "PUT", "me", "a", 600, fails)
    assert asked(served, "PUT", "me", "b", 600, lambda: "no") == (204, 2)
    assert asked(served, "PUT", "nobody", "c", 600, lambda: "no") == (204, 2)
    assert asked(served, "PUT", "me", "d", MOST, kept) == (204, 2)


def test_an_upload_must_say_how_long_it_is(served: Files) -> None:
    assert asked(served, "PUT", "me", "a", None, kept)[0] == 411
    assert served.here() == {}


def test_an_upload_that_was_let_go_on_its_way_is_removed_when_it_arrives(served: Files) -> None:
    asked(served, "PUT", "me", "a", 600, lambda: serving.UPLOADS.release("me", served))
    assert served.here() == {}
    assert asked(served, "PUT", "you", "b", MOST, kept) == (204, 2)


def test_bytes_are_taken_out_of_what_a_widget_has(served: Files) -> None:
    file = BytesIO(b"text")
    upload_memory.truncate([file, object()])
    assert file.getvalue() == b""


@pytest.fixture
def address(served: Files, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """Streamlit's own routes of uploads, served on a real socket, with less patience."""
    monkeypatch.setattr(starlette_routes, "is_xsrf_enabled", lambda: False)
    monkeypatch.setattr(serving, "GRACE_SECONDS", 0.5)
    monkeypatch.setattr(serving, "STALL_SECONDS", 1.5)
    routes = starlette_routes.create_upload_routes(served, served, None)
    app = Starlette(routes=routes, middleware=[Middleware(serving.BoundedUploads)])
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()
        server.should_exit = True
        thread.join()


FORM = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
END = b"\r\n--edge--\r\n"


def send_slowly(
    address: tuple[str, int], session: str, parts: Iterable[bytes], announced: int, pause: float
) -> Any:
    """Send the parts of a file with pauses until an answer comes; its status, and the seconds that passed."""
    began = time.monotonic()
    with closing(http.client.HTTPConnection(*address, timeout=10)) as connection:
        connection.putrequest("PUT", f"/_stcore/upload_file/{session}/file")
        connection.putheader("Content-Type", "multipart/form-data; boundary=edge")
        connection.putheader("Content-Length", str(announced))
        connection.endheaders()
        assert connection.sock is not None
        connection.sock.settimeout(pause)
        for part in parts:
            connection.send(part)
            try:
                connection.sock.recv(1, socket.MSG_PEEK)
                break
            except TimeoutError:
                continue
        connection.sock.settimeout(10)
        with connection.getresponse() as answer:
            assert answer.status != 408 or answer.getheader("Connection") == "close"
            return answer.status, time.monotonic() - began


def test_slow_uploads_are_ended_and_block_no_others(
    served: Files, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six announce nearly all memory, and send a byte now and then."""
    served.active |= {f"slow {number}" for number in range(6)}
    answers = list[Any]()

    def attack(number: int) -> None:
        parts = [FORM, *[b"0"] * 100]
        answers.append(send_slowly(address, f"slow%20{number}", parts, MOST - 10, 0.4))

    attackers = [threading.Thread(target=attack, args=[number]) for number in range(6)]
    for one in attackers:
        one.start()
    time.sleep(0.2)
    whole = [FORM, bytes(100), END]
    assert send_slowly(address, "me", whole, sum(map(len, whole)), 0.01)[0] == 204
    assert served.here() == {"me": ["file"]}
    for one in attackers:
        one.join()
    assert [status for status, _ in answers] == [408] * 6
    assert all(0.5 < seconds < 4 for _, seconds in answers)
    assert serving.UPLOADS._held() == sum(map(len, whole)), "what the slow ones sent has no place any more"


def test_a_slow_upload_frees_its_place_before_it_is_answered(
    served: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "GRACE_SECONDS", 0.0)
    assert serving.UPLOADS.admit("me", "a", 900) is None
    assert serving.UPLOADS.arrive("me", "a", 500) is None

    async def nothing_more() -> Message:
        await asyncio.sleep(60)
        raise AssertionError("nothing comes")

    with pytest.raises(HTTPException):
        asyncio.run(serving._Body("me", "a", nothing_more, None)())
    assert serving.UPLOADS._held() == 0


def test_an_upload_above_the_least_rate_may_take_its_time(
    served: Files, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "UPLOAD_RATE", 100)
    parts = [FORM, *[bytes(100)] * 5, END]
    status, seconds = send_slowly(address, "me", parts, sum(map(len, parts)), 0.4)
    assert status == 204
    assert seconds > 4 * serving.GRACE_SECONDS


def test_an_upload_that_no_longer_fits_is_told_so_when_all_is_sent(
    served: Files, address: tuple[str, int]
) -> None:
    asked(served, "PUT", "you", "a", 500, kept)

    def parts() -> Iterator[bytes]:
        yield FORM
        assert serving.UPLOADS.admit("you", "b", 300) is None
        assert serving.UPLOADS.arrive("you", "b", 300) is None
        yield from (bytes(200), bytes(100), END)

    status, _ = send_slowly(address, "me", parts(), len(FORM) + 300 + len(END), 0.05)
    assert status == 202
    assert "Try again later" in str(serving.UPLOADS.refusal("me"))
    assert serving.UPLOADS._held() == 800
    assert "me" not in served.here()


@pytest.mark.parametrize("multiple", [True, False])
def test_a_field_keeps_no_bytes_of_files_of_a_first_run(
    multiple: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state of a field that is drawn for the first time can have files."""
    file, state = UploadedFile(UploadedFileRec("a", "a.txt", "", b"text"), FileURLs()), dict[str, Any]()
    there: Any = [file, DeletedFile("b")] if multiple else file
    drawn = SimpleNamespace(session_state=state, file_uploader=lambda *_, **__: state.update(field=there))
    monkeypatch.setattr(upload_memory, "st", drawn)
    assert upload_memory.file_field("Files", "field", multiple=multiple) == (["a"], multiple)
    assert file.getvalue() == b""
