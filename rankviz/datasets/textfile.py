"""Text files and uploads as chunks of whole, checked lines: gzip, line ends, encoding and progress.

`letor` and `scores` read through it, and so report a truncated archive or a UTF-16 file in the same words.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, NamedTuple

from rankviz.common.errors import DataError

Progress = Callable[[float], None]
"""Called with the fraction read, from 0 to 1."""

StrPath = str | os.PathLike[str]

CHUNK_BYTES = 1 << 20
LINE_BYTES = 16 << 20
"""Longest line; 100,000 features take about 2 MB."""
GZIP_RATIO = 5
"""LETOR text is 5 to 15 times as large as packed with gzip."""
EMPTY_LINES = 100_000
"""Blank lines and comments may outnumber content lines by at most this."""

_GZIP = b"\x1f\x8b"
_BOM = codecs.BOM_UTF8
_FOREIGN = {
    codecs.BOM_UTF32_LE: "text in UTF-32",
    codecs.BOM_UTF32_BE: "text in UTF-32",
    codecs.BOM_UTF16_LE: "text in UTF-16",
    codecs.BOM_UTF16_BE: "text in UTF-16",
    b"PK\x03\x04": "a zip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an xz archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive",
    b"Rar!": "a rar archive",
}
_PLAIN = "plain text in UTF-8, or such text compressed with gzip"
_SAVE_AS_UTF8 = "Save the file as UTF-8 text."
_LETOR = f"lines 'grade qid:query index:value …', such as 2 qid:7 1:0.5 2:0.25, in {_PLAIN}"
_START_OF_LETOR = re.compile(rb"[-+\s\d#]")
_FETCH_AGAIN = "Download or copy the file again."


class Chunk(NamedTuple):
    """Consecutive lines of a file, without their line ends; `first` counts from 1."""

    first: int
    lines: list[bytes]


@contextmanager
def open_bytes(path: StrPath) -> Iterator[IO[bytes]]:
    """Open a regular file for reading. Raises `DataError` if it is missing or unreadable."""
    try:
        stream = _open_regular(path)
    except FileNotFoundError:
        raise _cannot(path, "no such file", "Check the path.") from None
    except PermissionError:
        raise _cannot(path, "no permission to read it", "Give yourself permission to read it.") from None
    except IsADirectoryError:
        raise _cannot(path, "a folder", "Name a file inside the folder.") from None
    except (OSError, ValueError) as error:
        raise _cannot(path, f"a file that cannot be opened ({error})", "Check the path.") from None
    with stream:
        yield stream


def _open_regular(path: StrPath) -> IO[bytes]:
    if os.path.isdir(path):
        raise IsADirectoryError(path)
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("a device, pipe or socket instead of a file")
    return open(path, "rb")


def _cannot(path: StrPath, found: str, remedy: str) -> DataError:
    return DataError(found, expected="a readable file", remedy=remedy, path=os.fspath(path))


def text_chunks(
    stream: IO[bytes], path: str, progress: Progress | None = None, *, letor: bool = False
) -> Iterator[Chunk]:
    """Yield whole lines of a stream, about 1 MB at a time, without LF and CRLF ends and a leading UTF-8 mark.

    Reads from the current position, unpacks gzip by its first bytes, and calls `progress` after each chunk.
    Raises `DataError` for other archives and encodings, a damaged or truncated gzip stream, NUL bytes, lone
    carriage returns and endless lines; all lines before the fault are yielded first. With `letor`, none is
    yielded of a PDF file, a picture or the like.
    """
    raw = stream if stream.seekable() else io.BytesIO(stream.read())
    start, total = raw.tell(), _size_left(raw)
    text = _decompressed(raw, path)
    first = 1
    for block in _whole_lines(text, path):
        block = block.removeprefix(_BOM) if first == 1 else block
        valid, fault = _valid_part(block)
        if letor and first == 1 and not _START_OF_LETOR.match(block):
            what = "a PDF file" if block.startswith(b"%PDF") else fault if not valid else None
            if what is not None:  # a fault in a later line does not count: where a block ends is chance
                found, remedy = f"{what}, so no LETOR text file", "Choose another file."
                raise DataError(found, expected=_LETOR, remedy=remedy, path=path)
        lines = valid.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n") if valid else []
        yield Chunk(first, lines)
        first += len(lines)
        if fault is not None:
            raise DataError(fault, expected=_PLAIN, remedy=_SAVE_AS_UTF8, path=path, line=first)
        if progress is not None and total:
            progress(min(1.0, (raw.tell() - start) / total))
    if progress is not None:
        progress(1.0)


def check_blank_lines(lines: int, filled: int, path: str, what: str = "documents") -> None:
    """Raise `DataError` for a file of mostly blank lines and comments.

    Of its first `lines` lines, `filled` have content, such as documents.
    """
    empty = lines - filled
    if empty > EMPTY_LINES + filled:
        raise DataError(
            f"{empty:,} blank lines and comments among {filled:,} {what} so far",
            expected=f"at most {EMPTY_LINES:,} beside one for each of these",
            remedy="Remove the blank lines, or check that this is the right file.",
            path=path,
            line=lines,
        )


def estimated_text_bytes(stream: IO[bytes]) -> int:
    """Estimate the remaining bytes of a stream's text; a careful guess for packed text."""
    try:
        start = stream.tell()
        packed = stream.read(len(_GZIP)) == _GZIP
        stream.seek(start)
        return _size_left(stream) * (GZIP_RATIO if packed else 1)
    except OSError:  # the reader reports it
        return 0


def _size_left(raw: IO[bytes]) -> int:
    start = raw.tell()
    end = raw.seek(0, os.SEEK_END)
    raw.seek(start)
    return end - start


def _decompressed(raw: IO[bytes], path: str) -> IO[bytes] | gzip.GzipFile:
    """Return the stream itself or its decompressed text, by the first bytes and not by the name."""
    start = raw.tell()
    head = _read(raw, path, 8)
    raw.seek(start)
    if head.startswith(_GZIP):
        return gzip.GzipFile(fileobj=raw, mode="rb")
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise DataError(what, expected=_PLAIN, remedy="Unpack or convert it first.", path=path)
    return raw


def _whole_lines(text: IO[bytes] | gzip.GzipFile, path: str) -> Iterator[bytes]:
    """Yield blocks that end with a line end, except perhaps the last."""
    pending, line = b"", 1
    while block := _read(text, path, CHUNK_BYTES):
        cut = block.rfind(b"\n") + 1
        if cut:
            line += block.count(b"\n")
            yield pending + block[:cut]
            pending = block[cut:]
        else:
            pending += block
        if len(pending) > LINE_BYTES:
            raise DataError(
                f"a line of more than {LINE_BYTES >> 20} MiB",
                expected="lines of text",
                remedy="Check that this is the right file.",
                path=path,
                line=line,
            )
    if pending:
        yield pending.removesuffix(b"\r")


def _read(text: IO[bytes] | gzip.GzipFile, path: str, size: int) -> bytes:
    try:
        return text.read(size)
    except EOFError:
        found = "a gzip file that ends before its end mark (truncated)"
    except (gzip.BadGzipFile, zlib.error) as error:
        found = f"a damaged gzip file ({error})"
    except OSError as error:
        found = f"a file that cannot be read ({error})"
    raise DataError(found, expected="a whole file", remedy=_FETCH_AGAIN, path=path)


def _valid_part(block: bytes) -> tuple[bytes, str | None]:
    """Return whole lines before the first invalid byte, and its fault (None if all is valid)."""
    faults = {}
    if (nul := block.find(b"\0")) >= 0:
        faults[nul] = "a NUL byte (a binary file, or text in UTF-16)"
    if not block.isascii():
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            faults[error.start] = f"byte 0x{block[error.start]:02x}, which is not UTF-8"
    if b"\r" in block and (lone := re.search(rb"\r(?!\n)", block)):
        faults[lone.start()] = "a carriage return inside a line (line ends of old Macs?)"
    if not faults:
        return block, None
    at = min(faults)
    return block[: block.rfind(b"\n", 0, at) + 1], faults[at]


def progress_within(progress: Progress | None, start: float, width: float) -> Progress | None:
    """Return the progress of a step that spans `start` to `start + width` of the whole; None for None."""
    return None if progress is None else lambda fraction: progress(start + width * fraction)


def show(token: bytes, limit: int = 40) -> str:
    """Quote a token for a message, shortened to `limit` characters."""
    text = token.decode("utf-8", errors="backslashreplace")
    return repr(text if len(text) <= limit else text[:limit] + "…")
