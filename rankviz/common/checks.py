"""Checks of settings, with one way to say what is wrong."""

from __future__ import annotations

import numbers
from collections.abc import Collection

from rankviz.common.errors import SettingError


def one_of(name: str, value: object, allowed: Collection[str]) -> None:
    """Raise `SettingError` unless value is one of the allowed names."""
    if value not in tuple(allowed):
        raise SettingError(f"{name}={value!r} is not known; choose one of {', '.join(map(repr, allowed))}")


def positive(name: str, value: object) -> None:
    """Raise `SettingError` unless value is a positive finite number."""
    if not isinstance(value, numbers.Real) or not 0 < float(value) < float("inf"):
        raise SettingError(f"{name}={value!r} must be a positive finite number")


def whole(name: str, value: object) -> None:
    """Raise `SettingError` unless value is a whole number of at least 1."""
    if not isinstance(value, numbers.Integral) or int(value) < 1:
        raise SettingError(f"{name}={value!r} must be a whole number of at least 1")


def check_training(C: object, tol: object, max_iter: object, memory_limit: object) -> None:
    """Raise `SettingError` for settings of training out of their range; the last two may be None."""
    positive("C", C)
    positive("tol", tol)
    if max_iter is not None:
        whole("max_iter", max_iter)
    if memory_limit is not None:
        positive("memory_limit", memory_limit)
