"""Settings, runs and designs as they are typed."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rankviz.common.errors import SettingError
from rankviz.common.settings import Setting, every, one_of
from rankviz.datasets.folds import data_roots, find_datasets, open_fold
from rankviz.experiments.spec import RunSpec
from rankviz.models.methods import METHODS
from rankviz.sweeps.axes import Axis, Range, Values

_POWER = re.compile(r"([\d.]+)\^(-?\d+)")


def pair(text: str) -> tuple[str, str]:
    """NAME=VALUE in its two parts; `SettingError` for anything else."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise SettingError(f"{text!r} is not NAME=VALUE, such as C=2^-7")
    return name.strip(), value.strip()


def number(text: str) -> float | int | None:
    """A number as it is typed, also a power such as 2^-7; None for what is none."""
    power = _POWER.fullmatch(text)
    if power:
        return float(power[1]) ** int(power[2])
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def value_of(setting: Setting, text: str) -> Any:
    """The value of a setting that a text means; `SettingError` where it means none."""
    candidates: list[Any] = [text, number(text), None] if text.lower() == "none" else [text, number(text)]
    for candidate in candidates:
        try:
            return setting.checked(candidate)
        except SettingError:
            continue
    setting.checked(
        number(text) if number(text) is not None else text
    )  # which raises, and says what would do
    raise AssertionError("a value cannot be both right and wrong")


def settings_of(method: str) -> dict[str, Setting]:
    """The settings that a method or one of its choices reads, by name."""
    one_of("method", method, METHODS)
    return {setting.name: setting for setting in every(METHODS[method].settings)}


def settings_typed(texts: Sequence[str], method: str) -> dict[str, Any]:
    """Settings by name, of NAME=VALUE texts."""
    known = settings_of(method)
    found = {}
    for name, text in map(pair, texts):
        one_of("setting", name, known)
        found[name] = value_of(known[name], text)
    return found


def roots_of(chosen: Namespace) -> tuple[Path, ...]:
    """The data roots: those named, and the default ones."""
    return data_roots([str(Path(folder).expanduser()) for folder in chosen.data_dir])


def base_of(chosen: Namespace) -> tuple[RunSpec, tuple[str, ...]]:
    """The run that was asked for, without the digest of its data, and its folds.

    Raises `SettingError` where there is no such data set or fold.
    """
    found = find_datasets(roots_of(chosen))
    if chosen.dataset is None:
        raise SettingError(f"name a data set: {', '.join(sorted(found))}")
    one_of("dataset", chosen.dataset, found)
    folds = tuple(found[chosen.dataset].folds) if chosen.all_folds else tuple(chosen.fold) or ("Fold1",)
    for fold in folds:
        one_of("fold", fold, found[chosen.dataset].folds)
    values = settings_typed(chosen.set, chosen.method)
    return RunSpec(
        chosen.dataset, folds[0], normalisation=chosen.normalisation, method=chosen.method, **values
    ), folds


def pinned(specs: Sequence[RunSpec], chosen: Namespace) -> list[RunSpec]:
    """The specs with the digests of their data, which are opened for that."""
    found, digests = find_datasets(roots_of(chosen)), dict[str, str]()
    for spec in specs:
        if spec.fold not in digests:
            digests[spec.fold] = open_fold(found[spec.dataset], spec.fold).digest
    return [spec.but(digest=digests[spec.fold]) for spec in specs]


def axes_typed(texts: Sequence[str], method: str, *, drawn: bool) -> Iterator[Axis]:
    """Axes of NAME=VALUES texts: lists, all powers between two, or ranges where points are drawn there."""
    known = settings_of(method)
    for name, text in map(pair, texts):
        one_of("setting", name, known)
        low, dots, high = text.partition("..")
        if not dots:
            yield Values(name, tuple(value_of(known[name], one.strip()) for one in text.split(",")))
        elif drawn:
            yield Range(name, float(value_of(known[name], low)), float(value_of(known[name], high)))
        else:
            yield Values(name, tuple(value_of(known[name], one) for one in _between(low, high)))


def _between(low: str, high: str) -> list[str]:
    """The powers, or whole numbers, from one to another."""
    ends = _POWER.fullmatch(low), _POWER.fullmatch(high)
    if ends[0] and ends[1] and ends[0][1] == ends[1][1]:
        return [f"{ends[0][1]}^{power}" for power in range(int(ends[0][2]), int(ends[1][2]) + 1)]
    if low.isdecimal() and high.isdecimal():
        return list(map(str, range(int(low), int(high) + 1)))
    raise SettingError(
        f"{low}..{high}: a grid lists powers of one number (2^-12..2^6) or whole numbers (1..5)"
    )
