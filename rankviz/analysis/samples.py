"""What models learned from samples of the training part reach, beside those that learned from all of it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray
from rankviz.metrics.crossed import crossed_interval
from rankviz.metrics.significance import Comparison, Interval, largest, tied
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from rankviz.whatif.samples import n_queries

COLUMNS = [
    "share",
    "flipped",
    "queries",
    "draws",
    "mean",
    "low",
    "high",
    "difference",
    "difference_low",
    "difference_high",
    "distinguishable",
    "judged_by",
]


def model_of(spec: RunSpec) -> RunSpec:
    """The run that learns from all of the training part: what samples of one model have in common."""
    return spec.but(share=1.0, flipped=0.0, draw=0, digest="")


def sample_table(records: Iterable[RunRecord], part: str, metric: str) -> pd.DataFrame:
    """One row per share of one model's runs, by share and by what is flipped.

    Columns: share, flipped, queries (of the training part, learned from), draws, mean, low and high (95 %
    over draws and queries of `part`), difference to the model that learned from all with its interval,
    whether that is distinguishable from 0, and queries judged by. Differences are NaN without that model.
    """
    found = list(records)
    groups: dict[tuple[float, float], list[RunRecord]] = {}
    for record in sorted(found, key=lambda r: (r.spec.share, r.spec.flipped, r.spec.draw)):
        groups.setdefault((record.spec.share, record.spec.flipped), []).append(record)
    whole = next((values_of([r], part, metric) for r in found if not r.spec.sample.drawn), None)
    rows = []
    for (share, flipped), group in groups.items():
        values = values_of(group, part, metric)
        own = crossed_interval(values)
        lost = _compared(values, whole)
        taught = n_queries(len(group[0].metrics["train"]), share)
        rows.append(
            (
                *(share, flipped, taught, len(group), own.mean, own.low, own.high),
                *(lost.difference, lost.interval.low, lost.interval.high, lost.distinguishable),
                own.n_queries,
            )
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def values_of(records: Iterable[RunRecord], part: str, metric: str) -> FloatArray:
    """A metric by draw and query, (draws, Q)."""
    return np.stack([record.metrics[part][metric].to_numpy(np.float64) for record in records])


def _compared(values: FloatArray, whole: FloatArray | None) -> Comparison:
    """Values of each draw less those of the model that learned from all, query by query."""
    if whole is None:
        return Comparison(Interval(np.nan, np.nan, np.nan, 0.95, 0))
    differences = (values - whole).ravel()
    scale = largest(values, whole)
    return Comparison(crossed_interval(tied(differences, scale).reshape(values.shape)))
