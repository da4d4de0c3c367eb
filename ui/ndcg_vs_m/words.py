"""Sentences of the NDCG-against-m page: differences the queries support, seconds, agreement of rankings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from rankviz.experiments.description import in_a_sentence
from rankviz.experiments.record import RunRecord
from rankviz.metrics.significance import Comparison, compare
from rankviz.plots.metric_vs_m import training_seconds
from rankviz.plots.style import style_of

VERDICTS = {1: "better", -1: "worse", 0: "not distinguishable"}


def of_map(found: Iterable[RunRecord], feature_map: str, m: int | None = None) -> list[RunRecord]:
    """The runs of one map, or of one map and m."""
    return [r for r in found if r.spec.feature_map == feature_map and m in (None, r.spec.n_components)]


def per_query(found: Sequence[RunRecord], part: str, metric: str) -> pd.Series[float]:
    """A metric by fold and query, the mean over seeds."""
    each = {(r.spec.fold, r.spec.seed): r.metrics[part][metric] for r in found}
    long = pd.concat(each, names=["fold", "seed"])
    return long.groupby(level=["fold", "query"], sort=False).mean()


def reading(found: Sequence[RunRecord], part: str, metric: str) -> list[str]:
    """Verdicts of the queries, beside the linear model and the exact kernel where these are there."""
    told = [words for name in ("linear", "exact") if (words := against(found, part, metric, name))]
    if not told:
        return []
    some = of_map(found, found[0].spec.feature_map, found[0].spec.n_components)
    folds, same = len({r.spec.fold for r in some}), _compared(some, some, part, metric)
    of_folds = f" of {folds} folds" if folds > 1 else ""
    if same.n_queries < same.n_needed:
        queries = "1 query is" if same.n_queries == 1 else f"{same.n_queries} queries{of_folds} are"
        return [
            f"by {metric}, {queries} too few to tell any of them apart (95 % takes at least {same.n_needed})"
        ]
    return [f"by {metric} with {same.n_queries:,} queries{of_folds}, {told[0]}", *told[1:]]


def against(found: Sequence[RunRecord], part: str, metric: str, reference: str) -> str | None:
    """Where each approximation can be told from the linear or the exact model; None where that is missing.

    Compared with the linear model, the exact kernel is told about too.
    """
    level = of_map(found, reference)
    if not level:
        return None
    each = {name: in_words(verdicts_by_m(found, level, part, metric, name)) for name in APPROXIMATE}
    told = [f"{style_of(name).name} {words}" for name, words in each.items()]
    if len(set(each.values())) == 1 and told[0].startswith(f"{style_of(APPROXIMATE[0]).name} is "):
        told = [f"{' and '.join(style_of(name).name for name in APPROXIMATE)} are {each[APPROXIMATE[0]][3:]}"]
    exact = of_map(found, "exact") if reference == "linear" else []
    if exact:
        told.append(f"the exact kernel is {VERDICTS[_verdict(_compared(exact, level, part, metric))]}")
    return f"compared with {in_a_sentence(reference)}, {'; '.join(told)}"


def verdicts_by_m(
    found: Sequence[RunRecord], level: Sequence[RunRecord], part: str, metric: str, name: str
) -> dict[int, int]:
    """m -> better (1), worse (−1) or not distinguishable (0) than the runs of `level`, seeds averaged."""
    ms = sorted({r.spec.n_components for r in of_map(found, name)})
    return {m: _verdict(_compared(of_map(found, name, m), level, part, metric)) for m in ms}


def _compared(runs: Sequence[RunRecord], level: Sequence[RunRecord], part: str, metric: str) -> Comparison:
    hashes = tuple(r.spec.hash for r in runs), tuple(r.spec.hash for r in level)
    return _comparison(*hashes, part, metric, runs, level)


@st.cache_resource(max_entries=4096, show_spinner=False)
def _comparison(
    ours: tuple[str, ...],
    theirs: tuple[str, ...],
    part: str,
    metric: str,
    _runs: Sequence[RunRecord],
    _level: Sequence[RunRecord],
) -> Comparison:
    return compare(per_query(_runs, part, metric), per_query(_level, part, metric))


def _verdict(found: Comparison) -> int:
    return int(np.sign(found.difference)) if found.distinguishable else 0


def in_words(verdicts: Mapping[int, int]) -> str:
    """Say of m → better (1), worse (−1) or not distinguishable (0) which stretches of m are which."""
    if not verdicts:
        return "has no run yet"
    if len(set(verdicts.values())) == 1:
        (same,) = set(verdicts.values())
        return f"is {VERDICTS[same]} at {'every' if same else 'any'} m"
    stretches: list[list[int]] = []
    for m in sorted(verdicts):
        if stretches and verdicts[stretches[-1][-1]] == verdicts[m]:
            stretches[-1].append(m)
        else:
            stretches.append([m])
    return "is " + ", ".join(f"{VERDICTS[verdicts[ms[0]]]} at m = {_stretch(ms)}" for ms in stretches)


def _stretch(ms: list[int]) -> str:
    return f"{ms[0]}" if len(ms) == 1 else f"{ms[0]} to {ms[-1]}"


def seconds_in_words(found: Sequence[RunRecord], largest: int) -> str:
    """What training took at the largest m, and without an m: medians over runs."""
    runs = {f"{style_of(name).name} with m = {largest}": of_map(found, name, largest) for name in APPROXIMATE}
    runs |= {in_a_sentence(name): of_map(found, name) for name in ("linear", "exact")}
    told = [
        f"{np.median([training_seconds(r) for r in some]):.2g} s for {name}"
        for name, some in runs.items()
        if some
    ]
    return f"Training took {', '.join(told)}."


def agreement(errors: pd.DataFrame, m: int) -> str:
    """How alike the rankings at one m are to the exact one's, and whether the two maps can be told apart."""
    at_m = errors[errors["m"] == m]
    taus = {
        name: at_m[at_m["map"] == name].groupby(["fold", "query"], sort=False)["tau"].mean().dropna()
        for name in APPROXIMATE
    }
    medians = {name: float(tau.median()) for name, tau in taus.items() if len(tau)}
    if not medians:
        return f"at m = {m} there is no query to compare rankings on"
    first, *others = medians.items()
    told = f"{style_of(first[0]).name}'s ranking agrees with the exact one at median τ = {_short(first[1])}"
    told += "".join(f", {style_of(name).name}'s at {_short(median)}" for name, median in others)
    return f"at m = {m} {told}{_apart(taus)}"


def _short(tau: float) -> str:
    """Two decimals, or three where these would make a 1 of less."""
    return f"{tau:.2f}" if tau == 1 or tau < 0.995 else f"{min(tau, 0.999):.3f}"


def _apart(taus: Mapping[str, pd.Series[float]]) -> str:
    common = taus[APPROXIMATE[0]].index.intersection(taus[APPROXIMATE[1]].index)
    if not len(common):
        return ""
    found = compare(*(taus[name].loc[common] for name in APPROXIMATE))
    if not found.distinguishable:
        return f"; by τ the two are not distinguishable with {found.n_queries} queries"
    low, high = found.interval.low, found.interval.high
    nearer, other = APPROXIMATE if low > 0 else APPROXIMATE[::-1]
    near, far = sorted((abs(low), abs(high)))
    return (
        f": {style_of(nearer).name} is nearer to it than {style_of(other).name} by {abs(found.difference):.3f} "
        f"mean τ (95 % interval [{near:.3f}, {far:.3f}], {found.n_queries} queries)"
    )
