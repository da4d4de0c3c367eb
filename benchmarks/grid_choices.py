"""What validation chooses of chen2017's grids, and whether kernels are better on the test part then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from benchmarks.grid_studies import Grid, study_of
from rankviz.analysis.comparing.chosen import Chosen, best_of
from rankviz.analysis.comparing.comparison import LEVEL, Comparison, compare
from rankviz.analysis.comparing.contestants import Contestant, Run
from rankviz.analysis.comparing.matched import Matched
from rankviz.common.numbers import power_of_two, with_minus
from rankviz.metrics.paired_tests import holm
from rankviz.store import RunStore
from rankviz.sweeps import RULES, Selection, select
from rankviz.sweeps.kinds import Cell
from rankviz.sweeps.table import results

CRITERIA = ("MAP", "NDCG@10")
METRICS = (*CRITERIA, "MeanNDCG")
PRINTED = ("NDCG@1", "NDCG@3", "NDCG@5", "P@1", "P@3", "MAP")
"""Columns of chen2017 Table 4."""
PORTION = 50
"""Records that are read at a time."""
WAYS = (
    (False, "best"),
    (False, "one_standard_error"),
    (False, "one_paired_error"),
    (True, "best"),
    (True, "one_standard_error"),
)
"""One setting for all folds or one for each, and the rule: an error of one fold is over its queries."""


@dataclass(frozen=True)
class Way:
    """How a setting is chosen."""

    criterion: str
    per_fold: bool
    rule: str

    @property
    def words(self) -> str:
        """The way in words."""
        return f"{'each fold' if self.per_fold else 'all folds'}, {RULES[self.rule].label}"


EVERY_WAY = [Way(criterion, *way) for criterion in CRITERIA for way in WAYS]


class Tried:
    """A grid whose runs are in a store."""

    def __init__(self, store: RunStore, grid: Grid) -> None:
        study = study_of(store, grid)
        if study is None:
            raise RuntimeError(f"{grid.title} is not in the store")
        self.grid, self._store = grid, store
        self.table = store.listing.of_studies([study])
        places = results(grid.design, self.table)
        self._digests = places.set_index(["cell", "fold"])["digest"].to_dict()

    def chosen(self, way: Way) -> Selection:
        """What a way of choosing takes."""
        per_query = None
        if way.per_fold:
            per_query = {digest: run.per_query[way.criterion] for digest, run in self.validation.items()}
        about = {"per_fold": way.per_fold, "rule": way.rule, "per_query": per_query}
        return select(self.grid.design, self.table, way.criterion, **about)

    def tested(self, selection: Selection) -> Contestant:
        """The chosen runs on the test part."""
        digests = [self._digests[cell, fold] for fold, cell in selection.chosen["cell"].items()]
        return Contestant(self.grid.label, tuple(self._runs(digests, "test")))

    def validated(self, cell: int) -> Contestant:
        """A cell on the validation part."""
        digests = [self._digests[cell, fold] for fold in self.grid.design.folds]
        return Contestant(self.cell_words(cell), tuple(self.validation[digest] for digest in digests))

    def cell_words(self, cell: int) -> str:
        """The settings of a cell, with the model."""
        return f"{self.grid.label}, {settings_words(self.grid.design.plan.cells[cell])}"

    @cached_property
    def validation(self) -> dict[str, Run]:
        """All runs on the validation part, by digest."""
        found, digests = {}, list(self._digests.values())
        for first in range(0, len(digests), PORTION):  # weights and scores are let go again
            kept = self._runs(digests[first : first + PORTION], "vali")
            found |= {run.spec.hash: Run(run.spec, run.per_query[list(METRICS)].copy()) for run in kept}
        return found

    def _runs(self, digests: Iterable[str], part: str) -> Iterator[Run]:
        records = self._store.records.find(self._store.listing.specs(list(digests)))
        return (Run.of(record, part) for record in records.values())


def settings_words(cell: Cell) -> str:
    """C and γ as powers of two."""
    return ", ".join(
        f"{'γ' if name == 'gamma' else name} = {power_of_two(value)}" for name, value in cell.items()
    )


@dataclass(frozen=True, eq=False)
class Outcome:
    """One way of choosing on one set: what is chosen for each model, and kernels against each linear one."""

    dataset: str
    way: Way
    selections: Mapping[str, Selection]
    comparisons: tuple[Comparison, ...]

    @property
    def place(self) -> dict[str, object]:
        """Where it stands in tables."""
        return {"set": self.dataset, "by": self.way.criterion, "chosen for": self.way.words}


def outcomes(tried: Sequence[Tried]) -> list[Outcome]:
    """Every way of choosing for the models of one set, each model by the same way."""
    found = []
    for way in EVERY_WAY:
        chosen = {one.grid.label: one.chosen(way) for one in tried}
        tested = {one: one.tested(chosen[one.grid.label]) for one in tried}
        kernels = [own for one, own in tested.items() if one.grid.kernel]
        compared = tuple(
            compare([own, *kernels], METRICS, own.label) for one, own in tested.items() if not one.grid.kernel
        )
        found.append(Outcome(tried[0].grid.dataset, way, chosen, compared))
    return found


def test_table(found: Sequence[Outcome]) -> pd.DataFrame:
    """A row a set, way and model: what was chosen, its validation value, test means with their intervals."""
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
    """What was chosen: one setting, or that of each fold."""
    cells = list(map(settings_words, selection.settings.values()))
    return "; ".join(cells if len(set(cells)) > 1 else cells[:1])


def differences(found: Sequence[Outcome]) -> pd.DataFrame:
    """Kernel minus linear over test queries.

    "Holm" is over the comparisons of one choice with one linear model, "Holm of all" over all with it.
    """
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


def verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """How many of the differences hold, way by way: better and worse, by both corrections."""
    rows = []
    for (against, words), part in table.groupby(["against", "chosen for"], sort=False):
        row = {"against": against, "chosen for": words, "comparisons": len(part)}
        for column in ("Holm", "Holm of all"):
            held = part.loc[part[column] <= LEVEL, "difference"]
            row |= {f"better, {column}": int((held > 0).sum()), f"worse, {column}": int((held < 0).sum())}
        rows.append(row)
    return pd.DataFrame(rows)


def best_cells(kernel: Tried, linear: Tried) -> list[Chosen]:
    """By each criterion, the best cell on validation against the best linear one, with the choice counted."""
    found = []
    cells = [kernel.validated(cell) for cell in range(len(kernel.grid.design.plan.cells))]
    for metric in CRITERIA:
        best = int(linear.chosen(Way(metric, False, "best")).chosen["cell"].iloc[0])
        baseline = linear.validated(best)
        found.append(best_of(Matched.of([baseline, *cells]), metric, baseline.label))
    return found


def printed_beside(found: Sequence[Outcome], printed: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Rows as printed, then the means of ours for the choices of the best cell."""
    rows = [{"model": name, "chosen": "printed", **values} for name, values in printed.items()]
    for one in found:
        if one.way.rule == "best":
            for label, selection in one.selections.items():
                how = f"{one.way.words}, validation {one.way.criterion}"
                own = selection.test_means[list(PRINTED)].round(4).to_dict()
                rows.append({"model": label, "chosen": f"{how}: {chosen_words(selection)}", **own})
    return pd.DataFrame(rows)


def _ends(row: pd.Series, form: str) -> str:
    return f"[{with_minus(row['low'], form)}, {with_minus(row['high'], form)}]"
