"""Components of our own: what is dragged in the browser, made of a script beside its page.

`mount(Path(__file__).with_name("plane.js"), …)` puts one on the page. Its script has as default export a
function that Streamlit calls with `{data, parentElement, setStateValue, setTriggerValue}` whenever data or
the theme have changed, always with the same parent, and may import other files of `ui` by relative paths; a
style sheet of the same name stands beside it. Scripts are files of our own server, for the policy of pages
(`ui/shared/headers.py`) lets no browser run code made of text. Streamlit serves such files to installed
packages only; so the folder is declared to it here as if it were one.

See docs/decisions/0023-own-code-in-the-browser.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

PACKAGE = "rankviz"


def mount(script: Path, **how: Any) -> Any:
    """Put the component of that script on the page; returns what it has told, by name.

    `how` is what Streamlit's components take: `key`, `data`, and `on_NAME_change` for every NAME that the
    script sets.
    """
    name = f"{script.parent.name}-{script.stem}"
    _declare(name, script.parents[1])
    style = script.with_suffix(".css")
    renderer = st.components.v2.component(
        f"{PACKAGE}.{name}",
        css=style.read_text(encoding="utf-8") if style.exists() else None,
        js=f"{script.parent.name}/{script.name}",
    )
    return renderer(**how)


def _declare(name: str, folder: Path) -> None:
    """Tell the running Streamlit that the files of a component are below this folder."""
    manager = get_bidi_component_manager()
    if manager.get_component_asset_root(f"{PACKAGE}.{name}") != folder.resolve():
        one = ComponentConfig(name, asset_dir=folder.name)
        manager.register_from_manifest(ComponentManifest(PACKAGE, "", [one]), folder.parent)
