"""chen2017's grid as `benchmarks.grid` has it: which runs, what is chosen by what, what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import grid, grid_choices, grid_figure, grid_sharing, grid_studies, report
from benchmarks.grid_choices import (
    EVERY_WAY,
    METRICS,
    Tried,
    Way,
    best_cells,
    differences,
    outcomes,
    test_table,
    verdicts,
)
from benchmarks.grid_studies import Grid, Made, designs_of, grids, make, note_start
from rankviz import RunSpec
from rankviz.datasets import make_fold, write_letor
from rankviz.store import RunStore, Study
from rankviz.store.making import Making
from rankviz.sweeps import Design, Values

test_table.__test__ = False  # type: ignore[attr-defined]
KERNELS = ("Nyström", "random Fourier")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with one small set of two folds."""
    root = tmp_path_factory.mktemp("data")
    for k in (1, 2):
        folder = root / "small" / f"Fold{k}"
        folder.mkdir(parents=True)
        fold = make_fold(n_queries=24, documents_per_query=(8, 12), n_features=4, seed=k)
        for name, part in fold.parts.items():
            own = replace(part, query_ids=part.query_ids + 1000 * k)  # no query is in two folds
            write_letor(own, folder / f"{name}.txt")
    return root


def thin(base: RunSpec, folds: tuple[str, ...]) -> dict[str, Design]:
    """The grids with three values on an axis at most, and ten features."""
    found = {}
    for label, design in designs_of(base, folds).items():
        axes = tuple(Values(axis.setting, axis.ordered[::7]) for axis in design.axes)
        own = design.base.but(n_components=10) if label in KERNELS else design.base
        found[label] = replace(design, base=own, axes=axes)
    return found


@pytest.fixture(scope="module")
def wanted(root: Path) -> Iterator[list[Grid]]:
    """The grids of the small set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grid_studies, "designs_of", thin)
        yield grids(root, ["small"])


@pytest.fixture(scope="module")
def store(root: Path, wanted: list[Grid], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunStore]:
    """A store in which all runs were made, in this process."""
    store = RunStore(tmp_path_factory.mktemp("store") / "runs.sqlite")
    for one in wanted:
        study = Study(grid_studies.OWNER, one.title, design=one.design.to_dict(), roots=(str(root),))
        store.studies.submit(study, one.specs())
    making = Making(store)
    while (lease := store.queue.take("w")) is not None:
        making.make(lease)
    yield store
    store.close()


@pytest.fixture(scope="module")
def tried(store: RunStore, wanted: list[Grid]) -> list[Tried]:
    return [Tried(store, one) for one in wanted]


def test_the_grid_is_the_papers() -> None:
    folds = ("Fold1", "Fold2", "Fold3", "Fold4", "Fold5")
    designs = designs_of(RunSpec("OHSUMED"), folds)
    assert {label: len(design.specs()) for label, design in designs.items()} == {
        "linear": 95,
        "linear, smaller C too": 135,
        "Nyström": 1425,
        "random Fourier": 1425,
    }
    for label in KERNELS:
        specs = designs[label].specs()
        assert {spec.get("n_components") for spec in specs} == {500}
        assert {np.log2(spec.gamma) for spec in specs} == set(range(-12, 3))
        assert {np.log2(spec.C) for spec in specs} == set(range(-12, 7))
    assert {spec.loss for design in designs.values() for spec in design.specs()} == {"squared_hinge"}


def test_nothing_is_made_again(store: RunStore, wanted: list[Grid], root: Path) -> None:
    made = make(store, wanted, root, workers=2)
    assert made.runs == 0
    assert len(store.studies.every()) == len(wanted)


def test_studies_of_others_are_not_gone_on_with(store: RunStore, wanted: list[Grid]) -> None:
    own = grid_studies.study_of(store, wanted[0])
    other = store.studies.submit(Study("me", "mine", design=wanted[0].design.to_dict()), wanted[0].specs())
    assert grid_studies.study_of(store, wanted[0]) == own
    store.studies.delete(other, "me")


def test_starts_that_made_something_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "starts.csv"
    for runs in (0, 5, 0, 7):
        found = note_start(path, Made(runs, 2.0, 1.0, 0.5, 0.5))
    assert found["runs"].tolist() == [5, 7]
    assert found["wall_seconds"].sum() == 4.0


def test_what_is_chosen_is_the_best_on_validation_and_its_test_part_is_that_cells(
    tried: list[Tried],
) -> None:
    kernel = tried[-1]
    means = kernel.table.groupby(["gamma", "C"])["vali:MAP"].mean()
    found = kernel.chosen(Way("MAP", per_fold=False, rule="best"))
    gamma, C = means.idxmax()
    assert list(found.settings.values()) == [{"gamma": gamma, "C": C}] * 2
    rows = kernel.table[(kernel.table["gamma"] == gamma) & (kernel.table["C"] == C)]
    tested = kernel.tested(found)
    assert tested.by_run["MAP"].droplevel("seed").to_dict() == pytest.approx(
        rows.set_index("fold")["test:MAP"].to_dict()
    )


def test_a_choice_for_each_fold_is_of_that_folds_validation_part(tried: list[Tried]) -> None:
    kernel = tried[-1]
    found = kernel.chosen(Way("NDCG@10", per_fold=True, rule="best"))
    for fold, rows in kernel.table.groupby("fold"):
        best = rows.loc[rows["vali:NDCG@10"].idxmax()]
        assert found.chosen.loc[fold, "validation"] == best["vali:NDCG@10"]


def test_every_way_compares_both_kernels_with_both_linear_models(tried: list[Tried]) -> None:
    found = outcomes(tried)
    table = differences(found)
    assert len(table) == len(EVERY_WAY) * 2 * len(KERNELS) * len(METRICS)
    assert set(table["against"]) == {"linear", "linear, smaller C too"}
    assert (table["Holm of all"] >= table["Holm"]).all()
    tested = tried[0].tested(tried[0].chosen(EVERY_WAY[0]))
    assert set(table["queries"]) == {len(tested.frame)}
    assert len(test_table(found)) == len(EVERY_WAY) * len(tried)


def test_verdicts_count_what_holds_in_either_direction() -> None:
    rows = [
        ("linear", "all folds, best", 0.01, 0.01, 0.2),
        ("linear", "all folds, best", -0.01, 0.01, 0.01),
        ("linear", "all folds, best", -0.01, 0.2, 0.9),
    ]
    table = pd.DataFrame(rows, columns=["against", "chosen for", "difference", "Holm", "Holm of all"])
    assert verdicts(table).iloc[0].to_dict() == {
        "against": "linear",
        "chosen for": "all folds, best",
        "comparisons": 3,
        "better, Holm": 1,
        "worse, Holm": 1,
        "better, Holm of all": 0,
        "worse, Holm of all": 1,
    }


def test_the_best_cell_has_its_choice_counted(tried: list[Tried]) -> None:
    linear, kernel = tried[0], tried[-1]
    for one in best_cells(kernel, linear):
        assert len(one.table) == len(kernel.grid.design.plan.cells)
        assert (one.table["p_chosen"] >= one.table["p"] - 1e-12).all()
        assert one.table.set_index("label").loc[one.label, "mean"] == one.table["mean"].max()


def test_the_sample_is_some_gammas_of_the_first_fold_with_every_C(wanted: list[Grid]) -> None:
    own = wanted[-1]
    specs = grid_sharing.sampled(own)
    assert {spec.fold for spec in specs} == {"Fold1"}
    assert len(specs) == len({spec.C for spec in own.specs()})
    assert {spec.digest for spec in specs} == {own.digests["Fold1"]}


def test_all_tables_are_written(
    tried: list[Tried], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(grid_choices, "EVERY_WAY", EVERY_WAY[:2])
    drawn = []
    monkeypatch.setattr(grid_figure, "draw", lambda of, metric: drawn.append(grid_figure.figure(of, metric)))
    grid.tell_choices(tried)
    names = {path.name for path in tmp_path.glob("*.md")}
    assert names == {f"{name}.md" for name in WRITTEN}
    every = pd.read_csv(tmp_path / "grid_runs.csv", comment="#")
    specs = {spec for one in tried for spec in one.grid.specs()}
    assert len(every) == len(specs)
    assert sum(trace.type == "heatmap" for trace in drawn[0].data) == len(KERNELS)
    capsys.readouterr()


WRITTEN = ("grid", "grid_differences", "grid_verdicts", "grid_validation", "grid_table4")
