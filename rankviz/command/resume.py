"""`rankviz sweep --resume`: a study goes on with all that it was started with."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from rankviz.command.output import note
from rankviz.command.values import axes_typed, settings_typed
from rankviz.common.errors import SettingError
from rankviz.common.settings import one_of
from rankviz.datasets.folds import find_datasets
from rankviz.runs.axes import Axis, Range, axis_setting
from rankviz.runs.choice import Choice
from rankviz.runs.designs import Design
from rankviz.runs.presets import PRESETS
from rankviz.store import RunStore
from rankviz.store.study import Study, StudyStatus

Said = Iterator[tuple[str, bool, object]]
"""An argument as it is typed, whether the study was started with the same, and what with."""


def checked_to_resume(store: RunStore, chosen: Namespace) -> StudyStatus:
    """The study to go on with, which has a choice from now on.

    How to wait and what to print (`--where`, `--workers`, `--detach`, `--json`) may differ from the first
    call. Raises `SettingError` for any other argument that differs from what the study was started with, and
    where it is no sweep; `NoSuchStudy` where there is none.
    """
    status = store.studies.status(chosen.resume)
    design = design_of(status)
    if chosen.plan:
        raise SettingError("--plan beside --resume: a plan is of a sweep that was not started")
    kept = Choice.of_study(status.study.design)
    choice = kept or asked_choice(chosen)
    for argument, same, own in (*_of_design(chosen, status.study, design), *_of_choice(chosen, choice)):
        if not same:
            raise SettingError(
                f"{argument} beside --resume: this sweep was started with {own}; leave the argument out, or "
                "start another sweep"
            )
    choice.check(design)
    if kept is None:
        note(f"This sweep did not say how to choose; from now on it is: {choice}.")
        store.studies.redesign(status.id, status.study.owner, choice.beside(design))
        return store.studies.status(status.id)
    return status


def design_of(status: StudyStatus) -> Design:
    """The design of a study; `SettingError` where it is none."""
    try:
        return Design.from_dict(status.study.design)
    except (ValueError, TypeError, KeyError) as error:
        raise SettingError(f"the study {status.id} is no sweep that this version reads ({error})") from error


def asked_choice(chosen: Namespace) -> Choice:
    """Return the choice that the arguments ask for; what they leave out is as usual, or as in the paper."""
    usual = Choice()
    if chosen.preset is not None:
        one_of("preset", chosen.preset, PRESETS)
        usual = PRESETS[chosen.preset].choice
    said = {name: getattr(chosen, name) for name in ("metric", "rule", "per_fold")}
    given = {name: value for name, value in said.items() if value is not None}
    return replace(usual, **given)


def _of_choice(chosen: Namespace, choice: Choice) -> Said:
    yield from _plain(chosen, {"metric": choice.metric, "rule": choice.rule})
    if chosen.per_fold is not None:
        own = "--per-fold" if choice.per_fold else "--no-per-fold"
        yield "--per-fold" if chosen.per_fold else "--no-per-fold", chosen.per_fold == choice.per_fold, own


def _of_design(chosen: Namespace, study: Study, design: Design) -> Said:
    base = design.base
    yield from _plain(
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
    yield from _of_folds(chosen, study, design)
    for name, value in settings_typed(chosen.set, base.method).items():
        yield f"--set {name}", value == base.get(name), f"{name}={base.get(name)}"
    for axis in axes_typed(chosen.axis, base.method, drawn=design.points > 0):
        meant = axis.checked(axis_setting(axis.setting, design.settings))
        own = next((one for one in design.axes if one.setting == axis.setting), None)
        yield f"--axis {axis.setting}", meant == own, _axis_words(own)
    if chosen.seed:
        yield "--seed", set(chosen.seed) == set(design.seeds), _listed(design.seeds)
    if chosen.preset is not None:
        one_of("preset", chosen.preset, PRESETS)
        meant_by = PRESETS[chosen.preset].first(base, design.folds, design.seeds)
        yield f"--preset {chosen.preset}", meant_by == design, "; ".join(map(_axis_words, design.axes))


def _of_folds(chosen: Namespace, study: Study, design: Design) -> Said:
    if chosen.fold:
        yield "--fold", set(chosen.fold) == set(design.folds), _listed(design.folds)
    if chosen.all_folds:
        found = find_datasets(study.roots).get(design.base.dataset)
        every = set(found.folds if found else ())
        yield "--all-folds", every == set(design.folds), _listed(design.folds)
    for folder in chosen.data_dir:
        there = str(Path(folder).expanduser().resolve())
        yield f"--data-dir {folder}", there in study.roots, _listed(study.roots)


def _plain(chosen: Namespace, kept: dict[str, object]) -> Said:
    """Arguments with one value each, by their names."""
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
