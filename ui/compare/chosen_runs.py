"""Inputs of a comparison: the visitor's chosen runs and those of studies, opened as contestants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from rankviz.analysis.contestants import Contestant, Run, contestants, with_measures
from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted
from rankviz.runs.description import fold_words
from rankviz.runs.designs import Design
from rankviz.runs.record import NOT_MADE_HERE, RunRecord
from rankviz.runs.selection import Choice, select
from rankviz.runs.spec import RunSpec
from rankviz.runs.sweep_table import results
from rankviz.store import StudyStatus
from rankviz.store.study import DONE, IMPORTED, NoSuchStudy
from ui.compare import compare_words as words
from ui.controls.compared import MOST, RUN, RUNS, STUDIES, chosen, named_as
from ui.shell.visitors import visitor
from ui.work.folds import fold_of
from ui.work.metrics import with_column
from ui.work.run_store import run_store
from ui.work.runs import recall, remember

MOST_MODELS = 40
"""Largest number of models: the figure has a row for each."""


@dataclass(frozen=True)
class ChosenBy:
    """A study's part of a comparison: runs, a note about them, its baseline's digest."""

    specs: tuple[RunSpec, ...]
    note: str
    baseline: str = ""


def chosen_by(study: str, metric: str) -> ChosenBy:
    """Return the runs of the cell that a study chooses on validation, the mean over its folds.

    The study's stored metric and rule apply; without them, the best cell by this metric is chosen. Models
    have the same settings on all folds, so a choice for each fold becomes one for all folds here.
    Raises `NoSuchStudy` if this visitor may not see it, `DataError` if no cell is complete.
    """
    status = run_store().studies.seen(study, visitor())
    choice = Choice.of_study(status.study.design) or Choice(metric)
    digests, note = _cell(study, status.done, choice, status.study.title, status)
    specs = tuple(spec for spec in _specs(study, status.total) if spec.hash in digests)
    return ChosenBy(specs, note, status.baseline)


@st.cache_resource(max_entries=64, show_spinner=False)
def _specs(study: str, total: int) -> list[RunSpec]:
    return run_store().studies.specs(study)


@st.cache_resource(max_entries=64, show_spinner=words.CHOOSING)
def _cell(
    study: str, done: int, choice: Choice, title: str, _status: StudyStatus
) -> tuple[frozenset[str], str]:
    """Return the digests of the chosen cell's runs, and a note about the choice."""
    design = Design.from_dict(_status.study.design)
    table = run_store().listing.of_study(study, _status.study.owner)
    made = with_column(table[table["state"] == DONE], choice.metric)
    found = select(design, made, choice.metric, rule=choice.rule)
    runs = results(design, table)
    digests = runs["digest"][runs["cell"] == runs["fold"].map(found.chosen["cell"])]
    return frozenset(digests.dropna()), words.study_note(title, choice, found.cells, len(design.folds))


@dataclass(frozen=True)
class ChosenRuns:
    """Runs to compare, and notes about runs left out.

    Attributes
    ----------
    specs : tuple of RunSpec
        Specs of made runs, in the order of choice.
    imported : tuple of (str, RunSpec)
        Imported runs: their key in the store, and the spec that they claim.
    notes : tuple of str
        Sentences.
    baseline : str
        Digest of a study's baseline run, "" without one.
    """

    specs: tuple[RunSpec, ...]
    imported: tuple[tuple[str, RunSpec], ...] = ()
    notes: tuple[str, ...] = ()
    baseline: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """Key of the runs for caches."""
        return tuple([spec.hash for spec in self.specs] + [digest for digest, _ in self.imported])

    @property
    def every(self) -> tuple[RunSpec, ...]:
        """Specs of all runs."""
        return (*self.specs, *(spec for _, spec in self.imported))


def chosen_runs(metric: str) -> ChosenRuns:
    """Return the runs to compare; from studies, those of the cell chosen by a metric."""
    named_as(RUNS, RUN)
    digests, studies = chosen(RUNS), chosen(STUDIES)
    seen = run_store().listing.seen_among(digests, visitor()) if digests else {}
    made = [spec for spec, state in seen.values() if state == DONE]
    imported = [(digest, spec) for digest, (spec, state) in seen.items() if state == IMPORTED]
    notes, pinned = _left_out(len(digests) - len(seen), len(seen) - len(made) - len(imported)), ""
    if imported:
        are = "is" if len(imported) == 1 else "are"
        notes.append(f"{counted(len(imported), 'run')} {are} {NOT_MADE_HERE}.")
    for study in studies:
        try:
            found = chosen_by(study, metric)
        except NoSuchStudy:
            notes.append(words.NO_STUDY)
            continue
        made += found.specs
        notes.append(found.note)
        pinned = pinned or found.baseline
    specs = tuple(dict.fromkeys(made))
    if len(specs) + len(imported) > MOST:
        notes.append(words.FIRST_RUNS.format(most=MOST, all=len(specs) + len(imported)))
    return ChosenRuns(specs[:MOST], tuple(imported[: MOST - len(specs[:MOST])]), tuple(notes), pinned)


def _left_out(unseen: int, unmade: int) -> list[str]:
    notes = []
    if unseen:
        notes.append(words.UNSEEN.format(runs=counted(unseen, "run")))
    if unmade:
        notes.append(words.UNMADE.format(runs=counted(unmade, "run")))
    return notes


by_runs = partial(st.cache_resource, hash_funcs={ChosenRuns: lambda what: what.key})
"""Caches a function of chosen runs by their key."""


@by_runs(max_entries=64, show_spinner=words.OPENING)
def opened(what: ChosenRuns, part: str, more: tuple[str, ...] = ()) -> list[Contestant]:
    """Return the models of runs with their metrics of a part, and `more` that runs do not have.

    Raises `SettingError` if there are too many.
    """

    def run(record: RunRecord, imported: str = "") -> Run:
        spec = record.spec
        return Run.of(with_measures(record, part, more, lambda: fold_of(spec).parts[part]), part, imported)

    read = run_store().imports.opened
    made = [run(record) for record in _records(what.specs)]
    imported = [run(read(digest), digest) for digest, _ in what.imported]
    found = contestants([*made, *imported], part)
    if len(found) > MOST_MODELS:
        raise SettingError(words.TOO_MANY.format(found=len(found), most=MOST_MODELS))
    return found


def on_common_folds(models: Sequence[Contestant]) -> tuple[list[Contestant], str]:
    """Return the models on their common folds, and a sentence if some folds are left out.

    Without common folds the models stay unchanged; the comparison then reports the error.
    """
    every = sorted({fold for one in models for fold in one.folds})
    common = [fold for fold in every if all(fold in one.folds for one in models)]
    if len({one.spec.dataset for one in models}) > 1 or not common or common == every:
        return list(models), ""
    kept = [
        Contestant(one.label, tuple(run for run in one.runs if run.spec.fold in common)) for one in models
    ]
    left_out = [fold for fold in every if fold not in common]
    labels = {"left_out": left_out, "common": common}
    return kept, words.COMMON_FOLDS.format(
        **{name: ", ".join(map(fold_words, folds)) for name, folds in labels.items()}
    )


def _records(specs: Iterable[RunSpec]) -> list[RunRecord]:
    """Return the records of runs, from memory or the store; SettingError if some cannot be read."""
    asked = list(specs)
    for record in run_store().records.find([spec for spec in asked if recall(spec) is None]).values():
        remember(record)
    found = [recall(spec) for spec in asked]
    if None in found:
        raise SettingError(words.UNREADABLE)
    return [record for record in found if record is not None]
