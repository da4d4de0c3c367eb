"""Room in a store: bytes of all runs are bounded; whose go, and when; what was deleted goes for good."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from conftest_jobs import FOLD, SPEC
from conftest_store import BOTH, GRID, take_lease
from sqlalchemy import update

from rankviz import RunRecord, RunSpec, execute_all
from rankviz.common.errors import SettingError
from rankviz.store import NoSuchStudy, RunStore, StoreError, Study, family_runner, room
from rankviz.store.room import (
    DAY,
    MARK_BYTES,
    PLACE_BYTES,
    ROW_BYTES,
    UNDO_SECONDS,
    make_room,
    purge,
    tag_bytes,
    total_bytes,
)
from rankviz.store.run_store import keep_for_all, kept_for_all
from rankviz.store.tables import marks, owners, runs, studies
from rankviz.store.watched import WatchedStudies

pytestmark = BOTH

SPECS = tuple(SPEC.but(C=0.5 + number) for number in range(4))
Bounded = Callable[..., None]


@pytest.fixture(scope="module")
def made() -> Sequence[RunRecord]:
    return [record for _, record in execute_all(SPECS, fold=FOLD)]


def room_for(made: Sequence[RunRecord], *which: int) -> int:
    return int(1.07 * sum(len(made[number].to_bytes()) + ROW_BYTES for number in which)) + ROW_BYTES


def aged(store: RunStore, days: float, *specs: RunSpec) -> None:
    with store.database.writing() as connection:
        for spec in specs:
            which = runs.c.digest == spec.hash
            connection.execute(update(runs).where(which).values(ended=time.time() - days * DAY))


def there(store: RunStore, made: Sequence[RunRecord]) -> list[int]:
    found = store.records.find(SPECS)
    assert len(store.listing.every()) == len(found)
    return [number for number, record in enumerate(made) if record.spec in found]


def ask(store: RunStore, owner: str) -> None:
    with store.database.writing() as connection:
        make_room(connection, owner)


def test_the_bytes_of_records_are_known_and_runs_without_one_count(
    store: RunStore, made: Sequence[RunRecord]
) -> None:
    store.records.keep(made[:2], "me")
    store.studies.stop(store.studies.submit(Study("me", ""), [SPEC.but(C=77.0)]), "me")
    with store.database.reading() as connection:
        size = sum(len(record.to_bytes()) for record in made[:2])
        assert total_bytes(connection) == size + 3 * (ROW_BYTES + MARK_BYTES) + PLACE_BYTES + len("{}")


def test_notes_tags_and_designs_count_too(
    store: RunStore, made: Sequence[RunRecord], bounded: Bounded
) -> None:
    store.records.keep(made[:1], "me")
    study = store.studies.submit(Study("me", "a title"), [SPECS[0]])

    def held() -> int:
        with store.database.reading() as connection:
            return total_bytes(connection)

    before = held()
    store.marks.note("me", [SPECS[0].hash], "n" * 100)
    store.marks.tag("me", [SPECS[0].hash], "t" * 20)
    store.studies.note(study, "me", "s" * 300)
    store.studies.redesign(study, "me", {"key": "d" * 1000})
    assert held() - before == 100 + tag_bytes("t" * 20) + 300 + len('{"key": ""}') + 1000 - len("{}")
    bounded(run_bytes=held() + 150)
    for write in (
        lambda: store.marks.note("me", [SPECS[0].hash], "n" * 1000),
        lambda: store.studies.note(study, "me", "s" * 1000),
        lambda: store.studies.redesign(study, "me", {"key": "d" * 3000}),
    ):
        with pytest.raises(StoreError, match="runs are kept here"):
            write()
    with pytest.raises(SettingError, match="a note has at most"):
        store.studies.note(study, "me", "s" * 2001)


def test_texts_count_by_their_bytes_whatever_their_letters(
    store: RunStore, made: Sequence[RunRecord]
) -> None:
    store.records.keep(made[:1], "me")

    def counted(note: str) -> int:
        store.marks.note("me", [SPECS[0].hash], note)
        with store.database.reading() as connection:
            return total_bytes(connection)

    without = counted("")
    assert counted("\U0001f600" * 100) == without + 400
    if store.database.file is not None:  # PostgreSQL takes no NUL
        assert counted("\0" + "n" * 99) == without + 100


@pytest.mark.parametrize("tag", ["t", "t" * 80])
def test_the_file_grows_by_no_more_than_is_counted(tmp_path: Path, bounded: Bounded, tag: str) -> None:
    store = RunStore(tmp_path / "grows.sqlite")
    digests = [f"{number:016x}" for number in range(100)]
    rows = [{"digest": one, "spec": "{}", "state": "done", "created": 1.0} for one in digests]
    with store.database.writing() as connection:
        connection.execute(runs.insert(), rows)

    def sizes() -> tuple[int, int]:
        with store.database.reading() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            return total_bytes(connection), 4096 * pages

    before = sizes()
    for number in range(30):
        store.records.claim(digests, f"{number:032x}", "here")
        store.marks.tag(f"{number:032x}", digests, tag)
    counted, grown = (late - early for late, early in zip(sizes(), before, strict=True))
    assert grown <= counted <= 1.6 * grown
    bounded(run_bytes=sizes()[0] + 1000)
    store.records.claim(digests, f"{0:032x}", "here")
    with pytest.raises(StoreError, match="runs are kept here"):
        store.records.claim(digests, "another", "elsewhere")
    bounded(run_bytes_address=sizes()[0])
    with pytest.raises(StoreError, match="From one network address"):
        store.records.claim(digests[:1], "another", "here")
    store.close()


def test_while_there_is_room_nothing_goes(
    store: RunStore, made: Sequence[RunRecord], bounded: Bounded
) -> None:
    bounded(run_bytes=room_for(made, 0, 1, 2, 3))
    store.records.keep(made, "me")
    aged(store, 100, *SPECS)
    store.marks.delete("me", [SPECS[0].hash])
    ask(store, "you")
    assert there(store, made) == [0, 1, 2, 3]


def test_what_was_deleted_goes_first_then_the_oldest_of_anybody(
    store: RunStore, made: Sequence[RunRecord], bounded: Bounded
) -> None:
    store.records.keep(made, "me")
    aged(store, 3, SPECS[1])
    aged(store, 5, SPECS[2])
    store.marks.delete("me", [SPECS[3].hash])
    for left in ([0, 1, 2], [0, 1], [0]):
        bounded(run_bytes=room_for(made, *left))
        ask(store, "you")
        assert there(store, made) == left


def test_made_up_visitors_do_not_delete_the_work_of_others(
    store: RunStore, made: Sequence[RunRecord], bounded: Bounded
) -> None:
    store.records.keep(made[:1], "honest")
    store.records.keep(made[1:], "made up")
    for number, spec in enumerate(SPECS):
        aged(store, 0.9 - 0.1 * number, spec)
    bounded(run_bytes=room_for(made, 0, 3))
    with pytest.raises(StoreError, match=r"At most .* of runs are kept .* younger than a day"):
        ask(store, "another")
    assert there(store, made) == [0, 1, 2, 3]
    ask(store, "made up")
    assert there(store, made) == [0, 3], "one's own, the oldest first, may go for one's own"


@pytest.mark.parametrize("said", ["star", "tag", "note", "share", "sweep", "common"])
def test_what_somebody_has_said_something_of_stays(
    store: RunStore, made: Sequence[RunRecord], bounded: Bounded, said: str
) -> None:
    store.records.keep(made, "me")
    aged(store, 9, *SPECS)
    first = [SPECS[0].hash]
    {
        "star": lambda: store.marks.star("me", first),
        "tag": lambda: store.marks.tag("me", first, "best"),
        "note": lambda: store.marks.note("me", first, "for the paper"),
        "share": lambda: store.marks.share("me", first),
        "sweep": lambda: store.studies.submit(GRID, SPECS[:1]),
        "common": lambda: keep_for_all(store, made[:1], "figures"),
    }[said]()
    bounded(run_bytes=1)
    with pytest.raises(StoreError):
        ask(store, "me")
    assert there(store, made) == [0, 1, 2, 3], "nothing goes where it does not help"
    bounded(run_bytes=room_for(made, 0))
    ask(store, "me")
    assert there(store, made) == [0]


def test_what_a_job_waits_for_stays_and_jobs_that_ended_go_with_their_runs(
    store: RunStore,
    made: Sequence[RunRecord],
    bounded: Bounded,
    jobs: WatchedStudies,
    submit: Callable[..., str],
    nobody: None,
) -> None:
    store.records.keep(made, "me")
    aged(store, 9, *SPECS)
    live, over = submit((*SPECS[:1], SPEC.but(C=77.0))), submit(SPECS[1:2])
    assert jobs.status(over).state == "finished"
    bounded(run_bytes=room_for(made, 0) + 3 * PLACE_BYTES)
    ask(store, "you")
    assert store.records.find(SPECS).keys() == {SPECS[0]}
    assert [status.id for status in jobs.of("me")] == [live]


def held_by(store: RunStore, owner: str) -> set[str]:
    return set(store.listing.seen_by(owner).index)


def test_a_visitor_who_stars_everything_keeps_room_for_others(
    store: RunStore, made: Sequence[RunRecord], bounded: Bounded
) -> None:
    bounded(run_bytes_each=room_for(made, 0, 1))
    for number in (0, 1):
        store.records.keep(made[number : number + 1], "greedy")
        store.marks.star("greedy", [SPECS[number].hash])
    with pytest.raises(StoreError, match=r"^Of one visitor at most .* on the Runs page.*\(run_bytes_each\)"):
        store.records.keep(made[2:3], "greedy")
    assert there(store, made) == [0, 1]
    with store.database.reading() as connection:
        bounded(run_bytes_each=total_bytes(connection) + 1500)
    store.records.keep(made[3:], "honest")
    for write in (
        lambda: store.records.claim([SPECS[3].hash], "greedy"),
        lambda: store.studies.submit(Study("greedy", "a grid"), SPECS[2:]),
        lambda: store.marks.note("greedy", [SPECS[0].hash], "n" * 2000),
    ):
        with pytest.raises(StoreError, match="Of one visitor"):
            write()
    bounded(run_bytes_each=room_for(made, 0, 1))
    store.marks.delete("greedy", [SPECS[0].hash])
    store.records.claim([SPECS[3].hash], "greedy")
    store.marks.star("greedy", [SPECS[3].hash])
    with pytest.raises(StoreError, match="Of one visitor"):
        store.marks.restore("greedy", [SPECS[0].hash])
    assert held_by(store, "greedy") == {SPECS[1].hash, SPECS[3].hash}


def test_made_up_visitors_of_one_address_share_its_room(
    store: RunStore, made: Sequence[RunRecord], bounded: Bounded
) -> None:
    bounded(run_bytes_address=room_for(made, 0, 1))
    for number, owner in enumerate(("made up", "another")):
        store.records.keep(made[number : number + 1], owner, "here")
        store.marks.star(owner, [SPECS[number].hash])
    with pytest.raises(StoreError, match=r"^From one network address .*\(run_bytes_address\)"):
        store.records.keep(made[2:3], "a third", "here")
    with store.database.reading() as connection:
        bounded(run_bytes_address=total_bytes(connection) + 500)
    with pytest.raises(StoreError, match="From one network address"):
        store.studies.submit(Study("a third", "a grid", address="here"), SPECS[2:3])
    store.records.claim([SPECS[0].hash], "a third", "here")  # what two of them have counts once
    store.records.keep(made[2:], "honest", "there")
    store.records.keep(made[2:], "unknown")
    assert there(store, made) == [0, 1, 2, 3]


def test_in_a_full_share_old_runs_go_from_their_visitors_alone(
    store: RunStore, made: Sequence[RunRecord], bounded: Bounded
) -> None:
    store.records.keep(made[:2], "me", "here")
    store.records.keep(made[:2], "you", "there")
    store.records.keep(made[2:3], "mate", "here")
    aged(store, 3, SPECS[0])
    bounded(run_bytes_address=room_for(made, 1, 2, 3))
    store.records.keep(made[3:], "mate", "here")
    assert held_by(store, "me") == {SPECS[1].hash}, "older than a day"
    assert held_by(store, "you") == {SPECS[0].hash, SPECS[1].hash}
    bounded(run_bytes_address=room_for(made, 1, 3))
    store.records.claim([SPECS[0].hash], "mate", "here")
    assert held_by(store, "mate") == {SPECS[0].hash}, "one's own of today, not those of another"
    assert held_by(store, "me") == {SPECS[1].hash}
    assert set(store.listing.deleted_by("mate").index) == {SPECS[2].hash, SPECS[3].hash}
    assert there(store, made) == [0, 1, 2, 3]


def test_runs_that_a_sweep_keeps_count_for_its_visitor(
    store: RunStore, made: Sequence[RunRecord], bounded: Bounded
) -> None:
    store.records.keep(made[:3], "honest")
    sweep = store.studies.submit(Study("greedy", "a grid"), SPECS[:2])
    store.marks.delete("greedy", [spec.hash for spec in SPECS])
    bounded(run_bytes_each=room_for(made, 0, 1))
    store.records.claim([SPECS[0].hash], "greedy")  # which the sweep keeps already
    store.marks.delete("greedy", [SPECS[0].hash])
    with pytest.raises(StoreError, match="Of one visitor"):
        store.records.claim([SPECS[2].hash], "greedy")
    store.studies.delete(sweep, "greedy")
    store.records.claim([SPECS[2].hash], "greedy")
    store.marks.star("greedy", [SPECS[2].hash])
    with pytest.raises(StoreError, match="Of one visitor"):
        store.studies.restore(sweep, "greedy")


def test_a_worker_ends_a_study_whose_visitor_has_no_room(
    store: RunStore, made: Sequence[RunRecord], bounded: Bounded, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(family_runner, "ROOM_SECONDS", 0.0)
    bounded(run_bytes_each=room_for(made, 0, 1))
    study = store.studies.submit(Study("greedy", "a grid", roots=(str(root),)), SPECS)
    family_runner.FamilyRunner(store).make(take_lease(store, "worker"))
    status = store.studies.status(study)
    assert 0 < status.done < len(SPECS)
    assert not status.live
    assert status.reason.startswith("Of one visitor at most")
    with store.database.reading() as connection:
        assert total_bytes(connection) < room_for(made, 0, 1, 2)


def test_a_store_of_an_earlier_release_gets_the_table_of_owners(
    address: str, made: Sequence[RunRecord], bounded: Bounded
) -> None:
    store = RunStore(address)
    store.records.keep(made[:1], "me")
    with store.database.writing() as connection:
        owners.drop(connection)
    store.close()
    again = RunStore(address)
    assert again.database.notice == ""
    assert again.database.check() == ""
    with again.database.writing() as connection:
        purge(connection)
        owners.drop(connection)
    bounded(run_bytes_address=room_for(made, 0, 1))
    for number in (0, 1):
        again.records.keep(made[number : number + 1], "me", "here")
        again.marks.star("me", [SPECS[number].hash])
    with pytest.raises(StoreError, match="From one network address"):
        again.records.keep(made[2:3], "you", "here")
    again.close()


def test_addresses_of_visitors_without_runs_are_forgotten(store: RunStore, made: Sequence[RunRecord]) -> None:
    store.records.keep(made[:1], "me", "here")
    store.records.keep(made[:1], "you", "here")
    with store.database.writing() as connection:
        connection.execute(marks.delete().where(marks.c.owner == "you"))
        purge(connection)
        assert connection.execute(owners.select()).all() == [("me", "here")]


def test_sweeps_need_room_too(
    store: RunStore, made: Sequence[RunRecord], bounded: Bounded, specs: list[RunSpec]
) -> None:
    store.records.keep(made, "somebody")
    bounded(run_bytes=1)
    with pytest.raises(StoreError, match="ask who runs the app for more room"):
        store.studies.submit(GRID, specs)
    assert store.studies.every() == []


def test_what_was_deleted_can_be_restored_for_a_while_and_goes_then(
    store: RunStore, made: Sequence[RunRecord], specs: list[RunSpec]
) -> None:
    store.records.keep(made[:2], "me")
    store.records.keep(made[1:3], "you")
    sweep = store.studies.submit(Study("me", "a grid"), SPECS[2:3])
    store.marks.delete("me", [spec.hash for spec in SPECS[:3]])
    store.studies.delete(sweep, "me")
    long_ago = time.time() - UNDO_SECONDS
    for days, left in ((1 / 24, [0, 1, 2]), (-1 / 24, [1, 2])):
        with store.database.writing() as connection:
            at = long_ago + days * DAY
            connection.execute(update(marks).where(marks.c.owner == "me").values(deleted=at))
            connection.execute(update(studies).values(deleted=at))
            purge(connection)
        assert there(store, made) == left
    assert store.studies.titles("me") == {}
    assert store.listing.deleted_by("me").index.tolist() == [SPECS[2].hash, SPECS[1].hash]


def test_a_run_that_is_being_made_is_not_purged(store: RunStore, specs: list[RunSpec]) -> None:
    study = store.studies.submit(GRID, specs[:1])
    take_lease(store, "w")
    with store.database.writing() as connection:
        connection.execute(marks.delete())
        assert purge(connection) == 0
    assert store.studies.status(study).left == 1


def test_what_is_kept_for_all_is_replaced_by_the_next(store: RunStore, made: Sequence[RunRecord]) -> None:
    keep_for_all(store, made[:2], "of one code")
    keep_for_all(store, made[1:3], "of the next")
    assert not kept_for_all(store, "of one code")
    assert kept_for_all(store, "of the next")
    with store.database.writing() as connection:
        assert purge(connection) == 1
    assert there(store, made) == [1, 2]
    assert store.listing.seen_by("me").empty
    assert store.studies.of("me") == []


def test_places_in_studies_count_and_deleted_sweeps_make_room(store: RunStore, bounded: Bounded) -> None:
    sweep = Study("greedy", "a grid", address="here")

    def held() -> int:
        with store.database.reading() as connection:
            return total_bytes(connection)

    first = store.studies.submit(sweep, SPECS)
    before = held()
    second = store.studies.submit(sweep, SPECS)
    place = held() - before - len("a grid{}")
    assert place == len(SPECS) * PLACE_BYTES
    for bound in ("run_bytes_each", "run_bytes_address"):
        bounded(**{bound: held() + place})
        with pytest.raises(StoreError, match=f"({bound})"):
            store.studies.submit(sweep, SPECS)
    store.studies.delete(first, "greedy")
    third = store.studies.submit(sweep, SPECS)
    assert store.studies.titles("greedy").keys() == {second, third}
    with pytest.raises(NoSuchStudy):
        store.studies.status(first)
    bounded(run_bytes=held() + place + len(SPECS) * ROW_BYTES)
    with pytest.raises(StoreError, match="runs are kept here"):
        store.studies.submit(sweep, SPECS)
    store.studies.delete(third, "greedy")
    store.studies.submit(Study("honest", "a grid"), SPECS)


def test_the_last_tenth_is_for_visitors_who_have_little(
    store: RunStore, made: Sequence[RunRecord], bounded: Bounded
) -> None:
    for owner, record in zip(("greedy", "hoarder"), made, strict=False):
        store.records.keep([record], owner, f"address of {owner}")
        store.marks.star(owner, [record.spec.hash])
    store.studies.submit(Study("greedy", "x" * 300_000), SPECS[:1])
    with store.database.reading() as connection:
        most = int(total_bytes(connection) / 0.91)
    bounded(run_bytes=most, run_bytes_each=int(0.9 * most), run_bytes_address=int(0.9 * most))
    for owner, address in (("greedy", ""), ("made up", "address of hoarder")):
        with pytest.raises(StoreError, match="the last tenth for those who have little"):
            store.records.keep(made[2:3], owner, address)
    with pytest.raises(StoreError, match="the last tenth"):
        store.studies.submit(Study("made up", "a grid", address="address of greedy"), SPECS[2:3])
    store.studies.submit(Study("honest", "a grid", address="elsewhere"), SPECS[2:3])


def test_sixty_addresses_do_not_fill_the_last_tenth(
    store: RunStore, made: Sequence[RunRecord], bounded: Bounded
) -> None:
    bounded(run_bytes=20_000_000, run_bytes_each=19_000_000, run_bytes_address=19_000_000)
    store.records.keep(made[:1], "many", "crowd")
    store.marks.star("many", [SPECS[0].hash])
    with store.database.writing() as connection:
        connection.execute(update(runs).values(size=18_000_000))
    for number in range(60):
        for size in (128_000, 64_000, 32_000, 16_000, 8_000, 4_000, 2_000):
            asked = Study(f"made up {number}", "x" * size, address=f"address {number}")
            with suppress(StoreError):
                store.studies.submit(asked, SPECS[2:3])
    store.studies.submit(Study("honest", "a grid", address="elsewhere"), SPECS[2:3])
    for write in (
        lambda: store.studies.submit(Study("at once", "x" * 20_000, address="another"), SPECS[2:3]),
        lambda: store.records.keep(made[3:], "at once", "another"),
    ):
        with pytest.raises(StoreError, match="the last tenth for those who have little"):
            write()
    with store.database.reading() as connection:
        assert total_bytes(connection) < 0.99 * 20_000_000


def test_a_visitor_and_an_address_share_a_bounded_number_of_runs(
    store: RunStore, made: Sequence[RunRecord], bounded: Bounded, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded(run_bytes_each=1 << 30, run_bytes_address=2 << 30)
    monkeypatch.setattr(room, "MOST_SHARED", {"run_bytes_each": 25, "run_bytes_address": 45})
    store.records.keep(made, "honest", "elsewhere")
    sweeps = [store.studies.submit(Study(o, "a", address="here"), SPECS[:2]) for o in ("a", "a", "b", "c")]
    store.studies.share(sweeps[0], "a", True)
    store.marks.share("a", [spec.hash for spec in SPECS[:2]])  # 20 + 2 + 2
    with pytest.raises(StoreError, match="Of one visitor at most 25 runs may be shared"):
        store.studies.share(sweeps[1], "a", True)
    assert store.studies.of("honest")[0].id == sweeps[0]
    store.studies.delete(sweeps[0], "a")
    with pytest.raises(StoreError, match="Of one visitor"):  # it could be restored
        store.studies.share(sweeps[1], "a", True)
    store.marks.share("b", [SPECS[0].hash])
    with pytest.raises(StoreError, match="From one network address at most 45 runs may be shared"):
        store.studies.share(sweeps[2], "b", True)
    store.marks.share("honest", [spec.hash for spec in SPECS])
    store.studies.share(sweeps[1], "a", False)
