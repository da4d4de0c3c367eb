"""What families of runs share: some of chen2017's grid each run by itself, and the same runs together."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.grid_studies import Grid
from rankviz import Fold, RunSpec, execute, execute_all
from rankviz.common.threads import ENVIRONMENT
from rankviz.datasets import find_datasets, open_fold
from rankviz.sweeps import Values

STEP, ROUNDS = 3, 3


def sampled(grid: Grid) -> list[RunSpec]:
    """The runs of the first fold at every third γ; all of them for a model without γ."""
    axes = {axis.setting: axis for axis in grid.design.axes}
    kept = axes["gamma"].ordered[::STEP] if isinstance(axes.get("gamma"), Values) else (None,)
    fold = grid.design.folds[0]
    return [spec for spec in grid.specs() if spec.fold == fold and spec.get("gamma") in kept]


def measured(grids: Sequence[Grid], root: Path) -> pd.DataFrame:
    """CPU seconds of each grid's sample, medians of rounds by turns; and what its whole grid comes to."""
    found, rows = find_datasets([root]), []
    for grid in grids:
        specs, fold = sampled(grid), open_fold(found[grid.dataset], grid.design.folds[0])
        with _one_thread():
            took = [(_together(specs, fold), _alone(specs, fold)) for _ in range(ROUNDS)]
        together, alone = (statistics.median(own) for own in zip(*took, strict=True))
        whole = len(grid.specs()) / len(specs)
        row = {"set": grid.dataset, "model": grid.label, "runs": len(specs), "together, s": together}
        row |= {"each alone, s": alone, "alone / together": alone / together}
        row["runs of the grid"] = len(grid.specs())
        row |= {"grid together, h": together * whole / 3600, "grid alone, h": alone * whole / 3600}
        rows.append(row)
        print(f"# {grid.title}: {alone:.1f} s alone, {together:.1f} s together", flush=True)
    return pd.DataFrame(rows)


@contextmanager
def _one_thread() -> Iterator[None]:
    with patch.dict(os.environ, {ENVIRONMENT: "1"}), threadpool_limits(limits=1):
        yield


def _together(specs: Sequence[RunSpec], fold: Fold) -> float:
    began = time.process_time()
    _finish(execute_all(specs, fold=fold))
    return time.process_time() - began


def _alone(specs: Sequence[RunSpec], fold: Fold) -> float:
    began = time.process_time()
    _finish(execute(spec, fold=fold) for spec in specs)
    return time.process_time() - began


def _finish(runs: Iterable[object]) -> None:
    for _ in runs:
        pass
