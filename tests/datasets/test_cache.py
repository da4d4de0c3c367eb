"""The cache of parsed data: used when it may be, made anew when it may not, never in the way."""

import json
import os
import shutil
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankviz.common.arrays import mapping_of
from rankviz.common.errors import DataError, DataWarning
from rankviz.common.progress import StopRequested
from rankviz.datasets import cache, textfile
from rankviz.datasets.cache import FileStorage, cache_folder, read_cached
from rankviz.datasets.letor import read_letor
from rankviz.datasets.types import RankingData

CONTENT = b"2 qid:7 1:0.5 3:-1e-3 #docid = a\n0 qid:7 3:2 1:.25\n1 qid:-8 2:5. # docid = c inc = 1\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "train.txt"
    path.write_bytes(CONTENT)
    return path


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by one path each time a file is really parsed."""
    seen: list[str] = []
    real = cache.read_with_note

    def noting(path: object, progress: object = None, **others: object) -> tuple[RankingData, str | None]:
        seen.append(os.fspath(path))
        return real(path, progress, **others)

    monkeypatch.setattr(cache, "read_with_note", noting)
    return seen


def assert_same(data: RankingData, expected: RankingData) -> None:
    for name in ("X", "y", "ptr", "query_ids", "rows"):
        a, b = getattr(data, name), getattr(expected, name)
        assert (a.dtype, a.tobytes(), a.flags.writeable) == (b.dtype, b.tobytes(), False)
    assert data.name == expected.name
    assert data.digest == expected.digest
    assert data.feature_names is None
    assert (data.document_ids is None) == (expected.document_ids is None)
    if data.document_ids is not None:
        np.testing.assert_array_equal(data.document_ids, expected.document_ids)


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "parsed").glob("*.npz"))


def matrices(folder: Path) -> list[Path]:
    return sorted((folder / "parsed").glob("*.f64"))


def test_second_reading_is_from_the_cache_and_the_same(
    source: Path, parses: list[str], tmp_path: Path
) -> None:
    folder, told = tmp_path / "cache", []
    first = read_cached(source, cache_dir=folder, progress=told.append)
    second = read_cached(source, cache_dir=str(folder), progress=told.append)
    assert parses == [str(source)]
    assert told == [1.0, 1.0, 1.0]  # the one chunk, the end; the hit
    for data in (first, second):
        assert_same(data, read_letor(source))
    assert (len(entries(folder)), len(matrices(folder))) == (1, 1)


def test_entries_are_not_compressed_and_data_in_use_outlive_them(source: Path, tmp_path: Path) -> None:
    read_cached(source, cache_dir=tmp_path)
    with zipfile.ZipFile(entries(tmp_path)[0]) as entry:
        assert {"ptr.npy", "y.npy"} <= set(entry.namelist())
        assert {member.compress_type for member in entry.infolist()} == {zipfile.ZIP_STORED}
    data = read_cached(source, cache_dir=tmp_path)
    shutil.rmtree(tmp_path / "parsed")
    assert_same(data, read_letor(source))


@pytest.mark.parametrize("content", [b"0 qid:1 1:1\n", "0 qid:1 1:1 #docid = größer\n".encode()])
def test_document_ids_absent_or_beyond_ascii(content: bytes, source: Path, tmp_path: Path) -> None:
    source.write_bytes(content)
    read_cached(source, cache_dir=tmp_path / "cache")
    assert_same(read_cached(source, cache_dir=tmp_path / "cache"), read_letor(source))


def test_renaming_keeps_values_and_stored_digest(source: Path, tmp_path: Path) -> None:
    data = read_cached(source, cache_dir=tmp_path)
    other = data.renamed("SET/Fold1/train")
    assert (data.name, other.name) == ("train.txt", "SET/Fold1/train")
    assert vars(other)["digest"] == data.digest
    assert other.X is data.X
    assert "digest" not in vars(read_letor(source).renamed("no digest yet"))
    names = tuple(f"f{k}" for k in range(data.n_features))
    named = other.renamed(feature_names=names)
    assert (named.name, named.feature_names) == ("SET/Fold1/train", names)
    assert vars(named)["digest"] == data.digest
    assert named.renamed("again").feature_names == names


def test_warning_is_repeated_from_the_cache(source: Path, parses: list[str], tmp_path: Path) -> None:
    source.write_bytes(b"0 qid:1 1:1\n0 qid:2 1:2\n1 qid:1 1:3\n")
    said = []
    for _ in range(2):
        with pytest.warns(DataWarning) as caught:
            read_cached(source, cache_dir=tmp_path / "cache")
        said.append((str(caught[0].message), caught[0].filename))
    assert said[0] == said[1]
    assert f"{source}, line 3: query 1 comes back" in said[0][0]
    assert said[0][1] == __file__
    assert len(parses) == 1


@pytest.mark.parametrize("change", ["content", "time", "size"])
def test_changed_file_is_parsed_anew_and_replaces_its_entry(
    change: str, source: Path, parses: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "cache"
    read_cached(source, cache_dir=folder)
    before = source.stat()
    if change == "time":
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    else:
        source.write_bytes(CONTENT.replace(b"0.5", b"0.7") + (b"\n" if change == "size" else b""))
        later = before.st_mtime_ns + (change == "content")
        os.utime(source, ns=(before.st_atime_ns, later))
    assert_same(read_cached(source, cache_dir=folder), read_letor(source))
    assert len(parses) == 2
    assert (len(entries(folder)), len(matrices(folder))) == (1, 1)


def test_entry_of_another_format_is_made_anew(
    source: Path, parses: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in (cache.FORMAT, cache.FORMAT + 1):
        monkeypatch.setattr(cache, "FORMAT", version)
        read_cached(source, cache_dir=tmp_path / "cache")
    assert len(parses) == 2


def test_links_to_a_file_share_its_entry(source: Path, parses: list[str], tmp_path: Path) -> None:
    (tmp_path / "link.txt").symlink_to(source)
    read_cached(source, cache_dir=tmp_path / "cache")
    read_cached(tmp_path / "link.txt", cache_dir=tmp_path / "cache")
    assert len(parses) == 1


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"no npz at all" * 99, None])
def test_damaged_entry_is_made_anew(
    damage: bytes | None, source: Path, parses: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "cache"
    read_cached(source, cache_dir=folder)
    (entry,) = entries(folder)
    entry.write_bytes(entry.read_bytes()[:-100] if damage is None else damage)
    assert_same(read_cached(source, cache_dir=folder), read_letor(source))
    read_cached(source, cache_dir=folder)
    assert len(parses) == 2


def rewrite(folder: Path, **others: object) -> dict[str, object]:
    """Replace arrays of the only entry; return its description."""
    (entry,) = entries(folder)
    with np.load(entry) as arrays:
        stored = dict(arrays)
    np.savez(entry, **stored | others)
    return json.loads(stored["about"].tobytes())


def as_array(about: dict[str, object]) -> np.ndarray:
    return np.frombuffer(json.dumps(about).encode(), np.uint8)


def test_pickles_are_never_loaded(source: Path, tmp_path: Path) -> None:
    read_cached(source, cache_dir=tmp_path / "cache")
    rewrite(tmp_path / "cache", y=np.array([{"a": 1}], dtype=object))
    assert_same(read_cached(source, cache_dir=tmp_path / "cache"), read_letor(source))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), st.booleans())
def test_one_wrong_byte_never_matters(
    source: Path, tmp_path: Path, data: st.DataObject, in_matrix: bool
) -> None:
    folder = tmp_path / "cache"
    read_cached(source, cache_dir=folder)
    file = (matrices if in_matrix else entries)(folder)[0]
    before, content = file.stat(), bytearray(file.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] = data.draw(st.integers(0, 255))
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # as a disk does it
    assert_same(read_cached(source, cache_dir=folder), read_letor(source))


# --- X is mapped --------------------------------------------------------------------------------------------


def test_x_is_mapped_the_first_time_and_from_then_on(source: Path, tmp_path: Path) -> None:
    for _ in range(2):
        data = read_cached(source, cache_dir=tmp_path)
        mapping = mapping_of(data.X)
        assert type(data.X) is np.ndarray
        assert (mapping.mode, mapping.filename, mapping.offset) == ("r", matrices(tmp_path)[0], 0)
        assert data.X.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            data.X[0] = 1


def test_matrices_get_names_of_their_own(source: Path, tmp_path: Path) -> None:
    """A process that has mapped a file by its name must never see other contents under that name."""
    names = set()
    for grade in range(3):
        source.write_bytes(CONTENT + b"%d qid:9 1:1\n" % grade)
        os.utime(source, (1000 + grade, 1000 + grade))
        names.add(mapping_of(read_cached(source, cache_dir=tmp_path).X).filename)
    assert len(names) == 3
    assert len(matrices(tmp_path)) == 1


@pytest.mark.parametrize("damage", ["shorter", "longer", "gone", "emptied", "touched", "another"])
def test_matrix_that_is_not_what_was_written_is_made_anew(
    damage: str, source: Path, parses: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "cache"
    read_cached(source, cache_dir=folder)
    (matrix,) = matrices(folder)
    before, content = matrix.stat(), matrix.read_bytes()
    if damage == "gone":
        matrix.unlink()
    else:
        bytes_ = {"shorter": content[:-8], "longer": content + bytes(8), "emptied": bytes(len(content))}
        matrix.write_bytes(bytes_.get(damage, content if damage == "touched" else content[::-1]))
        later = before.st_mtime_ns + (damage == "touched")
        os.utime(matrix, ns=(before.st_atime_ns, later))
    assert_same(read_cached(source, cache_dir=folder), read_letor(source))
    read_cached(source, cache_dir=folder)
    assert len(parses) == 2


@pytest.mark.parametrize("name", ["../{}", "{}/../{}", "0" * 32 + "-" + "0" * 16 + ".f64", 7])
def test_entry_that_names_a_file_not_its_own_is_not_used(
    name: object, source: Path, parses: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "cache"
    read_cached(source, cache_dir=folder)
    (matrix,) = matrices(folder)
    about = rewrite(folder)
    about["matrix"] = name.replace("{}", matrix.name) if isinstance(name, str) else name
    shutil.copy2(matrix, matrix.with_name("0" * 32 + "-" + "0" * 16 + ".f64"))
    shutil.copy2(matrix, folder)
    rewrite(folder, about=as_array(about))
    assert_same(read_cached(source, cache_dir=folder), read_letor(source))
    assert len(parses) == 2


def test_entry_that_says_it_is_of_another_file_is_not_used(
    source: Path, parses: list[str], tmp_path: Path
) -> None:
    read_cached(source, cache_dir=tmp_path / "cache")
    about = rewrite(tmp_path / "cache")
    about["source"]["path"] += ".other"
    rewrite(tmp_path / "cache", about=as_array(about))
    read_cached(source, cache_dir=tmp_path / "cache")
    assert len(parses) == 2


@pytest.mark.parametrize("at", [0, 1_234_567, 3_999_999])
def test_each_byte_of_a_matrix_of_some_megabytes_counts(at: int, tmp_path: Path) -> None:
    file, content = tmp_path / "matrix", bytearray(4_000_000)
    said = []
    for value in (0, 1):
        content[at] = value
        file.write_bytes(content)
        os.utime(file, (1, 1))
        said.append(cache.state_of(file))
    assert said[0] != said[1]


def test_large_matrices_are_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_DIGESTED_WHOLE", 1000)
    monkeypatch.setattr(cache, "_SAMPLES", 5)
    monkeypatch.setattr(cache, "_SAMPLE_BYTES", 10)
    file = tmp_path / "matrix"
    file.write_bytes(bytes(1001))
    said = {}
    for at in (None, 0, 9, 10, 500, 991, 1000):
        content = bytearray(1001)
        if at is not None:
            content[at] = 1
        file.write_bytes(content)
        os.utime(file, (1, 1))
        said[at] = cache.state_of(file)
    assert [at for at, state in said.items() if state != said[None]] == [0, 9, 500, 991, 1000]
    assert [state[:2] for state in said.values()] == [[1001, 10**9]] * 7


def test_queries_apart_and_features_left_out_are_stored_too(
    source: Path, parses: list[str], tmp_path: Path
) -> None:
    source.write_bytes(b"0 qid:1 1:1 9:2\n0 qid:2 2:2\n1 qid:1 1:3 4:-0.0\n" * 9)
    for _ in range(2):
        with pytest.warns(DataWarning, match="put together"):
            data = read_cached(source, cache_dir=tmp_path / "cache")
        with pytest.warns(DataWarning, match="put together"):
            assert_same(data, read_letor(source))
    assert len(parses) == 1
    assert len(matrices(tmp_path / "cache")) == 1


# --- never in the way ---------------------------------------------------------------------------------------


def test_folder_that_cannot_be_made_is_done_without(source: Path, tmp_path: Path) -> None:
    (tmp_path / "occupied").write_bytes(b"a file, not a folder")
    for _ in range(2):
        assert_same(read_cached(source, cache_dir=tmp_path / "occupied"), read_letor(source))


def full(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("where", ["the matrix", "the other arrays", "its sync"])
def test_full_disk_is_done_without(
    where: str, source: Path, parses: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = {"the matrix": (FileStorage, "stream"), "its sync": (cache, "sync")}
    monkeypatch.setattr(*place.get(where, (np, "savez")), full)
    data = read_cached(source, cache_dir=tmp_path / "cache")
    assert_same(data, read_letor(source))
    assert not list(tmp_path.glob("cache/parsed/*"))
    assert len(parses) == (1 if where == "the other arrays" else 2)


def test_file_that_changes_while_it_is_read_is_not_stored(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = cache.read_with_note

    def slowly(path: Path, progress: object = None, **others: object) -> tuple[RankingData, str | None]:
        data = real(path, progress, **others)
        source.write_bytes(CONTENT + CONTENT.replace(b"qid:-8", b"qid:7"))
        return data

    expected = read_letor(source)
    monkeypatch.setattr(cache, "read_with_note", slowly)
    assert_same(read_cached(source, cache_dir=tmp_path / "cache"), expected)
    assert not list((tmp_path / "cache" / "parsed").iterdir())


@pytest.mark.parametrize("error", [StopRequested, KeyboardInterrupt, MemoryError])
def test_nothing_is_left_of_a_reading_that_ends_early(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(textfile, "CHUNK_BYTES", 100)
    (tmp_path / "long.txt").write_bytes(CONTENT * 30)
    told: list[float] = []

    def stop(fraction: float) -> None:
        told.append(fraction)
        if len(told) == 5:
            assert len(matrices(tmp_path / "cache")) == 1
            raise error

    with pytest.raises(error):
        read_cached(tmp_path / "long.txt", cache_dir=tmp_path / "cache", progress=stop)
    assert not list((tmp_path / "cache" / "parsed").iterdir())


def test_entries_used_longest_ago_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, paths = tmp_path / "cache", []
    for i in range(4):
        paths.append(tmp_path / f"{i}.txt")
        paths[i].write_bytes(CONTENT)
    for path in paths[:3]:
        read_cached(path, cache_dir=folder)
    by_path = {cache._entry(path, folder): path for path in paths}
    for age, path in enumerate(paths[:3]):
        os.utime(cache._entry(path, folder), (1000 + age, 1000 + age))
    read_cached(paths[0], cache_dir=folder)  # now the youngest
    size = entries(folder)[0].stat().st_size + matrices(folder)[0].stat().st_size
    monkeypatch.setattr(cache, "CACHE_BYTES", 3 * size)
    read_cached(paths[3], cache_dir=folder)
    assert {by_path[entry] for entry in entries(folder)} == {paths[0], paths[2], paths[3]}
    assert {file.name[:32] for file in matrices(folder)} == {entry.stem for entry in entries(folder)}


def test_entries_beyond_the_whole_cache_are_not_written(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "CACHE_BYTES", 10)
    read_cached(source, cache_dir=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_the_cache_leaves_half_of_a_small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    assert cache.cache_room(tmp_path / "none" / "yet") == 500
    (tmp_path / "entry").write_bytes(bytes(600))
    assert cache.cache_room(tmp_path) == 800
    monkeypatch.setattr(cache, "CACHE_BYTES", 700)
    assert cache.cache_room(tmp_path) == 700


def test_leftovers_of_dead_processes_are_removed_and_nothing_else(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "parsed"
    folder.mkdir(parents=True)
    shutil.copy(source, tmp_path / "used.txt")
    used = mapping_of(read_cached(tmp_path / "used.txt", cache_dir=folder.parent).X).filename
    key = used.name[:32]
    dead = (".old.tmp", f"{key}-{'0' * 16}.f64", f"{'1' * 32}-{'0' * 16}.f64")
    young = (".new.tmp", f"{key}-{'1' * 16}.f64", f"{'1' * 32}-{'1' * 16}.f64")
    old = time.time() - 2 * cache.STALE_SECONDS
    for name in (*dead, *young, "notes.txt"):
        (folder / name).write_bytes(b"")
        if name not in young:
            os.utime(folder / name, (old, old))
    status = used.stat()
    os.utime(used, (old, old))
    read_cached(source, cache_dir=folder.parent)
    assert {p.name for p in folder.iterdir()} >= {*young, "notes.txt", used.name}
    assert not any((folder / name).exists() for name in dead)
    os.utime(used, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert len(entries(folder.parent)) == 2


def test_errors_are_those_of_the_reader_and_are_not_stored(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"0 1:1\n")
    cases = {"bad.txt": "no qid", "none.txt": "no such file", "": "a folder", "a\0b": "cannot be opened"}
    for name, words in cases.items():
        with pytest.raises(DataError, match=words):
            read_cached(tmp_path / name, cache_dir=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_folder_comes_from_the_environment(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKVIZ_CACHE", str(tmp_path / "mine"))
    read_cached(source)
    assert len(entries(tmp_path / "mine")) == 1
    monkeypatch.delenv("RANKVIZ_CACHE")
    assert cache_folder().name == "rankviz"
