"""Settings given to an estimator that its current choices do not read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rankviz.common.settings import SEED, Setting, active, every


def unread_settings(
    settings: Iterable[Setting],
    left_out: Iterable[Setting],
    estimator: type,
    value_of: Callable[[Setting], Any],
) -> Iterator[tuple[Setting, str]]:
    """Yield settings that differ from the estimator's default but are not read, with a sentence for each.

    A seed is excepted: it may be given to any estimator, to make random parts repeatable.
    """
    declared, others = tuple(settings), (*left_out, SEED)
    read = {setting.name for setting, _ in active(declared, value_of, left_out)}
    defaults = {name: one.default for name, one in inspect.signature(estimator).parameters.items()}
    for setting in every(declared):
        value = value_of(setting)
        if setting.name in read or setting in others or value == defaults.get(str(setting.parameter), value):
            continue
        lacking, needed = _choices(setting, declared, read)
        given = f"{lacking.parameter}={value_of(lacking)!r}"
        yield setting, f"{setting.parameter}={value!r} is not read with {given}; it is with {needed}"


def _choices(setting: Setting, declared: tuple[Setting, ...], read: set[str]) -> tuple[Setting, str]:
    """Return the choice that does not read a setting, and one that does: "kernel='polynomial' and …"."""
    chooser = next(
        choice
        for choice in every(declared)
        if any(setting in getattr(option, "settings", ()) for option in choice.options.values())
    )
    able = [name for name, option in chooser.options.items() if setting in getattr(option, "settings", ())]
    needed = f"{chooser.parameter}={_either(able)}"
    if chooser.name in read:
        return chooser, needed
    lacking, more = _choices(chooser, declared, read)
    return lacking, f"{needed} and {more}"


def _either(names: list[str]) -> str:
    *first, last = map(repr, names)
    return f"{', '.join(first)} or {last}" if first else last
