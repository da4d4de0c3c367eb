"""Tables of runs: read again whenever something was written, by whomever, and else not."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

import pytest
from conftest_jobs import wait_for
from conftest_store import BOTH, GRID, save_all, take_lease
from sqlalchemy import event

from rankviz import RunRecord, RunSpec
from rankviz.store import RunStore, StoreOutOfReach, listing
from rankviz.store.records import TRAINING
from rankviz.store.run_store import keep_for_all

pytestmark = BOTH


def test_a_table_is_read_again_where_anybody_has_written(
    store: RunStore, address: str, made: dict[RunSpec, RunRecord]
) -> None:
    first, second, third, *_ = [spec.hash for spec in made]
    store.records.keep(made.values(), "me")
    assert not store.listing.seen_by("me")["star"].any()
    store.marks.star("me", [first])
    assert store.listing.seen_by("me").loc[first, "star"]
    other = RunStore(address)
    other.marks.tag("me", [second], "lecture")
    assert store.listing.seen_by("me").loc[second, "tags"] == ("lecture",)
    other.marks.delete("me", [third])
    other.close()
    assert third not in store.listing.seen_by("me").index
    assert list(store.listing.deleted_by("me").index) == [third]


def test_runs_of_a_study_that_is_shared_are_seen_while_it_is(
    store: RunStore, specs: list[RunSpec], made: dict[RunSpec, RunRecord]
) -> None:
    study = store.studies.submit(GRID, specs)
    save_all(store, take_lease(store, "a worker"), made)
    digests = [spec.hash for spec in specs]
    for shared in (False, True, False):
        store.studies.share(study, "me", shared)
        assert set(store.listing.seen_by("you").index) == (set(digests) if shared else set())
        assert set(store.listing.seen_among(digests, "you")) == (set(digests) if shared else set())
    store.studies.share(study, "me", True)
    assert not store.listing.seen_by("you")["own"].any()
    store.studies.delete(study, "me")
    assert store.listing.seen_by("you").empty


def test_what_pages_ask_for_themselves_is_no_study_to_choose(
    store: RunStore, submit: Callable[..., str], nobody: None, made: dict[RunSpec, RunRecord]
) -> None:
    submit()
    keep_for_all(store, list(made.values()), "figures")
    for found in (store.studies.of("me"), store.studies.every(), store.studies.titles("me")):
        assert not found


def test_runs_that_are_made_get_their_metrics(
    store: RunStore, specs: list[RunSpec], made: dict[RunSpec, RunRecord]
) -> None:
    study = store.studies.submit(GRID, specs)
    assert "vali:MAP" not in store.listing.of_study(study, "me")
    save_all(store, take_lease(store, "a worker"), made)
    for table in (store.listing.of_study(study, "me"), store.listing.seen_by("me")):
        assert table["vali:MAP"].notna().tolist() == (table["state"] == "done").tolist()
        known = table["seconds"].dropna().sort_values().tolist()
        taken = [sum(one.seconds.get(stage, 0.0) for stage in TRAINING) for one in made.values()]
        assert 0 < min(known) <= max(known) <= max(taken)
        assert len(known) == 3


def test_a_table_that_nobody_changed_is_not_read_again(
    store: RunStore, made: dict[RunSpec, RunRecord]
) -> None:
    store.records.keep(made.values(), "me")
    before = store.listing.seen_by("me")
    asked: list[str] = []
    event.listen(store.database.engine, "before_cursor_execute", lambda *told: asked.append(told[2]))

    def read_again() -> bool:
        asked.clear()
        store.listing.seen_by("me")
        return any("FROM runs" in text for text in asked)

    wait_for(lambda: not read_again())  # PostgreSQL tells of what is written to any of its databases
    again = store.listing.seen_by("me")
    again["note"] = "of this caller alone"
    assert store.listing.seen_by("me").equals(before)
    store.marks.note("me", [before.index[0]], "new")
    assert store.listing.seen_by("me").loc[before.index[0], "note"] == "new"
    assert [text for text in asked if "FROM runs" in text]


def test_a_connection_that_broke_is_a_sentence_and_another_one_next_time(
    store: RunStore, made: dict[RunSpec, RunRecord]
) -> None:
    if store.database.file is None:
        pytest.skip("PostgreSQL is asked by any connection")
    with closing(sqlite3.connect(store.database.file)) as other:  # else the log goes, and all is opened anew
        other.execute("SELECT count(*) FROM studies").fetchone()
        before = store.database.state()
        store.database._watch.driver_connection.close()
        with pytest.raises(StoreOutOfReach):
            store.listing.seen_by("me")
    store.records.keep(made.values(), "me")
    assert len(store.listing.seen_by("me")) == len(made)
    assert store.database.state() != before


def test_every_table_is_kept_by_itself(store: RunStore, specs: list[RunSpec]) -> None:
    first, second = store.studies.submit(GRID, specs[:2]), store.studies.submit(GRID, specs[2:3])
    store.studies.share(first, "me", True)
    store.marks.star("me", [specs[0].hash])
    for _ in range(2):
        assert [len(store.listing.of_study(one, "me")) for one in (first, second)] == [2, 1]
        together = [store.listing.of_studies(some) for some in ([first], [second], [first, second])]
        assert list(map(len, together)) == [2, 1, 3]
        assert [len(store.listing.of_study(second, owner)) for owner in ("me", "you")] == [1, 0]
        stars = [store.listing.of_study(first, owner)["star"].any() for owner in ("me", "you")]
        assert stars == [True, False]
        assert [len(store.listing.seen_by(owner)) for owner in ("me", "you")] == [3, 2]


def test_few_rows_are_kept(
    store: RunStore, made: dict[RunSpec, RunRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.records.keep(made.values(), "me")
    for visitor in map(str, range(5)):
        store.records.keep(made.values(), visitor)
    monkeypatch.setattr(listing, "KEPT_ROWS", 2 * len(made))
    for visitor in map(str, range(5)):
        assert len(store.listing.seen_by(visitor)) == len(made)
    assert len(store.listing._latest) == 2
    monkeypatch.setattr(listing, "KEPT_ROWS", 2)
    store.records.keep(
        [replace(record, spec=spec.but(C=1024 * spec.C)) for spec, record in made.items()], "me"
    )
    assert len(store.listing.seen_by("me")) == 2 * len(made)
    assert len(store.listing._fixed) == 2
