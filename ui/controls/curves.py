"""Curves of RankSVM over m, with the approximations of the sidebar's kernel, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from rankviz.common.errors import SettingError
from rankviz.common.numbers import span
from rankviz.features.registry import N_COMPONENTS
from rankviz.plots.style import approximations, style_of
from rankviz.runs.description import Description, look_of
from rankviz.runs.spec import RunSpec
from ui.controls.settings import spec_from_state
from ui.shell.texts import describe, escaped


def approximate_specs(state: Any) -> tuple[list[RunSpec], list[str]]:
    """Return the runs of all maps that approximate the sidebar's kernel, and reasons for those left out."""
    found, left_out = [], []
    for name in approximations():
        try:
            found.append(spec_from_state(state, name))
        except SettingError as error:
            left_out.append(str(error))
    return found, left_out


def report_left_out(reasons: list[str]) -> None:
    """Say why approximations are not drawn."""
    for reason in reasons:
        st.caption(f"Not drawn: {escaped(reason)}.")


def kernels(state: Any) -> list[RunSpec]:
    """Return RankSVM with each approximation that fits the sidebar's settings; `SettingError` without any."""
    found, left_out = approximate_specs(state)
    if not found:
        raise SettingError("; ".join(left_out))
    return found


def is_curve(spec: RunSpec) -> bool:
    """Return True if a run is a point of one of the curves."""
    return look_of(spec) in approximations()


def listed(words: Sequence[str]) -> str:
    """Join words: "Nyström and random Fourier", "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def choices(spec: RunSpec) -> list[str]:
    """Describe the map's non-default settings besides m: "rank 50", "Laplacian kernel"."""
    own = [s for s in spec.declared().values() if s.named and s not in (*spec.kind.settings, N_COMPONENTS)]
    return [words for setting in own if (words := setting.words(spec.get(setting.name)))]


def described(specs: Sequence[RunSpec], part: str, first: int, last: int, **replacements: str) -> Description:
    """Describe several maps over a range of m, with common settings once.

    `replacements` has other words for settings, by name.
    """
    each = [choices(spec) for spec in specs]
    shared = [words for words in each[0] if all(words in others for others in each)]
    maps = [
        ", ".join([style_of(look_of(spec)).name, *(words for words in own if words not in shared)])
        for spec, own in zip(specs, each, strict=True)
    ]
    ms = f"{N_COMPONENTS.symbol} = {span(first, last)}"
    settings: dict[str, str] = {}
    for spec in specs:
        settings |= {name: words for name, words in describe(spec).settings if name not in settings}
    settings |= {name: words for name, words in replacements.items() if name in settings}
    model = ", ".join([listed(maps), ms, *shared])
    return replace(describe(specs[0], part), model=model, settings=tuple(settings.items()))
