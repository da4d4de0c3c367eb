"""The formulas of measures of ranked lists: what each computes, its source and its range."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.metrics.definitions import SHORT_QUERIES
from rankviz.metrics.lists import Lists


@dataclass(frozen=True)
class Formula:
    """One measure of ranked lists.

    Attributes
    ----------
    name : str
        Name of its columns, without the parameter.
    values : callable
        (lists, parameters) -> (b, number of parameters), or (b, 1) for a measure without one.
    text, source : str
        The formula, and the work that it comes from.
    takes : str
        "k" for a cut-off, as in NDCG@10; "p" for a parameter, as in RBP(p=0.8); "" for none.
    """

    name: str
    values: Callable[[Lists, Sequence[float]], FloatArray]
    text: str
    source: str
    takes: str = ""

    def columns(self, parameters: Sequence[float]) -> list[str]:
        """Return the names of the columns with these parameters: ["NDCG@1", "NDCG@3"]."""
        return [f"{self.name}@{k}" for k in parameters] if self.takes else [self.name]


def _at(curve: FloatArray, ranks: IntArray, sizes: IntArray, short: str) -> FloatArray:
    """Return `curve` (b, w) at `ranks` (K,) as (b, K); lists shorter than k follow the rule `short`."""
    values = np.take_along_axis(curve, np.minimum(ranks, sizes) - 1, axis=1)
    return np.where(ranks > sizes, values * SHORT_QUERIES[short](sizes, ranks), values)


def _ndcg(lists: Lists, ranks: Sequence[float]) -> FloatArray:
    return _at(lists.ndcg, np.array(ranks, np.int64), lists.sizes, lists.definition.short_ndcg)


def _precision(lists: Lists, ranks: Sequence[float]) -> FloatArray:
    return _at(lists.precision, np.array(ranks, np.int64), lists.sizes, lists.definition.short_precision)


def _mean_ndcg(lists: Lists, _: Sequence[float]) -> FloatArray:
    return np.asarray((lists.ndcg * lists.present).sum(axis=1, keepdims=True) / lists.sizes)


def _up_to_limit(values: Callable[[Lists, Sequence[float]], FloatArray]) -> Callable[..., FloatArray]:
    """Return the mean of a measure @1 … @`averaged_to` of the definition."""

    def mean(lists: Lists, _: Sequence[float]) -> FloatArray:
        limit = lists.definition.averaged_to or 0
        return np.asarray(values(lists, list(range(1, limit + 1))).mean(axis=1, keepdims=True))

    return mean


_ALL = (
    Formula(
        "NDCG", _ndcg, "Σ_{i≤k} gain(y_i)·discount(i), divided by that of the best order", "jarvelin2002", "k"
    ),
    Formula("MeanNDCG", _mean_ndcg, "the mean of NDCG@1 … NDCG@n", "qin2010"),
    Formula("P", _precision, "relevant documents among the first k / k", "qin2010", "k"),
    Formula(
        "MAP",
        lambda lists, _: lists.average_precision,
        "the mean of P@i over the ranks i of relevant documents",
        "qin2010",
    ),
    Formula("AvgNDCG", _up_to_limit(_ndcg), "the mean of NDCG@1 … NDCG@20", "he2009"),
    Formula("AvgPrec", _up_to_limit(_precision), "the mean of P@1 … P@20", "he2009"),
)

FORMULAS: Mapping[str, Formula] = {formula.name: formula for formula in _ALL}
"""The measures by the name of their columns."""
