"""The sentences of the Low rank page, computed from the tables behind its figures."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pandas as pd

from rankviz.analysis.spectra import MATRICES, Spectra
from rankviz.common.numbers import small
from rankviz.metrics.significance import compare
from ui.low_rank.computations import SHARES, Cut
from ui.shell.figures import capital

DEFINITION = (
    "A query's dual variables α form a matrix A (xu2019). Rows: preferred documents; columns: the others."
)
HELP = {
    "k": "Keeps the k largest singular values.",
    "t": "Energy: sum of squared singular values (xu2019: 90 %).",
    "more": "Matrix, order, zero threshold.",
    "matrix": " ".join(f"{kind.label}: {kind.meaning}." for kind in MATRICES.values())
    + " The printed ranks of xu2019 fit A + Aᵀ.",
    "order": "Grade: blocks. Score: border of active pairs.",
    "beside": "αᵏ, or α − αᵏ.",
    "zero": "For the numerical rank.",
    "counted": "xu2019 divides by documents.",
    "block": "Default: most pairs.",
    "learnaxis": "Iterations differ between solvers: compare seconds.",
    "view": "Matrices, measure, horizontal axis.",
    "regmatrix": "α gives the weights; A approximates it.",
    "shown": "Numerical rank, or k.",
    "rankagainst": "Largest possible rank, documents, or pairs.",
    "clow": "Weight of the hinge, and the largest α.",
    "plainmodel": "The current model may have another loss.",
    "sweep": "Near xu2019's Tables 7 and 8.",
    "sweepmetric": "Means over queries, or the objective.",
    "fseeds": "Random starts: the problem is not convex.",
    "onlypicked": "Hide other queries.",
}
"""Helps, by the key of their control."""
COLUMN_HELP = {
    "objective": "Not comparable between models.",
    "hinge": "Its value at the model's w.",
    "dual": "Lower bound of the hinge's objective.",
    "gap": "Relative to the objective.",
    "seconds": "Features, pairs and training; one run on this machine.",
    "learned": "Comparable within one model only.",
    "first_order": "Largest decrease to first order.",
    "query": "Number in the data.",
    "documents": "n, the size of A.",
    "grades": "Number of different grades.",
    "pairs": "Preference pairs.",
    "active": "Pairs with α > 0.",
    "k": "For {share} of the energy.",
    "k_shuffled": "For shuffled α.",
    "rank": "Above {zero} of the largest.",
    "largest_rank": "The grades allow no more.",
    "law": "Of the squared hinge, all pairs active.",
    "dim": "k/documents.",
    "dim_100": "Rank/documents.",
    "stable_rank": "Σσ²/σ₁².",
    "nuclear": "Σσ, penalised by the regularised model.",
}
"""Helps of the columns of tables."""
CAPTIONS = {
    "costs": "Means over the {part} queries. Plain: {plain}.",
    "k": "xu2019 Figure 2a: Dim at {share}",
    "rank": "xu2019 Figure 2b: Dim at 100 %; zero: {zero} of the largest σ",
    "energy": "Mean of {queries}; band: 10 % to 90 %. Shuffled: each query's α in random order. {about}.",
    "low-rank-learning": (
        "{own}. Best: lowest objective of the model's runs here; drawn from {least}. Dashed: the paper's "
        "algorithms. One run each on this machine, without features. {about}."
    ),
    "rank-by-model": (
        "One marker per query and model. {counted}. Right: medians, bars from 10 % to 90 %. Regularised: "
        "{matrix}. Dotted: limit for {factors}. {own}. Plain: {plain}."
    ),
    "printed": (
        "Documents and pairs {alike} those printed. Here: the {matrix} matrix; plain: {plain}. C is not "
        "printed. Larger ranks than possible may be of A + Aᵀ."
    ),
    "every": "0: the matrix is 0.",
    "numbers": "{queries}; {left_out}. Tick rows to select queries. {accuracy}",
    "dual-heatmap": (
        "{definition} Query {query}: {documents} documents, {pairs:,} pairs, {active:,} active (α > 0). "
        "Blank: no pair.{thinned} {about}"
    ),
    "block-spectrum": (
        "Query {query}: rank {rank} of {largest_rank} possible; k = {k} for {share} of the energy. Dotted: "
        "chosen k{whole}.{rest} {about}"
    ),
    "truncation-loss": (
        "Relative changes; mean {metric} of {part} queries. Dashed: only query {query} is cut; solid: all. "
        "Dotted: k. {about}"
    ),
    "low-rank-objective": "{count}{line}{seeds}Factorised, with the hinge; {about}.",
    "low-rank-weights": (
        "{count}{clipped}A = 0: nuclear/(2·coupling) exceeds every singular value. Bottom: near the plain "
        "one with the hinge{level}. {about}"
    ),
    "best": "Chosen on these {part} queries, the best is optimistic.",
    "rank-by-activity": "One marker per query; {zero}. Dashed: the law's limit. {about}.",
    "rank-by-c": "Median over {queries}; band: 10 % to 90 %; {zero}. Dashed: the law's limit. Dotted: the "
    "current C. {about}.",
    "rank-by-stairs": "One marker per query and kind; {zero}. {about}.",
    "staircase": "Query {query}, α over C: 1 for margins below 1, 0 above. Blank: no pair. {about}.",
    "rank-by-error": (
        "Median over {queries}. Lines: α with random errors, by zero threshold; thick: the chosen one. "
        "{diamonds}{about}."
    ),
    "diamonds": "Diamonds: trained to tolerances {early}; error: distance from {last}. ",
}
"""Templates of captions, by the key of their figure or table."""
ALTS = {
    "energy": "Energy of k singular values.",
    "low-rank-learning": "Distance from the best against {axis}.",
    "rank-by-model": "{measure} under three models.",
    "dual-heatmap": "Dual variables of query {query}.",
    "dual-heatmap-cut": "Dual variables of query {query}, {title}.",
    "block-spectrum": "Singular values of query {query}.",
    "truncation-loss": "Changes of α, w and NDCG@10.",
    "low-rank-factors": "{metric} against factors.",
    "low-rank-objective": "Objective against factors.",
    "low-rank-weights": "{metric} by nuclear and coupling.",
    "rank-by-activity": "Ranks against shares of active pairs.",
    "rank-by-c": "Median rank against C.",
    "rank-by-stairs": "Ranks against stairs.",
    "staircase": "Dual variables of query {query}, by score.",
    "rank-by-error": "Median rank against relative error.",
}
"""Templates of texts for readers of no figure, by the key of the figure."""
APPEARS = "{what} appears when its models are trained (end of the page)."
NO_CHANGE = 1e-10
"""A relative error below this is rounding."""
NOTHING_HERE = ":gray[Every dual variable of the current model is 0.]"


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
        parts.append(f"{queries(found.n_zero)} with α = 0")
    return f"left out: {' and '.join(parts)}" if parts else "no query is left out"


def nothing(found: Spectra) -> str:
    """Explain why there are no singular values at all."""
    if not found.n_zero:
        return "No training query has documents of different grades: no preference pairs."
    return (
        f"Every dual variable is 0: in {queries(found.n_zero)} each pair has a margin of at least 1 or costs "
        "0. Raise the costs or lower C."
    )


def none_counted(selected: int) -> str:
    """Say that all matrices of the chosen queries are 0 under all three models."""
    if not selected:
        return "All matrices are 0 under all three models."
    whose = (
        "matrix of the selected query is"
        if selected == 1
        else f"matrices of the {selected} selected queries are"
    )
    return f"The {whose} 0 under all three models. Change the selection."


def other_queries(above: Iterable[int], here: Iterable[int]) -> str:
    """Explain why the figure of the three models has other queries than other tabs; "" if it has the same."""
    above, here = set(above), set(here)
    missing, more = sorted(above - here), sorted(here - above)
    parts = []
    if missing:
        parts.append(
            f"{len(missing)} of the {queries(len(above))} in the other tabs {_are(missing)} 0 under all "
            f"three models: {_some(missing)}"
        )
    if more:
        parts.append(
            f"{queries(len(more))} {_are(more)} here only, with α = 0 under the current model: {_some(more)}"
        )
    return f":gray[This tab shows {queries(len(here))}; {'; '.join(parts)}.]" if parts else ""


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
        f"{'keeps' if k == 1 else 'keep'} {percent(share)} of the energy of query {int(row['query'])}"
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
            "Closest matrix of that rank; same colours.",
        ),
        "rest": (
            f"Error of rank {k}",
            "α − αᵏ; blue: αᵏ too small, red: too large.",
        ),
    }


def reading(needs: pd.DataFrame, share: float, of: str = "") -> str:
    """Compare the singular values that the queries need with those of shuffled α."""
    k, usual = middle(needs, "k"), middle(needs, "k_shuffled")
    reached = int((needs["k"] <= k).sum())
    at_most = values(k) if k == 1 else f"at most {values(k)}"
    keep = f"{'keeps' if reached == 1 else 'keep'} {percent(share)} of the energy"
    return f"{reached} of {queries(len(needs), of)} {keep} in {at_most}; shuffled α need {usual} (median)"


def in_order(needs: pd.DataFrame) -> str:
    """Count queries in which the order of α saves singular values, and give the rank that grades allow."""
    fewer, n = int((needs["k"] < needs["k_shuffled"]).sum()), len(needs)
    return (
        f"Shuffled, {fewer} of {queries(n)} {'needs' if fewer == 1 else 'need'} more. The grades allow rank "
        f"{middle(needs, 'largest_rank')} (median)."
    )


def rank_reading(needs: pd.DataFrame, tolerance: float) -> str:
    """Compare the numerical rank with the shuffled one and with that allowed by grades."""
    full = int((needs["rank"] == needs["largest_rank"]).sum())
    return (
        f"Median rank (zero: {power_of_ten(tolerance)}): {middle(needs, 'rank')}, shuffled "
        f"{middle(needs, 'rank_shuffled')}; in {full} of {queries(len(needs))} the largest possible."
    )


def what_shuffled_says(needs: pd.DataFrame, share: float) -> str:
    """Say if the energy is concentrated by the order in α, or only because no α is negative."""
    usual, k, allowed = (middle(needs, name) for name in ("k_shuffled", "k", "largest_rank"))
    if allowed <= 1:
        return "The grades of most queries allow no rank above 1."
    if usual > 2 * k:
        return f"Shuffled, α needs **{usual / k:.2g} times as many**: its order matters."
    if 2 * usual > allowed:  # not far below what the grades allow anyway
        needed = f"Of {allowed} possible singular values, α needs {k}, shuffled {usual} (medians)"
        if usual > k:
            return f"{needed}: its order saves {usual - k}, its values alone {allowed - usual}."
        return f"{needed}: its order saves none."
    more = " A larger share shows the effect of the order." if 100 * share < SHARES[-1] else ""
    return (
        f"At this share α has low rank **in any order** ({usual} against {k}): no value is negative, so "
        f"their mean holds much energy.{more}"
    )


def energy_reading(model: pd.DataFrame, shuffled: pd.DataFrame) -> str:
    """Give the energy of the first singular value, and of the second in the rest, in order and shuffled."""
    (first, second), (usual, usual_second) = (_first_two(table["mean"]) for table in (model, shuffled))
    return (
        f"The first singular value keeps {percent(first)} of the energy on average (shuffled "
        f"{percent(usual)}), the second {percent(second)} of the rest (shuffled {percent(usual_second)})"
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
        f"Cut to rank {k}, query {query} keeps {_kept(row['energy'])} of its energy; α changes by "
        f"{off_by(row['alpha_error'], 'its norm')}, w by {off_by(row['w_error'], 'its length')}"
    )


def lost_by_all(k: int, cut: Cut) -> str:
    """Describe the losses in α, w and the ranking of other queries with every block at rank k."""
    row, metric = _at(cut.table, "all", k), cut.metric["all"]
    if all(row[error] < NO_CHANGE for error in ("alpha_error", "w_error")):
        return f"With every query cut to rank {k}, nothing changes."
    found = compare(metric[min(k, metric.columns[-1])], metric[metric.columns[-1]])
    ranking = bold_free(found.sentence(f"the model cut to rank {k}", "the whole one", "NDCG@10"))
    surprise = (
        " Most of α cancels in w; the part cut off does not."
        if row["w_error"] > max(0.05, 3 * row["alpha_error"])
        else ""
    )
    return (
        f"With every query cut to rank {k}, α keeps {_kept(row['energy'])} of its energy and changes by "
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
    if error < NO_CHANGE:
        return off(error)
    return f"{off(error)} {'' if error >= 1 else 'of '}{whole}"


def off(error: float) -> str:
    """Format a relative error: nothing, a percentage, or a factor."""
    if error < NO_CHANGE:
        return "0 %"
    if error >= 1:
        return f"{error:,.0f} times" if error >= 10 else f"{error:.2g} times"
    return f"{small(100 * error)} %"
