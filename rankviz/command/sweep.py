"""`rankviz sweep`: a design of runs, made by worker processes, and what is chosen among them."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from rankviz.analysis.contestants import with_measures
from rankviz.command.output import OWNER, Bar, note, print_json, print_table, print_text, rows
from rankviz.command.values import (
    base_spec,
    chosen_roots,
    parse_axes,
    parse_settings,
    settings_of,
    with_digests,
)
from rankviz.common.errors import SettingError
from rankviz.common.parallel import cores
from rankviz.common.settings import one_of
from rankviz.datasets.folds import find_datasets, open_fold
from rankviz.metrics.evaluation import COLUMNS, column_name
from rankviz.runs import cost, select
from rankviz.runs.axes import KINDS, Axis, Range, axis_setting
from rankviz.runs.designs import Design
from rankviz.runs.estimate import Shape
from rankviz.runs.presets import PRESETS
from rankviz.runs.run import open_named
from rankviz.runs.selection import Choice
from rankviz.runs.spec import RunSpec
from rankviz.runs.sweep_table import TEST, VALIDATION
from rankviz.shards.backend import HERE, place_of
from rankviz.store import RunStore
from rankviz.store.execution import LocalWorkers
from rankviz.store.study import DONE, FAILED, LOST, TASKS, Study, StudyStatus
from rankviz.store.study import HERE as THIS_MACHINE

if TYPE_CHECKING:
    from rankviz.store.cluster import ClusterWorkers

LOOK_SECONDS = 0.5


def run(chosen: Namespace) -> int:
    """Make the runs, or print their cost; return 1 if some failed, 130 after Ctrl-C."""
    _check_arguments(chosen)
    if chosen.metric is not None:
        chosen.metric = column_name(chosen.metric)
    with closing(RunStore()) as store:
        if chosen.resume is not None:
            status = _study_to_resume(store, chosen)
            return _run_study(store, chosen, partial(_resume_study, store, status, chosen))
        design = _design(chosen)
        _choice(chosen).check(design)  # before hours of runs, not after
        if chosen.plan:
            return _plan(design, chosen)
        return _run_study(store, chosen, partial(_submit, store, design, chosen))


def _check_arguments(chosen: Namespace) -> None:
    """Raise `SettingError` for arguments that do not fit, before any work."""
    if chosen.detach and chosen.where not in (None, HERE):
        raise SettingError("--detach with --where: runs on a cluster need this command to keep running")
    if chosen.workers is not None and chosen.workers < 1:
        raise SettingError(f"--workers {chosen.workers}: use at least one worker process")


def _design(chosen: Namespace) -> Design:
    base, folds = base_spec(chosen)
    if chosen.preset is not None:
        one_of("preset", chosen.preset, PRESETS)
        if chosen.axis or chosen.kind is not None or chosen.points is not None:
            raise SettingError("--preset has its own axes: omit --axis, --kind and --points")
        return PRESETS[chosen.preset].design(base, folds, tuple(chosen.seed))
    kind = "grid" if chosen.kind is None else chosen.kind
    one_of("kind", kind, [name for name in KINDS if name != "given"])
    axes = tuple(parse_axes(chosen.axis, base.method, drawn=kind != "grid"))
    if not axes:
        raise SettingError(
            "no axes: give --axis NAME=VALUES at least once, "
            f"with one of {', '.join(settings_of(base.method)) or 'the settings of another method'}"
        )
    return Design(base, axes, kind, folds, tuple(chosen.seed), points=chosen.points or 0)


def _plan(design: Design, chosen: Namespace) -> int:
    found = find_datasets(chosen_roots(chosen))
    shape = Shape.of(open_fold(found[design.base.dataset], design.folds[0]))
    predicted = cost(design, shape)
    if chosen.json:
        print_json({"runs": predicted.runs, "families": predicted.families, "seconds": predicted.seconds})
    else:
        print_text(f"{predicted} on one process of this machine.")
        for text in design.plan.notes:
            print_text(text)
    return 0


def _submit(store: RunStore, design: Design, chosen: Namespace) -> str:
    specs = with_digests(design.specs(), chosen)
    title = chosen.title or f"{', '.join(design.names)} on {design.base.dataset}"
    study = Study(
        OWNER,
        title,
        design=_choice(chosen).beside(design),
        roots=tuple(map(str, chosen_roots(chosen))),
        threads=max(1, cores() // LocalWorkers(store, chosen.workers).workers),
        shared=True,
        place=_place(chosen),
    )
    return store.studies.submit(study, specs)


def _place(chosen: Namespace) -> str:
    """Return who works on the study: this machine's worker processes, or those of a cluster."""
    return THIS_MACHINE if chosen.where in (None, HERE) else TASKS


def _resume_study(store: RunStore, status: StudyStatus, chosen: Namespace) -> str:
    store.studies.move(status.id, status.study.owner, _place(chosen))
    store.studies.resume(status.id, status.study.owner)
    return status.id


def _run_study(store: RunStore, chosen: Namespace, submit: Callable[[], str]) -> int:
    """Connect to the workers, submit the study, and watch until all runs have ended; Ctrl-C pauses it."""
    with _execution(store, chosen) as execution:  # first: without workers, nothing is submitted
        study = submit()
        if not chosen.detach:
            return _watch(execution, store, study, chosen)
        LocalWorkers(store, chosen.workers).maintain()
    print_json({"study": study}) if chosen.json else print_text(study)
    return 0


@contextmanager
def _execution(store: RunStore, chosen: Namespace) -> Iterator[LocalWorkers | ClusterWorkers]:
    """Give the workers that make the runs: processes of this machine, or a cluster."""
    if chosen.where in (None, HERE):
        yield LocalWorkers(store, chosen.workers)
        return
    with place_of(chosen.where) as place:
        from rankviz.store.cluster import ClusterWorkers

        yield ClusterWorkers(store, cast(Any, place))


def _watch(execution: LocalWorkers | ClusterWorkers, store: RunStore, study: str, chosen: Namespace) -> int:
    status = execution.watch(study)
    bar = Bar(status.total)
    try:
        while status.left:
            bar.update(status.total - status.left)
            time.sleep(LOOK_SECONDS)
            status = execution.watch(study)
    except KeyboardInterrupt:
        store.studies.pause(study, status.study.owner)
        bar.end()
        where = "" if chosen.where is None else f" --where {chosen.where}"
        note(f"Paused. Go on with: rankviz sweep --resume {study}{where}")
        return 130
    bar.update(status.total)
    bar.end()
    table = store.listing.of_studies([status.id])
    note(status.in_words)
    for digest, why in table.loc[table["state"] != DONE, "reason"].items():
        note(f"{digest}: {why}")
    failed = status.counts.get(FAILED, 0) + status.counts.get(LOST, 0)
    if failed < status.total:
        _print_choice(_with_metric(store, table, status), status, as_json=chosen.json)
    return 1 if failed else 0


def _with_metric(store: RunStore, table: pd.DataFrame, status: StudyStatus) -> pd.DataFrame:
    """Return the table with the means of the sweep's metric, computed from scores if runs lack it."""
    metric, means = _choice_of(status).metric, dict[str, dict[str, float]]()
    if metric in COLUMNS:
        return table
    opened = cache(partial(open_named, roots=status.study.roots))  # by spec, of which only the data differ
    done = list(table.index[table["state"] == DONE])
    for digest, spec in zip(done, store.listing.specs(done), strict=True):
        record = store.records.find([spec])[spec]
        fold = opened(RunSpec(spec.dataset, spec.fold, digest=spec.digest))
        for part in VALIDATION, TEST:
            more = with_measures(record, part[:-1], [metric], partial(fold.parts.__getitem__, part[:-1]))
            means.setdefault(digest, {})[f"{part}{metric}"] = float(more.metrics[part[:-1]][metric].mean())
    return table.join(pd.DataFrame.from_dict(means, orient="index"))


def _choice_of(status: StudyStatus) -> Choice:
    return Choice.of_study(status.study.design) or Choice()


def _print_choice(table: pd.DataFrame, status: StudyStatus, *, as_json: bool) -> None:
    """Print the chosen cell, and its metrics on the test part."""
    choice = _choice_of(status)
    found = select(_design_of_study(status), table, choice.metric, per_fold=choice.per_fold, rule=choice.rule)
    if as_json:
        print_json(
            {
                "study": status.id,
                "runs": dict(status.counts),
                "choice": asdict(choice),
                "settings": found.settings,
                "validation": found.validation,
                "chosen": rows(found.chosen.reset_index()),
                "test": found.test_means.to_dict(),
                "notes": list(found.notes),
            }
        )
        return
    print_text(f"Study {status.id}. By {choice}:")
    for fold, cell in found.settings.items():
        print_text(f"{fold}: " + ", ".join(f"{name} = {value}" for name, value in cell.items()))
    print_table(found.chosen)
    print_text("The test part, of what was chosen only:")
    print_table(found.test_means.to_frame("mean over folds"))
    for text in found.notes:
        note(text)


# --resume: every other argument must agree with what the study was started with.

Checks = Iterator[tuple[str, bool, object]]
"""An argument as typed, True if the study has the same value, and the study's value."""


def _study_to_resume(store: RunStore, chosen: Namespace) -> StudyStatus:
    """Return the study to resume; store the choice if it has none.

    Arguments about waiting and printing (`--where`, `--workers`, `--detach`, `--json`) may differ from the
    first call. Raises `SettingError` if any other argument differs or if the study is no sweep,
    `NoSuchStudy` for an unknown study.
    """
    status = store.studies.status(chosen.resume)
    design = _design_of_study(status)
    if chosen.plan:
        raise SettingError("--plan with --resume: only a new sweep has a plan")
    kept = Choice.of_study(status.study.design)
    choice = kept or _choice(chosen)
    for argument, same, own in (*_check_design(chosen, status.study, design), *_check_choice(chosen, choice)):
        if not same:
            raise SettingError(
                f"{argument} with --resume: this sweep was started with {own}; omit the argument, or start "
                "another sweep"
            )
    choice.check(design)
    if kept is None:
        note(f"This sweep had no rule of choice; it now has: {choice}.")
        store.studies.redesign(status.id, status.study.owner, choice.beside(design))
        return store.studies.status(status.id)
    return status


def _design_of_study(status: StudyStatus) -> Design:
    """Return the design of a study. Raises `SettingError` if it is not a sweep."""
    try:
        return Design.from_dict(status.study.design)
    except (ValueError, TypeError, KeyError) as error:
        raise SettingError(
            f"the study {status.id} is not a sweep that this version can read ({error})"
        ) from error


def _choice(chosen: Namespace) -> Choice:
    """Return the choice by the arguments; the preset's or the default one fills in the rest."""
    usual = Choice()
    if chosen.preset is not None:
        one_of("preset", chosen.preset, PRESETS)
        usual = PRESETS[chosen.preset].choice
    given = {name: getattr(chosen, name) for name in ("metric", "rule", "per_fold")}
    return replace(usual, **{name: value for name, value in given.items() if value is not None})


def _check_choice(chosen: Namespace, choice: Choice) -> Checks:
    yield from _check_single(chosen, {"metric": choice.metric, "rule": choice.rule})
    if chosen.per_fold is not None:
        own = "--per-fold" if choice.per_fold else "--no-per-fold"
        yield "--per-fold" if chosen.per_fold else "--no-per-fold", chosen.per_fold == choice.per_fold, own


def _check_design(chosen: Namespace, study: Study, design: Design) -> Checks:
    base = design.base
    yield from _check_single(
        chosen,
        {
            "dataset": base.dataset,
            "normalisation": base.normalisation,
            "method": base.method,
            "kind": design.kind,
            "points": design.points,
            "title": study.title,
        },
    )
    yield from _check_folds(chosen, study, design)
    for name, value in parse_settings(chosen.set, base.method).items():
        yield f"--set {name}", value == base.get(name), f"{name}={base.get(name)}"
    for axis in parse_axes(chosen.axis, base.method, drawn=design.points > 0):
        meant = axis.checked(axis_setting(axis.setting, design.settings))
        own = next((one for one in design.axes if one.setting == axis.setting), None)
        yield f"--axis {axis.setting}", meant == own, _axis_words(own)
    if chosen.seed:
        yield "--seed", set(chosen.seed) == set(design.seeds), _listed(design.seeds)
    if chosen.preset is not None:
        one_of("preset", chosen.preset, PRESETS)
        meant_by = PRESETS[chosen.preset].design(base, design.folds, design.seeds)
        yield f"--preset {chosen.preset}", meant_by == design, "; ".join(map(_axis_words, design.axes))


def _check_folds(chosen: Namespace, study: Study, design: Design) -> Checks:
    if chosen.fold:
        yield "--fold", set(chosen.fold) == set(design.folds), _listed(design.folds)
    if chosen.all_folds:
        found = find_datasets(study.roots).get(design.base.dataset)
        every = set(found.folds if found else ())
        yield "--all-folds", every == set(design.folds), _listed(design.folds)
    for folder in chosen.data_dir:
        there = str(Path(folder).expanduser().resolve())
        yield f"--data-dir {folder}", there in study.roots, _listed(study.roots)


def _check_single(chosen: Namespace, kept: dict[str, object]) -> Checks:
    """Compare arguments that have one value each, by name."""
    for name, own in kept.items():
        given = getattr(chosen, name)
        if given is not None:
            yield f"{'data set' if name == 'dataset' else f'--{name}'} {given}", given == own, own


def _axis_words(axis: Axis | None) -> str:
    if axis is None:
        return "no such axis"
    if isinstance(axis, Range):
        return f"{axis.setting}={axis.low}..{axis.high}"
    return f"{axis.setting}={','.join(map(str, axis.values))}"


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(str, values)) or "none"
