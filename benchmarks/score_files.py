"""Seconds and memory of reading a TREC run: 100,000 lines, and a million.

Run: python -m benchmarks score_files. The documents are synthetic; reading and matching are measured.
"""

from __future__ import annotations

import io

import numpy as np
import pandas as pd

from benchmarks.report import seconds, write
from rankviz.datasets import Fold, RankingData
from rankviz.datasets.archives import Upload, list_members
from rankviz.datasets.score_files import LIMITS, read_given
from rankviz.runs.given import write_trec

LINES, REPETITIONS = (100_000, 1_000_000), 5


def part_of(n: int) -> RankingData:
    """Make n documents in lists of 100."""
    rng = np.random.default_rng(0)
    return RankingData.from_arrays(
        np.zeros((n, 1)), rng.integers(0, 3, n), np.repeat(np.arange(n // 100), 100)
    )


def main() -> None:
    """Measure and save the table; sizes alternate."""
    runs = {}
    for n in LINES:
        part, text = part_of(n), io.BytesIO()
        write_trec(np.random.default_rng(1).normal(size=n), part, "mine", text)
        runs[n] = Fold(part, part, part), text.getvalue()

    def read(n: int) -> None:
        fold, text = runs[n]
        files = list_members([Upload("mine.run", io.BytesIO(text))], LIMITS)
        read_given(files, {"Fold1": lambda: fold}, fold="Fold1", part="test")

    found: dict[int, list[float]] = {n: [] for n in LINES}
    for _ in range(REPETITIONS):
        for n in LINES:
            found[n] += seconds(lambda n=n: read(n))  # type: ignore[misc]
    rows = [
        {"lines": n, "MB": len(runs[n][1]) / 1e6, "median s": float(np.median(own)), "most s": max(own)}
        for n, own in found.items()
    ]
    write("score_files", "Reading a TREC run", pd.DataFrame(rows), ["Median of five; the sizes alternate."])


if __name__ == "__main__":
    main()
