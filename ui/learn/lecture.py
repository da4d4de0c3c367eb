"""The Lecture page: a list of views to edit, to follow and to share; and classes that follow it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import segno
import streamlit as st

from rankviz.common.errors import DataError, SettingError
from ui.controls.lesson_texts import LESSON, STEP, texts
from ui.controls.link import params_in_words, settings_in_words
from ui.controls.navigation import ENTRIES
from ui.controls.sequence import (
    BEFORE,
    CODE,
    LONGEST_TEXT,
    MOST_BYTES,
    PACKED,
    Place,
    Sequence,
    View,
    arrive,
    change,
    followed,
    leave,
    own,
    show_progress,
)
from ui.learn import lecture_words as words
from ui.learn.lessons import STEPS
from ui.learn.playground import SETTINGS
from ui.model import upload_memory
from ui.shell import words as shell
from ui.shell.errors import errors_as_sentences
from ui.shell.page import AT, KEPT_ALONE, LARGE, is_on
from ui.shell.texts import escaped, formatted
from ui.shell.visitors import address, keep_visitor, visitor
from ui.work.classes import CLASSES, LENGTH

LONGEST_LINK = 6000
"""Letters of a link that all browsers and most servers accept."""
_FROM_LINK, _CLASS, _VERSION = "sequence-from-link", "lecture-class", "lecture-version"
_LONGEST_TITLE, _LONGEST_NAME = 100, 60


def show() -> None:
    """Draw the page: the views for participants of a class and for a link without one, else the editor."""
    place = followed()
    arrives = PACKED in st.query_params and AT not in st.query_params
    if place is not None and place.sequence.views and (arrives or _follows(place)):
        participant(place)
        return
    if place is not None and place.code:
        st.session_state[_CLASS] = place.code
    elif place is not None and st.session_state.get(_FROM_LINK) != place.parameter[1]:
        st.session_state[_FROM_LINK] = place.parameter[1]
        if place.sequence != own():
            _replace(place.sequence)
    editor, ways = st.container(key=f"{KEPT_ALONE}-lecture").columns([3, 2], gap="large")
    with editor:
        _editor(own())
    with ways:
        _ways(own())


def _follows(place: Place) -> bool:
    return bool(place.code) and not CLASSES.leads(place.code, visitor())


def participant(place: Place) -> None:
    """Draw the views, with a link to the first; to the editor too, except in a class."""
    st.header(escaped(place.sequence.title) or words.VIEWS.format(n=len(place.sequence.views)), anchor=False)
    place = replace(place, at=0)
    arrive(place)
    show_progress(place)
    edit = "" if place.code else place.link(0, shell.EDIT_LECTURE, "lecture-edit")
    # students of a class wait for their lecturer's link
    st.html(place.link(1, words.START, f"lecture-start{' later' if place.code else ''}") + edit)
    _views(place.sequence)


def _views(sequence: Sequence) -> None:
    """List the views of a sequence, with their texts."""
    with st.container(key="lecture-texts"):
        for number, view in enumerate(sequence.views, 1):
            text = f": {formatted(view.text)}" if view.text else ""
            st.markdown(f"{number}. {_name(view)}{_state(view)}{text}")


def _name(view: View) -> str:
    """Name a view's page; of a lesson also its title and step, because a lecture may have several."""
    if not (lesson := view.lesson):
        return view.title
    step, title = view.query.get(STEP, ""), texts(lesson)["title"]
    return words.LESSON.format(page=view.title, title=title, step=step if step in STEPS else STEPS[0])


def _state(view: View) -> str:
    """Return the data and settings of a view, in small letters; "" for other pages with own documents."""
    entry = next(one for one in ENTRIES if one.file == view.page)
    if view.page == "playground":
        said = ", ".join(settings_in_words(view.query, SETTINGS))
    else:
        said = "" if entry.own else params_in_words(view.query, entry.unread)
    return f" :small[{said}]" if said else ""


def _replace(new: Sequence) -> None:
    """Change the sequence, and draw its widgets anew."""
    change(new)
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1


def _editor(sequence: Sequence) -> None:
    version = st.session_state.get(_VERSION, 0)
    if not sequence.views:
        st.info(words.EMPTY, icon=":material/playlist_add:")
        st.button(words.EXAMPLE, key="lecture-example", on_click=lambda: _replace(example()))
        st.caption(words.EXAMPLE_VIEWS.format(title=example().title))
        _views(example())
        return
    keep_visitor()  # so that the lecture is here again after a reload, and in other tabs
    title = f"lecture-title-{version}"
    st.text_input(words.TITLE, sequence.title, _LONGEST_TITLE, key=title, on_change=_set_title, args=(title,))
    st.caption(words.TEXT_HELP)
    for k, view in enumerate(sequence.views):
        _row(k, view, f"{k}-{version}", last=k == len(sequence.views) - 1)


def _set_title(key: str) -> None:
    change(replace(own(), title=st.session_state[key]))


def _row(k: int, view: View, key: str, *, last: bool) -> None:
    with st.container(border=True, key=f"lecture-view-{key}"):
        row = st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False)
        row.markdown(f"**{k + 1}. {_name(view)}**{_state(view)}", width="stretch")
        acts = row.container(horizontal=True, width="content", gap=None, wrap=False)
        for name, label, icon, off, do in (
            ("up", words.UP, "arrow_upward", k == 0, lambda: _move(k, -1)),
            ("down", words.DOWN, "arrow_downward", last, lambda: _move(k, 1)),
            ("remove", words.REMOVE, "delete", False, lambda: _remove(k)),
        ):
            # page.css hides the label, which screen readers say
            look: dict[str, Any] = {"icon": f":material/{icon}:", "help": label, "disabled": off}
            acts.button(label, key=f"{name}-{key}", type="tertiary", on_click=do, **look)
        st.text_area(
            words.TEXT,
            view.text,
            height=68,
            max_chars=LONGEST_TEXT,
            key=f"text-{key}",
            placeholder=words.TEXT,
            label_visibility="collapsed",
            on_change=_edit,
            args=(k, "text", f"text-{key}"),
        )
        row = st.container(horizontal=True, gap="small")
        for name, label, hint in (("bare", words.BARE, None), ("locked", words.LOCKED, words.LOCKED_HELP)):
            of = f"{name}-{key}"
            row.toggle(label, getattr(view, name), key=of, help=hint, on_change=_edit, args=(k, name, of))


def _edit(k: int, name: str, key: str) -> None:
    views = list(own().views)
    views[k] = replace(views[k], **{name: st.session_state[key]})
    change(replace(own(), views=tuple(views)))


def _move(k: int, by: int) -> None:
    views = list(own().views)
    views[k], views[k + by] = views[k + by], views[k]
    _replace(replace(own(), views=tuple(views)))


def _remove(k: int) -> None:
    _replace(replace(own(), views=own().views[:k] + own().views[k + 1 :]))


def example() -> Sequence:
    """Return a lecture of four views on the bundled data."""
    views = (
        View("lessons", {LESSON: "pairs"}),
        View("playground", {"pset": "Ring"}),
        View("kernel_approximation", {}),
        View("ndcg_vs_m", {}),
    )
    texts = zip(views, words.EXAMPLE_TEXTS, strict=True)
    return Sequence(words.EXAMPLE_TITLE, tuple(replace(view, text=text) for view, text in texts))


def _ways(sequence: Sequence) -> None:
    """Draw the ways to follow, keep and share the sequence."""
    code = _led(sequence) if sequence.views else ""
    if not sequence.views and not st.query_params.get(CODE):
        _join()
    if sequence.views:
        packed = sequence.packed()
        place = Place(sequence, (PACKED, packed), 0)
        with errors_as_sentences():
            if code:
                _class(sequence, code)
            else:
                _follow(place)
        with st.expander(words.LINK):
            if len(packed) > LONGEST_LINK:
                st.warning(words.LONG_LINK.format(n=len(packed), most=LONGEST_LINK))
            st.code(place.address(1, shared=True), language=None, wrap_lines=True)
        st.download_button(
            words.SAVE,
            sequence.json(),
            file_name(sequence.title),
            "application/json",
            key="lecture-save",
            on_click="ignore",
        )
    if st.session_state.get(BEFORE):
        st.button(words.UNDO, key="lecture-undo", icon=":material/undo:", type="tertiary", on_click=_undo)
    with st.expander(words.LOAD):
        _load()
    if sequence.views and not code:
        st.header(words.CLASS, anchor=False)
        st.button(
            words.OPEN_CLASS,
            key="open-class",
            icon=":material/groups:",
            help=words.CLASS_HELP,
            on_click=_open,
        )


def file_name(title: str) -> str:
    """Return the name of a lecture's file: its title in letters, digits and hyphens."""
    plain = re.sub(r"[\W_]+", "-", title).strip("-")
    return f"{plain[:_LONGEST_NAME].rstrip('-') or 'lecture'}.json"


def _follow(place: Place) -> None:
    """Draw Start, and how to present; a class has its own, by which its lecturer is followed."""
    st.html(place.link(1, words.START, "lecture-start"))
    st.caption(words.PRESENT if is_on(LARGE) else f"{words.SWITCH_ON_LARGE} {words.PRESENT}")


def _undo() -> None:
    *earlier, last = st.session_state[BEFORE]
    _replace(last)
    st.session_state[BEFORE] = earlier


def _load() -> None:
    """Draw the field for a file."""
    key = f"lecture-file-{st.session_state.get(_VERSION, 0)}"
    files, missing = upload_memory.file_field(
        words.LOAD, key, multiple=False, type="json", label_visibility="collapsed", max_upload_size=1
    )
    if missing:
        st.error(upload_memory.reason_missing(), icon=":material/error:")
    for file in upload_memory.uploads(files):
        with errors_as_sentences():
            if file.size > MOST_BYTES:
                raise DataError(
                    f"the file has {file.size:,} bytes",
                    expected=f"at most {MOST_BYTES:,} bytes",
                    remedy="Remove views.",
                    path=file.name,
                )
            try:
                _replace(Sequence.read(file.rewound().read().decode("utf-8", "replace")))
            except DataError as error:
                about = {"expected": error.expected, "remedy": error.remedy, "path": file.name}
                raise DataError(error.found, **about) from error
            upload_memory.release_files()
            st.rerun()


def _class(sequence: Sequence, code: str) -> None:
    """Draw an open class: its code, who is there, and the ways to follow it."""
    CLASSES.update(code, sequence.packed(), visitor())
    place = Place(sequence, (CODE, code), 0)
    link = place.address(0, shared=True)
    st.markdown(words.CODE.format(code=code))
    show_progress(place)
    _follow(place)
    code_image = segno.make(link, micro=False).svg_inline(scale=4, border=2, dark="#000", light="#fff")
    st.image(code_image, width=220, alt=words.CODE_IMAGE)
    st.code(link, language=None, wrap_lines=True)
    with st.popover(words.CLOSE_CLASS, key="closing"):
        st.caption(words.CLOSED_FOR_ALL)
        st.button(words.CLOSE_NOW, key="close-class", on_click=_close, args=(code,))


def _led(sequence: Sequence) -> str:
    """Return the code of this visitor's class, after a reload that of their sequence; "" without one."""
    code = str(st.session_state.get(_CLASS, ""))
    if not code or not CLASSES.leads(code, visitor()):
        code = CLASSES.led_by(visitor(), sequence.packed())
    st.session_state[_CLASS] = code
    return code


@errors_as_sentences()
def _open() -> None:
    keep_visitor()
    st.session_state[_CLASS] = CLASSES.open(own().packed(), visitor(), address())


def _close(code: str) -> None:
    CLASSES.close(code, visitor())
    st.session_state.pop(_CLASS, None)
    change(own())  # keeps a lecture that only the address had
    leave()


def _join() -> None:
    """Draw the field for the code of a class."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    code = row.text_input(words.JOIN, "", LENGTH, key="join-class").strip().upper()
    row.button(words.ENTER, key="join")  # a press leaves the field, which sends the code
    if code:
        with errors_as_sentences():
            if CLASSES.sequence(code, visitor(), address()) is None:
                raise SettingError("No class has this code: ask for it again.")
            st.query_params[CODE] = code
            st.query_params.pop(AT, None)
            st.rerun()
