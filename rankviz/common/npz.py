"""One file format for models and runs: an npz with arrays and a JSON text "meta"; never a pickle.

Files are written aside and renamed, so that they are complete or absent; sizes are checked before reading.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError
from rankviz.common.files import open_zip, write_whole

MAX_BYTES = 4 * 2**30
"""The arrays of a file may not claim more than this together."""

MOST_ARRAYS = 1000
"""Most arrays in a file; models and runs have at most a few dozen."""

Arrays = dict[str, NDArray[Any]]


def write_npz(path: Path, meta: dict[str, Any], arrays: Arrays) -> Path:
    """Write arrays and their JSON description to `path`. Raises OSError if it is not writable.

    Raises ValueError for an array of Python objects, which NumPy would pickle.
    """
    content = npz_bytes(meta, arrays)
    with write_whole(path) as file:
        file.write(content)
    return path


def npz_bytes(meta: dict[str, Any], arrays: Arrays) -> bytes:
    """Return the file of `write_npz` as bytes. Raises ValueError like it."""
    text = np.frombuffer(json.dumps(meta, allow_nan=False, default=_plain).encode(), np.uint8)
    file = io.BytesIO()
    for name, array in arrays.items():  # up to NumPy 2.1, `allow_pickle=False` would be one more array
        if array.dtype.hasobject:
            raise ValueError(f"array {name!r} contains Python objects, which are not allowed")
    np.savez(file, meta=text, **cast(dict[str, Any], arrays))
    return file.getvalue()


def read_npz(path: Path, what: str) -> tuple[dict[str, Any], Arrays]:
    """Read a file of `write_npz`. Raises `DataError`, with its name `what`, for any other file."""
    try:
        with path.open("rb") as file:
            return _read(file, path.stat().st_size, what, path, MAX_BYTES)
    except FileNotFoundError as error:
        raise DataError(
            "no such file", expected=f"a {what} file that rankviz wrote", remedy="Check the path.", path=path
        ) from error
    except OSError as error:
        raise unreadable(path, what, str(error)) from error


def read_npz_bytes(content: bytes, what: str, longest: int) -> tuple[dict[str, Any], Arrays]:
    """Read bytes of `npz_bytes`, with a description of at most `longest` bytes.

    Raises `DataError`, with their name `what`, for any other bytes.
    """
    return _read(io.BytesIO(content), len(content), what, None, longest)


def _read(
    file: IO[bytes], held: int, what: str, path: Path | None, longest: int
) -> tuple[dict[str, Any], Arrays]:
    """Return the description, of at most `longest` bytes, and the arrays in a file of `held` bytes."""
    try:
        with open_zip(file, MOST_ARRAYS) as archive:
            entries = archive.infolist()
            claimed = sum(entry.file_size for entry in entries)
            if claimed > min(MAX_BYTES, held):  # `write_npz` does not compress
                raise ValueError(f"its arrays claim {claimed} bytes, in a file of {held}")
            arrays = {entry.filename.removesuffix(".npy"): _array(archive, entry) for entry in entries}
        text = arrays.pop("meta")
        if text.nbytes > longest:  # JSON may take 25 times its size, and no other thread runs meanwhile
            raise ValueError(f"its description has {text.nbytes:,} bytes, of at most {longest:,}")
        meta = json.loads(text.tobytes().decode())
    except Exception as error:  # a crafted file makes zipfile, zlib, numpy and json raise nearly anything
        raise unreadable(path, what, str(error) or type(error).__name__) from error
    if not isinstance(meta, dict):
        raise unreadable(path, what, "its description is not an object")
    return meta, arrays


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    """Read an array. Raises ValueError if its head declares more than it has, or Python objects.

    NumPy's reader would allocate what the head declares, and would parse each head a second time.
    """
    with archive.open(entry) as stream:
        read = npy.read_array_header_1_0 if npy.read_magic(stream) == (1, 0) else npy.read_array_header_2_0
        shape, by_columns, dtype = read(stream)
        if dtype.hasobject:
            raise ValueError(f"{entry.filename} has Python objects, which are never read")
        needed = math.prod(shape) * max(1, dtype.itemsize)
        if needed > entry.file_size:
            raise ValueError(f"{entry.filename} claims {needed} bytes and has {entry.file_size}")
        content = memoryview(bytearray(entry.file_size - stream.tell()))
        at = 0
        while read_bytes := stream.readinto(content[at:]):  # type: ignore[attr-defined]
            at += read_bytes
        values = np.frombuffer(content[:at], dtype)
    return values.reshape(shape, order="F" if by_columns else "C")


def _plain(value: object) -> object:
    """Return NumPy's numbers, which a grid search sets as parameters, as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written as JSON")


def unreadable(path: Path | None, what: str, why: str | Exception) -> DataError:
    """Return the error for a file that is not what it should be."""
    if isinstance(why, KeyError):
        why = f"{why} is missing or unknown"
    return DataError(
        f"not a readable {what} ({why})",
        expected=f"a {what} file that rankviz wrote",
        remedy=f"Save the {what} again, or check the path.",
        path=path,
    )


def shaped(arrays: Arrays, name: str, *shape: int) -> FloatArray:
    """Return the array of this name. Raises ValueError unless it is finite float64 of this shape."""
    array = arrays[name]
    if array.dtype != np.float64 or array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"array {name!r} is {array.dtype}{array.shape}, expected finite float64{shape}")
    return array
