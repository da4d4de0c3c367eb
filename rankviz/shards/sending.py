"""Ways to bring documents to workers: from a file that they see, or with a task, once for many fits."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace

import numpy as np

from rankviz.common.arrays import FloatArray, mapping_of, offset_in
from rankviz.common.errors import DataError
from rankviz.shards.part import Part


@dataclass(frozen=True, eq=False)
class ByPath:
    """A part whose X is a piece of a file; only its location is sent.

    Attributes
    ----------
    path : str
    size, modified : int
        Size and time of the file, in bytes and nanoseconds, to detect changes.
    offset : int
        Position of X in the file.
    shape : (int, int)
    rest : Part
        The same part with an empty X.
    """

    path: str
    size: int
    modified: int
    offset: int
    shape: tuple[int, int]
    rest: Part

    @classmethod
    def of(cls, part: Part) -> ByPath | None:
        """Locate X; None unless it is a contiguous piece of a mapped file."""
        mapped = mapping_of(part.X)
        if mapped is None or not part.X.flags.c_contiguous:
            return None
        filename = str(mapped.filename)
        try:
            status = os.stat(filename)
        except OSError:  # still mapped, but the cache has deleted its name
            return None
        offset = offset_in(part.X, mapped)
        return cls(filename, status.st_size, status.st_mtime_ns, offset, part.X.shape, without(part))

    def open(self) -> Part:
        """Open the part; `DataError` if the file is missing or changed."""
        if not seen(self):
            raise DataError(
                "documents that are not there, or were changed",
                expected="the file as it was when training began",
                remedy="Put it where all workers see it under this path, and train again.",
                path=self.path,
            )
        X: FloatArray = np.memmap(self.path, np.float64, "r", self.offset, self.shape)
        return joined(self.rest, X)


def without(part: Part) -> Part:
    """Return the same part with an empty X."""
    return replace(part, X=np.zeros((0, part.X.shape[1])))


def joined(rest: Part, X: FloatArray) -> Part:
    """Return a part with its documents."""
    return replace(rest, X=X)


def digest(X: FloatArray) -> str:
    """Return a hash of these documents."""
    h = hashlib.blake2b(repr(X.shape).encode(), digest_size=16)
    h.update(np.ascontiguousarray(X).data)
    return h.hexdigest()


def seen(recipe: ByPath) -> bool:
    """Return True if the file of a part is there and unchanged."""
    try:
        status = os.stat(recipe.path)
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (recipe.size, recipe.modified)


def opened(recipe: ByPath) -> Part:
    """Open the part on a worker that sees its file."""
    return recipe.open()
