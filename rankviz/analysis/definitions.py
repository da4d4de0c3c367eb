"""Compare definitions of metrics: their rules, the terms of NDCG, and the effect of each rule on a mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray
from rankviz.datasets.types import RankingData
from rankviz.metrics.definitions import DEFINITIONS, TIES, Definition
from rankviz.metrics.evaluation import evaluate
from rankviz.metrics.formulas import EVERYWHERE
from rankviz.metrics.lists import ranked

OTHER = "≠ "
"""Begins a cell of `rules_data` that differs from the chosen definition."""
ROUNDING = 1e-12
_SHORT = {"zero": "counts as 0", "filled": "filled with grade 0", "capped": "whole list"}


@dataclass(frozen=True)
class Rule:
    """A rule of definitions: name, fields of `Definition`, its value in words, and whether NDCG reads it."""

    name: str
    fields: tuple[str, ...]
    in_words: Callable[[Definition], str]
    of_ndcg: bool = True


def _relevant(definition: Definition) -> str:
    start, end = definition.relevant_from, definition.relevant_to
    return f"grade {start} or more" if end is None else f"grades {start} to {end}"


def _empty(definition: Definition) -> str:
    return "left out" if definition.leaves_out_empty else f"counts as {definition.empty_value:g}"


def _formula(rule: object) -> str:
    """Write a gain or a discount as texts do: "2ʸ − 1", "1/log₂(rank + 1)"."""
    return str(rule).replace(" - ", " − ").replace("2^y", "2ʸ").replace("log2", "log₂")


RULES = (
    Rule("gain", ("gain",), lambda one: _formula(one.gain)),
    Rule("discount", ("discount",), lambda one: _formula(one.discount)),
    Rule("equal scores", ("ties",), lambda one: TIES[one.ties]),
    Rule("fewer than k documents", ("short_ndcg",), lambda one: _SHORT[one.short_ndcg]),
    Rule("no relevant document", ("leaves_out_empty", "empty_value"), _empty),
    Rule("relevant, for P and MAP", ("relevant_from", "relevant_to"), _relevant, False),
    Rule("P@k of fewer documents", ("short_precision",), lambda one: _SHORT[one.short_precision], False),
)
"""The rules by which definitions differ. All have one ideal order: the list's own documents by gain."""


def terms(scores: FloatArray, data: RankingData, definition: Definition, k: int) -> pd.DataFrame:
    """Return the terms of NDCG@k of one list (n,): a row for each of the first k ranks.

    Columns: rank, grade, gain, discount, term, ideal_gain, ideal_term, and share, the term divided by the sum
    of the ideal ones (0 if that is 0). The shares sum to NDCG@k before the rules for short and empty lists.
    """
    (lists,) = ranked(scores, data, definition)
    n = min(k, data.n_documents)
    gains, discounts = definition.gains(lists.known), definition.discounts(n)
    own, best = lists.expected(gains)[0, :n], np.sort(gains[0])[::-1][:n]
    term, total = own * discounts, float(best @ discounts)
    columns = {
        "rank": np.arange(1, n + 1),
        "grade": lists.grades[0, :n].astype(np.int64),
        "gain": own,
        "discount": discounts,
        "term": term,
        "ideal_gain": best,
        "ideal_term": best * discounts,
        "share": term / total if total > 0 else np.zeros(n),
    }
    return pd.DataFrame(columns)


@dataclass(frozen=True, eq=False)
class Agreeing:
    """Definitions with equal shares at each rank and one value of NDCG@k; NaN if they leave the list out."""

    members: list[Definition]
    table: pd.DataFrame
    value: float

    def agrees(self, table: pd.DataFrame, value: float) -> bool:
        """Return True for the same shares and value."""
        same = np.allclose(table["share"], self.table["share"], rtol=0, atol=ROUNDING)
        return bool(same and np.isclose(value, self.value, rtol=0, atol=ROUNDING, equal_nan=True))


def same_terms(
    scores: FloatArray, data: RankingData, definitions: Iterable[Definition], k: int
) -> list[Agreeing]:
    """Return the terms of one list by definitions; those that agree have one table."""
    groups: list[Agreeing] = []
    for one in definitions:
        if one.largest_k is not None and k > one.largest_k:
            continue
        table, ndcg = terms(scores, data, one, k), value(scores, data, one, f"NDCG@{k}", k)
        found = next((group for group in groups if group.agrees(table, ndcg)), None)
        if found is None:
            groups.append(Agreeing([one], table, ndcg))
        else:
            found.members.append(one)
    return groups


def in_order(chosen: Definition) -> list[Definition]:
    """Return all definitions, the chosen one first."""
    return [chosen, *(one for one in DEFINITIONS.values() if one != chosen)]


def rules_data(chosen: Definition) -> pd.DataFrame:
    """Return the rules in words: a row per definition, the chosen first; other values begin with `OTHER`."""
    rows = {}
    for one in in_order(chosen):
        pairs = ((rule.name, rule.in_words(one), rule.in_words(chosen)) for rule in RULES)
        rows[one.label] = {name: own if own == usual else f"{OTHER}{own}" for name, own, usual in pairs}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("definition")


def terms_data(groups: Sequence[Agreeing]) -> pd.DataFrame:
    """Return the terms in words, "3 × 0.631 = 1.893" at each rank, beside the ideal ones; then the sums."""
    first = groups[0].table
    columns = {"rank": [*map(str, first["rank"]), "sum"], "grade": [*map(str, first["grade"]), ""]}
    for group in groups:
        name, table = group.members[0].label, group.table
        for prefix, head in (("", name), ("ideal_", f"{name}, ideal")):
            products = zip(table[f"{prefix}gain"], table["discount"], table[f"{prefix}term"], strict=True)
            usual = zip(first[f"{prefix}gain"], first["discount"], strict=True)
            cells = [
                f"{'' if (gain, discount) == own else OTHER}{gain:.4g} × {discount:.3f} = {term:.3f}"
                for (gain, discount, term), own in zip(products, usual, strict=True)
            ]
            columns[head] = [*cells, f"{table[f'{prefix}term'].sum():.3f}"]
    return pd.DataFrame(columns)


def value(scores: FloatArray, data: RankingData, definition: Definition, metric: str, k: int) -> float:
    """Return the mean of a metric at k; NaN where the definition has none."""
    if definition.largest_k is not None and k > definition.largest_k:
        return float("nan")
    mean = evaluate(scores, data, definition, at=[k]).mean
    return float(mean.get(metric, np.nan))


def deciding_rules(
    scores: FloatArray, data: RankingData, chosen: Definition, other: Definition, k: int
) -> list[Rule]:
    """Return the fewest rules of another definition that give its NDCG@k of a list, put into the chosen one.

    Empty if both give the same.
    """
    metric, wanted = f"NDCG@{k}", value(scores, data, other, f"NDCG@{k}", k)
    differing = [one for one in RULES if one.of_ndcg and one.in_words(chosen) != one.in_words(other)]
    for size in range(len(differing) + 1):
        for rules in combinations(differing, size):
            fields = [field for one in rules for field in one.fields]
            changed = replace(chosen, **{field: getattr(other, field) for field in fields}, largest_k=None)
            found = value(scores, data, changed, metric, k)
            if np.isclose(found, wanted, rtol=0, atol=ROUNDING, equal_nan=True):
                return list(rules)
    return differing


def means_data(scores: FloatArray, data: RankingData, k: int, chosen: Definition) -> pd.DataFrame:
    """Return the means of all measures, those of NDCG and P at k: a row per definition, the chosen one first.

    NaN where a definition lacks a measure.
    """
    rows = {}
    for one in in_order(chosen):
        known = one.largest_k is None or k <= one.largest_k
        cut, mean = [f"NDCG@{k}", f"P@{k}"] * known, ["MeanNDCG"] * one.mean_ndcg
        own = ["AvgNDCG", "AvgPrec"] if one.averaged_to else []
        measures = [*cut, "MAP", *mean, *EVERYWHERE, "MeanRank", *own]
        rows[one.label] = evaluate(scores, data, one, measures=measures).mean
    names = dict.fromkeys(name for mean in rows.values() for name in mean.index)
    return pd.DataFrame.from_dict(rows, orient="index")[list(names)].rename_axis("definition")


def effects_data(scores: FloatArray, data: RankingData, chosen: Definition, k: int) -> pd.DataFrame:
    """Return how each rule moves the mean of NDCG@k, one change at a time, the largest first.

    Columns: rule, instead_of, then (the changed value), mean, difference, and definitions with that value.
    """
    rows, start = [], value(scores, data, chosen, f"NDCG@{k}", k)
    for rule in (rule for rule in RULES if rule.of_ndcg):
        usual = rule.in_words(chosen)
        for words in dict.fromkeys(map(rule.in_words, DEFINITIONS.values())):
            having = [one for one in DEFINITIONS.values() if rule.in_words(one) == words]
            if words != usual:
                changed = replace(chosen, **{name: getattr(having[0], name) for name in rule.fields})
                mean = value(scores, data, changed, f"NDCG@{k}", k)
                names = ", ".join(one.label for one in having)
                rows.append((rule.name, usual, words, mean, mean - start, names))
    table = pd.DataFrame(rows, columns=["rule", "instead_of", "then", "mean", "difference", "definitions"])
    return table.sort_values("difference", key=np.abs, ascending=False, kind="stable", ignore_index=True)
