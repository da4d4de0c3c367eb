"""Tables of measurements as files, CSV to compute with and Markdown to read, with machine and versions."""

from __future__ import annotations

import datetime
import math
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_info

from rankviz.common.numbers import small
from rankviz.common.threads import cores

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("rankviz", "numpy", "scipy", "scikit-learn", "pandas", "lightgbm", "xgboost-cpu")


def facts() -> dict[str, str]:
    """Machine, software, load and date: what a figure needs to be judged by. No paths, no names of hosts."""
    blas = {f"{info['internal_api']} {info['version']}" for info in threadpool_info() if "version" in info}
    found = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{_processor()}, {cores()} cores used, {_memory()}",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "BLAS": ", ".join(sorted(entry for entry in blas if not entry.endswith("None"))),
        "versions": ", ".join(f"{name} {_version(name)}" for name in PACKAGES if _version(name)),
    }
    if hasattr(os, "getloadavg"):
        found["load"] = (
            f"{_LOAD:.1f} in the minute before the program began, {os.getloadavg()[0]:.1f} at the end"
        )
    if (taken := _taken()) is not None:
        found["taken"] = (
            f"{taken:.0%} of the processor seconds that were wanted, by other machines on the same host"
        )
    return found


def _processor_ticks() -> tuple[int, int] | None:
    """Ticks since the system began in which processors worked, and in which the host held them back."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return None
    user, nice, system, _, _, irq, soft, stolen, *_ = map(int, stat.read_text().split("\n", 1)[0].split()[1:])
    return user + nice + system + irq + soft, stolen


def _taken() -> float | None:
    """Share of the wanted ticks since the program began that were held back; None where nobody knows."""
    now = _processor_ticks()
    if now is None or _TICKS is None:
        return None
    worked, stolen = now[0] - _TICKS[0], now[1] - _TICKS[1]
    return stolen / max(worked + stolen, 1)


_TICKS = _processor_ticks()
_LOAD = os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"


def _memory() -> str:
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return "memory unknown"
    return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB"


def _version(name: str) -> str:
    """Version of an installed package; "" where it is not installed or is run from its sources."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def write(name: str, title: str, table: pd.DataFrame, notes: Sequence[str] = ()) -> Path:
    """Write `table` (its index is dropped) to results/NAME.csv and NAME.md, and print the latter.

    `notes` are sentences that come above the table. Returns the path of the Markdown file.
    """
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
    """Write `table` to results/NAME.csv alone, numbers with so many significant digits."""
    RESULTS.mkdir(exist_ok=True)
    head = "".join(f"# {key}: {value}\n" for key, value in facts().items())
    path = RESULTS / f"{name}.csv"
    path.write_text(head + table.to_csv(index=False, float_format=f"%.{digits}g"))
    return path


def markdown(table: pd.DataFrame) -> str:
    """A table in Markdown: numbers to the right, missing values as a dash."""
    numeric = [pd.api.types.is_numeric_dtype(table[column]) for column in table]
    rows = [list(table.columns), ["---:" if number else "---" for number in numeric]]
    rows += [[cell(value) for value in row] for row in table.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(str(value) for value in row)} |" for row in rows)


def cell(value: object) -> str:
    """A value in words: four significant digits below 1,000, thousands apart, 0.1 precise, above."""
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    if math.isnan(value):
        return "–"
    if 0 < value < 1e-3:
        return small(value)
    return (f"{value:.4g}" if abs(value) < 1e3 else f"{value:,.1f}").replace("-", "−")
