"""Values of settings as texts: on sliders, and in pins, where only letters, digits, _ and - may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from rankviz.common.numbers import superscript

_OTHERS = re.compile(r"[^A-Za-z0-9_]+")
_WHOLE = re.compile(r"-?[0-9]{1,10}")


def number(value: Any) -> str:
    """A listed value in signs that every keyboard has: a small one with its power of ten."""
    if not isinstance(value, float):
        return str(value)
    short = f"{value:.0e}" if 0 < abs(value) < 1e-2 else f"{value:g}"
    return short if float(short) == value else repr(value)


def told(value: Any) -> str:
    """A listed value as people write it: 10⁻⁶ for a small power of ten, else as `number`."""
    written = number(value)
    mantissa, power, exponent = written.partition("e")
    return f"10{superscript(int(exponent))}" if power and mantissa == "1" else written


def pointless(value: Any) -> str:
    """A listed value in letters, digits and -, a "p" for its point."""
    return number(value).replace(".", "p")


def plain(name: str) -> str:
    """A name in letters, digits, _ and -: each run of other signs as hexadecimal digits between two -."""
    return _OTHERS.sub(lambda found: f"-{found[0].encode().hex()}-", name)


def written_so(text: str, values: Iterable[Any], write: Callable[[Any], str]) -> Any:
    """The one of some values that is written as a text; ValueError where none is."""
    for value in values:
        if write(value) == text:
            return value
    raise ValueError(f"{text!r} is none of {', '.join(map(write, values))}")


def whole(text: str, low: int, high: int) -> int:
    """The whole number that a text stands for; ValueError where it is none between two ends."""
    if not _WHOLE.fullmatch(text) or not low <= int(text) <= high:
        raise ValueError(f"{text!r} is no whole number from {low} to {high}")
    return int(text)
