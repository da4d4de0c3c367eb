"""Requirements of a page for a model, with messages and offers if they are not met."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.common.settings import Setting
from rankviz.models.offers import WORDS
from rankviz.runs.description import in_a_sentence
from rankviz.runs.spec import RunSpec
from ui.controls.settings import METHOD
from ui.shell.figures import capital


def offered(spec: RunSpec, *names: str) -> bool:
    """Return True if a spec's model offers all of these; else explain why not, and offer alternatives."""
    lacking = spec.offers.lacks(*names)
    if not lacking:
        return True
    st.info(reason(spec, lacking), icon=":material/info:")
    row = st.container(horizontal=True)
    able = list(would_do(spec, *names))
    labels = [setting.options[option].label for setting, option in able]
    for (setting, option), label in zip(able, labels, strict=True):
        which = f" ({setting.label.lower()})" * (labels.count(label) > 1)  # a map and a kernel share one
        row.button(
            f"Use {label}{which}",
            key=f"use-{setting.key}-{option}-{'-'.join(names)}",
            on_click=_choose,
            args=(setting.key, option),
        )
    return False


def reason(spec: RunSpec, lacking: list[str]) -> str:
    """Explain in a sentence why something cannot be shown for a model."""
    words = " and no ".join(WORDS[name] for name in lacking)
    return f"{capital(in_a_sentence(spec))} has no {words}, so there is nothing to show here."


def would_do(spec: RunSpec, *names: str) -> Iterator[tuple[Setting, str]]:
    """Yield single other choices, as setting and option, with which a model offers all of these."""
    choices = [setting for setting in spec.declared().values() if setting.options and setting.key]
    for setting in (*choices, METHOD):
        for option in setting.options:
            try:
                other = spec.but(**{setting.name: option})
                other.kind.check(other.values)
            except SettingError:
                continue  # invalid with the other settings
            if not other.offers.lacks(*names):
                yield setting, option


def _choose(key: str, option: str) -> None:
    """Set a menu of the sidebar (a callback)."""
    st.session_state[key] = option
