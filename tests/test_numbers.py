"""Formats of numbers: powers, signs, digits, spaces."""

import math

import pytest

from rankviz.common.memory import megabytes
from rankviz.common.numbers import exact, interval_in_words, power_of_two, small, span, unbroken, with_minus


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (0.0, "+.3f", "0.000"),
        (-0.0, ".3f", "0.000"),
        (0.0004, "+.3f", "0.000"),
        (-0.0004, "+.3f", "0.000"),
        (-0.0004, "+z.3f", "0.000"),
        (0.0126, "+.3f", "+0.013"),
        (-0.0126, "+.3f", "−0.013"),
        (-10.0, "+d", "−10"),
        (-123456.0, ".4g", "−1.235 × 10⁵"),
        (0.0000123, "+.3g", "+1.23 × 10⁻⁵"),
        (math.nan, "+.3f", "+nan"),
        (-math.inf, ".3f", "−inf"),
    ],
)
def test_zero_has_no_sign_and_a_difference_has_one(value: float, form: str, text: str) -> None:
    assert with_minus(int(value) if form.endswith("d") else value, form) == text


def test_ends_of_an_interval_have_signs() -> None:
    assert interval_in_words(-0.0126, 0.0001) == "95 % interval [−0.013, 0.000]"
    assert interval_in_words(0.042, 0.12) == "95 % interval [+0.042, +0.120]"


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e-6, "10⁻⁶"), (0.25, "0.25"), (5e-3, "0.005"), (50, "50"), (0.123456789, "0.123456789")],
)
def test_exact_values_keep_their_digits(value: float, text: str) -> None:
    assert exact(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (7.12e-5, "7.1 × 10⁻⁵"), (0.0421, "0.042"), (1.0, "1"), (100.0, "100"), (1249.0, "1,200")],
)
def test_two_digits_never_have_an_exponent_with_e(value: float, text: str) -> None:
    assert small(value) == text


def test_a_range_of_equal_ends_is_one_number() -> None:
    assert [span(8, 1095, ","), span(40, 40), span(0.4311, 0.4314, ".3f")] == ["8 to 1,095", "40", "0.431"]


def test_powers_sizes_and_spaces() -> None:
    assert [power_of_two(2.0**k) for k in (-10, 0, 3)] == ["2⁻¹⁰", "2⁰", "2³"]
    assert megabytes(200e6) == "200 MB"
    assert (
        unbroken("at m = 50, p = 0.54")
        == "at m\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}50, p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.54"
    )
    assert unbroken("95 % of 40") == "95\N{NO-BREAK SPACE}% of 40"
