"""Test the adviser: only new cells, deterministic, better than chance, silent."""

import math
import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from conftest_sweeps import GRID, SPEC, bowl, made_up

from rankviz import RunSpec
from rankviz.common.errors import SettingError
from rankviz.runs import Design, Range, Values, powers
from rankviz.runs.adviser import advise

WIDE = Design(SPEC, (Values("C", powers(-12, 6)), Values("gamma", powers(-12, 2))), folds=("a", "b"))
RANGES = (Range("C", 2.0**-12, 2.0**6), Range("gamma", 2.0**-12, 4.0))


def drawn(points: int, draw: int = 0, folds: tuple[str, ...] = ("a",)) -> Design:
    return Design(SPEC, RANGES, kind="random", points=points, draw=draw, folds=folds)


def away(cell: dict[str, float]) -> float:
    """Distance from the best of `bowl`, in powers of two."""
    return math.hypot(math.log2(cell["C"]), math.log2(cell["gamma"]) + 2)


def test_advice_is_the_same_for_the_same_rows_in_any_order() -> None:
    design = drawn(30)
    table = made_up(design, bowl)
    found = advise(design, table, "MAP", 5, seed=1)
    assert len(found) == 5
    assert found == advise(design, table.sample(frac=1, random_state=0), "MAP", 5, seed=1)
    assert found != advise(design, table, "MAP", 5, seed=2)
    assert all(2.0**-12 <= cell["C"] <= 2.0**6 and 2.0**-12 <= cell["gamma"] <= 4 for cell in found)


def test_advice_comes_nearer_to_the_best_than_chance() -> None:
    """In each of ten trials by the median of eight cells."""
    for draw in range(10):
        design = drawn(40, draw)
        advised = advise(design, made_up(design, bowl), "MAP", 8, seed=draw)
        chance = np.median([away(cell) for cell in design.cells()])
        assert np.median([away(cell) for cell in advised]) < 0.7 * chance


def test_advice_on_a_grid_is_of_cells_that_are_not_made_yet() -> None:
    begun = Design(SPEC, (Values("C", powers(-4, 0)), Values("gamma", powers(-4, 0))), folds=("a", "b"))
    table = made_up(begun, bowl)
    found = advise(WIDE, table, "MAP", 10)
    assert len(found) == 10
    assert all(cell in WIDE.cells() and cell not in begun.cells() for cell in found)
    assert len({tuple(cell.items()) for cell in found}) == 10


def test_a_grid_that_is_done_or_under_way_has_nothing_to_advise() -> None:
    table = made_up(GRID, bowl)
    assert advise(GRID, table, "MAP", 3) == []
    assert advise(GRID, table.iloc[1:], "MAP", 3) == []  # the first cell has begun
    left = table[~((table["C"] == 4.0) & (table["gamma"] == 2.0))]
    assert advise(GRID, left, "MAP", 3) == [{"C": 4.0, "gamma": 2.0}]


def test_without_runs_advice_is_drawn() -> None:
    nothing = made_up(GRID, bowl).iloc[:0]
    assert len(advise(GRID, nothing, "MAP", 4)) == 4
    other = made_up(Design(SPEC.but(loss="huber"), GRID.axes, folds=GRID.folds), bowl)
    assert len(advise(GRID, other, "MAP", 6)) == 6


def test_what_was_advised_is_learned_from_although_the_design_never_had_it() -> None:
    design = drawn(12)
    more = design.extended([{"C": 1.0, "gamma": 0.25}])
    first = advise(design, made_up(design, bowl), "MAP", 4)
    assert first != advise(design, made_up(more, bowl), "MAP", 4)
    assert advise(more, made_up(more, bowl), "MAP", 4) == advise(design, made_up(more, bowl), "MAP", 4)


def test_cells_have_the_settings_that_are_read_and_what_cannot_be_is_not_advised() -> None:
    axes = (
        Values("feature_map", ("linear", "nystroem", "fourier")),
        Values("kernel", ("rbf", "polynomial")),
        Values("rank", (None, 3)),
        Range("n_components", 5, 20),
    )
    design = Design(SPEC, axes, kind="random", points=20)

    def value(spec: RunSpec) -> float:
        return spec.get("n_components", 0) / 20

    found = advise(design, made_up(design, value), "MAP", 12)
    made = design.extended(found)
    assert not any("cannot be made" in note for note in made.plan.notes[1:])
    for cell in found:
        assert ("kernel" in cell) == (cell["feature_map"] != "linear")
        assert ("rank" in cell) == (cell["feature_map"] == "nystroem")
        assert (cell["feature_map"], cell.get("kernel")) != ("fourier", "polynomial")
        assert cell.get("n_components") is None or type(cell["n_components"]) is int
    assert all(cell in made.cells() for cell in found)


def test_it_learns_from_runs_that_do_not_read_all_axes() -> None:
    axes = (Values("feature_map", ("linear", "nystroem")), Values("C", (0.25, 1.0)), Range("gamma", 0.1, 1.0))
    design = Design(SPEC, axes, kind="random", points=4)
    linear = Design(SPEC.linear(1.0), (Values("C", (0.25, 1.0)),))
    found = advise(design, made_up(linear, lambda s: s.C), "MAP", 6)
    assert len(found) == 6
    assert all(cell["feature_map"] == "nystroem" for cell in found)  # the linear ones are made


def test_other_studies_in_the_table_do_not_count_towards_the_bound(bounded: Callable[..., None]) -> None:
    other = Design(SPEC.but(dataset="other"), (Values("C", powers(-9, 9)), GRID.axes[1]), folds=("a",))
    table = made_up(other, lambda s: 1.0)
    bounded(sweep_runs=20)
    assert len(advise(drawn(4), table, "MAP", 3)) == 3


def test_it_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    import optuna

    before = optuna.logging.get_verbosity()
    advise(drawn(12), made_up(drawn(12), bowl), "MAP", 2)
    assert capfd.readouterr() == ("", "")
    assert optuna.logging.get_verbosity() == before


@pytest.mark.parametrize("n", [0, -1])
def test_a_number_of_cells_below_one_is_refused(n: int) -> None:
    with pytest.raises(SettingError, match=f"n={n} must be at least 1"):
        advise(GRID, made_up(GRID, bowl), "MAP", n)


def advice() -> str:
    axes = (Values("feature_map", ("linear", "nystroem")), Range("C", 0.01, 1.0))
    design = Design(SPEC, axes, kind="random", points=30, folds=("a", "b"))
    return str(advise(design, made_up(design, bowl), "MAP", 5))


ELSEWHERE = """
import sys, rankviz.runs.adviser
assert "optuna" not in sys.modules, "imported before it is asked"
from test_adviser import advice
print(advice())
"""


def test_advice_is_the_same_in_every_process_and_imports_optuna_only_then() -> None:
    """Python orders sets of texts anew in each."""
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", ELSEWHERE],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert run.stdout.strip() == advice()
