"""The four rows of the Nyström and Fourier page: matrices, plane, curves of draws, rankings of one query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.analysis.kernel_error import Variant
from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted
from rankviz.common.settings import SEED
from rankviz.datasets import RankingData
from rankviz.datasets.parts import take_queries
from rankviz.features import EXACT, FEATURE_MAPS
from rankviz.features.registry import N_COMPONENTS, RANK
from rankviz.metrics import top_overlap
from rankviz.plots import kernel_error, metric_vs_m, nystroem_fourier, ranked_list
from rankviz.plots.style import style_of
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from ui.controls.curves import listed, report_left_out
from ui.controls.settings import spec_from_state
from ui.controls.sidebar import key_on_page, page_controls
from ui.controls.widgets import Bound, write_address
from ui.shell.figures import Figures, hold_ahead, report_untrained, show_answer
from ui.study import kernel_approximation_computations as computations
from ui.study import kernel_approximation_words as words
from ui.study.kernel_approximation import about, drawn
from ui.study.kernel_approximation_computations import QUERY_PART, Comparison
from ui.study.ndcg_vs_m import affordable
from ui.work.folds import normalised
from ui.work.jobs import run_or_submit
from ui.work.runs import recall

FIGURES = Figures(words.ALTS, words.CAPTIONS)
METRIC, TOP = "NDCG@10", 10
LISTED = 12
"""Documents of the ranked lists."""
OF = {"sample": "sample", "query": "query"}
EARLIER_KEY, MOST_EARLIER = "earlier", 5
"""Key of earlier seeds in the address, and the most of them that stay."""
_DRAWS_OF = "draws-of"
SLIDER = key_on_page(N_COMPONENTS)


@dataclass(frozen=True)
class View:
    """The comparison with the choices of the rows.

    Attributes
    ----------
    asked : Comparison
    of_query : bool
        True if K is that of the query, not of a sample.
    query : int
        Its position in the validation part.
    differences : bool
    earlier : tuple of int
        Seeds of earlier draws.
    """

    asked: Comparison
    of_query: bool
    query: int
    differences: bool
    earlier: tuple[int, ...]

    @property
    def m(self) -> int:
        """The sidebar's m."""
        return int(self.asked.spec.n_components)

    @property
    def names(self) -> list[str]:
        """The maps, Nyström first."""
        return [one.map for one in self.asked.shown]

    @cached_property
    def part(self) -> RankingData:
        """The validation part."""
        return normalised(self.asked.spec).parts[QUERY_PART]

    @property
    def query_id(self) -> int:
        """The query's number."""
        return int(self.part.query_ids[self.query])

    @property
    def place(self) -> int | None:
        """The position of the query whose K is shown; None for a sample."""
        return self.query if self.of_query else None

    @cached_property
    def errors(self) -> pd.DataFrame:
        """Errors of all draws at each m."""
        seeds = (*self.earlier, self.asked.seed)
        found = [
            computations.draw_errors(computations.whole_draw(self.asked, seed), self.place) for seed in seeds
        ]
        return pd.concat(found, ignore_index=True)

    @cached_property
    def at_m(self) -> dict[int, dict[str, float]]:
        """The errors at m by seed and map."""
        rows = self.errors[self.errors["m"] == self.m]
        found: dict[int, dict[str, float]] = {}
        for seed, name, error in zip(rows["seed"], rows["map"], rows["frobenius"], strict=True):
            found.setdefault(seed, {})[name] = error
        return found

    def at(self, m: int) -> View:
        """Return the same view at another m."""
        return replace(self, asked=replace(self.asked, spec=self.asked.spec.but(n_components=m)))


def draw(asked: Comparison) -> Callable[[], None]:
    """Draw the controls, the answer and the four rows; train the models that rows 3 and 4 need.

    Return what is to do after the rest of the page: it sends figures of other m ahead.
    """
    view = _controls(asked)
    runs, exact = _runs(view)
    places = [st.empty(), *(st.container() for _ in range(5))]
    head, first, second, third, training, fourth = places
    wanted = [*runs.values(), *exact]
    in_memory = {spec: record for spec in wanted if (record := recall(spec)) is not None}
    _answer(head, view, in_memory, runs, exact)
    with first:
        _matrices(view)
    with second:
        _plane(view)
    with training:
        parts = run_or_submit(wanted, title=f"Nyström and Fourier, {asked.spec.dataset}") if wanted else []
    found = {spec: record for spec, record in zip(wanted, parts, strict=True) if record is not None}
    if found.keys() != in_memory.keys():
        _answer(head, view, found, runs, exact)
    with third:
        _draws(view, list(found.values()))
    with fourth:
        _rankings(view, _scores(view, found, runs, exact))
    return partial(_hold_ahead, view, found, runs, exact)


def _controls(asked: Comparison) -> View:
    """Draw the controls beside m and γ; return the choices."""
    row = Bound(page_controls(), words.HELP)
    part = normalised(asked.spec).parts[QUERY_PART]
    of = row.buttons("of", "K of", OF)
    queries = [int(q) for q in part.query_ids]
    largest = int(np.diff(part.ptr).argmax())
    query = queries.index(row.menu_of_data("kq", "Query", queries, largest, width=110))
    differences = row.switch("maps", "K̃ − K")
    earlier = _earlier(asked)
    row.place.button(
        "New draw",
        key="new-draw",
        icon=":material/casino:",
        help=words.HELP["new"],
        on_click=_new_draw,
        args=(asked.seed, earlier),
    )
    return View(asked, of == "query", query, differences, earlier)


def _earlier(asked: Comparison) -> tuple[int, ...]:
    """Return the seeds of earlier draws; changes of settings other than m and the seed clear them."""
    state, of = st.session_state, asked.spec.but(seed=0, n_components=1)
    if EARLIER_KEY not in state:
        texts = st.query_params.get(EARLIER_KEY, "").split(".")
        found = (int(text) for text in texts if text.isdecimal() and len(text) <= 9)
        state[EARLIER_KEY] = tuple(dict.fromkeys(found))[-MOST_EARLIER:]
    elif state.get(_DRAWS_OF, of) != of:
        state[EARLIER_KEY] = ()
    state[_DRAWS_OF] = of
    write_address(EARLIER_KEY, ".".join(map(str, state[EARLIER_KEY])))
    return tuple(seed for seed in state[EARLIER_KEY] if seed != asked.seed)


def _new_draw(seed: int, earlier: Sequence[int]) -> None:
    """Take the next seed that has not been drawn (a callback)."""
    seen = (*earlier, seed)
    _set_earlier(seen[-MOST_EARLIER:])
    st.session_state[SEED.key] = max(seen) + 1


def _set_earlier(seeds: Sequence[int]) -> None:
    st.session_state[EARLIER_KEY] = tuple(seeds)


_CUT = """<style>@media (max-width: 760px) {{ .st-key-kernel-matrices {{
    margin-bottom: calc(0.95 * (100vw - 5.2rem) / {panels} - 250px);
}} }}</style>"""
"""Moves what follows up to the square matrices: on a phone they are less high than the figure."""


Runs = dict[tuple[str, int, int], RunSpec]
"""The specs of models by map, seed and m."""


def _runs(view: View) -> tuple[Runs, list[RunSpec]]:
    """Return the models of all draws at each m, and the exact one if it fits into memory."""
    state, asked, runs = st.session_state, view.asked, Runs()
    for variant in asked.shown:
        try:
            spec = _model(variant)
        except SettingError as error:
            report_left_out([str(error)])
            continue
        for seed in (*view.earlier, asked.seed):
            for m in computations.grid_of(view.m):
                runs[variant.map, seed, m] = spec.but(seed=seed, n_components=m)
    try:
        exact = affordable(spec_from_state(state, EXACT), [asked.spec.fold])
    except SettingError as error:
        report_left_out([str(error)])
        exact = []
    digest = asked.spec.digest
    return {key: spec.but(digest=digest) for key, spec in runs.items()}, [
        spec.but(digest=digest) for spec in exact
    ]


def _model(variant: Variant) -> RunSpec:
    """Return the sidebar's RankSVM with the same features as in row 1."""
    draws_by = FEATURE_MAPS[variant.map].draws_by
    own = {} if draws_by is None else {draws_by.name: variant.choice}
    spec = spec_from_state(st.session_state, variant.map, **own)
    return spec.but(**{RANK.name: None}) if spec.get(RANK.name) is not None else spec


Found = Mapping[RunSpec, RunRecord]


def _scores(view: View, found: Found, runs: Runs, exact: Sequence[RunSpec]) -> dict[str, RunRecord]:
    """Return the existing models at m, with the exact one, by their places in row 4."""
    own = {name: runs.get((name, view.asked.seed, view.m)) for name in view.names}
    own[EXACT] = next(iter(exact), None)
    return {
        name: found[spec]
        for name in nystroem_fourier.order_of(view.names)
        if (spec := own[name]) is not None and spec in found
    }


def _answer(place: DeltaGenerator, view: View, found: Found, runs: Runs, exact: Sequence[RunSpec]) -> None:
    """Write the page's sentence, with the rankings if all their models exist."""
    models, errors = _scores(view, found, runs, exact), view.at_m[view.asked.seed]
    kept, n = [], int(np.diff(view.part.ptr)[view.query])
    if len(models) == len(view.names) + 1:
        part, rows = take_queries(view.part, [view.query]), view.part.query_slice(view.query)
        own = {name: record.scores[QUERY_PART][rows] for name, record in models.items()}
        overlaps = [top_overlap(own[name], own[EXACT], part, TOP) for name in view.names]
        kept = [round(overlap.iloc[0] * min(TOP, n)) for overlap in overlaps]
    names = [style_of(name).name for name in view.names]
    told, top, query = [errors[name] for name in view.names], min(TOP, n), view.query_id
    text = words.answer(view.m, names, told, kept, top, query, of_query=view.of_query)
    with place.container():
        show_answer(text)


def _hold_ahead(view: View, found: Found, runs: Runs, exact: Sequence[RunSpec]) -> None:
    """Send the four rows at the nearest other m: they move with the slider, before the server answers."""
    asked, records = view.asked, list(found.values())

    def make(m: int) -> dict[str, go.Figure]:
        other = view.at(m)
        made = {
            "kernel-matrices": _matrices_made(other),
            "kernel-plane": _plane_made(other),
            "kernel-draws": _draws_made(other, records),
        }
        if _can_rank(models := _scores(other, found, runs, exact)):
            made["kernel-rankings"] = _rankings_made(other, models)[0]
        return {key: figure for key, (figure, _) in made.items()}

    if view.m <= computations.LARGEST_AT_ONCE:
        kept = asked.spec.but(n_components=1), asked.shown, view.of_query, view.query
        of = (*kept, view.differences, view.earlier, tuple(record.spec.hash for record in records))
        hold_ahead(SLIDER, of, computations.grid_of(view.m), make)


def _matrices(view: View) -> None:
    found = _found_matrices(view)
    of = words.QUERY if view.of_query else words.SAMPLE
    st.html(_CUT.format(panels=len(view.names) + 1))
    FIGURES.show(
        "kernel-matrices",
        *_matrices_made(view),
        is_steady=True,
        slider=SLIDER,
        drawn=drawn(view.asked),
        of=of.format(shown=len(found.K), n=found.n_documents, query=view.query_id),
        n=found.n_documents,
        m=view.m,
        maps=kernel_error.joined_names(view.asked.shown),
    )


def _found_matrices(view: View) -> computations.Matrices:
    return computations.matrices(computations.whole_draw(view.asked, view.asked.seed), view.place)


def _matrices_made(view: View) -> computations.Made:
    titles = {name: f"error {words.error_words(error)}" for name, error in view.at_m[view.asked.seed].items()}

    def make() -> computations.Made:
        found = _found_matrices(view)
        table = nystroem_fourier.matrices_data(found.K, found.approximate(view.m))
        return nystroem_fourier.matrices_figure(table, titles, differences=view.differences), table

    return computations.made_once("matrices", view.asked, (view.place, view.differences), make)


def _plane(view: View) -> None:
    FIGURES.show(
        "kernel-plane",
        *_plane_made(view),
        is_steady=True,
        slider=SLIDER,
        drawn=drawn(view.asked),
        maps=kernel_error.joined_names(view.asked.shown),
    )


def _plane_made(view: View) -> computations.Made:
    def make() -> computations.Made:
        table = computations.in_plane(view.asked)
        return nystroem_fourier.plane_figure(table), table

    return computations.made_once("plane", view.asked, (), make)


def _draws(view: View, records: list[RunRecord]) -> None:
    if records:
        report_untrained(records[0])
    FIGURES.show(
        "kernel-draws",
        *_draws_made(view, records),
        is_steady=True,
        slider=SLIDER,
        about=about(view.asked.spec),
        of="the documents of row 1" if view.of_query else "the compared training documents",
        m=view.m,
        maps=kernel_error.joined_names(view.asked.shown),
    )
    if view.earlier:
        parts = []
        for seed in view.earlier:
            errors = view.at_m[seed]
            parts.append(f"seed {seed}: {listed([words.error_words(errors[name]) for name in view.names])}")
        st.caption(words.EARLIER.format(m=view.m, told="; ".join(parts)))
        how = {"type": "tertiary", "on_click": _set_earlier, "args": ((),)}
        st.button("Clear earlier draws", key="clear-draws", **how)


def _draws_made(view: View, records: list[RunRecord]) -> computations.Made:
    def make() -> computations.Made:
        metrics = metric_vs_m.metric_data(records, QUERY_PART, (METRIC,))
        table, grid = nystroem_fourier.draws_data(view.errors, metrics), computations.grid_of(view.m)
        return nystroem_fourier.draws_figure(table, METRIC, view.m, view.asked.seed, grid), table

    of = (view.place, view.earlier, tuple(record.spec.hash for record in records))
    return computations.made_once("draws", view.asked, of, make)


def _can_rank(models: Mapping[str, RunRecord]) -> bool:
    """Return True if the exact model exists, and one more."""
    return EXACT in models and len(models) > 1


def _rankings(view: View, models: dict[str, RunRecord]) -> None:
    if not _can_rank(models):
        st.info(words.NO_EXACT if len(models) > 1 else words.NO_MODELS, icon=":material/hourglass_empty:")
        return
    made, told = _rankings_made(view, models)
    st.markdown(told)
    rows = view.part.query_slice(view.query)
    FIGURES.show(
        "kernel-rankings",
        *made,
        is_steady=True,
        slider=SLIDER,
        drawn=drawn(view.asked),
        query=view.query_id,
        k=min(LISTED, rows.stop - rows.start),
        maps=kernel_error.joined_names(view.asked.shown),
    )


def _rankings_made(view: View, models: dict[str, RunRecord]) -> tuple[computations.Made, str]:
    """Return the figure of ranked lists, and a sentence on the pairs that the maps order differently."""
    scores = {name: record.scores[QUERY_PART] for name, record in models.items()}
    labels = [(style_of(name).name, own) for name, own in scores.items()]
    rows = view.part.query_slice(view.query)
    own = {name: of_all[rows] for name, of_all in scores.items() if name != EXACT}
    pairs, n = nystroem_fourier.disagreements(own, scores[EXACT][rows], view.part.y[rows])
    told = words.NO_PAIRS.format(query=view.query_id)
    if n:
        counts = pairs["map"].value_counts()
        parts = [f"{counts.get(name, 0):,} with {style_of(name).name}" for name in own]
        told = words.PAIRS.format(
            query=view.query_id, pairs=counted(n, "preference pair"), told=listed(parts)
        )

    def make() -> computations.Made:
        table = ranked_list.rankings_data(labels, view.part, view.query)
        places = {name: place for place, name in enumerate(scores)}
        shown = min(LISTED, rows.stop - rows.start)
        return nystroem_fourier.rankings_figure(table, pairs, places, shown), table

    of = (view.query, tuple((name, record.spec.hash) for name, record in models.items()))
    return computations.made_once("rankings", view.asked, of, make), told
