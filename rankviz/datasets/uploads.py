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
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from rankviz.common.arrays import IntArray
from rankviz.common.errors import DataError
from rankviz.common.memory import megabytes
from rankviz.datasets.archives import RATIO_FLOOR, Limits, Member, Upload, list_members, shown_name, unpack
from rankviz.datasets.array_checks import check_room
from rankviz.datasets.folds import PARTS, WHOLE, fold_named, is_plain_level, part_named, stem
from rankviz.datasets.group_files import ENDINGS, renumber_counted_queries
from rankviz.datasets.letor import read_with_note, write_letor
from rankviz.datasets.parts import DEFAULT_SPLIT_SEED, SUBSETS, check_shared_queries, cyclic_fold
from rankviz.datasets.textfile import Progress, progress_within
from rankviz.datasets.types import Fold, RankingData
from rankviz.datasets.upload_folders import Room, exclusive, hidden_folder, publish, room_to_write

LIMITS = Limits()
MOST_GRADES = 256
"""Most different grades of a part: counts by query and grade, and a colour for each, are made of them."""
MOST_OF_QUERY = 3_000
"""Most documents of a query: pages compare all its pairs."""
_SHARE_OF_UNPACKING = 0.2  # for progress
_LONGEST_NAME = 60
_PROSE = re.compile(
    r"(readme|licen[cs]e|copying|changelog|notes?)\b|.*\.(md|pdf|html?|docx?|m|py|pl)$", re.IGNORECASE
)

_SPLIT = (
    f"Split by query: a shuffle with seed {DEFAULT_SPLIT_SEED} deals the queries into {SUBSETS} parts. Each "
    f"of {SUBSETS} folds trains on {SUBSETS - 2} parts, validates on one and tests on one. Every query is "
    "tested in one fold."
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
    alone is split by query whatever its name. Raises `DataError`, with the file's sent name, like
    `list_members`, `unpack` and `read_letor`, for folds without three parts, and beyond the limits.
    """
    found = list_members(uploads, limits)
    folds, above, left_out = _recognised(found, shown_name(uploads[0].name))
    _require_parts(folds)
    called = _tidy(name or above or _name_of(uploads))
    sent = sum(upload.size for upload in uploads)
    with hidden_folder(root) as made:
        with room_to_write(root) as room_on_disk:
            files = _written(folds, made, _unpacked_room(limits, sent), limits, room_on_disk, progress)
        notes: list[str] = []
        tested: dict[str, IntArray] = {}
        widths: dict[str, int] = {}
        reading = progress_within(progress, _SHARE_OF_UNPACKING, 1 - _SHARE_OF_UNPACKING)
        cells = _Cells(limits.cells_for(sent), limits.roomy_documents + sent)
        for number, (fold, parts) in enumerate(folds.items()):
            share = progress_within(reading, number / len(folds), 1 / len(folds))
            said, tested[fold] = _checked(parts, files[fold], cells, share)
            notes += said
            widths[fold] = cells.width
        counted = any(_split_group(part)[1] for parts in folds.values() for part in parts)
        notes += _folds_in_words({} if counted else tested, list(folds))
        notes += _odd_folds(widths)
        whole = next(iter(files.values())).get(WHOLE)
        with exclusive():
            folder = publish(whole or made, root, called, ".txt" if whole else "")
    if left_out:
        notes.append(f"Left out: {', '.join(left_out[:5])}{' and more' if len(left_out) > 5 else ''}.")
    return Accepted(folder, tuple(notes))


def keep_fold(fold: Fold, root: Path, name: str) -> Path:
    """Write a fold that was made here as the data set `name` below `root`, and return its folder.

    Raises `DataError` beyond a bound on stored data.
    """
    with hidden_folder(root) as made:
        (made / "Fold1").mkdir()
        texts = {}
        for part, data in fold.parts.items():
            write_letor(data, text := io.BytesIO())
            texts[f"{part}.txt"] = text.getvalue()
        with room_to_write(root) as room:
            for name_of_part, content in texts.items():
                room.take(len(content))
                (made / "Fold1" / name_of_part).write_bytes(content)
            return publish(made, root, _tidy(name), "")


# Recognition: file names give fold and part.


def _recognised(found: Sequence[Member], sent: str) -> tuple[_Folds, str, list[str]]:
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
        return _lone_file(found, sent)
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
                remedy="Add the missing file, or upload a single file, which is split by query.",
                path=next(iter(parts.values())).shown.partition(": ")[0],
            )


def _lone_file(found: Sequence[Member], sent: str) -> tuple[_Folds, str, list[str]]:
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
        path=found[0].shown.partition(": ")[0] if found else sent,
    )


def _unclear(member: Member, found: str, remedy: str) -> DataError:
    return DataError(found, expected="one data set, each part once", remedy=remedy, path=member.shown)


# Writing to a hidden folder, and reading it again.


def _unpacked_room(limits: Limits, sent: int) -> Room:
    """Return the room for all texts of an upload of so many bytes together."""
    whole = Room(
        limits.text_bytes,
        f"more than {megabytes(limits.text_bytes)} unpacked",
        "Upload fewer folds, or use a data folder.",
    )
    packed = Room(
        max(RATIO_FLOOR, limits.ratio * sent),
        f"{sent:,} bytes that unpack to more than {limits.ratio} times as much",
        "Upload the text itself.",
    )
    return min(whole, packed, key=lambda room: room.left)


def _written(
    folds: _Folds, folder: Path, at_once: Room, limits: Limits, on_disk: Room, progress: Progress | None
) -> dict[str, dict[str, Path]]:
    """Unpack all members below `folder`; return the files by fold and part."""
    files: dict[str, dict[str, Path]] = {}
    packed = sum(member.packed for parts in folds.values() for member in parts.values())
    done = 0
    for fold, parts in folds.items():
        (folder / fold).mkdir()
        for part, member in parts.items():
            name, ending = _split_group(part)
            files.setdefault(fold, {})[part] = path = folder / fold / f"{name}.txt{ending}"
            with open(path, "xb") as stream:
                for block in unpack(member, limits):
                    at_once.take(len(block), member.shown)
                    on_disk.take(len(block), member.shown)
                    stream.write(block)
            done += member.packed
            if progress is not None:
                progress(_SHARE_OF_UNPACKING * done / max(packed, 1))
    return files


def _checked(
    parts: Mapping[str, Member], files: Mapping[str, Path], cells: _Cells, progress: Progress | None
) -> tuple[list[str], IntArray]:
    """Read a fold as for opening; return notes, and the queries of its test part. `DataError` for a bad file.

    Only this process reads: `Limits` bound its memory and time, and other visitors keep the other cores.
    """
    files = {part: path for part, path in files.items() if not _split_group(part)[1]}
    read, notes = {}, []
    cells.start_fold()
    for number, (part, path) in enumerate(files.items()):
        share = progress_within(progress, number / len(files), 1 / len(files))
        shown = parts[part].shown
        check = partial(cells.take, shown)
        read[part], note = read_with_note(path, share, called=shown, check=check, workers=1)
        notes += [] if note is None else [f"{note}."]
        _check_pairs(read[part], shown)
    if WHOLE in read:
        test = cyclic_fold(read[WHOLE], 1).test
        return [*notes, _SPLIT], test.query_ids
    check_shared_queries(renumber_counted_queries(read, files))
    return notes, read["test"].query_ids


def _check_pairs(data: RankingData, shown: str) -> None:
    """Raise `DataError` for very many grades, or documents of a query."""
    grades, sizes = len(np.unique(data.y)), np.diff(data.ptr)
    if grades > MOST_GRADES:
        raise DataError(
            f"{grades:,} different grades",
            expected=f"at most {MOST_GRADES} in an upload",
            remedy="Put the grades into few groups, such as 0 to 4, or use a data folder.",
            path=shown,
        )
    if sizes.max(initial=0) > MOST_OF_QUERY:
        raise DataError(
            f"query {data.query_labels[int(sizes.argmax())]} has {sizes.max():,} documents",
            expected=f"at most {MOST_OF_QUERY:,} of a query in an upload",
            remedy="Check the query ids, or use a data folder.",
            path=shown,
        )


def _folds_in_words(tested: Mapping[str, IntArray], folds: Sequence[str]) -> list[str]:
    """List several folds, and say if their test parts share a query, if queries are known by their ids."""
    if len(folds) < 2:
        return []
    names = sorted(folds, key=lambda fold: int(fold.removeprefix("Fold")))
    parts = [f"{len(folds)} folds: {', '.join(names)}."]
    if tested:
        queries, times = np.unique(np.concatenate(list(tested.values())), return_counts=True)
        twice = queries[times > 1]
        more = f" and {len(twice) - 1:,} more" if len(twice) > 1 else ""
        parts.append(
            f"Their test parts share query {twice[0]}{more}."
            if len(twice)
            else "Their test parts share no query."
        )
    return parts


def _odd_folds(widths: Mapping[str, int]) -> list[str]:
    """Ask about folds with another number of features than most."""
    usual = Counter(widths.values()).most_common(1)[0][0]
    return [
        f"{fold} has {width} features, other folds {usual}: is it the same data set?"
        for fold, width in widths.items()
        if width != usual
    ]


class _Cells:
    """Counter of an upload's matrix entries; a fold is as wide as its widest part, `width`."""

    def __init__(self, limit: int, documents: int) -> None:
        self._limit, self._most_documents = limit, documents
        self._earlier_folds = self._documents = self._all_documents = self.width = 0

    def start_fold(self) -> None:
        """Begin the next fold."""
        self._earlier_folds += self._documents * self.width
        self._documents = self.width = 0

    def take(self, shown: str, n: int, d: int, line: int | None) -> None:
        """Count a part before allocation. Raises `DataError` beyond the limit."""
        self._documents, self.width = self._documents + n, max(self.width, d)
        self._all_documents += n
        if self._all_documents > self._most_documents:
            raise DataError(
                f"{self._all_documents:,} documents",
                expected=f"at most {self._most_documents:,} for an upload of this size",
                remedy="Check for repeated lines, or use a data folder.",
                path=shown,
                line=line,
            )
        room = self._limit - self._earlier_folds
        check_room(self._documents, self.width, room, self._limit, path=shown, line=line)


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
