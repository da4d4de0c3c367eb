"""chen2017's grid of C and γ on OHSUMED and MQ2008: what is chosen, and whether kernels beat linear.

Nyström and random Fourier, m = 500, five folds, C = 2^-12 … 2^6 and γ = 2^-12 … 2^2: 5,700 runs, and the
linear model with the same C, and with smaller ones too. Worker processes make them in a run store. Settings
are chosen on validation parts, and the choices are compared on the test parts, query by query. Needs
RANKVIZ_LETOR.

`python -m benchmarks.grid --store FILE` keeps the store; a second start makes only what is missing.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from benchmarks import report
from benchmarks.report import letor
from benchmarks.scaling import write_svg
from benchmarks.settings import FOURIER, NYSTROEM, PRIMAL
from rankviz import RunSpec
from rankviz.analysis.comparison import LEVEL, BestCandidate, Comparison, best_of, compare
from rankviz.analysis.contestants import Contestant, Matched, Run
from rankviz.common.numbers import power_of_two, with_minus
from rankviz.datasets import find_datasets, open_fold
from rankviz.features import FEATURE_MAPS
from rankviz.metrics.paired_tests import holm
from rankviz.plots import sweep_map
from rankviz.plots.style import LOW_TO_HIGH
from rankviz.runs import RULES, Design, Selection, Values, powers, select
from rankviz.runs.presets import PRESETS
from rankviz.runs.selection import Choice
from rankviz.runs.sweep_table import results
from rankviz.store import RunStore, Study
from rankviz.store.database import ENVIRONMENT
from rankviz.store.execution import LocalWorkers, worker_processes

SETS, KERNELS = ("OHSUMED", "MQ2008"), ("nystroem", "fourier")
WORKERS, OWNER = 2, "benchmarks"
SMALLER = -20
"""The linear model has features of another size, and is tried from this power of two on as well."""
CRITERIA = ("MAP", "NDCG@10")
METRICS = (*CRITERIA, "MeanNDCG")
TABLE_4 = {
    "RankSVM-Primal (linear), chen2017": PRIMAL,
    "RankNyström, chen2017": NYSTROEM,
    "RankRandomFourier, chen2017": FOURIER,
}


# the runs -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """The runs of one model on all folds of one set; the digests are of the data of each fold."""

    label: str
    design: Design
    digests: Mapping[str, str]

    @property
    def dataset(self) -> str:
        """Return the name of the set."""
        return self.design.base.dataset

    @property
    def kernel(self) -> bool:
        """Return whether the model has a kernel."""
        return self.design.base.feature_map != "linear"

    def specs(self) -> list[RunSpec]:
        """Return the runs, with the digests of their data."""
        return [spec.but(digest=self.digests[spec.fold]) for spec in self.design.specs()]

    def study_in(self, store: RunStore) -> str | None:
        """Return the study that an earlier start asked for, or None."""
        own = (one for one in store.studies.every() if one.study.owner == OWNER)
        return next((one.id for one in own if dict(one.study.design) == self.design.to_dict()), None)

    def ask(self, store: RunStore, root: Path) -> str:
        """Ask for the runs, or resume an earlier study; return the study."""
        if (found := self.study_in(store)) is not None:
            store.studies.resume(found, OWNER)
            return found
        title = f"chen2017's grid: {self.label} on {self.dataset}"
        study = Study(OWNER, title, design=self.design.to_dict(), roots=(str(root),), shared=True)
        return store.studies.submit(study, self.specs())


def grids(root: Path, sets: Sequence[str] = SETS) -> list[Grid]:
    """Return the grid of each model on each set."""
    found, out = find_datasets([root]), []
    for name in sets:
        folds = tuple(found[name].folds)
        digests = {fold: open_fold(found[name], fold).digest for fold in folds}
        designs = designs_of(RunSpec(name, folds[0]), folds)
        out += [Grid(label, design, digests) for label, design in designs.items()]
    return out


def designs_of(base: RunSpec, folds: Sequence[str]) -> dict[str, Design]:
    """Return the designs: linear with chen2017's C, linear with smaller ones too, then both kernels."""
    preset = PRESETS["chen2017"]
    kernels = {FEATURE_MAPS[kind].label: preset.design(base.but(feature_map=kind), folds) for kind in KERNELS}
    one = next(iter(kernels.values()))
    wider = Values("C", (*powers(SMALLER, -13), *one.axis("C").ordered))
    axes = {"linear": one.axis("C"), "linear, smaller C too": wider}
    linear = {
        label: Design(one.base.linear(1.0), (axis,), folds=tuple(folds)) for label, axis in axes.items()
    }
    return linear | kernels


def make(store: RunStore, wanted: Sequence[Grid], root: Path) -> None:
    """Make the runs that are missing by worker processes, which end with this."""
    execution = LocalWorkers(store, WORKERS)
    try:
        studies, began = [grid.ask(store, root) for grid in wanted], time.monotonic()
        while left := sum(execution.watch(study).left for study in studies):
            print(f"# {left:,} runs are left after {time.monotonic() - began:.0f} s", flush=True)
            time.sleep(min(20.0, 0.2 + left / 50))
    finally:
        for process in worker_processes(store):
            process.terminate()
            process.wait(10.0)
    for status in map(store.studies.status, studies):
        if status.done < status.total:
            raise RuntimeError(f"{status.study.title}: {status.in_words}")


# the choices ----------------------------------------------------------------------------------------------


_RULES = {False: ("best", "one_standard_error", "one_paired_error"), True: ("best", "one_standard_error")}
EVERY_WAY = [Choice(metric, rule, each) for metric in CRITERIA for each in _RULES for rule in _RULES[each]]
"""An error of one fold is over its queries."""


def words(way: Choice) -> str:
    """Return for which folds and by which rule a way chooses."""
    return f"{'each fold' if way.per_fold else 'all folds'}, {RULES[way.rule].label}"


class Tried:
    """A grid whose runs are in a store."""

    def __init__(self, store: RunStore, grid: Grid) -> None:
        study = grid.study_in(store)
        if study is None:
            raise RuntimeError(f"{grid.label} on {grid.dataset} is not in the store")
        self.grid, self._store = grid, store
        self.table = store.listing.of_studies([study])
        places = results(grid.design, self.table)
        self._digests = places.set_index(["cell", "fold"])["digest"].to_dict()

    def chosen(self, way: Choice) -> Selection:
        """Choose in a way."""
        own = {digest: run.per_query[way.metric] for digest, run in self.validation.items()}
        about = {"per_fold": way.per_fold, "rule": way.rule, "per_query": own if way.per_fold else None}
        return select(self.grid.design, self.table, way.metric, **about)

    def tested(self, selection: Selection) -> Contestant:
        """Return the chosen runs on the test part."""
        digests = [self._digests[cell, fold] for fold, cell in selection.chosen["cell"].items()]
        return Contestant(self.grid.label, tuple(self._runs(digests, "test")))

    def validated(self, cell: int) -> Contestant:
        """Return a cell on the validation part."""
        digests = [self._digests[cell, fold] for fold in self.grid.design.folds]
        label = f"{self.grid.label}, {settings_words(self.grid.design.plan.cells[cell])}"
        return Contestant(label, tuple(self.validation[digest] for digest in digests))

    @cached_property
    def validation(self) -> dict[str, Run]:
        """All runs on the validation part, by digest; 50 records are read at a time."""
        found, digests = {}, list(self._digests.values())
        for first in range(0, len(digests), 50):
            for run in self._runs(digests[first : first + 50], "vali"):
                found[run.spec.hash] = Run(run.spec, run.per_query[list(METRICS)].copy())
        return found

    def _runs(self, digests: Iterable[str], part: str) -> Iterator[Run]:
        records = self._store.records.find(self._store.listing.specs(list(digests)))
        return (Run.of(record, part) for record in records.values())


def settings_words(cell: Mapping[str, float]) -> str:
    """Return C and γ as powers of two."""
    return ", ".join(f"{'γ' if name == 'gamma' else name} = {power_of_two(at)}" for name, at in cell.items())


@dataclass(frozen=True, eq=False)
class Outcome:
    """One way of choosing on one set: the choice for each model, and kernels against each linear one."""

    dataset: str
    way: Choice
    selections: Mapping[str, Selection]
    comparisons: tuple[Comparison, ...]

    @property
    def place(self) -> dict[str, object]:
        """Return the first columns of its rows."""
        return {"set": self.dataset, "by": self.way.metric, "chosen for": words(self.way)}


def outcomes(tried: Sequence[Tried]) -> list[Outcome]:
    """Choose in every way for the models of one set, each model in the same way."""
    found = []
    for way in EVERY_WAY:
        chosen = {one.grid.label: one.chosen(way) for one in tried}
        tested = [(one.grid.kernel, one.tested(chosen[one.grid.label])) for one in tried]
        kernels = [own for kernel, own in tested if kernel]
        linear = [own for kernel, own in tested if not kernel]
        compared = tuple(compare([own, *kernels], METRICS, own.label) for own in linear)
        found.append(Outcome(tried[0].grid.dataset, way, chosen, compared))
    return found


# the tables -----------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] = ()) -> None:
    """Make what is missing, choose, compare, and write the tables."""
    root = letor("chen2017's grid")
    if root is None:
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grid")
    parser.add_argument("--store", type=Path, help="the file of the run store, which is kept")
    kept = parser.parse_args(list(arguments)).store
    with ExitStack() as stack:
        path = kept or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "grid.sqlite"
        os.environ[ENVIRONMENT] = str(path)  # for the workers
        store = RunStore(path)
        stack.callback(store.close)
        wanted = grids(root)
        make(store, wanted, root)
        write([Tried(store, grid) for grid in wanted])


def write(tried: Sequence[Tried]) -> None:
    """Write all tables of what was chosen, every run, and the figure."""
    sets = list(dict.fromkeys(one.grid.dataset for one in tried))
    found = [one for name in sets for one in outcomes([t for t in tried if t.grid.dataset == name])]
    notes = ["Means over the test queries of all folds, with 95 % intervals over queries."]
    title = "chen2017's grid: what validation chooses, and its test parts"
    report.write("grid", title, test_table(found), notes)
    notes = [
        "Each model has the choice of the same way. Paired randomisation and Wilcoxon tests over queries. "
        "Holm: over the kernels and metrics of one choice; of all: over all choices, sets, kernels and "
        "metrics against that linear model."
    ]
    table = differences(found)
    report.write("grid_differences", "chen2017's grid: kernel minus linear on the test parts", table, notes)
    title = f"chen2017's grid: how many differences hold (adjusted p ≤ {LEVEL:g})"
    report.write("grid_verdicts", title, verdicts(table), notes)
    title = "chen2017's grid: the best cell on the validation parts, with the choice counted"
    report.write("grid_validation", title, *validation_table(tried))
    notes = [
        "Means of the five test folds of OHSUMED. chen2017 says neither by which metric its settings were "
        "chosen nor whether for all folds or for each; its kernel rows have m = 500 as ours. The linear "
        "model has the C of the grid, or smaller ones too (from 2^-20)."
    ]
    report.write("grid_table4", "chen2017 Table 4 beside ours", printed_beside(found), notes)
    columns = ["dataset", "fold", "feature_map", "gamma", "C", "seconds"]
    columns += [f"{part}:{metric}" for part in ("vali", "test") for metric in METRICS]
    every = pd.concat([one.table.assign(dataset=one.grid.dataset).reindex(columns=columns) for one in tried])
    report.write_csv("grid_runs", every[~every.index.duplicated()], digits=4)
    write_svg("grid", figure([one for one in tried if one.grid.kernel], CRITERIA[0]))


def test_table(found: Sequence[Outcome]) -> pd.DataFrame:
    """Return a row for each set, way and model: the choice, its validation value, test means, intervals."""
    rows = []
    for one in found:
        joined = pd.concat([comparison.standings for comparison in one.comparisons])
        standings = joined.drop_duplicates(["label", "metric"]).set_index(["label", "metric"])
        for label, selection in one.selections.items():
            row = one.place | {"model": label, "chosen": chosen_words(selection)}
            row["validation"] = round(selection.validation, 4)
            for metric in METRICS:
                own = standings.loc[(label, metric)]
                row |= {metric: round(own["mean"], 4), f"{metric}, 95 %": _ends(own, ".4f")}
            rows.append(row)
    return pd.DataFrame(rows)


def chosen_words(selection: Selection) -> str:
    """Return the chosen setting, or that of each fold."""
    cells = list(map(settings_words, selection.settings.values()))
    return "; ".join(cells if len(set(cells)) > 1 else cells[:1])


def differences(found: Sequence[Outcome]) -> pd.DataFrame:
    """Return kernel minus linear over test queries, with Holm's correction for one choice and for all."""
    tables = [
        comparison.deltas.assign(**one.place, against=comparison.baseline)
        for one in found
        for comparison in one.comparisons
    ]
    joined = pd.concat(tables, ignore_index=True)
    joined["Holm of all"] = joined.groupby("against")["randomisation"].transform(holm)
    joined["95 %"] = [_ends(row, "+.4f") for _, row in joined.iterrows()]
    joined["difference"] = joined["difference"].round(4) + 0.0  # no −0
    own = {"label": "model", "holm": "Holm", "wilcoxon": "Wilcoxon"}
    about = ["set", "by", "chosen for", "model", "against", "metric", "queries"]
    told = ["difference", "95 %", "better", "worse", "randomisation", "Wilcoxon", "Holm", "Holm of all"]
    return joined.rename(columns=own)[about + told]


def _ends(row: pd.Series, form: str) -> str:
    return f"[{with_minus(row['low'], form)}, {with_minus(row['high'], form)}]"


def verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """Count the differences that hold, for each way: better and worse, by both corrections."""
    rows = []
    for (against, chosen), part in table.groupby(["against", "chosen for"], sort=False):
        row = {"against": against, "chosen for": chosen, "comparisons": len(part)}
        for column in ("Holm", "Holm of all"):
            held = part.loc[part[column] <= LEVEL, "difference"]
            row |= {f"better, {column}": int((held > 0).sum()), f"worse, {column}": int((held < 0).sum())}
        rows.append(row)
    return pd.DataFrame(rows)


def validation_table(tried: Sequence[Tried]) -> tuple[pd.DataFrame, list[str]]:
    """Return the best cells on validation against linear models, as rows and as sentences."""
    rows, notes = [], []
    for kernel in (one for one in tried if one.grid.kernel):
        name = kernel.grid.dataset
        for linear in (one for one in tried if one.grid.dataset == name and not one.grid.kernel):
            for one in best_cells(kernel, linear):
                row = {"set": name, "metric": one.metric, "queries": one.queries, "best cell": one.label}
                row |= {"of cells": len(one.table), "against": one.baseline}
                own = one.table.set_index("label").loc[one.label]
                rows.append(row | own[["mean", "difference", "p", "p_chosen"]].round(4).to_dict())
                notes.append(f"{name}: {one.sentence()}.")
    return pd.DataFrame(rows), notes


def best_cells(kernel: Tried, linear: Tried) -> list[BestCandidate]:
    """By each criterion, compare the best cell on validation with the best linear one, choice counted."""
    found = []
    cells = [kernel.validated(cell) for cell in range(len(kernel.grid.design.plan.cells))]
    for metric in CRITERIA:
        best = int(linear.chosen(Choice(metric)).chosen["cell"].iloc[0])
        baseline = linear.validated(best)
        found.append(best_of(Matched.of([baseline, *cells]), metric, baseline.label))
    return found


def printed_beside(found: Sequence[Outcome]) -> pd.DataFrame:
    """Return the printed rows of Table 4, then our means on OHSUMED for choices of the best cell."""
    rows = [{"model": name, "chosen": "printed", **values} for name, values in TABLE_4.items()]
    for one in found:
        if one.way.rule == "best" and one.dataset == "OHSUMED":
            for label, selection in one.selections.items():
                how = f"{words(one.way)}, validation {one.way.metric}: {chosen_words(selection)}"
                own = selection.test_means[list(PRIMAL)].round(4).to_dict()
                rows.append({"model": label, "chosen": how, **own})
    return pd.DataFrame(rows)


def figure(tried: Sequence[Tried], metric: str) -> go.Figure:
    """Draw the maps of the Sweep page: a row for each set with one colour scale, a column for each model."""
    sets = list(dict.fromkeys(one.grid.dataset for one in tried))
    models = list(dict.fromkeys(one.grid.label for one in tried))
    titles = [f"{name}, {model}" for name in sets for model in models]
    spacing = {"horizontal_spacing": 0.08, "vertical_spacing": 0.12}
    out = make_subplots(len(sets), len(models), subplot_titles=titles, **spacing)
    for row, name in enumerate(sets, start=1):
        own = {one.grid.label: one for one in tried if one.grid.dataset == name}
        tables = {label: sweep_map.map_data(one.grid.design, one.table, metric) for label, one in own.items()}
        low, high = sweep_map.colours_between(pd.concat([one["value"] for one in tables.values()]), metric)
        bar = {"title": {"text": metric}, "len": 0.9 / len(sets), "y": 1 - (row - 0.5) / len(sets)}
        scale = {"colorscale": LOW_TO_HIGH, "cmin": low, "cmax": high}
        out.update_layout({f"coloraxis{row}": scale | {"colorbar": bar | {"thickness": 12}}})
        for label, table in tables.items():
            drawn, place = (
                sweep_map.map_figure(table, own[label].grid.design, metric),
                models.index(label) + 1,
            )
            drawn.update_traces(coloraxis=f"coloraxis{row}", selector={"type": "heatmap"})
            out.add_traces(drawn.data, rows=row, cols=place)
            out.update_xaxes(drawn.layout.xaxis.to_plotly_json(), row=row, col=place)
            out.update_yaxes(drawn.layout.yaxis.to_plotly_json(), row=row, col=place)
    return out.update_layout(width=900, height=800, showlegend=False)


if __name__ == "__main__":
    main(sys.argv[1:])
