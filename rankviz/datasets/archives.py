"""Files of an upload: plain, compressed with gzip, or packed in one zip archive.

All bytes are counted during unpacking, which stops a zip bomb early.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from typing import IO

from rankviz.datasets.members import (
    BROKEN,
    MB,
    PACKED,
    WANTED,
    Limits,
    Member,
    Upload,
    damaged,
    refused,
    shown_name,
    too_many,
)
from rankviz.datasets.textfile import CHUNK_BYTES
from rankviz.datasets.types import DataError
from rankviz.datasets.zips import zipped

RATIO_FLOOR = 16 * MB
"""Texts up to this size may have any compression ratio."""

_GZIP, _ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_TAR = (257, b"ustar")


def members(uploads: Sequence[Upload], limits: Limits) -> list[Member]:
    """List the files of an upload: the contents of one zip archive, or the files sent.

    Raises `DataError` for no files, too many or too large ones, and for a damaged or encrypted archive. Also
    for one with links, other archives, duplicate names, or names that lead out of it.
    """
    _check_amount(uploads, limits)
    packed = [upload for upload in uploads if _head(upload, 4).startswith(_ZIP)]
    if not packed:
        return [_sent(upload) for upload in uploads]
    if len(uploads) > 1:
        raise DataError(
            f"a zip archive among {len(uploads)} files",
            expected="one zip archive alone, or files that are not archives",
            remedy="Upload the archive by itself.",
            path=shown_name(packed[0].name),
        )
    return zipped(uploads[0], limits)


def unpacked(member: Member, limits: Limits) -> Iterator[bytes]:
    """Yield the text of a member in blocks of about 1 MB; the first bytes decide on gzip.

    Raises `DataError`, after the blocks before the fault, for a member that is damaged, expands too far or
    holds another archive.
    """
    done = 0
    for block in _blocks(member):
        if done == 0:
            _refuse_archive(block, member)
        done += len(block)
        if done > max(RATIO_FLOOR, limits.ratio * member.packed):
            raise DataError(
                f"{member.packed:,} bytes that unpack to more than {limits.ratio} times as much",
                expected=f"text that gzip or zip makes at most {limits.ratio} times smaller",
                remedy="Upload the text itself.",
                path=member.shown,
            )
        yield block


def _check_amount(uploads: Sequence[Upload], limits: Limits) -> None:
    if not uploads:
        raise DataError("no file", expected=WANTED, remedy="Choose one.")
    if len(uploads) > limits.entries:
        raise too_many(len(uploads), limits, shown_name(uploads[0].name))
    size = sum(upload.size for upload in uploads)
    if size > limits.upload_bytes:
        raise DataError(
            f"{size / MB:,.0f} MB",
            expected=f"at most {limits.upload_bytes / MB:,.0f} MB at once",
            remedy="Compress the files, upload one fold only, or put the data set below a data folder.",
            path=shown_name(uploads[0].name),
        )


def _head(upload: Upload, size: int) -> bytes:
    upload.stream.seek(0)
    head = upload.stream.read(size)
    upload.stream.seek(0)
    return head


def _sent(upload: Upload) -> Member:
    def opened() -> IO[bytes]:
        upload.stream.seek(0)
        return upload.stream

    name = shown_name(upload.name)
    if PACKED.search(name):
        raise _not_ours(name)
    return Member(name, (name,), upload.size, opened)


def _not_ours(shown: str) -> DataError:
    return DataError(
        "an archive of another kind",
        expected=WANTED,
        remedy="Unpack it, and pack its folds in one zip archive.",
        path=shown,
    )


def _blocks(member: Member) -> Iterator[bytes]:
    """Yield unpacked bytes; convert read errors into errors about the member."""
    try:
        raw = member.open()
        packed = raw.read(len(_GZIP)) == _GZIP
        raw.seek(0)
        text = gzip.GzipFile(fileobj=raw) if packed else raw
        while block := text.read(CHUNK_BYTES):
            yield block
    except EOFError:
        raise damaged(member.shown, "file", "it ends too early") from None
    except BROKEN as error:
        raise damaged(member.shown, "file", error) from None


def _refuse_archive(block: bytes, member: Member) -> None:
    """Raise `DataError` for a file still packed after gzip and zip."""
    at, magic = _TAR
    if block.startswith((_GZIP, *_ZIP)) or block[at:].startswith(magic):
        raise refused(member.shown, "an archive inside of it", "Unpack the inner one first.")
