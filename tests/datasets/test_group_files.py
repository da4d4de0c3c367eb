"""Group files of LightGBM and XGBoost, and score files with one number a line."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankviz import load_fold
from rankviz.common.errors import DataError
from rankviz.datasets import find_datasets, make_data, read_cached, read_letor, write_letor
from rankviz.datasets.group_files import read_scores, write_scores
from rankviz.datasets.types import RankingData

ROWS = b"# rows\n2 1:0.5 2:1\n\n0\t1:0.25 # docid = d2\n1 2:3\n"


def folder(tmp_path: Path, **files: bytes) -> Path:
    for name, content in files.items():
        (tmp_path / name.replace("_", ".")).write_bytes(content)
    return tmp_path / "train.txt"


def test_counts_give_the_queries(tmp_path: Path) -> None:
    path = folder(tmp_path, train_txt=ROWS, sizes=b"2\r\n 1\n\n")
    data = read_letor(path, group=tmp_path / "sizes")
    assert data.ptr.tolist() == [0, 2, 3]
    assert data.query_ids.tolist() == [1, 2]
    assert data.y.tolist() == [2, 0, 1]
    assert data.X.tolist() == [[0.5, 1], [0.25, 0], [0, 3]]
    assert data.document_ids is not None
    assert data.document_ids.tolist() == ["", "d2", ""]


@pytest.mark.parametrize("name", ["train.txt.query", "train.query", "train.txt.group", "train.group"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_group_file_beside_the_rows_is_found(name: str, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / ("train.txt.gz" if packed else "train.txt")
    path.write_bytes(gzip.compress(ROWS) if packed else ROWS)
    (tmp_path / name).write_bytes(b"1\n2\n")
    assert read_letor(path).ptr.tolist() == [0, 1, 3]
    assert load_rows(path).ptr.tolist() == [0, 1, 3]


def load_rows(path: Path):  # type: ignore[no-untyped-def]
    return read_cached(path, cache_dir=path.parent / "cache")


def test_ids_on_the_lines_come_first(tmp_path: Path) -> None:
    path = folder(tmp_path, train_txt=b"1 qid:9 1:1\n0 qid:8 1:1\n", train_query=b"2\n")
    assert read_letor(path).query_ids.tolist() == [9, 8]
    with pytest.raises(DataError, match="a query id in a file whose queries a group file counts") as caught:
        read_letor(path, group=tmp_path / "train.query")
    assert (caught.value.path, caught.value.line) == (str(path), 1)


def test_rows_without_either_are_refused_with_both_ways_out(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no qid, but '1:0\.5'.*train\.txt\.query"):
        read_letor(folder(tmp_path, train_txt=ROWS))


@pytest.mark.parametrize(
    ("counts", "at", "line", "says"),
    [
        (b"2\n", "train.txt", 5, "document 3. Expected: 2 documents, as .*train.query counts"),
        (b"1\n1\n", "train.txt", 5, "document 3. Expected: 2 documents"),
        (
            b"2\n2\n",
            "train.query",
            2,
            "counts of 4 documents, 4 of them up to this line.*3 documents in .*train.txt",
        ),
        (b"1\n\n1\n2\n5\n", "train.query", 4, "counts of 9 documents, 4 of them up to this line"),
        (b"3\n1\n", "train.query", 2, "counts of 4 documents"),
        (b"2\nx\n", "train.query", 2, "'x'. Expected: the number of documents of one query"),
        (b"2.0\n1\n", "train.query", 1, "'2.0'"),
        (b"2 1\n", "train.query", 1, "'2 1'"),
        (b"3\n0\n", "train.query", 2, "'0'"),
        (b"-3\n", "train.query", 1, "'-3'"),
        (b"9999999999\n", "train.query", 1, "'9999999999'"),
        (b"\n", "train.query", None, "no counts"),
        (b"2\r1\r", "train.query", 1, "a carriage return inside a line"),
    ],
)
def test_counts_that_do_not_fit(counts: bytes, at: str, line: int | None, says: str, tmp_path: Path) -> None:
    path = folder(tmp_path, train_txt=ROWS, train_query=counts)
    with pytest.raises(DataError, match=says) as caught:
        read_letor(path)
    assert (caught.value.path, caught.value.line) == (str(tmp_path / at), line)


def test_a_query_id_after_rows_without_is_refused_at_its_line(tmp_path: Path) -> None:
    path = folder(tmp_path, train_txt=b"1 1:1\n0 qid:8 1:1\n", train_query=b"2\n")
    with pytest.raises(DataError, match="a query id in a file") as caught:
        read_letor(path)
    assert caught.value.line == 2


def test_faults_of_rows_keep_their_lines(tmp_path: Path) -> None:
    path = folder(tmp_path, train_txt=b"1 1:1\n0 1:x\n", train_query=b"2\n")
    with pytest.raises(DataError, match="value 'x'") as caught:
        read_letor(path)
    assert caught.value.line == 2


def test_a_missing_group_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file") as caught:
        read_letor(folder(tmp_path, train_txt=ROWS), group=tmp_path / "sizes")
    assert caught.value.path == str(tmp_path / "sizes")


def test_the_cache_notes_new_counts(tmp_path: Path) -> None:
    path = folder(tmp_path, train_txt=ROWS, train_query=b"1\n2\n")
    assert load_rows(path).ptr.tolist() == [0, 1, 3]
    (tmp_path / "train.query").write_bytes(b"2\n1\n")
    os.utime(tmp_path / "train.query", ns=(1, 1))
    assert load_rows(path).ptr.tolist() == [0, 2, 3]
    (tmp_path / "train.query").unlink()
    with pytest.raises(DataError, match="no qid"):
        load_rows(path)


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").write_bytes(b"a secret\n")
    path = folder(tmp_path, train_txt=ROWS)
    (tmp_path / "train.query").symlink_to(tmp_path / "elsewhere" / "secret")
    with pytest.raises(DataError, match="no qid"):
        read_letor(path)


def without_ids(path: Path) -> None:
    """Turn a file with query ids into rows and a group file."""
    data = read_letor(path)
    lines = [line.split() for line in path.read_bytes().splitlines()]
    path.write_bytes(b"".join(b" ".join([grade, *rest]) + b"\n" for grade, _, *rest in lines))
    Path(f"{path}.query").write_text("".join(f"{size}\n" for size in np.diff(data.ptr)))


def test_a_fold_of_counted_parts_is_the_same_fold(tmp_path: Path, own_cache: None) -> None:
    """Each part's queries are counted from 1, yet they are different queries."""
    for seed, part in enumerate(("train", "vali", "test")):
        data = make_data(n_queries=6, documents_per_query=(2, 5), n_features=3, seed=seed)
        write_letor(data, tmp_path / f"{part}.txt")
        without_ids(tmp_path / f"{part}.txt")
    fold = load_fold(tmp_path)
    assert [part.query_ids.tolist() for part in fold.parts.values()] == [
        list(range(1, 7)),
        list(range(7, 13)),
        list(range(13, 19)),
    ]
    assert (
        fold.vali.y.tolist()
        == make_data(n_queries=6, documents_per_query=(2, 5), n_features=3, seed=1).y.tolist()
    )


def test_one_counted_file_is_a_data_set(tmp_path: Path, own_cache: None) -> None:
    data = make_data(n_queries=10, documents_per_query=(2, 5), n_features=3, seed=0)
    write_letor(data, tmp_path / "rows.txt")
    before = load_fold(tmp_path / "rows.txt")
    without_ids(tmp_path / "rows.txt")
    (tmp_path / "README.txt").write_text("1 of 2: no rows")
    assert list(find_datasets([tmp_path])) == ["rows"]
    np.testing.assert_array_equal(load_fold(tmp_path / "rows.txt").train.X, before.train.X)


def apart() -> RankingData:
    """Three documents whose file has the first query's documents on lines 1 and 3."""
    return RankingData.from_arrays([[1.0], [2.0], [3.0]], [0, 1, 2], [1, 2, 1], regroup=True)


def test_scores_are_matched_by_the_row_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "scores.txt").write_bytes(b"0.1\r\n -2e-3\t\r\n+.5\r\n\r\n \n")
    assert read_scores(tmp_path / "scores.txt", apart()).tolist() == [0.1, 0.5, -0.002]


def test_scores_are_written_in_file_order(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.txt", apart(), [0.1, 1 / 3, -2])
    assert (tmp_path / "scores.txt").read_bytes() == b"0.1\n-2.0\n0.3333333333333333\n"
    assert [p.name for p in tmp_path.iterdir()] == ["scores.txt"]


def test_scores_of_part_of_a_file_keep_its_order(tmp_path: Path) -> None:
    part = RankingData(
        np.zeros((2, 1)), np.zeros(2, int), np.array([0, 2]), np.array([1]), rows=np.array([8, 3])
    )
    write_scores(tmp_path / "scores.txt", part, [0.8, 0.3])
    assert (tmp_path / "scores.txt").read_bytes() == b"0.3\n0.8\n"
    assert read_scores(tmp_path / "scores.txt", part).tolist() == [0.8, 0.3]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3))
def test_round_trip_is_exact(tmp_path_factory: pytest.TempPathFactory, scores: list[float]) -> None:
    path = tmp_path_factory.getbasetemp() / "round_trip.txt"
    write_scores(path, apart(), scores)
    assert read_scores(path, apart()).tobytes() == np.array(scores).tobytes()


@pytest.mark.parametrize(
    ("content", "line", "found"),
    [
        (b"1\n2\n", 2, "the end after 2 scores"),
        (b"1\n23\r", 2, "the end after 2 scores"),
        (b"1\r2\r3\r4\r", 1, "a carriage return inside a line"),
        (b"", None, "the end after 0 scores"),
        (b"1\n2\n3\n4\n", 4, "more than 3 scores"),
        (b"1\n\n2\n3\n", 2, "''"),
        (b"1\nx\n3\n", 2, "'x'"),
        (b"1\n2 3\n4\n", 2, "'2 3'"),
        (b"1\n1_0\n3\n", 2, "'1_0'"),
        (b"1\nnan\n3\n", 2, "'nan'"),
        (b"1\n-inf\n3\n", 2, "'-inf'"),
        (b"1\n1e999\n3\n", 2, "'1e999'"),
        (b"1\n1e\n3\n", 2, "'1e'"),
        ("1\n٣\n3\n".encode(), 2, "'٣'"),
        (b"1\n2\0\n3\n", 2, "a NUL byte"),
        (b"\x1f\x8b\x08", None, "truncated"),
    ],
)
def test_broken_score_file(content: bytes, line: int | None, found: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.txt"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_scores(path, apart())
    assert (caught.value.path, caught.value.line) == (str(path), line)
    assert found in caught.value.found


@pytest.mark.parametrize("scores", [[1.0, 2.0], [[1.0, 2.0, 3.0]], [1.0, np.inf, 2.0], ["a", "b", "c"]])
def test_scores_that_do_not_fit_are_not_written(scores: list[object], tmp_path: Path) -> None:
    with pytest.raises(DataError):
        write_scores(tmp_path / "scores.txt", apart(), scores)
    assert not list(tmp_path.iterdir())
