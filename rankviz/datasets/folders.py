"""File layout of data sets below a data root: folders that are folds, files that are parts.

Supported are `NAME/FoldK/{train,vali,test}.txt` with the spellings of LETOR 2, 3, 4 and MSLR (upper or lower
case, `trainingset`, `validation`, …, plain or gzip), the three parts directly in `NAME/`, and a single file.
This module reads at most the first megabyte of a file, and never joins a name into a path.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rankviz.datasets.group_files import names_no_query
from rankviz.datasets.parts import SUBSETS
from rankviz.datasets.textfile import open_bytes, text_chunks
from rankviz.datasets.types import DataError, DataWarning

PARTS = ("train", "vali", "test")
WHOLE = "all"
_SPELLINGS = {
    "train": {"train", "training", "trainset", "trainingset"},
    "vali": {"vali", "val", "valid", "validation", "valiset", "validset", "validationset"},
    "test": {"test", "testing", "testset", "testingset"},
}
_SUFFIX = re.compile(r"(\.(txt|dat|svm|svmlight|letor))?(\.gz)?$", re.IGNORECASE)
_FOLD = re.compile(r"fold[ _-]?([0-9]{1,3})$", re.IGNORECASE)
_PLAIN_LEVELS = {"data"}  # LETOR 2 puts its folds into OHSUMED/Data/
_DEPTH = 3
_DOCUMENT = re.compile(rb"[ \t]*[^ \t#]+[ \t]+qid:")


@dataclass(frozen=True)
class Dataset:
    """A data set found on disk, not read yet.

    Attributes
    ----------
    name : str
        Unique among the data sets found together.
    root, folder : Path
        The data root, and the folder with the folds (or the single file), both resolved.
    folds : mapping of str to mapping of str to Path
        Fold ("Fold1", …) -> part ("train", "vali", "test") -> file; a data set in a single file has it
        under "all".
    """

    name: str
    root: Path
    folder: Path
    folds: Mapping[str, Mapping[str, Path]]

    @property
    def is_single_file(self) -> bool:
        """True if the folds are splits of one file."""
        return any(WHOLE in parts for parts in self.folds.values())


def scan(root: Path) -> Iterator[Dataset]:
    """Find the data sets below `root`, named by their folders; warn about links that leave `root`."""
    root = root.resolve()
    yield from _scan(root, root, (), 0)


def dataset_at(path: Path) -> Dataset:
    """Describe the data set in exactly this folder (or file), as `scan` would; raise `DataError` if none."""
    path = Path(os.path.realpath(path))
    if os.path.isfile(path):
        return _single_file(path, path.parent, stem(path.name))
    entries = _entries(path, path) if os.path.isdir(path) else {}
    if folds := _folds_in(entries, path):
        return Dataset(_title(path), path, path, _copied(folds))
    if parts := _parts_in(entries):
        fold = fold_named(path.name)
        folder = path.parent if fold else path
        return Dataset(_title(folder), folder, folder, {fold or "Fold1": dict(parts)})
    for name, below in entries.items():
        if is_plain_level(name) and os.path.isdir(below):
            return dataset_at(below)
    raise DataError(
        "a folder without folds" if os.path.isdir(path) else "no folder of this name",
        expected="a folder with Fold1, Fold2, … that hold train.txt, vali.txt and test.txt, or one file",
        remedy="Check the path.",
        path=path,
    )


def _title(folder: Path) -> str:
    return folder.parent.name if is_plain_level(folder.name) else folder.name


def part_named(name: str) -> str | None:
    """Return the part ("train", "vali", "test") of a file name, None for other names."""
    plain = re.sub(r"[ _-]", "", stem(name).casefold())
    return next((part for part, spellings in _SPELLINGS.items() if plain in spellings), None)


def fold_named(name: str) -> str | None:
    """Return the fold ("Fold1", …) of a folder name, None for other names."""
    number = _FOLD.match(name)
    return f"Fold{int(number[1])}" if number else None


def is_plain_level(name: str) -> bool:
    """Return True if a folder's name is generic, without information on its data set."""
    return name.casefold() in _PLAIN_LEVELS


def stem(name: str) -> str:
    """Return a file name without the endings of LETOR text and gzip."""
    return _SUFFIX.sub("", name)


def check_inside(path: Path, root: Path) -> Path:
    """Resolve links in `path`. Raises `DataError` if the result lies outside of `root`."""
    resolved = Path(os.path.realpath(path))  # unlike resolve(), accepts circular links
    if resolved.is_relative_to(root):
        return resolved
    raise DataError(
        f"a link to {resolved}, which lies outside of {root}",
        expected="files within the data root",
        remedy="Copy the files there, or make their own folder a data root.",
        path=path,
    )


def _scan(folder: Path, root: Path, levels: tuple[str, ...], depth: int) -> Iterator[Dataset]:
    entries = _entries(folder, root)
    if folds := _folds_in(entries, root) or _lone_fold(entries):
        yield Dataset("/".join(levels) or root.name, root, folder, _copied(folds))
        return
    for name, path in entries.items():
        if os.path.isdir(path) and depth < _DEPTH and not folder.is_relative_to(path):
            below = levels if levels and is_plain_level(name) else (*levels, name)
            yield from _scan(path, root, below, depth + 1)
        elif os.path.isfile(path) and stem(name) != name and _looks_like_letor(path):
            yield _single_file(path, root, "/".join((*levels, stem(name))))


def _entries(folder: Path, root: Path) -> dict[str, Path]:
    """Return entries of a folder, resolved, by name in natural order, without hidden entries or links out."""
    try:
        names = sorted((name for name in os.listdir(folder) if not name.startswith(".")), key=_natural)
    except OSError as error:
        _warn(f"{folder} cannot be listed ({error.strerror}) and was left out.")
        return {}
    entries = {}
    for name in names:
        try:
            entries[name] = check_inside(folder / name, root)
        except DataError as refusal:
            _warn(str(refusal))
    return entries


def _warn(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=2)


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Return a sort key that puts Fold10 after Fold9."""
    return [(0, int(bit)) if bit.isdecimal() else (1, bit.casefold()) for bit in re.split(r"(\d+)", name)]


def _folds_in(entries: Mapping[str, Path], root: Path) -> dict[str, dict[str, Path]]:
    """Return the fold folders among `entries` with at least one part."""
    folds: dict[str, dict[str, Path]] = {}
    for name, path in entries.items():
        fold = fold_named(name)
        if fold and os.path.isdir(path) and (parts := _parts_in(_entries(path, root))):
            folds.setdefault(fold, parts)
    return folds


def _lone_fold(entries: Mapping[str, Path]) -> dict[str, dict[str, Path]]:
    parts = _parts_in(entries)
    return {"Fold1": parts} if parts else {}


def _parts_in(entries: Mapping[str, Path]) -> dict[str, Path]:
    """Return the files that are parts, in the order train, vali, test; of two spellings the first."""
    found = {}
    for part in PARTS:
        files = [path for name, path in entries.items() if part_named(name) == part and os.path.isfile(path)]
        if files:
            found[part] = files[0]
    return found


def _single_file(path: Path, root: Path, name: str) -> Dataset:
    folds = {f"Fold{k}": {WHOLE: path} for k in range(1, SUBSETS + 1)}
    return Dataset(name, root, path, _copied(folds))


def _looks_like_letor(path: Path) -> bool:
    """Return True if the first documents have query ids, directly or by a group file; a README has none."""
    try:
        with open_bytes(path) as stream:
            chunk = next(text_chunks(stream, str(path)), None)
        if chunk is not None and names_no_query(path):
            return True
    except DataError:
        return False
    return chunk is not None and any(_DOCUMENT.match(line) for line in chunk.lines)


def _copied(folds: Mapping[str, Mapping[str, Path]]) -> Mapping[str, Mapping[str, Path]]:
    return {fold: dict(parts) for fold, parts in folds.items()}
