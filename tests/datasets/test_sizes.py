"""Small files that ask for much are refused before anything is allocated; honest large ones are read."""

import gzip
import resource
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from conftest_uploads import FOLD, fold_at, send, zipped
from conftest_warm import apart

import rankviz
from rankviz.datasets import DataError, RankingData, array_checks, letor, parse_letor, textfile
from rankviz.datasets.archives import Limits
from rankviz.datasets.group_files import read_scores
from rankviz.datasets.parts import pad_to_widest

WIDE = b"".join(b"1 qid:%d 1:1\n" % (i // 3) for i in range(660)) + b"0 qid:999 100000:1\n"


def refusal_within_bounds(path: Path) -> str:
    """Return the error of a process that may use 200 MB more than its libraries."""
    said = path.with_name("said.txt")
    process = apart(read_within_bounds, path, said)
    process.join(120)
    assert process.exitcode == 0
    return said.read_text()


def read_within_bounds(path: Path, said: Path) -> None:
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + 200_000_000,) * 2)
    try:
        (rankviz.load if path.suffix == ".npz" else letor.read_letor)(path)
        said.touch()
    except DataError as error:
        said.write_text(str(error))


# --- wide matrices ------------------------------------------------------------------------------------------


def test_one_wide_line_is_refused_before_it_is_allocated(tmp_path: Path) -> None:
    (tmp_path / "wide.txt").write_bytes(WIDE)
    said = refusal_within_bounds(tmp_path / "wide.txt")
    assert "wide.txt, line 661: 661 documents with features up to index 100000" in said
    assert "without gaps" in said
    tracemalloc.start()
    with pytest.raises(DataError, match="66,100,000 entries"):
        send(tmp_path, ("x.zip", zipped({"x.txt": WIDE})))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30_000_000


def test_a_matrix_beyond_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = b"".join(b"%d qid:%d 1:1 1999:2\n" % (i % 2, i // 10) for i in range(1500))
    assert parse_letor(lines, name="fits").X.shape == (1500, 1999)
    monkeypatch.setattr(array_checks, "free_memory", lambda: 40_000_000)
    with pytest.raises(DataError, match=r"at most 20 MB \(50% of the memory that is free\)") as caught:
        parse_letor(lines, name="large")
    assert (caught.value.path, caught.value.line) == ("large", 1)
    assert "need 24 MB as a matrix" in caught.value.found


def test_a_sparse_set_is_read() -> None:
    """Two thousand documents with 30 of 10,000 features each."""
    rng = np.random.default_rng(0)
    rows = [np.sort(rng.choice(10_000, 30, replace=False)) + 1 for _ in range(2000)]
    lines = [f"{i % 2} qid:{i // 20} " + " ".join(f"{j}:1" for j in row) for i, row in enumerate(rows)]
    data = parse_letor("\n".join(lines).encode(), name="sparse")
    assert data.X.shape == (2000, max(row[-1] for row in rows))
    assert data.X.sum() == 60_000


def test_a_dense_set_of_many_documents_passes_the_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_checks, "free_memory", lambda: 2_000_000_000)
    array_checks.check_cells(723_412, 136, 723_412 * 100, path="mslr", line=1)
    array_checks.check_memory(723_412, 136, path="mslr")
    with pytest.raises(DataError, match="of the memory that is free"):
        array_checks.check_memory(2 * 723_412, 136, path="mslr")


def test_padding_to_a_wide_part_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_checks, "free_memory", lambda: 40_000_000)
    narrow = RankingData.from_arrays(np.zeros((1000, 2)), np.arange(1000) % 2, np.arange(1000) // 10)
    wide = RankingData.from_arrays(np.ones((2, 5000)), [0, 1], [5000, 5000], name="vali.txt")
    with pytest.raises(DataError, match=r"vali.txt: 1,000 documents with features up to index 5000"):
        pad_to_widest({"train": narrow, "vali": wide})


# --- lines without documents --------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [b"\n", b"# nothing\n", b" \t\r\n"])
def test_blank_lines_and_comments_are_counted(line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textfile, "EMPTY_LINES", 1000)
    documents = b"1 qid:1 1:1\n0 qid:1 1:0\n"
    assert parse_letor(documents + 1002 * line, name="x").n_documents == 2
    with pytest.raises(DataError, match="1,003 blank lines and comments among 2 documents"):
        parse_letor(documents + 1003 * line, name="x")


def test_a_flood_of_blank_lines_is_not_read_to_its_end(tmp_path: Path) -> None:
    read = []
    with gzip.open(tmp_path / "blank.gz", "wb", 1) as stream:
        stream.write(b"1 qid:1 1:1\n")
        for _ in range(30):
            stream.write(b"\n" * 1_000_000)
    with pytest.raises(DataError, match="blank lines and comments among 1 documents") as caught:
        letor.read_letor(tmp_path / "blank.gz", progress=read.append)
    assert caught.value.line < 2_000_000
    assert len(read) <= 1


@pytest.mark.parametrize("counted", ["train.txt", "train.txt.group", "scores.txt"])
def test_nor_is_one_of_scores_or_counts_or_of_rows_beside_counts(tmp_path: Path, counted: str) -> None:
    files = {"train.txt": b"1 1:1\n0 1:0\n", "train.txt.group": b"2\n", "scores.txt": b"1\n2\n"}
    for name, text in files.items():
        flood = b"\n" * 3_000_000 if name == counted else b""
        first = flood + text if name == "train.txt" else text + flood
        (tmp_path / name).write_bytes(gzip.compress(first, 1))
    read = []
    with pytest.raises(DataError, match="blank lines and comments among") as caught:
        read_scores(tmp_path / "scores.txt", letor.read_letor(tmp_path / "train.txt", progress=read.append))
    assert len(read) <= 1 or counted == "scores.txt"
    assert caught.value.line < 2_000_000
    assert counted in str(caught.value)


# --- model files --------------------------------------------------------------------------------------------


def npy_head(shape: str) -> bytes:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()


def npz_of(path: Path, method: int, **arrays: bytes) -> Path:
    with zipfile.ZipFile(path, "w", method, compresslevel=1) as archive:
        for name, content in arrays.items():
            archive.writestr(f"{name}.npy", content)
    return path


def test_arrays_that_unpack_to_more_than_the_file_are_not_read(tmp_path: Path) -> None:
    zeros = npy_head("(40000000,)") + bytes(320_000_000)
    path = npz_of(tmp_path / "bomb.npz", zipfile.ZIP_DEFLATED, coef=zeros)
    assert "its arrays claim 320000128 bytes, in a file of " in refusal_within_bounds(path)


def test_arrays_that_declare_more_than_they_hold_are_not_allocated(tmp_path: Path) -> None:
    path = npz_of(tmp_path / "short.npz", zipfile.ZIP_STORED, coef=npy_head("(20000, 20000)") + bytes(800))
    said = refusal_within_bounds(path)
    assert "coef.npy claims 3200000000 bytes and has 928" in said


def test_a_real_model_is_read_within_the_same_bounds(tmp_path: Path) -> None:
    model = rankviz.RankSVM(C=1.0).fit([[1.0], [0.0]], [1, 0], qid=[1, 1])
    assert refusal_within_bounds(rankviz.save(model, tmp_path / "model.npz")) == ""


# --- uploads ------------------------------------------------------------------------------------------------

CELLS = sum(part.X.size for part in FOLD.parts.values())


def test_the_entries_of_an_upload_are_counted_over_its_folds(tmp_path: Path) -> None:
    folds = zipped(fold_at("Fold1/") | fold_at("Fold2/"))
    assert send(tmp_path, ("two.zip", folds), limits=Limits(cells=2 * CELLS)).folder.is_dir()
    with pytest.raises(DataError, match=rf"at most {2 * CELLS - 1} entries") as caught:
        send(tmp_path, ("two.zip", folds), limits=Limits(cells=2 * CELLS - 1))
    assert caught.value.path.startswith("two.zip: Fold2/")
    assert "Upload fewer folds" in caught.value.remedy
    assert [path.name for path in tmp_path.iterdir()] == ["two"]


def test_entries_are_counted_before_they_are_allocated(tmp_path: Path) -> None:
    """And as wide as the fold is when it is opened: one wide part makes the others so."""
    train = b"".join(b"%d qid:%d 1:1\n" % (i % 2, i // 5) for i in range(3000))
    wide = b"1 qid:9001 1:1\n0 qid:9001 900:1\n"
    narrow = b"1 qid:9002 1:1\n0 qid:9002 1:0\n"
    files = [("train.txt", train), ("vali.txt", wide), ("test.txt", narrow)]
    send(tmp_path, *files, limits=Limits(cells=3004 * 900))
    with pytest.raises(DataError, match=r"vali.txt, line 2: 3,002 documents with features up to index 900"):
        send(tmp_path, *files, limits=Limits(cells=3001 * 900))
