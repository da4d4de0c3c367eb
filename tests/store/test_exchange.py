"""Test imported runs: only their owner sees them, they replace no own run, and false files are refused."""

import io
import json
import sqlite3
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest_store import BOTH, save_all, take_lease
from sqlalchemy import event, func, select, update

from rankviz import RunRecord, RunSpec
from rankviz.common.errors import DataError, SettingError
from rankviz.metrics.evaluation import COLUMNS
from rankviz.runs.record import LONGEST_DESCRIPTION, PARTS
from rankviz.store import RunStore, StoreError, Study
from rankviz.store import exchange as exchange_module
from rankviz.store.exchange import LIST, export_runs, import_runs
from rankviz.store.records import MOST_TAGS, NOTE_LENGTH, TAG_LENGTH
from rankviz.store.room import MARK_BYTES, ROW_BYTES, make_room, purge, remove_runs, total_bytes
from rankviz.store.study import DONE, IMPORTED, QUEUED
from rankviz.store.tables import marks, records, runs, tags

Made = dict[RunSpec, RunRecord]


def file_of(folder: Path, found: Sequence[RunRecord | tuple[RunSpec, bytes]], **about: Any) -> Path:
    """A file of runs, written by hand: of records, or of bytes that are said to be one."""
    path = folder / "crafted.rankviz"
    contents = [(one.spec, one.to_bytes()) if isinstance(one, RunRecord) else one for one in found]
    listed = [{"digest": spec.hash, "star": False, "note": "", "tags": []} | about for spec, _ in contents]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(LIST, json.dumps({"format": 1, "runs": listed}))
        for spec, content in contents:
            archive.writestr(f"{spec.hash}.npz", content)
    return path


def forged(record: RunRecord, value: float = 0.999) -> RunRecord:
    """A record that claims this value of every metric and query."""
    tables = {part: table * 0 + value for part, table in record.metrics.items()}
    return replace(record, metrics=tables)


@pytest.fixture
def lie(store: RunStore, made: Made, tmp_path: Path) -> RunSpec:
    """A spec of which "me" has imported a record that no run gave."""
    record = next(iter(made.values()))
    assert import_runs(store, file_of(tmp_path, [forged(record)]), "me") == 1
    return record.spec


def counts(store: RunStore) -> list[int]:
    with store.database.reading() as connection:
        tables = (runs, records, marks, tags)
        return [connection.execute(select(func.count()).select_from(one)).scalar_one() for one in tables]


@BOTH
def test_an_imported_run_stands_for_no_run(store: RunStore, lie: RunSpec) -> None:
    assert store.records.find([lie]) == {}
    assert store.records.made([lie.hash]) == set()
    with pytest.raises(KeyError):
        store.records.content(lie.hash)


@BOTH
def test_nobody_else_sees_it(store: RunStore, lie: RunSpec) -> None:
    (digest,) = store.listing.seen_by("me").index
    store.marks.share("me", [digest])
    store.records.claim([digest, lie.hash], "you")
    for asked in ([digest], [lie.hash]):
        assert store.listing.seen_among(asked, "you") == {}
    assert store.listing.seen_by("you").empty
    assert not store.listing.seen_by("me")["shared"].any()
    with store.database.writing() as connection:  # even if somebody had managed to share it
        connection.execute(update(marks).values(shared=True))
    assert store.listing.seen_by("you").empty


@pytest.mark.parametrize("owner", ["you", "me"])
def test_it_never_fills_a_study(store: RunStore, lie: RunSpec, made: Made, owner: str) -> None:
    study = store.studies.submit(Study(owner, "a grid"), list(made))
    assert store.studies.status(study).counts == {QUEUED: len(made)}
    for _ in range(2):
        save_all(store, take_lease(store, "w"), made)
    table = store.listing.of_study(study, owner)
    assert set(table["state"]) == {DONE}
    expected = made[lie].metrics["vali"]["NDCG@10"].mean()
    assert table.loc[lie.hash, "vali:NDCG@10"] == pytest.approx(expected)
    (imported,) = store.listing.seen_by("me").query("state == @IMPORTED").index
    store.studies.pin(study, owner, str(imported))
    assert store.studies.status(study).baseline == ""


def test_a_job_is_not_done_by_it(store: RunStore, lie: RunSpec, made: Made) -> None:
    study = store.studies.submit(Study("me", "a job", "job", background=False), [lie])
    assert take_lease(store, "w").specs == (lie,)
    assert store.records.save(made[lie])
    assert store.studies.status(study).done == 1


def test_it_is_called_imported_and_has_its_own_figures(store: RunStore, lie: RunSpec, made: Made) -> None:
    store.records.keep([made[lie]], "me")
    table = store.listing.seen_by("me")
    assert list(table["state"]) == [DONE, IMPORTED]
    assert table["vali:MAP"].round(6).tolist() == [round(made[lie].metrics["vali"]["MAP"].mean(), 6), 0.999]
    (record,) = store.records.find([lie]).values()
    np.testing.assert_array_equal(record.metrics["vali"], made[lie].metrics["vali"])
    digest = str(table.index[1])
    assert store.imports.opened(digest).metrics["vali"]["MAP"].mean() == pytest.approx(0.999)
    for other in (lie.hash, "0" * 16):
        with pytest.raises(KeyError):
            store.imports.opened(other)


# --- training again: the run made here is compared with what was imported -----------------------------------


@BOTH
def test_figures_that_agree_are_replaced_by_the_run_made_here(
    store: RunStore, made: Made, tmp_path: Path
) -> None:
    record = next(iter(made.values()))
    near = replace(record, metrics={p: (t - 5e-4).clip(0.0) for p, t in record.metrics.items()})
    import_runs(store, file_of(tmp_path, [near], star=True, note="theirs", tags=["a"]), "me")
    assert store.imports.compare("me") == []
    store.records.keep([record], "you")
    assert store.imports.compare("me") == [], "what others have had made is not looked at"
    store.records.keep([record], "me")
    (verdict,) = store.imports.compare("me")
    assert (verdict.digest, verdict.agrees) == (record.spec.hash, True)
    assert "takes its place" in verdict.sentence
    table = store.listing.seen_by("me")
    assert list(table.index) == [record.spec.hash]
    row = table.iloc[0]
    assert (row["state"], row["star"], row["note"], row["tags"]) == (DONE, True, "theirs", ("a",))
    assert store.listing.seen_by("you").iloc[0]["note"] == ""
    assert row["vali:MAP"] == pytest.approx(record.metrics["vali"]["MAP"].mean())
    assert store.imports.compare("me") == []


def test_figures_that_do_not_agree_are_told(store: RunStore, lie: RunSpec, made: Made) -> None:
    store.records.keep([made[lie]], "me")
    (verdict,) = store.imports.compare("me")
    assert not verdict.agrees
    assert "0.9990" in verdict.sentence
    table = store.listing.seen_by("me")
    assert list(table["state"]) == [DONE, IMPORTED]
    assert table["reason"].iloc[1].startswith("The run made here has ")
    assert store.imports.compare("me") == [], "it is told once"


def test_one_metric_is_enough_to_disagree(store: RunStore, made: Made, tmp_path: Path) -> None:
    record = next(iter(made.values()))
    tables = {part: table.copy() for part, table in record.metrics.items()}
    tables["test"]["NDCG@5"] = (tables["test"]["NDCG@5"] - 0.4).abs()
    import_runs(store, file_of(tmp_path, [replace(record, metrics=tables)]), "me")
    store.records.keep([record], "me")
    (verdict,) = store.imports.compare("me")
    assert "test NDCG@5" in verdict.sentence
    tables["vali"]["MAP"] = (tables["vali"]["MAP"] - 0.1).abs()
    import_runs(store, file_of(tmp_path, [replace(record, metrics=tables)]), "me")
    (verdict,) = store.imports.compare("me")
    assert "validation MAP" in verdict.sentence, "of the test part nothing is told where that is enough"


def test_a_run_may_be_imported_where_it_was_made(
    store: RunStore, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others can write between two portions of the comparison."""
    monkeypatch.setattr(exchange_module, "AT_ONCE", 2)
    store.records.keep(made.values(), "me")
    export_runs(store, [spec.hash for spec in made], "me", tmp_path / "all.rankviz")
    assert import_runs(store, tmp_path / "all.rankviz", "me") == len(made)
    assert all(verdict.agrees for verdict in store.imports.compare("me"))
    assert set(store.listing.seen_by("me").index) == {spec.hash for spec in made}


def test_equal_exports_are_equal_files(
    store: RunStore, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server keeps equal files once."""
    store.records.keep(made.values(), "me")
    contents = set()
    for year in (2025, 2026):
        now = (year, 1, 1, 0, 0, 0, 0, 1, 0)
        monkeypatch.setattr(zipfile.time, "localtime", lambda *_, now=now: now)  # type: ignore[attr-defined]
        export_runs(store, [spec.hash for spec in made], "me", tmp_path / "all.rankviz")
        contents.add((tmp_path / "all.rankviz").read_bytes())
    assert len(contents) == 1


def test_a_file_keeps_the_mark(store: RunStore, lie: RunSpec, made: Made, tmp_path: Path) -> None:
    (digest,) = store.listing.seen_by("me").index
    assert export_runs(store, [str(digest)], "me", tmp_path / "again.rankviz") == 1
    with zipfile.ZipFile(tmp_path / "again.rankviz") as archive:
        (about,) = json.loads(archive.read(LIST))["runs"]
    assert (about["digest"], about["imported"]) == (lie.hash, True)
    assert import_runs(store, tmp_path / "again.rankviz", "you") == 1
    assert set(store.listing.seen_by("you")["state"]) == {IMPORTED}
    store.records.keep([made[lie]], "me")
    assert export_runs(store, [str(digest), lie.hash], "me", tmp_path / "both.rankviz") == 1
    with zipfile.ZipFile(tmp_path / "both.rankviz") as archive:
        assert "imported" not in json.loads(archive.read(LIST))["runs"][0]
        content = archive.read(f"{lie.hash}.npz")
    assert content == made[lie].to_bytes()


# --- what cannot be true is refused -----------------------------------------------------------------------


def arrays_changed(record: RunRecord, **changes: Any) -> bytes:
    """The bytes of a record with other arrays: beside `meta`, each as a function of what was there."""
    with np.load(io.BytesIO(record.to_bytes())) as stored:
        arrays = {name: stored[name] for name in stored.files}
    for name, change in changes.items():
        arrays[name] = change(arrays.get(name))
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def meta_changed(**changes: Any) -> Callable[[RunRecord], bytes]:
    def changed(record: RunRecord) -> bytes:
        def meta(array: Any) -> Any:
            text = json.dumps(json.loads(array.tobytes()) | changes)
            return np.frombuffer(text.encode(), np.uint8)

        return arrays_changed(record, meta=meta)

    return changed


def changed(**changes: Any) -> Callable[[RunRecord], bytes]:
    return lambda record: arrays_changed(record, **changes)


def with_value(value: float) -> Callable[[Any], Any]:
    def put(array: Any) -> Any:
        other = array.copy()
        other.flat[0] = value
        return other

    return put


LIES = {
    "a metric of 1e300": changed(metrics_vali=with_value(1e300)),
    "a metric below 0": changed(metrics_test=with_value(-0.1)),
    "a metric that is no number": changed(metrics_vali=with_value(np.nan)),
    "metrics as text": changed(metrics_vali=lambda a: a.astype(str)),
    "a query twice": changed(queries_vali=lambda a: np.full_like(a, a[0])),
    "fewer queries than rows": changed(queries_vali=lambda a: a[:-1]),
    "queries as numbers with fractions": changed(queries_vali=lambda a: a + 0.5),
    "three scores": changed(scores_vali=lambda a: a[:3]),
    "scores that are no numbers": changed(scores_test=with_value(np.nan)),
    "scores in a table": changed(scores_vali=lambda a: a[:, None]),
    "scores as text": changed(scores_vali=lambda a: a.astype(str)),
    "weights of other features": changed(weights=lambda a: a[:-1]),
    "weights without end": changed(weights=with_value(np.inf)),
    "a trace with a column less": changed(trace=lambda a: a[:, 1:]),
    "a trace as text": changed(trace=lambda a: a.astype(str)),
    "a trace of columns called alike": meta_changed(trace=["iteration"] * 12),
    "a trace of columns without names": meta_changed(trace=list(range(12))),
    "iterations that fall": changed(trace=with_value(99.0)),
    "another array": changed(stranger=lambda _: np.zeros(3)),
    "a solution as text": changed(solution_x=lambda _: np.array(["x"])),
    "seconds below 0": meta_changed(seconds={"newton": -1.0}),
    "seconds as text": meta_changed(seconds={"newton": "1"}),
    "seconds without end": meta_changed(seconds={"newton": float("inf")}),
    "seconds that a store takes for damage": meta_changed(seconds={"newton": 1e12}),
    "memory beyond floats": meta_changed(peak_memory=10**400),
    "seconds as a list": meta_changed(seconds=[1.0]),
    "memory below 0": meta_changed(peak_memory=-1.0),
    "memory as text": meta_changed(peak_memory="12"),
    "an objective as text": meta_changed(objective="12"),
    "an objective without end": meta_changed(objective=float("inf")),
    "an objective beyond floats": meta_changed(objective=10**400),
    "features as text": meta_changed(n_components="10"),
    "more pairs than there are": meta_changed(n_pairs=10**9),
    "pairs below 0": meta_changed(n_pairs=-1),
    "true for a number": meta_changed(n_pairs=True),
    "a status that cannot be shown": meta_changed(status="\ud800"),
    "metrics of other names": meta_changed(
        columns={part: [str(k) for k in range(len(COLUMNS))] for part in PARTS}
    ),
    "a status as a number": meta_changed(status=3),
    "a status of a megabyte": meta_changed(status="x" * 10**6),
    "a version as a number": meta_changed(versions={"numpy": 2}),
    "a part that there is not": lambda record: replace(
        record,
        metrics=record.metrics | {"more": record.metrics["vali"]},
        scores=record.scores | {"more": record.scores["vali"]},
    ).to_bytes(),
    "a part less": lambda record: replace(
        record, metrics={"train": record.metrics["train"], "vali": record.metrics["vali"]}
    ).to_bytes(),
}


@pytest.mark.parametrize("name", LIES)
def test_what_no_run_gives_is_refused(name: str, store: RunStore, made: Made, tmp_path: Path) -> None:
    first, second, *_ = made.values()
    path = file_of(tmp_path, [first, (second.spec, LIES[name](second))])
    with pytest.raises(DataError, match=r"not a readable (run record|file of runs)"):
        import_runs(store, path, "me")
    assert counts(store) == [0, 0, 0, 0], "of that file nothing is kept"


def test_scores_are_of_the_documents_that_there_are(store: RunStore, made: Made, tmp_path: Path) -> None:
    """A record may fit together and yet be of other data than it says: runs of these data tell."""
    first, second, *_ = made.values()
    store.records.keep([first], "you")
    lies = [
        replace(second, scores=second.scores | {"vali": second.scores["vali"][:-1]}),
        replace(
            second, scores=second.scores | {"vali": second.scores["vali"][: len(second.metrics["vali"])]}
        ),
        replace(second, metrics=second.metrics | {"vali": second.metrics["vali"].rename(lambda q: q + 1000)}),
    ]
    for lie in lies:
        with pytest.raises(DataError, match=r"scores of vali|other queries"):
            import_runs(store, file_of(tmp_path, [lie]), "me")
    other = replace(first, spec=first.spec.but(digest="0" * 32))
    with pytest.raises(DataError, match="scores of vali"):  # runs of one file, too
        import_runs(store, file_of(tmp_path, [other, replace(lies[0], spec=other.spec.but(C=8.0))]), "me")
    assert store.listing.seen_by("me").empty


def test_a_run_is_listed_under_its_own_digest(store: RunStore, made: Made, tmp_path: Path) -> None:
    first, second, *_ = made.values()
    with pytest.raises(DataError, match="is another run"):
        import_runs(store, file_of(tmp_path, [(second.spec, first.to_bytes())]), "me")
    assert counts(store) == [0, 0, 0, 0]


def test_a_small_file_that_unpacks_to_more_is_refused(store: RunStore, made: Made, tmp_path: Path) -> None:
    record = next(iter(made.values()))
    path = file_of(tmp_path, [record])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(10_000_000))
    with pytest.raises(DataError, match="it claims"):
        import_runs(store, path, "me")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions_whose_blocks_have_no_bound_are_refused(
    method: int, store: RunStore, made: Made, tmp_path: Path
) -> None:
    """1.5 kB of bzip2 unpack to 2 GB, whatever size the directory claims."""
    record = next(iter(made.values()))
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", method) as archive:
        archive.writestr("meta.npy", bytes(100))
    path = file_of(tmp_path, [(record.spec, inner.getvalue())])
    with pytest.raises(DataError, match=r"'meta\.npy' has another compression than deflate"):
        import_runs(store, path, "me")
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("runs.json", "{}")
    with pytest.raises(DataError, match=r"'runs\.json' has another compression than deflate"):
        import_runs(store, path, "me")


def test_a_long_list_or_description_is_not_parsed(
    store: RunStore, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JSON takes 25 times its size, and no other thread runs meanwhile."""
    record = next(iter(made.values()))
    long_list = file_of(tmp_path, [record], tags=[[]] * (exchange_module.MAX_LIST_BYTES // 4))
    with pytest.raises(DataError, match=r"its list of runs has 4,\d+,\d+ bytes.*Export fewer runs"):
        import_runs(store, long_list, "me")
    content = meta_changed(x=[[]] * (LONGEST_DESCRIPTION // 4))(record)
    with pytest.raises(DataError, match=r"its description has 26\d,\d+ bytes, of at most 262,144"):
        import_runs(store, file_of(tmp_path, [(record.spec, content)]), "me")
    store.records.keep([record], "me")
    monkeypatch.setattr(exchange_module, "MAX_LIST_BYTES", 50)  # what is not read is not written
    with pytest.raises(DataError, match="Export fewer runs"):
        export_runs(store, [record.spec.hash], "me", tmp_path / "mine")


def test_a_zip_directory_of_many_entries_is_not_read(
    store: RunStore, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = next(iter(made.values()))
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as archive:
        for k in range(3000):
            archive.writestr(f"{k:0100}", b"")
    path = file_of(tmp_path, [(record.spec, many.getvalue())])
    with pytest.raises(DataError, match=r"not a readable run record \(its directory has 3,000 entries"):
        import_runs(store, path, "me")
    path.write_bytes(many.getvalue())
    monkeypatch.setattr(exchange_module, "MOST_RUNS", 1000)
    with pytest.raises(DataError, match=r"not a readable file of runs \(its directory has 3,000 entries"):
        import_runs(store, path, "me")


@pytest.mark.parametrize("wrong", [0, 1])
def test_an_archive_in_the_zip64_format_is_read_if_whole(
    wrong: int, store: RunStore, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exports beyond 2 GB have that format."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    path = file_of(tmp_path, [next(iter(made.values()))])
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\x06\x07") + 8] ^= wrong
    path.write_bytes(content)
    if not wrong:
        assert import_runs(store, path, "me") == 1
        return
    with pytest.raises(DataError, match="zip64 directory is missing"):
        import_runs(store, path, "me")


# --- a whole file, or nothing of it ----------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("reading", [2, 3])
def test_an_error_in_the_last_run_leaves_nothing(
    store: RunStore, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reading: int
) -> None:
    """Whatever goes wrong while runs are written: of 60 runs none stays."""
    monkeypatch.setattr(exchange_module, "AT_ONCE", 20)
    record = next(iter(made.values()))
    many = [replace(record, spec=record.spec.but(C=2.0**-k)) for k in range(60)]
    path, before = file_of(tmp_path, many, tags=["a"], star=True), counts(store)
    asked, read = list[str](), zipfile.ZipFile.read

    def failing(self: zipfile.ZipFile, name: Any, *rest: Any) -> bytes:
        asked.append(str(name))
        if asked.count(str(name)) == reading and name == f"{many[55].spec.hash}.npz":
            raise zipfile.BadZipFile("the disk has gone")
        return read(self, name, *rest)

    monkeypatch.setattr(exchange_module.zipfile.ZipFile, "read", failing)
    with pytest.raises(DataError, match="the disk has gone"):
        import_runs(store, path, "me")
    assert counts(store) == before
    monkeypatch.undo()
    assert import_runs(store, path, "me") == 60
    assert counts(store) == [60, 60, 60, 60]


def test_others_write_while_an_import_reads_and_see_nothing_of_it(
    store: RunStore, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = next(iter(made.values()))
    many = [replace(record, spec=record.spec.but(C=2.0**-k)) for k in range(60)]
    path, read = file_of(tmp_path, many, tags=["a"], star=True, note="said"), zipfile.ZipFile.read
    other, seen, statements = RunStore(store.database.file), set[int](), list[str]()
    event.listen(store.database.engine, "before_cursor_execute", lambda *about: statements.append(about[2]))

    def meanwhile(self: zipfile.ZipFile, name: Any, *rest: Any) -> bytes:
        with closing(sqlite3.connect(store.database.file, timeout=0.0)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        seen.add(len(other.listing.seen_by("me")))
        return read(self, name, *rest)

    monkeypatch.setattr(exchange_module, "AT_ONCE", 20)
    monkeypatch.setattr(exchange_module.zipfile.ZipFile, "read", meanwhile)
    assert import_runs(store, path, "me") == 60
    assert seen == {0}
    assert len(statements) < 150, "few for all runs together"
    found = other.listing.seen_by("me")
    assert len(found) == found["star"].sum() == (found["note"] == "said").sum() == 60
    other.close()


@BOTH
def test_marks_that_cannot_be_kept_leave_nothing(store: RunStore, made: Made, tmp_path: Path) -> None:
    record = next(iter(made.values()))
    path = file_of(tmp_path, [record], tags=[f"tag {k}" for k in range(MOST_TAGS)])
    assert import_runs(store, path, "me") == 1
    before = counts(store)
    more = file_of(tmp_path, [*list(made.values())[1:], record], tags=["one more"], note="said")
    with pytest.raises(DataError, match=f"at most {MOST_TAGS} tags"):
        import_runs(store, more, "me")
    assert counts(store) == before
    assert store.listing.seen_by("me")["note"].tolist() == [""]


@pytest.mark.parametrize(
    ("about", "why"),
    [
        ({"note": "x" * (NOTE_LENGTH + 1)}, "a note has at most 2,000 characters"),
        ({"note": "x" * (3 << 20)}, "a note has at most 2,000 characters, not 3,145,728"),
        ({"tags": [f"tag {k}" for k in range(20_000)]}, "at most 50 tags, not 20,000"),
        ({"tags": ["x" * (TAG_LENGTH + 1)]}, "a tag has from 1 to 80 characters"),
        ({"tags": [" "]}, "a tag has from 1 to 80 characters"),
        ({"tags": "tag"}, "wrong type"),
        ({"tags": [1]}, "wrong type"),
        ({"note": 5}, "wrong type"),
        ({"star": "yes"}, "wrong type"),
        ({"note": "\ud800"}, "half of a surrogate pair"),
        ({"tags": ["\udfff"]}, "half of a surrogate pair"),
    ],
)
def test_marks_of_a_file_keep_the_bounds_of_the_forms(
    about: dict[str, Any], why: str, store: RunStore, made: Made, tmp_path: Path
) -> None:
    path = file_of(tmp_path, [next(iter(made.values()))], **about)
    with pytest.raises(DataError, match=why):
        import_runs(store, path, "me")
    assert counts(store) == [0, 0, 0, 0]


def test_forms_keep_the_same_bounds(store: RunStore, made: Made) -> None:
    first, *_ = [spec.hash for spec in made]
    store.records.keep(made.values(), "me")
    with pytest.raises(SettingError, match="a note has at most"):
        store.marks.note("me", [first], "x" * (NOTE_LENGTH + 1))
    store.marks.note("me", [first], "x" * NOTE_LENGTH)
    for k in range(MOST_TAGS):
        store.marks.tag("me", [first], f"tag {k}")
    with pytest.raises(SettingError, match=f"at most {MOST_TAGS} tags"):
        store.marks.tag("me", [first], "one more")
    store.marks.tag("me", [first], "tag 0")


def test_a_file_that_lists_too_many_or_a_run_twice_is_refused(
    store: RunStore, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = list(made.values())
    monkeypatch.setattr(exchange_module, "MOST_RUNS", 2)
    with pytest.raises(DataError, match="directory has 7 entries, of at most 3"):
        import_runs(store, file_of(tmp_path, found), "me")
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = file_of(tmp_path, [found[0], found[0]])
    with pytest.raises(DataError, match="a run twice"):
        import_runs(store, path, "me")


# --- room, deleting, retention ---------------------------------------------------------------------------


@BOTH
def test_imported_runs_take_room_and_make_room(
    store: RunStore, made: Made, tmp_path: Path, lie: RunSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.database.reading() as connection:
        size = total_bytes(connection)
    assert size == len(forged(made[lie]).to_bytes()) + ROW_BYTES + MARK_BYTES
    bounds = tmp_path / "bounds.toml"
    bounds.write_text(f"run_bytes = {11 * size // 5}\n")
    monkeypatch.setenv("RANKVIZ_BOUNDS", str(bounds))
    old = update(runs).values(ended=0.0)
    with store.database.writing() as connection:
        connection.execute(old)
    assert import_runs(store, file_of(tmp_path, list(made.values())[1:2]), "you") == 1
    assert store.listing.seen_by("me").empty, "an old run makes room, imported or not"


@BOTH
def test_files_of_runs_never_take_the_room_of_runs_made_here(
    store: RunStore, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, mine, *_ = made.values()
    size = len(record.to_bytes()) + ROW_BYTES
    bounds = tmp_path / "bounds.toml"
    bounds.write_text(f"run_bytes = {10 * size}\n")
    monkeypatch.setenv("RANKVIZ_BOUNDS", str(bounds))
    for k in range(4):
        one = replace(record, spec=record.spec.but(C=2.0**-k))
        assert import_runs(store, file_of(tmp_path, [one], star=True), f"made up {k}") == 1
    for k in range(4, 12):
        one = replace(record, spec=record.spec.but(C=2.0**-k))
        with pytest.raises(StoreError, match="of imported runs are kept here"):
            import_runs(store, file_of(tmp_path, [one], star=True), f"made up {k}")
    assert store.records.keep([mine], "me") == 1
    with store.database.writing() as connection:
        make_room(connection, "me", 2 * size)


@BOTH
def test_deleted_imported_runs_come_back_and_go_for_good(store: RunStore, lie: RunSpec, made: Made) -> None:
    (digest,) = store.listing.seen_by("me").index
    store.marks.delete("me", [str(digest)])
    assert store.listing.seen_by("me").empty
    store.marks.restore("me", [str(digest)])
    assert list(store.listing.seen_by("me").index) == [digest]
    store.marks.delete("me", [str(digest)])
    store.records.keep([made[lie]], "me")
    assert store.imports.compare("me") == []
    with store.database.writing() as connection:
        connection.execute(update(marks).where(marks.c.deleted.is_not(None)).values(deleted=0.0))
        assert purge(connection) == 1
    assert counts(store) == [1, 1, 1, 0]


@BOTH
def test_a_run_whose_number_another_one_had_is_listed_as_itself(
    store: RunStore, lie: RunSpec, made: Made
) -> None:
    """Ids of runs that were removed come again; what is kept of a run is kept by more than that."""
    assert store.listing.seen_by("me")["vali:MAP"].iloc[0] == pytest.approx(0.999)
    with store.database.writing() as connection:
        remove_runs(connection, connection.execute(select(runs.c.id)).scalars().all())
    other = list(made.values())[-1]
    store.records.keep([other], "me")
    row = store.listing.seen_by("me").iloc[0]
    assert row["vali:MAP"] == pytest.approx(other.metrics["vali"]["MAP"].mean())
    assert row["C"] == other.spec.C


@BOTH
def test_one_file_twice_is_one_run_and_another_record_is_another(
    store: RunStore, lie: RunSpec, made: Made, tmp_path: Path
) -> None:
    import_runs(store, file_of(tmp_path, [forged(made[lie])]), "me")
    assert len(store.listing.seen_by("me")) == 1
    import_runs(store, file_of(tmp_path, [forged(made[lie], 0.5)]), "me")
    assert sorted(store.listing.seen_by("me")["vali:MAP"].round(3)) == [0.5, 0.999]
    import_runs(store, file_of(tmp_path, [forged(made[lie])]), "you")
    assert len(store.listing.seen_by("you")) == 1
    assert pd.Index(store.listing.seen_by("you").index).isin(store.listing.seen_by("me").index).sum() == 0
