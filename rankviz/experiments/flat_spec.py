"""Run specs as they were written first: one flat mapping, with settings that the run did not read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankviz.common.settings import one_of
from rankviz.models.methods import METHODS, USUAL

DATA = ("dataset", "fold", "digest", "normalisation")
SETTINGS = ("feature_map", "n_components", "C", "gamma", "loss", "seed", "tol", "rank", "landmarks")
OTHERS = ("preconditioner", "frequencies", "start", "costs", "solver", "factors", "nuclear", "coupling")


def is_flat(values: Mapping[str, Any]) -> bool:
    """Whether a mapping is a spec of that time."""
    return "data" not in values and "settings" not in values


def from_flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """What `RunSpec` is called with: the data, the method, and of the settings those that it reads.

    Raises ValueError for a field that is missing or unknown.
    """
    known = (*DATA, "method", *SETTINGS, *OTHERS)
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r}; a run spec has {', '.join(known)}")
    if "dataset" not in values:
        raise ValueError("a run spec names its 'dataset'")
    method = values.get("method", USUAL)
    one_of("method", method, METHODS)
    kept = {name: values[name] for name in (*DATA, "method") if name in values}
    read = METHODS[method].active(lambda setting: setting.checked(values.get(setting.name, setting.default)))
    return kept | {setting.name: value for setting, value in read}
