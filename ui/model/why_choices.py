"""Controls of the Why page, and their address: query, two documents, and model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.arrays import FloatArray
from rankviz.datasets import RankingData
from rankviz.models.storage import can_save
from rankviz.plots.style import shown_documents
from rankviz.runs.record import RunRecord
from rankviz.runs.run import model_of
from rankviz.runs.spec import RunSpec
from ui.controls import feature_names
from ui.controls.models import Option, menu, pinned_models, sidebar_models, supports
from ui.controls.widgets import Bound
from ui.model import why_words as words
from ui.model.why_words import CHOOSE_BY_NAME, LINK, button_help
from ui.shell.errors import end_page
from ui.shell.page import go_to, show_subject, switch_if_requested
from ui.shell.texts import describe, escaped
from ui.work.folds import normalised
from ui.work.jobs import run_or_wait

QUERY, ABOVE, BELOW, OF = "query", "above", "below", "of"
"""Keys of the choices, also their names in the address."""
CURRENT = "current"
_SHOWN = "why-shown"
"""Key of the pair shown last, in the session."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two documents of one query as a model ranks them.

    Attributes
    ----------
    record : RunRecord
    part : str
    data : RankingData
        Data of this part.
    query : int
    listed : DataFrame
        Its documents in the order of their ranks: document, grade, rank, score, row (in `data`).
    above, below : str
        A and B.
    """

    record: RunRecord
    part: str
    data: RankingData
    query: int
    listed: pd.DataFrame
    above: str
    below: str

    def of(self, name: str) -> pd.Series[Any]:
        """Return the row of a document in the list."""
        found: pd.Series[Any] = self.listed[self.listed["document"] == name].iloc[0]
        return found

    @cached_property
    def a(self) -> FloatArray:
        """Features of A."""
        return self.features(self.above)

    @cached_property
    def b(self) -> FloatArray:
        """Features of B."""
        return self.features(self.below)

    def features(self, name: str) -> FloatArray:
        """Return the features (d,) of a document of the list."""
        row: FloatArray = self.data.X[int(self.of(name)["row"])]
        return row

    @property
    def key(self) -> tuple[RunSpec, str, int, int]:
        """Key of its results in caches: model, part, and rows of both documents."""
        rows = (int(self.of(name)["row"]) for name in (self.above, self.below))
        return self.record.spec, self.part, *rows


def controls(
    spec: RunSpec, part: str, about: DeltaGenerator, training: DeltaGenerator
) -> tuple[Pair, list[str]]:
    """Draw the page's controls; return the two documents with their trained model, and feature names.

    `about` shows the subject, `training` the progress. The page ends here with a sentence without a pair, or
    if the model has no shares.
    """
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    of, queries = row.container(width=160), row.container(width=100)
    left, right = row.container(width=200), row.container(width=200)
    turn, label = row.container(width="content"), row.container(width="content")
    chosen = model(of, spec)
    show_subject(about, str(describe(chosen, part)))
    if not explainable(chosen):
        end_page()
    with training:
        (record,) = run_or_wait([chosen], title=f"Why, {chosen.dataset}")
    data = normalised(chosen).parts[part]
    called = feature_names.editor(label, chosen, data)
    at = query(queries, data)
    listed = ranked(record.scores[part], data, [int(q) for q in data.query_ids].index(at))
    above, below = documents(left, right, listed)
    turn.button(
        "Swap",
        icon=":material/swap_horiz:",
        on_click=choose,
        args=(below, above),
        help="Swap A and B.",
    )
    if above == below:
        one = words.ONE_DOCUMENT if len(listed) == 1 else ""
        st.info(f"{words.SAME}{one}")
        end_page()
    return Pair(record, part, data, at, listed, above, below), called


def explainable(spec: RunSpec) -> bool:
    """Return True if a model's scores can be computed for changed documents; else say why not."""
    if spec.offers.form or can_save(model_of(spec)):
        return True
    supports(spec, "form")
    st.caption(words.NEEDS)
    return False


def model(place: Any, spec: RunSpec) -> RunSpec:
    """Draw the menu of models; return the chosen one: the sidebar's, or another known to the app."""
    options = {CURRENT: Option("current model", lambda: spec)}
    options |= sidebar_models(st.session_state) | pinned_models(spec)
    return menu(place, "Model", options, CURRENT, OF, words.MODEL).spec()


def query(place: Any, data: RankingData) -> int:
    """Draw the menu of queries; return the chosen one."""
    queries = [int(q) for q in data.query_ids]
    return int(Bound(place).menu_of_data(QUERY, "Query", queries, help="Of the part shown."))


def ranked(of_all: FloatArray, data: RankingData, position: int) -> pd.DataFrame:
    """Return the documents of the query at a position, the highest score first; ties as in the file."""
    rows = np.arange(data.n_documents)[data.query_slice(position)]
    scores = of_all[rows]
    table = pd.DataFrame(
        {"document": shown_documents(data, position), "grade": data.y[rows], "score": scores, "row": rows}
    )
    table = table.iloc[np.argsort(-scores, kind="stable")].reset_index(drop=True)
    return table.assign(rank=np.arange(1, len(table) + 1))


def usual_pair(listed: pd.DataFrame) -> tuple[str, str]:
    """Return the first document, and the next one of a higher grade; else of a lower one; else the second."""
    first, rest = listed.iloc[0], listed.iloc[1:]
    for wanted in (rest["grade"] > first["grade"], rest["grade"] < first["grade"], rest["rank"] == 2):
        if wanted.any():
            return str(first["document"]), str(rest[wanted].iloc[0]["document"])
    return str(first["document"]), str(first["document"])


def documents(left: Any, right: Any, listed: pd.DataFrame) -> tuple[str, str]:
    """Draw menus of A and B; initially from the address, else the default pair."""
    _stay(listed)
    above, below = usual_pair(listed)
    labels = {
        row.document: f"{row.rank}. {row.document}, grade {row.grade}"
        for row in listed.itertuples(index=False)
    }
    hint = "Rank, name and grade."
    a = in_address(left, "A", labels, above, ABOVE, hint)
    st.session_state[_SHOWN] = pair = a, in_address(right, "B", labels, below, BELOW, hint)
    return pair


def _stay(listed: pd.DataFrame) -> None:
    """Keep the shown pair, and put it into the address, if another model ranks the same documents."""
    names, shown = set(listed["document"]), st.session_state.get(_SHOWN, ("", ""))
    chosen = [st.session_state.get(kept(key)) for key in (ABOVE, BELOW)]
    if names.issuperset(shown) and not names.intersection(chosen) and shown != usual_pair(listed):
        choose(*shown)


def in_address(place: Any, label: str, labels: dict[str, str], usual: str, key: str, hint: str) -> str:
    """Draw a menu of texts with labels; the address keeps the visitor's choice while it is offered."""
    state = st.session_state
    chosen = state.setdefault(kept(key), st.query_params.get(key))
    if chosen in labels:
        st.query_params[key] = chosen
    else:
        st.query_params.pop(key, None)
        chosen = usual
    state[key] = chosen
    found: str = place.selectbox(
        label, list(labels), format_func=labels.__getitem__, key=key, on_change=_keep, args=(key,), help=hint
    )
    return found


def kept(key: str) -> str:
    """Return the session key of a visitor's choice between pages."""
    return f"chosen-{key}"


def _keep(key: str) -> None:
    st.session_state[kept(key)] = st.session_state[key]


def choose(above: str, below: str) -> None:
    """Choose both documents (a callback)."""
    st.session_state[kept(ABOVE)], st.session_state[kept(BELOW)] = above, below


def offer(
    query: int,
    documents: Sequence[str],
    *,
    key: str,
    of: str = CURRENT,
    whose: str = "",
    marked: Sequence[str] = (),
) -> None:
    """Draw a button to the Why page for two documents, with menus to choose others.

    `documents` has those of a query in the order of ranks; the first two `marked` ones are the default. `of`
    is the Why page's menu value for the list's model; `whose` names the model if there are several.
    """
    switch_if_requested()
    if len(documents) < 2:
        return
    above, below = asked_about(documents, marked)
    ranks = [documents.index(name) + 1 for name in (above, below)]
    labels = {name: f"{rank}. {name}" for rank, name in enumerate(documents, 1)}
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.button(
        f"{escaped(whose)}: why {ranks[0]} above {ranks[1]}?"  # short: it must fit into half of the page
        if whose
        else LINK.format(above=ranks[0], below=ranks[1]),
        key=f"{key}-go",
        icon=":material/help_center:",
        type="primary" if len(marked) == 2 else "secondary",
        on_click=_go,
        args=(query, above, below, of),
        help=button_help(escaped(above), escaped(below)),
    )
    with row.popover("Others", help=CHOOSE_BY_NAME):
        named = f"{key}-{query}-{above}-{below}"  # menus start afresh with other documents
        a = _menu("A", documents, above, labels, f"{named}-above")
        b = _menu("B", documents, below, labels, f"{named}-below")
        st.button("Show why", key=f"{key}-others", on_click=_go, args=(query, a, b, of), disabled=a == b)


def asked_about(documents: Sequence[str], marked: Sequence[str]) -> tuple[str, str]:
    """Return the two marked ones, else one and the next above it, else the top two; in their order."""
    at = sorted(documents.index(name) for name in marked[:2])
    if len(at) == 2:
        return documents[at[0]], documents[at[1]]
    below = max(at[0], 1) if at else 1
    return documents[below - 1], documents[below]


def _menu(label: str, documents: Sequence[str], first: str, labels: dict[str, str], key: str) -> str:
    at = documents.index(first)
    return str(st.selectbox(label, documents, at, format_func=labels.__getitem__, key=key))


def _go(query: int, above: str, below: str, of: str) -> None:
    """Choose both documents and open the Why page (a callback)."""
    choose(above, below)
    st.session_state[kept(OF)] = of
    st.session_state[QUERY] = query
    go_to("why")
