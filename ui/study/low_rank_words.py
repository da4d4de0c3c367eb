"""The sentences of the Low rank page, computed from the tables behind its figures."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pandas as pd

from rankviz.analysis.spectra import MATRICES, Spectra
from rankviz.common.numbers import counted, power_of_two, small, superscript
from rankviz.learning.losses import EVERY_LOSS, Loss, PiecewiseQuadratic
from rankviz.learning.solvers import TOL
from rankviz.metrics.significance import compare
from rankviz.models.methods import METHODS, USUAL
from rankviz.runs.spec import RunSpec
from ui.shell.figures import capital
from ui.study.low_rank_computations import SHARES, Cut

DEFINITION = "A query's dual variables α form a matrix A (xu2019). Rows: preferred; columns: others."
HELP = {
    "k": "Keeps the k largest singular values.",
    "t": "Energy: sum of squared singular values (xu2019: 90 %).",
    "matrix": " ".join(f"{kind.label}: {kind.meaning}." for kind in MATRICES.values()),
    "order": "Grade: blocks. Score: border of active pairs.",
    "beside": "αᵏ, or α − αᵏ.",
    "zero": "For the numerical rank.",
    "counted": "xu2019 divides by documents.",
    "block": "Default: most pairs.",
    "learnaxis": "Iterations differ between solvers: compare seconds.",
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
    "hinge": "At the model's w.",
    "dual": "Lower bound of the hinge's objective.",
    "gap": "Relative to the objective.",
    "seconds": "Features, pairs and training; one run.",
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
        "Documents and pairs {alike} those printed; C is not printed. Here: the {matrix} matrix; plain: "
        "{plain}. Impossible ranks may be of A + Aᵀ."
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
        "model with the hinge{level}. {about}"
    ),
    "best": "Chosen on these {part} queries, the best is optimistic.",
    "rank-by-activity": "One marker per query; {zero}. Dashed: the law's limit. {about}.",
    "rank-by-c": "Median over {queries}; band: 10 % to 90 %; {zero}. Dashed: the law's limit. Dotted: the "
    "current C. {about}.",
    "rank-by-stairs": "One marker per query and kind; {zero}. {about}.",
    "staircase": "Query {query}, α/C: 1 for margins below 1, 0 above. Blank: no pair. {about}.",
    "rank-by-error": (
        "Median over {queries}. Lines: α with random errors, by zero threshold; thick: the chosen one. "
        "{diamonds}{about}."
    ),
    "diamonds": "Diamonds: trained to tolerances {early}; error: distance from {last}. ",
}
"""Templates of captions, by the key of their figure or table."""
APPEARS = "{what} appears when its models are trained (end of the page)."
NO_CHANGE = 1e-10
"""A relative error below this is rounding."""
NOTHING_HERE = ":gray[Every dual variable of the current model is 0.]"
ZERO = "zero: σ up to 10⁻⁶ of the largest"
LAW = (
    "**Low rank:** if all pairs of two grades have margins below 1 (small C), α has rank 2 at most. With R "
    "grades, A has rank 2(R − 1) at most."
)
STAIRCASE = (
    "**Stairs:** sorted by score, the border between α = C and α = 0 is a staircase. Few dimensions hold "
    "its energy, but stairs of different lengths add to the rank."
)
ACCURACY = (
    "**Artefact:** dual solvers that stop early leave errors in α. These errors raise the rank to the limit "
    "of the grades. In this app, that happens only with the hinge."
)
PAPER = (
    "xu2019 (Table 6) prints ranks 8, 92 and 234; the grades allow A only ranks 4, 46 and 117. The printed "
    "ranks fit A + Aᵀ with errors of a solver."
)


def queries(n: int, which: str = "") -> str:
    """Format a number of queries: "1 query", "62 selected queries"."""
    return f"{n} {which}{'query' if n == 1 else 'queries'}"


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
        return "No training query has different grades: no preference pairs."
    return (
        f"Every dual variable is 0: in {queries(found.n_zero)} each pair has a margin of at least 1 or costs "
        "0. Raise costs or lower C."
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
            f"Cut to rank {k}: {_share_kept(energy)} of the energy",
            "Closest matrix; same colours.",
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
    at_most = ("" if k == 1 else "at most ") + counted(k, "singular value")
    keep = f"{'keeps' if reached == 1 else 'keep'} {percent(share)} of the energy"
    return f"{reached} of {queries(len(needs), of)} {keep} in {at_most}; shuffled α need {usual} (median)"


def in_order(needs: pd.DataFrame) -> str:
    """Count queries in which the order of α saves singular values, and give the rank that grades allow."""
    fewer, n = int((needs["k"] < needs["k_shuffled"]).sum()), len(needs)
    return (
        f"With shuffled α, {fewer} of {queries(n)} {'needs' if fewer == 1 else 'need'} more singular values. "
        f"The grades allow rank {middle(needs, 'largest_rank')} (median)."
    )


def rank_reading(needs: pd.DataFrame, tolerance: float) -> str:
    """Compare the numerical rank with the shuffled one and with that allowed by grades."""
    full = int((needs["rank"] == needs["largest_rank"]).sum())
    return (
        f"Median rank (zero: {power_of_ten(tolerance)}): {middle(needs, 'rank')}, shuffled "
        f"{middle(needs, 'rank_shuffled')}; in {full} of {queries(len(needs))} the largest possible."
    )


def shuffled_reading(needs: pd.DataFrame, share: float) -> str:
    """Say if the energy is concentrated by the order in α, or only because no α is negative."""
    usual, k, allowed = (middle(needs, name) for name in ("k_shuffled", "k", "largest_rank"))
    if allowed <= 1:
        return "Most queries' grades allow only rank 1."
    if usual > 2 * k:
        return f"Shuffled, α needs **{small(usual / k)} times as many**: its order matters."
    if 2 * usual > allowed:  # not far below what the grades allow anyway
        needed = f"Of {allowed} possible singular values, α needs {k}, shuffled {usual} (medians)"
        if usual > k:
            return f"{needed}: the order of α saves {usual - k}, its values alone save {allowed - usual}."
        return f"{needed}: the order of α saves none."
    more = " Try a larger share." if 100 * share < SHARES[-1] else ""
    return (
        f"α has low rank **in any order** here ({usual} against {k}): no value is negative, so "
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


def losses_of_query(query: int, k: int, cut: Cut) -> str:
    """Describe the losses in α and in the model's w with one query's block at rank k."""
    row = _at(cut.table, "query", k)
    return (
        f"Cut to rank {k}, query {query} keeps {_share_kept(row['energy'])} of its energy; α changes by "
        f"{off_by(row['alpha_error'], 'its norm')}, w by {off_by(row['w_error'], 'its length')}"
    )


def losses_of_all(k: int, cut: Cut) -> str:
    """Describe the losses in α, w and the ranking of other queries with every block at rank k."""
    row, metric = _at(cut.table, "all", k), cut.metric["all"]
    if all(row[error] < NO_CHANGE for error in ("alpha_error", "w_error")):
        return f"With every query cut to rank {k}, nothing changes."
    found = compare(metric[min(k, metric.columns[-1])], metric[metric.columns[-1]])
    ranking = capital(found.sentence(f"the model cut to rank {k}", "the whole one", "NDCG@10")).rstrip(".")
    surprise = (
        " Most of α cancels in w; the part cut off does not."
        if row["w_error"] > max(0.05, 3 * row["alpha_error"])
        else ""
    )
    return (
        f"With every query cut to rank {k}, α keeps {_share_kept(row['energy'])} of its energy and changes "
        f"by {off_by(row['alpha_error'], 'its norm')}, w by {off_by(row['w_error'], 'its length')}."
        f"{surprise} Validation queries: {ranking}."
    )


def _at(table: pd.DataFrame, scope: str, k: int) -> pd.Series:
    """Return the row of a scope at rank k; above its last rank, the last row, which truncates nothing."""
    rows = table[table["scope"] == scope]
    return rows[rows["k"] >= min(k, int(rows["k"].max()))].iloc[0]


def _share_kept(share: float) -> str:
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


def law(at_hand: pd.DataFrame) -> str:
    """Say if the bound holds for most queries at this C."""
    every, of_all = at_hand["active"] == at_hand["pairs"], queries(len(at_hand))
    lawful, others = at_hand[every], at_hand[~every]
    start = f"At C = {power_of_two(float(at_hand['C'].iloc[0]))}"
    if len(lawful) > len(others):
        return (
            f"{start} every pair is active in {len(lawful)} of {of_all}: the law allows rank "
            f"{int(lawful['law'].max())}, and the largest is {int(lawful['rank'].max())}"
        )
    inactive = 1 - float((others["active"] / others["pairs"]).median())
    return (
        f"{start} the law holds for {len(lawful) or 'none'} of {of_all}; medians of the others: "
        f"{100 * inactive:.0f} % of pairs inactive, rank {others['rank'].median():g} where the law allows "
        f"{others['law'].median():g}"
    )


def law_holds_up_to(over_C: pd.DataFrame) -> str:
    """Say up to which of the tried C the law holds for every query; "" for none."""
    whole = over_C.loc[over_C["lawful"].eq(1).cummin(), "C"]  # C ascends: from the smallest on
    if not len(whole):
        return ""
    return f"Up to C = {power_of_two(whole.max())} every pair is active."


def staircase(stairs: pd.DataFrame) -> str:
    """Give the number of dimensions of the stairs."""
    some = stairs[stairs["active"] > 0]
    if len(some) == 0:
        return "Under the hinge every α is 0 (margins of at least 1)"
    middle = some.median(numeric_only=True)
    return (
        f"Medians over {queries(len(some))}: {middle['stairs']:.0f} stairs, numerical rank "
        f"{middle['rank']:.0f}, but {middle['k_90']:.0f} for 90 % of the energy"
    )


def off_the_staircase(stairs: pd.DataFrame) -> str:
    """Say how close the blocks are to staircases; "" if every α is 0."""
    some = stairs[stairs["active"] > 0]
    if len(some) == 0:
        return ""
    between = some["boundary"].sum() / max(int(some["pairs"].sum()), 1)
    lie = f"{percent(between) if between > 0.1 else off(between)} lie" if between else "none lies"
    return (
        f"α differs from the staircase by {off_by(float(some['error'].median()), 'its norm')} (median). Of "
        f"all pairs {lie} between 0 and C."
    )


def scope_of_errors(spec: RunSpec) -> str:
    """Say to which models the passage applies, if not to the sidebar's."""
    if TOL not in spec.declared().values():
        return f":gray[This holds for {METHODS[USUAL].label}. The {spec.kind.label} is solved for its α.]"
    loss = spec.option("loss")
    if _has_stairs_or_law(loss):
        return ""
    name = loss.label
    name = name if name.endswith("hinge") else f"{name} loss"
    return (
        f":gray[This holds for both hinges. With the {name}, early stops (diamonds) may also lower the rank.]"
    )


def _has_stairs_or_law(loss: Loss) -> bool:
    """Return True if below its corner every α is C (a hinge) or linear in the margin (a squared hinge)."""
    squared = isinstance(loss, PiecewiseQuadratic) and all(math.isinf(zone.width) for zone in loss.zones)
    return loss.by_continuation or squared


def accuracy(rough: pd.DataFrame, tolerance: float) -> str:
    """Say from which error on the rank is full."""
    chosen = rough[(rough["tolerance"] / tolerance - 1).abs() < 1e-9].sort_values("error")
    least, most = int(chosen["rank"].iloc[0]), int(chosen["rank"].max())
    if most <= least:
        return f"No error raises the median rank above {least}"
    half = chosen.loc[chosen["rank"] > (least + most) / 2, "error"].iloc[0]
    return (
        f"Random errors of {power_of_ten(half)} raise the median rank from {least} to "
        f"{int(chosen.loc[chosen['error'] == half, 'rank'].iloc[0])}"
    )


def stopped_early(stopped: pd.DataFrame) -> str:
    """Give error and rank of the run that stopped first; "" without runs."""
    if not len(stopped):
        return ""
    ordered = stopped.sort_values("tol")
    tight, loose = ordered.iloc[0], ordered.iloc[-1]
    return (
        f"Stopped at tolerance {power_of_ten(loose['tol'])}, this solver has error {small(loose['error'])} "
        f"and rank {int(loose['rank'])} ({int(tight['rank'])} at {power_of_ten(tight['tol'])})."
    )


def trained_for_this(spec: RunSpec, drawn: RunSpec) -> str:
    """Say that these figures use another model, loss or costs than the sidebar's."""
    if (spec.method, spec.get("loss"), spec.get("costs")) == (drawn.method, drawn.loss, drawn.costs):
        return ""
    model = f"{drawn.kind.label} and " if spec.method != drawn.method else ""
    costs = " without costs of pairs" if spec.get("costs") != drawn.costs else ""
    name = f"{model}the {EVERY_LOSS[drawn.loss].label}{costs}"
    return f":gray[Trained for these figures with {name}.]"
