"""Settings, runs and designs as they are typed."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from rankviz.common.bounds import bounds
from rankviz.common.errors import SettingError
from rankviz.common.settings import Setting, every, one_of
from rankviz.datasets.folds import data_roots, find_datasets, open_fold
from rankviz.datasets.normalise import NORMALISATIONS
from rankviz.models.methods import METHODS, USUAL
from rankviz.runs.axes import Axis, Range, Values
from rankviz.runs.spec import RunSpec

LONGEST_END = 18
"""Digits of an end of a range: more are never meant."""
_POWER = re.compile(r"([\d.]+)\^(-?\d+)")


def pair(text: str) -> tuple[str, str]:
    """NAME=VALUE in its two parts; `SettingError` for anything else."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise SettingError(f"{text!r} is not NAME=VALUE, such as C=2^-7")
    return name.strip(), value.strip()


def number(text: str) -> float | int | None:
    """Return a number as it is typed, also a power such as 2^-7; None for what is none.

    Raises `SettingError` for a power that is too large or too small for a number here.
    """
    power = _POWER.fullmatch(text)
    for kind in (int, float):
        try:
            return _power(text, float(power[1]), int(power[2])) if power else kind(text)
        except SettingError:
            raise
        except ValueError:  # also for more digits than Python reads
            continue
    return None


def _power(text: str, base: float, exponent: int) -> float:
    try:
        found = base**exponent
    except ZeroDivisionError:
        raise SettingError(f"{text} divides by 0: give a number") from None
    except OverflowError:
        raise SettingError(f"{text} is beyond the largest number, about 2^1023") from None
    if found == 0 != base:
        raise SettingError(f"{text} is below the smallest number above 0, about 2^-1074")
    return found


def value_of(setting: Setting, text: str) -> Any:
    """The value of a setting that a text means; `SettingError` where it means none."""
    typed = None if text.lower() == "none" else number(text)
    try:
        return setting.checked(text)  # a name
    except SettingError:
        if typed is None and text.lower() != "none":
            raise
    return setting.checked(typed)


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
        if name in found:
            raise SettingError(f"--set {name} stands twice: give each setting one value")
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
    folds = _folds(chosen, found[chosen.dataset].folds)
    method = USUAL if chosen.method is None else chosen.method
    values = settings_typed(chosen.set, method)
    normalisation = "none" if chosen.normalisation is None else chosen.normalisation
    one_of("normalisation", normalisation, NORMALISATIONS)
    return RunSpec(chosen.dataset, folds[0], normalisation=normalisation, method=method, **values), folds


def _folds(chosen: Namespace, there: Collection[str]) -> tuple[str, ...]:
    """The folds that were asked for, each of which is there and named once."""
    if chosen.all_folds and chosen.fold:
        raise SettingError("--all-folds beside --fold: give one of the two")
    folds = tuple(there if chosen.all_folds else chosen.fold or ("Fold1",))
    for fold in folds:
        one_of("fold", fold, there)
        if folds.count(fold) > 1:
            raise SettingError(f"--fold {fold} stands twice: name each fold once")
    return folds


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
            yield Range(name, value_of(known[name], low), value_of(known[name], high))
        else:
            yield Values(name, tuple(value_of(known[name], one) for one in _between(low, high)))


def _between(low: str, high: str) -> list[str]:
    """The powers, or whole numbers, from one to another."""
    ends = _POWER.fullmatch(low), _POWER.fullmatch(high)
    if ends[0] and ends[1] and ends[0][1] == ends[1][1]:
        return [f"{ends[0][1]}^{power}" for power in _from_to(ends[0][2], ends[1][2])]
    if low.isdecimal() and high.isdecimal():
        return list(map(str, _from_to(low, high)))
    raise SettingError(
        f"{low}..{high}: a grid lists powers of one number (2^-12..2^6) or whole numbers (1..5)"
    )


def _from_to(low: str, high: str) -> range:
    """The whole numbers from one to another; `SettingError` where there are none, or too many."""
    most = bounds().sweep_runs
    if max(len(low), len(high)) > LONGEST_END or int(high) - int(low) >= most:
        raise SettingError(f"{low} to {high} are more than the {most:,} runs of one sweep; take fewer values")
    if int(low) > int(high):
        raise SettingError(f"{low} to {high} holds nothing: give the smaller one first")
    return range(int(low), int(high) + 1)
