"""Spectra of the blocks of dual variables: energy, numerical rank, and how low rank they are (xu2019 §4).

`spectra_of` goes from the dual variables of a model to a table with one row per query, and keeps the
singular values, so that other thresholds cost nothing; `spectra` does so for a stored run. The two matrices
that a block can be looked at as are named in `MATRICES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from rankviz.analysis.model_duals import RunDuals
from rankviz.common.arrays import FloatArray, IntArray
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
    """Singular values of A_l, falling, of its smaller rectangle: empty rows and columns add only zeros."""
    return np.asarray(np.linalg.svd(block.alpha, compute_uv=False), np.float64)


def symmetrised_values(block: DualBlock) -> FloatArray:
    """Singular values of A_l + A_lᵀ, falling: the absolute eigenvalues."""
    return np.asarray(np.sort(np.abs(np.linalg.eigvalsh(block.symmetrised())))[::-1], np.float64)


@dataclass(frozen=True)
class Matrix:
    """A matrix made of the dual variables of a query, and what is known of its rank beforehand.

    Attributes
    ----------
    label, meaning : str
        What it is called, and what it is.
    values : DualBlock -> (k,) float64
        Its singular values, falling.
    largest_rank : (g,) int64 -> int
        From the number of documents of each grade, the rank if every α_ij were arbitrary.
    law : int -> int
        From the number of grades, the bound on the rank where the squared hinge has every pair active.
    """

    label: str
    meaning: str
    values: Callable[[DualBlock], FloatArray]
    largest_rank: Callable[[IntArray], int]
    law: Callable[[int], int]


def _block_largest(sizes: IntArray) -> int:
    """n_q − max_g n_qg: by Dilworth's theorem, the largest matching of documents to worse ones."""
    return int(sizes.sum() - sizes.max())


def _symmetrised_largest(sizes: IntArray) -> int:
    """min(n_q, 2(n_q − max_g n_qg)): the same where pairs may be read both ways."""
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
"""The matrices by the names that `spectra(matrix=...)` and the app use."""


def energy(values: FloatArray) -> FloatArray:
    """PE(k) = Σ_{i≤k} σ_i² / Σ σ_i² for k = 1, 2, …, (k,) -> (k,), as a share (xu2019 §4)."""
    relative = values / values[0]
    total = np.cumsum(relative * relative)
    share: FloatArray = total / total[-1]
    return share


def dimensions_for(values: FloatArray, share: float) -> int:
    """k_l(t) = min{k : PE(k) ≥ t} for a share 0 < t < 1 (xu2019 §4); for all of it, see `numerical_rank`."""
    return int(np.searchsorted(energy(values), share - ROUNDING)) + 1


def numerical_rank(values: FloatArray, tolerance: float = RANK_TOLERANCE) -> int:
    """Number of singular values σ > tolerance·σ₁."""
    return int((values > tolerance * values[0]).sum())


def stable_rank(values: FloatArray) -> float:
    """‖A‖_F²/σ₁², at most the rank: how many singular values the energy would fill, were all the largest."""
    relative = values / values[0]
    return float(relative @ relative)


def nuclear_norm(values: FloatArray) -> float:
    """‖A‖_* = Σ σ_i (xu2019 §5.2)."""
    return float(values.sum())


@dataclass(frozen=True, eq=False)
class Spectra:
    """Singular values of the blocks of all queries that have any dual variable to speak of.

    Attributes
    ----------
    table : DataFrame
        One row per query: query (its id), documents n_q, grades, pairs, active (pairs with α ≠ 0), rank
        (numerical), k_90, Dim_90 = k_90/n_q, Dim_100 = rank/n_q, largest_rank (were α arbitrary), law (the
        bound on the rank if every pair is active), stable_rank and nuclear (its norm).
    values : list of (k,) float64
        Singular values of the same queries, falling.
    n_without_pairs, n_zero : int
        Queries left out: without a preference pair, and with α = 0 (no margin has a slope ℓ' ≠ 0; for
        hinges, every margin is at least 1).
    gap : float
        Duality gap over objective of the model they come from, NaN where it is not known.
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
        """k_l(t) of every query, for a share 0 < t < 1 of the energy; see `dimensions_for`."""
        return np.asarray((self.energies < share - ROUNDING).sum(axis=1) + 1, np.int64)

    def ranks(self, tolerance: float = RANK_TOLERANCE) -> IntArray:
        """Numerical rank of every query: singular values σ > tolerance·σ₁."""
        return np.asarray((self.relative > tolerance).sum(axis=1), np.int64)


def spectra(record: RunRecord, train: RankingData, matrix: str, report: Report = silent) -> Spectra:
    """Spectra of the dual variables of a run, from its scores of the training part; nothing is refitted."""
    return spectra_of(RunDuals(record, train), matrix, report)


def spectra_of(duals: Duals, matrix: str = "block", report: Report = silent) -> Spectra:
    """Spectra of dual variables, query by query, of the matrix that `MATRICES` has by that name."""
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
    """PE(k) of every query for k = 0 … k_max, (queries, k_max + 1); 1 beyond its last singular value."""
    curves = []
    for spectrum in values:
        known = energy(spectrum)[:k_max]
        curves.append(np.concatenate(([0.0], known, np.ones(k_max - len(known)))))
    return np.array(curves).reshape(len(curves), k_max + 1)
