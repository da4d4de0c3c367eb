"""Custom components for dragging in the browser, each a script below ui/browser.

`mount(SCRIPTS / "playground" / "plane.js", …)` puts one on the page. The script's default export is a
function. Streamlit calls it with `{data, parentElement, setStateValue, setTriggerValue}` whenever data or
the theme change, always with the same parent. It may import other files of `ui/browser` by relative
paths; a style sheet has the same name. Scripts are files of our server, because the pages' policy
(`ui/shell/server.py`) forbids code from text. Streamlit serves such files for installed packages only, so
the
folder is declared to it as a package.

A script's messages come from a browser, where anyone can change them. So a page declares their shape, such as
`record(id=text, w=each(number))`. Other messages are logged and ignored.

See docs/decisions/0023-own-code-in-the-browser.md.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

from rankviz.common.settings import is_text

LOG = logging.getLogger("rankviz.components")
PACKAGE = "rankviz"
SCRIPTS = Path(__file__).parents[1] / "browser"
"""Files that browsers may read: scripts and their styles, and nothing else."""
LONGEST = 100
"""Most letters of a text from a script: names and digests."""
LARGEST, LARGEST_WHOLE = 1e100, 2**53
"""Largest number, and largest whole number, from a script; the latter is the browser's limit."""
Shape = Callable[[Any], bool]
"""Function that returns True if a JSON value has the shape."""


def mount(
    script: Path,
    key: str,
    data: Any,
    handlers: Mapping[str, tuple[Shape, Callable[[Any], object]]] | None = None,
) -> None:
    """Put a script's component on the page.

    `handlers` has, for every name that the script sets, the shape of its messages and a callback.
    """
    name = f"{script.parent.name}-{script.stem}"
    _declare(name, script.parents[1])
    style = script.with_suffix(".css")
    renderer = st.components.v2.component(
        f"{PACKAGE}.{name}",
        css=style.read_text(encoding="utf-8") if style.exists() else None,
        js=f"{script.parent.name}/{script.name}",
    )
    callbacks = {
        f"on_{name}_change": partial(_hear, key, name, *how) for name, how in (handlers or {}).items()
    }
    renderer(key=key, data=data, **callbacks)


def _hear(key: str, name: str, shape: Shape, take: Callable[[Any], object]) -> None:
    """Accept a component's message, or ignore it if its shape is wrong (a callback)."""
    value = st.session_state[key].get(name)
    if shape(value):
        take(value)
    elif value is not None:  # None: the browser has withdrawn its message
        LOG.warning("the component %s sent a %s of another shape: %.200r", key, name, value)


def number(value: Any) -> bool:
    """Return True for a number whose square is finite."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def whole(value: Any) -> bool:
    """Return True for a whole number within the browser's limit."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST_WHOLE


def text(value: Any) -> bool:
    """Return True for a short text."""
    return is_text(value, LONGEST)


def digits(value: Any) -> bool:
    """Return True for a whole number ≥ 0 written as text."""
    return text(value) and value.isascii() and value.isdecimal() and whole(int(value))


def one_of(*values: str) -> Shape:
    """Return the shape of one of these texts."""
    return lambda value: isinstance(value, str) and value in values


def each(shape: Shape, most: float = math.inf) -> Shape:
    """Return the shape of a list of at most so many items, which have this shape."""
    return lambda value: isinstance(value, list) and len(value) <= most and all(map(shape, value))


def pair(first: Shape, second: Shape) -> Shape:
    """Return the shape of a list of two items with these shapes."""
    return lambda value: isinstance(value, list) and len(value) == 2 and first(value[0]) and second(value[1])


def record(**fields: Shape) -> Shape:
    """Return the shape of a mapping that has these fields, and may have others."""
    return lambda value: (
        isinstance(value, dict)
        and all(name in value and shape(value[name]) for name, shape in fields.items())
    )


def either(*shapes: Shape) -> Shape:
    """Return the union of these shapes."""
    return lambda value: any(shape(value) for shape in shapes)


def _declare(name: str, folder: Path) -> None:
    """Tell Streamlit that a component's files are in this folder."""
    manager = get_bidi_component_manager()
    if manager.get_component_asset_root(f"{PACKAGE}.{name}") != folder.resolve():
        one = ComponentConfig(name, asset_dir=folder.name)
        manager.register_from_manifest(ComponentManifest(PACKAGE, "", [one]), folder.parent)
