"""Values of settings as texts: on sliders, and in pins, which allow only letters, digits, _ and -."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from rankviz.common.numbers import superscript

_OTHERS = re.compile(r"[^A-Za-z0-9_]+")
_WHOLE = re.compile(r"-?[0-9]{1,10}")


def number(value: Any) -> str:
    """Format a listed value in ASCII; small ones with a power of ten."""
    if not isinstance(value, float):
        return str(value)
    short = f"{value:.0e}" if 0 < abs(value) < 1e-2 else f"{value:g}"
    return short if float(short) == value else repr(value)


def told(value: Any) -> str:
    """Format a listed value: 10⁻⁶ for a small power of ten, else like `number`."""
    written = number(value)
    mantissa, power, exponent = written.partition("e")
    return f"10{superscript(int(exponent))}" if power and mantissa == "1" else written


def pointless(value: Any) -> str:
    """Format a listed value in letters, digits and -, with "p" for its point."""
    return number(value).replace(".", "p")


def plain(name: str) -> str:
    """Format a name in letters, digits, _ and -: other characters become hexadecimal digits between two -."""
    return _OTHERS.sub(lambda found: f"-{found[0].encode().hex()}-", name)


def written_so(text: str, values: Iterable[Any], write: Callable[[Any], str]) -> Any:
    """Return the value with this text; ValueError if there is none."""
    for value in values:
        if write(value) == text:
            return value
    raise ValueError(f"{text!r} is none of {', '.join(map(write, values))}")


def whole(text: str, low: int, high: int) -> int:
    """Return the whole number of a text; ValueError outside the range."""
    if not _WHOLE.fullmatch(text) or not low <= int(text) <= high:
        raise ValueError(f"{text!r} is no whole number from {low} to {high}")
    return int(text)
