"""The formulas of measures: what each computes, its source and its range.

Every one is exact for all rules of ties. With "mean" it is the expectation over all orders of equal scores.
Most are sums over places, whose terms have the mean of a group; the others have closed forms.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import SettingError
from rankviz.metrics.definitions import SHORT_QUERIES, Definition
from rankviz.metrics.lists import Lists, Ties

TOP = 4
"""Highest grade of ERR, as in gdeval.pl and in MSLR's data."""
PERSISTENCE = 0.8
"""The usual p of RBP."""


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
    alias : str
        Its name in ir_measures, if another.
    limited : bool
        True if the largest k of a definition is the largest of this measure.
    highest : float
        The range is 0 to this, or 1 to ∞ for a measure of which less is better.
    """

    name: str
    values: Callable[[Lists, Sequence[float]], FloatArray]
    text: str
    source: str
    takes: str = ""
    alias: str = ""
    limited: bool = False
    highest: float = 1.0

    @property
    def more_is_better(self) -> bool:
        """False for a measure of which less is better."""
        return self.highest < math.inf

    def columns(self, parameters: Sequence[float]) -> list[str]:
        """Return the names of the columns with these parameters: ["NDCG@1", "NDCG@3"]."""
        form = {"k": "{}@{:d}", "p": "{}(p={:g})"}.get(self.takes)
        return [form.format(self.name, one) for one in parameters] if form else [self.name]


def _at(curve: FloatArray, ranks: Sequence[float], sizes: IntArray, short: str = "capped") -> FloatArray:
    """Return `curve` (b, w) at `ranks` (K,) as (b, K); lists shorter than k follow the rule `short`."""
    places = np.array(ranks, np.int64)
    values = np.take_along_axis(curve, np.minimum(places, sizes) - 1, axis=1)
    return np.where(places > sizes, values * SHORT_QUERIES[short](sizes, places), values)


def _per_relevant(lists: Lists, values: FloatArray) -> FloatArray:
    """Return `values` (b, 1) divided by the number of relevant documents; 0 for lists without one."""
    return np.asarray(values / np.maximum(lists.n_relevant, 1))


def _ndcg(lists: Lists, ranks: Sequence[float]) -> FloatArray:
    return _at(lists.ndcg(int(max(ranks))), ranks, lists.sizes, lists.definition.short_ndcg)


def _mean_ndcg(lists: Lists, _: Sequence[float]) -> FloatArray:
    return np.asarray((lists.ndcg() * lists.present).sum(axis=1, keepdims=True) / lists.sizes)


def _precision(lists: Lists, ranks: Sequence[float]) -> FloatArray:
    return _at(lists.precision, ranks, lists.sizes, lists.definition.short_precision)


def _up_to_limit(values: Callable[[Lists, Sequence[float]], FloatArray]) -> Callable[..., FloatArray]:
    """Return the mean of a measure @1 … @`averaged_to` of the definition."""

    def mean(lists: Lists, _: Sequence[float]) -> FloatArray:
        limit = lists.definition.averaged_to or 0
        return np.asarray(values(lists, range(1, limit + 1)).mean(axis=1, keepdims=True))

    return mean


def _average_precision(lists: Lists, _: Sequence[float]) -> FloatArray:
    """Return AP, (b, 1); the definition's `empty_value` for lists without a relevant document.

    A group of t equal scores, r of them relevant, follows a documents, h of them relevant. On average over
    its orders, its places add Σ_{i≤t} r/t · (h + 1 + (i − 1)(r − 1)/(t − 1)) / (a + i) (mcsherry2008).
    """
    precision = lists.precision
    if (ties := lists.ties) is not None:
        others = ties.inside * (ties.total(lists.relevant) - 1) / np.maximum(ties.length - 1, 1)
        precision = (ties.before(lists.relevant) + 1 + others) / lists.places
    found = _per_relevant(lists, np.sum(precision * lists.share, axis=1, keepdims=True))
    return np.where(lists.n_relevant > 0, found, lists.definition.empty_value)


def _recall(lists: Lists, ranks: Sequence[float]) -> FloatArray:
    return _per_relevant(lists, _at(lists.hits, ranks, lists.sizes))


def _r_precision(lists: Lists, _: Sequence[float]) -> FloatArray:
    last = np.maximum(lists.n_relevant, 1) - 1
    return _per_relevant(lists, np.take_along_axis(lists.hits, last, axis=1))


def _reciprocal_rank(lists: Lists, _: Sequence[float]) -> FloatArray:
    """Return Σ_i P(document i is the first relevant one) / i, (b, 1).

    After i irrelevant ones of a group of t with r relevant ones, the next is relevant with chance r/(t − i).
    """
    chance = lists.relevant.astype(np.float64)
    if (ties := lists.ties) is not None:
        chance = np.minimum(ties.total(lists.relevant) / (ties.length - ties.inside), 1.0)
    none = np.cumprod(1.0 - chance, axis=1)
    none = np.concatenate([np.ones_like(none[:, :1]), none[:, :-1]], axis=1)
    return np.asarray((none * chance / lists.places).sum(axis=1, keepdims=True))


def _rank_biased_precision(lists: Lists, persistence: Sequence[float]) -> FloatArray:
    p = np.array(persistence)
    weights = (1.0 - p) * p ** (lists.places[:, None] - 1.0)
    return np.asarray(lists.share @ weights)


def _bpref(lists: Lists, _: Sequence[float]) -> FloatArray:
    """Return the mean over relevant documents of 1 − min(irrelevant ones above, B)/B, B = min(R, N): (b, 1).

    Of z irrelevant documents in a relevant one's group, 0, 1, …, z stand above it with equal probability.
    """
    other = lists.present & ~lists.relevant
    bound = np.minimum(lists.n_relevant, other.sum(axis=1, keepdims=True))
    above, beside = lists.before_group(other), lists.in_group(other) * lists.relevant
    if lists.ties is None:
        beside = np.zeros_like(above)
    below = np.clip(
        bound - above, 0, beside + 1
    )  # of the beside + 1 cases, those with fewer than `bound` above
    expected = (below * above + below * (below - 1) / 2 + (beside + 1 - below) * bound) / (beside + 1)
    lost = (expected * lists.relevant).sum(axis=1, keepdims=True) / np.maximum(bound, 1)
    return _per_relevant(lists, lists.n_relevant - lost)


def _pair_accuracy(lists: Lists, _: Sequence[float]) -> FloatArray:
    """Return the share of pairs of different grades in the right order, (b, 1); tied pairs count one half.

    A list without such pairs counts as 0, or is left out, as queries without relevant documents are.
    """
    grades, right, pairs = lists.known, 0.0, 0.0
    for grade in np.unique(grades)[1:]:
        high, low = grades == grade, (grades < grade) & lists.present
        n_low = low.sum(axis=1, keepdims=True)
        below = n_low - lists.before_group(low) - (0 if lists.ties is None else lists.in_group(low) / 2)
        right = right + (high * below).sum(axis=1, keepdims=True)
        pairs = pairs + high.sum(axis=1, keepdims=True) * n_low
    missing = math.nan if lists.definition.leaves_out_empty else 0.0
    return np.asarray(
        np.where(pairs > 0, right / np.maximum(pairs, 1), missing) + np.zeros(lists.sizes.shape)
    )


def _mean_rank(lists: Lists, _: Sequence[float]) -> FloatArray:
    ranks = _per_relevant(lists, (lists.share * lists.places).sum(axis=1, keepdims=True))
    return np.where(lists.n_relevant > 0, ranks, math.nan)


def _reciprocal_rank_expected(lists: Lists, ranks: Sequence[float]) -> FloatArray:
    """Return ERR@k = Σ_{i≤k} P(the reader goes on to i, and stops there) / i, (b, K)."""
    most = min(int(max(ranks)), lists.grades.shape[1])
    goes_on = 1.0 - (np.exp2(np.minimum(lists.known, TOP)) - 1.0) / 2.0**TOP
    if lists.ties is None:
        after = np.cumprod(goes_on[:, :most], axis=1)
        stops = np.concatenate([np.ones_like(after[:, :1]), after[:, :-1]], axis=1) - after
    else:
        stops = _stops(goes_on, lists.ties, most)
    return _at(np.cumsum(stops / lists.places[:most], axis=1), np.minimum(ranks, most), lists.sizes)


def _stops(goes_on: FloatArray, ties: Ties, most: int) -> FloatArray:
    """Return the probability that the reader stops at each of the first places, over all orders: (b, most).

    She passes the groups before with the product of their `goes_on` (b, w), in every order.
    """
    whole = np.multiply.reduceat(goes_on.ravel(), ties.starts)
    flat = np.ones(goes_on.size)
    flat[ties.starts + ties.lengths - 1] = whole
    passed = np.cumprod(flat.reshape(ties.shape), axis=1)
    reaches = np.concatenate([np.ones_like(passed[:, :1]), passed[:, :-1]], axis=1)
    inside = (1.0 - goes_on).ravel()
    groups = np.flatnonzero((ties.lengths > 1) & (ties.starts % ties.shape[1] < most) & (whole < 1.0))
    groups = groups[np.argsort(-ties.lengths[groups], kind="stable")]
    bands = np.flatnonzero(np.diff(np.frexp(ties.lengths[groups])[1])) + 1  # so that no row is far too wide
    for own in np.split(groups, bands) if len(groups) else ():
        starts, lengths = ties.starts[own], ties.lengths[own]
        width = min(most, int(lengths[0]))
        stops = -np.diff(_goes_on_over_orders(goes_on.ravel(), starts, lengths, width), axis=1)
        place = np.arange(width) < lengths[:, None]
        inside[(starts[:, None] + np.arange(width))[place]] = stops[place]
    return np.asarray((reaches * inside.reshape(ties.shape))[:, :most])


def _goes_on_over_orders(q: FloatArray, starts: IntArray, lengths: IntArray, most: int) -> FloatArray:
    """Return the mean over subsets of i documents of a group of the product of their q: (groups, most + 1).

    s_i = e_i(q) / C(t, i) with the elementary symmetric polynomials e_i. Adding the m-th document makes
    s_i ← (1 − i/m)·s_i + (i/m)·q_m·s_{i−1}: sums of positive terms. Groups come longest first.
    """
    found, i = np.zeros((len(starts), most + 1)), np.arange(1, most + 1)
    found[:, 0] = 1.0
    for m in range(1, int(lengths[0]) + 1):
        live = int(np.searchsorted(-lengths, -m, side="right"))
        own, part = found[:live], np.minimum(i / m, 1.0)
        own[:, 1:] = (1.0 - part) * own[:, 1:] + part * q[starts[:live] + m - 1, None] * own[:, :-1]
    return found


_ALL = (
    Formula(
        "NDCG",
        _ndcg,
        "Σ_{i≤k} gain(y_i)·discount(i), divided by that of the best order",
        "jarvelin2002",
        takes="k",
        alias="nDCG",
        limited=True,
    ),
    Formula("MeanNDCG", _mean_ndcg, "the mean of NDCG@1 … NDCG@n", "qin2010"),
    Formula(
        "P",
        _precision,
        "relevant documents among the first k, divided by k",
        "qin2010",
        takes="k",
        limited=True,
    ),
    Formula(
        "MAP",
        _average_precision,
        "the mean of P@i over the ranks i of relevant documents",
        "qin2010",
        alias="AP",
    ),
    Formula("AvgNDCG", _up_to_limit(_ndcg), "the mean of NDCG@1 … NDCG@20", "he2009"),
    Formula("AvgPrec", _up_to_limit(_precision), "the mean of P@1 … P@20", "he2009"),
    Formula(
        "ERR",
        _reciprocal_rank_expected,
        "Σ_{i≤k} R_i Π_{j<i}(1 − R_j) / i with R = (2^min(y, 4) − 1)/16, the chance that the reader stops",
        "chapelle2009",
        takes="k",
        highest=15 / 16,
    ),
    Formula(
        "RBP",
        _rank_biased_precision,
        "(1 − p) Σ p^{i−1} over the ranks i of relevant documents",
        "moffat2008",
        takes="p",
    ),
    Formula("RR", _reciprocal_rank, "1/rank of the first relevant document", "voorhees1999"),
    Formula(
        "R",
        _recall,
        "relevant documents among the first k, divided by all relevant ones",
        "manning2008",
        takes="k",
    ),
    Formula(
        "Rprec",
        _r_precision,
        "precision of the first R documents, R the number of relevant ones",
        "manning2008",
    ),
    Formula(
        "Bpref",
        _bpref,
        "the mean over relevant documents of 1 − min(irrelevant ones above, B)/B, B = min(R, N) for R "
        "relevant and N irrelevant documents",
        "buckley2004",
    ),
    Formula(
        "PairAccuracy",
        _pair_accuracy,
        "pairs of documents of different grades in the right order, divided by all such pairs",
        "joachims2002",
    ),
    Formula(
        "MeanRank",
        _mean_rank,
        "the mean of the ranks of relevant documents",
        "joachims2017",
        highest=math.inf,
    ),
)

FORMULAS: Mapping[str, Formula] = {formula.name: formula for formula in _ALL}
"""The measures by the name of their columns."""
_NAMES = {name: formula for formula in _ALL for name in (formula.alias, formula.name) if name}
NAMES: Mapping[str, Formula] = _NAMES | {
    "MRR": FORMULAS["RR"],
    "Recall": FORMULAS["R"],
    "BPref": FORMULAS["Bpref"],
}
"""The measures by all their names: ours, and those of ir_measures."""
LONGEST = 500
"""Most characters of a name."""
_WRITTEN = re.compile(  # quantifiers with + give nothing back, so the time is linear in the length
    r"\s*+(\w++)\s*+(?:\(\s*+p\s*+=\s*+([0-9.e-]++)\s*+\)\s*+)?(?:@\s*+(\d++)\s*+)?"
)


def column_of(name: str) -> tuple[Formula, list[float]]:
    """Return the formula and the parameter of a column, by our name or that of ir_measures: "RBP(p=0.8)".

    Raises `SettingError` for an unknown one.

    Examples
    --------
    >>> formula, parameter = column_of("nDCG@10")
    >>> formula.name, parameter, formula.columns(parameter)
    ('NDCG', [10], ['NDCG@10'])
    """
    read = _WRITTEN.fullmatch(name) if isinstance(name, str) and len(name) <= LONGEST else None
    formula = None if read is None else NAMES.get(read[1])
    if (
        read is None
        or formula is None
        or formula.takes != "k" * bool(read[3]) + "p" * bool(read[2] or read[1] == "RBP")
    ):
        known = ", ".join(one.name + {"k": "@k", "p": "(p=0.8)"}.get(one.takes, "") for one in _ALL)
        shown = f"{name!r}"
        shown = shown if len(shown) <= LONGEST else f"{shown[:50]} …, {len(shown):,} characters,"
        raise SettingError(f"{shown} is not a metric; the metrics are {known}")
    if formula.takes == "p":
        p = PERSISTENCE if read[2] is None else float(read[2])
        if not 0.0 < p < 1.0:
            raise SettingError(f"p={p:g} of {formula.name} must be between 0 and 1, such as {PERSISTENCE}")
        return formula, [p]
    return formula, [int(read[3])] if read[3] else []


def canonical(name: str) -> str:
    """Return the name of a column by one of its names: "NDCG@10" for "nDCG@10"."""
    formula, parameters = column_of(name)
    return formula.columns(parameters)[0]


_NAME = re.compile(r"\s*+(\w++)\s*+(?:\((.*?=.*?)\)\s*+)?(?:@\s*+(\d++)\s*+)?(?:\(\s*+(\w++)\s*+\)\s*+)?")
_DCG = {"log2": "y", "exp-log2": "2^y - 1"}
"""Gains of ir_measures' `dcg=`; both have the discount 1/log2(rank + 1)."""
_FIELDS = {"gain": "gain", "gains": "gain", "discount": "discount", "rel": "relevant_from", "ties": "ties"}
"""Fields of a definition that the name of a metric can change."""


def read_name(name: str) -> tuple[Formula, list[float], dict[str, Any], str]:
    """Return formula, parameter, changed fields of the definition, and the definition named last, or "".

    Raises `SettingError` for a name that is none.

    Examples
    --------
    >>> formula, parameters, changed, by = read_name("nDCG(gains={1: 1, 2: 9})@5 (letor)")
    >>> formula.name, parameters, changed, by
    ('NDCG', [5], {'gain': (0, 1, 9)}, 'letor')
    """
    read = _NAME.fullmatch(name) if isinstance(name, str) and len(name) <= LONGEST else None
    if read is None:
        return (*column_of(name), {}, "")
    options = _read_options(name, read[2]) if read[2] else {}
    p = f"(p={options.pop('p')})" if "p" in options else ""
    return (*column_of(f"{read[1]}{p}{'@' * bool(read[3])}{read[3] or ''}"), options, read[4] or "")


def _read_options(name: str, text: str) -> dict[str, Any]:
    """Return p and the changed fields of the definition in the brackets of a metric's name."""
    try:
        call = ast.parse(f"f({text})", mode="eval").body
        given = {str(one.arg): ast.literal_eval(one.value) for one in cast(ast.Call, call).keywords}
        if not all(map(_may_be_given, given.values())):
            given = {"": None}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        given = {"": None}
    found: dict[str, Any] = {}
    for key, value in given.items():
        if key == "p":
            found["p"] = value
        elif key == "dcg" and isinstance(value, str) and value in _DCG:
            found |= {"gain": _DCG[value], "discount": "1/log2(rank + 1)"}
        elif key == "gains" and isinstance(value, dict) and {0, *value} == set(range(len({0, *value}))):
            found["gain"] = tuple(value.get(grade, 0) for grade in range(len({0, *value})))
        elif key in _FIELDS and not isinstance(value, dict) and (key != "rel" or isinstance(value, int)):
            found[_FIELDS[key]] = tuple(value) if isinstance(value, list) else value
        else:
            known = "p, rel, gain, gains, discount, dcg and ties"
            raise SettingError(
                f"{text!r} in {name!r} cannot be read: brackets may have {known}, as in gains={{1: 3}}"
            )
    return found


def _may_be_given(value: object) -> bool:
    """Return True for a text, a number whose sums are finite, or a flat sequence or mapping of these."""
    inner = [*value, *value.values()] if isinstance(value, dict) else value
    inner = inner if isinstance(inner, (list, tuple)) else [inner]
    return all(isinstance(one, str) or (isinstance(one, (int, float)) and abs(one) < 1e100) for one in inner)


def options_of(definition: Definition, base: Definition) -> list[str]:
    """Return what differs from another definition, as `read_name` reads it."""
    found = []
    for key, field in _FIELDS.items():
        value = getattr(definition, field)
        written = isinstance(value, {"gain": str, "gains": tuple}.get(key, object))
        if written and value != getattr(base, field):
            shown = dict(enumerate(value)) if key == "gains" else value
            found.append(f"{key}={shown!r}")
    return found


def spelled(formula: Formula, parameters: Sequence[float], changes: Sequence[str], by: str) -> str:
    """Return a metric's name as ir_measures has it: "nDCG(rel=2)@5 (letor)"."""
    given = [*(f"p={p:g}" for p in parameters if formula.takes == "p"), *changes]
    cut = "".join(f"@{k}" for k in parameters if formula.takes == "k")
    brackets = f"({', '.join(given)})" if given else ""
    return f"{formula.alias or formula.name}{brackets}{cut}{f' ({by})' * bool(by)}"


def direction(metric: str) -> int:
    """Return 1, or −1 for a metric of which less is better, such as "MeanRank"; 1 for an unknown one."""
    try:
        return 1 if read_name(metric)[0].more_is_better else -1
    except SettingError:
        return 1


def check(formula: Formula, parameters: Sequence[float], definition: Definition) -> None:
    """Raise `SettingError` if the definition lacks this measure."""
    if formula.takes == "k":
        for k in parameters:
            definition.check_rank(k, limited=formula.limited)
    missing = {"MeanNDCG": not definition.mean_ndcg} | dict.fromkeys(
        ("AvgNDCG", "AvgPrec"), not definition.averaged_to
    )
    if missing.get(formula.name):
        raise SettingError(f"the {definition.label} definition has no {formula.name}")


EVERYWHERE = ("ERR@10", "RBP(p=0.8)", "RR", "R@10", "Rprec", "Bpref", "PairAccuracy")
"""Columns of runs and menus beside a definition's own: with values from 0 to 1, the more the better."""
