"""Components of our own: what is dragged in the browser, made of a script beside its page.

`mount(Path(__file__).with_name("plane.js"), …)` puts one on the page. Its script has as default export a
function that Streamlit calls with `{data, parentElement, setStateValue, setTriggerValue}` whenever data or
the theme have changed, always with the same parent, and may import other files of `ui` by relative paths; a
style sheet of the same name stands beside it. Scripts are files of our own server, for the policy of pages
(`ui/shared/headers.py`) lets no browser run code made of text. Streamlit serves such files to installed
packages only; so the folder is declared to it here as if it were one.

What a script tells comes from a browser, where anybody can change it. So a page declares the shape of it,
such as `record(id=text, w=each(number))`. What has another shape is logged and ignored.

See docs/decisions/0023-own-code-in-the-browser.md.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

LOG = logging.getLogger("rankviz.components")
PACKAGE = "rankviz"
LONGEST = 100
"""Letters of a text that a script tells: names and digests."""
LARGEST, LARGEST_WHOLE = 1e100, 2**53
"""Of the numbers that a script tells; the browser has whole numbers up to the second one."""
Shape = Callable[[Any], bool]
"""Whether a value, made of JSON, is of the shape."""


def mount(
    script: Path, key: str, data: Any, told: Mapping[str, tuple[Shape, Callable[[Any], object]]] | None = None
) -> None:
    """Put the component of that script on the page.

    `told` has, for every name that the script sets, the shape of what it tells and the callback for that.
    """
    name = f"{script.parent.name}-{script.stem}"
    _declare(name, script.parents[1])
    style = script.with_suffix(".css")
    renderer = st.components.v2.component(
        f"{PACKAGE}.{name}",
        css=style.read_text(encoding="utf-8") if style.exists() else None,
        js=f"{script.parent.name}/{script.name}",
    )
    hear = {f"on_{name}_change": partial(_hear, key, name, *how) for name, how in (told or {}).items()}
    renderer(key=key, data=data, **hear)


def _hear(key: str, name: str, shape: Shape, take: Callable[[Any], object]) -> None:
    """Take what a component has told, or ignore it where it has another shape (a callback)."""
    value = st.session_state[key].get(name)
    if shape(value):
        take(value)
    elif value is not None:  # the browser has taken back what it told
        LOG.warning("the component %s told a %s of another shape: %.200r", key, name, value)


def number(value: Any) -> bool:
    """Return whether a value is a number whose square is a finite number too."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def whole(value: Any) -> bool:
    """Return whether a value is a whole number that the browser can have."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST_WHOLE


def text(value: Any) -> bool:
    """Return whether a value is a short text."""
    return isinstance(value, str) and len(value) <= LONGEST


def digits(value: Any) -> bool:
    """Return whether a value is a whole number from 0 on that is written as a text."""
    return text(value) and value.isascii() and value.isdecimal() and whole(int(value))


def one_of(*values: str) -> Shape:
    """Return the shape of one of these texts."""
    return lambda value: isinstance(value, str) and value in values


def each(shape: Shape) -> Shape:
    """Return the shape of a list whose items have this shape."""
    return lambda value: isinstance(value, list) and all(map(shape, value))


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
    """Return the shape of what has one of these shapes."""
    return lambda value: any(shape(value) for shape in shapes)


def _declare(name: str, folder: Path) -> None:
    """Tell the running Streamlit that the files of a component are below this folder."""
    manager = get_bidi_component_manager()
    if manager.get_component_asset_root(f"{PACKAGE}.{name}") != folder.resolve():
        one = ComponentConfig(name, asset_dir=folder.name)
        manager.register_from_manifest(ComponentManifest(PACKAGE, "", [one]), folder.parent)
