"""What a page needs of a model, and what it says and offers where the model has it not."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.common.settings import Setting
from rankviz.experiments.description import in_a_sentence
from rankviz.experiments.spec import RunSpec
from rankviz.models.offers import WORDS
from ui.shared.settings import METHOD
from ui.shared.show import capital


def offered(spec: RunSpec, *names: str) -> bool:
    """Whether the model of a spec offers all that is named; where it does not, says why and what would."""
    lacking = spec.offers.lacks(*names)
    if not lacking:
        return True
    st.info(reason(spec, lacking), icon=":material/info:")
    row = st.container(horizontal=True)
    able = list(would_do(spec, *names))
    labels = [setting.options[option].label for setting, option in able]
    for (setting, option), label in zip(able, labels, strict=True):
        which = f" ({setting.label.lower()})" * (labels.count(label) > 1)  # a map and a kernel are linear
        row.button(
            f"Use {label}{which}",
            key=f"use-{setting.key}-{option}-{'-'.join(names)}",
            on_click=_choose,
            args=(setting.key, option),
        )
    return False


def reason(spec: RunSpec, lacking: list[str]) -> str:
    """Why something cannot be shown of a model, as a sentence."""
    words = " and no ".join(WORDS[name] for name in lacking)
    return f"{capital(in_a_sentence(spec))} has no {words}, so there is nothing to show here."


def would_do(spec: RunSpec, *names: str) -> Iterator[tuple[Setting, str]]:
    """The single other choices, each as its setting and the option, with which a model offers all named."""
    choices = [setting for setting in spec.declared().values() if setting.options and setting.key]
    for setting in (*choices, METHOD):
        for option in setting.options:
            try:
                other = spec.but(**{setting.name: option})
                other.kind.check(other.values)
            except SettingError:
                continue  # it does not go with the other settings
            if not other.offers.lacks(*names):
                yield setting, option


def _choose(key: str, option: str) -> None:
    """Set a menu of the sidebar (a callback)."""
    st.session_state[key] = option
