"""Weights by hand: learned ones, the list after changes, and the way back."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import ArrayLike

from rankviz import RankSVM
from rankviz.common.arrays import FloatArray
from rankviz.datasets import RankingData
from rankviz.datasets.statistics import document_names
from rankviz.learning.loss_facts import AnyLoss
from rankviz.learning.losses import EVERY_LOSS, Hinge, Logistic, PiecewiseQuadratic
from rankviz.metrics.definitions import DISCOUNTS, GAINS, definition_of
from rankviz.plots.style import grade_colour
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from rankviz.whatif.path import newton_path
from ui.controls.feature_names import names_of
from ui.controls.widgets import Bound
from ui.learn import weights_words as words
from ui.shell.components import SCRIPTS, each, mount, number, pair, record, text, whole
from ui.shell.errors import end_page
from ui.shell.figures import ON_DARK, report_untrained, show_answer
from ui.shell.locks import locked
from ui.shell.page import ALONE, is_on
from ui.shell.texts import escaped

TOP = 10
"""The k of NDCG@k."""
MOST_CELLS, MOST_PAIRS = 600_000, 3_000_000
"""Most feature values sent, 4 bytes each; most pairs processed in every frame."""
KEY, WALK, MOVED = "weights-by-hand", "weights-walk", "weights"
"""Keys of the component, and of the steps back, in the session; key of moved weights, also in the address."""
HEARD = "weights-heard"
"""Session key of messages from the browser that no run has read."""
SHAPES = {"walk": record(w=each(number)), "moved": record(id=text, w=each(pair(whole, number)))}
"""Shapes of the browser's messages: the start of a walk; the model, and its moved weights by position."""
LONGEST = 1500
"""Most letters of moved weights in an address."""


def packed(
    train: RankingData, names: Sequence[str], learned: FloatArray, C: float, loss: AnyLoss
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
        "most": largest_weight(learned),
        "C": C,
        "loss": described(loss),
        **_of_ndcg(train),
    }


def largest_weight(learned: FloatArray) -> float:
    """Return the largest absolute weight to which a bar can be dragged."""
    return 1.5 * float(np.abs(learned).max(initial=0.0)) or 1.0


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


def described(loss: AnyLoss) -> dict[str, Any] | None:
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


def from_a_link(text: str, d: int, most: float) -> list[tuple[int, float]]:
    """Return the weights from a text of `in_a_link`; ValueError if it does not fit d bars up to `most`."""
    found = []
    for one in filter(None, text.split("__")):
        place, value = one.split("_")
        found.append((int(place), float(value)))
    if not all(0 <= place < d and number(value) and _reached(value, most) for place, value in found):
        raise ValueError(text)
    return found


def _reached(values: ArrayLike, most: float) -> bool:
    """Return True if bars reach these weights: Newton's method takes a minute from weights of a million."""
    return float(np.abs(values).max()) <= most * (1 + 1e-5)  # links have six digits


def not_supported(spec: RunSpec, train: RankingData) -> str:
    """Explain why the browser cannot score these documents; "" if it can."""
    if train.n_documents * train.n_features > MOST_CELLS:
        return words.TOO_LARGE.format(n=train.n_documents, d=train.n_features, most=MOST_CELLS)
    if described(EVERY_LOSS[spec.loss]) is None:
        return words.NO_SUCH_LOSS.format(loss=EVERY_LOSS[spec.loss].label)
    return ""


def answer(record: RunRecord, names: Sequence[str]) -> str:
    """Describe the quality of the learned weights on the training part, and the largest of them."""
    if record.n_pairs == 0:
        return words.NO_PAIRS
    largest = int(np.argmax(np.abs(record.weights)))
    mean = float(record.metrics["train"]["NDCG@10"].mean())
    return words.ANSWER.format(mean=mean, largest=escaped(names[largest]))


def table(record: RunRecord, train: RankingData, query: int) -> None:
    """Draw bars, list and numbers; the page ends here if only the first figure is wanted."""
    spec = record.spec
    report_untrained(record)
    if record.n_pairs > MOST_PAIRS:
        st.info(words.TOO_MANY_PAIRS.format(n=record.n_pairs))
        return
    names = names_of(spec, train)
    show_answer(answer(record, names))
    documents = packed(train, names, record.weights, float(spec.C), EVERY_LOSS[spec.loss])
    dark = st.context.theme.type == "dark"
    mount(
        SCRIPTS / "weights" / "weights.js",
        KEY,
        documents
        | of_query(train, query, dark=dark)
        | {"id": spec.hash, "words": _words(train, query), "alone": is_on(ALONE), "locked": locked()},
        {name: (shape, partial(_hear, name)) for name, shape in SHAPES.items()},
    )
    heard = st.session_state.pop(HEARD, {})
    _walk_back(heard.get("walk"), heard.get("moved"), record, train)
    if is_on(ALONE):
        end_page()


def _hear(name: str, message: dict[str, Any]) -> None:
    """Store the browser's message (a callback): the run that it starts may end before reading it."""
    st.session_state[HEARD] = st.session_state.get(HEARD, {}) | {name: message}


def _words(train: RankingData, query: int) -> dict[str, Any]:
    label = train.query_labels[query]
    return {
        "query": f"NDCG@10, query {label}",
        "figure": words.FIGURE.format(label=label),
        "heads": [words.RANKING.format(label=label), words.SCORES],
    }


def _walk_back(asked: Any, rested: Any, record: RunRecord, train: RankingData) -> None:
    """Return Newton's steps from the current weights, and the link's weights, without the documents.

    The last step leads to the learned weights, which are the optimum to the same tolerance.
    """
    spec, most = record.spec, largest_weight(record.weights)
    moved = _moved(rested, spec, train.n_features, most)
    found = st.session_state.setdefault(WALK, {"rev": 0, "path": []})
    if asked is not None and len(asked["w"]) == train.n_features and _reached(asked["w"], most):
        model = RankSVM("linear", C=float(spec.C), loss=spec.loss, tol=float(spec.tol))
        path = [*newton_path(model, train, asked["w"]).tolist(), record.weights.tolist()]
        found = {"rev": found["rev"] + 1, "path": path}
        st.session_state[WALK] = found
    mount(SCRIPTS / "weights" / "walk.js", f"{KEY}-walk", found | {"id": spec.hash, "start": moved})


def _moved(rested: Any, spec: RunSpec, d: int, most: float) -> list[tuple[int, float]]:
    """Return the moved weights by position: from the browser, else from the address.

    They belong to one model, and are dropped for another.
    """
    state = st.session_state
    if rested is not None and rested["id"] == spec.hash:
        state[MOVED] = spec.hash, in_a_link(rested["w"])
    of, text = state.setdefault(MOVED, (spec.hash, st.query_params.get(MOVED, "")))
    if of != spec.hash:
        state[MOVED] = of, text = spec.hash, ""
    try:
        found = from_a_link(text, d, most)
    except ValueError:
        st.warning(words.OTHER_WEIGHTS)
        state[MOVED] = of, text = spec.hash, ""
        found = []
    if not text or len(text) > LONGEST:
        st.query_params.pop(MOVED, None)
    elif st.query_params.get(MOVED) != text:
        st.query_params[MOVED] = text
    return found


def query_of(train: RankingData) -> int:
    """Return the position of the query with the shown list: by default one with several grades."""
    labels = list(map(str, train.query_labels))
    several = [k for k in range(len(labels)) if np.ptp(train.y[train.query_slice(k)]) > 0]
    chosen = Bound().menu_of_data(
        "wq",
        "Training query",
        {label: f"query {label}" for label in labels},
        several[0] if several else 0,
        label_visibility="collapsed",
        width=150,
        help=words.QUERY_HELP,
    )
    return labels.index(chosen)
