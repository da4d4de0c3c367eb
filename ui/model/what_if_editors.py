"""Controls of the What if page: the list of changes, and changes without dragging."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from pprint import pformat
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.numbers import counted, span
from rankviz.common.settings import LARGEST_SEED, SEED
from rankviz.datasets import Fold
from rankviz.features import FEATURE_MAPS
from rankviz.runs.spec import RunSpec
from rankviz.whatif.changes import (
    Change,
    DocumentAdded,
    DocumentOut,
    FeatureOff,
    FeatureSet,
    GradeSet,
    OtherDraw,
    QueryOut,
    QueryWeighed,
    SomeQueries,
    WrongGrades,
    changed,
    grades_to_prefer,
    seed_asked,
    weights_asked,
)
from rankviz.whatif.lookup import index_of_document, typed_documents
from ui.controls.feature_names import names_of
from ui.controls.link import frozen_link
from ui.model import what_if_change_list as change_list
from ui.model import what_if_words as words
from ui.model.what_if_change_list import LONGEST, Line, applied, has_no_effect, next_number, plain_label
from ui.model.what_if_lists import Lists, names_by_number
from ui.model.what_if_words import Step, of_change
from ui.shell.components import digits, either, one_of, record, whole
from ui.shell.errors import errors_as_sentences
from ui.shell.locks import locked
from ui.shell.texts import escaped
from ui.work.folds import normalised

_PROGRAM = Path(__file__).with_name("what_if_program.txt").read_text(encoding="utf-8")
HALF, WRONG = 0.5, 0.1
"""Shares of queries to learn from, and of wrong grades, that buttons offer."""
WEIGHTS = (1.0, 3.0, 10.0, 30.0, 100.0)
_WEIGHT = "what-if-weight"
_LINES = 118
"""Height in pixels of a long list of changes."""
_HIGH = 5
"""Number of changes that fit into it."""
MENU = 20
"""Highest grade up to which a menu lists all grades; above it, only those in the data."""
SHAPE = either(
    record(do=one_of("grade"), key=digits, grade=whole),
    record(do=one_of("out"), key=digits),
    record(do=one_of("above", "below"), key=digits, other=digits),
)
"""Shape of the component's messages; documents are named by number, as text."""
_NOTE, _DRAGGED = "what-if-note", "what-if-dragged"


def script(spec: RunSpec, changes: Sequence[Change], metric: str) -> str:
    """Return a program that trains the model of a spec with and without the changes, and compares both."""
    names = sorted({type(change).__name__ for change in changes}, key=lambda name: (name.isupper(), name))
    n = "1 change" if len(changes) == 1 else f"{len(changes)} changes"
    return _PROGRAM.format(
        n=n,
        where=_in_a_docstring(f"{spec.dataset} {spec.fold}"),
        names=", ".join(names) or "Change",
        changes=pformat(list(changes), width=100),
        spec=repr(spec.to_json()),
        metric=repr(metric),
    )


def _in_a_docstring(text: str) -> str:
    """Replace characters that would end a docstring or start an escape."""
    return text.replace("\\", "/").replace('"', "'").replace("\n", " ")


def listed(spec: RunSpec, lines: Sequence[Line], fold: Fold) -> None:
    """Draw the list of changes: each can be switched off and removed."""
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    n = len(lines)
    idle, empty = not change_list.can_undo(), not n
    none = "No change yet" if idle else "No change"
    row.markdown(f"**{counted(n, 'change') if n else none}**", width="content")
    row.button("Undo", key="what-if-undo", type="tertiary", on_click=change_list.undo, disabled=idle)
    row.button("Clear", key="what-if-clear", type="tertiary", on_click=change_list.clear, disabled=empty)
    if not n:
        return
    height = _LINES if n > _HIGH else "content"
    with st.container(height=height, border=False, gap=None, key="what-if-lines"):
        for place, line in enumerate(lines):
            _line(place, line, lines, fold, drawn(spec))


def _line(place: int, line: Line, lines: Sequence[Line], fold: Fold, drawn: str) -> None:
    row = st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False)
    number = f"{change_list.version()}-{place}"
    note = " *(document missing)*" if has_no_effect(line, lines, fold) else ""
    row.checkbox(
        of_change(line.change, fold, drawn) + note,
        line.on,
        key=f"change-on-{number}",
        on_change=change_list.switch,
        args=(place,),
        width="stretch",
    )
    # page.css hides the label, which screen readers say
    look: dict[str, Any] = {"icon": ":material/close:", "help": "Remove this change.", "type": "tertiary"}
    key = f"change-out-{number}"
    row.button("Remove this change", key=key, on_click=change_list.remove, args=(place,), **look)


def weight(place: DeltaGenerator, spec: RunSpec, part: str, query: object, lines: Sequence[Line]) -> None:
    """Draw the weight of the shown query's pairs, which is a change like others."""
    if part != "train" or not spec.offers.query_weights:
        return
    now = weights_asked([line.change for line in lines if line.on]).get(query, 1.0)
    options = sorted({*WEIGHTS, now})
    place.selectbox(
        "Query weight",
        options,
        options.index(now),
        format_func=lambda times: f"{times:,g}×",
        key=_weight_key(query),
        on_change=_weigh,
        args=(spec, query),
        width=175,
        help=words.WEIGHT_HELP,
    )


def _weight_key(query: object) -> str:
    """Return the key of a query's weight: a widget keeps its value, so each query and change has its own."""
    return f"{_WEIGHT}-{query}-{change_list.version()}"


@errors_as_sentences()
def _weigh(spec: RunSpec, query: object) -> None:
    """Set the weight of the shown query (a callback)."""
    times = float(st.session_state[_weight_key(query)])
    change_list.add([QueryWeighed(query, times)], normalised(spec))


def drawn(spec: RunSpec) -> str:
    """Return what the model draws at random: "landmarks", "frequencies" or another word; "" for nothing."""
    if SEED.name not in spec.declared():
        return ""
    kind = FEATURE_MAPS.get(spec.get("feature_map"))
    return kind.draws_by.symbol if kind is not None and kind.draws_by is not None else words.DRAWN


def training(spec: RunSpec, lines: Sequence[Line]) -> None:
    """Draw a button for each random change of training; clicked again, it draws again."""
    changes = [line.change for line in lines]
    last = {type(one): one.draw for one in changes if isinstance(one, SomeQueries | WrongGrades)}
    offered: dict[str, Change] = {
        words.HALF: SomeQueries(HALF, _next(last.get(SomeQueries, -1))),
        words.WRONG: WrongGrades(WRONG, _next(last.get(WrongGrades, -1))),
    }
    if drawn(spec):
        seed = seed_asked(changes)
        own = OtherDraw(_next(spec.get(SEED.name) if seed is None else seed))
        offered[words.OTHER_DRAW.format(drawn=drawn(spec))] = own
    row = st.container(horizontal=True, gap="small", key="what-if-training")
    for label, change in offered.items():
        row.button(
            label,
            key=f"training-{type(change).__name__}",
            on_click=_put,
            args=(spec, [change]),
            help=_help(change, drawn(spec)),
        )


def _help(change: Change, what: str) -> str:
    """Say what a change is for, and that half of the queries keeps what the model draws."""
    if isinstance(change, OtherDraw):
        return words.OTHER_DRAW_HELP
    if isinstance(change, SomeQueries) and what:
        return words.KEEPS.format(drawn=what)
    return words.DRAWS_AGAIN


def _next(seed: int) -> int:
    return (seed + 1) % (LARGEST_SEED + 1)


def tools(place: DeltaGenerator, spec: RunSpec, fold: Fold, shown: Fold, found: Lists) -> None:
    """Draw the controls that change data without dragging.

    A popover must not run its fragment when it closes. A click on the menu closes it too. Streamlit then runs
    the fragment after the new page, as a run of the old page, and the browser shows nothing.
    """
    made, fixed = change_list.version(), locked()  # a new change closes the popover that made it
    with place.popover(
        "Edit", icon=":material/edit:", help="Edit a feature.", key=f"edit-{made}", disabled=fixed
    ):
        _edit(spec, shown, found)
    with place.popover(
        "Add", icon=":material/add:", help="Add a document.", key=f"add-{made}", disabled=fixed
    ):
        _add(spec, shown, found)
    with place.popover(
        "Leave out", icon=":material/remove:", help="Query or feature.", key=f"out-{made}", disabled=fixed
    ):
        _leave_out(spec, fold, found)


def share(spec: RunSpec, fold: Fold, lines: Sequence[Line], metric: str) -> None:
    """Draw what shares the changes, closed."""
    how = {"icon": ":material/share:", "type": "compact", "on_change": "rerun"}
    box = st.expander("Share", key="what-if-share", **how)  # code needs a script of 1.6 MB
    if box.open:
        with box:
            _share(spec, fold, lines, metric)


def _edit(spec: RunSpec, shown: Fold, found: Lists) -> None:
    data, names = shown.parts[found.part], {one.number: one.name for one in found.now}
    document = st.selectbox("Document", list(names), format_func=names.__getitem__, key="edit-document")
    feature = st.selectbox(
        "Feature",
        range(data.n_features),
        format_func=_numbered(names_of(spec, data)).__getitem__,
        key="edit-feature",
    )
    if document is None or feature is None:
        return
    own = data.X[data.query_slice(list(data.query_labels).index(found.query)), feature]
    value = float(data.X[index_of_document(data, found.query, document), feature])
    asked = st.number_input(
        "Normalised value",
        value=value,
        format="%.6g",
        step=None,
        key=f"edit-value-{document}-{feature}-{value}",
        help="After normalisation.",
    )
    st.caption(words.OF_THE_VALUE.format(value=value, values=span(own.min(), own.max(), ".4g")))
    change = FeatureSet(found.query, document, feature, float(asked))
    st.button("Set", key="edit-set", type="primary", on_click=_put, args=(spec, [change]))


def _numbered(names: Sequence[str]) -> list[str]:
    """Return names of features that can be searched by number too."""
    rows = enumerate(names, 1)
    return [name if name == f"feature {number}" else f"{number}. {name}" for number, name in rows]


def _add(spec: RunSpec, shown: Fold, found: Lists) -> None:
    names = {one.number: one.name for one in found.now}
    way = st.segmented_control("Features", ["a copy", "typed"], default="a copy", required=True, key="add-as")
    if way == "a copy":
        source = st.selectbox("Copy of", list(names), format_func=names.__getitem__, key="add-copy")
        text = ""
    else:
        source = None
        text = st.text_area(
            "Features",
            key="add-text",
            placeholder="2 qid:1 1:0.5 2:0.25 …",
            help=words.TYPED_HELP,
        )
    grade = st.number_input("Grade", 0, 1000, key="add-grade", help="If the text has none.")
    st.button(
        "Add document",
        key="add-add",
        type="primary",
        on_click=_put_new,
        args=(spec, shown.parts[found.part].X.shape[1], found.part, found.query, source, text, int(grade)),
    )


def _leave_out(spec: RunSpec, fold: Fold, found: Lists) -> None:
    st.caption(words.LEAVE_OUT)
    queries = [plain_label(label) for label in fold.train.query_labels]
    start = queries.index(found.query) if found.part == "train" else 0
    query = st.selectbox("Training query", queries, start, format_func=str, key="out-query")
    st.button("Leave out query", key="out-query-go", on_click=_put, args=(spec, [QueryOut(query)]))
    feature = st.selectbox(
        "Feature",
        range(fold.train.n_features),
        None,
        format_func=_numbered(names_of(spec, fold.train)).__getitem__,
        placeholder="Number or name",
        key="out-feature",
    )
    st.button(
        "Leave out feature",
        key="out-feature-go",
        on_click=_put,
        args=(spec, [FeatureOff(feature or 0)]),
        disabled=feature is None,
    )


def _share(spec: RunSpec, fold: Fold, lines: Sequence[Line], metric: str) -> None:
    long = change_list.too_long(lines, fold)
    if long:
        st.info(
            words.TOO_LONG.format(long=long, longest=LONGEST),
            icon=":material/link_off:",
        )
    else:
        st.markdown(words.IN_ADDRESS)
        st.code(frozen_link(), language=None, wrap_lines=True)
    st.download_button(
        "Program (Python)",
        partial(script, spec, applied(lines, fold), metric),
        "what_if.py",
        "text/x-python",
        key="what-if-script",
        on_click="ignore",
        help=words.SCRIPT_HELP,
    )


@errors_as_sentences()
def _put(spec: RunSpec, changes: Sequence[Change]) -> None:
    """Add changes to the list (a callback)."""
    change_list.add(changes, normalised(spec))


@errors_as_sentences()
def _put_new(
    spec: RunSpec, n_features: int, part: str, query: object, source: int | None, text: str, grade: int
) -> None:
    """Add documents to the shown query (a callback)."""
    fold = normalised(spec)
    lines = change_list.lines(fold)
    number = next_number(part, lines, fold)
    if source is None:
        new = typed_documents(text, n_features)
        made = [(one.features, grade if one.grade is None else one.grade) for one in new]
    else:
        made = [(copied(fold, lines, part, query, source), grade)]
    change_list.add(
        [DocumentAdded(query, number + i, features, own) for i, (features, own) in enumerate(made)], fold
    )


def copied(fold: Fold, lines: Sequence[Line], part: str, query: object, source: int) -> tuple[float, ...]:
    """Return a document's features after the list's changes, without features switched off for all."""
    out = FeatureOff | QueryOut | SomeQueries
    kept = [change for change in applied(lines, fold) if not isinstance(change, out)]
    data = changed(fold, kept).parts[part]
    return tuple(data.X[index_of_document(data, query, source)].tolist())


def grades(fold: Fold) -> list[int]:
    """Return the grades that a document may get."""
    top = highest(fold)
    if top <= MENU:
        return list(range(top + 1))
    return sorted({int(grade) for part in fold.parts.values() for grade in set(part.y.tolist())})


def highest(fold: Fold) -> int:
    """Return the highest grade of the fold, at least 1."""
    return max(1, *(int(part.y.max(initial=0)) for part in fold.parts.values()))


def note() -> str:
    """Return once why the last message changed nothing; "" if it did."""
    return str(st.session_state.pop(_NOTE, ""))


def is_of(line: Line, query: Any) -> bool:
    """Return True if a change is within a query."""
    return bool(getattr(line.change, "query", None) == query)


def dragged(query: Any) -> int | None:
    """Return the last dragged document, until the list changes otherwise or another query is shown."""
    own, number, version, _ = st.session_state.get(_DRAGGED, (None, None, -1, 0))
    return number if (own, version) == (query, change_list.version()) else None


def dropped_at() -> int:
    """Return the rank at which the last dragged document was dropped; 0 for another gesture."""
    return int(st.session_state[_DRAGGED][-1])


def offer(place: DeltaGenerator, spec: RunSpec, query: Any, step: Step, marked: int | None) -> None:
    """Draw the button of a next step, about the marked document."""
    place.button(
        step.label,
        key=f"what-if-step-{change_list.version()}",
        type="primary",
        on_click=_take_step,
        args=(spec, query, step, marked),
    )


@errors_as_sentences()
def _take_step(spec: RunSpec, query: Any, step: Step, marked: int | None) -> None:
    """Take a next step; the answer stays about the same drop (a callback)."""
    st.session_state.update(step.widgets)
    if step.changes:
        asked = dropped_at() if dragged(query) == marked else 0
        lines = [one for one in st.session_state[change_list.KEY] if is_of(one, query)]
        asked = max([asked, *(one.asked for one in lines if getattr(one.change, "document", None) == marked)])
        change_list.add(step.changes, normalised(spec), (-1 if marked is None else marked, asked))
        st.session_state[_DRAGGED] = (query, marked, change_list.version(), asked)


def take_message(gesture: dict[str, Any], changed: Fold, fold: Fold, shown: Lists) -> None:
    """Add a message's changes of the shown lists to the list of changes; explain a drop without any."""
    part, query = shown.part, shown.query
    found = changes_of(gesture, changed, fold, part, query)
    place = shown.rank(int(gesture["other"])) if "other" in gesture else None
    own, rank = int(gesture["key"]), 0 if place is None else place + 1
    change_list.add(found, fold, (own, rank))
    st.session_state[_DRAGGED] = (query, own, change_list.version(), rank)
    if not found:
        st.session_state[_NOTE] = _already(gesture, changed, part, query)


def changes_of(gesture: dict[str, Any], changed: Fold, fold: Fold, part: str, query: Any) -> list[Change]:
    """Return the changes of a gesture, given the changed data; `DataError` for unknown documents."""
    own = int(gesture["key"])
    data = changed.parts[part]
    index_of_document(data, query, own)
    match gesture["do"]:
        case "grade":
            return [GradeSet(query, own, int(gesture["grade"]))]
        case "out":
            return [DocumentOut(query, own)]
        case "above":
            return list(grades_to_prefer(data, query, own, int(gesture["other"]), own, highest(fold)))
        case _:
            return list(grades_to_prefer(data, query, int(gesture["other"]), own, own, highest(fold)))


def _already(gesture: dict[str, Any], changed: Fold, part: str, query: Any) -> str:
    """Explain that the grades already imply this order."""
    data, names = changed.parts[part], names_by_number(changed.parts[part], query)
    pair = (int(gesture["key"]), int(gesture["other"]))
    above, below = pair if gesture["do"] == "above" else pair[::-1]
    first, second = (int(data.y[index_of_document(data, query, one)]) for one in (above, below))
    return words.ALREADY.format(
        above=escaped(names[above]), first=first, below=escaped(names[below]), second=second
    )
