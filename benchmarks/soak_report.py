"""The tables of `benchmarks.soak`: rows of each app and measurement replace its earlier ones."""

from __future__ import annotations

import math
import platform
import statistics
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.report import facts, markdown
from benchmarks.soak_app import Sample

PACKAGES = ("streamlit", "plotly", "numpy", "scipy", "pandas")
TITLES = {
    "class": "A class opens the app",
    "visitors": "Visitors who move controls",
    "long": "Visitors who stay",
}


def summary(values: Sequence[float], name: str) -> dict[str, float]:
    """Median, 95th percentile and worst of seconds; what never came (nan) is infinitely late."""
    ordered = sorted(math.inf if math.isnan(value) else value for value in values)
    if not ordered:
        return {}
    return {
        f"{name}, median s": statistics.median(ordered),
        f"{name}, 95 % s": ordered[math.ceil(0.95 * len(ordered)) - 1],
        f"{name}, worst s": ordered[-1],
    }


def slopes(samples: Sequence[Sample]) -> dict[str, float]:
    """What grows by how much an hour over the second half, by least squares."""
    half = samples[len(samples) // 2 :]
    hours = np.array([one.seconds for one in half]) / 3600
    return {
        name: float(np.polyfit(hours, [getattr(one, name) for one in half], 1)[0])
        for name in Sample.__dataclass_fields__
        if name != "seconds"
    }


def thinned(samples: Sequence[Sample], seconds: float) -> list[Sample]:
    """The first sample of each so many seconds, but for the very first."""
    kept: list[Sample] = []
    for one in samples:
        if one.seconds >= seconds * (len(kept) + 1):
            kept.append(one)
    return kept


def keep_samples(folder: Path, app: str, case: str, samples: Sequence[Sample]) -> None:
    """Write samples of a long measurement beside the tables."""
    table = pd.DataFrame([vars(one) for one in samples])
    table.to_csv(folder / f"soak_samples_{app}_{case}.csv", index=False, float_format="%.6g")


def keep(folder: Path, what: str, app: str, rows: Sequence[Mapping[str, Any]], notes: str) -> Path:
    """Put the rows of an app into the table of a measurement; the path of soak.md, which is made anew."""
    new = pd.DataFrame([{"app": app, **row} for row in rows])
    path = folder / f"soak_{what}.csv"
    if path.exists():
        old = pd.read_csv(path, skiprows=1)
        new = pd.concat([old[(old["app"] != app) | ~old["case"].isin(set(new["case"]))], new])
    cases = list(dict.fromkeys(new["case"]))
    new = new.iloc[sorted(range(len(new)), key=lambda at: cases.index(new["case"].iloc[at]))]
    path.write_text(f"# {notes}\n" + new.to_csv(index=False, float_format="%.6g"))
    return _written(folder)


def _written(folder: Path) -> Path:
    """soak.md of the tables that are there."""
    text = ["# The app under load", "", *_made_on(), ""]
    for what, title in TITLES.items():
        path = folder / f"soak_{what}.csv"
        if path.exists():
            notes = path.read_text().splitlines()[0].removeprefix("# ")
            text += [f"## {title}", "", notes, "", markdown(pd.read_csv(path, skiprows=1)), ""]
    (folder / "soak.md").write_text("\n".join(text))
    return folder / "soak.md"


def _made_on() -> list[str]:
    """What the figures were made on, without names of machines and without dates."""
    found = facts()
    cores = ", ".join(found["machine"].split(", ")[1:])
    versions = [f"{name} {version(name)}" for name in PACKAGES]
    return [f"- machine: {cores}", f"- Python {platform.python_version()}, {', '.join(versions)}"]
