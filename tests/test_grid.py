"""chen2017's grid as `benchmarks.grid` has it: the runs, the choices, and the tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import grid, report
from benchmarks.grid import Grid, Tried, best_cells, designs_of, grids, outcomes, verdicts
from rankviz import RunSpec
from rankviz.datasets import make_fold, write_letor
from rankviz.runs import Design, Values
from rankviz.runs.selection import Choice
from rankviz.store import RunStore
from rankviz.store.family_runner import FamilyRunner

KERNELS = ("Nyström", "random Fourier")


def thin(base: RunSpec, folds: tuple[str, ...]) -> dict[str, Design]:
    """Return the grids with three values on an axis at most, and ten features."""
    found = {}
    for label, design in designs_of(base, folds).items():
        axes = tuple(Values(axis.setting, axis.ordered[::7]) for axis in design.axes)
        own = design.base.but(n_components=10) if label in KERNELS else design.base
        found[label] = replace(design, base=own, axes=axes)
    return found


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Tried]]:
    """The grids of a small set of two folds, with all runs made in this process."""
    root = tmp_path_factory.mktemp("data")
    for k in (1, 2):
        folder = root / "small" / f"Fold{k}"
        folder.mkdir(parents=True)
        fold = make_fold(n_queries=24, documents_per_query=(8, 12), n_features=4, seed=k)
        for name, part in fold.parts.items():
            own = replace(part, query_ids=part.query_ids + 1000 * k)  # no query is in two folds
            write_letor(own, folder / f"{name}.txt")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grid, "designs_of", thin)
        wanted: list[Grid] = grids(root, ["small"])
    store = RunStore(root / "runs.sqlite")
    studies = [one.ask(store, root) for one in wanted]
    assert [one.ask(store, root) for one in wanted] == studies, "a second start goes on"
    making = FamilyRunner(store)
    while (lease := store.queue.take("w")) is not None:
        making.make(lease)
    yield [Tried(store, one) for one in wanted]
    store.close()


def test_the_grid_is_the_papers() -> None:
    designs = designs_of(RunSpec("OHSUMED"), ("Fold1", "Fold2", "Fold3", "Fold4", "Fold5"))
    sizes = {"linear": 95, "linear, smaller C too": 135, "Nyström": 1425, "random Fourier": 1425}
    assert {label: len(design.specs()) for label, design in designs.items()} == sizes
    for label in KERNELS:
        specs = designs[label].specs()
        assert {spec.get("n_components") for spec in specs} == {500}
        assert {np.log2(spec.gamma) for spec in specs} == set(range(-12, 3))
        assert {np.log2(spec.C) for spec in specs} == set(range(-12, 7))


def test_the_best_on_validation_is_chosen_and_tested(tried: list[Tried]) -> None:
    kernel = tried[-1]
    means = kernel.table.groupby(["gamma", "C"])["vali:MAP"].mean()
    found = kernel.chosen(Choice("MAP"))
    gamma, C = means.idxmax()
    assert list(found.settings.values()) == [{"gamma": gamma, "C": C}] * 2
    rows = kernel.table[(kernel.table["gamma"] == gamma) & (kernel.table["C"] == C)]
    tested = kernel.tested(found).by_run["MAP"].droplevel("seed").to_dict()
    assert tested == pytest.approx(rows.set_index("fold")["test:MAP"].to_dict())
    each = kernel.chosen(Choice("NDCG@10", per_fold=True))
    for fold, rows in kernel.table.groupby("fold"):
        assert each.chosen.loc[fold, "validation"] == rows["vali:NDCG@10"].max()


def test_verdicts_count_what_holds_in_either_direction() -> None:
    values = [(0.01, 0.01, 0.2), (-0.01, 0.01, 0.01), (-0.01, 0.2, 0.9)]
    table = pd.DataFrame(values, columns=["difference", "Holm", "Holm of all"])
    row = verdicts(table.assign(**{"against": "linear", "chosen for": "all folds"})).iloc[0].to_dict()
    assert [row[f"{how}, Holm"] for how in ("better", "worse")] == [1, 1]
    assert [row[f"{how}, Holm of all"] for how in ("better", "worse")] == [0, 1]


def test_the_best_cell_has_its_choice_counted(tried: list[Tried]) -> None:
    for one in best_cells(tried[-1], tried[0]):
        assert len(one.table) == len(tried[-1].grid.design.plan.cells)
        assert (one.table["p_chosen"] >= one.table["p"] - 1e-12).all()
        assert one.table.set_index("label").loc[one.label, "mean"] == one.table["mean"].max()


def test_all_tables_are_written(tried: list[Tried], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(grid, "EVERY_WAY", grid.EVERY_WAY[:2])
    drawn = []
    monkeypatch.setattr(grid, "write_svg", lambda _, figure: drawn.append(figure))
    grid.write(tried)
    names = ("grid", "grid_differences", "grid_verdicts", "grid_validation", "grid_table4")
    assert {path.stem for path in tmp_path.glob("*.md")} == set(names)
    every = pd.read_csv(tmp_path / "grid_runs.csv", comment="#")
    assert len(every) == len({spec for one in tried for spec in one.grid.specs()})
    assert sum(trace.type == "heatmap" for trace in drawn[0].data) == len(KERNELS)
    table = pd.read_csv(tmp_path / "grid_differences.csv", comment="#")
    assert len(table) == 2 * 2 * len(KERNELS) * len(grid.METRICS)
    assert set(table["against"]) == {"linear", "linear, smaller C too"}
    assert len(outcomes(tried)) == 2
