"""Shared pieces of the measurements: real folds, seconds, and tables as CSV and Markdown."""

from __future__ import annotations

import datetime
import math
import os
import platform
import re
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

import pandas as pd
import psutil
from threadpoolctl import threadpool_info

from rankviz import Fold, RankingData, load_fold
from rankviz.common.numbers import small
from rankviz.common.parallel import cores
from rankviz.datasets import make_data

T = TypeVar("T")
RESULTS = Path(__file__).parent / "results"
PACKAGES = ("rankviz", "numpy", "scipy", "scikit-learn", "pandas", "lightgbm", "xgboost-cpu", "streamlit")


def letor(what: str) -> Path | None:
    """Return the folder that RANKVIZ_LETOR names; without it, print that `what` is left out."""
    root = os.environ.get("RANKVIZ_LETOR")
    if not root:
        print(f"# RANKVIZ_LETOR is not set: {what} is left out")
    return Path(root) if root else None


@cache
def fold_of(name: str, fold: int = 1) -> Fold:
    """Load a fold of a set in the folder that RANKVIZ_LETOR names."""
    return load_fold(Path(os.environ["RANKVIZ_LETOR"]) / name, fold)


@cache
def synthetic() -> RankingData:
    """Make 42,000 documents in 1,000 queries, with 46 features."""
    return make_data(n_queries=1000, documents_per_query=(42, 42), n_features=46, seed=0)


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return the result of a piece of work, and its seconds."""
    began = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began


def seconds(work: Callable[[], object], repetitions: int = 1, warm_up: bool = False) -> list[float]:
    """Return the seconds of each repetition, after one more that does not count with `warm_up`."""
    if warm_up:
        work()
    return [timed(work)[1] for _ in range(repetitions)]


def facts() -> dict[str, str]:
    """Describe machine, software, load and date, without paths and names of hosts."""
    blas = {f"{info['internal_api']} {info['version']}" for info in threadpool_info() if info.get("version")}
    info = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.*)$", info.read_text() if info.exists() else "", re.MULTILINE)
    processor = [*names, platform.processor(), "unknown processor"][0]
    memory = f"{psutil.virtual_memory().total / 2**30:.0f} GiB"
    found = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{processor}, {cores()} cores used, {memory}",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "BLAS": ", ".join(sorted(blas)),
        "versions": ", ".join(f"{name} {found}" for name in PACKAGES if (found := _version(name))),
        "load": f"{_LOAD:.1f} in the minute before the start, {psutil.getloadavg()[0]:.1f} at the end",
    }
    now = psutil.cpu_times()
    if hasattr(now, "steal"):
        stolen, rested = now.steal - _TICKS.steal, now.idle + now.iowait - _TICKS.idle - _TICKS.iowait
        worked = sum(now) - sum(_TICKS) - rested
        found["taken"] = f"{stolen / max(worked, 1):.0%} of the processor time, by the host"
    return found


_TICKS, _LOAD = psutil.cpu_times(), psutil.getloadavg()[0]


def _version(name: str) -> str:
    """Return the version of an installed package, or ""."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def write(name: str, title: str, table: pd.DataFrame, notes: Sequence[str] = ()) -> Path:
    """Write `table` without its index, below `notes`, to results/NAME.csv and NAME.md; print the latter."""
    found = facts()
    write_csv(name, table)
    text = [f"# {title}", "", *(f"- {key}: {value}" for key, value in found.items()), ""]
    for note in notes:
        text += [note, ""]
    path = RESULTS / f"{name}.md"
    path.write_text("\n".join([*text, markdown(table), ""]))
    print(path.read_text())
    return path


def write_csv(name: str, table: pd.DataFrame, digits: int = 6) -> Path:
    """Write `table` to results/NAME.csv alone, with this many significant digits."""
    RESULTS.mkdir(exist_ok=True)
    head = "".join(f"# {key}: {value}\n" for key, value in facts().items())
    path = RESULTS / f"{name}.csv"
    path.write_text(head + table.to_csv(index=False, float_format=f"%.{digits}g"))
    return path


def markdown(table: pd.DataFrame) -> str:
    """Return a table in Markdown: numbers to the right, missing values as a dash."""
    numeric = [pd.api.types.is_numeric_dtype(table[column]) for column in table]
    rows = [list(table.columns), ["---:" if number else "---" for number in numeric]]
    rows += [[cell(value) for value in row] for row in table.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(str(value) for value in row)} |" for row in rows)


def cell(value: object) -> str:
    """Format a value: four significant digits below 1,000, one decimal place above."""
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    if math.isnan(value):
        return "–"
    if 0 < value < 1e-3:
        return small(value)
    return (f"{value:.4g}" if abs(value) < 1e3 else f"{value:,.1f}").replace("-", "−")
