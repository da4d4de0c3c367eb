"""Tables to print: what is bold and marked, and that foreign text cannot break a language."""

import io
import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from conftest_contestants import LINEAR, single

from rankviz.analysis.comparison import Comparison, compare
from rankviz.analysis.tables import (
    LATEX,
    MARKDOWN,
    PrintedTable,
    as_latex,
    as_markdown,
    comparison_csv,
    printed_table,
    table_of_tests,
)
from rankviz.common.numbers import small, with_minus
from rankviz.plots import model_comparison

NASTY = [
    "100 % & more",
    "a_b#c{d}",
    "\\end{table}",
    "x ~ y^2",
    "γ ≥ 2⁻⁷",
    "|--- `rm` <b>",
    "[1pt]*",
    "中文 ½ ＆",
]


def compared(labels: list[str]) -> Comparison:
    """The first as the baseline, the second better, the last worse, those between as good."""
    base = np.linspace(0.2, 0.7, 12)
    steps = [0.0, 0.1, *(0.0 for _ in labels[3:]), -0.1]
    given = [
        single(name, base + step, LINEAR, **{"NDCG@10": base[::-1]})
        for name, step in zip(labels, steps, strict=True)
    ]
    return compare(given, ["MAP", "NDCG@10"], labels[0])


@pytest.fixture(scope="module")
def plain() -> Comparison:
    return compared(["base", "good", "same", "bad"])


@pytest.fixture(scope="module")
def foreign() -> Comparison:
    return compared(NASTY)


def test_the_best_is_bold_and_what_holds_is_marked(plain: Comparison) -> None:
    found = printed_table(plain, "test")
    cells = {label: [(c.text, c.bold, c.mark) for c in row] for label, row in found.rows}
    assert cells == {
        "base": [("0.450", False, ""), ("0.450", True, "")],
        "good": [("0.550", True, "↑"), ("0.450", True, "")],
        "same": [("0.450", False, ""), ("0.450", True, "")],
        "bad": [("0.350", False, "↓"), ("0.450", True, "")],
    }
    assert found.legend == (
        "Means over 12 queries (demo, Fold1, test part) by the rankviz definition (LETOR 4.0, equal scores "
        "at their mean); bold: the best of a column. ↑ better, ↓ worse than base: paired randomisation test "
        "over queries, Holm's correction over 6 comparisons, adjusted p ≤ 0.05."
    )


def test_the_table_of_tests_has_intervals_and_corrected_p() -> None:
    base = np.linspace(0.2, 0.7, 12)
    moved = {"base": 0.0, "good": np.linspace(0.05, 0.15, 12), "same": np.tile([0.02, -0.02], 6)}
    given = [single(name, base + step, LINEAR, P=base - step) for name, step in moved.items()]
    plain = compare(given, ["MAP", "P"], "base")
    found = table_of_tests(plain, "test")
    assert found.columns[-1] == "p, Holm"
    cells = {(label, row[0].text): row[1:] for label, row in found.rows}
    assert len(cells) == len(found.rows) == 6
    for (label, metric), row in cells.items():
        rows = plain.standings[(plain.standings["label"] == label) & (plain.standings["metric"] == metric)]
        standing = rows.iloc[0]
        texts = [f"{standing['mean']:.3f}", f"[{standing['low']:.3f}, {standing['high']:.3f}]"]
        if label == "base":
            texts += ["–"] * 3
        else:
            delta = plain.delta(label, metric)
            texts += [with_minus(delta["difference"], "+z.3f")]
            texts += [f"[{with_minus(delta['low'], '+z.3f')}, {with_minus(delta['high'], '+z.3f')}]"]
            texts += [small(delta["holm"])]
        assert [cell.text for cell in row] == texts
    assert {place: row[2].mark for place, row in cells.items() if row[2].mark} == {
        ("good", "MAP"): "↑",
        ("good", "P"): "↓",
    }
    assert [place for place, row in cells.items() if row[0].bold] == [
        ("good", "MAP"),
        ("base", "P"),
        ("same", "P"),
    ]
    held = plain.delta("good", "MAP")
    assert held["holm"] > held["randomisation"]
    assert "Holm's correction over 4 comparisons" in found.legend
    assert r"\begin{tabular}{llrrrrr}" in as_latex(found)
    assert "| --- | --- | ---: |" in as_markdown(found)


def test_a_single_query_has_no_interval_and_no_p() -> None:
    two = [single("a", np.array([0.5])), single("b", np.array([0.6]))]
    _, other = table_of_tests(compare(two, ["MAP"], "a")).rows
    assert [cell.text for cell in other[1]] == ["MAP", "0.600", "–", "+0.100", "–", "–"]


def test_what_does_not_hold_after_correction_is_not_marked() -> None:
    base = np.linspace(0.2, 0.7, 20)
    close = base + np.where(np.arange(20) < 15, 0.05, -0.05)
    crowd = [single(f"same {n}", base) for n in range(9)]
    found = compare([single("base", base), single("close", close), *crowd], ["MAP"], "base")
    assert found.delta("close", "MAP")["randomisation"] < 0.05 < found.delta("close", "MAP")["holm"]
    assert not any(cell.mark for _, row in printed_table(found).rows for cell in row)
    assert not model_comparison.deltas_data(found)["holds"].any()


def test_markdown(plain: Comparison) -> None:
    lines = as_markdown(printed_table(plain)).splitlines()
    assert lines[:4] == [
        "| Model | MAP | NDCG@10 |",
        "| --- | ---: | ---: |",
        "| base | 0.450 | **0.450** |",
        "| good | **0.550**↑ | **0.450** |",
    ]
    assert lines[-1].startswith("Means over 12 queries (demo, Fold1) by the rankviz definition")


def test_latex(plain: Comparison) -> None:
    lines = as_latex(printed_table(plain)).splitlines()
    assert r"\begin{tabular}{lrr}" in lines
    assert r"Model & MAP & NDCG@10 \\" in lines
    assert r"good & \textbf{0.550}\textsuperscript{$\uparrow$} & \textbf{0.450} \\" in lines
    assert r"adjusted p $\leq$ 0.05.}" in lines[3]


@pytest.mark.parametrize(("table", "rows", "columns"), [(printed_table, 1, 2), (table_of_tests, 2, 6)])
def test_latex_of_foreign_names_is_balanced_and_has_as_many_columns(
    table: Callable[[Comparison], PrintedTable], rows: int, columns: int, foreign: Comparison
) -> None:
    text = as_latex(table(foreign))
    body = text.split("\\midrule\n")[1].split("\\bottomrule")[0]
    assert body.count("\n") == rows * len(NASTY)
    for line in body.splitlines():
        assert line.endswith(r" \\")
        assert not line.startswith(("[", "*")), "the line before would take it for its option"
        assert len(re.findall(r"(?<!\\)&", line)) == columns
    bare = re.sub(r"\\[\\{}$&%#_]", "", text)
    depth = np.cumsum([{"{": 1, "}": -1}.get(sign, 0) for sign in bare])
    assert depth.min() >= 0
    assert depth[-1] == 0
    assert bare.count("$") % 2 == 0
    assert bare.count(r"\end{table}") == 1
    assert bare.count("%") == 1, "our own comment"
    assert not re.search(r"[_#~^]", re.sub(r"\$[^$]*\$", "", bare)), "only in math"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a & b % c_d # {e}", r"a \& b \% c\_d \# \{e\}"),
        ("\\ ~ ^ $", r"\textbackslash{} \textasciitilde{} \textasciicircum{} \$"),
        ("γ ≥ 2⁻⁷, x₁₂", r"$\gamma$ $\geq$ 2$^{-7}$, x$_{12}$"),
        ("[2em]*", "{[}2em{]}{*}"),
        ("a--b ''c'' ?`", r"a-{}-b '{}'c'{}' ?{}\textasciigrave{}"),
        ("−0.1 … “x”", r"$-$0.1 \ldots{} ``x''"),
        ("Größe ½ ＆", r"Größe 1/2 \&"),
        ("中\tx\ny", "{[}U+4E2D{]} x y"),
        ("µ ™", r"$\mu$ TM"),
    ],
)
def test_signs_of_latex(text: str, expected: str) -> None:
    assert LATEX.text(text) == expected


def test_markdown_of_foreign_names_keeps_its_columns(foreign: Comparison) -> None:
    lines = as_markdown(printed_table(foreign)).splitlines()[: 2 + len(NASTY)]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in lines)
    assert MARKDOWN.text("a|b *c* _d_ `e`\n<b>") == r"a\|b \*c\* \_d\_ \`e\` \<b\>"
    assert MARKDOWN.text("![x](http://y.z) www.a.b @me NDCG@10") == (
        r"\!\[x\](http\://y.z) www\.a.b \@me NDCG@10"
    )


def test_csv_has_all_numbers_and_no_formulas() -> None:
    found = compared(["=1+1", "@good", "-bad"])
    table = pd.read_csv(io.StringIO(comparison_csv(found)))
    assert table["label"].tolist() == ["'=1+1", "'@good", "'-bad"] * 2
    assert set(table["baseline"]) == {"'=1+1"}
    assert table["mean"].to_numpy() == pytest.approx(found.standings["mean"].to_numpy())
    assert table["holm"].isna().tolist() == [True, False, False] * 2
    assert table["difference"][1] == pytest.approx(0.1)
    assert {"low", "high", "difference_low", "difference_high"} <= set(table.columns)
