"""Columns of tables of runs: their names, the format of values, and which of them differ."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import pandas as pd

from rankviz.common.numbers import counted
from rankviz.common.settings import Powers, Setting, Steps, Whole, every
from rankviz.datasets import NORMALISATIONS
from rankviz.datasets.samples import SETTINGS as OF_SAMPLES
from rankviz.models.methods import METHODS
from ui.controls.settings import METHOD, NORMALISATION
from ui.shell.texts import escaped

_NAMED = replace(METHOD, domain=OF_SAMPLES[0].domain, default="", caption=str)
DATASET = replace(_NAMED, name="dataset", symbol="data", label="Data set", key="d")
FOLD = replace(_NAMED, name="fold", symbol="fold", label="Fold", key="f")
_NORMALISED = replace(
    NORMALISATION, quiet=True, caption=lambda name: f"normalised: {NORMALISATIONS[name].label}"
)
PARTS = {"vali": "validation", "train": "training", "test": "test"}
SMALL = 1e-3
"""Smaller numbers are written as powers of ten."""
MOST_TOLD = 8
"""Largest number of common settings to list; the others are counted."""


def known() -> dict[str, tuple[Setting, ...]]:
    """Return the settings of runs by name; methods may have different settings of the same name."""
    found: dict[str, tuple[Setting, ...]] = {}
    of_methods = every(one for method in METHODS.values() for one in method.settings)
    for one in (DATASET, FOLD, METHOD, *of_methods, _NORMALISED, *OF_SAMPLES):
        found[one.name] = (*found.get(one.name, ()), one)
    return found


class Columns:
    """The data and settings columns of a table of runs, in order of display.

    `table` has numbers as numbers, even if some runs do not have the setting.
    """

    def __init__(self, table: pd.DataFrame) -> None:
        self._known = known()
        self.names = [name for name in self._known if name in table]
        self.table = table.assign(**{name: _numbers(table[name]) for name in self.names})

    def setting(self, name: str, value: Any = None) -> Setting:
        """Return the setting with this name; if there are several, the one that offers this value."""
        held, named = self._known[name], isinstance(value, str)
        return next((one for one in held if named and value in one.options), held[0])

    @cached_property
    def _varying(self) -> list[str]:
        """Columns that differ between runs; parts of the table differ in no others."""
        return [name for name in self.names if self._differs(name, self.table)]

    def differing(self, part: pd.DataFrame) -> list[str]:
        """Return the columns that differ within a part of the table."""
        whole = len(part) == len(self.table)
        return [name for name in self._varying if whole or self._differs(name, part)]

    def _differs(self, name: str, table: pd.DataFrame) -> bool:
        """Return True if runs differ in a setting; a setting that only some runs have does not count."""
        values = table[name].map(repr).where(table[name].notna()) if _mixed(table[name]) else table[name]
        found = values.unique()
        gaps = int(pd.isna(found).sum())
        none_is_a_value = gaps and self.setting(name).default is None
        return len(found) - gaps + none_is_a_value > 1

    def told(self, name: str, value: Any) -> str:
        """Format a value as in captions: "C = 2⁻⁷"."""
        setting = self.setting(name, value)
        if isinstance(setting.domain, Whole) and isinstance(value, float):
            value = int(value)
        return setting.told(value if isinstance(value, Hashable) else setting.domain.plain(value))

    def alone(self, name: str, value: Any) -> str:
        """Format a value alone, for menus and cells: "RBF", "2⁻⁷"."""
        if is_none(value):
            return "none"
        return self.told(name, value).removeprefix(f"{self.setting(name, value).symbol} = ")

    def common(self, part: pd.DataFrame) -> str:
        """Describe the common settings of a part of the table, in Markdown, without obvious ones."""
        differing = self.differing(part)
        values = {name: part[name].dropna() for name in self.names if name not in differing}
        words = [self._unless_understood(name, held.iloc[0]) for name, held in values.items() if len(held)]
        said = [escaped(text) for text in words if text]
        more = len(said) - MOST_TOLD
        return " · ".join([*said[:MOST_TOLD], *([f"{counted(more, 'setting')} more"] if more > 0 else [])])

    def _unless_understood(self, name: str, value: Any) -> str:
        setting = self.setting(name, value)
        return "" if setting.quiet and value == setting.default else self.told(name, value)

    def by_powers(self, name: str, table: pd.DataFrame) -> bool:
        """Return True if a column is offered as powers, and has only powers."""
        base = self.base(name)
        if base is None or not pd.api.types.is_float_dtype(table[name]):
            return False
        found = table[name].dropna().unique()
        return len(found) > 0 and all(_exponent(value, base) is not None for value in found)

    def base(self, name: str) -> int | None:
        """Return the base of a column of powers: 10 for small numbers such as tolerances; None for others."""
        offer = self.setting(name).offer
        if isinstance(offer, Powers):
            return offer.base
        return 10 if isinstance(offer, Steps) and any(0 < one < SMALL for one in offer.values) else None

    def exponents(self, name: str, table: pd.DataFrame) -> pd.Series[Any]:
        """Return the exponents of a column of powers."""
        base = self.base(name)
        assert base is not None
        by_value = {value: _exponent(value, base) for value in table[name].dropna().unique()}
        return table[name].map(by_value).astype("float")

    def in_words(self, name: str, table: pd.DataFrame) -> pd.Series[Any]:
        """Return a column as texts; None for runs without the setting."""
        values = table[name]
        if not _mixed(values):
            words = {value: self.alone(name, value) for value in values.dropna().unique()}
            return values.map(words).astype(object)
        first = dict(zip(values.map(repr), values, strict=True))
        told = {text: None if is_none(value) else self.alone(name, value) for text, value in first.items()}
        return values.map(repr).map(told).astype(object)


def _mixed(values: pd.Series[Any]) -> bool:
    """Return True if a column has values of several types, including lists such as costs."""
    return values.dtype == object


def _numbers(values: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as numbers if it has only numbers and gaps."""
    kinds = set(map(type, values.dropna())) if _mixed(values) else set()
    return values.astype(float) if kinds and kinds <= {int, float} else values


def is_none(value: Any) -> bool:
    """Return True if a run does not have a setting, or its value is None."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _exponent(value: float, base: int) -> int | None:
    """Return the exponent of a power; None for other values."""
    if value <= 0:
        return None
    nearest = round(math.log(value, base))
    return nearest if math.isclose(float(base) ** nearest, value, rel_tol=1e-12) else None


def metrics(columns: Iterable[str]) -> list[str]:
    """Return the names of the table's metrics of any part, in order."""
    split = [name.partition(":") for name in columns]
    return list(dict.fromkeys(name for part, _, name in split if part in PARTS))


def of_parts(names: Sequence[str], parts: Sequence[str], table: pd.DataFrame) -> dict[str, str]:
    """Return the table's columns of metrics on parts, with their titles."""
    wanted = {f"{part}:{name}": f"{name}, {PARTS[part]}" for part in parts for name in names}
    return {column: title for column, title in wanted.items() if column in table}
