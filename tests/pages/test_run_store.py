"""Test that pages store their runs and never repeat them; pages also work without a store."""

import sqlite3
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest_pages import Opener, figures, words
from runs_once import RunsOnce
from sqlalchemy import select, update

from rankviz import RunSpec, execute
from rankviz.datasets import load_demo
from rankviz.store import StoreOutOfReach, Study
from rankviz.store.database import UNSOUND
from rankviz.store.execution import LocalWorkers
from rankviz.store.records import Records
from rankviz.store.tables import records
from ui.shell.visitors import COOKIE
from ui.work import run_store
from ui.work.runs import _memory, recall, remember, twins

SPEC = RunSpec("synthetic-demo", digest=load_demo(1).digest, feature_map="linear")


def test_what_a_page_makes_is_kept_and_found_again(
    open_page: Opener, runs_once: RunsOnce, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_page("train", m=20)
    run_store.keeper().wait()
    table = run_store.run_store().listing.every()
    assert {"linear", "nystroem"} <= set(table["feature_map"])
    assert set(table["state"]) == {"done"}
    _memory.cache_clear()  # as after a restart

    def nothing(*_: object, **__: object) -> None:
        raise AssertionError("it was made again")

    monkeypatch.setattr("ui.work.runs.execute_all", nothing)
    app = open_page("train", m=20)
    assert not app.exception


def test_a_run_from_zero_is_also_that_with_other_starts_and_no_other_is() -> None:
    (asked, *_), record = twins([SPEC]), execute(SPEC)
    remember(replace(record, start="zero"))
    assert recall(asked).spec == asked
    remember(replace(record, start="the weights for C = 1"))
    assert recall(asked) is None


def test_pages_work_without_the_store(
    open_page: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RANKVIZ_STORE", str(tmp_path / "file" / "runs.sqlite"))
    app = open_page("train", m=20)
    assert not app.exception
    assert not app.error
    run_store.keeper().wait()
    assert "cannot be opened" in run_store.keeper().why
    with pytest.raises(StoreOutOfReach):
        run_store.run_store()


def test_a_sweep_that_stands_is_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(LocalWorkers, "_start", lambda _, names: started.extend(names))
    run_store.continue_sweeps()
    studies = run_store.run_store().studies
    study = studies.submit(Study("me", "a sweep"), [SPEC])
    studies.pause(study, "me")
    run_store.continue_sweeps()
    assert started == []
    studies.resume(study, "me")
    run_store.continue_sweeps()
    assert len(started) == 1


def test_a_file_is_checked_every_ten_minutes_and_each_minute_if_it_is_not_sound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, checks, purges = [12 * run_store.PURGE_SECONDS], list[object](), list[object]()
    monkeypatch.setattr(run_store, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(run_store, "purge", purges.append)
    monkeypatch.setattr(
        run_store, "Thread", lambda args, **_: SimpleNamespace(start=lambda: checks.append(args))
    )
    database = run_store.run_store().database
    for notice, most, number in (("", 1 << 30, 2), (UNSOUND, 0, 22), ("", 1 << 30, 24), ("", 0, 24)):
        monkeypatch.setattr(run_store, "MOST_CHECKED", most)
        database.notice = notice
        for _ in range(20):
            run_store.continue_sweeps()
            now[0] += 60.0
        assert sum(False in args for args in checks) == number
    assert len(purges) == 1


def test_a_fault_ends_no_storage_of_others(monkeypatch: pytest.MonkeyPatch, faults: list[str]) -> None:
    """All records are stored in one thread."""
    record, kept = execute(SPEC, fold=load_demo(1)), run_store.Keeper()
    with monkeypatch.context() as broken:
        broken.setattr(Records, "keep", lambda *_: 1 / 0)
        kept.keep("me", [record])
        kept.wait()
    assert "A fault" in kept.why
    assert "ZeroDivisionError" in faults.pop()
    kept.keep("you", [record])
    kept.wait()
    assert kept.why == ""
    assert list(run_store.run_store().listing.seen_by("you").index) == [record.spec.hash]


def test_a_record_that_is_damaged_is_made_again_and_kept(open_page: Opener) -> None:
    open_page("train", m=20)
    run_store.keeper().wait()
    with run_store.run_store().database.writing() as connection:
        connection.execute(update(records).values(content=b"damaged"))
    _memory.cache_clear()  # as after a restart
    run_store.keeper.cache_clear()
    app = open_page("train", m=20)
    assert figures(app)
    assert not app.error
    run_store.keeper().wait()
    with run_store.run_store().database.reading() as connection:
        kept = connection.execute(select(records.c.content)).scalars().all()
    assert b"damaged" not in kept


def test_pages_of_the_store_say_what_was_set_aside(open_page: Opener, tmp_path: Path) -> None:
    run_store.run_store().close()
    file = tmp_path / "runs" / "runs.sqlite"
    with sqlite3.connect(file) as other:
        other.execute("UPDATE schema_version SET version = 99")
        other.execute("PRAGMA application_id=0")
    other.close()
    run_store.forget()
    for page in ("runs", "compare", "sweep"):
        said = [one.value for one in open_page(page).info if "another version of rankviz" in one.value]
        assert len(said) == 1, page
        assert "runs.set-aside-1.sqlite" in said[0]
    assert file.with_name("runs.set-aside-1.sqlite").is_file()
    run_store.forget()
    assert not [one for one in open_page("runs").info if "another version of rankviz" in one.value]


def test_whose_a_run_is_outlives_the_page(open_page: Opener) -> None:
    app = open_page("train", m=5)
    assert any(COOKIE in element.proto.body for element in app.get("html"))


@pytest.mark.parametrize(
    ("page", "link"), [("runs", {}), ("sweep", {}), ("compare", {}), ("compare", {"runs": "0" * 16})]
)
def test_a_damaged_store_is_a_sentence(
    page: str, link: dict[str, str], open_page: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "damaged").write_text("no database" * 1000)
    monkeypatch.setenv("RANKVIZ_STORE", str(tmp_path / "damaged"))
    run_store.forget()
    app = open_page(page, **link)
    (error,) = app.error
    assert "The database of runs cannot be used: the file is not a database" in error.value
    assert str(tmp_path) not in error.value
    assert "No models yet" not in words(app)
