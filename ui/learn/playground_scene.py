"""Contents of the plane: a set with changes by hand, as a value, as a line of an address, as data.

Positions are in hundredths, so that a line of an address is exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple, Self

import streamlit as st

from rankviz.datasets import RankingData
from rankviz.datasets.synthetic import FEATURES, make_plane
from ui.shell.components import each, record, text, whole

EDGE = 1.15
"""Largest coordinate of documents and landmarks; the plane extends a little beyond."""
GRADES, QUERIES, MOST = 5, 4, 150
"""Number of grades and of queries, and largest number of documents."""
FAR = 3.5
"""Largest coordinate of a frequency, in units of √(2γ): few of those drawn lie beyond."""
LONGEST = 1200
"""Largest number of characters of changes by hand in an address."""
_ITEM = re.compile(r"(\d{1,3})(?:\.(-?\d{1,3})\.(-?\d{1,3})\.(\d)\.(\d))?")
_PLACE = re.compile(r"([zw])(\d{1,3})\.(-?\d{1,3})\.(-?\d{1,3})")
KEY, LINE = "plane", "docs"
"""Keys of the component, and of the changes by hand in the address."""
_HELD = "plane-held"
CHANGES = each(record(rev=whole, kind=text), most=1000)
"""Shape of the browser's messages; `Scene.after` checks the rest of a change."""
FURTHEST = 200
"""Number of changes that can be undone."""


class Document(NamedTuple):
    """A document: its position, its grade, and its query from 0."""

    x: float
    y: float
    grade: int
    query: int


@dataclass(frozen=True)
class Scene:
    """A set in the plane and the changes made by hand.

    Attributes
    ----------
    plane : str
        A name in `PLANES`.
    each, seed : int
        Documents of each query, and the seed of the draw.
    changed : mapping
        Number of a document -> its present state, or None if deleted. Numbers from the size of the set on are
        added documents.
    moved : mapping
        Number of a moved landmark -> its position.
    turned : mapping
        Number of a moved frequency -> its position, in units of √(2γ).
    """

    plane: str = "ring"
    each: int = 16
    seed: int = 0
    changed: Mapping[int, Document | None] = field(default_factory=dict)
    moved: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    turned: Mapping[int, tuple[float, float]] = field(default_factory=dict)

    @property
    def drawn(self) -> dict[int, Document]:
        """Documents of the original set, by number."""
        return dict(_drawn(self.plane, self.each, self.seed))

    @property
    def documents(self) -> dict[int, Document]:
        """Present documents, by number."""
        found = self.drawn | dict(self.changed)
        return {k: one for k, one in found.items() if one is not None}

    @property
    def by_hand(self) -> int:
        """Number of documents, landmarks and frequencies changed by hand."""
        return len(self.changed) + len(self.moved) + len(self.turned)

    def after(self, change: Mapping[str, Any]) -> Self:
        """Return the scene after a change from the browser; unchanged if the change is invalid."""
        try:
            return self._after(change)
        except (KeyError, TypeError, ValueError, OverflowError):
            return self

    def _after(self, change: Mapping[str, Any]) -> Self:
        kind = change["kind"]
        if kind == "reset":
            return replace(self, changed={}, moved={}, turned={})
        if kind in ("landmark", "frequency"):
            number, far = _number(change["number"]), EDGE if kind == "landmark" else FAR
            place = _place(change["x"], far), _place(change["y"], far)
            if kind == "landmark":
                return replace(self, moved={**self.moved, number: place})
            return replace(self, turned={**self.turned, number: place})
        number, there = _number(change["id"]), self.documents
        if kind == "drop":
            return replace(self, changed={**self.changed, number: None}) if number in there else self
        if kind != "put" or (number not in there and len(there) >= MOST):
            return self
        one = _document(*(change[name] for name in Document._fields))
        return replace(self, changed={**self.changed, number: one})

    @property
    def line(self) -> str:
        """The changes by hand as characters of an address; `read` parses them."""
        items = [
            f"{k}" if one is None else f"{k}.{_hundredths(one)}.{one.grade}.{one.query}"
            for k, one in self.changed.items()
        ]
        places = [("z", self.moved), ("w", self.turned)]
        items += [f"{sign}{k}.{_hundredths(at)}" for sign, found in places for k, at in found.items()]
        return "_".join(items)

    def read(self, line: str) -> Self:
        """Return the set with the changes of a line; ValueError for an invalid line."""
        changed: dict[int, Document | None] = {}
        moved: dict[int, tuple[float, float]] = {}
        turned: dict[int, tuple[float, float]] = {}
        for item in filter(None, line.split("_")):
            if found := _PLACE.fullmatch(item):
                sign, k, x, y = found[1], *map(int, found.groups()[1:])
                into, far = (moved, EDGE) if sign == "z" else (turned, FAR)
                into[k] = (_place(x / 100, far), _place(y / 100, far))
            elif found := _ITEM.fullmatch(item):
                k, *values = (int(text) for text in found.groups() if text is not None)
                changed[k] = _document(values[0] / 100, values[1] / 100, *values[2:]) if values else None
            else:
                raise ValueError(f"{item!r} is neither a document nor a landmark")
        scene = replace(self, changed=changed, moved=moved, turned=turned)
        if len(scene.documents) > MOST:
            raise ValueError(f"there are more than {MOST} documents")
        return scene

    @property
    def data(self) -> RankingData | None:
        """The documents with their grades in queries; None without documents."""
        rows = [one for _, one in self.in_order]
        if not rows:
            return None
        X, y = [[one.x, one.y] for one in rows], [one.grade for one in rows]
        qid = [one.query + 1 for one in rows]
        return RankingData.from_arrays(X, y, qid, feature_names=FEATURES, name="the plane")

    @property
    def in_order(self) -> list[tuple[int, Document]]:
        """Numbers and documents in the order of `data`: query by query."""
        return sorted(self.documents.items(), key=lambda item: (item[1].query, item[0]))


@lru_cache(maxsize=64)
def _drawn(plane: str, each: int, seed: int) -> dict[int, Document]:
    """Draw a set; a message may have many changes, and each looks at it."""
    data = make_plane(plane, documents_per_query=each, seed=seed)
    rows = zip(data.X.tolist(), data.y.tolist(), (data.qid - 1).tolist(), strict=True)
    return {k: Document(x, y, grade, query) for k, ((x, y), grade, query) in enumerate(rows)}


def _document(x: Any, y: Any, grade: Any, query: Any) -> Document:
    one = Document(_place(x), _place(y), int(grade), int(query))
    if not (0 <= one.grade < GRADES and 0 <= one.query < QUERIES):
        raise ValueError(f"grade {grade} or query {query} is not offered")
    return one


def _place(raw: Any, far: float = EDGE) -> float:
    """Return a coordinate within the plane, in hundredths; ValueError for NaN."""
    value = float(raw)
    if value != value:
        raise ValueError("not a number")
    return round(min(max(value, -far), far), 2)


def _hundredths(place: Sequence[float]) -> str:
    return ".".join(str(round(100 * value)) for value in place[:2])


def _number(raw: Any) -> int:
    """Return the number of a document or landmark."""
    number = int(raw)
    if not 0 <= number < 1000:
        raise ValueError("not the number of a mark in the plane")
    return number


@dataclass
class PlaneState:
    """A session's state of the plane.

    Attributes
    ----------
    scene : Scene
    before : list of Scene
        Earlier scenes for undo, the latest last.
    seen : int
        Number of the browser's last change in the scene.
    unread : bool
        True if the address had changes that could not be read.
    """

    scene: Scene
    before: list[Scene] = field(default_factory=list)
    seen: int = 0
    unread: bool = False

    def take(self, change: Mapping[str, Any]) -> None:
        """Apply a change to the scene, or undo the last one."""
        if change.get("kind") == "undo":
            if self.before:
                self.scene = self.before.pop()
            return
        after = self.scene.after(change)
        if after != self.scene:
            self.before = [*self.before, self.scene][-FURTHEST:]
            self.scene = after


def plane_state(plane: str, each: int, seed: int) -> PlaneState:
    """Return the session's state; a new set, size or seed starts again, initially with the address."""
    found: PlaneState | None = st.session_state.get(_HELD)
    scene = Scene(plane, each, seed)
    if found is None:
        found = PlaneState(scene)
        try:
            found.scene = scene.read(st.query_params.get(LINE, ""))
        except ValueError:
            found.unread = True
        st.session_state[_HELD] = found
    elif replace(found.scene, changed={}, moved={}, turned={}) != scene:
        found.scene, found.before, found.unread = scene, [], False
    return found


def take_changes(set_slider: Callable[[Mapping[str, Any]], None], changes: list[dict[str, Any]]) -> None:
    """Apply the browser's changes to scene and sliders (a callback); it repeats them until they are seen."""
    found: PlaneState = st.session_state[_HELD]
    for change in changes:
        if change["rev"] > found.seen:
            found.seen = change["rev"]
            (set_slider if change["kind"] == "set" else found.take)(change)


def to_address(scene: Scene) -> bool:
    """Put the changes by hand into the address; return True if they are short enough."""
    line = scene.line
    short = len(line) <= LONGEST
    st.session_state[LINE] = line
    if line and short:
        st.query_params[LINE] = line
    elif LINE in st.query_params:
        del st.query_params[LINE]
    return short
