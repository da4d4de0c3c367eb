"""Whole files, locks, and the location of files that come with the package; imports little.

See docs/decisions/0027-what-systems-differ-in.md and docs/decisions/0028-the-wheel-is-the-product.md.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
import time
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock

WINDOWS = sys.platform == "win32"
IN_BROWSER = sys.platform in ("emscripten", "wasi")
"""True in a browser (Pyodide), which has neither threads nor further processes."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""Error numbers of a disk that is full or read-only."""
REPLACE_SECONDS = 0.5
"""Windows does not replace a file that another process reads; try again for this long."""
POLL_SECONDS = 0.01
"""Seconds between attempts to take a held lock."""
PACKAGE = Path(__file__).resolve().parents[1]
_END, _END_BYTES, _LONGEST_COMMENT = b"PK\x05\x06", 22, 0xFFFF
_ZIP64, _ZIP64_BYTES, _ZIP64_END, _ZIP64_END_BYTES = b"PK\x06\x07", 20, b"PK\x06\x06", 56
ENTRY_BYTES = 128
"""Bytes for each entry in the directory of a zip archive that rankviz writes; names there are short."""
INSIDE = "_shipped"
"""Folder in an installed package for files at the top of a checkout; tools/package_build.py fills it."""


def sync(stream: IO[str] | IO[bytes]) -> None:
    """Bring written data to the disk."""
    stream.flush()
    os.fsync(stream.fileno())


@contextmanager
def write_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file to write that gets its name when it is complete; on an exception nothing changes.

    Raises OSError if it cannot be written, also for the name of a folder or a device.
    """
    target = Path(path).resolve()  # a link stays one
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "cannot save here (this is not a file)", str(path))
    aside = target.with_name(f".{os.urandom(8).hex()}.tmp")
    try:
        opened = aside.open("xb")
    except OSError as error:  # it names the temporary file, which the caller does not know
        raise OSError(error.errno, f"cannot save here ({error.strerror})", str(target.parent)) from None
    try:
        with opened as file:
            yield file
            sync(file)
        replace(aside, target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def replace(source: Path, target: Path) -> None:
    """Rename a file over another; on Windows retry for `REPLACE_SECONDS` while the other is open."""
    deadline = time.monotonic() + (REPLACE_SECONDS if WINDOWS else 0)
    while True:
        try:
            os.replace(source, target)
            return
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.01)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Admit one thread of one process at a time; a process that dies loses its lock."""
    with _lock_class()(path, poll_interval=POLL_SECONDS):
        yield


@cache
def _lock_class() -> type[BaseFileLock]:
    """Return the lock class for this system; suppress the library's warning if only a soft lock works."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="only soft file lock", category=UserWarning)
        from filelock import FileLock
    return FileLock


def shipped(name: str, package: Path = PACKAGE) -> Path:
    """Return the path of a file or folder that comes with rankviz, such as "app.py" or "data".

    A checkout has it at its top. An installed package has it in `INSIDE`: a package called `ui` or `pages`
    must not lie beside rankviz.
    """
    inside = package / INSIDE
    return (inside if inside.is_dir() else package.parent) / name


def zip_entry(name: str) -> zipfile.ZipInfo:
    """Return an entry of a zip archive without the time: equal contents make equal archives."""
    entry = zipfile.ZipInfo(name)
    entry.external_attr = 0o600 << 16
    return entry


def open_zip(stream: IO[bytes], most: int) -> zipfile.ZipFile:
    """Open a zip archive that rankviz wrote, with at most so many entries.

    Raises BadZipFile for a larger directory, before zipfile reads it, and for an entry of another compression
    than deflate: of bzip2 and LZMA, zipfile unpacks a block whole, whatever size the entry claims.
    """
    entries, size, _ = zip_directory(stream)
    if entries > most or size > most * ENTRY_BYTES:
        raise zipfile.BadZipFile(
            f"its directory has {entries:,} entries, of at most {most:,}, in {size:,} bytes"
        )
    archive = zipfile.ZipFile(stream)
    for entry in archive.infolist():
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            archive.close()
            raise zipfile.BadZipFile(f"{entry.filename[:80]!r} has another compression than deflate")
    return archive


def zip_directory(stream: IO[bytes]) -> tuple[int, int, bool]:
    """Return the entries and bytes of a zip archive's directory by its end record, and if that is zip64.

    zipfile would read a directory of millions of entries. Raises BadZipFile if there is none.
    """
    size = stream.seek(0, os.SEEK_END)
    start = max(0, size - _END_BYTES - _LONGEST_COMMENT - _ZIP64_BYTES - _ZIP64_END_BYTES)
    stream.seek(start)
    tail = stream.read(size - start)
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + _END_BYTES:
        raise zipfile.BadZipFile("its directory is missing")
    locator = tail[max(0, at - _ZIP64_BYTES) : at]
    if not locator.startswith(_ZIP64):
        return *struct.unpack_from("<HI", tail, at + 10), False
    end = at - _ZIP64_BYTES - _ZIP64_END_BYTES
    if (
        end < 0
        or not tail.startswith(_ZIP64_END, end)
        or locator[8:16] != (start + end).to_bytes(8, "little")
    ):
        raise zipfile.BadZipFile("its zip64 directory is missing")
    return *struct.unpack_from("<QQ", tail, end + 32), True
