"""The settings of methods, besides features, risk and solvers (see `rankviz.common.settings`)."""

from __future__ import annotations

from dataclasses import dataclass

from rankviz.common.settings import Choice, Positive, Setting
from rankviz.features import FEATURE_MAPS

FEATURE_MAP = Setting(
    name="feature_map",
    symbol="φ",
    label="Feature map",
    domain=Choice(FEATURE_MAPS),
    default="nystroem",
    help="; ".join(f"{kind.label}: {kind.meaning}" for kind in FEATURE_MAPS.values() if kind.meaning) + ".",
    key="map",
    named=True,
)


@dataclass(frozen=True)
class Start:
    """Choice of the weights that training starts from.

    Attributes
    ----------
    label : str
    shared : bool
        True if weights of another run may be used.
    """

    label: str
    shared: bool


STARTS = {"near": Start("the nearest run's weights", shared=True), "zero": Start("zero", shared=False)}
"""Choices by their names in `RunSpec(start=...)`."""

START = Setting(
    name="start",
    symbol="start",
    label="Start",
    domain=Choice(STARTS),
    default="near",
    help="; ".join(f"{name}: {start.label}" for name, start in STARTS.items()) + ".",
    caption=lambda name: "",
    how=True,
    parameter=None,
)

MEMORY_LIMIT = Setting(
    name="memory_limit",
    symbol="memory",
    label="Largest memory, in bytes",
    domain=Positive(optional=True),
    default=None,
    help="None for 70 % of what is free.",
    quiet=True,
    how=True,
)
