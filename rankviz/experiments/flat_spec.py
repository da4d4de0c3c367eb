"""The first format of run specs: one flat mapping, including settings that the run did not read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankviz.common.settings import one_of
from rankviz.models.methods import METHODS, USUAL

DATA = ("dataset", "fold", "digest", "normalisation")
SETTINGS = ("feature_map", "n_components", "C", "gamma", "loss", "seed", "tol", "rank", "landmarks")
OTHERS = ("preconditioner", "frequencies", "start", "costs", "solver", "factors", "nuclear", "coupling")


def is_flat(values: Mapping[str, Any]) -> bool:
    """Return True if a mapping has the flat format."""
    return "data" not in values and "settings" not in values


def from_flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `RunSpec`: the data, the method, and the settings that it reads.

    Raises ValueError for a missing or unknown field.
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
