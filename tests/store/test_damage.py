"""A damaged value costs its row at most: every column of every table is damaged in turn."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest_store import GRID, take_lease
from sqlalchemy import Boolean, Column, Connection, Integer, func, literal_column, select, update

from rankviz import RunRecord, RunSpec
from rankviz.common.processes import start
from rankviz.store import RunStore, StoreOutOfReach, Study
from rankviz.store.execution import LocalWorkers
from rankviz.store.queue import reclaim, stop_overdue
from rankviz.store.room import purge
from rankviz.store.tables import MOST_BYTES, Number, metadata, runs, studies
from rankviz.store.watched import WatchedStudies

NOT_UTF8, BYTES, TEXT, FAR = "CAST(X'FFFE80' AS TEXT)", "X'00'", "'not a number'", ("1e10", "1e300")


def _damages(column: Column[Any]) -> tuple[str, ...]:
    """Return the values that a column of this type must survive."""
    if isinstance(column.type, Number):
        return BYTES, TEXT, *FAR
    return (BYTES,) if isinstance(column.type, Integer | Boolean) else (NOT_UTF8, BYTES)


DAMAGED = [
    pytest.param(column, value, id=f"{column}-{value}")
    for table in metadata.sorted_tables
    for column in table.columns
    if list(table.primary_key) != [column] or not isinstance(column.type, Integer)  # SQLite's own number
    for value in _damages(column)
]


@pytest.fixture
def filled(tmp_path: Path, made: dict[RunSpec, RunRecord], nobody: None) -> Iterator[RunStore]:
    """A store of two visitors: a run with a record and marks, a leased family, a shared study that waits."""
    store = RunStore(tmp_path / "runs.sqlite")
    worker = start(["sleep", "60"], {}, tmp_path / "log")
    first, second, third, *_ = made
    store.records.keep([made[first]], "me", "here")
    store.marks.tag("me", [first.hash], "good")
    store.queue.register("worker", worker)
    store.studies.submit(Study("me", "mine"), [second])
    store.queue.renew(take_lease(store, "worker"), {"stage": "data", "fraction": 0.5, "digest": second.hash})
    store.studies.submit(Study("you", "yours", shared=True), [third])
    store.records.keep([made[third]], "you")
    yield store
    worker.terminate()
    store.close()


@pytest.fixture
def jobs(filled: RunStore) -> WatchedStudies:
    return WatchedStudies(LocalWorkers(filled, 1))


def damage(store: RunStore, column: Column[Any], value: str) -> None:
    """Damage the first row's value from outside, as a bad disk would."""
    name = column.table.name
    with sqlite3.connect(str(store.database.file)) as connection:
        first = f'(SELECT min(rowid) FROM "{name}")'
        connection.execute(f'UPDATE "{name}" SET "{column.name}"={value} WHERE rowid={first}')
    connection.close()


def persist(work: Callable[[], Any]) -> Any:
    """Do what a page does at its next run: ask again, once."""
    try:
        return work()
    except StoreOutOfReach:
        return work()


def use(store: RunStore, jobs: WatchedStudies, specs: list[RunSpec]) -> None:
    """Do what another visitor, a worker and the server do."""
    digests = [spec.hash for spec in specs]

    def write(work: Callable[[Connection], object]) -> None:
        with store.database.writing() as connection:
            work(connection)

    for owner in ("me", "other"):
        table = persist(lambda owner=owner: store.listing.seen_by(owner))
        for times in ("created", "ended"):
            pd.to_datetime(table[times], unit="s", utc=True)  # as the Runs page does
        persist(lambda owner=owner: store.listing.seen_among(digests, owner))
        persist(lambda owner=owner: store.studies.titles(owner))
        for status in persist(lambda owner=owner: store.studies.of(owner)):
            persist(lambda id=status.id: store.studies.specs(id))
            persist(lambda id=status.id, owner=owner: store.listing.of_study(id, owner))
    persist(store.studies.every)
    persist(store.studies.running)
    persist(store.listing.every)
    persist(lambda: store.records.find(specs))
    persist(lambda: store.queue.has_work_for("worker"))
    persist(lambda: write(reclaim))
    persist(lambda: write(purge))
    job = persist(lambda: jobs.submit(specs[-1:], owner="other", title="a job", roots=[]))
    persist(lambda: jobs.status(job))
    persist(jobs.live)
    persist(lambda: store.studies.submit(Study("other", "another"), specs[-2:-1]))
    while (lease := persist(lambda: store.queue.take("another worker"))).owner != "other":
        pass
    assert lease.specs == (specs[-1],)


def count(store: RunStore) -> int:
    with store.database.reading() as connection:
        return sum(
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in metadata.sorted_tables
        )


@pytest.mark.story
@pytest.mark.parametrize(("column", "value"), DAMAGED)
def test_a_damaged_value_stops_nobody_else(
    filled: RunStore, jobs: WatchedStudies, specs: list[RunSpec], column: Column[Any], value: str
) -> None:
    damage(filled, column, value)
    use(filled, jobs, specs)
    filled.database.mend()
    found = {status.study.title: status for status in filled.studies.of("other")}
    assert found["yours"].total == found["another"].total == 1
    assert specs[2].hash in filled.listing.seen_by("other").index
    if value == NOT_UTF8 and str(column) != "owners.owner":  # `purge` removes an owner without runs
        assert f"1 row of {column.table.name}" in filled.database.notice


def test_sound_rows_stay(filled: RunStore) -> None:
    before = count(filled)
    assert filled.database.mend() == ""
    assert count(filled) == before
    assert filled.database.notice == ""


@pytest.mark.parametrize("name", ["place", "asked"])
def test_an_unknown_word_of_a_job_costs_no_other_job(
    filled: RunStore, jobs: WatchedStudies, specs: list[RunSpec], name: str
) -> None:
    other, mine = (
        jobs.submit([spec], owner=owner, title="a job", roots=[])
        for owner, spec in (("other", specs[-1]), ("me", specs[-2]))
    )
    with filled.database.writing() as connection:
        connection.execute(update(studies).where(studies.c.id == mine).values({name: "he8e"}))
    assert other in [status.id for status in persist(jobs.live)]
    filled.database.mend()
    assert filled.database.notice.endswith("1 row of studies set right.")
    assert mine in [status.id for status in jobs.of("me")]


@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize(
    ("table", "change"), [("families", "study = 'X' || substr(study, 2)"), ("members", "family = 77")]
)
def test_runs_whose_family_is_damaged_are_made(
    store: RunStore, specs: list[RunSpec], table: str, change: str
) -> None:
    study = store.studies.submit(GRID, specs)
    lease = take_lease(store, "w")
    with closing(sqlite3.connect(str(store.database.file))) as connection, connection:
        connection.execute(f"UPDATE {table} SET {change} WHERE rowid % 2 = 1")
    assert f"of {table}" in store.database.check()
    made = set[RunSpec]()
    store.queue.release(lease)
    while (lease := store.queue.take("w")) is not None:
        for spec in lease.specs:
            store.records.fail(spec, "tried")
        made.update(lease.specs)
        store.queue.release(lease)
    assert made == set(specs)
    assert not store.studies.status(study).live


def test_a_run_in_an_unknown_state_can_be_made_again(
    filled: RunStore, made: dict[RunSpec, RunRecord]
) -> None:
    damage(filled, runs.c.state, "'d?ne'")
    assert filled.database.mend() == "The database of runs was damaged: 1 row of runs removed."
    first = next(iter(made))
    filled.records.keep([made[first]], "me")
    assert first in filled.records.find([first])


def test_half_of_a_surrogate_pair_is_set_right(filled: RunStore, specs: list[RunSpec]) -> None:
    """A letter beyond U+FFFF is written as two escapes, which one damaged byte parts."""
    damage(filled, metadata.tables["runs"].c.spec, """replace(spec, '"small', '"\\ud835')""")
    assert persist(lambda: filled.listing.seen_by("me")).loc[specs[0].hash, "dataset"] == "small"
    assert "1 row of runs set right" in filled.database.notice


@pytest.mark.parametrize(
    ("table", "column", "name"),
    [
        ("marks", "star", "'st5r'"),
        ("schema_version", "version", "'vers5on'"),
        ("ix_marks_run", "run", "CAST(X'7275FF' AS TEXT)"),
    ],
)
def test_a_damaged_description_of_a_table_costs_no_row(
    filled: RunStore, table: str, column: str, name: str
) -> None:
    before = filled.listing.seen_by("me")
    file = filled.database.file
    filled.close()
    with sqlite3.connect(str(file)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        sql = f"substr(sql, 1, 30) || replace(substr(sql, 31), '{column}', {name})"
        connection.execute(f"UPDATE sqlite_master SET sql={sql} WHERE name='{table}'")
    connection.close()
    again = RunStore(file)
    with suppress(StoreOutOfReach):
        again.listing.seen_by("me")
    assert "A new file has" in again.database.check() + again.database.notice
    assert again.listing.seen_by("me").equals(before)
    again.close()


@pytest.mark.parametrize("value", ["''", f"'{'[' * 5000}'"])
def test_a_list_that_cannot_be_parsed_is_restored(filled: RunStore, specs: list[RunSpec], value: str) -> None:
    damage(filled, metadata.tables["metric_sets"].c.names, value)
    persist(lambda: filled.listing.seen_by("me"))
    assert "1 row of metric_sets set right" in filled.database.notice
    assert specs[0].hash in filled.listing.seen_by("me").index


def test_a_lease_without_its_start_stops_nobody_else(
    filled: RunStore, jobs: WatchedStudies, specs: list[RunSpec]
) -> None:
    leases, workers = metadata.tables["families"].c, metadata.tables["workers"].c
    for column, value in (
        (leases.since, "NULL"),
        (leases.until, "0"),
        (workers.until, "0"),
        (workers.process, "''"),
    ):
        damage(filled, column, value)
    use(filled, jobs, specs)


@pytest.mark.both_stores
@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize(("table", "values"), [("families", {"since": None}), ("studies", {"place": "no"})])
def test_what_postgresql_lets_in_is_set_right(
    store: RunStore, specs: list[RunSpec], table: str, values: dict[str, Any]
) -> None:
    """Home and Train of all visitors were a fault for good."""
    jobs = WatchedStudies(LocalWorkers(store, 1))
    jobs.submit(specs[:1], owner="me", title="a job", roots=[])
    lease = take_lease(store, "worker")
    with store.database.writing() as connection:
        connection.execute(update(metadata.tables[table]).values(values))

    def look() -> list[str]:
        with store.database.writing() as connection:
            stop_overdue(connection)
        return [status.title for status in jobs.live()]

    assert persist(look) == ["a job"]
    assert f"1 row of {table} set right" in store.database.notice + store.database.mend()
    store.queue.release(lease)


@pytest.mark.both_stores
@pytest.mark.parametrize("value", ["", "null", "[" * 5000])
def test_damaged_names_of_metrics_cost_no_other_run(
    address: str, made: dict[RunSpec, RunRecord], value: str
) -> None:
    store, (first, second, *_) = RunStore(address), made
    store.records.keep([made[first]], "me")
    with store.database.writing() as connection:
        connection.execute(update(metadata.tables["metric_sets"]).values(names=value))
    persist(lambda: store.listing.seen_by("me"))
    store.records.keep([made[second]], "me")
    found = persist(lambda: store.listing.seen_by("me"))
    assert first.hash in found.index
    assert found.loc[second.hash, "vali:NDCG@10"] >= 0  # and not missing
    store.close()


@pytest.mark.both_stores
def test_a_damaged_size_refuses_nobody_room(address: str, made: dict[RunSpec, RunRecord]) -> None:
    store, (first, second, *_) = RunStore(address), made
    store.records.keep([made[first]], "me")
    with store.database.writing() as connection:
        connection.execute(update(runs).values(size=MOST_BYTES))
    store.records.keep([made[second]], "you")
    assert second in store.records.find([second])
    store.close()


@pytest.mark.both_stores
@pytest.mark.parametrize("value", [1e10, 1e300, -1.0, float("inf"), float("nan")])
def test_a_damaged_time_costs_no_list(address: str, made: dict[RunSpec, RunRecord], value: float) -> None:
    store, (first, second, *_) = RunStore(address), made
    store.records.keep([made[first], made[second]], "me")
    damaged = {"ended": value} if value != value else {"created": value, "ended": value}  # NaN is NULL
    with store.database.writing() as connection:
        connection.execute(update(runs).where(runs.c.digest == first.hash).values(damaged))
    found = persist(lambda: store.listing.seen_by("me"))
    assert set(found.index) == {first.hash, second.hash}
    for times in ("created", "ended"):
        pd.to_datetime(found[times], unit="s", utc=True)  # as the Runs page does
    if value == value or store.database.file is None:
        assert "of runs set right" in store.database.notice
    store.close()


def damage_on_disk(store: RunStore, page: str, before: bytes, after: bytes) -> None:
    """Change bytes on the first page of a table or of an index in the file; copies elsewhere stay sound."""
    file = store.database.file
    assert file is not None
    store.close()
    with sqlite3.connect(str(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        asked = connection.execute("SELECT rootpage FROM sqlite_master WHERE name=?", (page,))
        start = 4096 * (asked.fetchone()[0] - 1)
    connection.close()
    content = bytearray(file.read_bytes())
    place = content.index(before, start, start + 4096)
    content[place : place + len(before)] = after
    file.write_bytes(content)


def first_value(store: RunStore, column: Column[Any]) -> bytes:
    with store.database.reading() as connection:
        value = connection.execute(select(column).order_by(literal_column("rowid"))).scalars().first()
    return str(value).encode()


@pytest.mark.parametrize(
    "column",
    [studies.c.id, studies.c.owner, runs.c.state, runs.c.digest, metadata.tables["tags"].c.tag],
    ids=str,
)
def test_a_byte_of_a_table_that_its_index_lacks_costs_its_row(
    filled: RunStore, jobs: WatchedStudies, specs: list[RunSpec], column: Column[Any]
) -> None:
    value = first_value(filled, column)
    damage_on_disk(filled, column.table.name, value, value[:1] + b"\xff" + value[2:])
    use(filled, jobs, specs)
    filled.database.check()
    assert f"1 row of {column.table.name}" in filled.database.notice
    assert not filled.database.unsound


@pytest.mark.parametrize("byte", [b"\xff", b"!"])
@pytest.mark.parametrize(
    ("index", "value"),
    [
        ("sqlite_autoindex_marks_1", b"me"),
        ("sqlite_autoindex_tags_1", b"good"),
        ("sqlite_autoindex_studies_1", None),
        ("ix_runs_state", b"done"),
        ("ix_studies_owner", b"you"),
    ],
)
def test_a_byte_of_an_index_costs_no_row(
    filled: RunStore, jobs: WatchedStudies, specs: list[RunSpec], index: str, value: bytes | None, byte: bytes
) -> None:
    before, seen = count(filled), list(filled.listing.seen_by("me").index)
    value = value or first_value(filled, studies.c.id)
    damage_on_disk(filled, index, value, value[:1] + byte + value[2:])
    assert "indexes did not match" in filled.database.check(rows=False)
    assert filled.database.check() in filled.database.notice
    assert not filled.database.unsound
    assert count(filled) == before
    assert list(filled.listing.seen_by("me").index) == seen
    use(filled, jobs, specs)


def test_an_error_of_a_damaged_index_has_it_made_anew(filled: RunStore, specs: list[RunSpec]) -> None:
    """Also without a check: whoever writes the row next finds the fault."""
    filled.studies.submit(Study("me", "another"), specs[-1:])
    damage_on_disk(filled, "ix_runs_state", b"queued", b"q\xffeued")
    for spec in specs[1:]:
        persist(lambda spec=spec: filled.records.fail(spec, "no memory"))
    assert "indexes did not match" in filled.database.notice
    assert not filled.database.unsound


def test_an_index_that_cannot_be_read_is_made_anew(filled: RunStore) -> None:
    before = filled.listing.seen_by("me")
    damage_on_disk(filled, "sqlite_autoindex_tags_1", b"\x11\x09\x15", b"\x11\x09\xff")
    assert "indexes did not match" in filled.database.check()
    pd.testing.assert_frame_equal(filled.listing.seen_by("me"), before)
    assert not filled.database.unsound


@pytest.mark.parametrize("name", [b"vali:\xffDCG@10", b"vali:!DCG@10"])
def test_a_damaged_name_of_a_metric_is_restored(filled: RunStore, name: bytes) -> None:
    before = filled.listing.seen_by("me")
    damage_on_disk(filled, "metric_sets", b"vali:NDCG@10", name)
    again = RunStore(filled.database.file)
    assert "1 row of metric_sets set right" in again.database.check()
    pd.testing.assert_frame_equal(again.listing.seen_by("me"), before)
    assert not again.database.unsound
    again.close()


def test_a_key_that_became_that_of_another_row_costs_its_row(filled: RunStore) -> None:
    before = filled.listing.seen_by("me")
    damage_on_disk(filled, "marks", b"me\x02", b"me\x01")
    assert "1 row of marks removed" in filled.database.check()
    left = filled.listing.seen_by("me")
    assert len(left) == len(before) - 1
    assert list(left["tags"]).count(("good",)) == 1
    assert not filled.database.unsound


CHANGED = {
    "means": "UPDATE runs SET means = X'01' || substr(means, 2) WHERE id = {run}",
    "seconds": "UPDATE runs SET seconds = seconds + 1 WHERE id = {run}",
    "spec": "UPDATE runs SET spec = replace(spec, '\"C\": 1.0', '\"C\": 3.0') WHERE id = {run}",
    "names": "UPDATE metric_sets SET names = replace(names, 'NDCG@1\"', 'NDCG@0\"')",
}


@pytest.mark.parametrize("what", CHANGED)
def test_no_changed_figure_of_a_run_is_shown(
    what: str, store: RunStore, made: dict[RunSpec, RunRecord], nobody: None
) -> None:
    """A byte may make another readable number: checksums notice it, and the record has the right one."""
    assert store.database.file is not None
    record = next(record for spec, record in made.items() if spec.C == 1.0)
    store.records.keep([record], "me")
    right = store.listing.seen_by("me")
    store.close()
    with sqlite3.connect(store.database.file) as connection:
        assert connection.execute(CHANGED[what].format(run=1)).rowcount
    connection.close()
    again = RunStore(store.database.file)
    found = persist(lambda: again.listing.seen_by("me"))
    pd.testing.assert_frame_equal(found, right)
    assert "1 row of" in again.database.notice
    again.close()


def test_a_changed_run_without_a_record_is_removed_and_never_made(
    store: RunStore, specs: list[RunSpec], nobody: None
) -> None:
    assert store.database.file is not None
    study = store.studies.submit(Study("me", "mine"), specs[:2])
    with sqlite3.connect(store.database.file) as connection:
        changed = "UPDATE runs SET spec = replace(spec, '\"C\": ', '\"C\": 1') WHERE digest = ?"
        assert connection.execute(changed, [specs[0].hash]).rowcount
    connection.close()
    assert store.studies.specs(study) == specs[1:2]
    assert take_lease(store, "worker").specs == tuple(specs[1:2])
    assert "1 row of runs removed" in store.database.check()
