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
    "A query's dual variables α, w = Σ α (φᵢ − φⱼ), form a matrix A: preferred documents in rows, the others "
    "in columns. With low rank, as in xu2019, the first few singular values hold nearly all energy."
)
HELP = {
    "k": "The k largest singular values of A are kept.",
    "t": "Energy: sum of squared singular values. xu2019: 90 %.",
    "more": "Matrix, order of documents, zero threshold.",
    "matrix": " ".join(f"{kind.label}: {kind.meaning}." for kind in MATRICES.values())
    + " xu2019 defines A; its printed ranks fit A + Aᵀ.",
    "order": "By grade: blocks of two grades. By score: border of active pairs.",
    "beside": "The matrix αᵏ of rank k, or α − αᵏ.",
    "zero": "The numerical rank counts the singular values above this.",
    "counted": "Scale of the histograms. xu2019 divides by documents.",
    "block": "First shown: the training query with the most pairs.",
    "learnaxis": "An iteration is a step, a pass over queries or ten steps, by solver. Compare seconds.",
    "view": "Matrices, measure, horizontal axis.",
    "regmatrix": "α gives the weights; A, near it, has low rank. xu2019 counts A.",
    "shown": "Numerical rank, or singular values for the energy.",
    "rankagainst": "Largest rank that the grades allow, documents, or preference pairs.",
    "clow": "Weight of the hinge, and the largest α.",
    "plainmodel": "The current model may have another loss than the hinge.",
    "sweep": "Values around those of xu2019's Tables 7 and 8.",
    "sweepmetric": "Means over queries; or the factorised model's training objective, ½‖w‖² − Σα.",
    "fseeds": "Random starts of the factorised model, which is not convex.",
    "onlypicked": "Hide other queries.",
}
"""Helps, by the key of their control."""
COLUMN_HELP = {
    "objective": "Each model has its own objective: not comparable.",
    "hinge": "Objective of the hinge at the model's weights and C.",
    "dual": "Lower bound on the hinge's objective.",
    "gap": "(objective − dual value)/objective.",
    "seconds": "Features, pairs and training; one run on this machine.",
    "learned": "Comparable within one model only.",
    "first_order": "Largest decrease within the box, to first order. For the regularised model it bounds "
    "the distance to the minimum.",
    "query": "Number in the data.",
    "documents": "n, the size of A in xu2019.",
    "grades": "Number of different grades.",
    "pairs": "Preference pairs.",
    "active": "Pairs with α > 0.",
    "k": "Singular values that keep {share} of the energy.",
    "k_shuffled": "The same for shuffled α.",
    "rank": "Singular values above {zero} of the largest.",
    "largest_rank": "The grades allow no more.",
    "law": "Limit of the squared hinge, all pairs active.",
    "dim": "k/documents.",
    "dim_100": "Rank/documents.",
    "stable_rank": "Σσ²/σ₁².",
    "nuclear": "Σσ, penalised by xu2019's second method.",
}
"""Helps of the columns of tables."""
CAPTIONS = {
    "costs": "Means over the {part} queries. Plain: {plain}.",
    "k": "Dim at {share}, as in xu2019 Figure 2a (90 %)",
    "rank": "Dim at 100 %, as in xu2019 Figure 2b; zero: σ up to {zero} of the largest",
    "energy": "PE(k) of xu2019 §4: mean of {queries}; band: 10 % to 90 %. Shuffled: each query's α in random "
    "order. {about}.",
    "low-rank-learning": "{own}. Best: lowest objective of the model's runs here; drawn from {least}. "
    "Dashed: the paper's algorithms with own step lengths. One run each on this machine, with starts, "
    "without features. {about}.",
    "rank-by-model": "One marker per query and model, slightly shifted. {counted}. Right: medians, bars "
    "from 10 % to 90 %. Regularised: {matrix}. Dotted: limit for {factors}. {own}; both train the hinge. "
    "Plain: {plain}.",
    "printed": "Documents and pairs {alike} those printed. Here: the {matrix} matrix; plain: {plain}. Not "
    "printed: C, number of factors, weights. Larger ranks than possible may be of A + Aᵀ (see More).",
    "every": "Click a heading to sort. 0: the matrix is 0.",
    "numbers": "{queries}; {left_out}. Click a heading to sort; tick rows to select queries. {accuracy}",
    "dual-heatmap": "{definition} Query {query}: {documents} documents, {pairs:,} pairs, {active:,} active "
    "(α > 0). Blank: no pair.{thinned} {about}",
    "block-spectrum": "Query {query}: numerical rank {rank} of {largest_rank} possible; k = {k} for "
    "{share} of the energy. Dotted: chosen k{whole}.{rest} {about}",
    "truncation-loss": "Relative changes of α and w; mean {metric} of {part} queries. Dashed: only query "
    "{query} is cut; solid: all. Dotted: k. {about}",
    "low-rank-objective": "{count}{line}{seeds}Training minimises this. Factorised, with the hinge; {about}.",
    "low-rank-weights": "{count}{clipped}A = 0: nuclear/(2·coupling) exceeds every singular value. Bottom: "
    "near the plain one with the hinge{level}; upper right: α has a small nuclear norm. {about}",
    "best": "The best, chosen on these same {part} queries, is optimistic: choose on validation queries, "
    "judge on others.",
    "rank-by-activity": "One marker per query; {zero}. Dashed: largest rank that the law allows any of them. "
    "{about}.",
    "rank-by-c": "Median over {queries}; band: 10 % to 90 %; {zero}. Dashed: the law's limit. Dotted: the "
    "current C. {about}.",
    "rank-by-stairs": "One marker per query and kind; {zero}. {about}.",
    "staircase": "Query {query}, α over C, sorted by score: 1 for margins below 1, 0 above. Blank: no pair. "
    "{about}.",
    "rank-by-error": "Median over {queries}. Lines: α with random errors, by zero threshold; thick: the "
    "chosen one. {diamonds}{about}.",
    "diamonds": "Diamonds: trained to tolerances {early}; error: distance from {last} (left end). ",
}
"""Templates of captions, by the key of their figure or table."""
ALTS = {
    "energy": "Share of the energy in k singular values.",
    "low-rank-learning": "Distance from the best objective against {axis}.",
    "rank-by-model": "{measure} of each query under three models, with medians.",
    "dual-heatmap": "Heat map: dual variables of query {query}.",
    "dual-heatmap-cut": "Heat map: dual variables of query {query}, {title}.",
    "block-spectrum": "Singular values of query {query} and their energy.",
    "truncation-loss": "Changes of α, w and NDCG@10 against rank.",
    "low-rank-factors": "{metric} of the factorised model against factors.",
    "low-rank-objective": "Objective of the factorised model against factors.",
    "low-rank-weights": "{metric} of the regularised model by nuclear and coupling.",
    "rank-by-activity": "Rank of each query against its share of active pairs.",
    "rank-by-c": "Median rank and share of active pairs against C.",
    "rank-by-stairs": "Rank of each query under the hinge against its stairs.",
    "staircase": "Dual variables of query {query} under the hinge, by score.",
    "rank-by-error": "Median rank of dual variables against their relative error.",
}
"""Templates of texts for readers of no figure, by the key of the figure."""
NO_CHANGE = 1e-10
"""A relative error below this is rounding."""
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
            "No training query has documents of different grades: there are no preference pairs, so no dual "
            "variables."
        )
    return (
        f"Every dual variable is 0: in {queries(found.n_zero)} with preference pairs, each pair has a margin "
        "of at least 1 or costs 0. Raise the costs or lower C."
    )


def none_counted(selected: int) -> str:
    """Say that all matrices of the chosen queries are 0 under all three models."""
    if not selected:
        return "The matrices of all queries are 0 under all three models."
    whose = (
        "matrix of the selected query is"
        if selected == 1
        else f"matrices of the {selected} selected queries are"
    )
    return f"The {whose} 0 under all three models. Change the selection in the tab All queries."


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
            f"Closest matrix of rank {k}, at the pairs; same colours.",
        ),
        "rest": (
            f"Error of rank {k}",
            f"α minus its matrix of rank {k}; blue: that is too small, red: too large.",
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
        f"Median numerical rank (singular values above {power_of_ten(tolerance)} of the largest): "
        f"{middle(needs, 'rank')}, shuffled {middle(needs, 'rank_shuffled')}. In {full} of "
        f"{queries(len(needs))} it is the largest that the grades allow."
    )


def what_shuffled_says(needs: pd.DataFrame, share: float) -> str:
    """Say if the energy is concentrated by the order in α, or only because no α is negative."""
    usual, k, allowed = (middle(needs, name) for name in ("k_shuffled", "k", "largest_rank"))
    if allowed <= 1:
        return "The grades of most of these queries allow no rank above 1."
    if usual > 2 * k:
        return (
            f"Shuffled, the same values need **{usual / k:.2g} times as many**: the order of α makes the "
            "difference, not its values."
        )
    if 2 * usual > allowed:  # not far below what the grades allow anyway
        needed = f"Of {allowed} possible singular values, α needs {k}, shuffled {usual} (medians)"
        if usual > k:
            return f"{needed}: its order saves {usual - k}, its values alone {allowed - usual}."
        return f"{needed}: its order saves none."
    more = " A larger share shows the effect of the order." if 100 * share < SHARES[-1] else ""
    return (
        f"At this share such values have low rank **in any order** ({usual} against {k}): none is negative, "
        f"so their mean holds much of the energy.{more}"
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
        f"Cut to rank {k}, query {query} keeps {_kept(row['energy'])} of its energy; its α changes by "
        f"{off_by(row['alpha_error'], 'its norm')}, and w by {off_by(row['w_error'], 'its length')}"
    )


def lost_by_all(k: int, cut: Cut) -> str:
    """Describe the losses in α, w and the ranking of other queries with every block at rank k."""
    row, metric = _at(cut.table, "all", k), cut.metric["all"]
    if all(row[error] < NO_CHANGE for error in ("alpha_error", "w_error")):
        return f"With every query cut to rank {k}, nothing changes: no block has a higher rank."
    found = compare(metric[min(k, metric.columns[-1])], metric[metric.columns[-1]])
    ranking = bold_free(found.sentence(f"the model cut to rank {k}", "the whole one", "NDCG@10"))
    surprise = (
        " The energy of α says little about w: most of α cancels in w, but the part cut off does not."
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
