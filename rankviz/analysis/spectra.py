"""Spectra of the blocks of dual variables: energy, numerical rank, and laws of the rank (xu2019 §4).

`spectra_of` makes a table with one row per query from the dual variables of a model, `spectra` from a stored
run. Both keep the singular values, so other thresholds cost nothing. `MATRICES` names the two matrices of a
block. The tables of ranks show whether loss, C or the solver's accuracy determines a rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from rankviz.analysis.model_duals import RunDuals
from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import SettingError
from rankviz.common.progress import Progress, Report, silent
from rankviz.common.settings import instance, one_of
from rankviz.datasets.types import RankingData
from rankviz.models.dual_variables import DualBlock, Duals
from rankviz.runs.record import RunRecord

RANK_TOLERANCE = 1e-6
"""Singular values up to this share of the largest are rounding and solver accuracy, and count as zero."""

ROUNDING = 1e-12  # of a share of energy: nine tenths in binary may come out just below 0.9

COLUMNS = ["query", "documents", "grades", "pairs", "active", "rank", "k_90", "Dim_90", "Dim_100"]
COLUMNS += ["largest_rank", "law", "stable_rank", "nuclear"]


def block_values(block: DualBlock) -> FloatArray:
    """Return the singular values of A_l, falling; rows and columns without pairs add zeros."""
    return np.asarray(np.linalg.svd(block.alpha, compute_uv=False), np.float64)


def symmetrised_values(block: DualBlock) -> FloatArray:
    """Return the singular values of A_l + A_lᵀ, falling: its absolute eigenvalues."""
    return np.asarray(np.sort(np.abs(np.linalg.eigvalsh(block.symmetrised())))[::-1], np.float64)


@dataclass(frozen=True)
class Matrix:
    """A matrix of the dual variables of a query, and bounds on its rank.

    Attributes
    ----------
    label, meaning : str
    values : DualBlock -> (k,) float64
        Its singular values, falling.
    largest_rank : (g,) int64 -> int
        Numbers of documents by grade -> the rank for arbitrary α_ij.
    law : int -> int
        Number of grades -> the bound on the rank if the squared hinge has every pair active.
    """

    label: str
    meaning: str
    values: Callable[[DualBlock], FloatArray]
    largest_rank: Callable[[IntArray], int]
    law: Callable[[int], int]


def _block_largest(sizes: IntArray) -> int:
    """Return n_q − max_g n_qg: by Dilworth's theorem, the largest matching of documents to worse ones."""
    return int(sizes.sum() - sizes.max())


def _symmetrised_largest(sizes: IntArray) -> int:
    """Return min(n_q, 2(n_q − max_g n_qg)): both directions of a pair count."""
    return min(int(sizes.sum()), 2 * _block_largest(sizes))


MATRICES = {
    "block": Matrix(
        "block",
        "A, with αᵢⱼ in row i and column j: rows are documents that are preferred to some other, columns "
        "those that some other is preferred to",
        block_values,
        _block_largest,
        lambda grades: 2 * (grades - 1),
    ),
    "symmetrised": Matrix(
        "symmetrised",
        "A + Aᵀ: rows and columns are all documents of the query, and each α stands in it twice, mirrored",
        symmetrised_values,
        _symmetrised_largest,
        lambda grades: 2 * grades - grades % 2,
    ),
}
"""Matrices by their names."""


def energy(values: FloatArray) -> FloatArray:
    """Return PE(k) = Σ_{i≤k} σ_i² / Σ σ_i² for k = 1, 2, …, (k,) -> (k,), as a share (xu2019 §4)."""
    relative = values / values[0]
    total = np.cumsum(relative * relative)
    share: FloatArray = total / total[-1]
    return share


def dimensions_for(values: FloatArray, share: float) -> int:
    """Return min{k : PE(k) ≥ t} for a share 0 < t < 1 (xu2019 §4); for t = 1 see `numerical_rank`."""
    return int(np.searchsorted(energy(values), share - ROUNDING)) + 1


def numerical_rank(values: FloatArray, tolerance: float = RANK_TOLERANCE) -> int:
    """Return the number of singular values σ > tolerance·σ₁."""
    return int((values > tolerance * values[0]).sum())


def stable_rank(values: FloatArray) -> float:
    """Return ‖A‖_F²/σ₁², at most the rank."""
    relative = values / values[0]
    return float(relative @ relative)


def nuclear_norm(values: FloatArray) -> float:
    """Return ‖A‖_* = Σ σ_i (xu2019 §5.2)."""
    return float(values.sum())


@dataclass(frozen=True, eq=False)
class Spectra:
    """Singular values of the blocks of all queries with a nonzero dual variable.

    Attributes
    ----------
    table : DataFrame
        One row per query: query (its id), documents n_q, grades, pairs, active (pairs with α ≠ 0), rank
        (numerical), k_90, Dim_90 = k_90/n_q, Dim_100 = rank/n_q, largest_rank (for arbitrary α), law (the
        bound on the rank if every pair is active), stable_rank and nuclear (its norm).
    values : list of (k,) float64
        Singular values of the same queries, falling.
    n_without_pairs, n_zero : int
        Queries left out: without a preference pair, and with α = 0 (no margin has a slope ℓ' ≠ 0; for
        hinges, every margin is at least 1).
    gap : float
        Duality gap over objective of their model, NaN if unknown.
    """

    table: pd.DataFrame
    values: list[FloatArray]
    n_without_pairs: int
    n_zero: int
    gap: float = math.nan

    @cached_property
    def energies(self) -> FloatArray:
        """PE(k) for k = 1, 2, … of every query, (queries, largest k), 1 beyond its last singular value."""
        return energy_curves(self.values, max((len(v) for v in self.values), default=1))[:, 1:]

    @cached_property
    def relative(self) -> FloatArray:
        """σ_k/σ₁ of every query, (queries, largest k), 0 beyond its last singular value."""
        out = np.zeros_like(self.energies)
        for row, values in zip(out, self.values, strict=True):
            row[: len(values)] = values / values[0]
        return out

    def dimensions(self, share: float) -> IntArray:
        """Return k_l(t) of every query, for a share 0 < t < 1 of the energy; see `dimensions_for`."""
        return np.asarray((self.energies < share - ROUNDING).sum(axis=1) + 1, np.int64)

    def ranks(self, tolerance: float = RANK_TOLERANCE) -> IntArray:
        """Return the numerical rank of every query: singular values σ > tolerance·σ₁."""
        return np.asarray((self.relative > tolerance).sum(axis=1), np.int64)


def spectra(record: RunRecord, train: RankingData, matrix: str, report: Report = silent) -> Spectra:
    """Return spectra of the dual variables of a run, from its training scores, without a refit."""
    return spectra_of(RunDuals(record, train), matrix, report)


def spectra_of(duals: Duals, matrix: str = "block", report: Report = silent) -> Spectra:
    """Return spectra of dual variables by query, of a matrix in `MATRICES`."""
    instance("duals", duals, Duals, "what rankviz.duals(model, data) gives")
    one_of("matrix", matrix, MATRICES)
    kind, train = MATRICES[matrix], duals.train
    rows, values, without_pairs, zero = [], [], 0, 0
    for query, block in enumerate(duals):
        report(Progress("spectra", query / train.n_queries))
        if block.n_pairs == 0:
            without_pairs += 1
        elif block.n_active == 0:
            zero += 1
        else:
            values.append(kind.values(block))
            rows.append((int(train.query_ids[query]), *_row(block, kind, values[-1])))
    return Spectra(pd.DataFrame(rows, columns=COLUMNS), values, without_pairs, zero, duals.gap)


def _row(block: DualBlock, kind: Matrix, values: FloatArray) -> tuple[float, ...]:
    n, sizes = len(block.y), np.unique(block.y, return_counts=True)[1]
    rank, k = numerical_rank(values), dimensions_for(values, 0.9)
    counts = (n, len(sizes), block.n_pairs, block.n_active, rank, k)
    known = (kind.largest_rank(sizes), kind.law(len(sizes)))
    return *counts, k / n, rank / n, *known, stable_rank(values), nuclear_norm(values)


def energy_curves(values: Iterable[FloatArray], k_max: int) -> FloatArray:
    """Return PE(k) of every query for k = 0 … k_max, (queries, k_max + 1); 1 beyond its last value."""
    curves = []
    for spectrum in values:
        known = energy(spectrum)[:k_max]
        curves.append(np.concatenate(([0.0], known, np.ones(k_max - len(known)))))
    return np.array(curves).reshape(len(curves), k_max + 1)


TOLERANCES = (1e-3, 1e-6, 1e-9)
"""Shares of σ₁ up to which singular values count as zero, to be compared."""

INSIDE = 1e-6
"""Dual variables this far from 0 and from their ceiling, as a share of it, are between them."""


def ranks_of_queries(
    source: Duals, queries: Iterable[int], tolerances: Sequence[float] = TOLERANCES
) -> pd.DataFrame:
    """Return ranks of the blocks of some queries, by their ids: xu2019 Table 6.

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


def ranks_of_fits(fits: Iterable[Duals], queries: Iterable[int], matrix: str = "block") -> pd.DataFrame:
    """Return ranks of some queries' blocks in several fits: over C, over the solver's tolerance, …

    One row per fit and query: fit (from 0), C, gap (duality gap over objective), query, documents, pairs,
    active, active_share, rank, k_90, law (the bound on the rank under the squared hinge where every pair is
    active), largest_rank. Fits are taken one at a time, so they may come from a generator that trains them.
    """
    kind, queries, rows = MATRICES[matrix], list(queries), []
    for fit, source in enumerate(fits):
        for query in queries:
            block = source.block(_position(source, query))
            values, sizes = kind.values(block), np.unique(block.y, return_counts=True)[1]
            found = {
                "active_share": block.n_active / max(block.n_pairs, 1),
                "rank": _rank(values, RANK_TOLERANCE),
                "k_90": dimensions_for(values, 0.9) if _rank(values, 0.0) else 0,
                "law": kind.law(len(sizes)),
                "largest_rank": kind.largest_rank(sizes),
            }
            rows.append({"fit": fit, "C": source.C} | _counts(source, query, block) | found)
    return pd.DataFrame(rows)


def staircases(
    source: Duals, queries: Iterable[int] | None = None, tolerance: float = RANK_TOLERANCE
) -> pd.DataFrame:
    """Compare blocks with the hinge's staircase: C·c_ij for margins below 1, 0 for margins above.

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
    """Return 1 where α exceeds half of its ceiling, else 0, (r, c): at the hinge's optimum, where t < 1."""
    return np.where(block.is_pair & (block.alpha > 0.5 * ceiling), 1.0, 0.0)


def _staircase(block: DualBlock, ceiling: FloatArray | float, tolerance: float) -> dict[str, float]:
    if (block.alpha < 0.0).any():
        raise SettingError(
            "some dual variables are negative, because the loss increases at some margins; choose a "
            "decreasing loss, such as loss='hinge'"
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
    """Return the numerical rank; 0 for a matrix of zeros."""
    return numerical_rank(values, tolerance) if values.any() else 0


def _position(source: Duals, query: int) -> int:
    """Return the position of a query by its id."""
    found = np.flatnonzero(source.train.query_ids == query)
    if len(found) == 0:
        raise ValueError(f"there is no query {query} in the training part")
    return int(found[0])


NOISE_SEED = 0
NOISE_LEVELS = tuple(10.0**power for power in range(-14, 0))


class NoisyDuals(Duals):
    """Dual variables with errors without structure: α_ij(1 + error·ξ_ij), ξ_ij standard normal.

    A solver of the dual problem that stops early leaves such errors. What is exactly 0 stays 0, and no error
    changes a sign: where 1 + error·ξ_ij is negative, α_ij becomes 0.
    """

    def __init__(self, duals: Duals, error: float) -> None:
        super().__init__(duals.train, duals.C, duals.gap)
        self.duals, self.error = duals, error

    def block(self, query: int) -> DualBlock:
        """Return the block of the query at position `query`; repeated calls return the same."""
        block = self.duals.block(query)
        noise = np.random.default_rng((NOISE_SEED, query)).standard_normal(block.alpha.shape)
        return replace(block, alpha=block.alpha * np.maximum(1.0 + self.error * noise, 0.0))


def dual_distance(duals: Duals, exact: Duals) -> float:
    """Return ‖α − α'‖/‖α'‖ of two models' dual variables on the same pairs; 0 if both are 0."""
    apart, size = 0.0, 0.0
    for one, other in zip(duals, exact, strict=True):
        apart += float(((one.alpha - other.alpha) ** 2).sum())
        size += float((other.alpha**2).sum())
    return float(np.sqrt(apart / size)) if size > 0 else 0.0


def median_ranks(duals: Duals, tolerances: Sequence[float], matrix: str = "block") -> list[int]:
    """Return the lower median of the queries' numerical ranks at each tolerance; 0 without queries."""
    found = spectra_of(duals, matrix)
    if not found.values:
        return [0] * len(tolerances)
    return [int(np.quantile(found.ranks(tol), 0.5, method="lower")) for tol in tolerances]


def ranks_with_errors(
    duals: Duals,
    tolerances: Sequence[float],
    matrix: str = "block",
    errors: Iterable[float] = NOISE_LEVELS,
) -> pd.DataFrame:
    """Return columns error, tolerance, rank: the median rank of dual variables with such relative errors."""
    rows = []
    for error in errors:
        ranks = median_ranks(NoisyDuals(duals, error), tolerances, matrix)
        rows += [(error, tol, rank) for tol, rank in zip(tolerances, ranks, strict=True)]
    return pd.DataFrame(rows, columns=["error", "tolerance", "rank"])
