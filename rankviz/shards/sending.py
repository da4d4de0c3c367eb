"""How documents come to workers: from a file that they see, or along with a task, once for many fits."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError
from rankviz.common.mapped import mapping_of, offset_in
from rankviz.shards.part import Part


@dataclass(frozen=True, eq=False)
class ByPath:
    """A part whose X is a piece of a file: what is sent is where it lies.

    Attributes
    ----------
    path : str
    size, modified : int
        Of the file, in bytes and nanoseconds: another file is not taken for it.
    offset : int
        Where X begins in the file.
    shape : (int, int)
    rest : Part
        The same part, with an empty X.
    """

    path: str
    size: int
    modified: int
    offset: int
    shape: tuple[int, int]
    rest: Part

    @classmethod
    def of(cls, part: Part) -> ByPath | None:
        """Where X lies, None where it is no piece of a mapped file."""
        mapped = mapping_of(part.X)
        if mapped is None or not part.X.flags.c_contiguous:
            return None
        filename = str(mapped.filename)
        try:
            status = os.stat(filename)
        except OSError:  # mapped still, though its name is gone: the cache needed the room
            return None
        offset = offset_in(part.X, mapped)
        return cls(filename, status.st_size, status.st_mtime_ns, offset, part.X.shape, without(part))

    def open(self) -> Part:
        """The part; `DataError` where the file is not there, or another one."""
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
    """The same part, with an empty X."""
    return replace(part, X=np.zeros((0, part.X.shape[1])))


def joined(rest: Part, X: FloatArray) -> Part:
    """A part with its documents again."""
    return replace(rest, X=X)


def digest(X: FloatArray) -> str:
    """What tells these documents from others."""
    h = hashlib.blake2b(repr(X.shape).encode(), digest_size=16)
    h.update(np.ascontiguousarray(X).data)
    return h.hexdigest()


def seen(recipe: ByPath) -> bool:
    """Whether the file of a part is there as it is elsewhere."""
    try:
        status = os.stat(recipe.path)
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (recipe.size, recipe.modified)


def opened(recipe: ByPath) -> Part:
    """The part, where a worker sees its file."""
    return recipe.open()
