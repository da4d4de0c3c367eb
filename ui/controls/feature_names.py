"""Names of features: the data set's if known, the visitor's, or numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.datasets import Fold, RankingData, recognise_fold
from rankviz.datasets.known import features_of_set
from rankviz.runs.spec import RunSpec
from ui.controls.widgets import write_address
from ui.shell import words
from ui.shell.texts import escaped
from ui.work.folds import fold_of

KEY = "names"
"""Query parameter of the visitor's names, if they are short."""
SHORT, LONGEST = 400, 60
"""Most letters of all names in an address, and of one name."""
_KEPT = "feature-names"
_LINE = re.compile(r"(\d{1,6})\s*+[:=]\s*+(.*)")


def editor(place: DeltaGenerator, spec: RunSpec, data: RankingData) -> list[str]:
    """Draw a box to change the names of features, closed; report unreadable lines, and return the names."""
    known = given_names(data)
    text = _text(spec)
    shown = place.expander("Feature names", icon=":material/label:", type="compact")
    with shown:
        st.caption(_source(spec, data))
        text = st.text_area(
            "One line each, as in “12: clicks”",
            text,
            key=f"{_KEPT}-{spec.dataset}",
            height=160,
            max_chars=20_000,
            placeholder="12: clicks\n13: length of title",
            help=words.NAMES,
        )
        _keep(spec, text or "")
        wrong = read(text or "", len(known))[1]
        if wrong:
            lines = "; ".join(escaped(line[:LONGEST]) for line in wrong[:3])
            st.warning(words.LINES_NOT_READ.format(d=len(known), lines=lines))
    return names_of(spec, data)


def names_of(spec: RunSpec, data: RankingData) -> list[str]:
    """Return the names of features on any page: the visitor's if given, else those of the data."""
    known, text = given_names(data), _text(spec)
    _keep(spec, text)
    own = read(text, len(known))[0]
    return [own.get(number, name) for number, name in enumerate(known, 1)]


def with_names(spec: RunSpec, fold: Fold) -> Fold:
    """Return a fold with the visitor's names of features; itself if none are given."""
    names = names_of(spec, fold.train)
    return fold if names == given_names(fold.train) else _renamed(fold, names)


def _renamed(fold: Fold, names: Sequence[str]) -> Fold:
    parts = {part: data.renamed(feature_names=tuple(names)) for part, data in fold.parts.items()}
    return replace(fold, **parts)


def given_names(data: RankingData) -> list[str]:
    """Return the names in the data, or "feature 1" and so on."""
    if data.feature_names:
        return [name or f"feature {number}" for number, name in enumerate(data.feature_names, 1)]
    return [f"feature {number}" for number in range(1, data.n_features + 1)]


def read(text: str, d: int) -> tuple[dict[int, str], list[str]]:
    """Return names by number (1 to d) from lines such as "12: clicks", and invalid lines."""
    own: dict[int, str] = {}
    wrong = []
    for line in filter(None, map(str.strip, text.splitlines())):
        found = _LINE.fullmatch(line)
        if found and 1 <= int(found[1]) <= d and 0 < len(found[2]) <= LONGEST:
            own[int(found[1])] = found[2]
        else:
            wrong.append(line)
    return own, wrong


def _text(spec: RunSpec) -> str:
    """Return the visitor's text for this data set; initially from the address."""
    kept: dict[str, str] = st.session_state.setdefault(_KEPT, {})
    if not kept and KEY in st.query_params:
        kept[spec.dataset] = st.query_params[KEY].replace("|", "\n")
    return kept.get(spec.dataset, "")


def _keep(spec: RunSpec, text: str) -> None:
    st.session_state[_KEPT][spec.dataset] = text
    sentence = "|".join(line.strip() for line in text.splitlines() if line.strip())
    if st.query_params.get(KEY, "") != sentence:
        write_address(KEY, sentence if len(sentence) <= SHORT else "")


def _source(spec: RunSpec, data: RankingData) -> str:
    found = features_of_set(recognise_fold(spec.dataset, fold_of(spec)), data.n_features)
    if found is not None and data.feature_names == found.names:
        return escaped(found.source)
    if data.feature_names:
        return words.OWN_NAMES
    return words.NO_NAMES
