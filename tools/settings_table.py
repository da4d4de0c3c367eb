"""Write docs/settings.md, the table of all settings, from their objects: `python -m tools.settings_table`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rankviz.common.settings import Powers, Setting, Steps, Typed, every
from rankviz.datasets.samples import SETTINGS as SAMPLE
from rankviz.learning.loss_facts import AnyLoss
from rankviz.learning.losses import EVERY_LOSS
from rankviz.models.methods import METHODS
from ui.controls.settings import BASELINE_C, METHOD, NORMALISATION

TARGET = Path(__file__).parents[1] / "docs" / "settings.md"

ABOUT = """# Settings

The settings of runs as the code declares them; `python -m tools.settings_table` writes this page.

A run has the settings of its method and those of its choices, such as the kernel's own. Defaults are those of
a `RunSpec`; brackets contain the app's, if different. Addresses contain powers of two as exponents.
"""

ABOUT_LOSSES = """
## Losses

"""

LOSS_COLUMNS = ("Name", "Label", "Kind", "A function of", "Formula")

COLUMNS = ("Setting", "Symbol", "Label", "Values", "Default", "Key in the URL", "Read by", "What it does")


def table() -> str:
    """The whole page."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *map(_row, settings())]
    losses = [LOSS_COLUMNS, ("---",) * len(LOSS_COLUMNS), *map(_loss_row, EVERY_LOSS.items())]
    return f"{ABOUT}\n{_lines(rows)}{ABOUT_LOSSES}{_lines(losses)}"


def _lines(rows: list[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _loss_row(entry: tuple[str, AnyLoss]) -> tuple[str, ...]:
    name, loss = entry
    what = "margins of preference pairs" if loss.of_pairs else "scores of a query"
    return f"`{name}`", loss.label, loss.family, what, loss.formula


def settings() -> list[Setting]:
    """The settings of all methods, and those of the data and of the sidebar; each once."""
    return list(
        dict.fromkeys([METHOD, *every(one for m in METHODS.values() for one in m.settings), *_BESIDE])
    )


def _row(setting: Setting) -> tuple[str, ...]:
    cells = (
        f"`{setting.name}`",
        setting.symbol,
        setting.label,
        _values(setting),
        _default(setting),
        f"`{setting.key}`" if setting.key else "–",
        "; ".join(_readers(setting)) or _BESIDE[setting],
        setting.help,
    )
    return tuple(cell.replace("|", "\\|") for cell in cells)


def _values(setting: Setting) -> str:
    """Describe the valid values, and those that the app offers."""
    offer = setting.offer
    if setting.options:
        return ", ".join(f"`{name}` ({option.label})" for name, option in setting.options.items())
    if offer is None:
        return setting.domain.words
    return f"{setting.domain.words}; the app offers {_offered(offer)}"


def _offered(offer: Powers | Steps | Typed) -> str:
    if isinstance(offer, Powers):
        return f"{offer.base}^{offer.low} to {offer.base}^{offer.high}"
    if isinstance(offer, Typed):
        return f"{offer.low:,} to {offer.high:,}"
    return ", ".join(f"{value:g}" for value in offer.values)


def _default(setting: Setting) -> str:
    start = "" if setting.first == setting.default else f" ({_written(setting, setting.first)})"
    return _written(setting, setting.default) + start


def _written(setting: Setting, value: Any) -> str:
    if isinstance(setting.offer, Powers):
        return setting.format(value).removeprefix(f"{setting.symbol} = ")
    return f"`{value}`"


def _readers(setting: Setting) -> Iterator[str]:
    """Name the owners of a setting: methods, and options of their settings."""
    if setting is METHOD:
        yield "every run"
    for method in METHODS.values():
        if setting in method.settings:
            yield method.label
    for choice in settings():
        if choice is not METHOD:
            yield from (
                f"{choice.label.lower()} {option.label}"
                for name, option in choice.options.items()
                if setting in choice.settings_of(name)
            )


_BESIDE = {
    NORMALISATION: "the data of every run",
    BASELINE_C: "figures with a linear baseline",
    **dict.fromkeys(SAMPLE, "the data of every run"),
}
"""Settings that no method declares, and what reads them."""


def main() -> None:
    """Write the page."""
    TARGET.write_text(table(), encoding="utf-8")


if __name__ == "__main__":
    main()
