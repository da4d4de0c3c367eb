"""How long 20,000 runs in the store take to be listed, and the Runs page to answer.

The runs are made up: rows with settings and metrics as a sweep leaves them, but no records.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from sqlalchemy import insert

from benchmarks import report
from rankviz import RunSpec
from rankviz.store import RunStore
from rankviz.store.database import ENVIRONMENT
from rankviz.store.tables import marks, metric_sets, runs, tags

REPETITIONS = 7
SECRET = "0" * 32
OWNER = blake2b(SECRET.encode(), digest_size=16).hexdigest()
METRICS = ("MAP", "MeanNDCG", *(f"{name}@{k}" for name in ("NDCG", "P") for k in range(1, 11)))


def main() -> None:
    """Measure on SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.sqlite"
        store = RunStore(path)
        number = fill(store)
        rows = listings(path, store)
        store.close()
        with _own_folders(Path(folder), path):
            rows += page()
    notes = [
        f"{number:,} made-up runs in SQLite: one data set, five folds, two feature maps, C × γ × seed; "
        "metrics of three parts; one in a hundred failed, one in ten has a tag. Medians of "
        f"{REPETITIONS}. The page is run by AppTest, as a browser has it run: router, sidebar and all that "
        "it sends.",
    ]
    report.write("run_store", "20,000 runs listed", pd.DataFrame(rows), notes)


def fill(store: RunStore) -> int:
    """Put rows of runs into a store; how many."""
    grid = itertools.product(range(5), range(1, 6), ("nystroem", "fourier"), range(-13, 7), range(-14, 6))
    specs = [
        RunSpec("OHSUMED", f"Fold{fold}", "0" * 16, feature_map=name, C=2.0**c, gamma=2.0**g, seed=seed)
        for seed, fold, name, c, g in grid
    ]
    names, rng = (
        [f"{part}:{name}" for part in ("train", "vali", "test") for name in METRICS],
        np.random.default_rng(0),
    )
    with store.database.writing() as connection:
        done = connection.execute(insert(metric_sets).values(names=json.dumps(names)))
        assert done.inserted_primary_key is not None
        metric_set, rows = done.inserted_primary_key[0], []
        for place, spec in enumerate(specs):
            row = {"digest": spec.hash, "spec": spec.to_json(), "created": 1e9 + place, "ended": 1e9 + place}
            made = {"state": "done", "reason": "", "seconds": 1.0, "metric_set": metric_set}
            made["means"] = rng.random(len(names)).astype("<f8").tobytes()
            failed = dict.fromkeys(made) | {"state": "failed", "reason": "Too much memory is needed."}
            rows.append(row | (made if place % 100 else failed))
        connection.execute(insert(runs), rows)
        held = [{"owner": OWNER, "run": place + 1, "since": 0.0} for place in range(len(specs))]
        connection.execute(
            insert(marks), [one | {"star": False, "note": "", "shared": False} for one in held]
        )
        tagged = [{"owner": OWNER, "run": place + 1, "tag": "lecture"} for place in range(0, len(specs), 10)]
        connection.execute(insert(tags), tagged)
    return len(specs)


def listings(path: Path, store: RunStore) -> list[dict[str, object]]:
    """Seconds of the table of runs: first, unchanged, after a mark."""
    first = []
    for _ in range(REPETITIONS):
        other = RunStore(path)
        first.append(_seconds(lambda other=other: other.listing.seen_by(OWNER)))
        other.close()
    table = store.listing.seen_by(OWNER)
    same = [_seconds(lambda: store.listing.seen_by(OWNER)) for _ in range(REPETITIONS)]
    marked = []
    for digest in table.index[:REPETITIONS]:
        store.marks.star(OWNER, [digest])
        marked.append(_seconds(lambda: store.listing.seen_by(OWNER)))
    return [
        _row("table, first time in a process", first),
        _row("table, nothing written since", same),
        _row("table, after a star", marked),
    ]


def page() -> list[dict[str, object]]:
    """Seconds of runs of the page: first, again, with filters that are put on and taken off."""
    from streamlit.testing.v1 import AppTest

    from tools.browser import REPOSITORY

    app = AppTest.from_file(str(REPOSITORY / "router.py"), default_timeout=120)
    app.session_state["rankviz_visitor"] = SECRET
    with patch("ui.home.views.headline"):
        app.run()
    app.switch_page("pages/runs.py")
    rows = [_row("page, first time", [_seconds(app.run)])]
    rows.append(_row("page, again", [_seconds(app.run) for _ in range(REPETITIONS)]))
    for words, text in (("page, search for “fourier”", "fourier"), ("page, all again", "")):
        took = []
        for _ in range(REPETITIONS):
            app.text_input(key="find").set_value("" if text else "x").run()
            took.append(_seconds(lambda text=text: app.text_input(key="find").set_value(text).run()))
        rows.append(_row(words, took))
    return rows


@contextmanager
def _own_folders(folder: Path, path: Path) -> Iterator[None]:
    own = {ENVIRONMENT: str(path), "XDG_DATA_HOME": str(folder), "RANKVIZ_PREPARE": "no"}
    with patch.dict(os.environ, own | {"RANKVIZ_RUNS": str(folder / "runs")}):
        yield


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _row(what: str, took: list[float]) -> dict[str, object]:
    return {"what": what, "seconds": statistics.median(took), "least": min(took), "most": max(took)}
