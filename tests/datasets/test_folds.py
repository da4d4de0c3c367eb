"""Data sets are found in every usual layout, and opened only from where they were found."""

import copy
import gzip
import os
import shutil
from dataclasses import replace

import numpy as np
import platformdirs
import pytest

from rankviz.datasets import (
    DataError,
    DataWarning,
    data_roots,
    find_datasets,
    load_fold,
    open_fold,
    write_letor,
)
from rankviz.datasets import make_data as made
from rankviz.datasets.folds import BUNDLED
from rankviz.datasets.parts import cyclic_fold, take_queries

PARTS = ("train", "vali", "test")
DATA = made(n_queries=15, documents_per_query=(2, 6), n_features=3, seed=1)


def write_fold(folder, names=("train.txt", "vali.txt", "test.txt"), number=1):
    folder.mkdir(parents=True, exist_ok=True)
    fold = cyclic_fold(DATA, number)
    for name, part in zip(names, fold.parts.values(), strict=True):
        write_letor(part, folder / name)
    return fold


def assert_same(got, expected):
    for part in PARTS:
        assert got.parts[part].digest == expected.parts[part].digest


@pytest.mark.parametrize(
    ("folder", "names", "found"),
    [
        ("OHSUMED/Fold1", ("train.txt", "vali.txt", "test.txt"), "OHSUMED"),
        ("OHSUMED/Data/Fold1", ("trainingset.txt", "validationset.txt", "testset.txt"), "OHSUMED"),
        ("OHSUMED/QueryLevelNorm/Fold1", ("Train.txt", "Vali.txt", "Test.txt"), "OHSUMED/QueryLevelNorm"),
        ("mslr/FOLD1", ("TRAIN.TXT", "VALI.TXT", "TEST.TXT"), "mslr"),
        ("zipped/fold_1", ("train.txt.gz", "valid.txt.gz", "test.txt.gz"), "zipped"),
        ("svm/fold 1", ("train_set.svm", "val.svm.gz", "test"), "svm"),
        ("flat", ("train.dat", "validation.dat", "test.dat"), "flat"),
    ],
)
def test_layouts(tmp_path, folder, names, found):
    expected = write_fold(tmp_path / folder, names)
    datasets = find_datasets([tmp_path])
    assert list(datasets) == [found]
    assert list(datasets[found].folds) == ["Fold1"]
    fold = open_fold(datasets[found], 1)
    assert_same(fold, expected)
    assert fold.name == f"{found} fold 1"
    assert [part.name for part in fold.parts.values()] == [f"{found} fold 1, {part}" for part in PARTS]
    assert_same(load_fold((tmp_path / folder).parent if "/" in folder else tmp_path / folder, 1), expected)


def test_folds_are_in_natural_order_and_named_in_any_way(tmp_path):
    for number in (10, 9, 1):
        write_fold(tmp_path / "SET" / f"Fold{number}", number=1 + number % 5)
    dataset = find_datasets([tmp_path])["SET"]
    assert list(dataset.folds) == ["Fold1", "Fold9", "Fold10"]
    digests = {open_fold(dataset, fold).digest for fold in (9, "9", "Fold9", "fold9", "FOLD_9")}
    assert len(digests) == 1
    assert load_fold(tmp_path / "SET" / "Fold9", 9).digest in digests
    assert load_fold(tmp_path / "SET" / "Fold9", 9).name == "SET fold 9"


def test_a_root_may_itself_be_a_data_set(tmp_path):
    write_fold(tmp_path / "OHSUMED" / "Fold2")
    assert list(find_datasets([tmp_path / "OHSUMED"])) == ["OHSUMED"]


def test_files_that_are_no_data_are_passed_over(tmp_path):
    write_fold(tmp_path / "SET" / "Fold1")
    (tmp_path / "README.txt").write_text("The data.\nLines look like: 0 qid:1 1:0.5\n")
    (tmp_path / "broken.txt.gz").write_bytes(b"\x1f\x8b not gzip")
    (tmp_path / "notes.md").write_text("0 qid:1 1:0.5\n")
    (tmp_path / ".hidden.txt").write_text("0 qid:1 1:0.5\n")
    (tmp_path / "empty").mkdir()
    assert list(find_datasets([tmp_path])) == ["SET"]


def test_unknown_fold_and_unknown_folder(tmp_path):
    write_fold(tmp_path / "SET" / "Fold1")
    for fold in (2, "Fold2", "../Fold1", "", "one"):
        with pytest.raises(DataError, match="Expected: one of Fold1"):
            load_fold(tmp_path / "SET", fold)
    with pytest.raises(DataError, match="no folder of this name"):
        load_fold(tmp_path / "NONE")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="a folder without folds"):
        load_fold(tmp_path / "empty")
    with pytest.raises(ValueError, match="no normalisation"):
        load_fold(tmp_path / "SET", normalisation="other")


def test_missing_parts_are_named(tmp_path):
    write_fold(tmp_path / "SET" / "Fold1")
    (tmp_path / "SET" / "Fold1" / "vali.txt").unlink()
    dataset = find_datasets([tmp_path])["SET"]
    with pytest.raises(DataError, match=r"no vali\.txt in Fold1 of SET") as caught:
        open_fold(dataset, 1)
    assert caught.value.path == str((tmp_path / "SET" / "Fold1").resolve())


def test_a_query_in_two_parts_is_refused(tmp_path):
    write_fold(tmp_path / "SET" / "Fold1")
    shutil.copy(tmp_path / "SET" / "Fold1" / "test.txt", tmp_path / "SET" / "Fold1" / "vali.txt")
    with pytest.raises(DataError, match=r"query \d+ and 2 more are also in SET fold 1, vali"):
        load_fold(tmp_path / "SET")


def test_narrower_parts_are_padded_with_a_warning(tmp_path):
    write_fold(tmp_path / "SET" / "Fold1")
    narrow = replace(cyclic_fold(DATA, 1).vali, X=DATA.X[: cyclic_fold(DATA, 1).vali.n_documents, :1])
    write_letor(narrow, tmp_path / "SET" / "Fold1" / "vali.txt")
    with pytest.warns(DataWarning, match=r"SET fold 1, vali has 1 features where the widest part has 3"):
        fold = load_fold(tmp_path / "SET")
    assert fold.vali.X.shape == (narrow.n_documents, 3)
    np.testing.assert_array_equal(fold.vali.X[:, :1], narrow.X)
    assert not fold.vali.X[:, 1:].any()


def test_links_out_of_the_root_are_refused(tmp_path):
    outside, root = tmp_path / "outside", tmp_path / "root"
    write_fold(outside / "SECRET" / "Fold1")
    write_fold(root / "SET" / "Fold1")
    (root / "SET" / "Fold1" / "test.txt").unlink()
    (root / "SET" / "Fold1" / "test.txt").symlink_to(outside / "SECRET" / "Fold1" / "test.txt")
    with pytest.warns(DataWarning, match="is outside"):
        dataset = find_datasets([root])["SET"]
    with pytest.raises(DataError, match=r"no test\.txt"):
        open_fold(dataset, 1)
    shutil.rmtree(root / "SET")
    (root / "LINK").symlink_to(outside / "SECRET")
    with pytest.warns(DataWarning, match="add their folder as a data root"):
        assert find_datasets([root]) == {}


def test_a_file_replaced_by_a_link_out_after_it_was_found(tmp_path):
    write_fold(tmp_path / "root" / "SET" / "Fold1")
    dataset = find_datasets([tmp_path / "root"])["SET"]
    shutil.move(tmp_path / "root" / "SET" / "Fold1" / "test.txt", tmp_path / "elsewhere.txt")
    (tmp_path / "root" / "SET" / "Fold1" / "test.txt").symlink_to(tmp_path / "elsewhere.txt")
    with pytest.raises(DataError, match="is outside"):
        open_fold(dataset, 1)


def test_links_within_the_root_are_followed_once(tmp_path):
    expected = write_fold(tmp_path / "store")
    (tmp_path / "SET" / "Fold1").mkdir(parents=True)
    for part in PARTS:
        (tmp_path / "SET" / "Fold1" / f"{part}.txt").symlink_to(tmp_path / "store" / f"{part}.txt")
    (tmp_path / "around").mkdir()
    (tmp_path / "around" / "again").symlink_to(tmp_path)
    datasets = find_datasets([tmp_path])
    assert list(datasets) == ["SET", "store"]
    assert_same(open_fold(datasets["SET"], 1), expected)


def test_links_in_circles_are_passed_over(tmp_path):
    write_fold(tmp_path / "SET" / "Fold1")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling.txt").symlink_to(tmp_path / "gone.txt")
    assert list(find_datasets([tmp_path])) == ["SET"]


def test_letor_2_level_is_looked_through(tmp_path):
    expected = write_fold(tmp_path / "OHSUMED" / "Data" / "Fold1")
    for path in ("OHSUMED", "OHSUMED/Data", "OHSUMED/Data/Fold1"):
        fold = load_fold(tmp_path / path, 1)
        assert_same(fold, expected)
        assert fold.name == "OHSUMED fold 1"


@pytest.mark.parametrize("name", ["../outside/SECRET", "/etc", "SET/../../outside/SECRET", ".."])
def test_names_are_looked_up_and_never_joined(tmp_path, name):
    write_fold(tmp_path / "outside" / "SECRET" / "Fold1")
    write_fold(tmp_path / "root" / "SET" / "Fold1")
    assert name not in find_datasets([tmp_path / "root"])


def test_the_same_name_in_two_roots(tmp_path):
    roots = [tmp_path / "a" / "data", tmp_path / "b" / "data", tmp_path / "c" / "data"]
    for number, root in enumerate(roots, 1):
        write_fold(root / "SET" / "Fold1", number=number)
    datasets = find_datasets(roots)
    assert list(datasets) == ["SET", "SET (data)", "SET (data 2)"]
    assert len({open_fold(dataset, 1).digest for dataset in datasets.values()}) == 3
    assert open_fold(datasets["SET (data)"], 1).name == "SET (data) fold 1"
    assert copy.deepcopy(datasets) == datasets


def test_roots(tmp_path, monkeypatch):
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda name: str(tmp_path / "user" / name))
    monkeypatch.delenv("RANKVIZ_DATA", raising=False)
    assert data_roots() == (BUNDLED,)
    (tmp_path / "user" / "rankviz" / "datasets").mkdir(parents=True)
    assert data_roots() == (BUNDLED, (tmp_path / "user" / "rankviz" / "datasets").resolve())
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("RANKVIZ_DATA", os.pathsep.join([str(tmp_path / "one"), str(tmp_path / "two")]))
    assert data_roots() == (BUNDLED, (tmp_path / "one").resolve(), (tmp_path / "two").resolve())
    assert data_roots([tmp_path / "two"]) == (BUNDLED, (tmp_path / "two").resolve())
    with pytest.raises(DataError, match="no folder of this name"):
        data_roots([tmp_path / "three"])
    with pytest.raises(DataError, match="no folder of this name"):
        find_datasets([tmp_path / "three"])


@pytest.mark.parametrize("name", ["mine.txt", "mine.svm.gz"])
def test_single_file_is_split_by_query(tmp_path, name):
    write_letor(DATA, tmp_path / name)
    dataset = find_datasets([tmp_path])["mine"]
    assert dataset.folder.is_file()
    assert list(dataset.folds) == [f"Fold{k}" for k in range(1, 6)]
    folds = [open_fold(dataset, k) for k in range(1, 6)]
    assert_same(folds[0], load_fold(tmp_path / name))
    for fold in folds:
        assert [part.n_queries for part in fold.parts.values()] == [9, 3, 3]
        ids = np.concatenate([part.query_ids for part in fold.parts.values()])
        assert sorted(ids) == sorted(DATA.query_ids)
        assert all((np.diff(part.rows) > 0).all() for part in fold.parts.values())
    tested = np.concatenate([fold.test.query_ids for fold in folds])
    assert sorted(tested) == sorted(DATA.query_ids)


def test_single_file_with_too_few_queries(tmp_path):
    write_letor(take_queries(DATA, [0, 1, 2]), tmp_path / "few.txt")
    with pytest.raises(DataError, match="3 queries") as caught:
        load_fold(tmp_path / "few.txt")
    assert caught.value.path == str((tmp_path / "few.txt").resolve())
    with pytest.raises(DataError, match="1 query, for fold 1"):
        cyclic_fold(take_queries(DATA, [0]), 1)


def test_split_depends_on_the_seed_alone():
    first, again, other = (cyclic_fold(DATA, 1, seed=seed) for seed in (3, 3, 4))
    assert first.digest == again.digest
    assert first.digest != other.digest
    with pytest.raises(DataError, match="from 1 to 5"):
        cyclic_fold(DATA, 6)


def test_the_digest_of_a_fold_depends_on_every_part_and_their_order():
    fold = cyclic_fold(DATA, 1)
    other = cyclic_fold(DATA, 2)
    folds = [replace(fold, **{part: other.parts[part]}) for part in fold.parts]
    folds += [replace(fold, vali=fold.test, test=fold.vali), replace(fold, train=fold.vali, vali=fold.train)]
    assert len({fold.digest, *(one.digest for one in folds)}) == 6


def test_take_queries_equals_slices():
    chosen = [4, 0, 9]
    got = take_queries(DATA, chosen, name="some")
    rows = np.concatenate([np.arange(DATA.ptr[q], DATA.ptr[q + 1]) for q in chosen])
    np.testing.assert_array_equal(got.X, DATA.X[rows])
    np.testing.assert_array_equal(got.y, DATA.y[rows])
    np.testing.assert_array_equal(got.qid, DATA.qid[rows])
    np.testing.assert_array_equal(got.rows, rows)
    assert got.document_ids.tolist() == DATA.document_ids[rows].tolist()
    assert got.name == "some"
    assert take_queries(DATA, []).n_documents == 0


def test_progress_runs_from_part_to_part_to_one(tmp_path):
    write_fold(tmp_path / "SET" / "Fold1")
    for _ in range(2):  # parsed, and from the cache
        seen = []
        load_fold(tmp_path / "SET", progress=seen.append)
        assert seen == sorted(seen)
        assert len(set(seen)) >= 3
        assert seen[-1] == pytest.approx(1)


def test_faults_of_a_file_pass_through(tmp_path):
    write_fold(tmp_path / "SET" / "Fold1")
    with gzip.open(tmp_path / "SET" / "Fold1" / "test.txt.gz", "wt") as stream:
        stream.write("0 qid:1 1:x\n")
    assert load_fold(tmp_path / "SET").name == "SET fold 1"  # of two spellings the first is used
    (tmp_path / "SET" / "Fold1" / "test.txt").unlink()
    with pytest.raises(DataError, match="line 1"):
        load_fold(tmp_path / "SET")


def test_a_fold_opened_from_the_cache_keeps_the_stored_digests(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKVIZ_CACHE", str(tmp_path / "cache"))
    expected = write_fold(tmp_path / "set" / "Fold1")
    load_fold(tmp_path / "set")
    again = load_fold(tmp_path / "set")
    for part, data in again.parts.items():
        assert vars(data)["digest"] == expected.parts[part].digest
