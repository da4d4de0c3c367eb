"""Parse settings, runs and designs as typed on the command line."""

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
from rankviz.models.methods import METHODS, USUAL, check_method
from rankviz.runs.axes import Axis, Range, Values
from rankviz.runs.spec import RunSpec

LONGEST_END = 18
"""Most digits of an end of a range."""
_POWER = re.compile(r"([\d.]+)\^(-?\d+)")


def parse_pair(text: str) -> tuple[str, str]:
    """Return the two parts of NAME=VALUE. Raises `SettingError` for any other text."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise SettingError(f"{text!r} is not NAME=VALUE, such as C=2^-7")
    return name.strip(), value.strip()


def parse_number(text: str) -> float | int | None:
    """Return the number in a text, also a power such as 2^-7; None for any other text.

    Raises `SettingError` for a power outside the range of float64.
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


def parse_value(setting: Setting, text: str) -> Any:
    """Return a setting's value from a text. Raises `SettingError` for an invalid one."""
    typed = None if text.lower() == "none" else parse_number(text)
    try:
        return setting.checked(text)  # a name
    except SettingError:
        if typed is None and text.lower() != "none":
            raise
    return setting.checked(typed)


def settings_of(method: str) -> dict[str, Setting]:
    """Return the settings of a method and of all its choices, by name."""
    check_method(method)
    return {setting.name: setting for setting in every(METHODS[method].settings)}


def parse_settings(texts: Sequence[str], method: str) -> dict[str, Any]:
    """Return the values of NAME=VALUE texts, by setting."""
    known = settings_of(method)
    found = {}
    for name, text in map(parse_pair, texts):
        one_of("setting", name, known)
        if name in found:
            raise SettingError(f"--set {name} is given twice: give each setting one value")
        found[name] = parse_value(known[name], text)
    return found


def chosen_roots(chosen: Namespace) -> tuple[Path, ...]:
    """Return the data roots: the chosen ones, and the default ones."""
    return data_roots([str(Path(folder).expanduser()) for folder in chosen.data_dir])


def base_spec(chosen: Namespace) -> tuple[RunSpec, tuple[str, ...]]:
    """Return the spec of the chosen run, without the digest of its data, and the folds.

    Raises `SettingError` for an unknown data set or fold.
    """
    found = find_datasets(chosen_roots(chosen))
    if chosen.dataset is None:
        raise SettingError(f"name a data set: {', '.join(sorted(found))}")
    one_of("dataset", chosen.dataset, found)
    folds = _folds(chosen, found[chosen.dataset].folds)
    method = USUAL if chosen.method is None else chosen.method
    values = parse_settings(chosen.set, method)
    normalisation = "none" if chosen.normalisation is None else chosen.normalisation
    one_of("normalisation", normalisation, NORMALISATIONS)
    return RunSpec(chosen.dataset, folds[0], normalisation=normalisation, method=method, **values), folds


def _folds(chosen: Namespace, there: Collection[str]) -> tuple[str, ...]:
    """Return the chosen folds. Raises `SettingError` for unknown or repeated ones."""
    if chosen.all_folds and chosen.fold:
        raise SettingError("--all-folds with --fold: give only one")
    folds = tuple(there if chosen.all_folds else chosen.fold or ("Fold1",))
    for fold in folds:
        one_of("fold", fold, there)
        if folds.count(fold) > 1:
            raise SettingError(f"--fold {fold} is given twice: name each fold once")
    return folds


def with_digests(specs: Sequence[RunSpec], chosen: Namespace) -> list[RunSpec]:
    """Return the specs with the digests of their data; opens the folds."""
    found, digests = find_datasets(chosen_roots(chosen)), dict[str, str]()
    for spec in specs:
        if spec.fold not in digests:
            digests[spec.fold] = open_fold(found[spec.dataset], spec.fold).digest
    return [spec.but(digest=digests[spec.fold]) for spec in specs]


def parse_axes(texts: Sequence[str], method: str, *, drawn: bool) -> Iterator[Axis]:
    """Yield axes of NAME=VALUES texts: lists, all powers between two, or ranges to draw points from."""
    known = settings_of(method)
    for name, text in map(parse_pair, texts):
        one_of("setting", name, known)
        low, dots, high = text.partition("..")
        if not dots:
            yield Values(name, tuple(parse_value(known[name], one.strip()) for one in text.split(",")))
        elif drawn:
            yield Range(name, parse_value(known[name], low), parse_value(known[name], high))
        else:
            yield Values(name, tuple(parse_value(known[name], one) for one in _between(low, high)))


def _between(low: str, high: str) -> list[str]:
    """Return the powers, or whole numbers, from one to another."""
    ends = _POWER.fullmatch(low), _POWER.fullmatch(high)
    if ends[0] and ends[1] and ends[0][1] == ends[1][1]:
        return [f"{ends[0][1]}^{power}" for power in _from_to(ends[0][2], ends[1][2])]
    if low.isdecimal() and high.isdecimal():
        return list(map(str, _from_to(low, high)))
    raise SettingError(f"{low}..{high}: a grid has powers of one number (2^-12..2^6) or whole numbers (1..5)")


def _from_to(low: str, high: str) -> range:
    """Return the whole numbers from one to another. Raises `SettingError` for none or too many."""
    most = bounds().sweep_runs
    if max(len(low), len(high)) > LONGEST_END or int(high) - int(low) >= most:
        raise SettingError(f"{low} to {high} are more than the {most:,} runs of one sweep; take fewer values")
    if int(low) > int(high):
        raise SettingError(f"{low} to {high} is empty: give the smaller number first")
    return range(int(low), int(high) + 1)
