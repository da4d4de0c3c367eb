"""`rankviz runs`, `export` and `import`: list the store's runs, write them to a file, read such a file."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from pathlib import Path

import pandas as pd

from rankviz.command.output import OWNER, note, print_json, print_table, print_text, rows
from rankviz.command.values import chosen_roots, parse_number, parse_pair
from rankviz.common.errors import SettingError
from rankviz.common.files import write_whole
from rankviz.common.numbers import counted
from rankviz.common.settings import one_of
from rankviz.datasets.folds import PARTS
from rankviz.metrics.formulas import canonical
from rankviz.runs.given import WRITERS
from rankviz.runs.record import NOT_MADE_HERE
from rankviz.runs.run import open_named
from rankviz.store import RunStore
from rankviz.store.exchange import export_runs, import_runs
from rankviz.store.listing import ABOUT, DATA
from rankviz.store.study import IMPORTED

METRICS = ("vali:NDCG@10", "vali:MAP")
"""Default columns; the test part is for the last step, when a choice is made."""


def run(chosen: Namespace) -> int:
    """List runs or studies, or move runs to or from a file."""
    with closing(RunStore()) as store:
        if chosen.command == "export":
            _export(store, chosen)
        elif chosen.command == "import":
            _import(store, chosen)
        elif chosen.limit < 0:
            raise SettingError(f"--limit {chosen.limit}: give a number of rows, or 0 for all")
        elif chosen.studies:
            _list_studies(store, as_json=chosen.json)
        else:
            _list_runs(store, chosen)
    return 0


def _list_studies(store: RunStore, *, as_json: bool) -> None:
    found = store.studies.every()
    if as_json:
        print_json(
            [
                {"study": one.id, "title": one.study.title, "runs": dict(one.counts), "asked": one.asked}
                for one in found
            ]
        )
        return
    for status in found:
        print_text(f"{status.id}  {status.study.title}: {status.in_words}")
    if not found:
        print_text("No studies yet: `rankviz sweep` makes one.")


def _list_runs(store: RunStore, chosen: Namespace) -> None:
    if chosen.study is None:
        table = store.listing.every()
    else:
        store.studies.status(chosen.study)  # raises an error for an unknown study
        table = store.listing.of_studies([chosen.study])
    table = _filtered(table, chosen.where, chosen.data)
    if chosen.sort:
        column = _column(table, chosen.sort)
        table = table.sort_values(
            column,
            ascending=False,
            kind="stable",
            key=lambda values: pd.to_numeric(values, errors="coerce"),
        )
    total = len(table)
    table = table.head(chosen.limit) if chosen.limit else table
    if chosen.json:
        print_json(rows(table.drop(columns=["own", "star", "note", "shared", "tags"]).reset_index()))
        return
    if table.empty:
        print_text("No such runs: `rankviz train` makes one.")
        return
    asked = [_column(table, _metric(name)) for name in chosen.metric]
    metrics = asked or [name for name in METRICS if name in table]
    table = table.assign(state=table["state"].replace(IMPORTED, NOT_MADE_HERE))
    print_table(table[[*_differing(table), *metrics]])
    if len(table) < total:
        print_text(f"{len(table):,} of {total:,} runs; --limit 0 lists all.")


def _filtered(table: pd.DataFrame, where: list[str], data: str | None) -> pd.DataFrame:
    """Return the rows with the given values of settings."""
    for name, text in [*map(parse_pair, where), *([("dataset", data)] if data else [])]:
        column, value = table[_column(table, name)], parse_number(text)
        table = table[(column == text) | (False if value is None else column == value)]
    return table


def _metric(name: str) -> str:
    """Return the column of a metric by one of its names: "vali:NDCG@10" for "vali:nDCG@10"."""
    part, colon, metric = name.partition(":")
    return f"{part}:{canonical(metric)}" if colon else name


def _column(table: pd.DataFrame, name: str) -> str:
    """Return the name of a column. Raises `SettingError` if there is none."""
    if name not in table:
        raise SettingError(
            f"{name!r} is not a column of runs; the columns are {', '.join(map(str, table.columns))}"
        )
    return name


def _differing(table: pd.DataFrame) -> list[str]:
    """Return the state, and the columns of data and settings in which the rows differ."""
    settings = [str(name) for name in table if name not in (*ABOUT, "seconds") and ":" not in str(name)]
    differ = (name for name in settings if name in DATA[:2] or len(set(map(str, table[name]))) > 1)
    return ["state", *differ]


def named_runs(store: RunStore, chosen: Namespace) -> list[str]:
    """Return the digests of all runs named by digest or study, each once.

    Raises `SettingError` for a name that is not one run's, `NoSuchStudy` for an unknown study.
    """
    for study in chosen.study:
        store.studies.status(study)  # raises an error for an unknown study
    table = store.listing.every()
    of_studies = [digest for study in chosen.study for digest in store.listing.of_studies([study]).index]
    found = [*(one_run(table, text) for text in chosen.run), *of_studies]
    if not found:
        raise SettingError("name runs by their digests, as `rankviz runs` lists them, or --study ID")
    return list(dict.fromkeys(found))


def one_run(table: pd.DataFrame, text: str) -> str:
    """Return the digest that begins with `text`. Raises `SettingError` unless there is exactly one."""
    found = [digest for digest in table.index if digest.startswith(text)]
    if len(found) != 1:
        raise SettingError(f"{len(found) or 'no'} run{'s' * (len(found) != 1)} begin with {text!r}: name one")
    return str(found[0])


def _export(store: RunStore, chosen: Namespace) -> None:
    if not chosen.output:
        raise SettingError("-o is empty: name the file to write")
    digests = named_runs(store, chosen)
    one_of("format", chosen.format, ["rankviz", *WRITERS])
    if chosen.format != "rankviz":
        _export_scores(store, chosen, digests)
        return
    store.records.claim(digests, OWNER)  # an export also marks the runs as the command line's
    _print_moved(chosen.output, export_runs(store, digests, OWNER, chosen.output), as_json=chosen.json)


def _export_scores(store: RunStore, chosen: Namespace, digests: list[str]) -> None:
    """Write the scores of a run, or the grades of its part, for other tools."""
    specs = store.listing.specs(digests)
    found = store.records.find(specs)
    if len(found) != 1:
        raise SettingError(f"{len(found)} runs with a record: the formats of other tools hold one run each")
    ((spec, record),) = found.items()
    one_of("part", chosen.part, PARTS)
    data = open_named(spec, [str(root) for root in chosen_roots(chosen)]).parts[chosen.part]
    with write_whole(chosen.output) as stream:
        WRITERS[chosen.format](record, chosen.part, data, stream)
    _print_moved(chosen.output, 1, as_json=chosen.json)


def _import(store: RunStore, chosen: Namespace) -> None:
    if not Path(chosen.file).is_file():
        raise SettingError(f"there is no file {chosen.file!r}: check the path")
    number = import_runs(store, chosen.file, OWNER)
    note(f"They are {NOT_MADE_HERE}: training one again compares its figures.")
    for verdict in store.imports.compare(OWNER):
        note(f"{verdict.digest}: {verdict.sentence}")
    _print_moved(chosen.file, number, as_json=chosen.json)


def _print_moved(file: str, number: int, *, as_json: bool) -> None:
    print_json({"file": file, "runs": number}) if as_json else print_text(f"{counted(number, 'run')}: {file}")
