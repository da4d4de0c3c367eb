"""Files that the reader accepts and the writer writes, and sets with labels ±1."""

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from rankviz import load_binary
from rankviz.common.errors import DataError, DataWarning
from rankviz.datasets.letor import parse_letor, read_letor, write_letor
from rankviz.datasets.types import RankingData

SMALL = (
    b"2 qid:7 1:0.5 3:-1e-3 #docid = a\n0 qid:7 3:2 1:.25\n\n# a comment\n1 qid:-8 2:5. # docid = c inc = 1\n"
)


def small() -> RankingData:
    return parse_letor(SMALL, name="small")


def test_features_missing_and_unordered() -> None:
    data = small()
    np.testing.assert_array_equal(data.X, [[0.5, 0, -0.001], [0.25, 0, 2], [0, 5, 0]])
    assert data.y.tolist() == [2, 0, 1]
    assert data.query_ids.tolist() == [7, -8]
    assert data.ptr.tolist() == [0, 2, 3]
    assert data.rows.tolist() == [0, 1, 2]
    assert data.document_ids is not None
    assert data.document_ids.tolist() == ["a", "", "c"]
    assert (data.X.dtype, data.y.dtype, data.qid.dtype) == (np.float64, np.int64, np.int64)
    assert data.name == "small"


@pytest.mark.parametrize(
    "content",
    [
        SMALL.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + SMALL,
        SMALL.removesuffix(b"\n"),
        SMALL.replace(b" ", b"\t "),
        b" \t" + SMALL,
        gzip.compress(SMALL),
        gzip.compress(SMALL[:20]) + gzip.compress(SMALL[20:]),
        b"\r\n".join([b"# first", SMALL]),
    ],
    ids=["CRLF", "BOM", "no last line end", "tabs", "indented", "gzip", "gzip members", "mixed line ends"],
)
def test_spellings_of_the_same_data(content: bytes) -> None:
    data = parse_letor(content, name="spelling")
    assert data.digest == small().digest
    assert data.document_ids is not None
    assert data.document_ids.tolist() == ["a", "", "c"]


def test_files_without_document_ids_have_none() -> None:
    assert parse_letor(b"0 qid:1 1:1\n", name="mslr").document_ids is None


def test_gzip_is_known_by_its_bytes_not_its_name(tmp_path: Path) -> None:
    (tmp_path / "packed.txt").write_bytes(gzip.compress(SMALL))
    (tmp_path / "plain.gz").write_bytes(SMALL)
    assert read_letor(tmp_path / "packed.txt").digest == read_letor(str(tmp_path / "plain.gz")).digest
    assert read_letor(tmp_path / "packed.txt").name == "packed.txt"


def test_largest_integers() -> None:
    data = parse_letor(f"{2**63 - 1} qid:{-(2**63)} 1:1".encode(), name="edge")
    assert (data.y[0], data.qid[0]) == (2**63 - 1, -(2**63))


def test_queries_that_stand_apart_are_regrouped_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "apart.txt"
    path.write_bytes(b"0 qid:1 1:1\n0 qid:2 1:2\n# c\n1 qid:1 1:3\n0 qid:3 1:4\n1 qid:2 1:5 #docid = e\n")
    with pytest.warns(DataWarning) as caught:
        data = read_letor(path)
    assert str(caught[0].message).startswith(f"{path}, line 4: query 1 comes back after other queries")
    assert "(and so do 1 more)" in str(caught[0].message)
    assert str(caught[0].message).endswith("not in file order: data.rows says where each stood")
    assert caught[0].filename == __file__
    assert data.X[:, 0].tolist() == [1, 3, 2, 5, 4]
    assert data.rows.tolist() == [0, 2, 1, 4, 3]
    assert data.query_ids.tolist() == [1, 2, 3]
    assert data.document_ids is not None
    assert data.document_ids.tolist() == ["", "", "", "e", ""]


def test_streams_are_read_from_where_they_stand() -> None:
    stream = io.BytesIO(b"skip me\n" + SMALL)
    stream.readline()
    assert parse_letor(stream, name="upload").digest == small().digest


def test_streams_that_cannot_seek() -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    assert parse_letor(Pipe(SMALL), name="pipe").digest == small().digest


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_progress_rises_to_one(packed: bool) -> None:
    content = b"".join(b"0 qid:1 1:%d #docid = %032x\n" % (i, hash(str(i)) % 2**64) for i in range(60_000))
    told: list[float] = []
    parse_letor(gzip.compress(content, 1) if packed else content, name="long", progress=told.append)
    assert len(told) > 3
    assert told == sorted(told)
    assert 0 < told[0] < 1
    assert told[-1] == 1.0


def test_write_gives_the_file_order_back(tmp_path: Path) -> None:
    content = b"0 qid:1 1:1.0 2:0.0\n0 qid:2 1:2.0 2:-0.0\n1 qid:1 1:0.1 2:1e-05 #docid = x\n"
    with pytest.warns(DataWarning):
        data = parse_letor(content, name="apart")
    write_letor(data, tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_bytes() == content


def test_write_of_part_of_a_file_keeps_its_order() -> None:
    X, rows = np.array([[1.0], [2.0]]), np.array([9, 4])
    data = RankingData(X, np.array([0, 1]), np.array([0, 2]), np.array([5]), rows=rows)
    stream = io.BytesIO()
    write_letor(data, stream)
    assert stream.getvalue() == b"1 qid:5 1:2.0\n0 qid:5 1:1.0\n"


def test_gzip_is_written_by_name_and_deterministic(tmp_path: Path) -> None:
    write_letor(small(), tmp_path / "a.txt.gz")
    write_letor(small(), tmp_path / "b.txt.gz")
    assert (tmp_path / "a.txt.gz").read_bytes() == (tmp_path / "b.txt.gz").read_bytes()
    assert read_letor(tmp_path / "a.txt.gz").digest == small().digest
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt.gz", "b.txt.gz"]


@pytest.mark.parametrize("document", ["a b", "a\nb", "x" * 300, "\ud800"])
def test_document_ids_that_would_not_read_back_are_refused(document: str, tmp_path: Path) -> None:
    data = RankingData.from_arrays([[1.0]], [0], [1], document_ids=[document])
    (tmp_path / "old.txt").write_bytes(b"old")
    with pytest.raises(DataError, match="document id"):
        write_letor(data, tmp_path / "old.txt")
    assert (tmp_path / "old.txt").read_bytes() == b"old"


def test_data_without_documents_features_or_finite_values_are_refused() -> None:
    none = RankingData.from_arrays(np.zeros((0, 3)), [], np.zeros(0, int))
    with pytest.raises(DataError, match="0 documents with 3 features"):
        write_letor(none, io.BytesIO())
    with pytest.raises(DataError, match="1 documents with 0 features"):
        write_letor(RankingData.from_arrays(np.zeros((1, 0)), [0], [1]), io.BytesIO())
    nan = RankingData(np.array([[np.nan]]), np.array([0]), np.array([0, 1]), np.array([1]))
    with pytest.raises(DataError, match="finite"):
        write_letor(nan, io.BytesIO())


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="No space"):
        write_letor(small(), path)
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]
    assert path.read_bytes() == b"old"


SETS = {  # queries, documents, features, documents by grade over the three parts of Fold1
    "MQ2008": (784, 15_211, 46, [12_279, 2_001, 931]),
    "OHSUMED": (106, 16_140, 45, [11_303, 2_585, 2_252]),
    "OHSUMED-min": (106, 16_140, 45, [11_303, 2_585, 2_252]),
    "OHSUMED-LETOR2": (106, 16_140, 25, [11_303, 2_585, 2_252]),
}


@pytest.mark.letor
@pytest.mark.parametrize("name", SETS)
def test_real_sets_have_the_counts_that_are_known(name: str, letor_root: Path) -> None:
    parts = [read_letor(letor_root / name / "Fold1" / f"{part}.txt") for part in ("train", "vali", "test")]
    queries, documents, features, grades = SETS[name]
    assert sum(part.n_queries for part in parts) == queries
    assert sum(part.n_documents for part in parts) == documents
    assert {part.n_features for part in parts} == {features}
    assert sum(np.bincount(part.y, minlength=3) for part in parts).tolist() == grades
    assert all(part.document_ids is not None and (part.document_ids != "").all() for part in parts)


TEXT = b"+1 1:0.5 3:-2e-1 # docid = a\n\n# a comment\n-1 2:1\n1 1:1 2:2 3:3\r\n-1\t\n"


def written(tmp_path, text, name="set.txt"):
    path = tmp_path / name
    path.write_bytes(text)
    return path


def test_labels_become_grades_of_one_query(tmp_path):
    data = load_binary(written(tmp_path, TEXT))
    assert data.y.tolist() == [1, 0, 1, 0]
    assert data.X.tolist() == [[0.5, 0, -0.2], [0, 1, 0], [1, 2, 3], [0, 0, 0]]
    assert (data.n_queries, data.name) == (1, "set.txt")
    assert data.document_ids.tolist() == ["a", "", "", ""]


def test_reads_what_scikit_learn_writes(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 7)), rng.choice([-1, 1], 200)
    X[:, 6] = 1.0  # the last column is seen
    path = tmp_path / "set.txt"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    data, (other, labels) = load_binary(path), load_svmlight_file(str(path), zero_based=False)
    np.testing.assert_array_equal(data.X, other.toarray())
    np.testing.assert_array_equal(data.y, labels > 0)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"0 1:1", "label '0'. Expected: +1, 1 or −1"),
        (b"2 1:1", "label '2'"),
        (b"1.0 1:1", "Write +1 for positive examples and -1 for negative ones, without a point"),
        (b"yes 1:1", "label 'yes'"),
        (b"1:1 2:2", "label '1:1'"),
        (b"+1 qid:3 1:1", "a query id after the label"),
        (b"-1 1:nan", "missing value 'nan'"),
        (b"-1 1:1 qid:2", "qid"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, words):
    path = written(tmp_path, b"+1 1:1\n# comment\n" + line + b"\n")
    with pytest.raises(DataError) as caught:
        load_binary(path)
    assert words in str(caught.value)
    assert (caught.value.line, caught.value.path) == (3, str(path))


@pytest.mark.parametrize(("text", "words"), [(b"", "no documents"), (b"# nothing\n", "label index:value")])
def test_an_empty_file_is_refused(tmp_path, text, words):
    with pytest.raises(DataError, match=words):
        load_binary(written(tmp_path, text))
