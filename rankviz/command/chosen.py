"""Runs as they are named on the command line: by digests or beginnings of them, or as those of studies."""

from __future__ import annotations

from argparse import Namespace

import pandas as pd

from rankviz.common.errors import SettingError
from rankviz.store import RunStore


def runs_named(store: RunStore, chosen: Namespace) -> list[str]:
    """The digests of all runs that are named, each once; `SettingError` where a name is not one run's.

    Raises `NoSuchStudy` where an id is no study's.
    """
    for study in chosen.study:
        store.studies.status(study)  # which says where there is none
    table = store.listing.every()
    found = [digest for study in chosen.study for digest in store.listing.of_studies([study]).index]
    found = [*(one_run(table, text) for text in chosen.run), *found]
    if not found:
        raise SettingError("name runs by their digests, as `rankviz runs` lists them, or --study ID")
    return list(dict.fromkeys(found))


def one_run(table: pd.DataFrame, text: str) -> str:
    """The digest that begins so."""
    found = [digest for digest in table.index if digest.startswith(text)]
    if len(found) != 1:
        raise SettingError(f"{len(found) or 'no'} run{'s' * (len(found) != 1)} begin with {text!r}: name one")
    return str(found[0])
