"""The papers' designs for choosing settings, by name, each with its source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from rankviz.features import FEATURE_MAPS
from rankviz.features.registry import FEATURE_MAP
from rankviz.models.methods import USUAL
from rankviz.runs.axes import Values, powers
from rankviz.runs.designs import Design
from rankviz.runs.selection import Choice, select
from rankviz.runs.spec import RunSpec

CHAPELLE_C = {
    "OHSUMED": (0.01, 0.001, 0.0001, 0.6, 0.1),
    "TD2004": (0.05, 0.01, 4.0, 0.03, 0.9),
}
"""chapelle2010 Table 2: C of folds 1 to 5, from earlier model selection by others."""
FINER = (0.6, 0.8, 1.2, 1.4)
"""he2009 §4.2: the second stage, as multiples of the first stage's best C."""


@dataclass(frozen=True, eq=False)
class Preset:
    """A paper's way to choose its settings.

    Attributes
    ----------
    label : str
    source : str
        Paper and section.
    design : (base, folds=(), seeds=()) -> Design
        Makes the first design; it keeps the base's data, solver and settings that the paper omits.
    metric : str
        The validation metric of the choice.
    per_fold : bool
        True if each fold has its own choice.
    note : str
        Differences from the printed text, and unprinted details.
    later : (first design, table, metric) -> designs
        The designs of a second stage, if any.
    printed : mapping
        Data set -> the values that the paper chose, one per fold.
    """

    label: str
    source: str
    design: Callable[..., Design]
    metric: str
    per_fold: bool
    note: str
    later: Callable[[Design, pd.DataFrame, str], tuple[Design, ...]] = lambda *_: ()
    printed: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def choice(self) -> Choice:
        """The paper's choice among the cells: its metric, for all folds or for each."""
        return Choice(self.metric, per_fold=self.per_fold)

    def next_stage(
        self, design: Design, table: pd.DataFrame, metric: str | None = None
    ) -> tuple[Design, ...]:
        """Return the second stage from the results of the first: one per fold, with the first cells.

        Empty without a second stage. Raises `DataError` if a fold has no complete cell yet.
        """
        return self.later(design, table, self.metric if metric is None else metric)


def _chen(base: RunSpec, folds: Sequence[str] = (), seeds: Sequence[int] = ()) -> Design:
    own = base.get(FEATURE_MAP.name, FEATURE_MAP.default)
    chosen = own if FEATURE_MAPS[own].approximates else FEATURE_MAP.default
    m = 2000 if base.dataset == "MQ2007" else 500
    start = base.but(method=USUAL, feature_map=chosen, n_components=m, kernel="rbf", loss="squared_hinge")
    axes = (Values("gamma", powers(-12, 2)), Values("C", powers(-12, 6)))
    return Design(start.but(costs=None), axes, folds=tuple(folds), seeds=tuple(seeds))


def _chapelle(base: RunSpec, folds: Sequence[str] = (), seeds: Sequence[int] = ()) -> Design:
    printed = {C for fold in CHAPELLE_C.values() for C in fold}
    start = base.linear(1.0).but(loss="squared_hinge", costs=None)
    values = tuple(sorted({*printed, *powers(-5, 1, 10.0)}))
    return Design(start, (Values("C", values),), folds=tuple(folds), seeds=tuple(seeds))


def _he(base: RunSpec, folds: Sequence[str] = (), seeds: Sequence[int] = ()) -> Design:
    axes = (Values("C", powers(-5, -1, 10.0)),)
    return Design(base.linear(1.0), axes, folds=tuple(folds), seeds=tuple(seeds))


def _he_later(design: Design, table: pd.DataFrame, metric: str) -> tuple[Design, ...]:
    best = select(design, table, metric, per_fold=True).settings
    finer = {fold: [{"C": factor * cell["C"]} for factor in FINER] for fold, cell in best.items()}
    return tuple(replace(design, folds=(fold,)).extended(cells) for fold, cells in finer.items())


PRESETS = {
    "chen2017": Preset(
        "C and γ on a grid",
        "chen2017 §4.1",
        _chen,
        "MAP",
        per_fold=False,
        note="C = 2⁻¹² … 2⁶, γ = 2⁻¹² … 2², m = 500 (2000 on MQ2007). The paper does not say by which "
        "metric, nor whether for all folds or for each: here by MAP, for all.",
    ),
    "chapelle2010": Preset(
        "C for each fold",
        "chapelle2010 §5.1, Table 2",
        _chapelle,
        "NDCG@10",
        per_fold=True,
        note="Table 2 prints the C of each fold, which others had chosen, and not what they chose from: here "
        "from the printed values and powers of ten, 10⁻⁵ … 10.",
        printed=CHAPELLE_C,
    ),
    "he2009": Preset(
        "C in two stages",
        "he2009 §4.2",
        _he,
        "MAP",
        per_fold=True,
        note="C = 10⁻⁵ … 10⁻¹, then 0.6, 0.8, 1.2 and 1.4 times the best. The paper chose by AvgNDCG, the "
        "mean of NDCG@1 to 20, and names MAP as another way, which is taken here.",
        later=_he_later,
    ),
}
"""Presets by the names of the papers."""
