"""Comparisons as printed tables: contestants by metrics, the best in bold, significant differences marked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rankviz.analysis.comparison import LEVEL, TESTS, Comparison
from rankviz.analysis.marked_up import LATEX, MARKDOWN, Markup
from rankviz.common.numbers import counted, with_minus
from rankviz.common.spreadsheets import as_csv
from rankviz.metrics.significance import queries_in_words
from rankviz.runs.description import PART_NAMES

BETTER, WORSE = "↑", "↓"
"""Marks of contestants significantly better or worse than the baseline."""


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
class Sheet:
    """A table to print.

    Attributes
    ----------
    metrics : tuple of str
        The columns.
    rows : tuple of (label, cells)
    legend : str
        Data, queries, test, correction and meaning of the marks.
    """

    metrics: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    legend: str


def sheet(comparison: Comparison, part: str = "", digits: int = 3) -> Sheet:
    """Return means of contestants by metrics, the best in bold, significant differences marked.

    `part` names the scored part in the legend ("test"), if given.
    """
    rows = tuple(
        (one.label, tuple(_cell(comparison, one.label, metric, digits) for metric in comparison.metrics))
        for one in comparison.matched.contestants
    )
    return Sheet(comparison.metrics, rows, _legend(comparison, part))


def _cell(comparison: Comparison, label: str, metric: str, digits: int) -> Cell:
    standings = comparison.standings
    column = standings[standings["metric"] == metric].set_index("label")["mean"]
    text = with_minus(column[label], f".{digits}f")
    best = with_minus(column.max(), f".{digits}f")
    return Cell(text, text == best, _mark(comparison, label, metric))


def _mark(comparison: Comparison, label: str, metric: str) -> str:
    if label == comparison.baseline:
        return ""
    row = comparison.delta(label, metric)
    if not row["holm"] <= LEVEL:
        return ""
    return BETTER if row["difference"] > 0 else WORSE


def _legend(comparison: Comparison, part: str) -> str:
    """Return the table's legend, in sentences."""
    spec = comparison.matched.contestants[0].spec
    folds = comparison.matched.contestants[0].folds
    data = ", ".join(filter(None, (spec.dataset, _folds(folds), f"{PART_NAMES[part]} part" if part else "")))
    n = queries_in_words(len(comparison.matched.queries))
    sentences = [
        f"Means over {n} ({data}); bold: the best of a column.",
        f"{BETTER} better, {WORSE} worse than {comparison.baseline}: {TESTS[comparison.test]} over queries, "
        f"Holm's correction over {counted(comparison.family, 'comparison')}, adjusted p ≤ {LEVEL:g}.",
        *comparison.notes,
    ]
    return " ".join(sentences)


def _folds(folds: tuple[str, ...]) -> str:
    return folds[0] if len(folds) == 1 else f"{len(folds)} folds"


def as_latex(given: Sheet) -> str:
    """Format a booktabs table, with the legend as its caption; foreign text is escaped for any LaTeX."""
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{LATEX.text(given.legend)}}}",
        rf"\begin{{tabular}}{{l{'r' * len(given.metrics)}}}",
        r"\toprule",
        " & ".join(map(LATEX.text, ("Model", *given.metrics))) + r" \\",
        r"\midrule",
        *(" & ".join(_cells(row, LATEX)) + r" \\" for row in given.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def as_markdown(given: Sheet) -> str:
    """Format a table in GitHub's Markdown, with the legend below; foreign text is escaped."""
    lines = [
        _piped(map(MARKDOWN.text, ("Model", *given.metrics))),
        _piped(("---", *("---:" for _ in given.metrics))),
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
