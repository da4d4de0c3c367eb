"""Size checks of feature matrices before allocation.

A few bytes of a file may name feature 100,000. So the number of listed values, the free memory and an
upload's limit bound the size.

See docs/decisions/0026-reading-data.md.
"""

from __future__ import annotations

from rankviz.common.memory import free_memory
from rankviz.common.numbers import megabytes
from rankviz.datasets.types import DataError

ROOMY_CELLS = 1 << 21
"""Matrices up to this size (16 MiB) may be arbitrarily sparse."""
CELLS_PER_VALUE = 1000
"""Most entries per listed value in larger matrices."""
MEMORY_SHARE = 0.5
"""Largest share of the free memory for one matrix: regrouping and splitting copy it."""
_REMEDY = "Number the features 1, 2, 3, … without gaps, or split the file."


def check_cells(n: int, d: int, listed: int, *, path: str, line: int | None) -> None:
    """Raise `DataError` if (n, d) is too large for the listed values.

    `line` contains the widest feature.
    """
    if n * d > max(ROOMY_CELLS, CELLS_PER_VALUE * listed):
        raise DataError(
            f"{n:,} documents with features up to index {d}, but only {listed:,} values",
            expected=f"a value for at least one in {CELLS_PER_VALUE:,} entries of the dense matrix",
            remedy=_REMEDY,
            path=path,
            line=line,
        )


def check_memory(n: int, d: int, *, path: str | None, line: int | None = None) -> None:
    """Raise `DataError` if a dense (n, d) takes more than its share of the free memory."""
    if n * d <= ROOMY_CELLS:
        return
    room = MEMORY_SHARE * free_memory()
    if 8 * n * d > room:
        raise DataError(
            f"{n:,} documents with features up to index {d}, which take {megabytes(8 * n * d)} as a matrix",
            expected=f"at most {megabytes(room)} ({MEMORY_SHARE:.0%} of the memory that is free)",
            remedy=f"{_REMEDY[:-1]}, or close other programs.",
            path=path,
            line=line,
        )


def check_room(n: int, d: int, room: int, of: int, *, path: str, line: int | None = None) -> None:
    """Raise `DataError` if (n, d) exceeds an upload's remaining entries."""
    if n * d > room:
        raise DataError(
            f"{n:,} documents with features up to index {d}, {n * d:,} entries",
            expected=f"at most {of:,} entries (documents times features) in all files of an upload together",
            remedy=f"Upload fewer folds, or use a data folder. {_REMEDY}",
            path=path,
            line=line,
        )
