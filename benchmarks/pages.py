"""What pages wait for: explanations, refits, the table of 20,000 runs, and the What if page in Chromium."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from playwright.sync_api import Page
from sklearn.base import clone
from sqlalchemy import insert

from benchmarks import report
from benchmarks.report import fold_of, letor, seconds, timed
from rankviz import FactorizedRankSVM, RankSVM, RunSpec, crossings, explain_margin, load_demo
from rankviz.datasets import Fold, RankingData
from rankviz.datasets.parts import take_queries
from rankviz.features import FEATURE_MAPS
from rankviz.models.feature_ranker import FeatureRanker
from rankviz.store import RunStore
from rankviz.store.database import ENVIRONMENT
from rankviz.store.tables import marks, metric_sets, runs, tags
from rankviz.whatif.changes import Change, DocumentOut, FeatureOff, FeatureSet, GradeSet, QueryOut
from rankviz.whatif.crossings import swaps
from rankviz.whatif.estimates import effects_of_queries, margins_without_queries
from rankviz.whatif.explanations import landmark_shares
from rankviz.whatif.refits import RankSVMRefits
from tools.browser import REPOSITORY, app_server, chromium, open_page, wait_settled


def milliseconds(work: Callable[[], object], repetitions: int = 9) -> list[float]:
    """Return the milliseconds of repetitions, after one that does not count."""
    return [1e3 * one for one in seconds(work, repetitions, warm_up=True)]


# why ------------------------------------------------------------------------------------------------------

GAMMA, C, PAIRS = 2.0**-4, 2.0**-7, 10
SMALL = "factorised, Nyström m = 100"
MODELS: dict[str, Callable[[], FeatureRanker]] = {
    "linear": lambda: RankSVM(C=C),
    "Nyström m = 200": lambda: RankSVM("nystroem", 200, GAMMA, C),
    "Nyström m = 500": lambda: RankSVM("nystroem", 500, GAMMA, C),
    "Nyström m = 500, Laplacian": lambda: RankSVM("nystroem", 500, GAMMA, C, kernel="laplacian"),
    "Nyström m = 2,000": lambda: RankSVM("nystroem", 2000, GAMMA, C),
    "random Fourier m = 500": lambda: RankSVM("fourier", 500, GAMMA, C),
    "exact kernel": lambda: RankSVM("exact", gamma=GAMMA, C=C),
    SMALL: lambda: FactorizedRankSVM(2, C, "nystroem", 100, GAMMA),
}
"""The factorised model trains on the first 12 queries: its ranking does not matter here."""


def why() -> None:
    """Measure explanations of margins, and how exact they are."""
    folds = {"bundled fold 1": load_demo(1)}
    folds |= {"OHSUMED Fold1": fold_of("OHSUMED")} if letor("OHSUMED") else {}
    rows = [
        {"data": name, "model": label} | why_row(label, make, fold)
        for name, fold in folds.items()
        for label, make in MODELS.items()
    ]
    note = (
        "One pair: the first document of the longest validation query and the second. Ten: the first 10 "
        "documents, each and the next. Milliseconds are medians of 9 repetitions in one process, or the "
        "least of "
        "them, with the scores of both documents; the model is there already. Rest: what the shares leave "
        "of the "
        "margin, over the range of the query's scores. Swaps: the nearest value along every feature at "
        "which the "
        "first two swap."
    )
    report.write("why", "Why one document stands above another", pd.DataFrame(rows), [note])


def why_row(label: str, make: Callable[[], FeatureRanker], fold: Fold) -> dict[str, object]:
    """Measure one model: milliseconds, and what its shares leave of margins."""
    X = fold.vali.X[fold.vali.query_slice(int(np.diff(fold.vali.ptr).argmax()))]
    train = take_queries(fold.train, np.arange(12), name="some") if label == SMALL else fold.train
    model = make().fit_data(train)
    scores = model.predict(X)
    ranked = X[np.argsort(-scores, kind="stable")[: PAIRS + 1]]
    a, b, feature = ranked[0], ranked[1], int((ranked[0] != ranked[1]).argmax())
    ends = (float(train.X[:, feature].min()), float(train.X[:, feature].max()))
    one = milliseconds(lambda: explain_margin(model, a, b))
    ten = milliseconds(lambda: explain_margin(model, ranked[:-1], ranked[1:]))
    expands = hasattr(model.feature_map_, "expansion")
    shares = milliseconds(lambda: landmark_shares(model, a, b, train)) if expands else np.nan
    rest = explain_margin(model, ranked[:-1], ranked[1:]).rest
    return {
        "terms": model.n_components_,
        "one pair, ms": np.median(one),
        "least": min(one),
        "ten pairs, ms": np.median(ten),
        "least of ten": min(ten),
        "crossings of a feature, ms": np.median(milliseconds(lambda: crossings(model, a, b, feature, ends))),
        "swaps of all features, ms": np.median(milliseconds(lambda: swaps(model, a, b, train.X), 3)),
        "landmarks, ms": np.median(shares),
        "rest": f"{np.abs(rest).max() / np.ptp(scores):.1e}",
    }


# refits ---------------------------------------------------------------------------------------------------

CHANGES, COLD = 15, 3


def refits() -> None:
    """Measure refits after one change beside cold fits, and estimates of left-out queries."""
    problems = [("bundled fold", load_demo().train, RankSVM("nystroem", 200, gamma=0.25))]
    if letor("OHSUMED"):
        models = (RankSVM("linear"), RankSVM("nystroem", 500, gamma=2.0**-6))
        problems += [("OHSUMED Fold1", fold_of("OHSUMED").train, model) for model in models]
    note = (
        f"Milliseconds. A refit: median and least of {CHANGES}, each of another query, with base, factor and "
        "curvature at hand, to a decrement of 1e-10 of the objective. Made ready: those, once for a model. "
        "Cold: "
        f"trained from zero with features computed anew, to 1e-6; least of {COLD}."
    )
    table = pd.DataFrame([row for problem in problems for row in refit_rows(*problem)])
    report.write("refits", "Refits after one change", table, [note])
    note = (
        "Every training query left out: the change of a margin, of the two documents whose scores are "
        "furthest "
        "apart in the first query, estimated to first order for all queries at once, and by a refit for "
        "each. "
        "Error: the largest difference over the largest change."
    )
    table = pd.DataFrame([left_out_row(*problem) for problem in problems])
    report.write("left_out", "Left-out queries", table, [note])


def refit_rows(name: str, data: RankingData, model: RankSVM) -> Iterator[dict[str, object]]:
    """Yield the milliseconds of refits after a change of each kind, and of a cold fit."""
    cold = 1e3 * min(seconds(lambda: clone(model).fit_data(data), COLD))
    made = RankSVMRefits(model.fit_data(data), data)
    ready = 1e3 * seconds(lambda: (made.before, made.curvature))[0]
    for kind, changes in changes_of(data).items():
        took = [1e3 * seconds(partial(made.refit, [change]))[0] for change in changes]
        steps = [made.refit([change]).model.trace_["products"].sum() for change in changes[:3]]
        row = {"data": name, "model": _called(model), "change": kind, "median": np.median(took)}
        row |= {"least": min(took), "cold": cold, "made ready": ready}
        yield row | {"products with Φ": np.median(steps)}


def left_out_row(name: str, data: RankingData, model: RankSVM) -> dict[str, object]:
    """Compare estimates of left-out queries with refits: milliseconds and errors."""
    made = RankSVMRefits(model.fit_data(data), data)
    scores = made.before.scores[data.query_slice(0)]
    A, B = data.X[int(scores.argmax())], data.X[int(scores.argmin())]
    ready, found = (
        1e3 * seconds(work)[0] for work in (lambda: made.curvature, lambda: effects_of_queries(made))
    )
    table, took = timed(lambda: margins_without_queries(made, A, B, most=data.n_queries))
    largest = float(table["refit"].abs().max())
    row = {"data": name, "model": _called(model), "queries": len(table), "curvature, ms": ready}
    return row | {
        "estimate, ms": found,
        "refits, s": took,
        "largest change / margin": largest / float(table["margin"].abs().max()),
        "correlation": float(np.corrcoef(table["estimate"], table["refit"])[0, 1]),
        "error": float((table["estimate"] - table["refit"]).abs().max()) / largest,
    }


def changes_of(data: RankingData) -> dict[str, Sequence[Change]]:
    """Return changes of every kind, each of another query."""
    starts = [(data.query_labels[q], int(data.rows[i]), int(data.y[i])) for q, i in enumerate(data.ptr[:-1])]
    some = list(itertools.islice(itertools.cycle(starts), CHANGES))
    return {
        "one grade": [GradeSet(query, row, 0 if grade else 2) for query, row, grade in some],
        "a query left out": [QueryOut(query) for query, _, _ in some],
        "a document left out": [DocumentOut(query, row) for query, row, _ in some],
        "a feature value": [FeatureSet(query, row, 1, 0.5) for query, row, _ in some],
        "a feature off": [FeatureOff(feature) for feature in range(3)],
    }


def _called(model: RankSVM) -> str:
    kind = FEATURE_MAPS[model.feature_map]
    return f"{kind.label}, m = {model.n_components}" if kind.has_components else kind.label


# the Runs page --------------------------------------------------------------------------------------------

REPETITIONS = 7
SECRET = "0" * 32
OWNER = blake2b(SECRET.encode(), digest_size=16).hexdigest()
METRICS = ("MAP", "MeanNDCG", *(f"{name}@{k}" for name in ("NDCG", "P") for k in range(1, 11)))


def run_store() -> None:
    """Measure how long 20,000 runs take to be listed, and the Runs page to answer."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.sqlite"
        store = RunStore(path)
        number = fill(store)
        rows = listing_rows(path, store)
        store.close()
        own = {ENVIRONMENT: str(path), "XDG_DATA_HOME": folder, "RANKVIZ_RUNS": str(Path(folder) / "runs")}
        with patch.dict(os.environ, own | {"RANKVIZ_PREPARE": "no"}):
            rows += page_rows()
    note = (
        f"{number:,} invented runs in SQLite: one data set, five folds, two feature maps, C × γ × seed; "
        "metrics of "
        f"three parts; one in a hundred failed, one in ten has a tag. Medians of {REPETITIONS}. AppTest "
        "runs the "
        "page as for a browser: router, sidebar and all messages."
    )
    report.write("run_store", "20,000 runs listed", pd.DataFrame(rows), [note])


def fill(store: RunStore) -> int:
    """Write rows of runs into a store, with settings and metrics but no records; return how many."""
    grid = itertools.product(range(5), range(1, 6), ("nystroem", "fourier"), range(-13, 7), range(-14, 6))
    specs = [
        RunSpec("OHSUMED", f"Fold{fold}", "0" * 16, feature_map=name, C=2.0**c, gamma=2.0**g, seed=seed)
        for seed, fold, name, c, g in grid
    ]
    names = [f"{part}:{name}" for part in ("train", "vali", "test") for name in METRICS]
    rng = np.random.default_rng(0)
    with store.database.writing() as connection:
        done = connection.execute(insert(metric_sets).values(names=json.dumps(names)))
        rows = []
        for place, spec in enumerate(specs):
            row = {"digest": spec.hash, "spec": spec.to_json(), "created": 1e9 + place, "ended": 1e9 + place}
            made = {"state": "done", "reason": "", "seconds": 1.0, "metric_set": done.inserted_primary_key[0]}
            made["means"] = rng.random(len(names)).astype("<f8").tobytes()
            failed = dict.fromkeys(made) | {"state": "failed", "reason": "Too much memory is needed."}
            rows.append(row | (made if place % 100 else failed))
        connection.execute(insert(runs), rows)
        mark = {"owner": OWNER, "since": 0.0, "star": False, "note": "", "shared": False}
        connection.execute(insert(marks), [mark | {"run": place + 1} for place in range(len(specs))])
        tagged = [{"owner": OWNER, "run": place + 1, "tag": "lecture"} for place in range(0, len(specs), 10)]
        connection.execute(insert(tags), tagged)
    return len(specs)


def listing_rows(path: Path, store: RunStore) -> list[dict[str, object]]:
    """Measure the table of runs: the first time, unchanged, and after a mark."""
    first, marked = [], []
    for _ in range(REPETITIONS):
        other = RunStore(path)
        first += seconds(partial(other.listing.seen_by, OWNER))
        other.close()
    table = store.listing.seen_by(OWNER)
    same = seconds(lambda: store.listing.seen_by(OWNER), REPETITIONS)
    for digest in table.index[:REPETITIONS]:
        store.marks.star(OWNER, [digest])
        marked += seconds(lambda: store.listing.seen_by(OWNER))
    return [
        _took("table, first time in a process", first),
        _took("table, nothing written since", same),
        _took("table, after a star", marked),
    ]


def page_rows() -> list[dict[str, object]]:
    """Measure runs of the page: the first, one more, and with a filter set and cleared."""
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(REPOSITORY / "router.py"), default_timeout=120)
    app.session_state["rankviz_visitor"] = SECRET
    with patch("ui.home.views.headline"):
        app.run()
    app.switch_page("pages/runs.py")
    rows = [_took("page, first time", seconds(app.run))]
    rows.append(_took("page, again", seconds(app.run, REPETITIONS)))
    for words, text in (("page, search for “fourier”", "fourier"), ("page, all again", "")):
        took = []
        for _ in range(REPETITIONS):
            app.text_input(key="find").set_value("" if text else "x").run()
            took += seconds(app.text_input(key="find").set_value(text).run)
        rows.append(_took(words, took))
    return rows


def _took(what: str, took: list[float]) -> dict[str, object]:
    return {"what": what, "seconds": np.median(took), "least": min(took), "most": max(took)}


# the What if page -----------------------------------------------------------------------------------------

CASES = {"bundled, Nyström m = 200": ("m=200", 0.3), "OHSUMED, Nyström m = 500": ("data=OHSUMED&m=500", 0.6)}
"""The query of the address, and the goal in seconds for the new list."""
DROPS = 8
_WATCH = """list => {
    window.trained = [];
    let since = null;
    new MutationObserver(() => {
        if (list.getAttribute('aria-busy') === 'true') since ??= performance.now();
        else if (since !== null) { window.trained.push(performance.now() - since); since = null; }
    }).observe(list, {attributes: true, attributeFilter: ['aria-busy']});
    window.frames_ = [];
    const tick = now => { window.frames_.push(now); requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
}"""


def what_if() -> None:
    """Measure the What if page in Chromium: drops of a document, and frames while it is dragged."""
    root = letor("OHSUMED")
    environment, rows = {"RANKVIZ_DATA": str(root)} if root else {}, []
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
        with app_server(Path(folder), environment) as server:
            for name, (query, goal) in CASES.items():
                if root or "data=" not in query:
                    open_page(page, f"{server.url}/what_if?{query}")
                    rows.append({"case": name} | what_if_row(page, goal))
    notes = [
        "Seconds from the drop of a document to the new list, from the tenth place to the second; the first "
        "drop of "
        "a page apart.",
        "Milliseconds between frames while a row is dragged down the list and up again.",
    ]
    report.write("what_if", "The What if page in Chromium", pd.DataFrame(rows), notes)


def what_if_row(page: Page, goal: float) -> dict[str, object]:
    """Drag a document several times, then up and down; return seconds and frames."""
    page.locator(".ranked-list").evaluate(_WATCH)
    for _ in range(DROPS + 1):
        (x, start), (_, end) = _grip(page, 9), _grip(page, 1)
        _pull(page, x, start, (end + 2, 12))
        wait_settled(page)
    took = np.array(page.evaluate("window.trained")) / 1000
    page.evaluate("window.frames_ = []")
    x, y = _grip(page, 0)
    _pull(page, x, y, *[(y + 380, 40), (y, 40)] * 4)
    frames = np.diff(page.evaluate("window.frames_"))
    return {
        "documents": page.locator(".now .row").count(),
        "first drop, s": round(took[0], 3),
        "median, s": round(float(np.median(took[1:])), 3),
        "slowest, s": round(float(took[1:].max()), 3),
        "goal, s": goal,
        "frame, median ms": round(float(np.median(frames)), 1),
        "frame, 95 % ms": round(float(np.quantile(frames, 0.95)), 1),
        "frame, slowest ms": round(float(frames.max()), 1),
    }


def _grip(page: Page, place: int) -> tuple[float, float]:
    grips = page.locator(".now .grip")
    box = grips.nth(min(place, grips.count() - 1)).bounding_box()
    assert box, "the list is not in view"
    return box["x"] + 40, box["y"] + 10


def _pull(page: Page, x: float, y: float, *stops: tuple[float, int]) -> None:
    """Press the mouse at a place, move it to each height in so many steps, and let it go."""
    page.mouse.move(x, y)
    page.mouse.down()
    for height, steps in stops:
        page.mouse.move(x, height, steps=steps)
    page.mouse.up()
