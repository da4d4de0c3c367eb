"""Uploads: what is accepted becomes a data set of the visitor's, whole, and is theirs to remove."""

import gzip
import itertools
import os
import re
import threading
import time
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from conftest_uploads import DATA, FOLD, GOOD_ZIP, TEXTS, WHOLE, fold_at, send, text, zipped

from rankviz.datasets import DataError, find_datasets, open_fold
from rankviz.datasets.archives import Limits, Upload
from rankviz.datasets.parts import cyclic_fold
from rankviz.datasets.upload_folders import (
    KEEP_DAYS,
    STALE_SECONDS,
    record_address,
    record_visit,
    remove,
    remove_expired,
    uploads_folder,
    visitor_root,
)
from rankviz.datasets.uploads import MOST_GRADES, MOST_OF_QUERY, accept, keep_fold


def assert_same_fold(got, expected) -> None:
    for part in ("train", "vali", "test"):
        assert got.parts[part].digest == expected.parts[part].digest


@pytest.mark.parametrize(
    ("archive", "entries", "name"),
    [
        ("letor.zip", fold_at("OHSUMED/Fold1/"), "OHSUMED"),
        ("letor.zip", fold_at("./OHSUMED/Data/Fold1/"), "OHSUMED"),
        ("letor.zip", fold_at("letor/OHSUMED/QueryLevelNorm/Fold1/"), "QueryLevelNorm"),
        ("own data.zip", fold_at(""), "own-data"),
        ("own.ZIP", fold_at("Fold1/"), "own"),
        ("own.zip", fold_at("SET\\Fold1\\"), "SET"),
        ("own.zip", fold_at("SET/", **{"SET/README.txt": b"hello", "__MACOSX/._x": b"\0"}), "SET"),
        ("own.zip", fold_at("SET/", **{"SET/": b"", "SET/.DS_Store": b"\0"}), "SET"),
        ("train.zip", fold_at(""), "upload-train"),
    ],
)
def test_zip_archives(tmp_path, archive, entries, name):
    accepted = send(tmp_path / "root", (archive, zipped(entries)))
    datasets = find_datasets([tmp_path / "root"])
    assert list(datasets) == [name]
    assert accepted.folder == datasets[name].folder
    assert_same_fold(open_fold(datasets[name], 1), FOLD)


def counted(ending: str) -> dict[str, bytes]:
    """The fold's parts as rows without query ids, each with its group file."""
    files = {}
    for name, content in TEXTS.items():
        rows = [line.split() for line in content.splitlines()]
        files[f"SET/{name}"] = b"".join(b" ".join([grade, *rest]) + b"\n" for grade, _, *rest in rows)
        sizes = [len(list(group)) for _, group in itertools.groupby(query for _, query, *_ in rows)]
        files[f"SET/{name}{ending}"] = "".join(f"{size}\n" for size in sizes).encode()
    return files


@pytest.mark.parametrize("ending", [".query", ".group"])
def test_parts_with_group_files(tmp_path, ending):
    accepted = send(tmp_path, ("s.zip", zipped(counted(ending))))
    assert accepted.notes == ()
    fold = open_fold(find_datasets([tmp_path])["SET"], 1)
    for name, part in fold.parts.items():
        assert part.ptr.tolist() == FOLD.parts[name].ptr.tolist()
        assert part.X.tolist() == FOLD.parts[name].X.tolist()


def test_a_group_file_that_does_not_fit_is_named_as_it_was_sent(tmp_path):
    files = counted(".query") | {"SET/vali.txt.query": b"1\nx\n"}
    with pytest.raises(DataError, match="'x'") as caught:
        send(tmp_path, ("s.zip", zipped(files)))
    assert caught.value.path == "s.zip: SET/vali.txt (vali.txt.query)"
    assert not find_datasets([tmp_path])


def test_several_folds_and_what_was_left_out(tmp_path):
    entries = {f"S/Fold{k}/{name}": content for k in (1, 2) for name, content in TEXTS.items()}
    accepted = send(tmp_path, ("s.zip", zipped(entries | {"S/Large_null.txt": b"x"})))
    assert accepted.notes == (
        "2 folds: Fold1, Fold2.",
        "Their test parts share query 2 and 1 more.",
        "Left out: S/Large_null.txt.",
    )
    assert list(find_datasets([tmp_path])["S"].folds) == ["Fold1", "Fold2"]


def rotated() -> dict[str, bytes]:
    """Five folds as LETOR rotates them."""
    folds = {k: cyclic_fold(DATA, k).parts for k in range(1, 6)}
    return {f"S/Fold{k}/{name}.txt": text(part) for k, fold in folds.items() for name, part in fold.items()}


def test_five_folds_come_in_one_archive(tmp_path):
    accepted = send(tmp_path, ("s.zip", zipped(dict(reversed(rotated().items())))))
    assert accepted.notes == (
        "5 folds: Fold1, Fold2, Fold3, Fold4, Fold5.",
        "Their test parts share no query.",
    )
    found = find_datasets([tmp_path])["S"]
    assert list(found.folds) == ["Fold1", "Fold2", "Fold3", "Fold4", "Fold5"]
    for k in range(1, 6):
        assert_same_fold(open_fold(found, k), cyclic_fold(DATA, k))


def test_a_fold_with_other_features_is_asked_about(tmp_path):
    files = rotated()
    for part in ("train", "vali", "test"):
        files[f"S/Fold4/{part}.txt"] = re.sub(rb" 3:\S+", b"", files[f"S/Fold4/{part}.txt"])
    n = DATA.X.shape[1]
    assert n == 3
    notes = send(tmp_path, ("s.zip", zipped(files))).notes
    assert notes[-1] == "Fold4 has 2 features, other folds 3: is it the same data set?"


@pytest.mark.parametrize(
    ("name", "change", "found", "line"),
    [
        ("S/Fold3/vali.txt", lambda lines: [*lines[:3], b"1 qid:1 1:x", *lines[4:]], "1:x", 4),
        ("S/Fold5/test.txt", lambda _: None, "no test.txt in Fold5", None),
        ("S/Fold4/test.txt", lambda _: rotated()["S/Fold4/train.txt"].splitlines(), "also in", None),
        ("../Fold2/test.txt", lambda _: [b"1 qid:1 1:1"], "leads out of the archive", None),
    ],
)
def test_one_bad_file_of_five_folds_is_named_and_nothing_is_kept(tmp_path, name, change, found, line):
    files = rotated()
    lines = change(files.pop(name, b"").splitlines())
    files |= {} if lines is None else {name: b"\n".join(lines)}
    with pytest.raises(DataError, match=found) as caught:
        send(tmp_path, ("s.zip", zipped(files)))
    shown = "" if lines is None else f": {name}" if name.startswith("S/") else ": test.txt"
    assert (caught.value.path, caught.value.line) == (f"s.zip{shown}", line)
    assert not find_datasets([tmp_path])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "called"),
    [
        ("data.txt", WHOLE, "upload-data"),
        ("own.txt.gz", gzip.compress(WHOLE), "own"),
        ("own.txt", gzip.compress(WHOLE), "own"),
        ("train.txt", WHOLE, "upload-train"),
        ("no suffix", WHOLE, "no-suffix"),
        ("C:\\Users\\me\\own.txt", WHOLE, "own"),
        ("../../etc/own.txt", WHOLE, "own"),
        ("own.zip", zipped({"readme.md": b"#", "deep/in/queries.dat": WHOLE}), "queries"),
        ("own.zip", zipped({"queries.dat.gz": gzip.compress(WHOLE)}, zipfile.ZIP_STORED), "own"),
    ],
)
def test_single_files_are_split_by_query(tmp_path, name, content, called):
    accepted = send(tmp_path, (name, content))
    (found,) = find_datasets([tmp_path]).values()
    assert (found.name, found.folder) == (called, accepted.folder)
    assert any("seed 0" in note and "5 folds trains on 3 parts" in note for note in accepted.notes)
    for k in range(1, 6):
        assert_same_fold(open_fold(found, k), cyclic_fold(DATA, k))


def test_three_files_are_one_fold(tmp_path):
    files = [("Train.txt", TEXTS["train.txt"]), ("vali.txt.gz", gzip.compress(TEXTS["vali.txt"]))]
    send(tmp_path, *files, ("testset.dat", TEXTS["test.txt"]), name="Über mich/..")
    datasets = find_datasets([tmp_path])
    assert list(datasets) == ["Über-mich"]
    assert_same_fold(open_fold(datasets["Über-mich"]), FOLD)


def test_a_name_that_is_taken_gets_a_number(tmp_path):
    for _ in range(2):
        send(tmp_path, ("own.txt", WHOLE))
    send(tmp_path, ("own.zip", zipped(fold_at(""))))
    assert sorted(find_datasets([tmp_path])) == ["own", "own 2", "own 3"]


def test_notes_name_the_file_as_it_was_sent(tmp_path):
    lines = WHOLE.splitlines(keepends=True)
    accepted = send(tmp_path, ("own.txt", b"".join([*lines[1:], lines[0]])))
    assert accepted.notes[0].startswith(f"own.txt, line {len(lines)}: query 1 comes back")


def test_progress_never_goes_back(tmp_path):
    seen: list[float] = []
    entries = {f"S/Fold{k}/{name}": content for k in (1, 2) for name, content in TEXTS.items()}
    send(tmp_path, ("s.zip", zipped(entries)), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[0] >= 0
    assert seen[-1] == 1


def test_nothing_half_written_is_ever_found(tmp_path):
    """Data sets found while others are being uploaded are whole."""
    stop, broken = threading.Event(), []

    def look() -> None:
        while not stop.is_set():
            for dataset in find_datasets([tmp_path]).values():
                if list(dataset.folds["Fold1"]) != ["train", "vali", "test"]:
                    broken.append(dataset)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        for _ in range(10):
            send(tmp_path, ("own.zip", GOOD_ZIP))
    finally:
        stop.set()
        watcher.join()
    assert not broken
    assert len(find_datasets([tmp_path])) == 10


def test_remove_deletes_uploads_and_nothing_else(tmp_path):
    accepted = send(tmp_path / "mine", ("own.zip", GOOD_ZIP))
    other = send(tmp_path / "theirs", ("own.txt", WHOLE))
    for folder in (
        other.folder,
        tmp_path / "mine",
        accepted.folder / "Fold1",
        tmp_path / "mine" / ".." / "theirs",
    ):
        with pytest.raises(DataError, match="is not your upload"):
            remove(folder, tmp_path / "mine")
    remove(accepted.folder, tmp_path / "mine")
    assert list((tmp_path / "mine").iterdir()) == []
    assert other.folder.is_file()


def test_a_fold_made_here_is_kept_as_it_is(tmp_path):
    keep_fold(FOLD, tmp_path, "synthetic q10")
    (dataset,) = find_datasets([tmp_path]).values()
    assert dataset.name == "synthetic-q10"
    assert_same_fold(open_fold(dataset), FOLD)


def test_folders_of_visitors(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKVIZ_UPLOADS", str(tmp_path))
    one, two = visitor_root("a" * 32), visitor_root("../../b")
    assert uploads_folder() == tmp_path
    assert one != two
    for root in (one, two):
        assert root.parent.parent == tmp_path
    assert "a" * 32 not in str(one)
    assert one == visitor_root("a" * 32)
    assert one not in (visitor_root("a" * 31 + "b"), visitor_root("b" + "a" * 31))


def test_what_dead_processes_left_is_cleared_whoever_it_was_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKVIZ_UPLOADS", str(tmp_path))
    mine, theirs = visitor_root("mine"), visitor_root("theirs")
    dead, alive = theirs / ".0123.tmp", theirs / ".4567.tmp"
    for left in (dead, alive):
        left.mkdir(parents=True)
        (left / "all.txt").write_bytes(b"half")
    before = time.time() - STALE_SECONDS - 60
    os.utime(dead, (before, before))
    send(mine, ("own.txt", WHOLE))
    assert [path.name for path in theirs.iterdir()] == [alive.name]


def test_refused_uploads_of_made_up_visitors_leave_no_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKVIZ_UPLOADS", str(tmp_path))
    for visitor in ("made up 1", "made up 2"):
        root = visitor_root(visitor)
        record_address(root, "here")
        with pytest.raises(DataError):
            accept([Upload("a.txt", BytesIO(b"no data"))], root)
    assert remove_expired() == 0, "their visitor may try again"
    (root / ".writing.tmp").mkdir()
    assert remove_expired(time.time() + STALE_SECONDS + 10) == 1
    assert [root.parent] == list(tmp_path.glob("*/"))


def test_uploads_of_a_visitor_expire_a_month_after_their_last_visit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKVIZ_UPLOADS", str(tmp_path))
    roots = [visitor_root(name) for name in ("gone", "here", "never")]
    for root in roots[:2]:
        (root / "mine" / "Fold1").mkdir(parents=True)
    record_visit(roots[2])
    assert not roots[2].exists()
    day, now = 86400, time.time()
    os.utime(roots[0], (now - 31 * day, now - 31 * day))
    os.utime(roots[1], (now - 29 * day, now - 29 * day))
    assert KEEP_DAYS == 30
    assert remove_expired() == 1
    assert not roots[0].parent.exists()
    record_visit(roots[1])
    assert remove_expired(now + 29 * day) == 0
    assert remove_expired(now + 31 * day) == 1
    assert list(tmp_path.iterdir()) == []


def test_few_bytes_with_high_feature_numbers_are_refused_before_they_fill_the_memory(tmp_path):
    lines = b"".join(b"%d qid:%d 1:1 400:1\n" % (n % 2, n // 100) for n in range(40_000))
    with pytest.raises(DataError, match=r"16,000,000 entries") as caught:
        send(tmp_path, ("wide.txt", lines))
    most = Limits().cells_for(len(lines))
    assert f"at most {most:,} entries" in str(caught.value)
    assert most < 16_000_000 < Limits().cells_for(2 * len(lines))
    assert not any(tmp_path.iterdir())


def test_few_bytes_with_many_documents_are_refused(tmp_path):
    lines = b"".join(b"%d qid:%d 1:1\n" % (n % 2, n // 100) for n in range(3000))
    sent = gzip.compress(lines)
    limits = Limits(roomy_documents=3000 - len(sent))
    assert send(tmp_path, ("whole.txt.gz", sent), limits=limits).folder.exists()
    limits = Limits(roomy_documents=2999 - len(sent))
    with pytest.raises(DataError, match=r"3,000 documents.*at most 2,999"):
        send(tmp_path, ("packed.txt.gz", sent), limits=limits)
    assert [one.name for one in tmp_path.iterdir()] == ["whole.txt"]
    assert Limits().roomy_documents < 2**21


def test_few_bytes_with_very_many_grades_are_refused(tmp_path):
    """Counts by query and grade of 60,000 documents, each with its own grade, would take 14 GB."""
    lines = "".join(f"{grade} qid:{1 + grade // 2} 1:{grade}\n" for grade in range(MOST_GRADES + 1))
    with pytest.raises(DataError, match=r"own.txt: 257 different grades.* at most 256 .*few groups"):
        send(tmp_path / "root", ("own.txt", lines.encode()))
    assert not find_datasets([tmp_path / "root"])
    send(tmp_path / "root", ("own.txt", lines.replace("256 qid", "255 qid").encode()))


def test_a_query_of_very_many_documents_is_refused(tmp_path):
    """Pages compare its pairs: those of 30,000 documents, in 421 kB, took 14 GB of the server on What if."""
    lines = "".join(f"{place % 2} qid:7 1:{place}\n" for place in range(MOST_OF_QUERY + 1))
    others = "".join(f"{place % 2} qid:{place % 9 + 10} 1:1\n" for place in range(50))
    with pytest.raises(DataError, match=r"own.txt: query 7 has 3,001 documents.* at most 3,000 .*query ids"):
        send(tmp_path / "root", ("own.txt", (lines + others).encode()))
    assert not find_datasets([tmp_path / "root"])
    send(tmp_path / "root", ("own.txt", (lines.partition("\n")[2] + others).encode()))
