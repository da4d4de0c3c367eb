"""Score files: one number a line, in the order of the data file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankviz.datasets.group_files import read_scores, write_scores
from rankviz.datasets.types import DataError, RankingData


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


def test_missing_score_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_scores(tmp_path / "none.txt", apart())


@pytest.mark.parametrize("scores", [[1.0, 2.0], [[1.0, 2.0, 3.0]], [1.0, np.nan, 2.0], [1.0, np.inf, 2.0]])
def test_scores_that_do_not_fit_are_not_written(scores: list[float], tmp_path: Path) -> None:
    with pytest.raises(DataError):
        write_scores(tmp_path / "scores.txt", apart(), scores)
    assert not list(tmp_path.iterdir())


def test_scores_that_are_not_numbers_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not numbers"):
        write_scores(tmp_path / "scores.txt", apart(), ["a", "b", "c"])
