"""Tables of runs: one of records as the run store makes them, and a design's runs found in one.

A table of runs has one row a run, indexed by the digest of its spec: columns "dataset", "fold", "method",
"seconds", every setting by its name, and means over queries as "vali:MAP", "test:NDCG@10".

See docs/decisions/0014-a-sweep-is-a-value.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from rankviz.common.errors import DataError, SettingError
from rankviz.common.settings import listed
from rankviz.runs.designs import Design
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import DataSpec, RunSpec

VALIDATION, TEST = "vali:", "test:"
_DATA = ("dataset", "fold", "normalisation", "share", "flipped", "draw")


def runs_table(runs: Iterable[tuple[RunSpec, RunRecord]]) -> pd.DataFrame:
    """The table of runs that `execute_all` gave, without those that were stopped: they are not done."""
    pairs = listed("runs", runs)
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], RunRecord)):
            raise SettingError("runs must be pairs (RunSpec, RunRecord), as execute_all gives them")
    rows = {spec.hash: _row(spec, record) for spec, record in pairs if not record.stopped}
    return pd.DataFrame.from_dict(rows, orient="index")


def _row(spec: RunSpec, record: RunRecord) -> dict[str, Any]:
    data = {name: getattr(spec.data, name) for name in _DATA}
    means = {
        f"{part}:{metric}": float(mean)
        for part, frame in record.metrics.items()
        for metric, mean in frame.mean().items()
    }
    return data | {"method": spec.method, "seconds": sum(record.seconds.values())} | spec.values | means


def results(design: Design, table: pd.DataFrame) -> pd.DataFrame:
    """One row a run of the design: cell, fold, seed, digest (None where it is not there), seconds, metrics.

    Metrics are those of training and validation parts: what the test part says is no business of a choice.
    Raises `DataError` where two rows are one run, on data that has changed between.
    """
    planned, rows = design.plan.runs, _rows_of(design, table)
    digests = table.index[rows] if len(table) else pd.Index([None] * len(rows))
    shown = [
        name for name in table.columns if name == "seconds" or str(name).startswith(("train:", VALIDATION))
    ]
    found = table[shown].iloc[np.maximum(rows, 0)] if len(table) else pd.DataFrame(columns=shown)
    found = found.reset_index(drop=True).reindex(range(len(rows))).astype(np.float64)
    found.loc[rows < 0] = math.nan
    place = pd.DataFrame(
        {
            "cell": [run.cell for run in planned],
            "fold": [run.fold for run in planned],
            "seed": pd.Series([run.seed for run in planned], dtype=object),
            "digest": pd.Series(
                [d if row >= 0 else None for d, row in zip(digests, rows, strict=True)], dtype=object
            ),
        }
    )
    joined: pd.DataFrame = pd.concat([place, found], axis=1)
    return joined


def metric_column(table: pd.DataFrame, metric: str, part: str = VALIDATION) -> str:
    """The column of a metric on a part; `SettingError` says which metrics there are."""
    name = f"{part}{metric}"
    if name not in table:
        known = [str(column).removeprefix(part) for column in table.columns if str(column).startswith(part)]
        there = f"there are {', '.join(known)}" if known else "no run is done yet"
        raise SettingError(f"metric {metric!r} is not among what runs tell of this part; {there}")
    return name


def by_fold(runs: pd.DataFrame, column: str) -> pd.DataFrame:
    """Means over seeds, a row a cell, a column a fold; NaN where a run is missing or its value is none."""
    values = runs[column].where(np.isfinite(runs[column]))
    grouped = values.groupby([runs["cell"], runs["fold"]], sort=False)
    means = grouped.mean().where(grouped.count() == grouped.size())
    return wide(means)[list(dict.fromkeys(runs["fold"]))]


def wide(values: pd.Series[float]) -> pd.DataFrame:
    """Values by cell and fold as a table, a row a cell and a column a fold."""
    return (
        values.rename("value")
        .reset_index()
        .pivot_table(index="cell", columns="fold", values="value", dropna=False)
    )


def settings_of(design: Design) -> pd.DataFrame:
    """The settings of each cell, a row a cell; None where a cell does not read one."""
    rows = [{name: cell.get(name) for name in design.names} for cell in design.plan.cells]
    return pd.DataFrame(rows, columns=list(design.names), dtype=object).rename_axis("cell")


def _rows_of(design: Design, table: pd.DataFrame) -> np.ndarray:
    """The row of each run of the design, −1 where there is none."""
    specs = [run.spec for run in design.plan.runs]
    data = [name for name in _DATA if name in table]
    names = list(dict.fromkeys(name for spec in specs for name in spec.values))
    told = table.filter(regex=f"^{VALIDATION}").notna().any(axis=1).tolist()
    places: dict[tuple[Any, ...], int] = {}
    for row, key in enumerate(keys_of(_with_defaults(table, data), [*data, "method", *names])):
        if key in places and not (told[row] and told[places[key]]):
            row = row if told[row] else places[key]  # a run that failed, and one that was made since
        elif key in places:
            one, other = table.index[places[key]], table.index[row]
            raise DataError(
                f"runs {one} and {other} have the same settings",
                expected="one run for each setting, all on the same data",
                remedy="Leave out the runs that were made before the data changed.",
            )
        places[key] = row
    asked = (
        (*(getattr(spec.data, name) for name in data), spec.method, *(plain(spec.get(n)) for n in names))
        for spec in specs
    )
    return np.array([places.get(key, -1) for key in asked], dtype=np.int64)


def _with_defaults(table: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """The table with the defaults of data where it has none: of what a run learns from, where that is all."""
    known = {name: getattr(DataSpec, name) for name in names if hasattr(DataSpec, name)}
    return table.assign(**{name: table[name].where(table[name].notna(), own) for name, own in known.items()})


def keys_of(table: pd.DataFrame, names: Iterable[str]) -> list[tuple[Any, ...]]:
    """The values of some columns, row by row, as specs have them; None for columns that the table lacks."""
    nothing = [None] * len(table)
    columns = [list(map(plain, table[name].tolist())) if name in table else nothing for name in names]
    return list(zip(*columns, strict=True))


def plain(value: Any) -> Any:
    """A value of a table as a spec has it: None for what is missing, lists as tuples."""
    if isinstance(value, float) and math.isnan(value):
        return None
    return tuple(map(plain, value)) if isinstance(value, list | tuple) else value
