"""The matrix that is read, in memory and in a file: as a plain loop makes it, and in how much memory."""

import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankviz.datasets import letor_rows, read_letor, textfile
from rankviz.datasets.cache import FileStorage
from rankviz.datasets.letor import read_with_note
from rankviz.datasets.letor_lines import parse_lines
from rankviz.datasets.letor_rows import MemoryStorage, Rows

VALUES = st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.lists(VALUES, min_size=4, max_size=4).map(lambda values: dict(enumerate(values)))
SOME = st.dictionaries(st.integers(0, 12), VALUES, max_size=5)
DOCUMENTS = st.one_of(st.lists(WHOLE, min_size=1), st.lists(st.one_of(WHOLE, SOME), min_size=1))


def line(document: dict[int, float]) -> bytes:
    return f"1 qid:1 {' '.join(f'{i + 1}:{value!r}' for i, value in document.items())}".encode()


def plain(documents: list[dict[int, float]]) -> np.ndarray:
    X = np.zeros((len(documents), 1 + max(max(document, default=-1) for document in documents)))
    for i, document in enumerate(documents):
        for j, value in document.items():
            X[i, j] = value
    return X


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(DOCUMENTS, min_size=1, max_size=4), st.booleans(), st.integers(1, 60), st.data())
def test_as_a_plain_loop_makes_it(
    tmp_path: Path, blocks: list[list[dict[int, float]]], apart: bool, cells: int, data: st.DataObject
) -> None:
    documents = [document for block in blocks for document in block]
    X = plain(documents)
    order = np.array(data.draw(st.permutations(range(len(X))))) if apart else None
    with pytest.MonkeyPatch.context() as patch, FileStorage(tmp_path / "entry.npz") as folder:
        patch.setattr(letor_rows, "CELLS_AT_ONCE", cells)
        for storage in (MemoryStorage(), folder):
            rows = Rows(storage)
            for block in blocks:
                rows.add(parse_lines(1 + rows.n, [line(document) for document in block]))
            assert (rows.n, rows.width) == X.shape
            assert rows.listed == sum(map(len, documents))
            if rows.width:
                first = next(i for i, document in enumerate(documents) if rows.width - 1 in document)
                assert rows.widest == first + 1
                expected = X if order is None else X[order]
                assert rows.matrix(order).tobytes() == expected.tobytes()
    assert not list(tmp_path.glob("entry*"))


@pytest.mark.parametrize("text", ["all listed", "some left out", "queries apart", "apart, some left out"])
def test_memory(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """X and what is needed at a time, also where queries stand apart."""
    monkeypatch.setattr(textfile, "CHUNK_BYTES", 1 << 15)
    monkeypatch.setattr(letor_rows, "CELLS_AT_ONCE", 1 << 13)
    path, lines = tmp_path / "train.txt", []
    for i in range(3000):
        features = [f"{j}:{(i + j) % 9}" for j in range(1, 101) if "left out" not in text or (i + j) % 7]
        query = 0 if "apart" in text and i == 2999 else i // 10
        lines.append(f"1 qid:{query} {' '.join(features)}")
    path.write_text("\n".join(lines))
    del lines
    size = 8 * 3000 * 100
    assert traced(lambda: read_with_note(path)) < (1.4 if "apart" in text else 1.3) * size
    with FileStorage(tmp_path / "entry.npz") as folder:
        assert traced(lambda: read_with_note(path, storage=folder)) < 0.5 * size


def traced(read: object) -> int:
    """Bytes that are allocated at most at a time."""
    tracemalloc.start()
    try:
        assert read()[0].n_documents == 3000
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_x_of_a_sound_file_is_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a copy: another stream would be opened for that."""
    opened = []
    monkeypatch.setattr(
        letor_rows.MemoryStorage, "stream", lambda _: opened.append(io.BytesIO()) or opened[-1]
    )
    (tmp_path / "train.txt").write_text("1 qid:1 1:1 2:2\n0 qid:1 2:3\n")
    assert read_letor(tmp_path / "train.txt").X.tolist() == [[1, 2], [0, 3]]
    assert len(opened) == 1
