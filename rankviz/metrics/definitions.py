"""Definitions of ranking metrics: gains, discounts, relevance, and rules for short or empty queries.

NDCG, MAP and P@k have several definitions under the same name. A `Definition` states one of them as data.
:func:`rankviz.metrics.evaluate` reads nothing else, so a new convention needs no new code: add an entry to
`DEFINITIONS`, or use `dataclasses.replace` on one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import SettingError

GAINS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "2^y - 1": lambda grades: np.exp2(grades) - 1.0,
    "2^y - 1 up to 2": lambda grades: np.where(grades <= 2.0, np.exp2(np.minimum(grades, 2.0)) - 1.0, 0.0),
    "y": lambda grades: grades,
}
"""Gain of a document of grade y, added to DCG; ≥ 0, and 0 for grade 0. Own ones: `Definition.gain`."""

DISCOUNTS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "1/log2(max(rank, 2))": lambda ranks: 1.0 / np.log2(np.maximum(ranks, 2.0)),
    "1/log2(rank + 1)": lambda ranks: 1.0 / np.log2(ranks + 1.0),
}
"""Factor of a gain at a rank (1, 2, …). The first gives ranks 1 and 2 the same weight. Own ones:
`Definition.discount`."""

SHORT_QUERIES: Mapping[str, Callable[[IntArray, IntArray], FloatArray]] = {
    "zero": lambda size, k: np.zeros(np.broadcast(size, k).shape),
    "filled": lambda size, k: size / k,
    "capped": lambda size, k: np.ones(np.broadcast(size, k).shape),
}
"""Factor of @k for a query with fewer than k documents: it multiplies the value at the last document.

"zero": the value is 0; "filled": as if irrelevant documents followed (P@k = hits/k); "capped": @k means @n_q.
"""


TIES: Mapping[str, str] = {
    "order": "in the order of the file",
    "mean": "at the mean over their orders",
    "worst": "in their worst order",
    "best": "in their best order",
}
"""How documents with equal scores count, in words."""


def _numbers(values: tuple[object, ...]) -> bool:
    return all(isinstance(one, int | float) and math.isfinite(one) for one in values)


def _check_gains(gains: tuple[float, ...]) -> None:
    if not (_numbers(gains) and len(gains) > 1 and gains[0] == 0 and (np.diff(gains) >= 0).all()):
        raise SettingError(f"gains {gains} must begin with 0 for grade 0 and never fall as grades rise")


def _check_discounts(factors: tuple[float, ...]) -> None:
    if not (_numbers(factors) and factors and factors[0] > 0 and (np.diff([*factors, 0.0]) <= 0).all()):
        raise SettingError(f"discounts {factors} must begin above 0, and never rise or fall below 0")


_OWN: Mapping[str, Callable[[tuple[float, ...]], None]] = {"gain": _check_gains, "discount": _check_discounts}
"""Checks of own values."""


@dataclass(frozen=True)
class Definition:
    """One way to compute NDCG@k, MeanNDCG, P@k and MAP.

    Attributes
    ----------
    name, label, description : str
        Key in `DEFINITIONS`, words for captions, and one or two sentences for a help text.
    gain : str or tuple of float
        Key in `GAINS`, or own gains of the grades 0, 1, 2, …: the first is 0, and they never fall.
    discount : str or tuple of float
        Key in `DISCOUNTS`, or own factors of the ranks 1, 2, …, 0 after the last: they never rise.
    relevant_from : int
        Lowest grade (≥ 1) that P@k and MAP count as relevant.
    relevant_to : int or None
        Highest grade that P@k and MAP count as relevant; None for no limit.
    known_to : int or None
        Highest grade in the tables of the script that gives the definition its name. The script gives higher
        grades gain 0 and counts them as irrelevant. None without such a script.
    largest_k : int or None
        Largest k for which @k is defined; None for no limit.
    short_ndcg, short_precision : str
        Keys in `SHORT_QUERIES`: NDCG@k and P@k of a query with fewer than k documents.
    leaves_out_empty : bool
        True: queries without a relevant document are left out of the means (NaN per query). False: they count
        as `empty_value`.
    empty_value : float
        NDCG of a query without gain, and MAP of one without a relevant document: 0/0 in the formulas.
    mean_ndcg : bool
        True if the definition has MeanNDCG, the mean of NDCG@1…@n_q.
    averaged_to : int or None
        K in he2009's AvgNDCG and AvgPrec, the means of NDCG@1…@K and P@1…@K; None without them.
    ties : str
        Key in `TIES`: how documents of one query with equal scores count. "order" keeps the order of the
        file, as the scripts do; "mean" is the exact mean over all their orders (mcsherry2008).
    """

    name: str
    label: str
    description: str
    gain: str | tuple[float, ...] = "2^y - 1"
    discount: str | tuple[float, ...] = "1/log2(max(rank, 2))"
    relevant_from: int = 1
    relevant_to: int | None = None
    known_to: int | None = None
    largest_k: int | None = 10
    short_ndcg: str = "zero"
    short_precision: str = "filled"
    leaves_out_empty: bool = False
    empty_value: float = 0.0
    mean_ndcg: bool = True
    averaged_to: int | None = None
    ties: str = "order"

    def __post_init__(self) -> None:
        """Raise ValueError for unknown names as soon as the definition is made."""
        for field, known in (
            ("gain", GAINS),
            ("discount", DISCOUNTS),
            ("short_ndcg", SHORT_QUERIES),
            ("short_precision", SHORT_QUERIES),
            ("ties", TIES),
        ):
            value = getattr(self, field)
            if isinstance(value, tuple) and field in _OWN:
                _OWN[field](value)
            elif value not in known:
                raise ValueError(
                    f"{field}={getattr(self, field)!r} is not one of {', '.join(map(repr, known))}."
                )
        if self.relevant_from < 1:
            raise ValueError(
                f"relevant_from={self.relevant_from}: grade 0 is never relevant; give at least 1."
            )
        if not 0 <= self.empty_value <= 1:
            raise ValueError(f"empty_value={self.empty_value}: NDCG and MAP are from 0 to 1.")

    def gains(self, grades: FloatArray) -> FloatArray:
        """Return the gains of grades; `SettingError` for a grade to which own gains give none."""
        if isinstance(self.gain, str):
            return GAINS[self.gain](grades)
        if (highest := int(grades.max(initial=0))) >= len(self.gain):
            raise SettingError(f"grade {highest} has no gain: give gains of the grades 1 to {highest}")
        return np.array(self.gain)[grades.astype(np.int64)]

    def discounts(self, n: int) -> FloatArray:
        """Return the factors of the ranks 1, 2, …, n."""
        if isinstance(self.discount, str):
            return DISCOUNTS[self.discount](np.arange(1.0, n + 1))
        return np.array([*self.discount[:n], *[0.0] * (n - len(self.discount))])

    def check_rank(self, k: object, *, limited: bool = True) -> None:
        """Raise `SettingError` for a k that is no whole number from 1, or beyond the `limited` k."""
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or not 1 <= k < 2**31:
            raise SettingError(f"@{k} is not a cut-off: k counts documents from the top, 1, 2, …")
        if limited and self.largest_k is not None and k > self.largest_k:
            raise SettingError(
                f"@{k} is beyond the {self.label} definition, whose largest k is {self.largest_k}"
            )

    def unknown(self, y: IntArray) -> int:
        """Return the number of documents whose grade is above the definition's script."""
        return 0 if self.known_to is None else int((y > self.known_to).sum())


_ALL = (
    Definition(
        "letor",
        "LETOR 4.0",
        "Eval-Score-4.0: gain 2^y − 1, discount 1 at ranks 1 and 2 and 1/log2(rank) after; NDCG@k is 0 for a "
        "query with fewer than k documents, P@k is hits/k; queries without a relevant document count as 0. "
        "The script's tables end at grade 2; here higher grades have gains by the same formula.",
        known_to=2,
    ),
    Definition(
        "letor_script",
        "LETOR 4.0 script",
        "Eval-Score-4.0 to the letter: as LETOR 4.0 where grades are 0, 1 and 2; higher ones, which are not "
        "in the script's tables, have gain 0 and count as irrelevant.",
        gain="2^y - 1 up to 2",
        relevant_to=2,
        known_to=2,
    ),
    Definition(
        "letor3",
        "LETOR 3.0",
        "Eval-Score-3.0: as LETOR 4.0, but k up to 16, P@k too is 0 for a query with fewer than k documents, "
        "and there is no MeanNDCG. The script's tables end at grade 2; here higher grades have gains by the "
        "same formula.",
        known_to=2,
        largest_k=16,
        short_precision="zero",
        mean_ndcg=False,
    ),
    Definition(
        "mslr",
        "MSLR",
        "Microsoft's script for MSLR-WEB10K and WEB30K: as LETOR 4.0, but P@k and MAP count only grades of 2 "
        "and more as relevant. The script's tables end at grade 4; here higher grades have gains by the same "
        "formula.",
        relevant_from=2,
        known_to=4,
    ),
    Definition(
        "textbook",
        "textbook",
        "Gain 2^y − 1, discount 1/log2(rank + 1); for a query with fewer than k documents @k means its whole "
        "list; queries without a relevant document are left out; equal scores count at the mean over their "
        "orders.",
        discount="1/log2(rank + 1)",
        largest_k=None,
        short_ndcg="capped",
        short_precision="capped",
        leaves_out_empty=True,
        ties="mean",
    ),
    Definition(
        "he2009",
        "He et al. 2009",
        "Gain y, discount 1 at ranks 1 and 2 and 1/log2(rank) after; P@k and MAP count only grades of 2 and "
        "more as relevant (the paper's rule for OHSUMED); AvgNDCG and AvgPrec are the means of @1…@20.",
        gain="y",
        relevant_from=2,
        largest_k=20,
        short_ndcg="capped",
        mean_ndcg=False,
        averaged_to=20,
    ),
    Definition(
        "trec_eval",
        "trec_eval",
        "trec_eval's ndcg_cut, P and map: gain y, discount 1/log2(rank + 1); for a query with fewer than k "
        "documents NDCG@k means its whole list, P@k is hits/k; queries without a relevant document count as "
        "0. Three rules of trec_eval concern its files and cannot be stated here: equal scores go by "
        "document id, the last one first; scores are rounded to single precision; the ideal order also has "
        "judged documents that the run lacks.",
        gain="y",
        discount="1/log2(rank + 1)",
        largest_k=None,
        short_ndcg="capped",
        mean_ndcg=False,
    ),
    Definition(
        "sklearn",
        "scikit-learn",
        "ndcg_score: as trec_eval, but equal scores count at the mean over their orders. scikit-learn has no "
        "P@k.",
        gain="y",
        discount="1/log2(rank + 1)",
        largest_k=None,
        short_ndcg="capped",
        ties="mean",
        mean_ndcg=False,
    ),
    Definition(
        "lightgbm",
        "LightGBM",
        "LightGBM's ndcg and map: gain 2^y − 1, discount 1/log2(rank + 1); for a query with fewer than k "
        "documents @k means its whole list; queries without a relevant document count as 1; equal scores "
        "stay in the order of the file. LightGBM has no P@k, and its map is cut at k.",
        discount="1/log2(rank + 1)",
        largest_k=None,
        short_ndcg="capped",
        short_precision="capped",
        empty_value=1.0,
        mean_ndcg=False,
    ),
    Definition(
        "xgboost",
        "XGBoost",
        "XGBoost's ndcg, map and pre: as LightGBM, of scores in single precision. With a minus after the "
        "name, ndcg@10-, queries without a relevant document count as 0. map and pre need grades 0 and 1.",
        discount="1/log2(rank + 1)",
        largest_k=None,
        short_ndcg="capped",
        short_precision="capped",
        empty_value=1.0,
        mean_ndcg=False,
    ),
)

COMPARED = replace(
    _ALL[0],
    name="rankviz",
    label="rankviz",
    description="The figures of runs and pages here: by LETOR 4.0, but equal scores count at the mean over "
    "their orders.",
    ties="mean",
)
"""The definition of runs and comparisons: LETOR's, but no model gains by the order of the file."""

DEFINITIONS: Mapping[str, Definition] = {definition.name: definition for definition in (*_ALL, COMPARED)}
"""The definitions by name: "letor" (the default), "letor_script", "letor3", "mslr", "textbook", "he2009".

Those of tools: "trec_eval", "sklearn", "lightgbm", "xgboost"; that of runs and pages: "rankviz".
"""


def definition_of(definition: str | Definition) -> Definition:
    """Return the definition with this name; return a `Definition` unchanged.

    Raises `ValueError`, which lists the known names, for a name not in `DEFINITIONS`.
    """
    if isinstance(definition, Definition):
        return definition
    if not isinstance(definition, str):
        raise ValueError(
            f"A {type(definition).__name__} is not a metric definition; pass query ids by name: "
            "evaluate(scores, y, qid=qid)."
        )
    if definition not in DEFINITIONS:
        raise ValueError(f"Unknown metric definition {definition!r}; there are {', '.join(DEFINITIONS)}.")
    return DEFINITIONS[definition]
