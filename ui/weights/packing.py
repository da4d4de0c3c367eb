"""What the browser is sent to weigh documents itself: features, grades, the loss, what a rank is worth."""

from __future__ import annotations

import math
from base64 import b64encode
from typing import Any

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.datasets import RankingData
from rankviz.datasets.statistics import document_names
from rankviz.metrics.definitions import DISCOUNTS, GAINS, definition_of
from rankviz.plots.style import grade_colour
from rankviz.risk.losses import Hinge, Logistic, Loss, PiecewiseQuadratic
from ui.shared.look import ON_DARK

TOP = 10
"""The k of NDCG@k."""
MOST_CELLS, MOST_PAIRS = 600_000, 3_000_000
"""Values of features that are sent, 4 bytes each; pairs that are gone through in every frame."""


def packed(train: RankingData, learned: FloatArray, C: float, loss: Loss) -> dict[str, Any]:
    """The training part for the browser; `describes(loss)` must hold."""
    return {
        "documents": train.n_documents,
        "features": train.n_features,
        "X": b64encode(train.X.T.astype("<f4").tobytes()).decode(),
        "grades": train.y.tolist(),
        "starts": train.ptr.tolist(),
        "names": names(train),
        "learned": learned.tolist(),
        "most": 1.5 * float(np.abs(learned).max(initial=0.0)) or 1.0,
        "C": C,
        "loss": described(loss),
        **_of_ndcg(train),
    }


def of_query(train: RankingData, query: int, *, dark: bool) -> dict[str, Any]:
    """The documents of the query whose list is shown, and the colours of grades."""
    colours = [grade_colour(grade) for grade in range(int(train.y.max()) + 1)]
    shown = [ON_DARK.get(one, one) if dark else one for one in colours]
    return {
        "query": query,
        "titles": document_names(train, query),
        "colours": shown,
        "light": [_is_light(one) for one in shown],
    }


def names(train: RankingData) -> list[str]:
    """What the features are called."""
    known = train.feature_names
    return list(known) if known else [f"feature {j + 1}" for j in range(train.n_features)]


def described(loss: Loss) -> dict[str, Any] | None:
    """A loss in what the browser computes it with, None where it is none of these kinds."""
    if isinstance(loss, PiecewiseQuadratic):
        finite = [(z.high, None if math.isinf(z.width) else z.width, z.bend) for z in loss.zones]
        return {"zones": [dict(zip(("high", "width", "bend"), one, strict=True)) for one in finite]}
    for kind, name in ((Hinge, "hinge"), (Logistic, "logistic")):
        if isinstance(loss, kind):
            return {"kind": name}
    return None


def _of_ndcg(train: RankingData) -> dict[str, Any]:
    """Gains by grade, discounts by rank, the ideal of each query: 0 where NDCG is 0 whatever the order."""
    letor = definition_of("letor")
    gains = GAINS[letor.gain](np.arange(int(train.y.max(initial=0)) + 1, dtype=float))
    discounts = DISCOUNTS[letor.discount](np.arange(1, TOP + 1, dtype=float))
    ideals = []
    for query in range(train.n_queries):
        best = np.sort(gains[train.y[train.query_slice(query)]])[::-1][:TOP]
        ideals.append(float(best @ discounts) if len(best) == TOP else 0.0)
    return {"gains": gains.tolist(), "discounts": discounts.tolist(), "ideals": ideals}


def _is_light(colour: str) -> bool:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue > 140
