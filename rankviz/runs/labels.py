"""Labels of runs in a comparison: only the settings in which they differ."""

from __future__ import annotations

from collections.abc import Sequence

from rankviz.features.settings import N_COMPONENTS
from rankviz.models.methods import USUAL
from rankviz.models.settings import FEATURE_MAP
from rankviz.runs.description import method_label
from rankviz.runs.spec import RunSpec

_FIRST = ("feature_map", "n_components", "loss", "costs", "solver", "C")


def look_of(spec: RunSpec) -> str:
    """Return the name of a run's look: one colour per method on all pages, for RankSVM per feature map."""
    return str(spec.feature_map) if spec.method == USUAL else spec.method


def short_labels(specs: Sequence[RunSpec]) -> list[str]:
    """Return one label per spec: method and m; for runs with the same look also all differing settings."""
    alike: dict[str, list[RunSpec]] = {}
    for spec in specs:
        alike.setdefault(look_of(spec), []).append(spec)
    found = {look: iter(distinct_labels(group)) for look, group in alike.items()}
    return [next(found[look_of(spec)]) for spec in specs]


def distinct_labels(specs: Sequence[RunSpec]) -> list[str]:
    """Return one label per spec: method, m and all differing settings."""
    return [", ".join(parts) for parts in distinct_parts(specs)]


def distinct_parts(specs: Sequence[RunSpec]) -> list[tuple[str, ...]]:
    """Return the parts of `distinct_labels`."""
    told: list[tuple[str, ...]] = [(method_label(spec),) for spec in specs]
    for name in _names(specs):
        found = [_words(spec, name) for spec in specs]
        if len({text for text in found if text}) > 1:
            told = [(*parts, text) if text else parts for parts, text in zip(told, found, strict=True)]
    return told


def without_common(labels: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Remove the parts that all labels begin with; each keeps at least one."""
    common = 0
    while all(len(own) > common + 1 and own[common] == labels[0][common] for own in labels):
        common += 1
    return [own[common:] for own in labels]


def _names(specs: Sequence[RunSpec]) -> list[str]:
    """Return the settings for labels: the objective's first, then in the order of captions."""
    return list(dict.fromkeys((*_FIRST, *(name for spec in specs for name in spec.values))))


def _words(spec: RunSpec, name: str) -> str:
    """Format a setting of a run; "" if it has none or its name includes it."""
    if name not in spec or name in _in_the_name(spec):
        return ""
    return spec.declared()[name].told(spec.get(name))


def _in_the_name(spec: RunSpec) -> set[str]:
    """Return the settings that `method_label` includes."""
    if spec.method == USUAL:
        return {FEATURE_MAP.name, N_COMPONENTS.name}
    return {setting.name for setting in spec.kind.settings if setting.named} - {FEATURE_MAP.name}
