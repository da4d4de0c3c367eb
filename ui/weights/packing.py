"""Data for the browser to score documents itself: features, grades, the loss, gains and discounts."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.datasets import RankingData
from rankviz.datasets.statistics import document_names
from rankviz.learning.losses import Hinge, Logistic, Loss, PiecewiseQuadratic
from rankviz.metrics.definitions import DISCOUNTS, GAINS, definition_of
from rankviz.plots.style import grade_colour
from ui.shared.components import number
from ui.shared.look import ON_DARK

TOP = 10
"""The k of NDCG@k."""
MOST_CELLS, MOST_PAIRS = 600_000, 3_000_000
"""Most feature values sent, 4 bytes each; most pairs processed in every frame."""


def packed(
    train: RankingData, names: Sequence[str], learned: FloatArray, C: float, loss: Loss
) -> dict[str, Any]:
    """Return the training part for the browser, with named features; `described(loss)` must not be None."""
    return {
        "documents": train.n_documents,
        "features": train.n_features,
        "X": b64encode(train.X.T.astype("<f4").tobytes()).decode(),
        "grades": train.y.tolist(),
        "starts": train.ptr.tolist(),
        "names": list(names),
        "learned": learned.tolist(),
        "most": 1.5 * float(np.abs(learned).max(initial=0.0)) or 1.0,
        "C": C,
        "loss": described(loss),
        **_of_ndcg(train),
    }


def of_query(train: RankingData, query: int, *, dark: bool) -> dict[str, Any]:
    """Return the documents of the shown query, and the colours of grades."""
    colours = [grade_colour(grade) for grade in range(int(train.y.max()) + 1)]
    shown = [ON_DARK.get(one, one) if dark else one for one in colours]
    return {
        "query": query,
        "titles": document_names(train, query),
        "colours": shown,
        "light": [_is_light(one) for one in shown],
    }


def described(loss: Loss) -> dict[str, Any] | None:
    """Return a loss in the browser's form; None for other kinds."""
    if isinstance(loss, PiecewiseQuadratic):
        finite = [(z.high, None if math.isinf(z.width) else z.width, z.bend) for z in loss.zones]
        return {"zones": [dict(zip(("high", "width", "bend"), one, strict=True)) for one in finite]}
    for kind, name in ((Hinge, "hinge"), (Logistic, "logistic")):
        if isinstance(loss, kind):
            return {"kind": name}
    return None


def _of_ndcg(train: RankingData) -> dict[str, Any]:
    """Return gains by grade, discounts by rank, and the ideal of each query: 0 where NDCG is always 0."""
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


def in_a_link(moved: Sequence[Sequence[float]]) -> str:
    """Return weights by position, counted from 0, as a text: "3_0.25__7_-1.5"."""
    return "__".join(f"{int(place)}_{float(value):.6g}" for place, value in moved)


def from_a_link(text: str, d: int) -> list[tuple[int, float]]:
    """Return the weights from a text of `in_a_link`; ValueError if it does not fit d features."""
    found = []
    for one in filter(None, text.split("__")):
        place, value = one.split("_")
        found.append((int(place), float(value)))
    if not all(0 <= place < d and number(value) for place, value in found):
        raise ValueError(text)
    return found
