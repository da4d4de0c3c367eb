"""Weights by hand: learned ones, the list after changes, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from rankviz import RankSVM
from rankviz.datasets import RankingData
from rankviz.learning.losses import LOSSES
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from rankviz.whatif.plane import newton_path
from ui.controls.feature_names import names_of
from ui.controls.widgets import keep_held
from ui.shell.components import each, mount, number, pair, record, text, whole
from ui.shell.errors import end_page
from ui.shell.figures import report_untrained, sentence, show_answer
from ui.shell.page import ALONE, is_on
from ui.shell.texts import escaped
from ui.weights import words
from ui.weights.packing import (
    MOST_CELLS,
    MOST_PAIRS,
    described,
    from_a_link,
    in_a_link,
    of_query,
    packed,
)

KEY, WALK, MOVED = "weights-by-hand", "weights-walk", "weights"
"""Keys of the component, and of the steps back, in the session; key of moved weights, also in the address."""
HEARD = "weights-heard"
"""Session key of messages from the browser that no run has read."""
TOLD = {"walk": record(w=each(number)), "moved": record(id=text, w=each(pair(whole, number)))}
"""Shapes of the browser's messages: the start of a walk; the model, and its moved weights by position."""
LONGEST = 1500
"""Most letters of moved weights in an address."""
SCRIPTS = Path(__file__).parent


def why_not(spec: RunSpec, train: RankingData) -> str:
    """Explain why the browser cannot score these documents; "" if it can."""
    if train.n_documents * train.n_features > MOST_CELLS:
        return words.TOO_LARGE.format(n=train.n_documents, d=train.n_features, most=MOST_CELLS)
    if described(LOSSES[spec.loss]) is None:
        return words.NO_SUCH_LOSS.format(loss=LOSSES[spec.loss].label)
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
    show_answer(sentence(answer(record, names)))
    documents = packed(train, names, record.weights, float(spec.C), LOSSES[spec.loss])
    dark = st.context.theme.type == "dark"
    mount(
        SCRIPTS / "weights.js",
        KEY,
        documents | of_query(train, query, dark=dark) | {"id": spec.hash, "words": _words(train, query)},
        {name: (shape, partial(_hear, name)) for name, shape in TOLD.items()},
    )
    heard = st.session_state.pop(HEARD, {})
    _walk_back(heard.get("walk"), heard.get("moved"), record, train)
    if is_on(ALONE):
        end_page()


def _hear(name: str, told: dict[str, Any]) -> None:
    """Store the browser's message (a callback): the run that it starts may end before reading it."""
    st.session_state[HEARD] = st.session_state.get(HEARD, {}) | {name: told}


def _words(train: RankingData, query: int) -> dict[str, str]:
    label = train.query_labels[query]
    return {
        "query": f"NDCG@10, query {label}",
        "figure": words.FIGURE.format(label=label),
    }


def _walk_back(asked: Any, rested: Any, record: RunRecord, train: RankingData) -> None:
    """Return Newton's steps from the current weights, and the link's weights, without the documents.

    The last step leads to the learned weights, which are the optimum to the same tolerance.
    """
    spec = record.spec
    moved = _moved(rested, spec, train.n_features)
    found = st.session_state.setdefault(WALK, {"rev": 0, "path": []})
    if asked is not None and len(asked["w"]) == train.n_features:
        model = RankSVM("linear", C=float(spec.C), loss=spec.loss, tol=float(spec.tol))
        path = [*newton_path(model, train, asked["w"]).tolist(), record.weights.tolist()]
        found = {"rev": found["rev"] + 1, "path": path}
        st.session_state[WALK] = found
    mount(SCRIPTS / "walk.js", f"{KEY}-walk", found | {"id": spec.hash, "start": moved})


def _moved(rested: Any, spec: RunSpec, d: int) -> list[tuple[int, float]]:
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
        found = from_a_link(text, d)
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
    chosen = st.selectbox(
        "Query of the training part",
        labels,
        keep_held("wq", labels, several[0] if several else 0),
        key="wq",
        bind="query-params",
        format_func="query {}".format,
        label_visibility="collapsed",
        width=150,
        help=words.QUERY_HELP,
    )
    return labels.index(str(chosen))
