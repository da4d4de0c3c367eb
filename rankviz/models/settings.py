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
    help="linear: the features themselves. Nyström: a kernel through m landmark documents. Random Fourier: a "
    "kernel through m random frequencies. exact kernel: the kernel itself, without approximation; its time "
    "and memory grow with the square of the documents.",
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
    help="near may start from the weights of a neighbouring run that is made with it, which is faster; zero "
    "starts from zero, so that its trace shows all of the way.",
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
