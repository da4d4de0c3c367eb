"""Sentences of the Runs page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from rankviz.common.numbers import counted
from rankviz.metrics.significance import leader, tied
from rankviz.runs.record import NOT_MADE_HERE
from rankviz.runs.spec import RunSpec
from rankviz.store.study import DONE, FAILED, IMPORTED, LOST, OPEN
from ui.shell.texts import data_words, describe
from ui.work.run_store import run_store

if TYPE_CHECKING:
    from ui.compare.runs_filters import Columns, Shown

ALL_HELP = "All filtered runs, or none."
TRAIN_AGAIN_HELP = "Trains the run here and compares the results."
LOST_RUNS = "{runs} of this link cannot be shown: private, deleted, or mistyped."
NO_STUDY = "This link's study is private or gone; all runs are shown."
RUNS_KEPT = "Every trained run is kept here."
POINTS = (
    "One point per run: mean {metric} over validation queries; ring: best. Compare only runs of one "
    "fold.{some}"
)

MEASURED = (
    "{metric} is computed from the scores of at most {most:,} runs whose data are here: {n:,} of {of:,} "
    "runs. Filter to see others."
)
ALL_DELETED = "{runs} deleted; “Deleted” shows all."
NOT_ON_TRAIN = "Not available on Train: {error}."
NO_DATA = "Its data are not here."
NOTHING_TO_TRAIN = "Its scores came from files: there is nothing to train."
OTHER_DATA = "The data differ here."
METRIC_HELP = "Mean over queries."
END_HELP = "0 shows all runs."
SEARCH_HELP = "Finds runs with all words."
EXPORT_HELP = "All results, for import into rankviz."
TOO_LARGE = "A file has at most {runs:,} runs and {limit} MB: choose fewer."
TOO_MANY = "Files of runs take much memory now. Choose fewer runs, or wait ten minutes."
TREC_HELP = "A zip archive, a file for each run and part. Folds must be here."
IMPORT_HELP = "At most {limit} MB in total. Imported runs are private, marked “{mark}”, and replace no run."
WAITING = "Waiting for another visitor's files"
SCORES_ON_DATA = "Score files of your own system (TREC, CSV, LETOR): add them on Data"
NOT_IMPORTED = "{why} Nothing was imported from this file."
FROM_FILE = "{runs} imported. “Train again” verifies one."
NONE_MATCHES = "None of {runs} matches."
FIRST_LISTED = " The list shows {MOST_LISTED:,}, {first} first; “All” selects all."


def best_of(shown: Shown, columns: Columns) -> tuple[str, str]:
    """Name the run with the best validation metric on the most frequent fold; return it with its digest.

    Imported runs were not made here, so they are left out.
    """
    found, column = made_here(shown.table), f"vali:{shown.metric}"
    judged = found[found[column].notna()] if column in found else found.head(0)
    if judged.empty:
        here = " here" if len(found) < len(shown.table) else ""
        return f"{found_words(shown)} None has been trained{here}.", ""
    dataset, fold = judged.groupby(["dataset", "fold"], sort=False).size().idxmax()
    here = judged[(judged["dataset"] == dataset) & (judged["fold"] == fold)]
    means = pd.Series(tied(here[column].to_numpy()), here.index)
    best = here[means == means[leader(means, shown.metric)]]
    (spec,) = run_store().listing.specs([best.index[0]])
    name, value = name_of(spec, columns, here), f"{best[column].iloc[0]:.3f}"
    measured = f"validation {shown.metric}"
    if len(here) == 1:
        return f"{name} has {measured} {value} on {data_words(spec)}.", best.index[0]
    if len(best) == len(here):
        return f"All {len(here):,} runs on {data_words(spec)} have {measured} {value}.", best.index[0]
    of = f"Of {counted(len(here), 'run')} on {data_words(spec)}"
    others = f" ({counted(len(best) - 1, 'other')} as good)" if len(best) > 1 else ""
    return f"{of}, {name} has the best {measured}: {value}{others}.", best.index[0]


def made_here(table: pd.DataFrame) -> pd.DataFrame:
    """Return the runs without those that were imported."""
    return table[table["state"] != IMPORTED]


def name_of(spec: RunSpec, columns: Columns, among: pd.DataFrame) -> str:
    """Describe a run by its model and the settings that differ among others, in Markdown."""
    described = describe(spec)
    return ", ".join([*described.names, *described.words(*columns.differing(among))])


def found_words(shown: Shown) -> str:
    """Count the runs shown, and those that were not made, by state."""
    found = shown.table
    n = len(found)
    words = counted(n, "run") if n == shown.total else f"{n:,} of {counted(shown.total, 'run')}"
    states = found["state"].value_counts()
    left = sum(int(states.get(state, 0)) for state in OPEN)
    others = {"to be made": left, "failed": states.get(FAILED, 0), "lost": states.get(LOST, 0)}
    others[NOT_MADE_HERE] = states.get(IMPORTED, 0)
    parts = [f"{number:,} {said}" for said, number in others.items() if number]
    if int(states.get(DONE, 0)) < n and parts:
        words += f" ({', '.join(parts)})"
    return f"{words}."
