"""Designs of sweeps: what they list, what they draw, what is refused, and what they cost before."""

import json
import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from conftest_sweeps import GRID, LINEAR, SPEC

from rankviz.common.errors import SettingError
from rankviz.datasets import make_fold
from rankviz.runs import Cost, Design, Range, Values, cost, powers
from rankviz.runs.estimate import LAPTOP, Shape, estimate, total_seconds

C = Values("C", (0.25, 1.0))
DRAWN = (Range("C", 2.0**-10, 2.0**6), Range("n_components", 5, 12), Values("kernel", ("rbf", "laplacian")))


def drawn(axis: Range) -> Design:
    return Design(SPEC, (axis,), kind="random", points=2)


def test_a_grid_is_every_value_with_every_other_on_every_fold_with_every_seed() -> None:
    design = Design(SPEC, GRID.axes, folds=("a", "b"), seeds=(0, 1, 2))
    assert design.cells() == [{"C": c, "gamma": g} for c in (0.25, 1.0, 4.0) for g in (0.5, 2.0)]
    expected = [
        SPEC.but(C=c, gamma=g, fold=fold, seed=seed)
        for c in (0.25, 1.0, 4.0)
        for g in (0.5, 2.0)
        for fold in "ab"
        for seed in (0, 1, 2)
    ]
    assert design.specs() == expected
    assert design.plan.notes == ()


def test_without_folds_and_seeds_those_of_the_base_are_meant() -> None:
    assert Design(SPEC.but(fold="b"), (C,)).specs() == [SPEC.but(fold="b", C=0.25), SPEC.but(fold="b", C=1.0)]


def test_a_setting_that_is_not_read_collapses_and_that_is_told() -> None:
    axes = (Values("feature_map", ("linear", "nystroem")), C, Values("gamma", (0.5, 2.0)))
    design = Design(SPEC, axes, seeds=(0, 1))
    assert design.cells()[:2] == [{"feature_map": "linear", "C": 0.25}, {"feature_map": "linear", "C": 1.0}]
    assert len(design.cells()) == 6
    assert len(design.specs()) == 2 + 4 * 2  # the linear ones read no seed
    assert [spec for spec in design.specs() if spec.feature_map == "linear"] == [
        SPEC.linear(0.25),
        SPEC.linear(1.0),
    ]
    assert design.plan.notes == (
        "2 of 8 points would repeat another run (gamma not read there) and are made once",
        "2 cells without a seed run once on each fold",
    )


def test_settings_that_only_another_axis_brings_along_can_vary() -> None:
    design = Design(SPEC, (Values("kernel", ("rbf", "polynomial")), Values("degree", (2, 3))))
    assert design.cells() == [
        {"kernel": "rbf"},
        {"kernel": "polynomial", "degree": 2},
        {"kernel": "polynomial", "degree": 3},
    ]


def test_what_does_not_go_together_is_left_out_and_told() -> None:
    axes = (Values("kernel", ("rbf", "polynomial")), C)
    design = Design(SPEC.but(feature_map="fourier"), axes)
    assert [cell["kernel"] for cell in design.cells()] == ["rbf", "rbf"]
    assert design.plan.notes[0].startswith("2 of 4 points cannot be made and are left out: ")
    with pytest.raises(SettingError, match="none of the design's cells can be made"):
        Design(SPEC.but(feature_map="fourier"), (Values("kernel", ("polynomial",)),)).cells()


@pytest.mark.parametrize("kind", ["random", "sobol"])
def test_points_are_drawn_within_the_axes_and_by_their_seed(kind: str) -> None:
    design = Design(SPEC, DRAWN, kind=kind, points=64, draw=5)
    cells = design.cells()
    assert len(cells) == 64
    assert all(2.0**-10 <= cell["C"] <= 2.0**6 for cell in cells)
    assert {cell["n_components"] for cell in cells} == set(range(5, 13))
    assert {type(cell["n_components"]) for cell in cells} == {int}
    assert {cell["kernel"] for cell in cells} == {"rbf", "laplacian"}
    assert cells == Design(SPEC, DRAWN, kind=kind, points=64, draw=5).cells()
    assert cells != Design(SPEC, DRAWN, kind=kind, points=64, draw=6).cells()
    assert cells[:20] == Design(SPEC, DRAWN, kind=kind, points=20, draw=5).cells()


@pytest.mark.parametrize("kind", ["random", "sobol"])
def test_powers_are_drawn_by_their_exponents(kind: str) -> None:
    """Half of the points lie below the middle exponent; drawn evenly, one in 256 would."""
    cells = Design(SPEC, DRAWN[:1], kind=kind, points=64).cells()
    below = sum(cell["C"] < 2.0**-2 for cell in cells)
    assert below == 32 if kind == "sobol" else 16 < below < 48


def test_menus_drawn_twice_are_made_once() -> None:
    design = Design(SPEC, (Values("kernel", ("rbf", "laplacian")),), kind="random", points=10)
    assert len(design.cells()) == 2
    assert design.plan.notes == ("8 of 10 points would repeat another run and are made once",)


def test_more_cells_can_be_listed() -> None:
    design = Design(SPEC, (C, Range("gamma", 0.1, 1.0)), kind="random", points=2, folds=("a", "b"))
    more = design.extended([{"C": 1.0, "gamma": 0.75}])
    assert more.cells() == [*design.cells(), {"C": 1.0, "gamma": 0.75}]
    assert set(design.specs()) < set(more.specs())
    assert len(more.specs()) == 6


def test_more_cells_may_have_values_that_no_axis_listed() -> None:
    more = Design(LINEAR, (C,)).extended([{"C": 0.5}, {"C": 4.0}])
    assert more.axes == (Values("C", (0.25, 1.0, 0.5, 4.0)),)
    assert [spec.C for spec in more.specs()] == [0.25, 1.0, 0.5, 4.0]
    with pytest.raises(SettingError, match="is not on the axes; widen them"):
        Design(SPEC, (Range("C", 1.0, 2.0),), kind="random", points=2).extended([{"C": 3.0}])


@pytest.mark.parametrize(
    "design",
    [
        GRID,
        Design(SPEC, DRAWN, kind="sobol", points=6, draw=1, seeds=(0, 1), folds=("a",)),
        Design(SPEC, DRAWN, kind="random", points=3).extended([{"C": 1.0, "n_components": 7}]),
        Design(SPEC, (Values("rank", (None, 3)), Values("costs", (None, ((0, 1), (2, 0)))))),
    ],
)
def test_designs_are_json_and_back(design: Design) -> None:
    again = Design.from_json(design.to_json())
    assert again == design
    assert hash(again) == hash(design)
    assert again.hash == design.hash
    assert again.specs() == design.specs()


def test_every_field_of_a_design_is_in_its_hash_and_comes_back() -> None:
    design = Design(SPEC, (C,), kind="random", points=2)
    changes = [
        {"base": SPEC.but(tol=0.5)},
        {"axes": (Values("C", (0.25, 2.0)),)},
        {"kind": "sobol"},
        {"folds": ("Fold1", "Fold2")},
        {"seeds": (1, 2)},
        {"points": 4},
        {"draw": 1},
        {"kind": "given", "points": 0, "given": ((("C", 0.25),),)},
        {"kind": "given", "points": 0, "given": ((("C", 1.0),),)},
    ]
    others = [replace(design, **change) for change in changes]
    assert len({design.hash, *(other.hash for other in others)}) == len(others) + 1
    assert [Design.from_json(other.to_json()) for other in others] == others


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"axes": []}, "a design has no axes; give at least one"),
        ({"axes": [{"setting": "C"}]}, "an axis has a setting and values, or low and high"),
        ({"axes": {"C": [1]}}, "axes of a design is a list"),
        ({"kind": "spiral"}, "kind='spiral' is not known; choose one of 'grid', 'random', 'sobol', 'given'"),
        ({"shape": 1}, "a design has base, axes, kind, folds, seeds, points, draw, given"),
        ({"base": "demo"}, "the base of a design must be a JSON object"),
        ({"folds": "Fold1"}, "folds of a design is a list"),
        ({"folds": [1]}, "the fold 1 must be a name"),
        ({"seeds": [-1]}, "seed=-1 must be a whole number of at least 0"),
        ({"given": [3]}, "given must list JSON objects"),
        ({"points": 4}, "a design of kind grid has no random points"),
        ({"kind": "random", "points": 2.5}, "points=2.5 must be a whole number of at least 1"),
        ({"kind": "sobol", "points": 8, "draw": -1}, "draw=-1 must be a whole number"),
    ],
)
def test_json_that_is_no_design_is_told_by_what_is_wrong(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match="^" + sentence.replace("(", r"\(")):
        Design.from_dict(json.loads(GRID.to_json()) | change)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match="base and axes are required: 'base'"):
        Design.from_dict({"axes": []})
    with pytest.raises(ValueError, match="a design is a JSON object"):
        Design.from_json("[]")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: Design(SPEC, (Values("colour", (1,)),)),
            "setting='colour' is not known; choose one of 'C', ",
        ),
        (lambda: Design(SPEC, (Values("factors", (2,)),)), "setting='factors' is not known"),
        (lambda: Design(SPEC, (Values("C", (1.0, -1.0)),)), "C=-1.0 must be a positive finite number"),
        (lambda: Design(SPEC, (Values("kernel", ("cubic",)),)), "kernel='cubic' is not known"),
        (lambda: Design(SPEC, (Values("C", ()),)), "the axis 'C' has no values"),
        (lambda: Design(SPEC, (C, Values("C", (2.0,)))), "C has two axes; put all values on one"),
        (lambda: Design(SPEC, (Values("seed", (1,)),), seeds=(2,)), "seeds are given twice"),
        (lambda: Design(SPEC, DRAWN), "a grid lists its values, and C has a range"),
        (lambda: Design(SPEC, DRAWN, kind="random"), "points=0 must be a whole number of at least 1"),
        (lambda: drawn(Range("kernel", 0, 1)), "kernel has no range: list its values"),
        (lambda: drawn(Range("C", 2, 1)), "the range of C is 2 to 1; give two"),
        (lambda: drawn(Range("C", 0, 1)), "C=0 must be a positive finite number"),
        (lambda: drawn(Range("gamma", "scale", 1)), "the range of gamma is 'scale'"),
        (lambda: drawn(Range("rank", None, 3)), "the range of rank is None to 3"),
        (lambda: Design(SPEC, (C,), kind="given"), "given has no cells"),
        (lambda: GRID.extended([{"degree": 2}]), "the cell {'degree': 2} is not on the axes"),
        (lambda: Design(LINEAR, (C, Values("gamma", (1.0,)))).cells(), "gamma is not used by any cell"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(SettingError) as caught:
        make()
    assert str(caught.value).startswith(sentence)


def test_a_design_too_large_is_refused_before_it_is_listed(bounded: Callable[..., None]) -> None:
    huge = Design(SPEC, (Range("C", 1e-3, 1e3),), kind="random", points=10**12)
    with pytest.raises(SettingError, match=r"are 1,000,000,000,000 runs, more than the 20,000 of one sweep"):
        huge.specs()
    bounded(sweep_runs=17)
    with pytest.raises(SettingError, match="6 cells on 3 folds with 1 seed are 18 runs, more than the 17"):
        Design(SPEC, GRID.axes, folds=GRID.folds).specs()
    assert len(Design(SPEC, GRID.axes, folds=GRID.folds[:2]).specs()) == 12


def test_the_cost_is_that_of_all_its_runs_together() -> None:
    shape = Shape.of(make_fold(n_queries=10, seed=0))
    found = cost(GRID, shape, LAPTOP)
    runs = [estimate(spec, shape, LAPTOP) for spec in GRID.specs()]
    assert found == Cost(18, 3, pytest.approx(total_seconds(runs)))
    assert str(found).startswith("18 runs in 3 families, about ")
    assert math.isfinite(found.seconds)


def test_values_that_stand_twice_count_once_and_are_pythons_own() -> None:
    assert Design(SPEC, (Values("C", (1, 1.0, 2)),)).axes == (Values("C", (1.0, 2.0)),)
    assert powers(-1, 2) == (0.5, 1.0, 2.0, 4.0)
