"""Test wrong databases, and that no message contains their address."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from rankviz import RunRecord, RunSpec
from rankviz.store import Database, RunStore, StoreOutOfReach, database, default_url
from rankviz.store.database import ENVIRONMENT, LOST, REPLACED, UNSOUND

SECRET = "postgresql://walter:hunter2@127.0.0.1:1/runs"


def test_the_environment_names_the_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "mine.sqlite"))
    assert default_url() == str(tmp_path / "mine.sqlite")
    RunStore().close()
    assert (tmp_path / "mine.sqlite").is_file()
    monkeypatch.delenv(ENVIRONMENT)
    assert default_url().endswith("runs.sqlite")


def test_no_error_has_the_address(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(StoreOutOfReach, match="PostgreSQL does not answer") as caught:
        Database(SECRET)
    said = repr(caught.value) + caplog.text
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert not any(word in said for word in ("hunter2", "walter", "127.0.0.1"))


def test_a_store_is_shown_without_its_address(tmp_path: Path) -> None:
    database = Database(tmp_path / "runs.sqlite")
    assert str(tmp_path) not in repr(database)
    assert str(tmp_path) not in str(vars(database)["kind"])


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://host/runs", "not one of sqlite, postgresql"),
        ("://", "neither a file nor an address"),
        ("postgresql://host:port/runs", "neither a file nor an address"),
        (f"postgresql://{'h' * 64}:1/runs", "neither a file nor an address"),
        ("sqlite:///", "no file of SQLite"),
        ("sqlite://", "no file of SQLite"),
    ],
)
def test_other_addresses_are_refused(url: str, said: str) -> None:
    with pytest.raises(StoreOutOfReach, match=said):
        Database(url)


def test_a_file_that_is_no_database_is_said_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "runs.sqlite"
    file.write_bytes(b"nothing that SQLite knows" * 100)
    with pytest.raises(StoreOutOfReach, match="not a database"):
        Database(file)
    assert file.read_bytes().startswith(b"nothing")


def test_a_file_that_lost_all_its_bytes_is_said(tmp_path: Path, made: dict[RunSpec, RunRecord]) -> None:
    file = tmp_path / "runs.sqlite"
    store = RunStore(file)
    assert store.database.notice == ""
    store.records.keep(list(made.values())[:1], "me")
    store.close()
    os.truncate(file, 0)
    again = RunStore(file)
    assert "had no bytes: all runs in it are gone" in again.database.notice
    assert not len(again.listing.seen_by("me"))
    again.close()


def test_a_folder_in_which_nothing_can_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreOutOfReach, match="cannot be opened"):
        Database(tmp_path / "file" / "runs.sqlite")


def test_a_full_disk_loses_nothing(tmp_path: Path, made: dict[RunSpec, RunRecord]) -> None:
    store = RunStore(tmp_path / "runs.sqlite")
    first, *others = made.values()
    store.records.keep([first], "me")
    with store.database.engine.connect() as connection:  # there is one, which is used again
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StoreOutOfReach, match="its disk is full"):
        store.records.keep(others, "me")
    store.close()
    store = RunStore(tmp_path / "runs.sqlite")
    assert len(store.listing.seen_by("me")) == 1
    assert len(store.records.find(list(made))) == 1
    store.close()


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_a_server_that_gives_no_answer_is_not_asked_by_every_visitor_in_turn(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[int]()

    def silent() -> None:
        asked.append(1)
        raise OperationalError("", None, Exception("timeout"))

    with monkeypatch.context() as away:
        away.setattr(store.database.engine, "connect", silent)
        for _ in range(5):
            with pytest.raises(StoreOutOfReach, match="does not answer"):
                store.studies.every()
        assert len(asked) == 1
    monkeypatch.setattr(store.database, "_away_until", 0.0)  # the time has passed
    assert store.studies.every() == []


def test_a_statement_that_is_wrong_is_a_fault_of_ours(tmp_path: Path) -> None:
    from sqlalchemy.exc import OperationalError

    database = Database(tmp_path / "runs.sqlite")
    with pytest.raises(OperationalError), database.reading() as connection:
        connection.exec_driver_sql("SELECT nothing FROM nowhere")


def test_reading_waits_for_no_writer(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.sqlite")
    other = sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert store.studies.of("me") == []
    other.execute("ROLLBACK")
    other.close()


@pytest.mark.skipif(os.name != "posix", reason="rights of files are another thing there")
def test_the_folder_is_the_users_own(tmp_path: Path) -> None:
    Database(tmp_path / "new" / "runs.sqlite")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_a_store_that_may_be_written_again_is_written_without_a_restart(
    tmp_path: Path, made: dict[RunSpec, RunRecord]
) -> None:
    store = RunStore(tmp_path / "runs.sqlite")
    with store.database.engine.connect() as connection:  # there is one, which is used again
        connection.exec_driver_sql("PRAGMA query_only=ON")
    with pytest.raises(StoreOutOfReach, match="-wal and -shm"):
        store.records.keep(list(made.values()), "me")
    assert store.records.keep(list(made.values()), "me") == len(made)
    store.close()


def test_a_removed_log_loses_no_run(tmp_path: Path, made: dict[RunSpec, RunRecord]) -> None:
    file = tmp_path / "runs.sqlite"
    store, (first, second, *_) = RunStore(file), made.values()
    store.records.keep([first], "me")
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink()
    store.records.keep([second], "me")
    again = RunStore(file)
    assert len(again.listing.seen_by("me")) == 2
    again.close()
    store.close()


def test_a_log_removed_while_threads_use_it_loses_no_run(
    tmp_path: Path, made: dict[RunSpec, RunRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, (first, second, third, *_) = tmp_path / "runs.sqlite", made.values()
    store = RunStore(file)
    store.records.keep([first], "me")
    with closing(sqlite3.connect(file)) as other:  # of nobody who follows the log
        other.execute("PRAGMA wal_checkpoint")
    store.records.keep([second], "me")
    used, returned = [Event() for _ in range(3)], Event()

    def use(mine: Event) -> None:
        with store.database.reading() as connection:
            connection.exec_driver_sql("SELECT digest FROM runs")
            mine.set()
            returned.wait(60)

    with ThreadPoolExecutor(8) as threads:
        users = [threads.submit(use, mine) for mine in used]
        assert all(mine.wait(60) for mine in used)
        file.with_name("runs.sqlite-wal").unlink()
        monkeypatch.setattr(database, "RETURN_SECONDS", 0.05)
        with pytest.raises(StoreOutOfReach, match=r"was removed while it was in use\. Try again in a moment"):
            store.listing.seen_by("me")
        monkeypatch.setattr(store.database, "_wait_until", time.monotonic() + 60)
        waiting = [threads.submit(store.listing.seen_by, "me") for _ in range(3)]
        kept = threads.submit(store.records.keep, [third], "me")
        returned.set()
        assert [user.result() for user in users] == [None] * 3
        assert kept.result() == 1
        both = {first.spec.hash, second.spec.hash}
        assert all(both <= set(one.result().index) for one in waiting)
        assert all(len(threads.submit(store.listing.seen_by, "me").result()) == 3 for _ in range(8))
    assert (store.database.check(), store.database.notice) == ("", "")
    store.close()
    again = RunStore(file)
    assert len(again.listing.seen_by("me")) == 3
    again.close()


def test_nothing_is_lost_with_the_index_of_the_log(tmp_path: Path, made: dict[RunSpec, RunRecord]) -> None:
    """Another process begins a new one, and neither sees what the other one writes."""
    file, (first, second, *_) = tmp_path / "runs.sqlite", made.values()
    store = RunStore(file)
    for record in (first, second):
        store.records.keep([record], "me")
        assert store.database.notice == ""
        file.with_name("runs.sqlite-shm").unlink()
        write = (
            "import sqlite3, sys; made = sqlite3.connect(sys.argv[1]); "
            "made.execute('INSERT INTO metric_sets (names) VALUES (?)', sys.argv[2:]); made.commit()"
        )
        subprocess.run([sys.executable, "-c", write, str(file), f'["{record.spec.hash}"]'], check=True)
        assert len(store.listing.seen_by("me")) == 1 + (record is second)
        assert "The -shm file of the database of runs was removed" in store.database.notice
        store.database.notice = ""
    with store.database.reading() as connection:
        names = connection.execute(text("SELECT names FROM metric_sets")).scalars().all()
    assert {f'["{record.spec.hash}"]' for record in (first, second)} <= set(names)
    assert store.database.check() == ""
    store.close()


@pytest.mark.parametrize(
    ("place", "lost"), [(0.2, False), (0.6, False), (0.999, False), ("a page's number", True), ("head", True)]
)
def test_a_damaged_byte_of_the_log_does_not_end_it(
    tmp_path: Path, made: dict[RunSpec, RunRecord], place: float | str, lost: bool
) -> None:
    """SQLite reads a log up to the first frame whose checksum is wrong, and says nothing."""
    store, killed = RunStore(tmp_path / "runs.sqlite"), tmp_path / "killed"
    killed.mkdir()
    for record in made.values():
        store.records.keep([record], "me")
    log = bytearray((tmp_path / "runs.sqlite-wal").read_bytes())
    frame = 24 + int.from_bytes(log[8:12], "big")
    at = {"a page's number": 32 + (len(log) // frame // 2) * frame + 3, "head": 20}.get(place)
    at = int(float(place) * len(log)) if at is None else at
    log[at] ^= 1
    shutil.copy(tmp_path / "runs.sqlite", killed)
    (killed / "runs.sqlite-wal").write_bytes(log)
    again = RunStore(killed / "runs.sqlite")
    assert ("the latest runs are gone" in again.database.notice) == lost
    assert "The -wal file of the database of runs was damaged" in again.database.notice
    assert (len(again.listing.seen_by("me")) == len(made)) == (not lost)
    assert again.database.check() in ("", again.database.notice)
    assert (killed / "runs-wal.set-aside-1.sqlite").read_bytes() == log
    again.close()
    assert {path.name for path in killed.iterdir() if "set-aside" not in path.name} <= {
        "runs.sqlite",
        ".runs.sqlite.lock",
    }
    store.close()


def test_no_store_begins_a_log_while_another_one_has_the_lost_log(
    tmp_path: Path, made: dict[RunSpec, RunRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, (first, second, third, *_) = tmp_path / "runs.sqlite", made.values()
    app, worker = RunStore(file), RunStore(file)
    app.records.keep([first], "me")
    worker.records.keep([second], "me")
    begun = time.monotonic()
    for _ in range(2):
        file.with_name("runs.sqlite-wal").unlink()
        for seconds in (0.05, 60):  # only the first request waits
            monkeypatch.setattr(database, "RETURN_SECONDS", seconds)
            with pytest.raises(StoreOutOfReach, match="Try again in a moment"):
                app.records.keep([third], "me")
        assert len(worker.listing.seen_by("me")) == 2
        assert len(app.listing.seen_by("me")) == 2
    assert time.monotonic() < begun + 60
    app.records.keep([third], "me")
    for store in (app, worker):
        assert len(store.listing.seen_by("me")) == 3
        assert (store.database.check(), store.database.notice) == ("", "")
        store.close()


def test_a_run_that_is_lost_with_the_log_is_said(
    tmp_path: Path,
    made: dict[RunSpec, RunRecord],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    file, (first, second, *_) = tmp_path / "runs.sqlite", made.values()
    store = RunStore(file)
    store.records.keep([first], "me")
    with closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM runs").fetchall()  # lets no later run into the file
        store.records.keep([second], "me")
        file.with_name("runs.sqlite-wal").unlink()
        monkeypatch.setattr(database, "RETURN_SECONDS", 0.05)
        with pytest.raises(StoreOutOfReach, match=r"was removed while it was in use\. Try again in a moment"):
            store.listing.seen_by("me")
    assert first.spec.hash in store.listing.seen_by("me").index
    assert store.database.notice == LOST
    assert [record.message for record in caplog.records] == [LOST]
    store.close()


def test_a_broken_connection_that_watches_is_closed_at_once(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.sqlite")
    store.database.state()
    assert store.database._watch is not None
    broken = store.database._watch.dbapi_connection
    with store.database.reading():  # keeps the log
        broken.close()
        with pytest.raises(StoreOutOfReach) as caught:
            store.database.state()
        assert broken not in store.database._open, caught
    assert store.database.state()
    store.close()


def test_no_connection_stays_open_after_threads_that_use_and_check_the_file(tmp_path: Path) -> None:
    """Two checks at once left a pool whose connections nobody closed."""
    store, faults = RunStore(tmp_path / "runs.sqlite"), list[Exception]()

    def use(work: Callable[[], object]) -> None:
        try:
            for _ in range(5):
                work()
        except Exception as error:
            faults.append(error)

    works = [store.database.check, store.database.state, store.studies.every, lambda: store.studies.of("me")]
    for _ in range(10):
        threads = [Thread(target=use, args=[work]) for work in 4 * works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not faults
    assert len(store.database._open) <= 6, "five of the pool, and the one that watches"
    store.database._close_connections()
    assert not store.database._open
    store.close()


@pytest.mark.parametrize("moved", [["", "-wal", "-shm"], [""]])
def test_a_new_file_begins_when_the_old_one_is_moved_away_and_is_said_once(
    tmp_path: Path, made: dict[RunSpec, RunRecord], moved: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "runs.sqlite"
    store, (first, second, *_) = RunStore(file), made.values()
    store.records.keep([first], "me")
    for ending in moved:
        file.with_name(file.name + ending).rename(tmp_path / f"old{ending}")
    store.records.keep([second], "me")
    again = RunStore(file)
    assert list(again.listing.seen_by("me").index) == [second.spec.hash]
    again.close()
    assert store.database.notice == REPLACED
    assert [record.message for record in caplog.records] == [REPLACED]
    store.close()


def test_the_log_of_a_replaced_file_does_not_get_into_the_new_one(
    tmp_path: Path, made: dict[RunSpec, RunRecord]
) -> None:
    file, (first, second, third, *_) = tmp_path / "runs.sqlite", made.values()
    for name, record in (("copy", first), (file.name, second)):
        store = RunStore(tmp_path / name)
        store.records.keep([record], "me")
        if name == "copy":
            store.close()
    (tmp_path / "copy").replace(file)
    assert list(store.listing.seen_by("me").index) == [first.spec.hash]
    store.records.keep([third], "me")
    assert store.database.check() == ""
    assert set(store.listing.seen_by("me").index) == {first.spec.hash, third.spec.hash}
    assert store.database.notice == REPLACED
    store.close()


def test_a_log_that_another_process_began_is_never_removed(
    tmp_path: Path, made: dict[RunSpec, RunRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check closes all connections, so the log goes; another process begins one, with the same inode."""
    file, (first, second, *_) = tmp_path / "runs.sqlite", made.values()
    store, other = RunStore(file), RunStore(file)
    store.records.keep([first], "me")
    assert len(store.listing.seen_by("me")) == 1
    other.database.close()
    prepared = database.prepare

    def begun_meanwhile(*given: Any) -> str:
        other.records.keep([second], "me")
        store.database._logged = database._identity(file.with_name("runs.sqlite-wal"))  # reused
        return prepared(*given)

    store.database._close_connections()
    assert not file.with_name("runs.sqlite-wal").exists()
    monkeypatch.setattr(database, "prepare", begun_meanwhile)
    assert len(store.listing.seen_by("me")) == len(other.listing.seen_by("me")) == 2
    other.close()
    assert store.database.check() == ""
    store.close()


def test_no_new_file_gets_the_inode_of_the_log_that_was_seen(
    tmp_path: Path, made: dict[RunSpec, RunRecord]
) -> None:
    store = RunStore(tmp_path / "runs.sqlite")
    store.records.keep(list(made.values()), "me")
    assert len(store.listing.seen_by("me")) == len(made)
    seen = store.database._logged
    assert seen == database._identity(tmp_path / "runs.sqlite-wal") is not None
    store.database._close_connections()
    for k in range(50):
        (tmp_path / f"{k}").touch()
        assert database._identity(tmp_path / f"{k}") != seen
    store.close()


def test_servers_that_share_a_replaced_file_remove_no_log_of_one_another(
    tmp_path: Path, made: dict[RunSpec, RunRecord]
) -> None:
    file, (first, second, *others) = tmp_path / "runs.sqlite", made.values()
    copy = RunStore(tmp_path / "copy")
    copy.records.keep([first], "me")
    copy.close()
    one, other = RunStore(file), RunStore(file)
    one.records.keep([second], "me")
    assert len(other.listing.seen_by("me")) == 1
    (tmp_path / "copy").replace(file)
    one.records.keep(others[:1], "me")  # removes the old log, and begins one
    assert len(other.listing.seen_by("me")) == 2
    other.records.keep(others[1:2], "me")
    for store in (one, other):
        assert store.database.notice == REPLACED
        assert len(store.listing.seen_by("me")) == 3
        assert store.database.check() == ""
        store.close()


def test_pages_of_zeros_are_noticed_while_connections_keep_what_they_have_read(
    tmp_path: Path, made: dict[RunSpec, RunRecord]
) -> None:
    store = RunStore(tmp_path / "runs.sqlite")
    store.records.keep(list(made.values()), "me")
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert len(store.records.find(list(made))) == len(made)
    with (tmp_path / "runs.sqlite").open("r+b") as file:
        file.seek(-4096, os.SEEK_END)
        file.write(bytes(4096))
    assert len(store.records.find(list(made))) == len(made), "from pages that the connection keeps"
    assert "A new file has all rows that can be read" in store.database.check(rows=False)
    assert len(store.listing.seen_by("me")) == len(made)
    assert store.database.check() == ""
    assert len(store.records.find(list(made))) >= len(made) - 1
    store.close()


def test_pages_of_zeros_are_noticed(
    tmp_path: Path, made: dict[RunSpec, RunRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "salvage", lambda *_: "")  # no row could be read
    store = RunStore(tmp_path / "runs.sqlite")
    store.records.keep(list(made.values()), "me")
    assert store.database.check() == ""
    store.close()
    copy = (tmp_path / "runs.sqlite").read_bytes()
    # a page of records, which listings never read
    (tmp_path / "runs.sqlite").write_bytes(copy[:-4096] + bytes(4096))
    damaged = RunStore(tmp_path / "runs.sqlite")
    assert len(damaged.listing.seen_by("me")) == len(made)
    assert "the file is damaged" in damaged.database.check()
    assert "the file is damaged" in damaged.database.notice
    assert damaged.database.unsound
    damaged.close()
    (tmp_path / "runs.sqlite").write_bytes(copy)
    assert damaged.database.check() == damaged.database.notice == ""
    assert not damaged.database.unsound
    damaged.close()


def test_a_new_file_begins_when_a_damaged_one_is_moved_away(
    tmp_path: Path, made: dict[RunSpec, RunRecord]
) -> None:
    file = tmp_path / "runs.sqlite"
    store = RunStore(file)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'studies'").fetchone()
    with file.open("r+b") as damaged:
        damaged.seek(4096 * (page - 1))
        damaged.write(bytes(4096))
    for _ in range(2):
        with pytest.raises(StoreOutOfReach, match="move it away"):
            store.studies.every()
        assert store.database.notice == UNSOUND, "at the first read, without a check"
    file.rename(tmp_path / "old")
    assert store.records.keep(list(made.values()), "me") == len(made)
    assert store.studies.every() == []
    store.close()


@pytest.mark.parametrize("value", ["NULL", "'not a number'", "CAST(X'FFFE80' AS TEXT)", "1e300", "-1", "1.5"])
def test_a_damaged_version_is_known_by_the_columns_of_the_tables(
    value: str, tmp_path: Path, made: dict[RunSpec, RunRecord]
) -> None:
    first = next(iter(made))
    store = RunStore(tmp_path / "runs.sqlite")
    store.records.keep([made[first]], "me")
    store.close()
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as connection, connection:
        change = (
            "DELETE FROM schema_version" if value == "NULL" else f"UPDATE schema_version SET version={value}"
        )
        connection.execute(change)
    store = RunStore(tmp_path / "runs.sqlite")
    assert store.records.made([first.hash]) == {first.hash}
    store.close()
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as connection, connection:
        connection.execute("ALTER TABLE runs ADD COLUMN later TEXT")
        connection.execute("DELETE FROM schema_version")
    store = RunStore(tmp_path / "runs.sqlite")
    assert "another version" in store.database.notice
    store.close()


@pytest.mark.both_stores
def test_others_read_while_many_wait_to_write(store: RunStore) -> None:
    """Each waiting writer held a connection; with 18 of them all reads waited as long."""
    holds, ends = Event(), Event()

    def hold() -> None:
        with store.database.writing():
            holds.set()
            ends.wait(20)

    def write() -> None:
        with store.database.writing():
            pass

    first = Thread(target=hold)
    first.start()
    assert holds.wait(5)
    writers = [Thread(target=write) for _ in range(30)]
    for one in writers:
        one.start()
    time.sleep(0.5)
    began = time.monotonic()
    with store.database.reading() as connection:
        connection.exec_driver_sql("SELECT 1")
    waited = time.monotonic() - began
    ends.set()
    for one in (first, *writers):
        one.join(20)
        assert not one.is_alive()
    assert waited < 5
