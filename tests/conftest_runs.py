"""The spec that tests of specs, runs and records begin with, and others that differ from it in one thing."""

import dataclasses
from contextlib import suppress

from rankviz import RunSpec
from rankviz.common.errors import SettingError
from rankviz.common.settings import Setting, every
from rankviz.models.methods import METHODS
from rankviz.runs.spec import DataSpec

SPEC = RunSpec("demo", n_components=25, gamma=0.5, C=0.25, seed=3)

EVERY = (
    SPEC.but(rank=5),
    SPEC.but(kernel="polynomial"),
    SPEC.but(feature_map="fourier"),
    SPEC.but(loss="crr"),
)
"""Specs that together have every setting of RankSVM."""
assert {name for spec in EVERY for name in spec.values} == {s.name for s in every(SPEC.kind.settings)}


def others(spec: RunSpec) -> dict[str, RunSpec]:
    """The spec with another value of each thing that it says."""
    data = {name: spec.but(**{name: "another"}) for name in ("dataset", "fold", "digest")}
    data |= {
        "normalisation": spec.but(normalisation="query_zscore"),
        "share": spec.but(share=0.5),
        "flipped": spec.but(flipped=0.5),
        "draw": spec.but(share=0.5, draw=1),
    }
    assert set(data) == {f.name for f in dataclasses.fields(DataSpec)}
    found = {name: spec.but(**{name: another(s, spec.values[name])}) for name, s in spec.declared().items()}
    method = next(name for name in METHODS if name != spec.method)
    return data | found | {"method": spec.but(method=method)}


def another(setting: Setting, value: object) -> object:
    """A value of a setting that it has not."""
    names = [name for name in setting.options if name != value]
    if setting.name == "costs":
        return ((0.0, 0.0), (1.0, 0.0))
    if names:
        return names[0]
    number = value if isinstance(value, int | float) else 1
    with suppress(SettingError):
        return setting.checked(number + 1)
    return setting.checked(number / 2)
