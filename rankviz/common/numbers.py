"""Format numbers for captions and sentences, and tables as CSV."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import pandas as pd

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def superscript(k: int) -> str:
    """Format a whole number as a superscript."""
    return str(k).translate(_SUPERSCRIPT)


def power_of_two(value: float) -> str:
    """Format a positive number: 2⁻⁷ for a power of two, else 0.0123."""
    mantissa, exponent = math.frexp(value)
    if mantissa == 0.5:
        return f"2{superscript(exponent - 1)}"
    return f"{value:.4g}"


def exact(value: object) -> str:
    """Format a value with all its digits; a power of ten below 0.01 as 10⁻⁶."""
    if not isinstance(value, float):
        return str(value)
    exponent = f"{value:.0e}".partition("e")[2]
    if 0 < value < 1e-2 and float(f"1e{exponent}") == value:
        return f"10{superscript(int(exponent))}"
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def small(value: float) -> str:
    """Format a number ≥ 0 with two significant digits: 0.042, 7.1 × 10⁻⁵, or 120."""
    if value == 0 or value >= 1e-3:
        return f"{float(f'{value:.2g}'):,.10g}"
    return _with_power(f"{value:.1e}")


def _with_power(text: str) -> str:
    """Write the exponent of a number as a power of ten: 1.2e+05 as 1.2 × 10⁵."""
    digits, e, exponent = text.partition("e")
    return f"{digits} × 10{superscript(int(exponent))}" if e else text


def alike(values: Sequence[float]) -> list[str]:
    """Format numbers of one column, with signs and the decimals that give the largest three digits."""
    largest = max(map(abs, values), default=0.0)
    decimals = max(0, 2 - math.floor(math.log10(largest))) if largest else 0
    form = f"+.{decimals}f" if decimals <= 6 else "+.2e"
    return [with_minus(value, form) for value in values]


def with_minus(value: float, form: str) -> str:
    """Format a number, such as by "+.3f", with a minus sign (−) and powers as 10⁵; zero has no sign."""
    text = _with_power(format(value, form))
    return text.replace("-", "−") if re.search("[1-9]|nan|inf", text) else text.lstrip("+-")


def metric_in_words(value: float) -> str:
    """Format the value of a metric by three decimals; a query that its definition leaves out has none."""
    return "undefined" if value != value else f"{value:.3f}"


def unbroken(text: str) -> str:
    """Return a text that does not break around equals signs, nor before percent signs: "m = 50", "95 %"."""
    return text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}").replace(" %", "\N{NO-BREAK SPACE}%")


def interval_in_words(low: float, high: float, form: str = "+z.3f", level: str = "95 %") -> str:
    """Format an interval, "95 % interval [−0.013, +0.009]"; for ends of NaN, say that queries are too few."""
    if math.isnan(low):
        return f"too few queries for a {level} interval"
    return f"{level} interval [{with_minus(low, form)}, {with_minus(high, form)}]"


def percent(share: float, decimals: int = 0) -> str:
    """Format a share in percent: "53 %" for 0.53, without a line break."""
    return f"{100 * share:.{decimals}f}\N{NO-BREAK SPACE}%"


def counted(n: int, one: str) -> str:
    """Format a number of things: "1 job", "3,000 jobs"."""
    return f"{n:,} {one}" if n == 1 else f"{n:,} {one}s"


def span(low: object, high: object, form: str = "") -> str:
    """Format a range: "8 to 95", or "40" if both ends look the same."""
    return " to ".join(dict.fromkeys(f"{end:{form}}" for end in (low, high)))


_FORMULA = re.compile(r"[=+\-@\t\r]")


def as_csv(table: pd.DataFrame) -> str:
    """Format a table as CSV, without its index; put an apostrophe before texts that look like formulas."""
    texts = table.select_dtypes(exclude="number").columns
    return table.assign(**{name: table[name].map(_in_a_cell) for name in texts}).to_csv(index=False)


def _in_a_cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value
