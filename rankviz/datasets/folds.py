"""Find data sets below the data roots by their file layout, and open their folds.

Supported are `NAME/FoldK/{train,vali,test}.txt` with the spellings of LETOR 2, 3, 4 and MSLR (upper or lower
case, `trainingset`, `validation`, …, plain or gzip), the three parts directly in `NAME/`, and a single file.
The search reads at most the first megabyte of a file. A name that a user chooses is looked up among the data
sets found; it never becomes part of a path.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import platformdirs

from rankviz.common.errors import DataError, DataWarning
from rankviz.common.files import shipped
from rankviz.common.settings import listed
from rankviz.datasets.cache import read_cached
from rankviz.datasets.group_files import lacks_query_ids, renumber_counted_queries
from rankviz.datasets.known import Recognition, contents_of, features_of_set, recognise
from rankviz.datasets.normalise import normalise
from rankviz.datasets.parts import SUBSETS, check_shared_queries, cyclic_fold, pad_to_widest, part_name
from rankviz.datasets.textfile import Progress, open_bytes, progress_within, text_chunks
from rankviz.datasets.types import Fold

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
ENVIRONMENT = "RANKVIZ_DATA"
BUNDLED = shipped("data")
DEMONSTRATION = "synthetic-demo"
_SHARE_OF_READING = {"train": 0.6, "vali": 0.2, "test": 0.2}  # for progress: LETOR's proportions


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


def data_roots(chosen: Iterable[str | os.PathLike[str]] = ()) -> tuple[Path, ...]:
    """Return the folders to search for data sets: the bundled one first, then the user's.

    The user's are those `chosen` (the `--data-dir` setting), else those in the environment variable
    RANKVIZ_DATA (separated as in PATH), else the user's data folder where it exists. Raises `DataError` for a
    chosen folder that does not exist.
    """
    named = [Path(path).expanduser() for path in chosen]
    if not named:
        named = [Path(p).expanduser() for p in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if p]
    for path in named:
        if not path.is_dir():
            raise _no_root(path)
    own = Path(platformdirs.user_data_dir("rankviz")) / "datasets"
    candidates = [BUNDLED, *(named or [own])]
    return tuple(dict.fromkeys(path.resolve() for path in candidates if path.is_dir()))


def _no_root(path: Path) -> DataError:
    return DataError(
        "no folder of this name",
        expected="a folder with data sets (a data root)",
        remedy=f"Check the data folder setting or {ENVIRONMENT}.",
        path=path,
    )


def find_datasets(roots: Iterable[str | os.PathLike[str]] | None = None) -> dict[str, Dataset]:
    """Find the data sets below `roots` (by default `data_roots()`), by name.

    A second data set of the same name is called "NAME (root's name)". Links that leave their root are left
    out with a `DataWarning`. Raises `DataError` for a root that does not exist.
    """
    found: dict[str, Dataset] = {}
    for root in data_roots() if roots is None else [Path(r) for r in listed("roots", roots)]:
        if not root.is_dir():
            raise _no_root(root)
        for dataset in scan(root):
            name = _free_name(dataset, found)
            found[name] = replace(dataset, name=name)
    return found


def _free_name(dataset: Dataset, taken: dict[str, Dataset]) -> str:
    name, number = dataset.name, 1
    while name in taken:
        name = f"{dataset.name} ({dataset.root.name}{f' {number}' if number > 1 else ''})"
        number += 1
    return name


def load_fold(
    path: str | os.PathLike[str],
    fold: int | str = 1,
    *,
    normalisation: str = "none",
    progress: Progress | None = None,
) -> Fold:
    """Read one fold of the data set in the folder `path` (or of a single file); see `open_fold`.

    Examples
    --------
    >>> from rankviz import load_fold
    >>> from rankviz.datasets import make_data, write_letor
    >>> write_letor(make_data(n_queries=10, documents_per_query=(8, 20), seed=0), "small.txt")
    >>> fold = load_fold("small.txt", 1, normalisation="query_minmax")
    >>> [part.n_queries for part in (fold.train, fold.vali, fold.test)]
    [6, 2, 2]
    """
    return open_fold(
        dataset_at(Path(path).expanduser()), fold, normalisation=normalisation, progress=progress
    )


def load_demo(fold: int | str = 1, *, normalisation: str = "none") -> Fold:
    """Read one of the three bundled demonstration folds, which are synthetic; see `open_fold`.

    Examples
    --------
    >>> from rankviz import load_demo
    >>> fold = load_demo(1)
    >>> fold.name, fold.train.n_queries, fold.train.n_features
    ('synthetic-demo fold 1', 120, 20)
    """
    return load_fold(BUNDLED / DEMONSTRATION, fold, normalisation=normalisation)


def open_fold(
    dataset: Dataset,
    fold: int | str = 1,
    *,
    normalisation: str = "none",
    progress: Progress | None = None,
) -> Fold:
    """Read one fold, e.g. 1 or "Fold1", its features scaled by one of `NORMALISATIONS`.

    A single file is split by query, with a fixed seed, into five subsets, used like LETOR's. Parts narrower
    than the widest get zero features with a `DataWarning`; features of known sets are named. `progress`
    receives fractions from 0 to 1. Raises `DataError` for a missing fold or part, a link that leaves the data
    root, a query in two parts, or an unusable file, and ValueError for an unknown normalisation.
    """
    key = _fold_key(dataset, fold)
    number = int(key.removeprefix("Fold"))
    title = f"{dataset.name} fold {number}"
    files = {part: check_inside(path, dataset.root) for part, path in dataset.folds[key].items()}
    if WHOLE in files:
        whole = read_cached(files[WHOLE], progress=progress).renamed(str(files[WHOLE]))
        opened = cyclic_fold(whole, number, name=title)
    else:
        _require_parts(dataset, key)
        opened = _read_parts(files, title, progress)
    return normalise(_with_feature_names(opened, dataset.name), normalisation)


def recognise_fold(dataset: str, fold: Fold) -> Recognition:
    """Return the known set that a fold (as read) of this name is part of, by counts and contents.

    Contents are compared only if the counts are a known set's.
    """
    parts = list(fold.parts.values())
    queries = len(np.unique(np.concatenate([part.query_ids for part in parts])))
    documents = sum(part.n_documents for part in parts)
    return recognise(dataset, queries, documents, fold.train.n_features, lambda: contents_of(parts))


def _fold_key(dataset: Dataset, fold: int | str) -> str:
    number = re.fullmatch(r"(?:fold[ _-]?)?([0-9]{1,3})", str(fold), re.IGNORECASE)
    key = f"Fold{int(number[1])}" if number else str(fold)
    if key in dataset.folds:
        return key
    raise DataError(
        f"no fold {fold} of {dataset.name}",
        expected=f"one of {', '.join(dataset.folds)}",
        remedy="Choose another fold, or add its files.",
        path=dataset.folder,
    )


def _require_parts(dataset: Dataset, key: str) -> None:
    parts = dataset.folds[key]
    missing = [part for part in PARTS if part not in parts]
    if missing:
        raise DataError(
            f"no {' and no '.join(f'{part}.txt' for part in missing)} in {key} of {dataset.name}",
            expected="train.txt, vali.txt and test.txt in every fold",
            remedy="Add the missing part, or use another fold.",
            path=next(iter(parts.values())).parent,
        )


def _read_parts(files: dict[str, Path], title: str, progress: Progress | None) -> Fold:
    before, parts = 0.0, {}
    for part, weight in _SHARE_OF_READING.items():
        share = progress_within(progress, before, weight)
        parts[part] = read_cached(files[part], progress=share).renamed(part_name(title, part))
        before += weight
    parts = renumber_counted_queries(parts, files)
    check_shared_queries(parts)
    parts = pad_to_widest(parts)
    return Fold(parts["train"], parts["vali"], parts["test"], name=title)


def _with_feature_names(fold: Fold, dataset: str) -> Fold:
    found = features_of_set(recognise_fold(dataset, fold), fold.train.n_features)
    if found is None:
        return fold
    train, vali, test = (part.renamed(feature_names=found.names) for part in fold.parts.values())
    return replace(fold, train=train, vali=vali, test=test)


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
        return Dataset(_title(path), path, path, folds)
    if parts := _parts_in(entries):
        fold = fold_named(path.name)
        folder = path.parent if fold else path
        return Dataset(_title(folder), folder, folder, {fold or "Fold1": parts})
    for name, below in entries.items():
        if is_plain_level(name) and os.path.isdir(below):
            return dataset_at(below)
    raise DataError(
        "a folder without folds" if os.path.isdir(path) else "no folder of this name",
        expected="a folder with Fold1, Fold2, … (train.txt, vali.txt, test.txt in each), or one file",
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
        f"a link to {resolved}, which is outside {root}",
        expected="files within the data root",
        remedy="Copy the files there, or add their folder as a data root.",
        path=path,
    )


def _scan(folder: Path, root: Path, levels: tuple[str, ...], depth: int) -> Iterator[Dataset]:
    entries = _entries(folder, root)
    folds = _folds_in(entries, root)
    if not folds and (parts := _parts_in(entries)):
        folds = {"Fold1": parts}
    if folds:
        yield Dataset("/".join(levels) or root.name, root, folder, folds)
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
        warnings.warn(f"{folder} cannot be listed ({error.strerror}) and was left out.", DataWarning, 2)
        return {}
    entries = {}
    for name in names:
        try:
            entries[name] = check_inside(folder / name, root)
        except DataError as refusal:
            warnings.warn(str(refusal), DataWarning, 2)
    return entries


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


def _parts_in(entries: Mapping[str, Path]) -> dict[str, Path]:
    """Return the files that are parts, in the order train, vali, test; of two spellings the first."""
    found = {}
    for part in PARTS:
        files = [path for name, path in entries.items() if part_named(name) == part and os.path.isfile(path)]
        if files:
            found[part] = files[0]
    return found


def _single_file(path: Path, root: Path, name: str) -> Dataset:
    return Dataset(name, root, path, {f"Fold{k}": {WHOLE: path} for k in range(1, SUBSETS + 1)})


def _looks_like_letor(path: Path) -> bool:
    """Return True if the first documents have query ids, directly or by a group file; a README has none."""
    try:
        with open_bytes(path) as stream:
            chunk = next(text_chunks(stream, str(path)), None)
        if chunk is not None and lacks_query_ids(path):
            return True
    except DataError:
        return False
    return chunk is not None and any(_DOCUMENT.match(line) for line in chunk.lines)
