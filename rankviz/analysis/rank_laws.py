"""Ranks of dual variables against loss, C and solver: tables to tell law from artefact.

Every function takes `Duals`: of estimators, of stored runs, or made by `refits`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.base import clone

from rankviz.analysis.model_duals import duals
from rankviz.analysis.spectra import MATRICES, RANK_TOLERANCE, block_values, dimensions_for, numerical_rank
from rankviz.common.arrays import FloatArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Progress, Report, silent
from rankviz.datasets.types import RankingData
from rankviz.models.dual_variables import DualBlock, Duals
from rankviz.models.ranker import Ranker

TOLERANCES = (1e-3, 1e-6, 1e-9)
"""Shares of σ₁ up to which singular values count as zero, to be compared."""

INSIDE = 1e-6
"""Dual variables this far from 0 and from their ceiling, as a share of it, are between them."""


def refits(model: Ranker, data: RankingData, setting: str, values: Iterable[float]) -> Iterator[Duals]:
    """The dual variables of a model fitted anew for each value of one of its settings: "C", "tol", …"""
    for value in values:
        yield duals(clone(model).set_params(**{setting: value}).fit_data(data), data)


def ranks_of_queries(
    source: Duals, queries: Iterable[int], tolerances: Sequence[float] = TOLERANCES
) -> pd.DataFrame:
    """Ranks of the blocks of some queries, by their ids: xu2019 Table 6.

    One row per query and tolerance: query, documents, pairs, active, tolerance, rank_block and
    rank_symmetrised (singular values of A and of A + Aᵀ above tolerance·σ₁), largest_block and
    largest_symmetrised (the ranks if every α were arbitrary), gap. Raises ValueError for an unknown query.
    """
    rows = []
    for query in queries:
        block = source.block(_position(source, query))
        sizes = np.unique(block.y, return_counts=True)[1]
        values = {name: kind.values(block) for name, kind in MATRICES.items()}
        largest = {f"largest_{name}": kind.largest_rank(sizes) for name, kind in MATRICES.items()}
        for tolerance in tolerances:
            ranks = {f"rank_{name}": _rank(v, tolerance) for name, v in values.items()}
            rows.append(_counts(source, query, block) | {"tolerance": tolerance} | ranks | largest)
    return pd.DataFrame(rows)


def ranks_of_fits(
    fits: Iterable[Duals],
    queries: Iterable[int],
    matrix: str = "block",
    tolerance: float = RANK_TOLERANCE,
    report: Report = silent,
) -> pd.DataFrame:
    """How the rank of some queries' blocks changes from fit to fit: over C, over the solver's tolerance, …

    One row per fit and query: fit (from 0), C, gap (duality gap over objective), query, documents, pairs,
    active, active_share, rank, k_90, law (the bound on the rank under the squared hinge where every pair is
    active), largest_rank. Fits are taken one at a time, so they may come from a generator that trains them.
    """
    kind, queries, rows = MATRICES[matrix], list(queries), []
    for fit, source in enumerate(fits):
        report(Progress("spectra"))
        for query in queries:
            block = source.block(_position(source, query))
            values, sizes = kind.values(block), np.unique(block.y, return_counts=True)[1]
            found = {
                "active_share": block.n_active / max(block.n_pairs, 1),
                "rank": _rank(values, tolerance),
                "k_90": dimensions_for(values, 0.9) if _rank(values, 0.0) else 0,
                "law": kind.law(len(sizes)),
                "largest_rank": kind.largest_rank(sizes),
            }
            rows.append({"fit": fit, "C": source.C} | _counts(source, query, block) | found)
    return pd.DataFrame(rows)


def staircases(
    source: Duals, queries: Iterable[int] | None = None, tolerance: float = RANK_TOLERANCE
) -> pd.DataFrame:
    """How far blocks are the hinge's staircase: C·c_ij where the margin is below 1, 0 where it is above.

    One row per query, of all that have active pairs by default: query, documents, pairs, active, boundary
    (pairs with α strictly between 0 and its ceiling), stairs (distinct rows of the 0/1 staircase, which is α
    rounded, without rows of zeros), stair_rank (the staircase's rank: with two grades the number of stairs),
    rank and k_90 of the block itself, error ‖A − staircase‖_F/‖A‖_F, gap.
    Raises `SettingError` where an α is negative: a staircase has steps of 0 and 1 only.
    """
    chosen = source.train.query_ids.tolist() if queries is None else list(queries)
    rows = []
    for query in chosen:
        at = _position(source, query)
        block = source.block(at)
        if queries is not None or block.n_active:
            rows.append(_counts(source, query, block) | _staircase(block, source.ceiling(at), tolerance))
    return pd.DataFrame(rows)


def rounded(block: DualBlock, ceiling: FloatArray | float) -> FloatArray:
    """1 where α is more than half of its ceiling, else 0, (r, c): at the hinge's optimum, where t < 1."""
    return np.where(block.is_pair & (block.alpha > 0.5 * ceiling), 1.0, 0.0)


def _staircase(block: DualBlock, ceiling: FloatArray | float, tolerance: float) -> dict[str, float]:
    if (block.alpha < 0.0).any():
        raise SettingError(
            "some dual variables are negative, because the loss rises at some margins; choose a loss that "
            "only falls, such as loss='hinge'"
        )
    stairs, values = rounded(block, ceiling), block_values(block)
    between = (block.alpha > INSIDE * ceiling) & (block.alpha < (1.0 - INSIDE) * ceiling)
    size = float(np.linalg.norm(block.alpha))
    return {
        "boundary": int((between & block.is_pair).sum()),
        "stairs": len(np.unique(stairs[stairs.any(axis=1)], axis=0)),
        "stair_rank": _rank(block_values(replace(block, alpha=stairs)), tolerance),
        "rank": _rank(values, tolerance),
        "k_90": dimensions_for(values, 0.9) if size > 0 else 0,
        "error": float(np.linalg.norm(block.alpha - ceiling * stairs)) / size if size > 0 else 0.0,
    }


def _counts(source: Duals, query: int, block: DualBlock) -> dict[str, float]:
    counts = {"query": query, "documents": len(block.y), "pairs": block.n_pairs, "active": block.n_active}
    return counts | {"gap": source.gap}


def _rank(values: FloatArray, tolerance: float) -> int:
    """Numerical rank; 0 of a matrix of zeros."""
    return numerical_rank(values, tolerance) if values.any() else 0


def _position(source: Duals, query: int) -> int:
    """Where a query stands, by its id."""
    found = np.flatnonzero(source.train.query_ids == query)
    if len(found) == 0:
        raise ValueError(f"there is no query {query} in the training part")
    return int(found[0])
