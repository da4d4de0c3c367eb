"""A sequence of views: pages in given states, each with a text, for a lecture.

A sequence is one small JSON file, or a parameter of the address: its JSON, compressed, in base64. The
addresses of its views contain it, and the view's number, so a reload or a copied link stays there. A class
has only its code there (`ui/work/classes.py`).
"""

from __future__ import annotations

import html
import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st

from rankviz.common.errors import DataError, SettingError
from rankviz.common.numbers import counted, with_minus
from rankviz.common.settings import is_text
from rankviz.plots.predictions import gap_data, gap_figure
from ui.controls.lesson_texts import GUESS, gap_axis, lesson_of, without_prediction
from ui.controls.link import frozen_params
from ui.controls.navigation import ENTRIES
from ui.shell import words
from ui.shell.components import SCRIPTS
from ui.shell.errors import errors_as_sentences
from ui.shell.figures import STATIC, themed
from ui.shell.locks import LOCKED, locked
from ui.shell.page import ALONE, AT, KEPT_ALONE, LARGE, TITLE, is_on
from ui.shell.texts import escaped, formatted
from ui.shell.visitors import address, keep_visitor, visitor
from ui.work.classes import CLASSES, Report

PACKED, CODE = "seq", "class"
"""Parameters of the address: a packed sequence, or the code of a class."""
MOST_KEPT, LONGEST_KEPT = 200, 20_000
"""Most visitors whose sequence this process keeps for their other tabs, and most letters of each."""
_KEPT: dict[str, tuple[str, str]] = {}
"""Network address and packed sequence by visitor, the newest last; not stored."""
PAGE, LECTURE = "lecture", "Lecture"
"""Script and title of the page that edits sequences."""
MOST_VIEWS, MOST_PARAMETERS = 60, 60
LONGEST_TEXT, LONGEST_VALUE = 1000, 2000
"""Most letters of a text, and of a name or value in an address."""
MOST_BYTES = 200_000
"""Most bytes of a file, and of an unpacked link."""
KEY, BEFORE = "sequence", "sequence-before"
"""Session keys of the visitor's sequence, and of those before the last changes."""
MOST_BEFORE = 20
"""Most changes that can be undone."""
_FOLLOWED = "sequence-followed"
_OWN = ("seq", "class", "at", "job", "large", "alone")
FORMAT = "rankviz sequence"
GAPS_WIDTH = 300
"""Width in pixels of the histogram of a class's predictions (page.css puts it beside the text)."""
REFRESH = 4.0
"""Seconds between looks at the progress of a class."""


@dataclass(frozen=True)
class View:
    """A page in a state.

    Attributes
    ----------
    page : str
        Its script, such as "train".
    query : mapping of str to str
        Parameters of its address.
    text : str
        The lecturer's text, in Markdown.
    bare : bool
        True if the sidebar is hidden.
    locked : bool
        True if controls show their values but cannot be moved.
    """

    page: str
    query: Mapping[str, str]
    text: str = ""
    bare: bool = False
    locked: bool = False

    @property
    def title(self) -> str:
        """Title of the page."""
        return next(entry.title for entry in ENTRIES if entry.file == self.page)

    @property
    def lesson(self) -> str:
        """Name of the lesson; "" for another page."""
        return lesson_of(self.page, self.query)


@dataclass(frozen=True)
class Sequence:
    """Views in their order, with a title."""

    title: str = ""
    views: tuple[View, ...] = ()

    def json(self) -> str:
        """Return the text of its file."""
        views = [asdict(one) for one in self.views]
        return json.dumps(
            {"format": FORMAT, "title": self.title, "views": views}, ensure_ascii=False, indent=1
        )

    def packed(self) -> str:
        """Return the parameter of an address."""
        short = json.dumps(json.loads(self.json()), ensure_ascii=False, separators=(",", ":"))
        return urlsafe_b64encode(zlib.compress(short.encode(), 9)).decode().rstrip("=")

    @classmethod
    def read(cls, text: str) -> Sequence:
        """Return the sequence of a file's text; `DataError` names the first view that is wrong."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _wrong("this is no sequence", "JSON, as saved on the Lecture page") from error
        if (
            not isinstance(found, dict)
            or found.get("format") != FORMAT
            or not is_text(found.get("title"), LONGEST_TEXT)
        ):
            raise _wrong("this is no sequence", f'"format": "{FORMAT}" and a title')
        views = found.get("views")
        if not isinstance(views, list) or len(views) > MOST_VIEWS:
            raise _wrong("its views cannot be read", f"a list of at most {MOST_VIEWS} views")
        return cls(found["title"], tuple(_view(one, k) for k, one in enumerate(views, 1)))

    @classmethod
    def unpacked(cls, packed: str) -> Sequence:
        """Return the sequence of a parameter; `SettingError` if it is damaged."""
        try:
            raw = urlsafe_b64decode(packed.encode("ascii") + b"=" * (-len(packed) % 4))
            unpacker = zlib.decompressobj()
            text = unpacker.decompress(raw, MOST_BYTES)
            if not unpacker.eof:
                raise ValueError("too long or cut")
            return cls.read(text.decode())
        except (ValueError, zlib.error) as error:
            raise SettingError("The lecture of this link is damaged: copy the whole link again.") from error


def _wrong(found: str, expected: str) -> DataError:
    return DataError(found, expected=expected, remedy="Correct the file, or save the lecture again.")


def _view(one: Any, number: int) -> View:
    """Check a view of a file."""
    one = one if isinstance(one, dict) else {}
    page, query, text = one.get("page"), one.get("query", {}), one.get("text", "")
    bare, locked = one.get("bare", False), one.get("locked", False)
    if page not in [entry.file for entry in ENTRIES]:
        raise _wrong(f"view {number} has no page of this app", 'such as "page": "train"')
    if not isinstance(query, dict) or len(query) > MOST_PARAMETERS:
        raise _wrong(f"the query of view {number} cannot be read", 'such as {"C": "-4"}')
    if not all(is_text(item, LONGEST_VALUE) for pair in query.items() for item in pair):
        raise _wrong(f"the query of view {number} has other values than texts", 'such as {"C": "-4"}')
    if not is_text(text, LONGEST_TEXT) or not isinstance(bare, bool) or not isinstance(locked, bool):
        raise _wrong(
            f"text, bare or locked of view {number} cannot be read",
            f"a text of at most {LONGEST_TEXT:,} letters, and true or false",
        )
    return View(page, {key: value for key, value in query.items() if key not in _OWN}, text, bare, locked)


def own() -> Sequence:
    """Return the visitor's sequence; at first the followed one, because each view is a new session."""
    place: Place | None = st.session_state.get(_FOLLOWED)
    if KEY not in st.session_state and place is not None:
        return place.sequence
    kept = _KEPT.get(visitor())
    found: Sequence = Sequence.unpacked(kept[1]) if kept else st.session_state.get(KEY, Sequence())
    return found


def change(new: Sequence) -> None:
    """Replace the visitor's sequence; the ones before can be restored."""
    if (before := own()) != new:
        st.session_state[BEFORE] = [*st.session_state.get(BEFORE, ()), before][-MOST_BEFORE:]
    st.session_state[KEY] = new
    _KEPT.pop(visitor(), None)
    if new.views and len(packed := new.packed()) <= LONGEST_KEPT:
        _KEPT[visitor()] = (address(), packed)
    while len(_KEPT) > MOST_KEPT:  # made-up visitors push out only lectures of their own address
        fullest = Counter(where for where, _ in list(_KEPT.values())).most_common(1)[0][0]
        _KEPT.pop(next(one for one, (where, _) in list(_KEPT.items()) if where == fullest), None)


def add_view() -> None:
    """Add the current page in its state (a callback)."""
    page = next(entry.file for entry in ENTRIES if entry.title == st.session_state[TITLE])
    query = {key: text for key, text in frozen_params().items() if key not in _OWN}
    sequence = own()
    if len(sequence.views) < MOST_VIEWS:
        if lesson_of(page, query):  # students would take the lecturer's prediction for their own
            query = without_prediction(query)
        change(replace(sequence, views=(*sequence.views, View(page, query))))
        st.toast(
            words.VIEW_ADDED.format(number=len(sequence.views) + 1), icon=":material/playlist_add_check:"
        )


@dataclass(frozen=True)
class Place:
    """A view of a sequence that a visitor follows.

    Attributes
    ----------
    sequence : Sequence
    parameter : tuple of str
        Name and value of the address's parameter: a packed sequence, or the code of a class.
    at : int
        Number of the view, from 1; 0 before the first.
    """

    sequence: Sequence
    parameter: tuple[str, str]
    at: int

    @property
    def view(self) -> View | None:
        """The view; None before the first."""
        return self.sequence.views[self.at - 1] if self.at else None

    @property
    def code(self) -> str:
        """Code of the class; "" without one."""
        return self.parameter[1] if self.parameter[0] == CODE else ""

    def address(self, at: int, *, shared: bool = False) -> str:
        """Return the address of a view; 0 for the page that edits them, or lists those of a class.

        One to share has no large type: that is for the lecturer's projector.
        """
        name, value = self.parameter
        view = self.sequence.views[at - 1] if at else View(PAGE, {})
        shown = {key: "true" for key in (LARGE, ALONE) if is_on(key) and not shared}
        query = {**view.query, **shown, name: value, AT: str(at)}
        return f"{app_address()}{'' if view.page == ENTRIES[0].file else view.page}?{urlencode(query)}"

    def link(self, at: int, text: str, name: str) -> str:
        """Return a link to a view, as HTML with this class."""
        address = html.escape(self.address(at), quote=True)
        return f'<a class="{name}" target="_self" href="{address}">{text}</a>'


def app_address() -> str:
    """Return the address of the app, to which names of pages are added."""
    path = urlsplit(st.context.url or "")._replace(query="", fragment="").geturl()
    here = next((e.file for e in ENTRIES if e.title == st.session_state.get(TITLE)), "")
    return path.removesuffix(here).rstrip("/") + "/"


def followed() -> Place | None:
    """Return the view of the address, else the last one of this session; None if nothing is followed.

    Raises `SettingError` for a damaged link, and for a class that is closed.
    """
    asked = st.query_params
    name = CODE if asked.get(CODE) else PACKED
    if value := asked.get(name, ""):
        code = value.upper()
        packed = CLASSES.sequence(code, visitor(), address()) if name == CODE else value
        if packed is None:
            st.session_state.pop(_FOLLOWED, None)
            raise SettingError("No open class has this code. The class was closed, or the code is wrong.")
        sequence = Sequence.unpacked(packed)
        text = asked.get(AT, "")
        at = int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 0
        value = code if name == CODE else value
        st.session_state[_FOLLOWED] = Place(sequence, (name, value), min(at, len(sequence.views)))
    return st.session_state.get(_FOLLOWED)


def lock() -> None:
    """Lock the controls if the view of the address asks for it; never for the lecturer of the class."""
    try:
        place = followed()
    except SettingError:  # the bar reports it
        place = None
    view = place.view if place is not None else None
    asked = view is not None and view.locked and AT in st.query_params
    leads = place is not None and CLASSES.leads(place.code, visitor())
    st.session_state[LOCKED] = asked and not leads


def report_gap(lesson: str, gap: float) -> None:
    """Count a prediction's gap for the followed class, if this is its view's lesson (a callback)."""
    place: Place | None = st.session_state.get(_FOLLOWED)
    if place is not None and place.code and place.view is not None and place.view.lesson == lesson:
        CLASSES.answer(place.code, visitor(), place.at, gap)


def leave() -> None:
    """Stop following (a callback)."""
    st.session_state.pop(_FOLLOWED, None)
    for key in (PACKED, CODE, AT):
        if key in st.query_params:
            del st.query_params[key]


_BARE = "[data-testid=stSidebar], [data-testid=stExpandSidebarButton] { display: none; }"
_SCRIPT = (SCRIPTS / "shell" / "lecture.js").read_text(encoding="utf-8")


def show_bar() -> None:
    """Draw the view's text and the ways back and on, above a page of a followed sequence."""
    try:
        place = followed()
    except SettingError as error:
        st.warning(escaped(error), icon=":material/playlist_remove:")
        leave()
        return
    if place is None or not place.at or st.session_state[TITLE] == LECTURE:
        return
    in_view = AT in st.query_params
    if in_view:
        arrive(place)
    view = place.sequence.views[place.at - 1]
    style = f"<style>{_BARE}</style>" if view.bare and in_view else ""
    bar = st.container(
        key=f"{KEPT_ALONE}-sequence", horizontal=True, vertical_alignment="center", gap="small"
    )
    with bar:
        ways = f"{style}{_ways(place, in_view=in_view)}<script>{_SCRIPT}</script>"
        st.html(ways, unsafe_allow_javascript=True, width="content")
        if view.text and in_view:
            st.markdown(formatted(view.text), width="content")
        if locked():
            st.caption(words.CONTROLS_LOCKED, width="content")
        show_progress(place)


def _ways(place: Place, *, in_view: bool) -> str:
    """Return the links of the bar; none leads beyond the first and the last view."""
    n, at, link = len(place.sequence.views), place.at, place.link
    if not in_view:
        return f"<nav>{link(at, words.BACK_TO_VIEW.format(at=at, n=n), 'on')}</nav>"
    back = link(at - 1, words.VIEW_BACK, "back") if at > 1 else ""
    on = link(at + 1, words.VIEW_ON, "on") if at < n else ""
    follows = place.code and not CLASSES.leads(place.code, visitor())
    out = link(0, words.ALL_VIEWS if follows else words.EDIT_LECTURE, "out")
    title = f"<strong>{html.escape(place.sequence.title)}</strong>"
    return f'<nav aria-label="{words.VIEWS}">{back}<span>{at} / {n}</span>{on}{title}{out}</nav>'


def arrive(place: Place) -> None:
    """Count the visitor at this view, if a class follows it."""
    if place.code:
        keep_visitor()  # a view is a new session: without it a student would be counted at each
        CLASSES.arrive(place.code, visitor(), place.at, address())


def show_progress(place: Place) -> None:
    """Say again and again where the class is: all of it to the lecturer, the lecturer's view to others."""
    if place.code:
        st.fragment(_progress, run_every=REFRESH)(place)


@errors_as_sentences()
def _progress(place: Place) -> None:
    report = CLASSES.report(place.code)
    if report is None:
        st.caption(words.CLASS_CLOSED)
    elif CLASSES.leads(place.code, visitor()):
        view, gaps = place.view, report.answers.get(place.at, Counter())
        asks = view is not None and GUESS not in view.query  # a shown answer asks for no prediction
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(in_words(report, place.at), width="content")
            if view is not None and view.lesson and (gaps or asks):
                _show_gaps(gaps, gap_axis(view.lesson))
    else:  # without words too: the line keeps its height, so the page does not move when they come
        st.html(f'<p class="class-place" role="status">{_told(place, report.at)}</p>', width="content")


def _told(place: Place, at: int) -> str:
    """Tell a participant, as HTML, that the class counts them, and of the lecturer's view elsewhere."""
    parts = [] if place.at else [words.IN_CLASS]
    if at not in (0, place.at):
        parts += [words.LECTURER_AT.format(at=at), place.link(at, words.GO_TO_VIEW.format(at=at), "there")]
    elif not place.at:
        parts.append(words.WAIT)
    return " ".join(parts)


def in_words(report: Report, at: int) -> str:
    """Say how many students are on a view, on other ones, and at the list of views, which is view 0."""
    views, everyone = report.views, report.views.total()
    if not everyone:
        return words.NOBODY
    here, listed = views[at], views[0] if at else 0
    before = sum(n for view, n in views.items() if 0 < view < at)
    numbers = (here, before, everyone - here - listed - before, listed)
    found = [
        (n, place) for n, place in zip(numbers, words.ON_VIEWS if at else words.IN_LIST, strict=True) if n
    ]
    if len(found) == 1:
        return f"{counted(everyone, 'student')} {found[0][1]}."
    return f"{counted(everyone, 'student')}: {', '.join(f'{n} {place}' for n, place in found)}."


def _ends(low: float, high: float) -> str:
    return " to ".join(with_minus(end, "g") for end in dict.fromkeys((low, high)))


def _show_gaps(gaps: Counter[float], axis: str) -> None:
    """Draw how far the predictions of a class were from the answer, in a place that is kept for it."""
    with st.container(key="class-gaps", width=GAPS_WIDTH):
        if not gaps:
            st.caption(words.NO_PREDICTIONS)
            return
        table = gap_data(gaps)
        said = ", ".join(f"{_ends(low, high)}: {n}" for low, high, n in table.itertuples(index=False) if n)
        alt = words.GAPS.format(axis=axis, counts=said)
        st.plotly_chart(themed(gap_figure(table, axis)), key="class-histogram", alt=alt, config=STATIC)
