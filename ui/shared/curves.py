"""RankSVM over m, as Home and NDCG against m draw it: which models are curves, and what they are in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rankviz.experiments.description import Description, describe
from rankviz.experiments.spec import RunSpec
from rankviz.features.settings import N_COMPONENTS
from rankviz.plots.style import approximations, look_of, style_of
from ui.shared.settings import spec_from_state


def kernels(state: Any) -> list[RunSpec]:
    """RankSVM on each approximation of a kernel, with the sidebar's settings of all methods."""
    return [spec_from_state(state, name) for name in approximations()]


def is_curve(spec: RunSpec) -> bool:
    """Whether a run is a point of one of the curves."""
    return look_of(spec) in approximations()


def listed(words: Sequence[str]) -> str:
    """Words one after the other: "Nyström and random Fourier", "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def names() -> str:
    """The approximations, one after the other."""
    return listed([style_of(name).name for name in approximations()])


def choices(spec: RunSpec) -> str:
    """Settings of the map beside m that go without saying mostly, each after a comma: ", rank 50"."""
    own = [s for s in spec.declared().values() if s.named and s not in (*spec.kind.settings, N_COMPONENTS)]
    words = (setting.words(spec.get(setting.name)) for setting in own)
    return "".join(f", {text}" for text in words if text)


def described(specs: Sequence[RunSpec], part: str, first: int, last: int, **told: str) -> Description:
    """Several maps over a range of m in words, the settings of all of them said once.

    `told` has the words of settings that are said in another way, by their names.
    """
    maps = [f"{style_of(look_of(spec)).name}{choices(spec)}" for spec in specs]
    ms = f"{N_COMPONENTS.symbol} = {first}" + (f" to {last}" if first < last else "")
    settings: dict[str, str] = {}
    for spec in specs:
        settings |= {name: words for name, words in describe(spec).settings if name not in settings}
    settings |= {name: words for name, words in told.items() if name in settings}
    return replace(describe(specs[0], part), model=f"{listed(maps)}, {ms}", settings=tuple(settings.items()))
