"""A design and its cells in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankviz.features.settings import N_COMPONENTS
from rankviz.models.settings import FEATURE_MAP
from rankviz.plots.setting_words import listed, setting_words, value_words
from rankviz.runs.axes import Range
from rankviz.runs.designs import Design
from ui.shared.foreign import describe, escaped


def cell_words(design: Design, cell: Mapping[str, Any]) -> str:
    """Describe the settings of a cell: "C = 2⁻⁴, γ = 2⁻⁶"."""
    known = design.settings
    return ", ".join(
        f"{setting_words(known[name])} = {value_words(known[name], value)}" for name, value in cell.items()
    )


def model_words(design: Design) -> str:
    """Describe method and model, with their settings that do not vary."""
    told = describe(design.base)
    model = "" if FEATURE_MAP.name in design.names else told.model
    if N_COMPONENTS.name in design.names:
        model = model.split(f" {N_COMPONENTS.symbol} =")[0]
    return " · ".join(filter(None, (told.method, model)))


def what_stays(design: Design, title: str = "") -> str:
    """Describe the settings common to all cells, without parts of a title."""
    several = f"{len(design.folds)} folds" if len(design.folds) > 1 else escaped(design.folds[0])
    seeds = f"{len(design.seeds)} seeds" if len(design.seeds) > 1 else ""
    told = describe(design.base).without(*design.names, *(["seed"] if seeds else []))
    named = [one for one in (design.base.dataset, model_words(design)) if one not in title]
    words = [*map(escaped, named), several, seeds, *(text for _, text in told.settings), told.normalisation]
    return " · ".join(filter(None, words))


def over(design: Design) -> str:
    """Name the folds of a mean: "mean of 5 folds"."""
    if len(design.folds) == 1:
        return f"on {escaped(design.folds[0])}"
    return f"mean of {len(design.folds)} folds"


def axes_in_words(design: Design) -> str:
    """Describe the axes with their values: "C = 2⁻¹² … 2⁶, γ = 2⁻¹² … 2²"."""
    return ", ".join(_in_words(design, name) for name in design.names)


def _in_words(design: Design, name: str) -> str:
    setting, axis = design.settings[name], design.axis(name)
    ends = (axis.low, axis.high) if isinstance(axis, Range) else listed(design, name)
    shown = ends if len(ends) <= 3 and not isinstance(axis, Range) else (ends[0], "…", ends[-1])
    words = " ".join(one if one == "…" else value_words(setting, one) for one in shown)
    return f"{setting_words(setting)} = {words}"


def title_of(design: Design) -> str:
    """Return the default title of a sweep."""
    base = design.base
    names = " × ".join(setting_words(design.settings[name]) for name in design.names)
    return ", ".join(filter(None, (names, model_words(design), base.dataset)))
