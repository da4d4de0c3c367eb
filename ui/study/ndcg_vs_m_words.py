"""Texts of the NDCG-against-m page: significant differences, seconds, agreement of rankings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.common.numbers import interval_in_words, small, span
from rankviz.features import EXACT, LINEAR
from rankviz.metrics.formulas import direction
from rankviz.metrics.significance import Comparison, compare, queries_needed
from rankviz.plots.style import approximations, style_of
from rankviz.runs.description import in_a_sentence, look_of
from rankviz.runs.record import RunRecord, training_seconds
from ui.controls.curves import is_curve, listed

VERDICTS = {1: "better", -1: "worse", 0: "not significantly different"}
HELP = {
    "xaxis": "Features, or seconds of training.",
    "folds": "All folds: trained separately.",
    "seeds": "Draws at every m.",
    "upto": "Time is proportional to m.",
    "metric": "Mean over queries.",
    "exact": "Time and memory grow with the square of the documents.",
    "figure2": "NDCG@1, NDCG@3, MeanNDCG and MAP (the paper shows MQ2007).",
    "bump": "Feature map of the rankings.",
    "documents": "The first documents of each ranking, or all.",
    "query": "Default: largest change from m = {m}.",
    "draws": "Random samples per point.",
    "maps": "All approximations, current and linear model.",
}
"""Helps, by the key of their control."""
CAPTIONS = {
    "ndcg-against-m": "{about}. {band}; {definition}. {seconds}Click a point to open its run.",
    "band": "Line: {line}; {band}: lowest to highest of {of}",
    "folds": " (folds differ in difficulty)",
    "seconds": (
        "Medians over runs on this machine, without evaluation. Runs with different m compute features "
        "together. The time of each run includes its part of this work. "
    ),
    "intervals": "Paired 95 % intervals, uncorrected.",
    "rank-against-m": "Query {query}, {n} documents, {map}, {last}; {some}. Ties keep file order. {about}.",
    "ranking-error": "{about}. Line: median over {queries} queries{seeds}; thin: quartiles.",
    "tau": "1: the same order, 0: unrelated, −1: reversed. ",
    "overlap": "Of the exact ranking's first {top} documents. ",
    "objective-distance": (
        "{about}. F̃: objective with an approximate kernel, F: exact; means over runs. {lower}"
    ),
    "numbers": "Means over queries, folds and seeds; m = 0: models without m.",
    "sample": (
        "{about}. {drawn}. Features are drawn from all training documents. Line: mean over draws and "
        "queries; band: 95 % interval of the difference to the full model ({crossed})."
    ),
    "sample intervals": "95 % intervals, uncorrected.",
}
"""Templates of captions, by the key of their figure or what they say."""
INFOS = {
    "no run": "No run of this map yet.",
    "no pairs": "No preference pairs: nothing is trained.",
    "no exact": "Rankings are compared with the exact kernel, {why}.",
    "no query": "No query has two documents to rank.",
}
"""Messages in place of a figure."""
Verdicts = Mapping[int, int]
"""m -> better (1), worse (−1) or not distinguishable (0)."""
Clause = tuple[str, str]
"""The start of a range of m, and the verdict there."""


def of_look(found: Iterable[RunRecord], look: str, m: int | None = None) -> list[RunRecord]:
    """Return the runs of one look (RankSVM with one map, or another method), or those with one m."""
    return [r for r in found if look_of(r.spec) == look and m in (None, r.spec.get("n_components"))]


def per_query(found: Sequence[RunRecord], part: str, metric: str) -> pd.Series[float]:
    """Return a metric by fold and query, averaged over seeds."""
    each: dict[str, dict[int, pd.Series[float]]] = {}
    for r in found:
        each.setdefault(r.spec.fold, {})[r.spec.get("seed", 0)] = r.metrics[part][metric]
    means = {
        fold: pd.DataFrame(seeds).mean(axis=1) if len(seeds) > 1 else next(iter(seeds.values()))
        for fold, seeds in each.items()
    }
    return pd.concat(means, names=["fold", "query"])


def reading(found: Sequence[RunRecord], part: str, metric: str, maps: Sequence[str]) -> list[str]:
    """Compare with the linear model and the exact kernel, if they exist."""
    parts = [words for name in (LINEAR, EXACT) if (words := against(found, part, metric, name, maps))]
    if not parts:
        return []
    some = of_look(found, look_of(found[0].spec), found[0].spec.get("n_components"))
    folds, same = len({r.spec.fold for r in some}), compared(some, some, part, metric)
    of_folds = f" of {folds} folds" if folds > 1 else ""
    if same.n_queries < same.n_needed:
        queries = "1 query is" if same.n_queries == 1 else f"{same.n_queries} queries{of_folds} are"
        needed = f"a 95 % interval needs at least {same.n_needed}"
        return [f"by {metric}, {queries} too few to compare models ({needed})"]
    return [f"by {metric} with {same.n_queries:,} queries{of_folds}, {parts[0]}", *parts[1:]]


def against(
    found: Sequence[RunRecord], part: str, metric: str, reference: str, maps: Sequence[str]
) -> str | None:
    """Say where each map differs significantly from the linear or the exact model; None if that is missing.

    For the linear model, include all models that are not curves over m.
    """
    level = of_look(found, reference)
    if not level:
        return None
    verdicts = {name: verdicts_by_m(found, level, part, metric, name) for name in maps}
    first, *rest = verdicts.values()
    parts = [f"{style_of(name).name} {in_words(of_map)}" for name, of_map in verdicts.items()]
    if rest and first and all(of_map == first for of_map in rest):
        parts = [f"{listed([style_of(name).name for name in maps])} {in_words(first, 'are')}"]
    parts += _others(found, level, part, metric) if reference == LINEAR else []
    return f"compared with {in_a_sentence(level[0].spec)}, {'; '.join(parts)}"


def _others(found: Sequence[RunRecord], level: Sequence[RunRecord], part: str, metric: str) -> list[str]:
    """Compare each model that is not a curve over m with those of `level`."""
    specs = {look_of(r.spec): r.spec for r in found if not is_curve(r.spec)}
    specs.pop(look_of(level[0].spec))
    parts = []
    for look, spec in specs.items():
        own = compared(of_look(found, look), level, part, metric).verdict(metric)
        parts.append(f"{in_a_sentence(spec)} is {VERDICTS[own]}")
    return parts


def verdicts_by_m(
    found: Sequence[RunRecord], level: Sequence[RunRecord], part: str, metric: str, name: str
) -> dict[int, int]:
    """Return m -> better (1), worse (−1) or not distinguishable (0) than `level`, seeds averaged."""
    ms = sorted({r.spec.n_components for r in of_look(found, name)})
    return {m: compared(of_look(found, name, m), level, part, metric).verdict(metric) for m in ms}


@st.cache_resource(max_entries=4096, show_spinner=False, hash_funcs={RunRecord: lambda run: run.spec.hash})
def compared(runs: Sequence[RunRecord], level: Sequence[RunRecord], part: str, metric: str) -> Comparison:
    """Compare runs with those of a level, query by query, seeds averaged; cached by their hashes."""
    return compare(per_query(runs, part, metric), per_query(level, part, metric))


def in_words(verdicts: Mapping[int, int], verb: str = "is") -> str:
    """Describe ranges of m by verdicts: m → better (1), worse (−1) or not distinguishable (0)."""
    if not verdicts:
        return "has no run yet"
    if len(set(verdicts.values())) == 1:
        (same,) = set(verdicts.values())
        if len(verdicts) == 1:
            return f"{verb} {VERDICTS[same]} at m = {next(iter(verdicts))}"
        return f"{verb} {VERDICTS[same]} at {'every' if same else 'any'} m"
    stretches: list[list[int]] = []
    for m in sorted(verdicts):
        if stretches and verdicts[stretches[-1][-1]] == verdicts[m]:
            stretches[-1].append(m)
        else:
            stretches.append([m])
    parts = (f"{VERDICTS[verdicts[ms[0]]]} at m = {span(ms[0], ms[-1])}" for ms in stretches)
    return f"{verb} {', '.join(parts)}"


def seconds_in_words(found: Sequence[RunRecord], largest: int, maps: Sequence[str]) -> str:
    """Give the training seconds at the largest m, and of other models: medians over runs."""
    runs = {f"{style_of(name).name} with m = {largest}": of_look(found, name, largest) for name in maps}
    specs = {look_of(r.spec): r.spec for r in found if not is_curve(r.spec)}
    runs |= {in_a_sentence(spec): of_look(found, look) for look, spec in specs.items()}
    medians = {
        name: float(np.median([training_seconds(r) for r in some])) for name, some in runs.items() if some
    }
    parts = [f"{small(seconds)} s for {name}" for name, seconds in medians.items() if seconds > 0]
    untold = [name for name, seconds in medians.items() if seconds == 0]
    none = f" No seconds for {listed(untold)}." if untold else ""
    return f"Training took {', '.join(parts)}.{none}"


def agreement(errors: pd.DataFrame, m: int) -> str:
    """Compare rankings at one m with the exact one, and say which maps differ significantly."""
    at_m = errors[errors["m"] == m]
    taus = {
        name: at_m[at_m["map"] == name].groupby(["fold", "query"], sort=False)["tau"].mean().dropna()
        for name in approximations()
    }
    medians = {name: float(tau.median()) for name, tau in taus.items() if len(tau)}
    if not medians:
        return f"at m = {m} there is no query to compare"
    text = ", ".join(f"{_short(median)} for {style_of(name).name}" for name, median in medians.items())
    apart = "".join(_closer_map(taus, *pair) for pair in combinations(medians, 2))
    return f"at m = {m} the median τ with the exact ranking is {text}{apart}"


def _short(tau: float) -> str:
    """Format with two decimals, or three if two would round up to 1."""
    return f"{tau:.2f}" if tau == 1 or tau < 0.995 else f"{min(tau, 0.999):.3f}"


def _closer_map(taus: Mapping[str, pd.Series[float]], one: str, two: str) -> str:
    """Say which of two maps is closer to the exact ranking, if significant."""
    common = taus[one].index.intersection(taus[two].index)
    if not len(common):
        return ""
    found = compare(taus[one].loc[common], taus[two].loc[common])
    if not found.distinguishable:
        both = f"{style_of(one).name} and {style_of(two).name}"
        return f"; no significant difference between {both}, {found.n_queries} queries"
    low, high = found.interval.low, found.interval.high
    nearer, other = (one, two) if low > 0 else (two, one)
    near, far = sorted((abs(low), abs(high)))
    interval = f"95 % interval [{near:.3f}, {far:.3f}], {found.n_queries} queries"
    return (
        f"; {style_of(nearer).name} is closer than {style_of(other).name} by "
        f"{abs(found.difference):.3f} mean τ ({interval})"
    )


def of_queries(table: pd.DataFrame, name: str, metric: str) -> str:
    """Say from how many training queries on a model is not worse than the one trained on all."""
    rising = _gains(table, metric).sort_values("share")
    whole, parts = rising.iloc[-1], rising.iloc[:-1]
    there, few = int(whole["queries"]), _too_few(whole)
    if few or parts.empty:
        return f"by {metric}, {few or f'{name} has only been trained on all {there} training queries'}"
    worse = parts[_is_worse(parts)]
    enough = parts if worse.empty else parts[parts["share"] > worse["share"].iloc[-1]]
    if enough.empty:
        last = worse.iloc[-1]
        return (
            f"by {metric}, {name} still gains from more training queries: with {int(last['queries'])} of "
            f"{there} it is {_by(last)} than with all"
        )
    first = enough.iloc[0]
    text = f"with {int(first['queries'])} of {there} training queries {_not_worse(first, whole, 'all')}"
    if worse.empty:
        return f"by {metric}, {name} {text}"
    return f"by {metric}, {name} {text}; with {int(worse['queries'].iloc[-1])} it is {_by(worse.iloc[-1])}"


def of_wrong_grades(table: pd.DataFrame, name: str, metric: str) -> str:
    """Say up to which share of wrong grades a model is not worse than without any."""
    rising = _gains(table, metric).sort_values("flipped")
    clean, parts = rising.iloc[0], rising.iloc[1:]
    few = _too_few(clean)
    if few or parts.empty:
        return f"by {metric}, {few or f'{name} has only been trained on the original grades'}"
    worse = parts[_is_worse(parts)]
    before = parts if worse.empty else parts[parts["flipped"] < worse["flipped"].iloc[0]]
    if before.empty:
        first = worse.iloc[0]
        return (
            f"by {metric}, {name} is already {_by(first)} with {_share(first)} of its training grades flipped"
        )
    last = before.iloc[-1]
    text = f"with {_share(last)} of its training grades flipped {_not_worse(last, clean, 'none')}"
    if worse.empty:
        return f"by {metric}, {name} {text}"
    return f"by {metric}, {name} {text}; with {_share(worse.iloc[0])} it is {_by(worse.iloc[0])}"


def _is_worse(parts: pd.DataFrame) -> pd.Series:
    return parts["distinguishable"] & (parts["gain"] < 0)


def _gains(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the table with the column gain: how much better each model is than the full one."""
    return table.assign(gain=direction(metric) * table["difference"])


def _too_few(row: pd.Series) -> str:
    """Say that the queries are too few for a decision; "" if they may suffice."""
    n = int(row["judged_by"])
    needed = queries_needed()
    queries = "1 query is" if n == 1 else f"{n} queries are"
    return "" if n >= needed else f"{queries} too few to compare models (95 % needs at least {needed})"


def _share(row: pd.Series) -> str:
    return f"{100 * row['flipped']:.3g} %"


def _not_worse(row: pd.Series, whole: pd.Series, of: str) -> str:
    """Compare a model that is not worse with the one trained on all data, with means and interval."""
    if row["distinguishable"]:
        return f"is {_by(row)} than with {of}"
    ends = interval_in_words(row["difference_low"], row["difference_high"])
    ends = ends.replace("interval", "interval of the difference")
    return (
        f"does not differ significantly from the model with {of} ({row['mean']:.3f} against "
        f"{whole['mean']:.3f}, {ends}, {int(row['judged_by']):,} queries)"
    )


def _by(row: pd.Series) -> str:
    """Say how much better or worse, with the interval."""
    word = "better" if row["gain"] > 0 else "worse"
    near, far = sorted((abs(row["difference_low"]), abs(row["difference_high"])))
    digits = max(3, math.ceil(-math.log10(near)))  # an end that excludes 0 is not printed as 0
    return f"{word} by {abs(row['difference']):.3f} (95 % interval [{near:.{digits}f}, {far:.{digits}f}])"


def enough(found: Sequence[RunRecord], part: str, metric: str, maps: Sequence[str]) -> str:
    """Say from which m on maps do not differ significantly from the exact kernel, or from their largest m.

    "" if queries are too few, or no map has runs to compare.
    """
    exact = of_look(found, EXACT)
    clauses: dict[Clause, list[str]] = {}
    n_queries = 0
    for name in maps:
        ms = sorted({r.spec.n_components for r in of_look(found, name)}, reverse=True)
        largest = ms[0] if ms else 0
        level = exact or of_look(found, name, largest)
        verdicts = {}
        for m in ms if exact else ms[1:]:
            one = compared(of_look(found, name, m), level, part, metric)
            verdicts[m] = one.verdict(metric)
            if verdicts[m]:  # smaller m add nothing
                break
        if not verdicts:
            continue
        if one.n_queries < one.n_needed:
            return ""
        n_queries = one.n_queries
        than = "the exact kernel" if exact else f"m = {largest}"
        clauses.setdefault(clause(verdicts, than), []).append(style_of(name).name)
    return f"{together(clauses)} ({metric}, {n_queries:,} queries)" if clauses else ""


def clause(verdicts: Verdicts, than: str) -> Clause:
    """Return the range of m with the verdict of the largest m, and this verdict; {} stands for the verb."""
    last = max(verdicts)
    if verdicts[last]:
        word = "better" if verdicts[last] > 0 else "still worse"
        return f"at m = {last}", f"{{}} {word} than {than}"
    other = [m for m, told in verdicts.items() if told]
    first = min(m for m in verdicts if m > max(other, default=0))
    start = f"from m = {first} on" if first < last else f"at m = {last}"
    return start, f"{{}} not significantly different from {than}"


def together(clauses: Mapping[Clause, Sequence[str]]) -> str:
    """Join clauses into a sentence; maps with the same verdict share a clause."""
    alike: dict[str, list[tuple[str, Sequence[str]]]] = {}
    for (start, holds), names in clauses.items():
        alike.setdefault(holds, []).append((start, names))
    parts, before = [], ""
    for holds, of in alike.items():
        if len(of) == 1 and of[0][0] == before:  # avoids repetition for adjacent clauses
            of = [("", of[0][1])]
        else:
            before = of[0][0] if len(of) == 1 else ""
        subject = " and ".join(f"{listed(list(names))} {start}".strip() for start, names in of)
        parts.append(f"{subject} {holds.format('is' if sum(len(n) for _, n in of) == 1 else 'are')}")
    return "; ".join(parts)
