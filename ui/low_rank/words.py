"""The sentences of the Low rank page, computed from the tables behind its figures."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pandas as pd

from rankviz.analysis.spectra import Spectra
from rankviz.common.numbers import small
from rankviz.metrics.significance import compare
from ui.low_rank.work import SHARES, Cut
from ui.shared.show import capital

DEFINITION = (
    "Training gives every preference pair a weight, its dual variable α, and the model is w = Σ α (φᵢ − φⱼ). "
    "Of each query the α make a matrix A: preferred documents down, the others across. Its energy is the sum "
    "of its squared singular values; a matrix of low rank, as xu2019 found these to be, has nearly all of it "
    "in the first few."
)
NOTHING_HERE = ":gray[Nothing to show here: every dual variable of the current model is 0.]"


def queries(n: int, which: str = "") -> str:
    """Format a number of queries: "1 query", "62 selected queries"."""
    return f"{n} {which}{'query' if n == 1 else 'queries'}"


def values(n: int) -> str:
    """Format a number of singular values."""
    return f"{n} singular {'value' if n == 1 else 'values'}"


def percent(share: float) -> str:
    """Format a share as "90 %" or "99.5 %"."""
    return f"{100 * share:.3g} %"


def middle(table: pd.DataFrame, column: str) -> int:
    """Return the lower median of a column of whole numbers, which is one of them."""
    return int(table[column].quantile(0.5, "lower"))


def left_out(found: Spectra) -> str:
    """Say which queries the spectra leave out."""
    parts = []
    if found.n_without_pairs:
        parts.append(f"{queries(found.n_without_pairs)} without a preference pair")
    if found.n_zero:
        parts.append(f"{queries(found.n_zero)} whose α are all 0")
    return f"left out: {' and '.join(parts)}" if parts else "no query is left out"


def nothing(found: Spectra) -> str:
    """Explain why there are no singular values at all."""
    if not found.n_zero:
        return (
            "No query of the training part has two documents of different grades: there are no preference "
            "pairs, so no dual variables."
        )
    return (
        f"Every dual variable is 0: in {queries(found.n_zero)} with preference pairs, each pair has a margin "
        "of 1 or more, where this loss has no slope, or costs 0. Costs above 0, or a smaller C, may change "
        "that."
    )


def none_counted(selected: int) -> str:
    """Say that all matrices of the chosen queries are 0 under all three models."""
    if not selected:
        return "The matrices of all queries are 0 under all three models: there are no ranks to draw."
    whose = "the selected query is" if selected == 1 else f"the {selected} selected queries are"
    return (
        f"The matrices of {whose} 0 under all three models: there are no ranks to draw. Other queries may be "
        "selected in the histograms of the tab All queries, or none."
    )


def other_queries(above: Iterable[int], here: Iterable[int]) -> str:
    """Explain why the figure of the three models has other queries than other tabs; "" if it has the same."""
    above, here = set(above), set(here)
    missing, more = sorted(above - here), sorted(here - above)
    parts = []
    if missing:
        parts.append(
            f"of the {queries(len(above))} of the other tabs, {len(missing)} {_are(missing)} left out, with "
            f"matrices that are 0 under all three models: {_some(missing)}"
        )
    if more:
        parts.append(
            f"{queries(len(more))} {_are(more)} here only, with α = 0 under the current model: {_some(more)}"
        )
    return f":gray[This tab is on {queries(len(here))}. {bold_free('; '.join(parts))}.]" if parts else ""


def _are(some: list[int]) -> str:
    return "is" if len(some) == 1 else "are"


def _some(some: list[int], most: int = 10) -> str:
    """List the first of some numbers, and count the rest."""
    rest = f" and {len(some) - most} more" if len(some) > most else ""
    return ", ".join(map(str, some[:most])) + rest


def one_reading(row: pd.Series, needs: pd.DataFrame, share: float, of: str = "") -> str:
    """Compare the singular values that one query needs with those its grades allow, and with the median."""
    k, possible = int(row["k"]), int(row["largest_rank"])
    start = (
        f"{k} of {possible} possible singular {'value' if possible == 1 else 'values'} "
        f"{'keeps' if k == 1 else 'keep'} {percent(share)} of the energy of query {int(row['query'])}'s dual "
        "variables"
    )
    if len(needs) == 1:
        return start
    usual = middle(needs, "k")
    enough = int((needs["k"] <= usual).sum())
    return f"{start}; {usual} {'is' if usual == 1 else 'are'} enough in {enough} of {queries(len(needs), of)}"


def beside(k: int, energy: float) -> dict[str, tuple[str, str]]:
    """Return heading and start of the caption of the second matrix, by the options of the control."""
    return {
        "cut": (
            f"Cut to rank {k}: {_kept(energy)} of the energy",
            f"The closest matrix of rank {k}, read at the pairs; same colours as beside it.",
        ),
        "rest": (
            f"What rank {k} leaves out",
            f"α less its matrix of rank {k}: blue where that is too small, red where too large.",
        ),
    }


def reading(needs: pd.DataFrame, share: float, of: str = "") -> str:
    """Compare the singular values that the queries need with those of shuffled α."""
    k, usual = middle(needs, "k"), middle(needs, "k_shuffled")
    reached = int((needs["k"] <= k).sum())
    at_most = values(k) if k == 1 else f"at most {values(k)}"
    keep = f"{'keeps' if reached == 1 else 'keep'} {percent(share)} of the energy"
    return (
        f"{reached} of {queries(len(needs), of)} {keep} in {at_most}; the same α shuffled need {usual} "
        "(median)"
    )


def in_order(needs: pd.DataFrame) -> str:
    """Count queries in which the order of α saves singular values, and give the rank that grades allow."""
    fewer, n = int((needs["k"] < needs["k_shuffled"]).sum()), len(needs)
    return (
        f"Shuffled, {fewer} of {queries(n)} {'needs' if fewer == 1 else 'need'} more; the grades allow a "
        f"rank of {middle(needs, 'largest_rank')} (median)."
    )


def rank_reading(needs: pd.DataFrame, tolerance: float) -> str:
    """Compare the numerical rank with the shuffled one and with that allowed by grades."""
    full = int((needs["rank"] == needs["largest_rank"]).sum())
    return (
        f"The median numerical rank, counting singular values above {power_of_ten(tolerance)} of the "
        f"largest, is {middle(needs, 'rank')}; shuffled {middle(needs, 'rank_shuffled')}. In {full} of "
        f"{queries(len(needs))} it is the largest that the grades allow."
    )


def what_shuffled_says(needs: pd.DataFrame, share: float) -> str:
    """Say if the energy is concentrated by the order in α, or only because no α is negative."""
    usual, k, allowed = (middle(needs, name) for name in ("k_shuffled", "k", "largest_rank"))
    if allowed <= 1:
        return "The grades allow most of these queries no rank above 1, in whatever order α is."
    if usual > 2 * k:
        return (
            f"Shuffled, the same numbers need **{usual / k:.2g} times as many**: that these few suffice "
            "comes from how α is arranged, not from its values."
        )
    if 2 * usual > allowed:  # not far below what the grades allow anyway
        needed = f"Of the {allowed} singular values that the grades allow, α needs {k}, shuffled {usual}"
        if usual > k:
            return f"{needed} (medians): its order saves {usual - k}, its values alone {allowed - usual}."
        return f"{needed} (medians): its order saves none."
    more = " A larger share shows what the order does." if 100 * share < SHARES[-1] else ""
    return (
        f"At this share a matrix of such numbers is low-rank **in any order** ({usual} against {k}): "
        f"none is negative, so their mean alone holds much of the energy.{more}"
    )


def energy_reading(model: pd.DataFrame, shuffled: pd.DataFrame) -> str:
    """Give the energy of the first singular value, and of the second in the rest, in order and shuffled."""
    (first, second), (usual, usual_second) = (_first_two(table["mean"]) for table in (model, shuffled))
    return (
        f"The first singular value keeps {percent(first)} of the energy on average, shuffled still "
        f"{percent(usual)}; of what is left the second keeps {percent(second)}, shuffled "
        f"{percent(usual_second)}"
    )


def _first_two(energy: pd.Series[float]) -> tuple[float, float]:
    """Return PE(1), and the second singular value's share of the rest."""
    first = float(energy.iloc[0])
    return first, (float(energy.iloc[1]) - first) / (1 - first) if first < 1 and len(energy) > 1 else 1.0


def power_of_ten(value: float) -> str:
    """Format a power of ten as 10⁻⁶."""
    return f"10{superscript(round(math.log10(value)))}"


def superscript(k: int) -> str:
    """Format a whole number as a superscript."""
    return str(k).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def lost(query: int, k: int, cut: Cut) -> str:
    """Describe the losses in α and in the model's w with one query's block at rank k."""
    row = _at(cut.table, "query", k)
    return (
        f"Cut to rank {k}, query {query} keeps {_kept(row['energy'])} of its energy; its α is off by "
        f"{off_by(row['alpha_error'], 'its norm')} and w, where this query alone is cut, by "
        f"{off_by(row['w_error'], 'its length')}"
    )


def lost_by_all(k: int, cut: Cut) -> str:
    """Describe the losses in α, w and the ranking of other queries with every block at rank k."""
    row, metric = _at(cut.table, "all", k), cut.metric["all"]
    if all(off(row[error]) == "nothing" for error in ("alpha_error", "w_error")):
        return (
            f"With every query cut to rank {k}, nothing changes: no block has a higher rank, so α, w and "
            "every ranking stay as they are."
        )
    found = compare(metric[min(k, metric.columns[-1])], metric[metric.columns[-1]])
    ranking = bold_free(found.sentence(f"the model cut to rank {k}", "the whole one", "NDCG@10"))
    surprise = (
        " Energy of α says little of w: most of α cancels in the sum over pairs that is w, and what is cut "
        "off does not."
        if row["w_error"] > max(0.05, 3 * row["alpha_error"])
        else ""
    )
    return (
        f"With every query cut to rank {k}, α keeps {_kept(row['energy'])} of its energy and is off by "
        f"{off_by(row['alpha_error'], 'its norm')}, w by {off_by(row['w_error'], 'its length')}.{surprise} "
        f"Validation queries: {ranking}."
    )


def bold_free(sentence: str) -> str:
    """Return a sentence with a capital and without full stop."""
    return capital(sentence).rstrip(".")


def _at(table: pd.DataFrame, scope: str, k: int) -> pd.Series:
    """Return the row of a scope at rank k; above its last rank, the last row, which truncates nothing."""
    rows = table[table["scope"] == scope]
    return rows[rows["k"] >= min(k, int(rows["k"].max()))].iloc[0]


def _kept(share: float) -> str:
    """Format a share of the energy; "all" only if the loss is rounding."""
    if share > 1 - 1e-12:
        return "all"
    return f"{100 * share:.4g} %" if share < 0.9999 else "over 99.99 %"


def off_by(error: float, whole: str) -> str:
    """Format a relative error with its reference: "44 % of its norm", "2.2 times its length", "nothing"."""
    if error < 1e-10:
        return off(error)
    return f"{off(error)} {'' if error >= 1 else 'of '}{whole}"


def off(error: float) -> str:
    """Format a relative error: nothing, a percentage, or a factor."""
    if error < 1e-10:
        return "nothing"
    if error >= 1:
        return f"{error:,.0f} times" if error >= 10 else f"{error:.2g} times"
    return f"{small(100 * error)} %"
