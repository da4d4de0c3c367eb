"""Costs of pairs in the sidebar: a choice by name, and a line of numbers for a table."""

from __future__ import annotations

from typing import Any

from rankviz.datasets import DataError
from rankviz.learning.costs import RULES, Costs, triangle
from ui.shared.words import COSTS_REMEDY, costs_expected
from ui.shell.figures import capital

PLAIN, TABLE, TABLE_QUERY = "none", "table", "table_query"
CHOICES = {
    PLAIN: "every pair costs 1",
    **{name: capital(rule.label) for name, rule in RULES.items()},
    TABLE: "λ as below",
    TABLE_QUERY: "λ as below × μ by query",
}
"""Labels of the select box, by value."""

TABLE_KEY = "lam"
"""Key of the line of numbers."""
LARGEST = 1000.0
DEFAULT_TABLE = "1, 2, 1.3"
"""he2009 §4.2: λ₁₀, λ₂₀, λ₂₁."""


def costs_of(choice: str, text: str) -> Costs:
    """Return the costs for the select box and the line of numbers; `DataError` for an invalid line."""
    if choice == PLAIN:
        return None
    if not needs_table(choice):
        return choice
    return table(numbers(text), by_query=choice == TABLE_QUERY)


def needs_table(choice: str) -> bool:
    """Return True if a choice reads the line of numbers."""
    return choice in (TABLE, TABLE_QUERY)


def table(values: list[float], *, by_query: bool) -> tuple[object, ...]:
    """Return λ of grades r > s from λ₁₀, λ₂₀, λ₂₁, λ₃₀, … as a symmetric table, alone or with μ by query."""
    grades = next(r for r in range(2, len(values) + 2) if r * (r - 1) // 2 >= len(values))
    at = iter(values)
    found = [[0.0] * grades for _ in range(grades)]
    for r in range(1, grades):
        for s in range(r):
            found[r][s] = found[s][r] = next(at)
    rows = tuple(map(tuple, found))
    return ("query", rows) if by_query else rows


def numbers(text: str) -> list[float]:
    """Return the numbers of a line such as "1, 2, 1.3": one for every pair of grades."""
    words = text.replace(";", " ").replace(",", " ").split()
    try:
        values = [round(float(word), 4) for word in words]
    except ValueError:
        values = []
    fits = [r * (r - 1) // 2 for r in range(2, 12)]
    if len(values) not in fits or not all(0 <= value <= LARGEST for value in values):
        raise DataError(
            f"λ = “{text}”",
            expected=costs_expected(LARGEST),
            remedy=COSTS_REMEDY,
        )
    return values


def state_of_costs(costs: Costs) -> dict[str, Any]:
    """Return values of the select box and the line of numbers: the inverse of `costs_of`."""
    if costs is None or isinstance(costs, str):
        return {"costs": costs or PLAIN}
    values = ", ".join(f"{value:g}" for value in triangle(costs))
    return {"costs": TABLE_QUERY if costs[0] == "query" else TABLE, TABLE_KEY: values}


def in_a_pin(line: str) -> str:
    """Return a line of numbers as letters and digits: "1x2x1p3"."""
    return "x".join(f"{value:g}" for value in numbers(line)).replace(".", "p")


def line_of_a_pin(text: str) -> str:
    """Return the line of numbers from a text in a pin; `DataError` for an invalid text."""
    return ", ".join(f"{value:g}" for value in numbers(text.replace("p", ".").replace("x", " ")))
