"""Files of an upload: plain, compressed with gzip, or packed in one zip archive; and the limits on them.

A zip archive is read entry by entry and never extracted: names are checked and split, but never used as
paths. All bytes are counted during unpacking, which stops a zip bomb early.
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

from rankviz.common.errors import DataError
from rankviz.common.files import zip_directory
from rankviz.datasets.textfile import CHUNK_BYTES

_DRIVE = re.compile(r"[A-Za-z]:")
_ENCRYPTED = 0x1
MB = 1 << 20
BYTES_PER_ENTRY = 1024
WANTED = "LETOR text, such text compressed with gzip, or a zip archive of such files"
PACKED = re.compile(
    r"\.(zip|rar|7z|tar|tgz|tbz2?|txz|bz2|xz|zst|lzma|cab|iso)$|\.tar\.[a-z0-9]+$", re.IGNORECASE
)
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
"""Errors of zipfile and gzip for damaged or unknown archives."""
RATIO_FLOOR = 16 * MB
"""All texts of an upload up to this size may have any compression ratio."""
_GZIP, _ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_TAR, _TAR_AT = b"ustar", 257


@dataclass(frozen=True)
class Limits:
    """Limits on one upload; `Bounds.upload_bytes` limits the stored data.

    Attributes
    ----------
    upload_bytes : int
        All files together, as sent.
    text_bytes : int
        All files together, unpacked.
    ratio : int
        Unpacked bytes per packed byte; LETOR text has 5 to 15.
    entries : int
        Files and folders in an archive, and files sent at once.
    cells : int
        Entries of all matrices together, documents times features; about as many as 1 GB of text lists.
    cells_per_byte : int
        The same for each byte sent, beyond `roomy_cells`: few bytes with high feature numbers would fill the
        memory with zeros. Packed LETOR text has about one entry for each byte.
    roomy_documents : int
        Most documents, beyond one for each byte sent: equal lines pack well, and each takes 50 bytes.
    """

    upload_bytes: int = 200 * MB
    text_bytes: int = 1024 * MB
    ratio: int = 150
    entries: int = 500
    cells: int = 1 << 27
    cells_per_byte: int = 8
    roomy_cells: int = 1 << 22
    roomy_documents: int = 1 << 20

    def cells_for(self, sent: int) -> int:
        """Return the most entries of an upload of this many bytes."""
        return min(self.cells, self.roomy_cells + self.cells_per_byte * sent)


@dataclass(frozen=True)
class Upload:
    """One file as sent: its name, and its bytes as a seekable stream."""

    name: str
    stream: IO[bytes]

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self.stream.seek(0, os.SEEK_END)

    def rewound(self) -> IO[bytes]:
        """Return the stream at its start."""
        self.stream.seek(0)
        return self.stream


@dataclass(frozen=True)
class Member:
    """One file of an upload, still packed.

    Attributes
    ----------
    shown : str
        Name in messages: "letor.zip: Fold1/train.txt".
    path : tuple of str
        Its folders and its name, only for recognition; never used as a path.
    packed : int
        Its size as sent.
    open : () -> stream
        Opens it; raises zipfile's errors.
    """

    shown: str
    path: tuple[str, ...]
    packed: int
    open: Callable[[], IO[bytes]]


def list_members(uploads: Sequence[Upload], limits: Limits) -> list[Member]:
    """List the files of an upload: the contents of one zip archive, or the files sent.

    Raises `DataError` for no files, too many or too large ones, and for a damaged or encrypted archive. Also
    for one with links, other archives, duplicate names, or names that lead out of it.
    """
    _check_amount(uploads, limits)
    packed = [upload for upload in uploads if upload.rewound().read(4).startswith(_ZIP)]
    if not packed:
        return [_file_member(upload) for upload in uploads]
    if len(uploads) > 1:
        raise DataError(
            f"a zip archive among {len(uploads)} files",
            expected="one zip archive alone, or files that are not archives",
            remedy="Upload the archive by itself.",
            path=shown_name(packed[0].name),
        )
    return _zip_members(uploads[0], limits)


def unpack(member: Member, limits: Limits) -> Iterator[bytes]:
    """Yield the text of a member in blocks of about 1 MB; the first bytes decide on gzip.

    Raises `DataError`, after the blocks before the fault, for a member that is damaged, expands too far or
    holds another archive.
    """
    done = 0
    for block in _blocks(member):
        packed_twice = block.startswith((_GZIP, *_ZIP)) or block.startswith(_TAR, _TAR_AT)
        if done == 0 and packed_twice:
            raise _refused(member.shown, "an archive inside the archive", "Unpack the inner one first.")
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
        raise _too_many(len(uploads), limits, shown_name(uploads[0].name))
    size = sum(upload.size for upload in uploads)
    if size > limits.upload_bytes:
        raise DataError(
            f"{size / MB:,.0f} MB",
            expected=f"at most {limits.upload_bytes / MB:,.0f} MB at once",
            remedy="Compress the files, upload one fold only, or put the data set below a data folder.",
            path=shown_name(uploads[0].name),
        )


def _file_member(upload: Upload) -> Member:
    """Return the member for a file that is not a zip archive."""
    name = shown_name(upload.name)
    if PACKED.search(name):
        raise DataError(
            "an archive of another kind",
            expected=WANTED,
            remedy="Unpack it, and pack its folds in one zip archive.",
            path=name,
        )
    return Member(name, (name,), upload.size, upload.rewound)


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
        raise _damaged(member.shown, "file", "it ends too early") from None
    except BROKEN as error:
        raise _damaged(member.shown, "file", error) from None


def _zip_members(upload: Upload, limits: Limits) -> list[Member]:
    """Return the files of a zip archive. Raises `DataError` if it is damaged, too large or not plain."""
    name = shown_name(upload.name)
    _check_directory(upload, limits, name)
    try:
        archive = zipfile.ZipFile(upload.stream)
    except BROKEN as error:
        raise _damaged(name, "zip archive", error) from None
    if len(archive.infolist()) > limits.entries:  # the end record may give another number
        raise _too_many(len(archive.infolist()), limits, name)
    return _entries(archive, name)


def _check_directory(upload: Upload, limits: Limits, name: str) -> None:
    """Raise `DataError` for an archive of too many files, or in the zip64 format."""
    try:
        entries, directory, zip64 = zip_directory(upload.stream)
    except zipfile.BadZipFile as error:
        raise _damaged(name, "zip archive", error) from None
    if zip64:
        raise _refused(name, "a zip archive in the zip64 format", "Pack it without zip64.")
    if entries > limits.entries or directory > limits.entries * BYTES_PER_ENTRY:
        raise _too_many(entries, limits, name)


def _entries(archive: zipfile.ZipFile, name: str) -> list[Member]:
    found: dict[str, Member] = {}
    for info in archive.infolist():
        path = _safe_path(info, name)
        shown = f"{name}: {'/'.join(path)}"
        _check_kind(info, shown)
        if info.is_dir() or not path or path[0] == "__MACOSX" or path[-1].startswith("."):
            continue
        key = unicodedata.normalize("NFC", "/".join(path)).casefold()
        if key in found:
            raise _refused(shown, "the same name twice in the archive", "Pack each file once.")
        if PACKED.search(path[-1]):
            raise _refused(shown, "an archive inside the archive", "Unpack the inner one first.")
        found[key] = Member(shown, path, info.compress_size, partial(archive.open, info))
    return list(found.values())


def _safe_path(info: zipfile.ZipInfo, archive: str) -> tuple[str, ...]:
    """Return the components of an entry's name. Raises `DataError` if it leads out of the archive."""
    name = info.orig_filename.replace("\\", "/")
    path = tuple(bit for bit in name.split("/") if bit not in ("", "."))
    shown = f"{archive}: {shown_name(name) or '(no name)'}"
    if name.startswith("/") or _DRIVE.match(name) or ".." in path:
        raise _refused(
            shown, "a name that leads out of the archive", "Pack the folder itself, without paths."
        )
    if not all(c.isprintable() for c in name) or len(name) > BYTES_PER_ENTRY:
        raise _refused(shown, "a name that is too long or has control characters", "Rename the file.")
    return path


def _check_kind(info: zipfile.ZipInfo, shown: str) -> None:
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _refused(shown, "a link or a special file", "Pack the file that it points to.")
    if info.flag_bits & _ENCRYPTED:
        raise _refused(shown, "an encrypted file", "Pack it without a password.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _refused(shown, "a compression other than deflate", "Pack it with the usual compression.")


def shown_name(name: str) -> str:
    """Return the last component of a sent name for messages, with "?" for unprintable characters."""
    last = re.split(r"[/\\]", name)[-1]
    text = "".join(c if c.isprintable() else "?" for c in last)
    return text if len(text) <= 80 else text[:77] + "…"


def _too_many(number: int, limits: Limits, name: str) -> DataError:
    """Return the error for too many files."""
    return DataError(
        f"{number:,} files",
        expected=f"at most {limits.entries} at once",
        remedy="Keep only the folds' train, vali and test files.",
        path=name,
    )


def _refused(shown: str, found: str, remedy: str) -> DataError:
    """Return the error for contents not allowed in a plain zip archive of LETOR files."""
    return DataError(found, expected="a plain zip archive of LETOR files", remedy=remedy, path=shown)


def _damaged(shown: str, what: str, error: object) -> DataError:
    """Return the error for a damaged file."""
    return DataError(
        f"a damaged {what} ({error})",
        expected="a whole file",
        remedy="Pack or download it again, and upload it again.",
        path=shown,
    )
