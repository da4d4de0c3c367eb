"""The app's figures of systems by their scores alone: `rankviz.figures`, for notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from numpy.typing import ArrayLike

from rankviz.analysis.contestants import Contestant, Run
from rankviz.analysis.systems import PART, Systems, compare, records_by_label
from rankviz.datasets.types import RankingData
from rankviz.plots import model_comparison


def figures(
    scores: Systems | ArrayLike,
    data: RankingData | ArrayLike | Mapping[str, RankingData],
    metrics: Sequence[str] = ("NDCG@10", "MAP"),
    *,
    baseline: str = "",
    qid: ArrayLike | None = None,
) -> dict[str, go.Figure]:
    """Return the app's figures for scores: `rankviz.figures(scores, data)["ndcg"]` draws NDCG@k.

    `scores` is an array of one system, or as in `compare`, like the other parameters. The figures are "ndcg"
    and "precision" by rank, on the first fold; "metrics" with intervals; and for two systems or more
    "differences" to the baseline.

    Examples
    --------
    >>> import numpy as np
    >>> from rankviz import figures, load_demo
    >>> part = load_demo(1).test
    >>> drawn = figures(np.random.default_rng(0).normal(size=part.n_documents), part)
    >>> list(drawn)
    ['ndcg', 'precision', 'metrics']
    """
    systems: Systems = scores if isinstance(scores, Mapping) else {"my system": scores}
    found = records_by_label(systems, data, qid)
    firsts = [records[0] for records in found.values()]
    drawn = {
        name: model_comparison.curve_figure(model_comparison.curve_data(firsts, PART, stem), stem)
        for name, stem in (("ndcg", "NDCG"), ("precision", "P"))
    }
    if len(found) == 1:
        one = Contestant(
            str(next(iter(systems))), tuple(Run.of(record, PART) for record in next(iter(found.values())))
        )
        return drawn | {
            "metrics": model_comparison.metrics_figure(model_comparison.single_data(one, metrics))
        }
    compared = compare(systems, data, metrics, baseline=baseline, qid=qid)
    drawn["metrics"] = model_comparison.metrics_figure(model_comparison.metrics_data(compared))
    drawn["differences"] = model_comparison.deltas_figure(model_comparison.deltas_data(compared))
    return drawn
