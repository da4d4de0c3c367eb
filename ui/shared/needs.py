"""What a page needs of a model, and what it says and offers where the model has it not."""

from __future__ import annotations

import streamlit as st

from rankviz.experiments.spec import RunSpec
from rankviz.models.methods import METHODS
from rankviz.models.offers import WORDS
from ui.shared.settings import METHOD


def offered(spec: RunSpec, *names: str) -> bool:
    """Whether the model of a spec offers all that is named; says why not and what would, where it does not."""
    lacking = spec.offers.lacks(*names)
    if not lacking:
        return True
    st.info(reason(spec, lacking), icon=":material/info:")
    able = [name for name in METHODS if not METHODS[name].offers(METHODS[name].resolve({})).lacks(*names)]
    row = st.container(horizontal=True)
    for name in able:
        row.button(
            f"Use {METHODS[name].label}", key=f"use-{name}-{'-'.join(names)}", on_click=_choose, args=(name,)
        )
    return False


def reason(spec: RunSpec, lacking: list[str]) -> str:
    """Why something cannot be shown of a model, as a sentence."""
    words = " and no ".join(WORDS[name] for name in lacking)
    return f"{spec.kind.label} has no {words}, so there is nothing to show here."


def _choose(method: str) -> None:
    st.session_state[METHOD.key] = method
