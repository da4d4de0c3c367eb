"""Test pieces of mapped files: found, placed, and their pages released unchanged."""

from pathlib import Path

import numpy as np
import pytest

from rankviz.common.arrays import mapping_of, offset_in, release_pages


@pytest.fixture
def mapping(tmp_path: Path) -> np.memmap:
    """16 MB of numbers that begin 64 bytes into a file."""
    file = tmp_path / "numbers.bin"
    file.write_bytes(b"\0" * 64 + np.arange(2_000_000.0).tobytes())
    return np.memmap(file, np.float64, "r", 64, (20_000, 100))


def resident(path: str) -> int:
    """Bytes of a mapped file that this process has in memory."""
    lines = iter(Path("/proc/self/smaps").read_text().splitlines())
    return sum(
        1024 * int(next(line for line in lines if line.startswith("Rss:")).split()[1])
        for line in lines
        if line.endswith(path)
    )


def test_a_piece_knows_its_file_and_place(mapping: np.memmap) -> None:
    piece = np.asarray(mapping)[5000:6000]
    found = mapping_of(piece)
    assert found is not None
    offset = offset_in(piece, found)
    assert offset == 64 + 5000 * 100 * 8
    np.testing.assert_array_equal(np.memmap(found.filename, np.float64, "r", offset, (1000, 100)), piece)
    assert mapping_of(piece.copy()) is None
    assert mapping_of(np.zeros(3)) is None


def test_pages_are_let_go_and_come_back(mapping: np.memmap) -> None:
    total, path = mapping.sum(), str(mapping.filename)
    before = resident(path)
    assert before >= mapping.nbytes
    piece = mapping[5000:15_000]
    release_pages(piece)
    assert resident(path) <= before - piece.nbytes + 16_384
    assert mapping.sum() == total
    release_pages(mapping[::2])  # no piece in one: nothing is done
    release_pages(np.zeros(10))
    release_pages(mapping[:0])
