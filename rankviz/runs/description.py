"""Runs in words: descriptions for captions and exports, and labels that show only differing settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from rankviz.common.settings import active
from rankviz.datasets.normalise import NORMALISATIONS
from rankviz.features import FEATURE_MAPS
from rankviz.features.registry import FEATURE_MAP, N_COMPONENTS
from rankviz.learning.losses import LOSS_WEIGHT
from rankviz.runs.spec import DataSpec, RunSpec

MAP = FEATURE_MAP.name
_C = LOSS_WEIGHT.name

PART_NAMES = {"train": "training", "vali": "validation", "test": "test"}


@dataclass(frozen=True)
class Description:
    """A run in words; as text its parts, with dots between them.

    Attributes
    ----------
    data : str
        "OHSUMED fold 1".
    method : str
        With its own settings: "factorised RankSVM, K = 5"; "" for the usual method on a feature map.
    model : str
        The feature map with its own settings: "Nyström m = 500, k-means++ landmarks"; "" if there is none.
    settings : tuple of (str, str)
        Names of the other settings, and their words: ("C", "C = 2⁻⁷"), ("loss", "squared hinge").
    normalisation, part : str
        "normalised: z-score per query", "validation"; "" for the defaults.
    """

    data: str
    method: str
    model: str
    settings: tuple[tuple[str, str], ...]
    normalisation: str = ""
    part: str = ""

    def __str__(self) -> str:
        words = (text for _, text in self.settings)
        return " · ".join(filter(None, (self.data, *self.names, *words, self.normalisation, self.part)))

    @property
    def names(self) -> tuple[str, ...]:
        """Method and model, without empty ones."""
        return tuple(filter(None, (self.method, self.model)))

    def without(self, *names: str) -> Self:
        """Return the same description without some settings."""
        return replace(self, settings=tuple(pair for pair in self.settings if pair[0] not in names))

    def words(self, *names: str) -> tuple[str, ...]:
        """Return the words of some settings, without missing ones."""
        return tuple(text for name, text in self.settings if name in names)


def describe(spec: RunSpec, part: str | None = None) -> Description:
    """Describe a run: data, model, settings, and the scored part if given."""
    words = {name: setting.words(spec.get(name)) for name, setting in spec.declared().items()}
    of_map, of_method = _beside_map(spec), _beside_method(spec)
    beside = {MAP, *of_map, *of_method, *([spec.kind.named_by.name] if spec.kind.named_by else [])}
    return Description(
        data=data_words(spec),
        method="" if spec.kind.named_by_map else _joined(_label(spec), words, of_method),
        model=_model(spec, words, of_map),
        settings=tuple((name, text) for name, text in words.items() if text and name not in beside),
        normalisation=_normalisation(spec),
        part=PART_NAMES[part] if part else "",
    )


def _beside_map(spec: RunSpec) -> list[str]:
    """Return the names of settings shown beside the feature map, m first."""
    if MAP not in spec:
        return []
    values = active(spec.option(MAP).settings, lambda setting: spec.get(setting.name, setting.default))
    brought = {setting.name for setting, _ in values}
    names = [name for name, s in spec.declared().items() if s.named and name in brought]
    return sorted(names, key=lambda name: name != N_COMPONENTS.name)


def _beside_method(spec: RunSpec) -> list[str]:
    """Return the names of settings shown beside the method; none for the usual one."""
    others = {MAP, *_beside_map(spec)}
    named = [name for name, s in spec.declared().items() if s.named and name not in others]
    own = spec.kind.named_by
    return [] if spec.kind.named_by_map else [name for name in named if own is None or name != own.name]


def _label(spec: RunSpec) -> str:
    """Return the name of a run's method, or of its system."""
    named = spec.kind.named_by
    return spec.kind.label if named is None else named.format(spec.get(named.name))


def _joined(name: str, words: Mapping[str, str], beside: Iterable[str]) -> str:
    """Join a name and the words of its settings with commas."""
    return ", ".join((name, *filter(None, (words[each] for each in beside))))


def _normalisation(spec: RunSpec) -> str:
    if spec.normalisation == DataSpec.normalisation:
        return ""
    return f"normalised: {NORMALISATIONS[spec.normalisation].label}"


def _model(spec: RunSpec, words: Mapping[str, str], beside: list[str]) -> str:
    """Format the feature map, then m, then its other settings after commas; "" without a map."""
    if MAP not in spec:
        return ""
    name = FEATURE_MAPS[spec.feature_map].label
    if N_COMPONENTS.name not in beside:
        return _joined(name, words, beside)
    return _joined(f"{name} {words[N_COMPONENTS.name]}", words, beside[1:])


def data_words(spec: RunSpec) -> str:
    """Format data set and fold, with the sample if it is not everything: "OHSUMED fold 1"."""
    return ", ".join(filter(None, (f"{spec.dataset} {fold_words(spec.fold)}", spec.sample.words)))


def fold_words(fold: str) -> str:
    """Format the name of a fold: "fold 1" for Fold1."""
    return f"fold {fold.removeprefix('Fold')}" if fold.startswith("Fold") else fold


def fold_title(fold: str) -> str:
    """Format the name of a fold for menus and headings: "Fold 1" for Fold1."""
    words = fold_words(fold)
    return fold if words == fold else f"F{words[1:]}"


def method_label(spec: RunSpec) -> str:
    """Format the legend entry of a run: "Nyström, m = 500", "factorised RankSVM, K = 5"."""
    described = describe(spec)
    if described.method:
        return described.method
    name = FEATURE_MAPS[spec.feature_map].label
    return f"{name}, m = {spec.n_components}" if "n_components" in spec else name


def in_a_sentence(spec: RunSpec) -> str:
    """Format a run's model for use in a sentence: "the linear model", "the exact kernel", "Nyström"."""
    return FEATURE_MAPS[spec.feature_map].in_a_sentence if spec.kind.named_by_map else _label(spec)


_FIRST = ("feature_map", "n_components", "loss", "costs", "solver", "C")


def look_of(spec: RunSpec) -> str:
    """Return the name of a run's look: one colour per method on all pages, for RankSVM per feature map.

    Each system that was given by its scores has its own.
    """
    named = spec.kind.named_by
    if named is not None:
        return str(spec.get(named.name)) or spec.method
    return str(spec.feature_map) if spec.kind.named_by_map else spec.method


def short_labels(specs: Sequence[RunSpec]) -> list[str]:
    """Return one label per spec: method and m; for runs with the same look also all differing settings.

    A linear model, the usual reference, also names a C of its own (`own_C`).
    """
    alike: dict[str, list[RunSpec]] = {}
    for spec in specs:
        alike.setdefault(look_of(spec), []).append(spec)
    found = {look: iter(distinct_parts(group)) for look, group in alike.items()}
    labels = [next(found[look_of(spec)]) for spec in specs]
    return [
        ", ".join(dict.fromkeys((*parts, *own_C(spec, specs))))
        for parts, spec in zip(labels, specs, strict=True)
    ]


def own_C(spec: RunSpec, others: Iterable[RunSpec]) -> tuple[str, ...]:
    """Return a linear model's C in words, if another model has a different one; else nothing."""
    if not _is_linear(spec) or all(one.get(_C, spec.C) == spec.C for one in others):
        return ()
    return (_words(spec, _C),)


def _is_linear(spec: RunSpec) -> bool:
    return spec.kind.named_by_map and not FEATURE_MAPS[spec.feature_map].has_kernel and _C in spec


def distinct_labels(specs: Sequence[RunSpec]) -> list[str]:
    """Return one label per spec: method, m and all differing settings."""
    return [", ".join(parts) for parts in distinct_parts(specs)]


def distinct_parts(specs: Sequence[RunSpec]) -> list[tuple[str, ...]]:
    """Return the parts of `distinct_labels`."""
    phrases: list[tuple[str, ...]] = [(method_label(spec),) for spec in specs]
    for name in _names(specs):
        found = [_words(spec, name) for spec in specs]
        if len({text for text in found if text}) > 1:
            phrases = [(*parts, text) if text else parts for parts, text in zip(phrases, found, strict=True)]
    return phrases


def without_common(labels: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Remove the parts that all labels begin with; each keeps at least one."""
    common = 0
    while all(len(own) > common + 1 and own[common] == labels[0][common] for own in labels):
        common += 1
    return [own[common:] for own in labels]


def changes(before: RunSpec, now: RunSpec) -> list[tuple[str, str, str]]:
    """Return each difference between two runs as name, old and new value: ("C", "2⁻⁴", "2⁻¹").

    The name is empty if the values say enough. A linear model names its C, as "linear, C = 2⁻⁴". Settings
    that only one run has follow from another change, and are left out.
    """
    data = [(data_words(before), data_words(now)), (before.kind.label, now.kind.label)]
    data += [(NORMALISATIONS[before.normalisation].label, NORMALISATIONS[now.normalisation].label)]
    found = [("", old, new) for old, new in data if old != new]
    for name in _names([before, now]):
        if name in before and name in now and before.get(name) != now.get(name):
            setting = now.declared()[name]
            old, new = (setting.format(spec.get(name)) for spec in (before, now))
            if name == MAP:
                old, new = (", ".join((t, *_same_C(s, before, now))) for t, s in ((old, before), (new, now)))
            equals = f"{setting.symbol} = "
            named = old.startswith(equals) and new.startswith(equals)
            found.append((setting.symbol * named, old.removeprefix(equals), new.removeprefix(equals)))
    return found


def _same_C(spec: RunSpec, before: RunSpec, now: RunSpec) -> tuple[str, ...]:
    """Return a linear model's C in words if it is no change of its own: its reference has another one."""
    return (_words(spec, _C),) if _is_linear(spec) and before.get(_C) == now.get(_C) else ()


def _names(specs: Sequence[RunSpec]) -> list[str]:
    """Return the settings for labels: the objective's first, then in the order of captions."""
    return list(dict.fromkeys((*_FIRST, *(name for spec in specs for name in spec.values))))


def _words(spec: RunSpec, name: str) -> str:
    """Format a setting of a run; "" if it has none or its name includes it."""
    if name not in spec or name in _in_the_name(spec):
        return ""
    return spec.declared()[name].format(spec.get(name))


def _in_the_name(spec: RunSpec) -> set[str]:
    """Return the settings that `method_label` includes."""
    if spec.kind.named_by_map:
        return {FEATURE_MAP.name, N_COMPONENTS.name}
    return {setting.name for setting in spec.kind.settings if setting.named} - {FEATURE_MAP.name}
