"""Measure growth of a fit's seconds and memory with documents and m, with fitted exponents.

Synthetic documents, 46 features, 42 to a query, γ = 2^-5, C = 2^-2 as in training.py. Writes
results/scaling.csv and .md, and docs/scaling.md with its figure. `memory` compares the memory that fits state
in advance with what they take. `queued` measures the steps of a job while others wait.
"""

from __future__ import annotations

import gc
import itertools
import os
import statistics
import tempfile
import urllib.parse
import warnings
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.express as px
import plotly.graph_objects as go
from sklearn.base import clone

from benchmarks import report
from benchmarks.children import REPETITIONS, Child, Measured, side_by_side
from benchmarks.peers import Ours
from benchmarks.report import timed
from rankviz import RankSVM, RunSpec
from rankviz.common.memory import peak_memory, reset_peak_memory, resident_memory, return_freed_memory
from rankviz.common.numbers import with_minus
from rankviz.datasets import RankingData, make_data
from rankviz.features import FEATURE_MAPS
from rankviz.plots.style import line_of
from rankviz.store import RunStore
from rankviz.store.execution import LocalWorkers
from rankviz.store.watched import WatchedStudies
from tools import postgres
from tools.browser import AppError, chromium

C, GAMMA, PER_QUERY, N_FEATURES = 2.0**-2, 2.0**-5, 42, 46
DOCUMENTS = (10_000, 20_000, 40_000, 80_000, 160_000)
COMPONENTS = (125, 250, 500, 1000, 2000)
N_FIXED, M_FIXED = 20_000, 500
OVER_N = ("linear", "nystroem", "fourier")
OVER_M = ("nystroem", "fourier")
QUEUED, LOOKS = (10, 100, 1000), 20
"""Waiting jobs, and how often each step is measured."""
DOCS = Path(__file__).resolve().parent.parent / "docs"
LABELS = {
    "seconds": "a fit, s",
    "features": "its feature map, s",
    "newton": "its Newton steps, s",
    "memory": "peak memory, MB",
}
LEAST = {"seconds": 1e-3, "features": 1e-3, "newton": 1e-3, "memory": 1.0}
"""Below a millisecond or a megabyte, clock and allocator decide the figure."""


def main() -> None:
    """Measure fits over n and over m; write results/scaling and the page of docs/."""
    cases = [("n", n, [Ours(kind, M_FIXED, C, GAMMA) for kind in OVER_N]) for n in DOCUMENTS]
    cases.append(("m", N_FIXED, [Ours(kind, m, C, GAMMA) for m in COMPONENTS for kind in OVER_M]))
    table = pd.DataFrame([row for case in cases for row in measured(*case)])
    slopes = exponents(table)
    notes = [sentence(table, slopes, growing) for growing in ("n", "m")]
    notes.append(
        f"Medians of {REPETITIONS} fits; over n at m = {M_FIXED}, over m at n = {N_FIXED:,} documents; "
        f"{N_FEATURES} features, {PER_QUERY} documents to a query, C = 2^-2, γ = 2^-5, seeds 0. Memory: what "
        "the first fit adds at its peak to a process that holds the data. Exponents: least squares of "
        "logarithms over all sizes."
    )
    named = table.assign(map=[_name(kind) for kind in table["map"]], growing=table["growing"] + " grows")
    heads = {"growing": "", "features": "features s", "newton": "Newton s", "memory": "peak MB"}
    report.write("scaling", "How a fit grows with n and m", named.rename(columns=heads), notes)
    write_page(table, slopes, notes)


def measured(growing: str, n: int, methods: Sequence[Ours]) -> list[dict[str, object]]:
    """Fit about n documents, whole queries only, by several methods."""
    sizes = {"n_queries": round(n / PER_QUERY), "documents_per_query": (PER_QUERY, PER_QUERY)}
    data = make_data(**sizes, n_features=N_FEATURES, seed=0)
    found = side_by_side({method.label: method for method in methods}, data)
    return [_row(growing, data.n_documents, method, found[method.label]) for method in methods]


def _row(growing: str, n: int, method: Ours, found: Measured) -> dict[str, object]:
    m = method.m if FEATURE_MAPS[method.feature_map].has_components else N_FEATURES
    seconds = found.seconds() or [np.nan]
    row = {"growing": growing, "map": method.feature_map, "n": n, "m": m, "seconds": found.median()}
    row |= {"min": min(seconds), "max": max(seconds), "fits": len(found.runs)}
    row |= {stage: found.median(stage) for stage in ("features", "newton")}
    return row | {"memory": found.memory / 1e6, "failure": found.failure}


def exponents(table: pd.DataFrame) -> pd.DataFrame:
    """Slope and intercept of log2(quantity) on log2(size), for each growing size, map and quantity."""
    rows = []
    for (growing, kind), part in table.groupby(["growing", "map"], sort=False):
        for quantity in LABELS:
            kept = part[part[quantity] >= LEAST[quantity]]
            if len(kept) < 3:
                continue
            slope, start = np.polyfit(*(np.log2(kept[name].astype(float)) for name in (growing, quantity)), 1)
            row = {"growing": growing, "map": kind, "quantity": quantity}
            rows.append(row | {"slope": slope, "start": start})
    return pd.DataFrame(rows)


def sentence(table: pd.DataFrame, slopes: pd.DataFrame, growing: str) -> str:
    """The exponents over one size in words."""
    sizes = table.loc[table["growing"] == growing, growing]
    kinds = slopes.loc[slopes["growing"] == growing, "map"].unique()
    found = slopes[slopes["growing"] == growing].set_index(["map", "quantity"])["slope"]
    said = []
    for kind in kinds:
        grown = [
            f"{quantity} as {growing}^{found[kind, quantity]:.2f}"
            for quantity in ("seconds", "memory")
            if (kind, quantity) in found
        ]
        said += [f"{_name(kind)} takes {' and '.join(grown)}"] if grown else []
    return f"From {growing} = {sizes.min():,} to {sizes.max():,}, {'; '.join(said)}."


def _name(kind: str) -> str:
    return FEATURE_MAPS[kind].label if kind in FEATURE_MAPS else kind


# memory of fits -------------------------------------------------------------------------------------------

SIZES = (40_000, 100_000, 250_000, 400_000)
"""Documents of 136 features, in an array of the caller."""
WAYS: dict[str, tuple[dict[str, Any], str]] = {
    "linear": ({"feature_map": "linear"}, ""),
    "Nyström, m = 500": ({"feature_map": "nystroem", "n_components": 500}, "double"),
    "Nyström, m = 500, little memory": ({"feature_map": "nystroem", "n_components": 500}, "single"),
    "Nyström, m = 100, least memory": ({"feature_map": "nystroem", "n_components": 100}, "again"),
    "random Fourier, m = 300": ({"feature_map": "fourier", "n_components": 300}, "double"),
}
"""Settings, and a word of the plan: the memory is limited until the plan has it."""


def memory() -> None:
    """Compare the memory that fits state in advance with their measured peak; write results/memory."""
    rows = []
    for n in SIZES:
        for name, (settings, word) in WAYS.items():
            with Child() as child:
                row = {"documents": n, "map": name} | child.ask(_fit_with_peak, n, settings, word)
            rows.append(row | {"stated / measured": row["stated GB"] / row["measured GB"]})
            print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    worst = (table["stated / measured"] - 1).abs().max()
    notes = [
        f"fit(X, y, qid=...) in a new process each: the peak above what the process held before it had the "
        f"documents, X among it, beside the stated one. Largest difference: {worst:.0%}. 136 features, 100 "
        "documents to a query."
    ]
    report.write("memory", "Memory that fits state, and take", table, notes)


def _fit_with_peak(n: int, settings: dict[str, Any], word: str) -> dict[str, Any]:
    few = make_data(n_queries=20, documents_per_query=(100, 100), n_features=136, seed=0)
    model = RankSVM(**settings, C=2.0**-11, **({"gamma": 2.0**-6} if len(settings) > 1 else {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few documents are fewer than landmarks
        clone(model).fit_data(few)
    gc.collect()
    before = resident_memory()
    rng, per_query = np.random.default_rng(0), 100
    X = rng.random((n, 136))
    latent = X @ rng.normal(size=136) + rng.normal(size=n)
    y = np.searchsorted(np.quantile(latent, (0.516, 0.84, 0.974, 0.993)), latent)
    qid = np.arange(n) // per_query
    data = RankingData.from_arrays(X, y, qid, copy=False)
    while word not in (plan := model.plan(data)).words:
        model.set_params(memory_limit=plan.need - 1)
    del data, latent
    return_freed_memory()
    reset_peak_memory()
    _, seconds = timed(lambda: model.fit(X, y, qid=qid))
    found = {"plan": model.memory_plan_, "stated GB": plan.total / 1e9}
    return found | {"measured GB": (peak_memory() - before) / 1e9, "seconds": seconds}


# the page of docs/ ----------------------------------------------------------------------------------------


def queued() -> None:
    """Measure the steps of a job in the run store while others wait; write results/queued."""
    rows: list[dict[str, object]] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "bounds.toml").write_text("live_jobs = 10000\nlive_jobs_each = 10000\n")
        os.environ["RANKVIZ_BOUNDS"] = str(folder / "bounds.toml")
        addresses = {"SQLite": str(folder / "runs.sqlite")}
        with suppress(SystemExit):  # no PostgreSQL here
            addresses["PostgreSQL"] = stack.enter_context(postgres.server()).address
        for database, address in addresses.items():
            rows += [{"database": database, **row} for row in queued_rows(RunStore(address))]
    note = (
        f"Medians of {LOOKS} in milliseconds. Jobs of four runs; nobody makes them. Submit: a new job. Join: "
        "look for a job of others, then a new one. Find: the live jobs with any of its runs. Take: a "
        "worker's choice, lease and release of a family."
    )
    report.write("queued", "A job while others wait", pd.DataFrame(rows), [note])


def queued_rows(store: RunStore) -> list[dict[str, object]]:
    """Return the milliseconds of each step with growing numbers of waiting jobs."""
    jobs, numbers, rows = WatchedStudies(LocalWorkers(store, 0)), itertools.count(), list[dict[str, object]]()
    base = RunSpec("made", digest="0" * 32)

    def about() -> dict[str, Any]:
        number = next(numbers)
        specs = [base.but(C=2.0**-C, seed=number) for C in range(4)]
        return {
            "specs": specs,
            "owner": f"visitor {number}",
            "title": "",
            "roots": [],
            "address": f"{number}",
        }

    def take() -> None:
        lease = store.queue.take("w")
        assert lease is not None
        store.queue.release(lease)

    for waiting in QUEUED:
        for _ in range(waiting - len(jobs.live())):
            jobs.submit(**about())
        steps = {
            "submit": lambda: jobs.submit(**about()),
            "join": lambda: jobs.join(**about()),
            "find": lambda: jobs.live(about()["specs"]),
            "take": take,
        }
        took = {
            name: statistics.median(report.seconds(work, LOOKS, warm_up=True)) for name, work in steps.items()
        }
        rows.append({"waiting": waiting} | {name: 1e3 * seconds for name, seconds in took.items()})
    store.close()
    return rows


def figure(table: pd.DataFrame, slopes: pd.DataFrame) -> go.Figure:
    """Draw medians with their lines of least squares: a row for each quantity, a column for each size."""
    about = ["growing", "map", "quantity"]
    long = table.melt(["growing", "map", "n", "m"], list(LABELS), "quantity").merge(slopes, on=about)
    long = long[long["value"] >= long["quantity"].map(LEAST)]
    long["size"] = np.where(long["growing"] == "n", long["n"], long["m"]).astype(float)
    long["fitted"] = 2.0 ** (long["start"] + long["slope"] * np.log2(long["size"]))
    long["model"], long["quantity"] = long["map"].map(_name), long["quantity"].map(LABELS)
    colours = {_name(kind): line_of(kind)["marker"].get("color") for kind in slopes["map"].unique()}
    facets = {"facet_row": "quantity", "facet_col": "growing", "log_x": True, "log_y": True}
    facets |= {"facet_row_spacing": 0.04, "facet_col_spacing": 0.1}
    facets |= {"color": "model", "color_discrete_map": colours}
    out = px.scatter(long, x="size", y="value", **facets)
    out.add_traces(px.line(long, x="size", y="fitted", **facets).update_traces(showlegend=False).data)
    out.for_each_annotation(lambda one: one.update(text=one.text.partition("=")[2]))
    for (growing, quantity), part in slopes.groupby(["growing", "quantity"]):
        row, column = len(LABELS) - list(LABELS).index(quantity), 1 + (growing == "m")  # rows count upwards
        powers = part["slope"].map(lambda slope: with_minus(slope, ".2f"))
        words = part["map"].map(_name) + f" {growing}<sup>" + powers + "</sup>"
        place = {"x": 0.02, "y": 0.99, "xref": "x domain", "yref": "y domain", "yanchor": "top"}
        place |= {"showarrow": False, "font": {"size": 11}, "row": row, "col": column}
        out.add_annotation(text=", ".join(words), **place)
    out.update_xaxes(title_text="").update_xaxes(matches="x", col=1).update_xaxes(matches="x2", col=2)
    out.update_yaxes(matches=None, title_text="", showticklabels=True, dtick=1)
    return out.update_layout(width=900, height=1250)


def write_svg(name: str, drawing: go.Figure) -> None:
    """Write a figure to docs/NAME.svg by Chromium; without a browser it stays as it was, with a note."""
    drawing.update_layout(
        template="plotly_white", font={"family": "DejaVu Sans, Arial, sans-serif", "size": 13}
    )
    size = {"width": drawing.layout.width, "height": drawing.layout.height}
    try:
        with chromium() as browser:
            page = browser.new_page(viewport=size)
            page.set_content(drawing.to_html(include_plotlyjs=True, div_id="figure"))
            page.wait_for_selector("#figure .main-svg")
            address = page.evaluate("size => Plotly.toImage('figure', {format: 'svg', ...size})", size)
    except AppError as error:
        print(f"docs/{name}.svg was not drawn anew: {error}")
    else:
        (DOCS / f"{name}.svg").write_text(urllib.parse.unquote(address.split(",", 1)[1]))


def write_page(table: pd.DataFrame, slopes: pd.DataFrame, notes: list[str]) -> None:
    """Write docs/scaling.md and its figure."""
    lines = ["# How a fit grows with the data", ""]
    lines += [line for note in notes[:-1] for line in (f"**{note}**", "")]
    lines += ["![Seconds and memory against n and m](scaling.svg)", "", notes[-1], ""]
    lines += [*(f"- {key}: {value}" for key, value in report.facts().items()), ""]
    lines += ["`make bench ARGS=scaling` measures it anew; the table is benchmarks/results/scaling.md.", ""]
    (DOCS / "scaling.md").write_text("\n".join(lines))
    write_svg("scaling", figure(table, slopes))
