"""Data sets below the data roots, and opening a fold of one of them.

A name that a user chooses is looked up in what `find_datasets` found; it never becomes part of a path.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import platformdirs

from rankviz.common.settings import listed
from rankviz.common.shipped import shipped
from rankviz.datasets.cache import read_cached
from rankviz.datasets.folders import PARTS, WHOLE, Dataset, check_inside, dataset_at, scan
from rankviz.datasets.group_files import told_apart
from rankviz.datasets.known import Recognition, contents_of, features_of_set, recognise
from rankviz.datasets.normalise import normalise
from rankviz.datasets.parts import cyclic_fold, pad_to_widest, part_name, refuse_shared_queries
from rankviz.datasets.textfile import Progress
from rankviz.datasets.types import DataError, Fold

ENVIRONMENT = "RANKVIZ_DATA"
BUNDLED = shipped("data")
DEMONSTRATION = "synthetic-demo"
_SHARE_OF_READING = {"train": 0.6, "vali": 0.2, "test": 0.2}  # for progress: LETOR's proportions


def data_roots(chosen: Iterable[str | os.PathLike[str]] = ()) -> tuple[Path, ...]:
    """Folders to look for data sets in: the bundled ones first, then the user's.

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

    Where two roots hold data sets of one name both are kept: the later one is called "NAME (root's name)".
    Links that leave their root are left out with a `DataWarning`. Raises `DataError` for a root that does not
    exist.
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

    A single file is split by query, with a fixed seed, into five subsets that serve as LETOR's do. Parts that
    are narrower than the widest get zero features with a `DataWarning`; the features of LETOR 4.0 are named.
    `progress` is given fractions from 0 to 1. Raises `DataError` for a fold that is not there, a part that is
    missing, a link that leaves the data root, a query in two parts, or a file that cannot be used, and
    ValueError for an unknown normalisation.
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
    """Say which known set a fold (as read) belongs to, by the counts and contents of its parts together.

    `dataset` is its name. Contents are looked at where the counts are those of a known set.
    """
    parts = list(fold.parts.values())
    ids = np.concatenate([part.query_ids for part in parts])
    documents = sum(part.n_documents for part in parts)
    counts = len(np.unique(ids)), documents, fold.train.n_features
    return recognise(dataset, *counts, lambda: contents_of(parts))


def _fold_key(dataset: Dataset, fold: int | str) -> str:
    number = re.fullmatch(r"(?:fold[ _-]?)?([0-9]{1,3})", str(fold), re.IGNORECASE)
    key = f"Fold{int(number[1])}" if number else str(fold)
    if key in dataset.folds:
        return key
    raise DataError(
        f"no fold {fold} of {dataset.name}",
        expected=f"one of {', '.join(dataset.folds)}",
        remedy="Choose one of those, or add its files.",
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
        share = None if progress is None else _share(progress, before, weight)
        parts[part] = read_cached(files[part], progress=share).renamed(part_name(title, part))
        before += weight
    parts = told_apart(parts, files)
    refuse_shared_queries(parts)
    parts = pad_to_widest(parts)
    return Fold(parts["train"], parts["vali"], parts["test"], name=title)


def _share(progress: Progress, start: float, width: float) -> Progress:
    return lambda fraction: progress(start + width * fraction)


def _with_feature_names(fold: Fold, dataset: str) -> Fold:
    found = features_of_set(recognise_fold(dataset, fold), fold.train.n_features)
    if found is None:
        return fold
    train, vali, test = (part.renamed(feature_names=found.names) for part in fold.parts.values())
    return replace(fold, train=train, vali=vali, test=test)
