"""Texts on the errors: which map's is lower, how fast they fall, and properties of K."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from rankviz.analysis.kernel_error import (
    DECIDING,
    FLOOR,
    KernelErrors,
    Slope,
    Variant,
    lower_error,
    summary_at,
)
from rankviz.common.numbers import percent, small, span, with_minus
from rankviz.features import FEATURE_MAPS
from rankviz.features.kernel_base import KernelFacts
from rankviz.features.registry import FREQUENCY_CHOICE, LANDMARK_CHOICE
from rankviz.plots import kernel_error
from rankviz.plots.kernel_error import NORM_NAMES, variant_name
from ui.controls.curves import listed

TINY = "10⁻⁹"
HELP = {
    "of": "A sample of the training part, or one validation query.",
    "maps": "K̃ − K in place of K̃.",
    "new": "Other landmarks and frequencies. Earlier draws stay as thin curves.",
    "errnorm": (
        "Of K − K̃, relative to K. Spectral: largest absolute eigenvalue. Maximum-entry: largest absolute "
        "entry."
    ),
    "draws": "With {deciding} or more draws, bands without overlap show a difference.",
    "errupto": "Time grows with it.",
    "also": f"{LANDMARK_CHOICE.help} {FREQUENCY_CHOICE.help}",
    "kq": "A validation query: none of its documents is a landmark.",
}
"""Helps, by the key of their control."""
CAPTIONS = {
    "kernel-matrices": (
        "{drawn}. {of}, in order of the first principal component. Errors: ‖K̃ − K‖/‖K‖, "
        "Frobenius, of all {n:,}. Colours span the range of K."
    ),
    "kernel-plane": (
        "{drawn}. Training documents in grey; landmarks as diamonds. Lines are crests of waves cos(ωᵀx + b): "
        "all crests of the first three, dashed, and the middle crest of each other wave."
    ),
    "kernel-draws": (
        "{about}. Left: {of}. Right: mean NDCG@10 over validation queries. Rings: m = {m}. Thin: "
        "earlier draws."
    ),
    "kernel-rankings": (
        "{drawn}. Query {query} of validation, first {k}. Arcs: pairs of different grades "
        "that a map and the exact kernel order differently."
    ),
    "kernel-error": (
        "{about}. {seeds}. {compared}; maps fitted on all {n:,} ({distinct:,} distinct). Dotted: fitted "
        "power of m.{below}"
    ),
    "kernel-entries": (
        "{drawn}. {compared}: all {pairs:,} pairs; darker: more. On the line the approximation is exact."
    ),
    "kernel-spectrum": "{drawn}. {compared}. Dashed: 1/(2C·tr K) for all training documents.{sample}",
    "kernel-residual": (
        "{drawn}. Query {query} of validation, {cut}, highest grade first. Diagonal: κ of a document with "
        "itself."
    ),
    "kernel-seconds": (
        "{about}. Seconds for the features of all {n:,} training documents on this machine ({cores} "
        "cores), fastest of 3 to 12 tries. {compared}. Bars: error, least to greatest over draws."
    ),
    "errors": "Relative {norm} errors: mean over draws (least to greatest).{kept}",
    "slopes": "Powers of m, fitted to mean errors above 10⁻⁹, for m below the number of distinct documents.",
}
"""Templates of captions, by the key of their figure or table."""
ALTS = {
    "kernel-matrices": "Kernel matrix K between its approximations at m = {m}: {maps}.",
    "kernel-plane": "Landmarks or waves over the documents in the plane: {maps}.",
    "kernel-draws": "Kernel error and NDCG@10 against m: {maps}.",
    "kernel-rankings": "First {k} documents of query {query}, ranked by the exact kernel and by {maps}.",
    "kernel-error": "Relative {norm} error against m: {maps}.",
    "kernel-entries": "Approximate against exact kernel values: {maps}.",
    "kernel-spectrum": "Eigenvalues of K and K̃.",
    "kernel-residual": "κ̃ − κ in query {query}.",
    "kernel-seconds": "Relative {norm} error against seconds.",
}
"""Templates of texts for readers of no figure, by the key of the figure."""
ALIKE, UNLIKE = 0.99, 0.01
"""Mean kernel values above which K is nearly all ones, and below which it is nearly the identity."""
ROOM = 2.0
"""Ratio of features to effective dimension above which more features change little."""
ONE_DOCUMENT = "One document: no pairs to compare."
ENTRIES = "RMS of κ̃ − κ over these pairs: {rms}; largest: {most}"
ALL_ZERO = "Every entry of K is 0: there are no eigenvalues."
TRACE = "The first {m} eigenvalues of K hold {share} of its trace{value}."
RESIDUAL = "in this query the root mean square of κ̃ − κ is {told}"
LANDMARKS_KEPT = " Landmarks kept (least over draws): {name} skips dependent ones."
NO_MAP = "No feature map approximates the {kernel} kernel. Choose another one."
NO_KERNEL = "{model} has no kernel; shown: {maps} of a kernel."
EXACT_KERNEL = "The current model uses the exact kernel; shown: {maps} of it."
LEFT_OUT = "{map} is left out: it {why}."
NOT_CUT = "{map} is shown without the cut to rank {rank}."
SEEDS = "Seeds {first} to {last}; line: mean; band: least to greatest"
SO_FAR = "{words}, {draws} of {of} so far"
BELOW_AXIS = " Below the axis (rounding): {hidden} of {of} points."
ON_ALL = "K on all {n:,} training documents"
NO_MODELS = "Rankings and NDCG appear when the models are trained."
NO_EXACT = "No exact model to compare the rankings with."
NO_PAIRS = "All documents of query {query} have one grade: no preference pairs."
PAIRS = "Query {query}, {pairs}. Ordered differently from the exact kernel: {told}."
EARLIER = "Errors of earlier draws at m = {m}: {told}."
SAMPLE, QUERY = (
    "{shown:,} of {n:,} compared training documents",
    "{shown:,} of {n:,} documents of query {query}",
)
ON_SOME = "K on {n:,} of {of:,} training documents, drawn at random"


def answer(
    m: int,
    names: Sequence[str],
    errors: Sequence[float],
    kept: Sequence[int],
    top: int,
    query: int,
    *,
    of_query: bool = False,
) -> str:
    """Say the errors of the maps at m, and how many of the exact first documents of a query they keep.

    The errors are those of one draw, of the K of the query or of the compared training documents.

    `kept` is empty while there are no models.
    """
    text = f"At m = {m} {listed(names)}: {'error' if len(names) == 1 else 'errors'} "
    text += listed([error_words(error) for error in errors])
    text += f" (this draw, {f'K of query {query}' if of_query else 'K of training documents'})"
    ten = "top ten" if top == 10 else f"top {top}"
    return f"{text}; {listed([str(n) for n in kept])} of the exact {ten} in query {query}" if kept else text


def error_words(error: float) -> str:
    """Format a relative error in percent, with two significant digits."""
    if error <= FLOOR:
        return f"below {TINY}"
    if not math.isfinite(error):
        return "infinite"
    return percent(error) if error >= 0.1 else f"{small(100 * error)}\N{NO-BREAK SPACE}%"


def reading(
    errors: KernelErrors,
    summary: pd.DataFrame,
    slopes: Mapping[Variant, Slope | None],
    norm: str,
    m: int,
) -> str:
    """Say which map's error is lower at m if the draws show it, and how fast each falls."""
    draws = int(errors.table["seed"].nunique())
    first, *others = _as_printed(summary)
    falls = (f"{variant_name(v)}'s {_fall(summary, v, slopes.get(v))}" for v in (first, *others))
    compared = [_compared(summary, norm, m, draws, first, other) for other in others]
    said = "; ".join(compared) or _alone(summary, norm, m, first)
    mean = f", mean of {draws} draws" if draws > 1 else ", one draw"
    return f"At m = {m}{mean}, {said}; {', '.join(falls)}"


def _as_printed(summary: pd.DataFrame) -> list[Variant]:
    """Return the maps of a table with the papers' sampling methods."""
    return list(filter(kernel_error.is_paper_variant, kernel_error.variants_in(summary)))


def _alone(summary: pd.DataFrame, norm: str, m: int, variant: Variant) -> str:
    error = summary_at(summary, variant, m)["mean"]
    value = f"below {TINY}" if error <= FLOOR else small(error)
    return f"{variant_name(variant)}'s relative {NORM_NAMES[norm]} error is {value}"


def _compared(summary: pd.DataFrame, norm: str, m: int, draws: int, first: Variant, second: Variant) -> str:
    """Say which of two maps has a smaller error at m, if the draws show it."""
    ours, theirs = (summary_at(summary, variant, m)["mean"] for variant in (first, second))
    subject, other = (
        f"{variant_name(first)}'s relative {NORM_NAMES[norm]} error",
        variant_name(second),
    )
    if ours <= FLOOR:
        return f"{subject} is below {TINY}, {other}'s is {small(theirs)}"
    values = f"{small(ours)} and {small(theirs)}"
    if draws < DECIDING:
        return f"{subject} and {other}'s are {values} ({_too_few(draws)})"
    less = lower_error(summary, first, second, m)
    if less is None:
        return f"{subject} overlaps with {other}'s over {draws} draws ({values})"
    if less == second:
        subject, other = f"{other}'s relative {NORM_NAMES[norm]} error", variant_name(first)
        ours, theirs = theirs, ours
    return (
        f"{subject} is {_times(theirs / ours)} lower than {other}'s in all {draws} draws "
        f"({small(ours)} against {small(theirs)})"
    )


def _too_few(draws: int) -> str:
    return f"{draws} {'draw' if draws == 1 else 'draws'} each: too few to compare, {DECIDING} needed"


def _times(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):,.10g} times"


def _fall(summary: pd.DataFrame, variant: Variant, slope: Slope | None) -> str:
    rows = kernel_error.rows_of(summary, variant)
    if slope is None:
        exact = rows.loc[rows["mean"] <= FLOOR, "m"]
        if not len(exact):
            return "has too few points for a slope"
        return f"is below {TINY} from m = {exact.min():,} on"
    where = f"from m = {slope.first:,} to {slope.last:,}"
    if slope.level:
        return f"hardly changes {where}"
    verb = "falls" if slope.exponent < 0 else "grows"
    return f"{verb} about as $m^{{{slope.exponent:.2f}}}$ {where}"


def variant_words(errors: KernelErrors, summary: pd.DataFrame, m: int) -> str:
    """Describe the effect of each other sampling method on the error at m, if the draws show it."""
    draws, words = int(errors.table["seed"].nunique()), []
    for variant in kernel_error.variants_in(summary):
        if not kernel_error.is_paper_variant(variant):
            papers = kernel_error.draws_of(variant.map)[0]
            words.append(_variant(summary, variant, papers, m, draws))
    return " ".join(words)


def _variant(summary: pd.DataFrame, variant: Variant, papers: Variant, m: int, draws: int) -> str:
    new, old = kernel_error.choice_name(variant), kernel_error.choice_name(papers)
    ours, theirs = (summary_at(summary, one, m)["mean"] for one in (variant, papers))
    start = f"{new[0].upper()}{new[1:]} at m = {m}:"
    if max(ours, theirs) <= FLOOR:
        return f"{start} below {TINY}, like {old}."
    values = f"{small(ours)} against {small(theirs)}"
    if draws < DECIDING:
        return f"{start} {values} with {old} ({_too_few(draws)})."
    less = lower_error(summary, variant, papers, m)
    if less is None:
        return f"{start} overlaps with {old} over {draws} draws ({values})."
    word, ratio = ("lower", theirs / ours) if less == variant else ("higher", ours / theirs)
    if min(ours, theirs) <= FLOOR:
        return f"{start} {word} than with {old} in all {draws} draws ({values})."
    return f"{start} {_times(ratio)} {word} than with {old} in all {draws} draws ({values})."


def kernel_words(errors: KernelErrors, kernel: KernelFacts, parameters: str) -> str:
    """Describe K with these parameters if it explains the curves, and where landmarks run out.

    The mean of κ shows this only for kernels with κ(x, x) the same for all documents.
    """
    words, mean = [], errors.mean_kernel
    if kernel.shift_invariant and mean > ALIKE:
        words.append(
            f"With {parameters} mean κ is {mean:.4f}: K is nearly all ones, so a few landmarks are enough."
        )
    elif kernel.shift_invariant and mean < UNLIKE:
        words.append(
            f"With {parameters} mean κ is {small(mean)}: K is nearly the identity, so it needs about as many "
            "features as documents."
        )
    elif not math.isnan(mean):
        words.append(f"Mean κ of two documents: {with_minus(mean, ',.2f')}.")
    landmarks = list(filter(has_landmarks, _as_printed(errors.table)))
    if landmarks and errors.n_distinct <= int(errors.table["m"].max()):
        exact = f"{kernel_error.joined_names(landmarks)} {'is' if len(landmarks) == 1 else 'are'} exact"
        words.append(f"From m = {errors.n_distinct:,} on, all distinct documents are landmarks: {exact}.")
    return " ".join(words)


def has_landmarks(variant: Variant) -> bool:
    """Return True if a map draws documents."""
    return FEATURE_MAPS[variant.map].draws_by is LANDMARK_CHOICE


def dimension_words(
    bounds: tuple[float, float], C: str, m: int, n: int, *, has_gamma: bool = True
) -> tuple[str, str]:
    """Return the effective dimension as a sentence, and its meaning for m."""
    low, high = bounds
    what = (
        f"At C = {C} the effective dimension tr K(K + I/(2C))⁻¹ of all {n:,} training documents is "
        f"{_bracket(low, high)}"
    )
    means = f"It grows with C{' and γ' if has_gamma else ''}. "
    if m < low:
        return what, f"{means}m = {m} is below it: some directions are lost."
    if m > ROOM * high:
        return what, f"{means}m = {m} exceeds it: more features change little."
    return what, f"{means}m = {m} is close to it: more features may still change the model."


def _bracket(low: float, high: float) -> str:
    one, other = _count(low), _count(high)
    return one if one == other else f"between {one} and {other}"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else small(value)


def seconds_words(table: pd.DataFrame, draws: int) -> str:
    """Name the m from which a map beats the error of another at its largest m, with the seconds."""
    first, *others = _as_printed(table)
    if not others:
        last = _rising(table, first).iloc[-1]
        name = f"{variant_name(first)} with m = {int(last['m']):,}"
        return f"{name} has an error of {_error_in(last)} on this machine"
    return "; ".join(_race(table, draws, first, other) for other in others)


def _race(table: pd.DataFrame, draws: int, first: Variant, second: Variant) -> str:
    ours, theirs = _rising(table, first), _rising(table, second)
    last = theirs.iloc[-1]
    below = (ours["high"] < last["low"])[::-1].cummin()[::-1]
    other = f"{variant_name(second)} with m = {int(last['m']):,}"
    if draws < DECIDING or not below.any():
        own = ours.iloc[-1]
        return (
            f"{other} has an error of {_error_in(last)} on this machine, {variant_name(first)} with the same "
            f"m {_error_in(own)}"
        )
    least = ours[below].iloc[0]
    return (
        f"{variant_name(first)} from m = {int(least['m']):,} on has less error in all {draws} draws "
        f"({_error_in(least)} on this machine) than {other} ({_error_in(last)})"
    )


def _rising(table: pd.DataFrame, variant: Variant) -> pd.DataFrame:
    return kernel_error.rows_of(table, variant).sort_values("m")


def _error_in(row: pd.Series) -> str:
    """Format a mean error, and the seconds of its features from fastest to slowest run."""
    return f"{small(row['mean'])} in {span(small(row['seconds']), small(row['slowest']))} s"
