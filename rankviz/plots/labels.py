"""Legend entries that tell several runs apart by what differs among them."""

from __future__ import annotations

from collections.abc import Sequence

from rankviz.experiments.description import method_label
from rankviz.experiments.spec import RunSpec

_IN_THE_NAME = ("feature_map", "n_components")
_FIRST = ("loss", "costs", "solver", "C")


def distinct_labels(specs: Sequence[RunSpec]) -> list[str]:
    """One label a spec: method and m, and of the other settings what varies."""
    return [", ".join(parts) for parts in distinct_parts(specs)]


def distinct_parts(specs: Sequence[RunSpec]) -> list[tuple[str, ...]]:
    """The parts of `distinct_labels`."""
    told: list[tuple[str, ...]] = [(method_label(spec),) for spec in specs]
    for name in _names(specs):
        found = [_words(spec, name) for spec in specs]
        if len({text for text in found if text}) > 1:
            told = [(*parts, text) if text else parts for parts, text in zip(told, found, strict=True)]
    return told


def without_common(labels: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Labels by their parts, without those that all of them begin with; each keeps one at least."""
    common = 0
    while all(len(own) > common + 1 and own[common] == labels[0][common] for own in labels):
        common += 1
    return [own[common:] for own in labels]


def _names(specs: Sequence[RunSpec]) -> list[str]:
    """Settings that labels may name: what is minimised first, then in the order of captions."""
    names = dict.fromkeys((*_FIRST, *(name for spec in specs for name in spec.values)))
    return [name for name in names if name not in _IN_THE_NAME]


def _words(spec: RunSpec, name: str) -> str:
    """A setting of a run in words, "" where it has none."""
    return spec.declared()[name].told(spec.get(name)) if name in spec else ""
