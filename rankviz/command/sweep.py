"""`rankviz sweep`: a design of runs, made by worker processes, and what is chosen among them."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any, cast

import pandas as pd

from rankviz.command.output import OWNER, Bar, note, rows, say, say_json, say_table
from rankviz.command.resume import asked_choice, checked_to_resume, design_of
from rankviz.command.values import axes_typed, base_of, pinned, roots_of, settings_of
from rankviz.common.errors import SettingError
from rankviz.common.settings import one_of
from rankviz.common.threads import cores
from rankviz.datasets.folds import find_datasets, open_fold
from rankviz.runs import Design, cost, select
from rankviz.runs.choice import Choice
from rankviz.runs.kinds import KINDS
from rankviz.runs.presets import PRESETS
from rankviz.runs.shape import Shape
from rankviz.shards.places import HERE, place_of
from rankviz.store import RunStore, Study
from rankviz.store.execution import Execution, LocalWorkers
from rankviz.store.study import DONE, FAILED, LOST, TASKS, StudyStatus
from rankviz.store.study import HERE as THIS_MACHINE

LOOK_SECONDS = 0.5


def run(chosen: Namespace) -> int:
    """Make the runs, or say what they cost; 1 where some cannot be made, 130 after Ctrl-C."""
    _check_how(chosen)
    store = RunStore()
    try:
        if chosen.resume is not None:
            status = checked_to_resume(store, chosen)
            return _made(store, chosen, partial(_gone_on, store, status, chosen))
        design = _design(chosen)
        asked_choice(chosen).check(design)  # before hours of runs, not after
        if chosen.plan:
            return _plan(design, chosen)
        return _made(store, chosen, partial(_asked, store, design, chosen))
    finally:
        store.close()


def _check_how(chosen: Namespace) -> None:
    """Raise `SettingError` for a way to work that there is not, before anything is asked for."""
    if chosen.detach and chosen.where not in (None, HERE):
        raise SettingError("--detach with --where: a cluster is handed work while somebody waits for it")
    if chosen.workers is not None and chosen.workers < 1:
        raise SettingError(f"--workers {chosen.workers}: it takes one worker process at least")


def _design(chosen: Namespace) -> Design:
    base, folds = base_of(chosen)
    if chosen.preset is not None:
        one_of("preset", chosen.preset, PRESETS)
        if chosen.axis or chosen.kind is not None or chosen.points is not None:
            raise SettingError("--preset has axes of its own: leave --axis, --kind and --points out")
        return PRESETS[chosen.preset].first(base, folds, tuple(chosen.seed))
    kind = "grid" if chosen.kind is None else chosen.kind
    one_of("kind", kind, [name for name in KINDS if name != "given"])
    axes = tuple(axes_typed(chosen.axis, base.method, drawn=kind != "grid"))
    if not axes:
        raise SettingError(
            "no axes: give --axis NAME=VALUES, once or several times, "
            f"with one of {', '.join(settings_of(base.method)) or 'the settings of another method'}"
        )
    return Design(base, axes, kind, folds, tuple(chosen.seed), points=chosen.points or 0)


def _plan(design: Design, chosen: Namespace) -> int:
    found = find_datasets(roots_of(chosen))
    shape = Shape.of(open_fold(found[design.base.dataset], design.folds[0]))
    predicted = cost(design, shape)
    if chosen.json:
        say_json({"runs": predicted.runs, "families": predicted.families, "seconds": predicted.seconds})
    else:
        say(f"{predicted} on one process of this machine.")
        for text in design.plan.notes:
            say(text)
    return 0


def _asked(store: RunStore, design: Design, chosen: Namespace) -> str:
    specs = pinned(design.specs(), chosen)
    title = chosen.title or f"{', '.join(design.names)} on {design.base.dataset}"
    study = Study(
        OWNER,
        title,
        design=asked_choice(chosen).beside(design),
        roots=tuple(map(str, roots_of(chosen))),
        threads=max(1, cores() // LocalWorkers(store, chosen.workers).workers),
        shared=True,
        place=_place(chosen),
    )
    return store.studies.submit(study, specs)


def _place(chosen: Namespace) -> str:
    """Who works on the study: this machine's worker processes, or those of a cluster."""
    return THIS_MACHINE if chosen.where in (None, HERE) else TASKS


def _gone_on(store: RunStore, status: StudyStatus, chosen: Namespace) -> str:
    store.studies.move(status.id, status.study.owner, _place(chosen))
    store.studies.resume(status.id, status.study.owner)
    return status.id


def _made(store: RunStore, chosen: Namespace, ask: Callable[[], str]) -> int:
    """Find who makes the runs, ask for them, and watch until all have ended; Ctrl-C pauses the study."""
    with _execution(store, chosen) as execution:  # first: where nobody answers, nothing is asked for
        study = ask()
        if not chosen.detach:
            return _watched(execution, store, study, chosen)
        LocalWorkers(store, chosen.workers).see_to_it()
    say_json({"study": study}) if chosen.json else say(study)
    return 0


@contextmanager
def _execution(store: RunStore, chosen: Namespace) -> Iterator[Execution]:
    """Who makes the runs: worker processes of this machine, or a cluster."""
    if chosen.where in (None, HERE):
        yield LocalWorkers(store, chosen.workers)
        return
    with place_of(chosen.where) as place:
        from rankviz.store.cluster import ClusterWorkers

        yield ClusterWorkers(store, cast(Any, place))


def _watched(execution: Execution, store: RunStore, study: str, chosen: Namespace) -> int:
    status = execution.watch(study)
    bar = Bar(status.total)
    try:
        while status.left:
            bar.tell(status.total - status.left)
            time.sleep(LOOK_SECONDS)
            status = execution.watch(study)
    except KeyboardInterrupt:
        store.studies.pause(study, status.study.owner)
        bar.end()
        where = "" if chosen.where is None else f" --where {chosen.where}"
        note(f"Paused. Go on with: rankviz sweep --resume {study}{where}")
        return 130
    bar.tell(status.total)
    bar.end()
    table = store.listing.of_studies([status.id])
    note(status.in_words)
    for digest, why in table.loc[table["state"] != DONE, "reason"].items():
        note(f"{digest}: {why}")
    failed = status.counts.get(FAILED, 0) + status.counts.get(LOST, 0)
    if failed < status.total:
        _tell(table, status, as_json=chosen.json)
    return 1 if failed else 0


def _tell(table: pd.DataFrame, status: StudyStatus, *, as_json: bool) -> None:
    """Say which cell is chosen, and what the test part says of it."""
    choice = Choice.of_study(status.study.design) or Choice()
    found = select(design_of(status), table, choice.metric, per_fold=choice.per_fold, rule=choice.rule)
    if as_json:
        say_json(
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
    say(f"Study {status.id}. By {choice}:")
    for fold, cell in found.settings.items():
        say(f"{fold}: " + ", ".join(f"{name} = {value}" for name, value in cell.items()))
    say_table(found.chosen)
    say("The test part, of what was chosen only:")
    say_table(found.test_means.to_frame("mean over folds"))
    for text in found.notes:
        note(text)
