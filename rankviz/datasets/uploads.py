"""Uploaded data sets: checked by the strict reader, then put into the visitor's own folder.

An upload is LETOR text, such text compressed with gzip, or a zip archive of them. Its names only identify
fold and part. The files get our own names: NAME/FoldK/{train,vali,test}.txt, or NAME.txt for a single file.
They are written and read in a hidden folder that `scan` ignores. One rename publishes them, so nobody finds
half-written or unusable data.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rankviz.common.numbers import megabytes
from rankviz.datasets.archives import Limits, Member, Upload, members, shown_name, unpacked
from rankviz.datasets.array_checks import check_room
from rankviz.datasets.folds import PARTS, WHOLE, fold_named, is_plain_level, part_named, stem
from rankviz.datasets.group_files import ENDINGS, told_apart
from rankviz.datasets.letor import read_noting, write_letor
from rankviz.datasets.parts import cyclic_fold, refuse_shared_queries
from rankviz.datasets.textfile import Progress
from rankviz.datasets.types import DataError, Fold, RankingData
from rankviz.datasets.upload_folders import Room, aside, moved, undisturbed, writing

LIMITS = Limits()
_SHARE_OF_UNPACKING = 0.2  # for progress
_LONGEST_NAME = 60
_PROSE = re.compile(
    r"(readme|licen[cs]e|copying|changelog|notes?)\b|.*\.(md|pdf|html?|docx?|m|py|pl)$", re.IGNORECASE
)

_Folds = dict[str, dict[str, Member]]


@dataclass(frozen=True)
class Accepted:
    """An accepted upload: the folder of its data set, and notes on it."""

    folder: Path
    notes: tuple[str, ...]


def accept(
    uploads: Sequence[Upload],
    root: Path,
    *,
    name: str = "",
    limits: Limits = LIMITS,
    progress: Progress | None = None,
) -> Accepted:
    """Check an upload and make it a data set below `root`, called `name` or after its files.

    Several files are the parts of one fold, with optional group files, identified by their names; one file
    alone is split by query whatever its name. Raises `DataError`, with the file's sent name, as `members`,
    `unpacked` and `read_letor`, for folds without three parts, and beyond the limits.
    """
    found = members(uploads, limits)
    folds, above, left_out = _recognised(found)
    _require_parts(folds)
    called = _tidy(name or above or _name_of(uploads))
    with aside(root) as made:
        with writing(root) as room_on_disk:
            files = _written(folds, made, limits, room_on_disk, progress)
        notes: list[str] = []
        reading, room = _reading(progress), _Cells(limits.cells)
        for number, (fold, parts) in enumerate(folds.items()):
            notes += _checked(parts, files[fold], room, _share_of(reading, number, len(folds)))
        whole = files["Fold1"].get(WHOLE)
        with undisturbed():
            folder = moved(whole or made, root, called, ".txt" if whole else "")
    if left_out:
        notes.append(f"Left out: {', '.join(left_out[:5])}{' and more' if len(left_out) > 5 else ''}.")
    return Accepted(folder, tuple(notes))


def keep_fold(fold: Fold, root: Path, name: str) -> Path:
    """Write a fold that was made here as the data set `name` below `root`, and return its folder.

    Raises `DataError` beyond a bound on stored data.
    """
    texts = {part: _text(data) for part, data in fold.parts.items()}
    with aside(root) as made:
        (made / "Fold1").mkdir()
        with writing(root) as room:
            for part, text in texts.items():
                room.take(len(text))
                (made / "Fold1" / f"{part}.txt").write_bytes(text)
            return moved(made, root, _tidy(name), "")


def _text(data: RankingData) -> bytes:
    stream = io.BytesIO()
    write_letor(data, stream)
    return stream.getvalue()


# Recognition: file names give fold and part.


def _recognised(found: Sequence[Member]) -> tuple[_Folds, str, list[str]]:
    """Return members by fold and part, the folder's name above the folds, and left-out files."""
    if len(found) == 1:
        return {"Fold1": {WHOLE: found[0]}}, "", []
    sets: dict[tuple[str, ...], _Folds] = {}
    for member in found:
        name, ending = _split_group(member.path[-1])
        if part := part_named(name):
            part += ending
            fold = fold_named(member.path[-2]) if len(member.path) > 1 else None
            above = member.path[: -2 if fold else -1]
            parts = sets.setdefault(above, {}).setdefault(fold or "Fold1", {})
            if part in parts:
                raise _unclear(member, f"a second file for {part}", "Upload each part once.")
            parts[part] = member
    if not sets:
        return _lone_file(found)
    if len(sets) > 1:
        names = " and ".join(sorted("/".join(above) or "(no folder)" for above in sets))
        raise _unclear(found[0], f"{len(sets)} data sets: {names}", "Upload one at a time.")
    ((above, folds),) = sets.items()
    used = {id(member) for parts in folds.values() for member in parts.values()}
    title = next((level for level in reversed(above) if not is_plain_level(level)), "")
    return folds, title, ["/".join(member.path) for member in found if id(member) not in used]


def _split_group(name: str) -> tuple[str, str]:
    """Split a group file's name into its data file's name and the ending; "" for other files."""
    ending = next((ending for ending in ENDINGS if name.casefold().endswith(ending)), "")
    return name[: len(name) - len(ending)], ending


def _require_parts(folds: _Folds) -> None:
    for fold, parts in folds.items():
        missing = [part for part in PARTS if part not in parts] if WHOLE not in parts else []
        if missing:
            raise DataError(
                f"no {' and no '.join(f'{part}.txt' for part in missing)} in {fold}",
                expected="train.txt, vali.txt and test.txt in every fold",
                remedy="Add what is missing; or upload one file alone, which is then split by query.",
                path=next(iter(parts.values())).shown.partition(": ")[0],
            )


def _lone_file(found: Sequence[Member]) -> tuple[_Folds, str, list[str]]:
    data = [member for member in found if not _PROSE.match(member.path[-1])]
    if len(data) == 1:
        rest = ["/".join(member.path) for member in found if member is not data[0]]
        return {"Fold1": {WHOLE: data[0]}}, stem(data[0].path[-1]), rest
    names = ", ".join(member.path[-1] for member in found[:3]) or "no files"
    more = ", …" if len(found) > 3 else ""
    raise DataError(
        f"{names}{more}",
        expected="train.txt, vali.txt and test.txt (in Fold1, Fold2, … if there are more), or one file",
        remedy="Name each file after its part.",
        path=found[0].shown.partition(": ")[0] if found else None,
    )


def _unclear(member: Member, found: str, remedy: str) -> DataError:
    return DataError(found, expected="one data set, each part once", remedy=remedy, path=member.shown)


# Writing to a hidden folder, and reading it again.


def _written(
    folds: _Folds, aside: Path, limits: Limits, on_disk: Room, progress: Progress | None
) -> dict[str, dict[str, Path]]:
    """Unpack all members below `aside`; return the files by fold and part."""
    files: dict[str, dict[str, Path]] = {}
    at_once = Room(
        limits.text_bytes,
        f"more than {megabytes(limits.text_bytes)} unpacked",
        "Upload fewer folds, or use a data folder.",
    )
    packed = sum(member.packed for parts in folds.values() for member in parts.values())
    done = 0
    for fold, parts in folds.items():
        (aside / fold).mkdir()
        for part, member in parts.items():
            name, ending = _split_group(part)
            files.setdefault(fold, {})[part] = path = aside / fold / f"{name}.txt{ending}"
            _write(member, path, limits, (at_once, on_disk))
            done += member.packed
            if progress is not None:
                progress(_SHARE_OF_UNPACKING * done / max(packed, 1))
    return files


def _write(member: Member, path: Path, limits: Limits, rooms: Sequence[Room]) -> None:
    with open(path, "xb") as stream:
        for block in unpacked(member, limits):
            for room in rooms:
                room.take(len(block), member.shown)
            stream.write(block)


def _checked(
    parts: Mapping[str, Member], files: Mapping[str, Path], room: _Cells, progress: Progress | None
) -> Iterator[str]:
    """Read a fold as for opening and yield notes. Raises `DataError` for a bad file.

    Only this process reads: `Limits` bound its memory and time, and other visitors keep the other cores.
    """
    files = {part: path for part, path in files.items() if not _split_group(part)[1]}
    read, fold = {}, room.of_fold()
    for number, (part, path) in enumerate(files.items()):
        share = _share_of(progress, number, len(files))
        shown = parts[part].shown
        check = partial(fold.take, shown)
        read[part], note = read_noting(path, share, called=shown, check=check, workers=1)
        if note is not None:
            yield f"{note}."
    if WHOLE in read:
        cyclic_fold(read[WHOLE], 1)
    refuse_shared_queries(told_apart(read, files))


@dataclass
class _Cells:
    """Entries that an upload may have; a fold is as wide as its widest part."""

    of: int
    taken: int = 0

    def of_fold(self) -> _FoldCells:
        """Return the room of the next fold."""
        return _FoldCells(self, self.taken)


@dataclass
class _FoldCells:
    """Entries of a fold's parts, taken from the upload's room."""

    room: _Cells
    before: int
    documents: int = 0
    width: int = 0

    def take(self, shown: str, n: int, d: int, line: int | None) -> None:
        """Count a part before allocation. Raises `DataError` if the fold exceeds the remaining entries."""
        self.documents, self.width = self.documents + n, max(self.width, d)
        left = self.room.of - self.before
        check_room(self.documents, self.width, left, self.room.of, path=shown, line=line)
        self.room.taken = self.before + self.documents * self.width


def _reading(progress: Progress | None) -> Progress | None:
    """Return the progress of reading, which follows unpacking."""
    return (
        None if progress is None else lambda f: progress(_SHARE_OF_UNPACKING + (1 - _SHARE_OF_UNPACKING) * f)
    )


def _share_of(progress: Progress | None, number: int, of: int) -> Progress | None:
    """Return the progress of step `number` of `of`."""
    return None if progress is None else lambda fraction: progress((number + fraction) / of)


def _name_of(uploads: Sequence[Upload]) -> str:
    """Return the name of an upload: of the archive or the only file."""
    if len(uploads) > 1:
        return "upload"
    return re.sub(r"\.zip$", "", stem(shown_name(uploads[0].name)), flags=re.IGNORECASE)


def _tidy(name: str) -> str:
    """Reduce a name to letters, digits and a few signs, valid in a file, a menu and an address."""
    plain = re.sub(r"[^\w.+-]+", "-", unicodedata.normalize("NFC", name)).strip("-._")[:_LONGEST_NAME]
    if not plain or part_named(plain) or fold_named(plain) or is_plain_level(plain):
        return f"upload-{plain}" if plain else "upload"
    return plain
