"""The sidebar, made from the settings, and their initial values for the chosen data set, with undo.

`ui.controls.settings` reads its widgets. A widget's initial value depends on the data set only, not on its
fold, so an address without other values always shows the same. A new data set changes only settings for which
it has its own values. See docs/decisions/0024-the-address-is-the-state.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.errors import DataError
from rankviz.common.settings import SEED, Setting
from rankviz.datasets import NORMALISATIONS, Dataset
from rankviz.datasets.folds import BUNDLED
from rankviz.features import FEATURE_MAPS
from rankviz.features.kernels import GAMMA
from rankviz.features.registry import FEATURE_MAP, FREQUENCY_CHOICE, LANDMARK_CHOICE, N_COMPONENTS, RANK
from rankviz.learning.losses import EVERY_LOSS, LOSS, LOSS_WEIGHT
from rankviz.learning.pairs import COSTS
from rankviz.learning.solvers import SOLVER, SOLVERS, TOL, suitable_solver
from rankviz.models.methods import METHODS
from rankviz.runs.description import fold_title
from rankviz.runs.spec import RunSpec
from rankviz.runs.starting_points import NO_START, StartingPoint, starting_point
from ui.controls.compared import send_button
from ui.controls.link import frozen_link
from ui.controls.sequence import LECTURE, add_view, own
from ui.controls.setting_controls import STARTS, control_of, initial_value, value_from, widget_values
from ui.controls.settings import (
    BASELINE_C,
    FIRST_FOLD,
    METHOD,
    NORMALISATION,
    OF_DATA,
    PRESETS,
    SET_FOR,
    is_read,
    preset,
)
from ui.controls.widgets import Bound, copy_value, mirrored
from ui.shell import words
from ui.shell.locks import unlocked
from ui.shell.page import KEPT_ALONE, TITLE
from ui.shell.visitors import keep_visitor
from ui.work.folds import fold_of

MOST_BYTES = 32e6
"""Largest size in bytes of a first fold that is read for initial values."""


_FOLD = f'<details class="fold"><summary>{words.NOT_USED_SETTINGS}</summary></details>'
_OWN, _LINK = "sidebar-own", "sidebar-link"
_HEAD, _ROW = "head-of-page", "controls-of-page"
ON_PAGE_WIDTH = 170
"""Width in pixels of a setting on the page."""
_CHANGED, _SOURCE = "changed-by-data", "source-of-starts"
_SWITCHED = "solver-switched"
"""Session key of the solvers before and after a switch for a loss."""
IN_VIEW = (METHOD, FEATURE_MAP, N_COMPONENTS, LOSS_WEIGHT, GAMMA, LOSS)
NEXT_TO_M = (LOSS_WEIGHT, GAMMA)
BELOW = (COSTS, SOLVER, NORMALISATION, SEED, BASELINE_C, TOL, RANK, LANDMARK_CHOICE, FREQUENCY_CHOICE)
"""Settings with a fixed place: visible, or below "More settings". All others follow the choice that needs
them: a method's below the methods, a kernel's below the kernels. C and γ come before these, to be visible on
a small screen."""
FOLLOWS = {FEATURE_MAP: (), N_COMPONENTS: (FEATURE_MAP,)}
"""Settings whose dependent settings follow another one: those of feature maps follow m."""

HINTS: dict[Setting, Callable[[], Iterable[str]]] = {
    METHOD: lambda: (f"{one.label}: minimises {one.minimises}." for one in METHODS.values() if one.minimises),
    LOSS: lambda: (f"{loss.label}: {loss.formula}." for loss in EVERY_LOSS.values()),
    NORMALISATION: lambda: (f"{one.label}: {one.description}" for one in NORMALISATIONS.values()),
}
"""Additions to help texts about the available options."""


def sidebar(
    datasets: dict[str, Dataset],
    unread: Callable[[Setting], str] = lambda _: "",
    no_fold: Callable[[], str] = lambda: "",
    *,
    folded: bool = False,
    on_page: Collection[Setting] = (),
) -> None:
    """Draw the shared sidebar; `spec_from_state` reads its experiment.

    `unread` explains why the current page does not read a setting, "" if it does; `no_fold` does so for the
    fold. On a page that reads none, a style sheet hides them until they are unfolded (`folded`). Settings
    `on_page` are drawn below the page's head instead (`head_place`, `page_controls`).
    """
    drawn: set[Setting] = set()
    with st.sidebar:
        st.session_state[_OWN] = st.container()
        fold = st.empty()
    if folded:
        fold.html(_FOLD)
    with st.sidebar, st.container(key="settings"):  # at one place: the browser forgets what moves
        _data_settings(datasets, no_fold())
        place = st.container()  # C and γ are drawn after the kernel, which decides whether γ is read
        for setting in in_order(IN_VIEW, drawn):
            with place if setting in NEXT_TO_M else nullcontext():
                _control(setting, unread(setting), is_hidden=setting in on_page)
            if setting is N_COMPONENTS:
                place = st.container()
        _say_solver()
        with st.expander("More settings", expanded=_costs_are_wrong()):
            for setting in in_order(BELOW, drawn):
                _control(setting, unread(setting))
    with st.sidebar:
        _presets_and_link()
    if on_page:
        _draw_on_page(on_page, unread)


def _draw_on_page(settings: Collection[Setting], unread: Callable[[Setting], str]) -> None:
    """Draw settings of the sidebar in the page's row of controls, and hide those in the sidebar.

    A control on the page writes into that of the sidebar, which keeps the address: the browser would remove a
    parameter whose widget moves between sidebar and page.
    """
    st.session_state[_HEAD] = st.container(key="head-on-page")
    # with this prefix the row stays where only a page's figure is shown
    row = st.container(
        horizontal=True, vertical_alignment="bottom", gap="medium", key=f"{KEPT_ALONE}-on-page"
    )
    st.session_state[_ROW] = row
    hidden = ", ".join(f"[data-testid='stSidebar'] .st-key-{setting.key}" for setting in settings)
    st.html(f"<style>{hidden} {{ display: none; }}</style>")
    for setting in settings:
        with row.container(width=ON_PAGE_WIDTH):
            _control(setting, unread(setting), key_on_page(setting))


def key_on_page(setting: Setting) -> str:
    """Return the key of the second control of a setting, on the page."""
    return f"{setting.key}-on-page"


def own_place() -> DeltaGenerator:
    """Return the place above the shared settings, for a page's own controls."""
    place: DeltaGenerator = st.session_state[_OWN]
    return place


def head_place() -> DeltaGenerator:
    """Return the place of the head on a page with settings of the sidebar; here without the router."""
    return st.session_state.get(_HEAD) or st.container()


def page_controls() -> DeltaGenerator:
    """Return the row of these settings, for the page's own controls; here without the router."""
    return st.session_state.get(_ROW) or st.container(horizontal=True)


def in_order(settings: Iterable[Setting], drawn: set[Setting]) -> Iterator[Setting]:
    """Yield settings, each followed by dependent ones without a fixed place; skip those already drawn.

    A widget's value is read after it is drawn, because the first run takes it from the URL only then.
    """
    for setting in settings:
        if setting in drawn or not setting.key:
            continue
        drawn.add(setting)
        yield setting
        for other in FOLLOWS.get(setting, (setting,)):
            yield from in_order([one for one in _dependent(other) if one not in (*IN_VIEW, *BELOW)], drawn)


def _dependent(setting: Setting) -> list[Setting]:
    """Return the dependent settings of a choice; for feature maps those of all: pages compare them."""
    if not setting.options:
        return []
    chosen = setting.options if setting is FEATURE_MAP else (value_from(setting, st.session_state),)
    return [one for name in chosen for one in setting.settings_of(name)]


def _control(setting: Setting, why: str, on_page: str = "", *, is_hidden: bool = False) -> None:
    """Draw the control of a setting, greyed out if page or model do not read it, with the reason.

    `on_page` is the key of a second control of it, on the page; the hidden one then follows that.
    """
    if not why and not is_read(setting, st.session_state):
        why = words.NOT_USED_BY.format(model=_model())
    parts = HINTS[setting]() if setting in HINTS else ()
    hint = " ".join(filter(None, (setting.help, *parts, source_of_start(setting), why)))
    if not on_page:
        more: dict[str, Any] = {"on_change": _solver_for_loss} if setting is LOSS else {}
        if is_hidden:  # nobody moves it, but browsers send old values of it after quick moves of the other
            more = {"on_change": copy_value, "args": (key_on_page(setting), setting.key)}
        control_of(setting).draw(bool(why), hint, **more)
        return
    how = {"disabled": bool(why), "help": hint} | mirrored(setting.key, on_page)
    control_of(setting).widget(on_page, setting.label, st.session_state[setting.key], how)


def _solver_for_loss() -> None:
    """Switch to a solver that trains the chosen loss, and back after another choice (also a callback)."""
    state, loss = st.session_state, EVERY_LOSS[value_from(LOSS, st.session_state)]
    solver, (before, switched) = value_from(SOLVER, state), state.pop(_SWITCHED, ("", ""))
    wanted = before if switched == solver else solver
    able = suitable_solver(loss) if SOLVERS[wanted].lacks(loss) else wanted
    if able != wanted:
        state[_SWITCHED] = wanted, able
    if able != solver:
        state.update(widget_values(SOLVER, able))


def _say_solver() -> None:
    """Name the solver that replaced another one, while it stays; for a link without a solver, replace it."""
    state = st.session_state
    if SOLVER.key not in state and SOLVER.key not in st.query_params:
        _solver_for_loss()
    before, now = state.get(_SWITCHED, ("", ""))
    if now and value_from(SOLVER, state) == now:
        labels = {"solver": SOLVERS[now].label, "before": SOLVERS[before].label}
        loss = EVERY_LOSS[value_from(LOSS, state)].label
        st.caption(words.SWITCHED.format(**labels, loss=loss))


def _costs_are_wrong() -> bool:
    """Return True if the costs of pairs are invalid, to be corrected below "More settings"."""
    try:
        value_from(COSTS, st.session_state)
    except DataError:
        return True
    return False


def _model() -> str:
    """Name the current model within a sentence."""
    method, name = (value_from(setting, st.session_state) for setting in (METHOD, FEATURE_MAP))
    kind = METHODS[method]
    return FEATURE_MAPS[name].in_a_sentence if kind.named_by_map else kind.label


def _data_settings(datasets: dict[str, Dataset], no_fold: str) -> None:
    if not datasets:
        raise DataError(
            "no data set below the data folders",
            expected="folders such as NAME/Fold1/train.txt",
            remedy="Start with `make app DATA=folder`.",
        )
    first, second = map(Bound, st.columns([25, 16], gap="xsmall"))
    chosen = first.menu("data", "Data set", list(datasets), help=words.DATA_SET)
    start_from(datasets[chosen])
    folds = {name: fold_title(name) for name in datasets[chosen].folds}
    how = {"disabled": bool(no_fold) and len(folds) > 1, "help": f"{words.FOLD} {no_fold}"}
    second.named(second.menu, "fold", "Fold", folds, FIRST_FOLD, **how)
    show_undo()


def _presets_and_link() -> None:
    box = st.expander("Share and presets", key="share-and-presets", on_change="rerun")
    with box:
        for name in PRESETS:
            st.button(name, on_click=_apply, args=(name,), width="stretch")
    st.session_state[_LINK] = box if box.open else None


def show_link() -> None:
    """Fill the open place of the link after the page is drawn, when the address is complete.

    The browser loads a script of 1.6 MB with it.
    """
    place: DeltaGenerator | None = st.session_state[_LINK]
    if place is None:
        return
    with place:
        if own().views:
            keep_visitor()  # so that another tab, or this one after a reload, has the same lecture
        if st.session_state.get(TITLE, LECTURE) != LECTURE:
            how = {"help": words.ADD_VIEW_HELP, "width": "stretch"}
            with unlocked():
                st.button(words.ADD_VIEW, key="add-view", on_click=add_view, **how)
        st.markdown(words.LINK)
        st.code(frozen_link(), language=None, wrap_lines=True)
        send_button()


def _apply(name: str) -> None:
    """Set the drawn widgets to a preset (a callback)."""
    state = st.session_state
    state.update({key: value for key, value in preset(name, state).items() if key in state})


@dataclass(frozen=True)
class Changed:
    """Settings changed by a data set: its name, the reason, and the widgets' values before and since."""

    dataset: str
    source: str
    before: Mapping[str, Any]
    since: Mapping[str, Any]


def start_from(dataset: Dataset) -> None:
    """Use a data set's initial values, and set the settings to them after a change of the data set.

    Call it before their widgets are drawn. Settings without own values of the data set stay.
    """
    state = st.session_state
    before = {key: state[key] for key in _initial_values(state) if key in state}
    source, state[STARTS] = _start(dataset)
    state[_SOURCE] = source
    if state.setdefault(SET_FOR, dataset.name) == dataset.name or not before:
        return
    state[SET_FOR] = dataset.name
    own = _initial_values(state, state[STARTS])
    # includes unchanged ones: the address omits values relative to the initial ones
    since = {key: own.get(key, raw) for key, raw in before.items()}
    state.update(since)
    state[_CHANGED] = Changed(dataset.name, source, before, since) if since != before else None


def show_undo() -> None:
    """Show one line about the data set's settings, with undo, until it is used or the data set changes.

    It stays when a setting moves: without it, all controls below would be new, and lose the focus.
    """
    changed, state = st.session_state.get(_CHANGED), st.session_state
    if changed is None or changed.dataset != state["data"]:
        return
    now = {key: state.get(key, raw) for key, raw in changed.since.items()}
    st.button(
        f":small[:gray[{changed.source}] – restore mine]",
        key="back-to-mine",
        help=f"Now: {_in_words(now)}. Before: {_in_words(changed.before)}.",
        on_click=_back,
        type="tertiary",
    )


def source_of_start(setting: Setting) -> str:
    """Explain a setting's initial value on the chosen data set, for its help; "" if it is the default."""
    source = st.session_state.get(_SOURCE, "")
    if setting not in OF_DATA or setting.name not in st.session_state.get(STARTS, {}) or not source:
        return ""
    return f"Default here: {setting.format(initial_value(setting, st.session_state))} ({source})."


def _back() -> None:
    """Restore the settings changed by the data set (a callback)."""
    st.session_state.update(st.session_state.pop(_CHANGED).before)


def _initial_values(state: Mapping[str, Any], values: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the widgets' initial values of these settings, by key; only those in `values`, if given."""
    found: dict[str, Any] = {}
    for setting in OF_DATA:
        if values is None or setting.name in values:
            found |= widget_values(setting, initial_value(setting, state))
    return found


def _in_words(raws: Mapping[str, Any]) -> str:
    """Describe the settings of widgets' values."""
    parts = []
    for setting in OF_DATA:
        if setting.key in raws:
            words = setting.format(control_of(setting).from_widget(raws[setting.key]))
            parts.append(f"linear baseline {words}" if setting is BASELINE_C else words)
    return ", ".join(parts)


def _start(dataset: Dataset) -> tuple[str, dict[str, Any]]:
    """Return a data set's initial values by name, with a description."""
    if dataset.folder.is_relative_to(BUNDLED.resolve()):
        return "Settings of the bundled folds", {setting.name: setting.first for setting in OF_DATA}
    fold = FIRST_FOLD if FIRST_FOLD in dataset.folds else next(iter(dataset.folds))
    seen = [(str(path), path.stat()) for path in dataset.folds[fold].values()]
    files = tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in seen)
    if sum(size for _, size, _ in files) > MOST_BYTES:
        return NO_START.source, {}
    point = _found(files, RunSpec(dataset.name, fold))
    own = {} if point.linear is None else {BASELINE_C.name: point.linear}
    return point.source, {**point.values, **own}


@st.cache_resource(max_entries=256, show_spinner=False)
def _found(files: tuple[tuple[str, int, int], ...], _spec: RunSpec) -> StartingPoint:
    """Return the initial values of a data set, cached by the state of its first fold's files."""
    try:
        return starting_point(fold_of(_spec))
    except DataError:  # the page reports it for the chosen fold
        return NO_START
