"""Dual variables by a plain loop, and records and parts made up of scores and grades alone."""

import numpy as np
import pandas as pd
from naive_ranking import qid_of, slow_pairs

from rankviz.datasets import RankingData
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec

C = 2.0**-3


def slow_alpha(f: np.ndarray, y: np.ndarray, ptr: np.ndarray, C: float) -> np.ndarray:
    """α_ij = 2C·max(0, 1 − f_i + f_j) of all pairs as one (n, n) matrix."""
    A = np.zeros((len(y), len(y)))
    for i, j in slow_pairs(y, ptr):
        A[i, j] = 2 * C * max(0.0, 1 - f[i] + f[j])
    return A


def part_of(y: np.ndarray, ptr: np.ndarray) -> RankingData:
    return RankingData.from_arrays(np.zeros((len(y), 1)), y, qid_of(ptr))


def record_of(f: np.ndarray) -> RunRecord:
    """A record with these scores of the training part and nothing else of interest."""
    spec = RunSpec("none", feature_map="linear", C=C)
    empty = pd.DataFrame()
    return RunRecord(spec, "", 0.0, 1, 0, {}, {"train": f}, np.zeros(1), empty, {}, 0, {})
