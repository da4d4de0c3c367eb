"""Records in the store: kept whole, once, found by spec; studies and marks belong to visitors."""

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest_store import BOTH, GRID
from sqlalchemy import select, update

from rankviz import RunRecord, RunSpec
from rankviz.common.errors import DataError, SettingError
from rankviz.store import NoSuchStudy, NotYours, RunStore, Study
from rankviz.store.exchange import export_runs, import_runs
from rankviz.store.studies import MOST_RUNS
from rankviz.store.study import DONE, IMPORTED
from rankviz.store.tables import records, runs

pytestmark = BOTH


def test_a_record_comes_back_as_it_was_and_is_listed_with_its_means(
    store: RunStore, made: dict[RunSpec, RunRecord]
) -> None:
    store.records.keep(made.values(), "me")
    found = store.records.find(list(made))
    assert found.keys() == made.keys()
    for spec, record in made.items():
        np.testing.assert_array_equal(found[spec].weights, record.weights)
        np.testing.assert_array_equal(found[spec].scores["test"], record.scores["test"])
        assert found[spec].metrics["vali"].equals(record.metrics["vali"])
        assert found[spec].trace.equals(record.trace)
        row = store.listing.seen_by("me").loc[spec.hash]
        assert row["vali:NDCG@10"] == pytest.approx(record.metrics["vali"]["NDCG@10"].mean(), rel=1e-14)
        assert row["test:MAP"] == pytest.approx(record.metrics["test"]["MAP"].mean(), rel=1e-14)
        assert (row["C"], row["seed"], row["dataset"]) == (spec.C, spec.seed, "small")


def test_a_record_of_another_run_is_not_found_and_is_made_again(
    store: RunStore, made: dict[RunSpec, RunRecord]
) -> None:
    """Each is whole by its own checksums, but a disk may exchange them."""
    first, second, *_ = made
    store.records.keep([made[first], made[second]], "me")
    with store.database.writing() as connection:
        connection.execute(update(records).where(records.c.run == 1).values(content=made[second].to_bytes()))
    assert list(store.records.find([first, second])) == [second]
    assert store.records.keep([made[first]], "me") == 1
    assert list(store.records.find([first])) == [first]


def test_a_record_that_could_not_be_read_again_is_not_stored(
    store: RunStore, made: dict[RunSpec, RunRecord]
) -> None:
    """Extreme settings can give numbers beyond float64; such a run would seem done, and be made again."""
    first, second, *_ = made.values()
    extreme = replace(first, weights=np.full_like(first.weights, np.inf))
    assert store.records.keep([extreme, second], "me") == 1
    assert list(store.listing.seen_by("me").index) == [second.spec.hash]
    store.studies.submit(GRID, [first.spec])
    with pytest.raises(SettingError, match=r"weights are .* expected finite .* less extreme settings"):
        store.records.save(extreme)


def test_the_record_of_a_damaged_number_is_replaced(store: RunStore, made: dict[RunSpec, RunRecord]) -> None:
    """Its row would keep the record of the run that has that number now from being stored."""
    first, second, *_ = made
    store.records.keep([made[first]], "me")
    store.studies.submit(GRID, [second])
    with store.database.writing() as connection:
        number = connection.execute(select(runs.c.id).where(runs.c.digest == second.hash)).scalar()
        connection.execute(update(records).values(run=number))
    assert store.records.keep([made[second]], "me") == 1
    assert list(store.records.find([second])) == [second]


def test_a_record_that_cannot_be_read_is_as_good_as_none(
    store: RunStore, made: dict[RunSpec, RunRecord]
) -> None:
    store.records.keep(made.values(), "me")
    with store.database.writing() as connection:
        connection.execute(update(records).where(records.c.run == 1).values(content=b"nonsense"))
    assert len(store.records.find(list(made))) == len(made) - 1


def test_a_run_counts_as_made_only_with_a_record_that_can_be_read_and_data_that_are_known(
    store: RunStore, made: dict[RunSpec, RunRecord]
) -> None:
    first, second = list(made.values())[:2]
    assert store.records.keep([replace(first, spec=first.spec.but(digest="")), second], "me") == 1
    with store.database.writing() as connection:
        connection.execute(update(records).values(content=b"no record"))
    assert store.records.made([second.spec.hash]) == {second.spec.hash}
    assert not store.records.find([second.spec])
    assert not store.records.made([second.spec.hash])


def test_a_study_says_which_data_it_means(store: RunStore, specs: list[RunSpec]) -> None:
    with pytest.raises(SettingError, match="digest"):
        store.studies.submit(GRID, [specs[0].but(digest="")])
    with pytest.raises(SettingError, match=f"{MOST_RUNS:,}"):
        store.studies.submit(GRID, [])


def test_only_its_owner_changes_a_study(store: RunStore, specs: list[RunSpec]) -> None:
    study = store.studies.submit(GRID, specs)
    for change in (store.studies.stop, store.studies.pause, store.studies.resume, store.studies.delete):
        with pytest.raises(NotYours):
            change(study, "you")
    with pytest.raises(NotYours):
        store.studies.note(study, "you", "mine")
    with pytest.raises(NoSuchStudy):
        store.studies.status("0" * 32)


def test_unfinished_runs_are_counted_by_owner_and_address(store: RunStore, specs: list[RunSpec]) -> None:
    store.studies.submit(Study("me", "a job", kind="job", background=False), specs[:1])
    first = store.studies.submit(Study("me", "a grid", address="here"), specs)
    store.studies.submit(Study("you", "a grid"), specs[:2])
    assert sorted(store.studies.unfinished()) == [("me", "here", len(specs)), ("you", "", 2)]
    store.studies.stop(first, "me")
    assert store.studies.unfinished() == [("you", "", 2)]


def test_studies_are_seen_by_their_owner_unless_shared(store: RunStore, specs: list[RunSpec]) -> None:
    study = store.studies.submit(GRID, specs)
    assert [status.id for status in store.studies.of("me")] == [study]
    assert store.studies.of("you") == []
    assert store.listing.of_study(study, "you").empty
    store.studies.share(study, "me", True)
    assert [status.id for status in store.studies.of("you")] == [study]
    assert len(store.listing.of_study(study, "you")) == len(specs)
    store.studies.delete(study, "me")
    assert store.studies.of("me") == []
    assert store.listing.of_study(study, "you").empty
    store.studies.restore(study, "me")
    assert [status.id for status in store.studies.of("me")] == [study]


def test_a_study_keeps_note_design_and_baseline(store: RunStore, specs: list[RunSpec]) -> None:
    study = store.studies.submit(Study("me", "a grid", design={"axes": {"C": [1, 2]}}), specs)
    store.studies.note(study, "me", "for the lecture")
    store.studies.pin(study, "me", specs[2].hash)
    status = store.studies.status(study)
    assert (status.note, status.baseline) == ("for the lecture", specs[2].hash)
    assert status.study.design == {"axes": {"C": [1, 2]}}
    assert store.studies.specs(study) == specs


def test_runs_are_seen_by_those_they_were_made_for(store: RunStore, made: dict[RunSpec, RunRecord]) -> None:
    first, second, *_ = [spec.hash for spec in made]
    store.records.keep(made.values(), "me")
    assert store.listing.seen_by("you").empty
    store.marks.share("me", [first])
    assert list(store.listing.seen_by("you").index) == [first]
    assert not store.listing.seen_by("you")["own"].any()
    store.marks.share("you", [second])  # who does not have it
    assert list(store.listing.seen_by("you").index) == [first]
    store.marks.delete("me", [first, second])
    assert len(store.listing.seen_by("me")) == len(made) - 2
    assert set(store.listing.deleted_by("me").index) == {first, second}
    assert store.listing.seen_by("you").empty
    store.marks.restore("me", [second])
    assert set(store.listing.deleted_by("me").index) == {first}


def test_only_runs_that_a_visitor_may_see_are_opened(store: RunStore, made: dict[RunSpec, RunRecord]) -> None:
    first, second, *_ = made
    store.records.keep(made.values(), "me")
    asked = [second.hash, "0" * 16, first.hash]
    assert store.listing.seen_among(asked, "me") == {second.hash: (second, DONE), first.hash: (first, DONE)}
    assert list(store.listing.seen_among(asked, "me")) == [second.hash, first.hash]
    assert store.listing.seen_among(asked, "you") == {}
    store.marks.share("me", [first.hash])
    assert list(store.listing.seen_among(asked, "you")) == [first.hash]
    store.marks.delete("me", [first.hash])
    assert list(store.listing.seen_among(asked, "me")) == [second.hash]
    assert store.listing.seen_among(asked, "you") == {}


def test_what_a_visitor_says_of_runs_is_theirs(store: RunStore, made: dict[RunSpec, RunRecord]) -> None:
    first, second, *_ = [spec.hash for spec in made]
    store.records.keep(made.values(), "me")
    store.records.keep(made.values(), "you")
    store.marks.star("me", [first])
    store.marks.note("me", [first], "look again")
    store.marks.tag("me", [first, second], " lecture ")
    store.marks.tag("me", [first], "best")
    mine, yours = store.listing.seen_by("me").loc[first], store.listing.seen_by("you").loc[first]
    assert (mine["star"], mine["note"], mine["tags"]) == (True, "look again", ("best", "lecture"))
    assert (yours["star"], yours["note"], yours["tags"]) == (False, "", ())
    store.marks.untag("me", [first], "lecture")
    assert store.listing.seen_by("me").loc[first, "tags"] == ("best",)
    with pytest.raises(ValueError, match="80"):
        store.marks.tag("me", [first], " ")


def test_settings_that_a_run_does_not_have_are_none(store: RunStore, base: RunSpec) -> None:
    store.studies.submit(GRID, [base, base.linear(1.0)])
    table = store.listing.seen_by("me")
    assert table.loc[base.linear(1.0).hash, "gamma"] is None
    assert table.loc[base.hash, "gamma"] == base.gamma
    assert set(table["state"]) == {"queued"}


def test_runs_travel_as_one_file(store: RunStore, made: dict[RunSpec, RunRecord], tmp_path: Path) -> None:
    digests = [spec.hash for spec in made][:3]
    store.records.keep(made.values(), "me")
    store.marks.tag("me", digests[:1], "best")
    store.marks.note("me", digests[:1], "=1+1")
    store.marks.star("me", digests[:1])
    assert export_runs(store, digests, "me", tmp_path / "some.rankviz") == 3
    with pytest.raises(DataError, match="no finished run"):
        export_runs(store, digests, "you", tmp_path / "none.rankviz")
    other = RunStore(tmp_path / "other.sqlite")
    assert import_runs(other, tmp_path / "some.rankviz", "you") == 3
    table = other.listing.seen_by("you")
    assert not set(table.index) & set(digests)
    assert set(table["state"]) == {IMPORTED}
    (first,) = table[table["star"]].itertuples()
    assert (first.note, first.tags) == ("=1+1", ("best",))
    assert list(table["C"]) == [spec.C for spec in list(made)[:3]][::-1]
    assert import_runs(other, tmp_path / "some.rankviz", "you") == 3  # again: nothing is doubled
    assert len(other.listing.seen_by("you")) == 3
    other.close()


def test_a_file_that_has_a_record_under_the_digest_of_another_is_refused(
    store: RunStore, made: dict[RunSpec, RunRecord], tmp_path: Path
) -> None:
    first, second = list(made.values())[:2]
    nameless = replace(first, spec=first.spec.but(digest=""))
    for digest, record in ((second.spec.hash, first), (nameless.spec.hash, nameless)):
        listed = [{"digest": digest, "star": False, "note": "", "tags": []}]
        with zipfile.ZipFile(tmp_path / "some.rankviz", "w") as archive:
            archive.writestr("runs.json", json.dumps({"format": 1, "runs": listed}))
            archive.writestr(f"{digest}.npz", record.to_bytes())
        with pytest.raises(DataError, match=f"{digest}.npz is another run"):
            import_runs(store, tmp_path / "some.rankviz", "me")
    assert store.listing.seen_by("me").empty


def test_a_record_that_cannot_be_read_is_named_and_nothing_is_written(
    store: RunStore, made: dict[RunSpec, RunRecord], tmp_path: Path
) -> None:
    store.records.keep(made.values(), "me")
    digests = [spec.hash for spec in made]
    with store.database.writing() as connection:
        bad = select(runs.c.id).where(runs.c.digest == digests[1]).scalar_subquery()
        connection.execute(update(records).where(records.c.run == bad).values(content=b"no record"))
    with pytest.raises(DataError, match=f"the record of run {digests[1]} cannot be read"):
        export_runs(store, digests, "me", tmp_path / "some.rankviz")
    assert not (tmp_path / "some.rankviz").exists()
