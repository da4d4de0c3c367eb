"""A store of another version is set aside, kept as it is and said so; a new one begins."""

import hashlib
import logging
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest_store import BOTH, GRID
from conftest_warm import apart
from sqlalchemy import text

from rankviz import RunRecord, RunSpec
from rankviz.common.files import locked
from rankviz.store import RunStore, StoreOutOfReach, database
from rankviz.store.database import ENVIRONMENT
from rankviz.store.tables import VERSION, metadata

SAID = (
    "The database of runs is of another version of rankviz: it is kept as runs.set-aside-1.sqlite, and a new "
    "database begins."
)


def opened(said: Path) -> None:
    """Open the store, use it, and write down what it says."""
    store = RunStore()
    store.studies.of("me")
    said.write_text(store.database.notice)
    store.close()


def other_version(address: str, record: RunRecord, version: int | None) -> None:
    """Make a store with one run; without a number as an earlier version did."""
    store = RunStore(address)
    store.records.keep([record], "me")
    with store.database.writing() as connection:
        if version is None:
            connection.execute(text("DROP TABLE schema_version"))
            connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        else:
            connection.execute(text("UPDATE schema_version SET version = :version"), {"version": version})
    store.close()


@pytest.fixture
def old(tmp_path: Path, made: dict[RunSpec, RunRecord], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a store of an earlier version, which the environment names."""
    file = tmp_path / "runs.sqlite"
    monkeypatch.setenv(ENVIRONMENT, str(file))
    other_version(str(file), next(iter(made.values())), None)
    return file


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize("version", [None, VERSION - 1, VERSION + 1])
def test_a_file_of_another_version_is_set_aside_byte_for_byte(
    tmp_path: Path, made: dict[RunSpec, RunRecord], version: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    file, record = tmp_path / "runs.sqlite", next(iter(made.values()))
    other_version(str(file), record, version)
    before = digest(file)
    with caplog.at_level(logging.WARNING):
        store = RunStore(file)
    assert store.database.notice == SAID
    assert [entry.getMessage() for entry in caplog.records] == [SAID]
    assert digest(tmp_path / "runs.set-aside-1.sqlite") == before
    assert store.listing.every().empty
    store.records.keep([record], "me")
    assert set(store.records.find([record.spec])) == {record.spec}
    assert store.studies.status(store.studies.submit(GRID, list(made))).total == len(made)
    store.close()
    again = RunStore(file)
    assert again.database.notice == ""
    assert set(again.listing.every()["state"]) == {"done", "queued"}
    again.close()
    assert len(list(tmp_path.glob("*.sqlite"))) == 2


def test_what_was_set_aside_before_is_kept_too(old: Path, made: dict[RunSpec, RunRecord]) -> None:
    RunStore().close()
    first = digest(old.with_name("runs.set-aside-1.sqlite"))
    other_version(str(old), list(made.values())[1], VERSION + 1)
    store = RunStore()
    assert "kept as runs.set-aside-2.sqlite" in store.database.notice
    store.close()
    assert digest(old.with_name("runs.set-aside-1.sqlite")) == first


def test_what_a_killed_process_left_in_the_log_is_kept(old: Path) -> None:
    """The write-ahead log of a process that was killed goes into the file before that is renamed."""
    code = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
        "c.execute('INSERT INTO tags SELECT \\'me\\', id, \\'late\\' FROM runs'); c.commit(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(old)], check=True)
    assert old.with_name("runs.sqlite-wal").stat().st_size
    RunStore().close()
    with sqlite3.connect(old.with_name("runs.set-aside-1.sqlite")) as kept:
        assert kept.execute("SELECT tag FROM tags").fetchall() == [("late",)]
    kept.close()


def test_processes_that_start_at_once_set_it_aside_once(old: Path) -> None:
    before = digest(old)
    said = [old.parent / f"{number}.txt" for number in range(2)]
    processes = [apart(opened, file) for file in said]
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0]
    assert sorted(file.read_text() for file in said) == ["", SAID]
    assert sorted(path.name for path in old.parent.glob("runs.*")) == [
        "runs.set-aside-1.sqlite",
        "runs.sqlite",
    ]
    assert digest(old.with_name("runs.set-aside-1.sqlite")) == before


def test_a_start_waits_for_another_one(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    prepare = database._prepare_sqlite
    monkeypatch.setattr(database, "_prepare_sqlite", lambda *seen: opened.append(seen) or prepare(*seen))
    with ThreadPoolExecutor(1) as threads:
        with locked(old.with_name(".runs.sqlite.lock")):
            started = threads.submit(RunStore)
            with pytest.raises(TimeoutError):
                started.result(1.0)
            assert not opened  # a file that moves while SQLite opens it is an I/O error
        store = started.result(60.0)
    assert opened
    assert store.database.notice == SAID
    store.close()


def test_threads_that_start_at_once_set_it_aside_once(old: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        stores = list(threads.map(lambda _: RunStore(), range(8)))
    assert sorted(store.database.notice for store in stores) == [""] * 7 + [SAID]
    for store in stores:
        assert store.studies.of("me") == []
        store.close()
    assert len(list(old.parent.glob("*.sqlite"))) == 2


def test_a_file_that_another_process_uses_stays_where_it_is(old: Path) -> None:
    other = sqlite3.connect(old)
    other.execute("SELECT * FROM runs").fetchall()
    with pytest.raises(StoreOutOfReach, match=r"another process still uses it\. End that process"):
        RunStore()
    assert [path.name for path in old.parent.glob("*.sqlite")] == ["runs.sqlite"]
    other.close()
    store = RunStore()
    assert store.database.notice == SAID
    store.close()


def test_the_command_line_says_it_once(old: Path) -> None:
    command = [sys.executable, "-m", "rankviz", "runs"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [SAID]
    assert "No such runs" in done.stdout


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
@pytest.mark.parametrize("version", [None, VERSION - 1, VERSION + 1])
def test_a_postgresql_database_of_another_version_is_refused_and_left(
    address: str, made: dict[RunSpec, RunRecord], version: int | None
) -> None:
    store = RunStore(address)
    other_version(address, next(iter(made.values())), version)
    with pytest.raises(StoreOutOfReach, match=r"left as it is\. Set RANKVIZ_STORE to an empty database"):
        RunStore(address)
    with store.database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM records")).scalar() == 1
    store.close()


def test_a_database_with_the_tables_of_another_program_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "runs.sqlite"
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE runs (id INTEGER)")
        other.execute("PRAGMA user_version=1")
    other.close()
    with pytest.raises(StoreOutOfReach, match="table 'runs' of another program"):
        RunStore(file)
    with sqlite3.connect(file) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("runs",)]
    other.close()
    assert [path.name for path in tmp_path.glob("*.sqlite")] == ["runs.sqlite"]


@BOTH
def test_a_new_database_has_the_tables_and_their_version(store: RunStore) -> None:
    with store.database.reading() as connection:
        for table in metadata.sorted_tables:
            connection.execute(table.select()).all()
        assert connection.execute(text("SELECT version FROM schema_version")).scalars().all() == [VERSION]


@BOTH
def test_several_processes_may_open_an_empty_database_at_once(address: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        stores = list(threads.map(lambda _: RunStore(address), range(4)))
    assert [store.studies.of("me") for store in stores] == [[]] * 4
    for store in stores:
        store.close()
