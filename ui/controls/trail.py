"""The effect of the latest change of a setting, and the way back: a short trail of the sidebar's models.

The trail belongs to the session. It has each model once, the current one last.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from math import isnan

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.numbers import with_minus
from rankviz.common.settings import LARGEST_SEED, SEED
from rankviz.metrics.significance import compare
from rankviz.runs.description import changes
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from ui.controls.compared import seeded
from ui.controls.models import pins_of_session
from ui.controls.settings import SET_FOR, state_of
from ui.controls.widgets import metric_menu
from ui.shell import words
from ui.shell.errors import errors_as_sentences
from ui.shell.page import TITLE, make_job_place
from ui.shell.terms import explained
from ui.shell.texts import data_words
from ui.work.folds import fold_of
from ui.work.jobs import predicted
from ui.work.metrics import measured
from ui.work.runs import NoTurn, recall, run

MOST = 4
"""Largest number of models in the trail, besides the current one."""
SEED_SECONDS = 1.0
"""Largest predicted seconds of a run that shows the effect of another seed."""
ONE_MOVE_SECONDS = 3.0
"""Longest pause between moves of one control that count as one change: arrow keys move it step by step."""
Measure = Callable[[RunRecord], RunRecord]
"""Returns a record with the column of the page's metric."""
_TRAIL, _KEPT, _MOVED, _VIEWED = "trail", "trail-kept", "trail-moved", "trail-viewed"


def place() -> DeltaGenerator:
    """Return the line for the effect, below a page's head; a job takes its place, and its height stays."""
    make_job_place()
    line = st.container(horizontal=True, vertical_alignment="center", gap="small", key="effect")
    line.empty()  # else there is no line until it is filled
    return line


@errors_as_sentences()
def show_effect(
    line: DeltaGenerator,
    spec: RunSpec,
    part: str = "vali",
    metric: str = "",
    measure: Measure = measured,
    hint: str = "",
    title: str = "",
) -> None:
    """Fill the line of `place`: the difference from the model before, of another seed, and the trail.

    Without a metric of the page, the line begins with a menu. Only records that exist are compared, as
    `measure` returns them, and `hint` says how; a short run with another seed is made here, so call it last.
    A page that also tells another effect gives a `title`.
    """
    trail = _visited(spec)
    if not metric:
        metric = metric_menu(line, label_visibility="collapsed")
    viewed = _viewed(spec, part, metric, measure)
    if viewed:
        line.markdown(viewed, width="content")
    if len(trail) < 2:
        if not viewed:
            line.caption(words.NO_CHANGE_YET, width="content")
        return
    kept = st.session_state.get(_KEPT)
    base = kept if kept in trail[:-1] else trail[-2]
    sentence, seed = line.empty(), line.empty()
    told = _effect(base, spec, part, metric, measure)
    hints = [explained("95 % interval")] * ("[" in told) + [hint] * bool(hint)
    sentence.markdown(
        words.effect(changes(base, spec), told, title), width="content", help="\n\n".join(hints) or None
    )
    with line:
        _buttons(trail, base, is_kept=base == kept)
    if not viewed and _queries(base) == _queries(spec):
        other = _other_seed(spec, part, metric, measure)
        seed.caption(other, width="content", help=hint if other and hint else None)


def _viewed(spec: RunSpec, part: str, metric: str, measure: Measure) -> str:
    """Say what the same model had in the metric or part before, and has now; "" after any other change.

    Values of the test part are not said once it is hidden again.
    """
    record, same = _record(spec, measure), (st.session_state.get(TITLE), spec.but(digest=""))
    value = float("nan") if record is None else float(record.metrics[part][metric].mean())
    now = same, (part, metric, value)
    last, before = st.session_state.get(_VIEWED, (now, now))
    if now[1][:2] != last[1][:2] or same != last[0]:
        before = last if same == last[0] and (part == "test" or last[1][0] == part) else now
    st.session_state[_VIEWED] = now, before
    known = record is not None and not isnan(before[1][2])
    return words.same_model(before[1], now[1]) if known and before != now else ""


def latest_models(spec: RunSpec) -> list[RunSpec]:
    """Return the session's pinned models and those of its trail, on the queries of a spec."""
    found = (one.but(digest="") for one in (*pins_of_session(), *st.session_state.get(_TRAIL, ())))
    return [one for one in dict.fromkeys(found) if _queries(one) == _queries(spec)]


def _visited(spec: RunSpec) -> list[RunSpec]:
    """Move the current model to the end of the trail; return the trail, which loses no kept model."""
    spec, kept, before = spec.but(digest=""), st.session_state.get(_KEPT), st.session_state.get(_TRAIL, ())
    trail = [*(one for one in before if one != spec), spec]
    if not before or before[-1] != spec:
        now, moved = time.monotonic(), st.session_state.get(_MOVED, -ONE_MOVE_SECONDS)
        quick = now - moved < ONE_MOVE_SECONDS and spec not in before
        if quick and _one_move(trail[-3:]) and trail[-2] != kept:
            del trail[-2]
        st.session_state[_MOVED] = now
    if len(trail) > MOST + 1:
        del trail[trail[0] == kept]  # the oldest but the kept one
    st.session_state[_TRAIL] = trail
    return list(trail)


def _one_move(latest: list[RunSpec]) -> bool:
    """Return True if the last two changes are of one and the same setting."""
    names = [[name for name, _, _ in changes(*both)] for both in pairwise(latest)]
    return len(names) == 2 and names[0] == names[1] and len(names[0]) == 1 and names[0] != [""]


def _queries(spec: RunSpec) -> tuple[object, ...]:
    """Return what names the queries of a run."""
    return spec.dataset, spec.fold, spec.sample


def _effect(base: RunSpec, spec: RunSpec, part: str, metric: str, measure: Measure) -> str:
    """Return the difference of both models on the queries of a part, or why there is none."""
    if _queries(base) != _queries(spec):
        return words.OTHER_QUERIES
    before, now = _record(base, measure), _record(spec, measure)
    if before is None or now is None:
        return words.NOT_TRAINED_HERE
    return compare(now.metrics[part][metric], before.metrics[part][metric]).effect(metric)


def _record(spec: RunSpec, measure: Measure) -> RunRecord | None:
    record = recall(spec.but(digest=fold_of(spec).digest))
    return None if record is None else measure(record)


def _other_seed(spec: RunSpec, part: str, metric: str, measure: Measure) -> str:
    """Say how far another seed alone moves the metric; "" if nothing is drawn or it takes too long."""
    record = _record(spec, measure)
    if record is None or SEED.name not in spec or spec.seed == LARGEST_SEED:
        return ""
    other = seeded(spec, 1)
    if _record(other, measure) is None and predicted(other).seconds > SEED_SECONDS:
        return ""
    try:
        (beside,) = run(other, patience=0.0)
    except NoTurn:  # runs that others wait for come first
        return ""
    moved = measure(beside).metrics[part][metric].mean() - record.metrics[part][metric].mean()
    return words.OTHER_SEED.format(difference=with_minus(moved, "+z.3f"))


def _buttons(trail: list[RunSpec], base: RunSpec, *, is_kept: bool) -> None:
    """Draw one button for each earlier model, the latest first, and one that keeps the comparison.

    A model on other data has one while it is the base, with the name of its data alone.
    """
    *earlier, now = trail
    shown = [spec for spec in earlier if spec == base or _queries(spec) == _queries(now)]
    for ago, spec in enumerate(reversed(shown)):
        st.button(
            words.settings(changes(now, spec)) if _queries(spec) == _queries(now) else data_words(spec),
            key=f"back-to-{ago}",
            icon=":material/undo:",
            type="tertiary",
            help=words.BACK,
            on_click=_back,
            args=(spec,),
        )
    st.button(
        words.UNPIN if is_kept else words.PIN,
        key="keep-comparing",
        icon=":material/keep_off:" if is_kept else ":material/keep:",
        type="tertiary",
        help=words.COMPARE_WITH_LAST
        if is_kept
        else words.KEEP_COMPARING.format(settings=words.settings(changes(now, base))),
        on_click=_keep,
        args=(None if is_kept else base,),
    )


def _back(spec: RunSpec) -> None:
    """Set the sidebar to an earlier model (a callback)."""
    st.session_state.update(state_of(spec))
    st.session_state[SET_FOR] = spec.dataset


def _keep(spec: RunSpec | None) -> None:
    """Keep comparing with this model, or with the one before for None (a callback)."""
    st.session_state[_KEPT] = spec
