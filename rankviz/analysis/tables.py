"""Comparisons as printed tables in LaTeX, Markdown and CSV; foreign text is escaped."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import pandas as pd

from rankviz.analysis.comparison import LEVEL, TESTS, Comparison
from rankviz.common.numbers import as_csv, counted, small, with_minus
from rankviz.metrics.definitions import COMPARED
from rankviz.metrics.formulas import direction
from rankviz.metrics.significance import queries_in_words
from rankviz.runs.description import PART_NAMES


@dataclass(frozen=True)
class Markup:
    """A language of printed tables.

    Attributes
    ----------
    text : text -> str
        Escapes the text's special characters; one line.
    bold, raised : str -> str
        Set escaped text in bold or as a superscript.
    """

    text: Callable[[str], str]
    bold: Callable[[str], str]
    raised: Callable[[str], str]


_NAMED = """
    α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi
    ρ rho σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi
    Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega ≤ leq ≥ geq × times · cdot ± pm ∞ infty ≈ approx ≠ neq ∈ in √ surd
    → rightarrow ← leftarrow ↑ uparrow ↓ downarrow ‖ Vert ∇ nabla ∑ sum
"""
"""Characters, each followed by its name in LaTeX's math."""

_LATEX = {
    **{sign: f"$\\{name}$" for sign, name in zip(_NAMED.split()[::2], _NAMED.split()[1::2], strict=True)},
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{sign: f"{{{sign}}}" for sign in "[]*"},  # after \\ LaTeX would read them as its options
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': "{''}",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "\u00a0": "~",
    "\u00b5": r"$\mu$",  # micro sign, a code point of its own
    "\u2044": "/",  # fraction slash
}
_LIGATURE = re.compile(r"([-',?!])(?=[-',`])")
_HIGH, _LOW = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "₀₁₂₃₄₅₆₇₈₉₋₊"
_INDEX = re.compile(f"[{_HIGH}]+|[{_LOW}]+")
_PLAIN = str.maketrans(_HIGH + _LOW, "0123456789-+" * 2)
_LATIN = 0x180
"""Recent LaTeX has all letters below this code point; others are spelled out."""


def _latex(text: str) -> str:
    """Escape a text: Greek letters and signs as math, accented letters unchanged, unknown ones by number."""
    found, last = [], 0
    for index in _INDEX.finditer(text):
        place = "^" if index[0][0] in _HIGH else "_"
        found += [_between(text[last : index.start()]), f"${place}{{{index[0].translate(_PLAIN)}}}$"]
        last = index.end()
    return "".join((*found, _between(text[last:])))


def _between(text: str) -> str:
    """Escape a text without superscripts; separate characters that LaTeX would join into a ligature."""
    return "".join(map(_sign, _LIGATURE.sub("\\1\ufeff", text)))


def _sign(sign: str) -> str:
    if sign == "\ufeff":
        return "{}"
    if sign in _LATEX:
        return _LATEX[sign]
    if sign.isspace() or unicodedata.category(sign).startswith("C"):
        return " "
    if sign.isascii() or (ord(sign) < _LATIN and sign.isalpha()):
        return sign
    simpler = unicodedata.normalize("NFKD", sign)
    return f"{{[}}U+{ord(sign):04X}{{]}}" if simpler == sign else _latex(simpler)


_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>#|~$&!^]|:(?=//)|(?<=www)\.|@(?=[^\W\d])")


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\g<0>", re.sub(r"\s+", " ", text))


LATEX = Markup(_latex, lambda text: rf"\textbf{{{text}}}", lambda text: f"\\textsuperscript{{{text}}}")
MARKDOWN = Markup(_markdown, lambda text: f"**{text}**", lambda text: text)


BETTER, WORSE = "↑", "↓"
"""Marks of contestants significantly better or worse than the baseline."""
METRIC = "Metric"
"""Heading of the column of names, which is aligned left."""
NOTHING = "–"
"""The text of a cell without a value."""


@dataclass(frozen=True)
class Cell:
    """A number in a printed table.

    Attributes
    ----------
    text : str
    bold : bool
        True if it shows the same digits as the best of its column.
    mark : str
        `BETTER`, `WORSE` or "".
    """

    text: str
    bold: bool = False
    mark: str = ""


@dataclass(frozen=True)
class PrintedTable:
    """A table to print.

    Attributes
    ----------
    columns : tuple of str
        Their headings, after that of the labels.
    rows : tuple of (label, cells)
    legend : str
        Data, queries, test, correction and meaning of the marks.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    legend: str


def printed_table(comparison: Comparison, part: str = "", digits: int = 3) -> PrintedTable:
    """Return means of contestants by metrics, the best in bold, significant differences marked.

    `part` names the scored part in the legend ("test"), if given.
    """
    rows = tuple(
        (one.label, tuple(_cell(comparison, one.label, metric, digits) for metric in comparison.metrics))
        for one in comparison.matched.contestants
    )
    return PrintedTable(comparison.metrics, rows, _legend(comparison, part))


def table_of_tests(comparison: Comparison, part: str = "", digits: int = 3) -> PrintedTable:
    """Return a row per metric and contestant: mean and difference with intervals, and p.

    The best mean of a metric is in bold, significant differences are marked. p is that of the comparison's
    test, corrected by Holm's method over all rows; the baseline has none.
    """
    rows = tuple(
        (one.label, (Cell(metric), *_tested(comparison, one.label, metric, digits)))
        for metric in comparison.metrics
        for one in comparison.matched.contestants
    )
    columns = (METRIC, "Mean", "95 % interval", "Difference", "95 % interval", "p, Holm")
    own = "Intervals of differences are paired by query; seeds of a query are averaged first."
    return PrintedTable(columns, rows, f"{_legend(comparison, part, 'metric')} {own}")


def _tested(comparison: Comparison, label: str, metric: str, digits: int) -> tuple[Cell, ...]:
    standings = comparison.standings
    row = standings[(standings["label"] == label) & (standings["metric"] == metric)].iloc[0]
    own = replace(_cell(comparison, label, metric, digits), mark="")
    mean = (own, _ends(row, f".{digits}f"))
    if label == comparison.baseline:
        return (*mean, *[Cell(NOTHING)] * 3)
    delta, signed = comparison.delta(label, metric), f"+z.{digits}f"
    difference = Cell(with_minus(delta["difference"], signed), mark=_mark(comparison, label, metric))
    p = Cell(NOTHING if math.isnan(delta["holm"]) else small(delta["holm"]))
    return (*mean, difference, _ends(delta, signed), p)


def _ends(row: pd.Series, style: str) -> Cell:
    """Return an interval, or a dash if there is none."""
    low, high = row["low"], row["high"]
    known = math.isfinite(low) and math.isfinite(high)
    return Cell(f"[{with_minus(low, style)}, {with_minus(high, style)}]" if known else NOTHING)


def _cell(comparison: Comparison, label: str, metric: str, digits: int) -> Cell:
    standings = comparison.standings
    column = standings[standings["metric"] == metric].set_index("label")["mean"]
    text = with_minus(column[label], f".{digits}f")
    best = with_minus(column.max() if direction(metric) > 0 else column.min(), f".{digits}f")
    return Cell(text, text == best, _mark(comparison, label, metric))


def _mark(comparison: Comparison, label: str, metric: str) -> str:
    if label == comparison.baseline:
        return ""
    row = comparison.delta(label, metric)
    if not row["holm"] <= LEVEL:
        return ""
    return BETTER if row["difference"] * direction(metric) > 0 else WORSE


def _legend(comparison: Comparison, part: str, best_of: str = "column") -> str:
    """Return the table's legend, in sentences."""
    spec = comparison.matched.contestants[0].spec
    folds = comparison.matched.contestants[0].folds
    data = ", ".join(filter(None, (spec.dataset, _folds(folds), f"{PART_NAMES[part]} part" if part else "")))
    n = queries_in_words(len(comparison.matched.queries))
    sentences = [
        f"Means over {n} ({data}) by the {COMPARED.label} definition (LETOR 4.0, equal scores at their "
        f"mean); bold: the best of a {best_of}.",
        f"{BETTER} better, {WORSE} worse than {comparison.baseline}: {TESTS[comparison.test]} over queries, "
        f"Holm's correction over {counted(comparison.family, 'comparison')}, adjusted p ≤ {LEVEL:g}.",
        *comparison.notes,
    ]
    return " ".join(sentences)


def _folds(folds: tuple[str, ...]) -> str:
    return folds[0] if len(folds) == 1 else f"{len(folds)} folds"


def as_latex(given: PrintedTable) -> str:
    """Format a booktabs table, with the legend as its caption; foreign text is escaped for any LaTeX."""
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{LATEX.text(given.legend)}}}",
        rf"\begin{{tabular}}{{l{''.join('l' if one == METRIC else 'r' for one in given.columns)}}}",
        r"\toprule",
        " & ".join(map(LATEX.text, ("Model", *given.columns))) + r" \\",
        r"\midrule",
        *(" & ".join(_cells(row, LATEX)) + r" \\" for row in given.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def as_markdown(given: PrintedTable) -> str:
    """Format a table in GitHub's Markdown, with the legend below; foreign text is escaped."""
    lines = [
        _piped(map(MARKDOWN.text, ("Model", *given.columns))),
        _piped(("---", *("---" if one == METRIC else "---:" for one in given.columns))),
        *(_piped(_cells(row, MARKDOWN)) for row in given.rows),
        "",
        MARKDOWN.text(given.legend),
    ]
    return "\n".join(lines) + "\n"


def comparison_csv(comparison: Comparison) -> str:
    """Format standings and deltas as CSV, a row per contestant and metric; the baseline has no deltas."""
    deltas = comparison.deltas.rename(columns={name: f"difference_{name}" for name in ("low", "high")})
    table = comparison.standings.merge(deltas.drop(columns="queries"), on=["label", "metric"], how="left")
    return as_csv(table.assign(baseline=comparison.baseline))


def _cells(row: tuple[str, tuple[Cell, ...]], markup: Markup) -> list[str]:
    label, cells = row
    return [markup.text(label), *(_marked_up(cell, markup) for cell in cells)]


def _marked_up(cell: Cell, markup: Markup) -> str:
    text, mark = markup.text(cell.text), markup.text(cell.mark)
    return (markup.bold(text) if cell.bold else text) + (markup.raised(mark) if mark else "")


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
