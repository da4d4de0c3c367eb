"""Newton iterations to play: a query's ranked list and the margins of all pairs over time."""

from __future__ import annotations

import numpy as np
import streamlit as st

from rankviz.common.arrays import FloatArray
from rankviz.common.numbers import percent
from rankviz.datasets import Fold, RankingData
from rankviz.learning.losses import LOSS
from rankviz.learning.solvers import SOLVER, SOLVERS
from rankviz.metrics import evaluate
from rankviz.metrics.definitions import COMPARED
from rankviz.models.methods import METHODS, USUAL
from rankviz.plots import margins as plot
from rankviz.runs.description import look_of
from rankviz.runs.run import Playback, play, playable
from rankviz.runs.spec import RunSpec
from ui.controls.widgets import Bound
from ui.shell.figures import Figures
from ui.shell.locks import unlocked
from ui.shell.texts import describe
from ui.study import convergence_words as words
from ui.study.convergence import from_zero
from ui.work.folds import fold_of
from ui.work.jobs import predicted

FIGURES = Figures(captions=words.CAPTIONS)

LONGEST, MOST_DOCUMENTS = 5.0, 200_000
"""Largest predicted seconds of a run that is repeated without asking; largest number of documents for
scores."""
TOP = 15


def playback(spec: RunSpec) -> None:
    """Draw the animation of the sidebar's run if it is short enough to repeat."""
    if not playable(spec):
        st.info(not_playable(spec))
        return
    fold = fold_of(spec)
    found = _repeated_run(from_zero(spec.but(digest=fold.digest)), fold)
    if found is None:
        return
    train = fold.train
    query = _query(train)
    rows = plot.playback_documents(found.scores, train, query)
    counts = plot.playback_bins(found.scores, train)
    ndcg = {k: _ndcg(found.scores[k], train, query) for k in plot.shown_iterations(len(found.scores))}
    top, trace = min(TOP, int(rows["rank"].max())), found.record.trace
    active = "active pairs" if spec.offers.pair_objective else "active documents"
    titles = {
        k: f"Iteration {k}: objective {trace['objective'].iloc[k]:.6g},<br>"
        f"{active} {percent(trace['active_share'].iloc[k], 1)}, NDCG@10 {value:.3f}"
        for k, value in ndcg.items()
    }
    FIGURES.show(
        "playback",
        plot.playback_figure(rows, counts, titles, look_of(spec), top),
        rows,
        words.settled(rows, ndcg, top),
        query=train.query_ids[query],
        about=describe(spec, "train"),
        documents=rows["document"].nunique(),
        top=top,
        pairs=found.record.n_pairs,
    )


def not_playable(spec: RunSpec) -> str:
    """Say that only Newton's iterations can be played, and which choices allow it."""
    loss = spec.option(LOSS.name)
    method = "" if SOLVER in spec.declared().values() else f"{METHODS[USUAL].label} as method, with "
    newton = [choice for choice in SOLVERS.values() if choice.newton]
    able = [choice.label for choice in newton if loss is None or not choice.lacks(loss)]
    if not able:
        return words.INFOS["no newton"].format(loss=loss.label)
    return words.INFOS["newton"].format(method=method, solvers=" or ".join(able))


@unlocked()
def _repeated_run(spec: RunSpec, fold: Fold) -> Playback | None:
    """Return the repeated run; None, with a message, if it is too large, or too long and not asked for."""
    cost = predicted(spec)
    key = f"play-{spec.hash}"
    if fold.train.n_documents > MOST_DOCUMENTS:
        st.info(words.INFOS["documents"].format(most=MOST_DOCUMENTS))
        return None
    if cost.seconds > LONGEST and not st.session_state.get(key):
        if not st.button("Train again and keep every iteration", key=f"{key}-go"):
            st.caption(words.CAPTIONS["again"].format(cost=cost))
            return None
        st.session_state[key] = True
    return _played(spec, fold)


@st.cache_resource(max_entries=8, show_spinner="Training again …")
def _played(spec: RunSpec, _fold: Fold) -> Playback:
    return play(spec, _fold)


def _query(train: RankingData) -> int:
    """Return the position of the query chosen for the animation: by default one with several grades."""
    ids = [int(q) for q in train.query_ids]
    several = [k for k in range(len(ids)) if np.ptp(train.y[train.query_slice(k)]) > 0]
    first = several[0] if several else 0
    chosen = Bound(helps=words.HELP).menu_of_data("pq", "Training query", ids, first, width=260)
    return ids.index(chosen)


def _ndcg(scores: FloatArray, train: RankingData, query: int) -> float:
    rows = train.query_slice(query)
    one = RankingData.from_arrays(train.X[rows, :1], train.y[rows], np.ones(rows.stop - rows.start, int))
    return float(evaluate(scores[rows], one, COMPARED, at=[10]).per_query["NDCG@10"].iloc[0])
