"""Zip archives as lists of members, read entry by entry and never extracted.

Names are checked and split, but never used as paths. The end record is checked before anything that it
announces is read.
"""

from __future__ import annotations

import re
import stat
import struct
import unicodedata
import zipfile
from functools import partial

from rankviz.datasets.members import (
    BROKEN,
    BYTES_PER_ENTRY,
    PACKED,
    Limits,
    Member,
    Upload,
    damaged,
    refused,
    shown_name,
    too_many,
)

_END, _END_BYTES, _LONGEST_COMMENT = b"PK\x05\x06", 22, 0xFFFF
_ZIP64, _ZIP64_BYTES = b"PK\x06\x07", 20
_DRIVE = re.compile(r"[A-Za-z]:")
_ENCRYPTED = 0x1


def zipped(upload: Upload, limits: Limits) -> list[Member]:
    """Return the files of a zip archive. Raises `DataError` if it is damaged, too large or not plain."""
    name = shown_name(upload.name)
    _check_directory(upload, limits, name)
    try:
        archive = zipfile.ZipFile(upload.stream)
    except BROKEN as error:
        raise damaged(name, "zip archive", error) from None
    if len(archive.infolist()) > limits.entries:  # the end record may give another number
        raise too_many(len(archive.infolist()), limits, name)
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
            raise refused(shown, "a name that is in the archive twice", "Pack each file once.")
        if PACKED.search(path[-1]):
            raise refused(shown, "an archive in the archive", "Unpack the inner one first.")
        found[key] = Member(shown, path, info.compress_size, partial(archive.open, info))
    return list(found.values())


def _check_directory(upload: Upload, limits: Limits, name: str) -> None:
    """Check the end record first: zipfile would read a directory of millions of entries."""
    size = upload.size
    start = max(0, size - _END_BYTES - _LONGEST_COMMENT)
    upload.stream.seek(start)
    tail = upload.stream.read(size - start)
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + _END_BYTES:
        raise damaged(name, "zip archive", "its directory is missing")
    if tail[max(0, at - _ZIP64_BYTES) : at].startswith(_ZIP64):
        raise refused(name, "a zip archive in the zip64 format", "Pack it without zip64.")
    entries, directory = struct.unpack_from("<HI", tail, at + 10)
    if entries > limits.entries or directory > limits.entries * BYTES_PER_ENTRY:
        raise too_many(entries, limits, name)


def _safe_path(info: zipfile.ZipInfo, archive: str) -> tuple[str, ...]:
    """Return the components of an entry's name. Raises `DataError` if it leads out of the archive."""
    name = info.orig_filename.replace("\\", "/")
    path = tuple(bit for bit in name.split("/") if bit not in ("", "."))
    shown = f"{archive}: {shown_name(name) or '(no name)'}"
    if name.startswith("/") or _DRIVE.match(name) or ".." in path:
        raise refused(shown, "a name that leads out of the archive", "Pack the folder itself, without paths.")
    if not all(c.isprintable() for c in name) or len(name) > BYTES_PER_ENTRY:
        raise refused(shown, "a name with control characters, or far too long a one", "Rename the file.")
    return path


def _check_kind(info: zipfile.ZipInfo, shown: str) -> None:
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise refused(shown, "a link or a special file", "Pack the file that it points to.")
    if info.flag_bits & _ENCRYPTED:
        raise refused(shown, "an encrypted file", "Pack it without a password.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise refused(shown, "a compression other than deflate", "Pack it with the usual compression.")
