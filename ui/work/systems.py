"""Systems that this visitor gave by their scores, as the run store has them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from rankviz.datasets.archives import Member
from rankviz.datasets.score_files import Given, read_given
from rankviz.models.given import SYSTEM
from rankviz.models.methods import METHODS
from rankviz.runs.given import records_of
from rankviz.runs.spec import RunSpec
from rankviz.store import StoreOutOfReach
from rankviz.store.study import DONE
from ui.shell.visitors import address, visitor
from ui.work.folds import datasets, fold_of
from ui.work.run_store import run_store

GIVEN = next(name for name, method in METHODS.items() if method.named_by is SYSTEM)
"""Their method."""


def systems(dataset: str) -> dict[str, str]:
    """Return the systems on a data set, the latest first: labels by the values of the setting."""
    found: list[str] = []
    with suppress(StoreOutOfReach):
        listing = run_store().listing
        if listing.has(GIVEN):
            table = listing.seen_by(visitor())
            own = (table["method"] == GIVEN) & (table["dataset"] == dataset) & (table["state"] == DONE)
            found = list(dict.fromkeys(table.loc[own, SYSTEM.name])) if own.any() else []
    names = [SYSTEM.format(value) for value in found]
    return {
        value: name if names.count(name) == 1 else f"{name} ({value[-4:]})"
        for value, name in zip(found, names, strict=True)
    }


def keep_system(
    files: Sequence[Member], dataset: str, *, name: str = "", fold: str = "", part: str = ""
) -> tuple[Given, list[RunSpec]]:
    """Read the scores of a system, keep its runs as this visitor's, all or none, and return their specs."""
    folds = {of: lambda of=of: fold_of(RunSpec(dataset, of)) for of in datasets()[dataset].folds}  # type: ignore[misc]
    given = read_given(files, folds, name=name, fold=fold, part=part)
    records = records_of(given, dataset, folds)
    run_store().records.keep(records, visitor(), address())
    return given, [record.spec for record in records]
