"""Numbers as captions and sentences write them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import pandas as pd

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def superscript(k: int) -> str:
    """A whole number as a superscript."""
    return str(k).translate(_SUPERSCRIPT)


def power_of_two(value: float) -> str:
    """A positive number as the papers write it: 2⁻⁷ where it is a power of two, else 0.0123."""
    mantissa, exponent = math.frexp(value)
    if mantissa == 0.5:
        return f"2{superscript(exponent - 1)}"
    return f"{value:.4g}"


def small(value: float) -> str:
    """A number ≥ 0 with two significant digits: 0.042, and 7.1 × 10⁻⁵ where it is small."""
    if value == 0 or value >= 1e-3:
        return f"{value:.2g}"
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits} × 10{superscript(int(exponent))}"


def alike(values: Sequence[float]) -> list[str]:
    """Numbers of one column with signs and as many decimals as the largest needs for three digits."""
    largest = max(map(abs, values), default=0.0)
    decimals = max(0, 2 - math.floor(math.log10(largest))) if largest else 0
    form = f"+.{decimals}f" if decimals <= 6 else "+.2e"
    return [with_minus(value, form) for value in values]


def with_minus(value: float, form: str) -> str:
    """A number in a format such as "+.3f", with a minus sign (−) for the hyphen."""
    return format(value, form).replace("-", "−")


def interval_in_words(low: float, high: float, form: str = "+z.3f", level: str = "95 %") -> str:
    """An interval for a sentence, "95 % interval [−0.013, +0.009]", or that there is none (ends of NaN)."""
    if math.isnan(low):
        return f"too few queries for a {level} interval"
    return f"{level} interval [{with_minus(low, form)}, {with_minus(high, form)}]"


def percent(share: float, decimals: int = 0) -> str:
    """A share in percent: 0.53 is "53 %", on one line."""
    return f"{100 * share:.{decimals}f}\N{NO-BREAK SPACE}%"


def megabytes(size: float) -> str:
    """A size in MB or GB."""
    if size >= 1e24:  # a whole number may be too large for a float
        return "more than 10¹⁵ GB"
    return f"{max(size / 1e6, 1):.0f} MB" if size < 1e9 else f"{size / 1e9:.1f} GB"


def counted(n: int, one: str) -> str:
    """A number of things: "1 job", "3,000 jobs"."""
    return f"{n:,} {one}" if n == 1 else f"{n:,} {one}s"


_FORMULA = re.compile(r"[=+\-@\t\r]")


def as_csv(table: pd.DataFrame) -> str:
    """Format a table as CSV, without its index; put an apostrophe before texts that look like formulas."""
    texts = table.select_dtypes(exclude="number").columns
    return table.assign(**{name: table[name].map(_in_a_cell) for name in texts}).to_csv(index=False)


def _in_a_cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value
