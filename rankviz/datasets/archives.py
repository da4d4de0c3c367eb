"""What an upload holds: files sent as they are, compressed with gzip, or packed in one zip archive.

An archive is read entry by entry and never extracted: its names are looked at and taken apart, no path is
made of them. Everything is counted while it is unpacked, so that a bomb is refused before it has grown.
"""

from __future__ import annotations

import gzip
import os
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO

from rankviz.datasets.textfile import CHUNK_BYTES
from rankviz.datasets.types import DataError

MB = 1 << 20
RATIO_FLOOR = 16 * MB
"""Smaller texts may be packed as tightly as they like."""

_GZIP, _ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_TAR = (257, b"ustar")
_END, _END_BYTES, _LONGEST_COMMENT = b"PK\x05\x06", 22, 0xFFFF
_ZIP64, _ZIP64_BYTES = b"PK\x06\x07", 20
_BYTES_PER_ENTRY = 1024
_DRIVE = re.compile(r"[A-Za-z]:")
_PACKED = re.compile(
    r"\.(zip|rar|7z|tar|tgz|tbz2?|txz|bz2|xz|zst|lzma|cab|iso)$|\.tar\.[a-z0-9]+$", re.IGNORECASE
)
_ENCRYPTED = 0x1
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
"""What zipfile and gzip raise for archives that are damaged or of a kind they do not know."""
_WANTED = "LETOR text, such text compressed with gzip, or a zip archive of such files"


@dataclass(frozen=True)
class Limits:
    """How much may be uploaded at once.

    Attributes
    ----------
    upload_bytes : int
        All files together, as they are sent.
    text_bytes : int
        All files together, unpacked.
    ratio : int
        Unpacked bytes for each packed one; LETOR text has 5 to 15.
    entries : int
        Files and folders in an archive, and files sent at once.
    kept_bytes : int
        All uploads of one visitor together.
    """

    upload_bytes: int = 200 * MB
    text_bytes: int = 1024 * MB
    ratio: int = 150
    entries: int = 500
    kept_bytes: int = 4096 * MB


@dataclass(frozen=True)
class Upload:
    """One file as it was sent: its name, and its bytes as a stream that can be sought."""

    name: str
    stream: IO[bytes]

    @property
    def size(self) -> int:
        """Number of bytes."""
        self.stream.seek(0, os.SEEK_END)
        size = self.stream.tell()
        self.stream.seek(0)
        return size


@dataclass(frozen=True)
class Member:
    """One file of an upload, not unpacked yet.

    Attributes
    ----------
    shown : str
        What messages call it: "letor.zip: Fold1/train.txt".
    path : tuple of str
        Its folders and its name. They say what it is and are never made a path.
    packed : int
        Its size as sent.
    open : () -> stream
        Opens it; raises what zipfile raises.
    """

    shown: str
    path: tuple[str, ...]
    packed: int
    open: Callable[[], IO[bytes]]


def members(uploads: Sequence[Upload], limits: Limits) -> list[Member]:
    """List the files of an upload: those of one zip archive, or those that were sent.

    Raises `DataError` for nothing, too much, or an archive that is damaged, encrypted, holds links, other
    archives, names twice, or names that lead out of it.
    """
    _check_amount(uploads, limits)
    zipped = [upload for upload in uploads if _head(upload, 4).startswith(_ZIP)]
    if not zipped:
        return [_sent(upload) for upload in uploads]
    if len(uploads) > 1:
        raise DataError(
            f"a zip archive among {len(uploads)} files",
            expected="one zip archive alone, or files that are not archives",
            remedy="Upload the archive by itself.",
            path=shown_name(zipped[0].name),
        )
    return _zipped(uploads[0], limits)


def unpacked(member: Member, limits: Limits) -> Iterator[bytes]:
    """The text of a member in blocks of about 1 MB, through gzip where its first bytes say so.

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


def shown_name(name: str) -> str:
    """The last component of a name that was sent, for messages, without characters that cannot be printed."""
    last = re.split(r"[/\\]", name)[-1]
    text = "".join(c if c.isprintable() else "?" for c in last)
    return text if len(text) <= 80 else text[:77] + "…"


def _check_amount(uploads: Sequence[Upload], limits: Limits) -> None:
    if not uploads:
        raise DataError("no file", expected=_WANTED, remedy="Choose one.")
    if len(uploads) > limits.entries:
        raise _too_many(len(uploads), limits, shown_name(uploads[0].name))
    size = sum(upload.size for upload in uploads)
    if size > limits.upload_bytes:
        raise DataError(
            f"{size / MB:,.0f} MB",
            expected=f"at most {limits.upload_bytes / MB:,.0f} MB at once",
            remedy="Compress the files, upload one fold only, or put the data set below a data folder.",
            path=shown_name(uploads[0].name),
        )


def _too_many(number: int, limits: Limits, name: str) -> DataError:
    return DataError(
        f"{number:,} files",
        expected=f"at most {limits.entries} at once",
        remedy="Keep only the folds' train, vali and test files.",
        path=name,
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
    if _PACKED.search(name):
        raise _not_ours(name)
    return Member(name, (name,), upload.size, opened)


def _not_ours(shown: str) -> DataError:
    return DataError(
        "an archive of another kind",
        expected=_WANTED,
        remedy="Unpack it, and pack its folds in one zip archive.",
        path=shown,
    )


def _zipped(upload: Upload, limits: Limits) -> list[Member]:
    name = shown_name(upload.name)
    _check_directory(upload, limits, name)
    try:
        archive = zipfile.ZipFile(upload.stream)
    except _BROKEN as error:
        raise _damaged(name, "zip archive", error) from None
    if len(archive.infolist()) > limits.entries:  # the end record may tell another number
        raise _too_many(len(archive.infolist()), limits, name)
    return _entries(archive, name)


def _entries(archive: zipfile.ZipFile, name: str) -> list[Member]:
    found: dict[str, Member] = {}
    for info in archive.infolist():
        path = _safe_path(info, name)
        _check_kind(info, f"{name}: {'/'.join(path)}")
        if info.is_dir() or not path or path[0] == "__MACOSX" or path[-1].startswith("."):
            continue
        shown = f"{name}: {'/'.join(path)}"
        key = unicodedata.normalize("NFC", "/".join(path)).casefold()
        if key in found:
            raise _refused(shown, "a name that is in the archive twice", "Pack each file once.")
        if _PACKED.search(path[-1]):
            raise _refused(shown, "an archive in the archive", "Unpack the inner one first.")
        found[key] = Member(shown, path, info.compress_size, partial(archive.open, info))
    return list(found.values())


def _check_directory(upload: Upload, limits: Limits, name: str) -> None:
    """Look at the end record before zipfile reads a directory that may have millions of entries."""
    size = upload.size
    start = max(0, size - _END_BYTES - _LONGEST_COMMENT)
    upload.stream.seek(start)
    tail = upload.stream.read(size - start)
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + _END_BYTES:
        raise _damaged(name, "zip archive", "its directory is missing")
    if tail[max(0, at - _ZIP64_BYTES) : at].startswith(_ZIP64):
        raise _refused(name, "a zip archive in the zip64 format", "Pack it without zip64.")
    entries, directory = struct.unpack_from("<HI", tail, at + 10)
    if entries > limits.entries or directory > limits.entries * _BYTES_PER_ENTRY:
        raise _too_many(entries, limits, name)


def _safe_path(info: zipfile.ZipInfo, archive: str) -> tuple[str, ...]:
    """The components of an entry's name; raises `DataError` for a name that leads out of the archive."""
    name = info.orig_filename.replace("\\", "/")
    path = tuple(bit for bit in name.split("/") if bit not in ("", "."))
    shown = f"{archive}: {shown_name(name) or '(no name)'}"
    if name.startswith("/") or _DRIVE.match(name) or ".." in path:
        raise _refused(
            shown, "a name that leads out of the archive", "Pack the folder itself, without paths."
        )
    if not all(c.isprintable() for c in name) or len(name) > _BYTES_PER_ENTRY:
        raise _refused(shown, "a name with control characters, or far too long a one", "Rename the file.")
    return path


def _check_kind(info: zipfile.ZipInfo, shown: str) -> None:
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _refused(shown, "a link or a special file", "Pack the file that it points to.")
    if info.flag_bits & _ENCRYPTED:
        raise _refused(shown, "an encrypted file", "Pack it without a password.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _refused(shown, "a compression other than deflate", "Pack it with the usual compression.")


def _refused(shown: str, found: str, remedy: str) -> DataError:
    return DataError(found, expected="a plain zip archive of LETOR files", remedy=remedy, path=shown)


def _damaged(shown: str, what: str, error: object) -> DataError:
    return DataError(
        f"a damaged {what} ({error})",
        expected="a whole file",
        remedy="Pack or download it again, and upload it again.",
        path=shown,
    )


def _blocks(member: Member) -> Iterator[bytes]:
    """Unpacked bytes; whatever is raised while they are read is about the member."""
    try:
        raw = member.open()
        packed = raw.read(len(_GZIP)) == _GZIP
        raw.seek(0)
        text = gzip.GzipFile(fileobj=raw) if packed else raw
        while block := text.read(CHUNK_BYTES):
            yield block
    except EOFError:
        raise _damaged(member.shown, "file", "it ends too early") from None
    except _BROKEN as error:
        raise _damaged(member.shown, "file", error) from None


def _refuse_archive(block: bytes, member: Member) -> None:
    """Refuse what is still packed after gzip and zip have been taken off."""
    at, magic = _TAR
    if block.startswith((_GZIP, *_ZIP)) or block[at:].startswith(magic):
        raise _refused(member.shown, "an archive inside of it", "Unpack the inner one first.")
