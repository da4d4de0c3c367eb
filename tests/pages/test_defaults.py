"""The runs behind the figures that pages open with: made once, kept for all, made again after a change."""

import asyncio
import logging
import os
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest_pages import OF_STORE, Opener, shown
from streamlit import config
from streamlit.runtime.secrets import secrets_singleton
from streamlit.testing.v1 import AppTest

from rankviz.store import RunStore
from rankviz.store.room import FOR_ALL
from rankviz.store.run_store import keep_for_all
from rankviz.store.study import COMMON, StudyStatus
from rankviz.store.tables import studies
from tools.browser import app_server
from ui import defaults
from ui.controls.navigation import ENTRIES
from ui.shell.visitors import accounts_required
from ui.work import jobs
from ui.work.run_store import run_store
from ui.work.runs import _memory


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Restore what `defaults.prepare` changes in its process."""
    for name in ("LIVE_SECONDS", "LIVE_IN_ALL", "LIVE_LIMIT"):
        monkeypatch.setattr(jobs, name, getattr(jobs, name))
    files = config.get_option("secrets.files")
    yield
    config.set_option("secrets.files", files)
    secrets_singleton._reset()
    logging.disable(logging.NOTSET)
    defaults.prepare.cache_clear()


def kept() -> list[StudyStatus]:
    return run_store().studies._where((studies.c.owner == FOR_ALL) & (studies.c.kind == COMMON))


def test_pages_open_with_what_was_kept(monkeypatch: pytest.MonkeyPatch, open_page: Opener) -> None:
    defaults.main()
    _memory.cache_clear()
    monkeypatch.setattr("ui.work.runs.execute_all", lambda *_, **__: pytest.fail("a run was made"))
    for entry in ENTRIES:
        app = open_page(entry.file)
        assert shown(app) or entry.file in OF_STORE, entry.title
        assert app.sidebar.expander
        for box in app.expander:  # the browser would load large scripts before the first figure
            assert not (box.dataframe or box.code) or box.proto.expanded, box.label
    assert [one.done == one.total > 30 for one in kept()] == [True]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defaults, "ENTRIES", [one for one in ENTRIES if one.file == "train"])


@pytest.mark.usefixtures("small")
def test_they_are_made_where_visitors_log_in(tmp_path: Path) -> None:
    (tmp_path / "secrets.toml").write_text('[auth]\ncookie_secret = "x"')
    config.set_option("secrets.files", [str(tmp_path / "secrets.toml")])
    secrets_singleton._reset()
    assert "Log in" in [b.label for b in AppTest.from_file(defaults.ROUTER, default_timeout=180).run().button]
    secrets_singleton._reset()
    accounts_required.cache_clear()  # it is another process that makes them
    defaults.main()
    (those,) = kept()
    assert those.done > 0


@pytest.mark.usefixtures("small")
def test_they_are_made_again_after_a_change_of_the_code_and_replace_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    defaults.main()
    (first,) = kept()
    defaults.main()
    assert [one.id for one in kept()] == [first.id]
    monkeypatch.setattr(defaults, "code_digest", lambda: "another")
    defaults.main()
    (second,) = kept()
    assert second.id != first.id


@pytest.mark.usefixtures("small")
def test_where_nothing_can_be_kept_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RANKVIZ_RUNS", str(tmp_path / "file" / "runs"))
    defaults.main()
    said = capsys.readouterr().err
    assert "made when they are asked for" in said
    assert "it cannot be opened" in said


def test_a_server_has_them_made_once_by_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(defaults, "start", lambda command, *_: started.append(command))
    defaults.prepare()
    assert started == [], "nobody is to be asked"
    defaults.prepare.cache_clear()
    monkeypatch.delenv("RANKVIZ_PREPARE")
    defaults.prepare()
    defaults.prepare()
    assert len(started) == 1
    assert "ui.defaults" in started[0][-1]


def test_a_server_with_them_has_opened_its_first_page_before_it_answers(tmp_path: Path) -> None:
    """Their records are lost here, so the page makes those that it shows."""
    store = RunStore(tmp_path / "runs" / "runs.sqlite")
    keep_for_all(store, [], defaults._title())
    with app_server(tmp_path, {"RANKVIZ_RUNS": str(tmp_path / "runs")}):
        deadline = time.monotonic() + 30
        while (found := store.listing.every()).empty and time.monotonic() < deadline:
            time.sleep(0.1)  # a thread of the server keeps them
    assert len(found) > 0


def started(monkeypatch: pytest.MonkeyPatch, exist: bool) -> list[str]:
    """Return what a server asks of Streamlit before it serves, with a first page that never ends."""
    asked: list[str] = []
    calls = {
        name: lambda *_, name=name: asked.append(name)
        for name in ("connect_session", "handle_backmsg", "close_session")
    }
    monkeypatch.setattr(defaults, "FIRST_SECONDS", 2)
    monkeypatch.setattr(defaults, "free_memory", lambda _: nullcontext())
    monkeypatch.setattr(defaults, "_exist", lambda: exist)
    monkeypatch.setattr(defaults, "runtime", SimpleNamespace(get_instance=lambda: SimpleNamespace(**calls)))

    async def serve() -> None:
        async with defaults.ready(SimpleNamespace()):  # type: ignore[arg-type]
            asked.append("serves")

    asyncio.run(serve())
    return asked


def test_a_first_page_that_never_ends_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert started(monkeypatch, True) == ["connect_session", "handle_backmsg", "close_session", "serves"]


def test_a_server_without_them_opens_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    assert started(monkeypatch, False) == ["serves"]


def test_nothing_is_made_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANKVIZ_PREPARE")
    monkeypatch.setattr(defaults, "start", lambda *_: pytest.fail("started"))
    monkeypatch.setattr(defaults, "kept_for_all", lambda *_: True)
    defaults.prepare()
    assert defaults._title() == defaults._title()
    assert os.environ.get("RANKVIZ_PREPARE") is None
