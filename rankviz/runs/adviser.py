"""Advice on the next cells: Optuna's tree-structured Parzen estimator (TPE), rebuilt at each call.

Its study is built in memory from the table of runs: equal rows and an equal seed give equal advice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

import pandas as pd

from rankviz.common.errors import SettingError
from rankviz.common.settings import Setting
from rankviz.metrics.formulas import direction
from rankviz.runs.axes import Axis, Cell, Range, Values, is_logarithmic
from rankviz.runs.designs import Design
from rankviz.runs.sweep_table import by_fold, keys_of, metric_column, results

TRIES = 20
"""Proposals per requested cell, because a proposal may be known already."""
MISSING = (
    'advice needs Optuna, which is not installed here: pip install "rankviz[advise]", or take a grid, '
    "random or Sobol points"
)

Key = tuple[tuple[str, Any], ...]


def advise(design: Design, table: pd.DataFrame, metric: str, n: int, seed: int = 0) -> list[Cell]:
    """Return at most n new cells on the design's axes that TPE rates highest.

    It learns from every complete cell on these axes in the table, also from cells outside the design. The
    value is the mean of the metric on validation over folds and seeds. With fewer than ten cells it draws at
    random. The result is shorter than n if the axes have no further cells. `design.extended(cells)` makes
    them a design. Raises `SettingError` without Optuna, for n < 1, and for a metric that is not in the table.
    """
    if n < 1:
        raise SettingError(f"n={n!r} must be at least 1")
    optuna = _optuna()
    known = _known(design, table, metric) if len(table) else {}
    with _quiet(optuna):
        study = optuna.create_study(
            direction="maximize" if direction(metric) > 0 else "minimize",
            sampler=optuna.samplers.TPESampler(seed=seed, multivariate=False),
        )
        space = _Space(design, optuna)
        study.add_trials([space.trial(dict(key), value) for key, value in known.items() if value is not None])
        return _propose(study, space, known, n)


class _Space:
    """The axes of a design as Optuna's distributions."""

    def __init__(self, design: Design, optuna: ModuleType) -> None:
        self._design, self._optuna, known = design, optuna, design.settings
        self._axes = {axis.setting: axis for axis in design.axes}
        self._of = {name: _distribution(axis, known[name], optuna) for name, axis in self._axes.items()}

    def trial(self, cell: Cell, value: float) -> Any:
        """Return a finished trial."""
        read = {name: self._encoded(name, cell[name]) for name in cell}
        return self._optuna.trial.create_trial(
            params=read, distributions={name: self._of[name] for name in read}, value=value
        )

    def cell(self, trial: Any) -> Cell:
        """Return the settings that a trial proposes, limited to those read with its earlier proposals."""
        base, before, found = self._design.base, self._design.base.declared(), Cell()

        def value_of(setting: Setting) -> Any:
            if setting.name in self._axes:
                found[setting.name] = self._proposed(trial, setting.name)
                return found[setting.name]
            return base.get(setting.name) if before.get(setting.name) is setting else setting.default

        values = {setting.name: value for setting, value in base.kind.active(value_of)}
        base.kind.check(values)
        return found

    def _encoded(self, name: str, value: Any) -> Any:
        axis = self._axes[name]
        return axis.ordered.index(value) if isinstance(axis, Values) else value

    def _proposed(self, trial: Any, name: str) -> Any:
        axis, of = self._axes[name], self._of[name]
        if isinstance(axis, Values) and not hasattr(of, "low"):
            return axis.ordered[trial.suggest_categorical(name, of.choices)]
        suggest = trial.suggest_int if isinstance(of.low, int) else trial.suggest_float
        proposed = suggest(name, of.low, of.high, log=of.log)
        return axis.ordered[proposed] if isinstance(axis, Values) else proposed


def _propose(study: Any, space: _Space, known: dict[Key, float | None], n: int) -> list[Cell]:
    """Draw new cells one by one; report known values again, and invalid cells as failed."""
    found: dict[Key, Cell] = {}
    for _ in range(TRIES * n):
        trial = study.ask()
        try:
            cell = space.cell(trial)
        except SettingError:
            study.tell(trial, state=space._optuna.trial.TrialState.FAIL)
            continue
        key = tuple(sorted(cell.items()))
        if known.get(key) is not None:
            study.tell(trial, known[key])
        elif key not in known:
            found.setdefault(key, cell)
        if len(found) == n:
            break
    return list(found.values())


def _known(design: Design, table: pd.DataFrame, metric: str) -> dict[Key, float | None]:
    """Return cells on the axes with runs in the table, in a fixed order; None for incomplete ones."""
    column = metric_column(table, metric)
    cells = _cells_of(design, table)
    if not cells:
        return {}
    read = {name for cell in cells for name, _ in cell}
    axes = tuple(axis for axis in design.axes if axis.setting in read)
    tried = replace(design, axes=axes, kind="given", points=0, draw=0, given=tuple(cells))
    runs = results(tried, table)
    begun = set(runs.loc[runs["digest"].notna(), "cell"])
    means = by_fold(runs, column).mean(axis=1, skipna=False)
    found = {tuple(sorted(cell.items())): means[k] for k, cell in enumerate(tried.plan.cells) if k in begun}
    return {key: None if pd.isna(value) else float(value) for key, value in found.items()}


def _cells_of(design: Design, table: pd.DataFrame) -> list[Key]:
    """Return the settings of the table's runs whose values lie on the axes, sorted."""
    axes, found, base = {axis.setting: axis for axis in design.axes}, set(), design.base
    of_base = (table["dataset"] == base.dataset) & (table["method"] == base.method)
    for values in keys_of(table[of_base & table["fold"].isin(design.folds)], axes):
        row = [(name, value, *axes[name].own(value)) for name, value in zip(axes, values, strict=True)]
        if all(own or value is None for _, value, *own in row):
            found.add(tuple((name, own[0]) for name, _, *own in row if own))
    return sorted(found, key=repr)


def _distribution(axis: Axis, setting: Setting, optuna: ModuleType) -> Any:
    of = optuna.distributions
    if isinstance(axis, Range):
        if isinstance(setting.checked(axis.low), int):
            return of.IntDistribution(axis.low, axis.high)
        return of.FloatDistribution(axis.low, axis.high, log=is_logarithmic(setting))
    if all(map(_is_number, axis.values)):
        return of.IntDistribution(0, len(axis.values) - 1)
    return of.CategoricalDistribution(range(len(axis.values)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _optuna() -> ModuleType:
    try:
        import optuna
    except ImportError as error:
        raise SettingError(MISSING) from error
    return optuna


@contextmanager
def _quiet(optuna: ModuleType) -> Iterator[None]:
    """Silence Optuna's messages."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
