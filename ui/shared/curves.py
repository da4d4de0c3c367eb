"""RankSVM over m, as Home and NDCG against m draw it: which models are curves, and what they are in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from rankviz.common.errors import SettingError
from rankviz.experiments.description import Description
from rankviz.experiments.spec import RunSpec
from rankviz.features.settings import N_COMPONENTS
from rankviz.plots.style import approximations, look_of, style_of
from ui.shared.approximations import approximate_specs
from ui.shared.foreign import describe


def kernels(state: Any) -> list[RunSpec]:
    """RankSVM on each approximation that goes with the sidebar's settings; `SettingError` where none does."""
    found, left_out = approximate_specs(state)
    if not found:
        raise SettingError("; ".join(left_out))
    return found


def is_curve(spec: RunSpec) -> bool:
    """Whether a run is a point of one of the curves."""
    return look_of(spec) in approximations()


def listed(words: Sequence[str]) -> str:
    """Words one after the other: "Nyström and random Fourier", "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def names(specs: Iterable[RunSpec]) -> str:
    """What models are called by their looks, one after the other."""
    return listed([style_of(look_of(spec)).name for spec in specs])


def choices(spec: RunSpec) -> list[str]:
    """Settings of the map beside m that are not the usual ones, in words: "rank 50", "Laplacian kernel"."""
    own = [s for s in spec.declared().values() if s.named and s not in (*spec.kind.settings, N_COMPONENTS)]
    return [words for setting in own if (words := setting.words(spec.get(setting.name)))]


def described(specs: Sequence[RunSpec], part: str, first: int, last: int, **told: str) -> Description:
    """Several maps over a range of m in words, what they share said once.

    `told` has the words of settings that are said in another way, by their names.
    """
    each = [choices(spec) for spec in specs]
    shared = [words for words in each[0] if all(words in others for others in each)]
    maps = [
        ", ".join([style_of(look_of(spec)).name, *(words for words in own if words not in shared)])
        for spec, own in zip(specs, each, strict=True)
    ]
    ms = f"{N_COMPONENTS.symbol} = {first}" + (f" to {last}" if first < last else "")
    settings: dict[str, str] = {}
    for spec in specs:
        settings |= {name: words for name, words in describe(spec).settings if name not in settings}
    settings |= {name: words for name, words in told.items() if name in settings}
    model = ", ".join([listed(maps), ms, *shared])
    return replace(describe(specs[0], part), model=model, settings=tuple(settings.items()))
