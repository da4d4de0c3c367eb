"""Predicted cost of runs: close to the truth, in words, and corrected by the steps of a run."""

import math
import tracemalloc
from dataclasses import replace
from itertools import pairwise

import pytest

from rankviz import DataError, Fold, RunSpec, execute
from rankviz.common.memory import megabytes
from rankviz.datasets import make_fold
from rankviz.learning.memory import TrainingSizes
from rankviz.learning.solvers import SOLVERS
from rankviz.runs import estimate as module
from rankviz.runs.estimate import (
    LAPTOP,
    Rates,
    Remaining,
    Shape,
    check_budget,
    estimate,
    in_words,
    measured_rates,
    roughly,
    steps_left,
    total_in_words,
    total_seconds,
)
from rankviz.shards.storage import STORAGES

RATES = Rates(flops=5e10, exp=1e9, cos=1e8, memory=1e10)
SHAPE = Shape(n=9000, d=45, pairs=370_000, documents=16_000, largest_part=9000)
DEMO = Shape(n=4357, d=20, pairs=60_000, documents=7300, largest_part=4357)
SPEC = RunSpec("demo", n_components=500, gamma=0.25)
MAPS = ("linear", "nystroem", "fourier", "exact")


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=100, documents_per_query=(20, 40), n_features=20, seed=1)


def test_sizes_of_a_fold(fold: Fold) -> None:
    shape = Shape.of(fold)
    assert (shape.n, shape.d) == fold.train.X.shape
    assert shape.documents == sum(part.n_documents for part in fold.parts.values())
    assert shape.largest_part == fold.train.n_documents
    y, ptr = fold.train.y, fold.train.ptr
    queries = [y[a:b] for a, b in pairwise(ptr)]
    assert shape.pairs == sum(int((q[:, None] > q).sum()) for q in queries)


@pytest.mark.parametrize(
    ("feature_map", "m"),
    [("linear", None), *((f, m) for f in ("nystroem", "fourier") for m in (300, 800)), ("exact", None)],
)
def test_bytes_are_those_of_the_arrays(fold: Fold, feature_map: str, m: int | None) -> None:
    """Between what is allocated at the peak and half as much again (and a constant for what is small)."""
    spec = SPEC.but(feature_map=feature_map, C=0.1)
    spec = spec if m is None else spec.but(n_components=m)
    data = sum(part.X.nbytes for part in fold.parts.values())
    execute(spec, fold=fold)
    tracemalloc.start()
    try:
        execute(spec, fold=fold)
        peak = tracemalloc.get_traced_memory()[1] + data
    finally:
        tracemalloc.stop()
    assert 0.85 * peak - 1e6 < estimate(spec, fold, RATES).bytes < 1.5 * peak + 1e6


@pytest.mark.parametrize("feature_map", MAPS)
def test_larger_runs_cost_more(feature_map: str) -> None:
    spec = SPEC.but(feature_map=feature_map)
    base = estimate(spec, SHAPE, RATES)
    overhead = module.KERNEL_OVERHEAD if feature_map == "exact" else module.OVERHEAD
    assert base.seconds == pytest.approx(overhead * sum(base.stages.values()))
    assert base.seconds > 0 < base.bytes
    grown = [replace(SHAPE, n=20_000), replace(SHAPE, d=136), replace(SHAPE, grades=5)]
    for larger in (estimate(spec, shape, RATES) for shape in grown):
        assert larger.seconds > base.seconds
        assert larger.bytes >= base.bytes
    if feature_map in ("nystroem", "fourier"):
        costs = [estimate(spec.but(n_components=m), SHAPE, RATES) for m in (300, 600, 1200, 4000)]
        assert [e.seconds for e in costs] == sorted(e.seconds for e in costs)
        assert [e.bytes for e in costs] == sorted(e.bytes for e in costs)


def test_listed_pairs_cost_by_their_number_and_sorted_ones_do_not() -> None:
    few = replace(SHAPE, pairs=1000)
    more = replace(SHAPE, pairs=4000)
    assert estimate(SPEC, more, RATES).seconds > estimate(SPEC, few, RATES).seconds
    assert estimate(SPEC, replace(SHAPE, pairs=10**9), RATES).seconds == estimate(SPEC, SHAPE, RATES).seconds


def test_an_exact_kernel_is_stored_as_memory_allows() -> None:
    spec = SPEC.but(feature_map="exact")
    half, words = 9000**2 * 8 / 2, []
    for room in (1.2 * half, 0.7 * half, 0.1 * half):
        predicted = estimate(spec, SHAPE, RATES, room + SHAPE.training(spec).bytes)
        words.append(predicted.storage)
        assert predicted.storage in str(predicted)
    assert words == [
        "kernel stored in float64",
        "kernel stored in float32",
        "kernel computed anew in every product",
    ]
    seconds = [estimate(spec, SHAPE, RATES, b).seconds for b in (2 * half, 0.1 * half)]
    assert seconds[0] < seconds[1]
    assert estimate(spec, replace(SHAPE, n=500), RATES).storage == "kernel factored"
    assert estimate(SPEC, SHAPE, RATES).storage == ""
    with pytest.raises(DataError, match="Choose the Nyström approximation"):
        check_budget(estimate(spec, SHAPE, RATES), 1e6)


def test_features_are_kept_as_memory_allows() -> None:
    """The estimate has the plan of the fit, and says how features are kept if not as usual."""
    shape = replace(SHAPE, queries=100)
    usual = estimate(SPEC, shape, RATES, 1e9)
    assert usual.storage == ""
    words, budget = [], usual.need
    for _ in range(3):
        predicted = estimate(SPEC, shape, RATES, budget)
        check_budget(predicted, predicted.bytes)
        words.append(predicted.storage)
        assert predicted.need <= budget
        assert predicted.storage in str(predicted)
        budget = predicted.need - 1
    assert words == ["", *(storage.words for storage in STORAGES[1:])]
    with pytest.raises(DataError, match="needs about"):
        check_budget(predicted, predicted.bytes - 1)
    n = 400_000
    many = estimate(SPEC, replace(SHAPE, n=n, queries=10**4, documents=n), RATES, 1e12)
    assert many.bytes == 8 * n * SHAPE.d + many.need + many.spare
    assert many.spare == 4 * n * many.sizes.width
    more = estimate(SPEC, replace(SHAPE, n=2 * n, queries=10**4, documents=2 * n), RATES, 1e12)
    assert (more.storage, more.spare) == (STORAGES[1].words, 0)


def test_plain_conjugate_gradients_cost_more() -> None:
    plain = estimate(SPEC.but(preconditioner="none"), SHAPE, RATES)
    assert plain.seconds > estimate(SPEC, SHAPE, RATES).seconds
    assert plain.stages["preconditioner"] == 0.0
    exact = SPEC.but(feature_map="exact")
    plain = estimate(exact.but(preconditioner="none"), SHAPE, RATES)
    assert plain.stages["newton"] > estimate(exact, SHAPE, RATES).stages["newton"]
    assert plain.stages["preconditioner"] == 0.0


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_an_exact_kernel_costs_more_the_larger_c_and_gamma(kernel: str) -> None:
    def seconds(C: float, gamma: float) -> float:
        return estimate(SPEC.exact().but(kernel=kernel, C=C, gamma=gamma), DEMO, RATES).seconds

    powers = [2.0**k for k in range(-8, 5, 2)]
    for one in powers:
        assert [seconds(C, one) for C in powers] == sorted(seconds(C, one) for C in powers)
        assert [seconds(one, gamma) for gamma in powers] == sorted(seconds(one, gamma) for gamma in powers)
    assert seconds(2.0**4, 4.0) > 20 * seconds(2.0**-8, 2.0**-6)


def test_a_hard_exact_kernel_is_not_made_while_its_visitor_waits() -> None:
    """Measured on the bundled first fold: 0.5 s at C = 2^-4, γ = 2^-2, more than 80 s at C = 2^4, γ = 2^2."""
    hard, easy = (
        estimate(RunSpec("demo", C=C, gamma=gamma).exact(), DEMO, LAPTOP).seconds
        for C, gamma in ((16.0, 4.0), (2.0**-4, 2.0**-2))
    )
    assert easy < 1 < 20 < hard


@pytest.mark.parametrize("kernel", ["polynomial", "linear"])
def test_a_kernel_of_products_is_not_rougher_for_its_gamma(kernel: str) -> None:
    spec = SPEC.exact().but(kernel=kernel)
    assert estimate(spec.but(C=16.0), DEMO, RATES).seconds == estimate(spec, DEMO, RATES).seconds


def test_the_scale_of_the_data_is_a_gamma_too() -> None:
    scale, same = (estimate(SPEC.exact().but(gamma=g), DEMO, RATES).seconds for g in ("scale", 12 / DEMO.d))
    assert scale == same


def test_choosing_landmarks_takes_time_where_distances_decide() -> None:
    spread = estimate(SPEC.but(landmarks="kmeans++"), SHAPE, RATES)
    assert spread.stages["factor"] > estimate(SPEC, SHAPE, RATES).stages["factor"]
    assert spread.bytes == estimate(SPEC, SHAPE, RATES).bytes


def test_entries_cost_what_their_kernel_says() -> None:
    """Differences that are no matrix product take longest, no exponential least; cosines are a map's own."""

    def entry(feature_map: str, kernel: str) -> float:
        return module._entry(TrainingSizes(feature_map, 500, 9000, 45, kernel=kernel), RATES)

    for feature_map in ("nystroem", "exact"):
        costs = [entry(feature_map, kernel) for kernel in ("linear", "polynomial", "rbf", "laplacian")]
        assert costs[0] == min(costs)
        assert costs[3] == max(costs)
    assert entry("fourier", "rbf") == entry("fourier", "laplacian") > entry("nystroem", "rbf")
    assert entry("linear", "rbf") == 0.0


def test_more_landmarks_than_documents_cost_no_more() -> None:
    most, more = (SPEC.but(n_components=m) for m in (9000, 90_000))
    assert estimate(most, SHAPE, RATES).bytes == estimate(more, SHAPE, RATES).bytes


def test_an_empty_part_has_no_pairs(fold: Fold) -> None:
    empty = Shape(n=0, d=20, pairs=0, documents=0, largest_part=0)
    assert estimate(SPEC, empty, RATES).bytes >= 0


def test_this_machine_is_measured_once() -> None:
    rates = measured_rates()
    assert rates is measured_rates()
    assert min(rates.flops, rates.exp, rates.cos, rates.memory) > 1e6
    assert estimate(SPEC, SHAPE).seconds == estimate(SPEC, SHAPE, rates).seconds


def test_runs_that_share_features_cost_less_together() -> None:
    costs = [estimate(SPEC.but(n_components=m), SHAPE, RATES) for m in (100, 200, 500)]
    together = total_seconds(costs)
    assert costs[-1].seconds < together < sum(cost.seconds for cost in costs)
    assert total_seconds([costs[0], costs[0]]) == pytest.approx(costs[0].seconds)
    seeds = [estimate(SPEC.but(seed=seed), SHAPE, RATES) for seed in (0, 1)]
    assert total_seconds(seeds) == pytest.approx(sum(cost.seconds for cost in seeds))
    widths = [estimate(SPEC.but(gamma=gamma), SHAPE, RATES) for gamma in (0.1, 0.2)]
    assert total_seconds(widths) == pytest.approx(sum(cost.seconds for cost in widths))
    cold = [estimate(cost.spec.but(start="zero"), SHAPE, RATES) for cost in costs]
    assert total_seconds(cold) > together
    assert total_seconds([]) == 0.0


def test_words() -> None:
    assert [in_words(s) for s in (0.01, 0.44, 12.3, 240.0, 9000.0)] == [
        "0.1 s",
        "0.4 s",
        "12 s",
        "4 min",
        "2.5 h",
    ]
    assert [megabytes(b) for b in (10, 8.1e7, 2.34e9)] == ["1 MB", "81 MB", "2.3 GB"]
    one = estimate(SPEC, SHAPE, RATES)
    assert str(one) == f"about {in_words(one.seconds)} and {megabytes(one.bytes)}"
    other = estimate(SPEC.but(seed=1), SHAPE, RATES)
    assert total_in_words([one, other]) == f"about {in_words(2 * one.seconds)} and {megabytes(one.bytes)}"
    exact = estimate(SPEC.exact(), SHAPE, RATES, 1e9)
    stored = f"kernel stored in float64, hard Newton steps take up to {megabytes(exact.more)} more"
    share = f"({in_words(exact.seconds)} for the exact kernel, {stored})"
    assert total_in_words([one, exact]).endswith(share)
    assert total_in_words([exact]).endswith(f" MB ({stored})")
    assert str(exact).endswith(f" MB ({stored})")
    plain = estimate(SPEC.exact().but(preconditioner="none"), SHAPE, RATES, 1e9)
    assert str(plain).endswith(" MB (kernel stored in float64)")
    assert total_in_words([exact, plain]).endswith(f" MB ({stored})")
    assert total_in_words([]) == "about 0.1 s and 1 MB"


@pytest.mark.parametrize("feature_map", ["nystroem", "fourier"])
def test_a_refusal_names_an_m_that_fits(feature_map: str) -> None:
    predicted = estimate(SPEC.but(feature_map=feature_map, n_components=4000), SHAPE, RATES)
    check_budget(predicted, predicted.bytes)
    budget = predicted.bytes / 3
    with pytest.raises(DataError, match=r"Choose m = (\d+)") as caught:
        check_budget(predicted, budget)
    named = int(str(caught.value).split("Choose m = ")[1].split()[0])
    assert 100 < named < 4000
    check_budget(estimate(predicted.spec.but(n_components=named), SHAPE, RATES), budget)
    with pytest.raises(DataError):
        check_budget(estimate(predicted.spec.but(n_components=2 * named), SHAPE, RATES), budget)


def test_a_refusal_where_no_m_helps() -> None:
    for spec in (SPEC.but(feature_map="linear"), SPEC):
        with pytest.raises(DataError, match="smaller data set"):
            check_budget(estimate(spec, SHAPE, RATES), 1000)


def test_the_default_budget_is_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    predicted = estimate(SPEC, SHAPE, RATES)
    check_budget(predicted)
    monkeypatch.setattr("rankviz.learning.memory.free_memory", lambda: predicted.bytes // 10)
    with pytest.raises(DataError, match="70%"):
        check_budget(predicted)


@pytest.mark.parametrize("feature_map", ["linear", "nystroem", "fourier"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_is_estimated(solver: str, feature_map: str) -> None:
    spec = SPEC.but(solver=solver, feature_map=feature_map)
    large, one = estimate(spec, SHAPE, RATES), estimate(SPEC.but(feature_map=feature_map), SHAPE, RATES)
    small = estimate(spec, replace(SHAPE, n=900, pairs=37_000, documents=1600), RATES)
    assert 0 < small.seconds < large.seconds < 60
    assert large.bytes > one.bytes if SOLVERS[solver].lists_pairs else large.bytes == one.bytes


TOL = 1e-6
# seconds and decrement over objective of each Newton step for the exact kernel on the bundled first fold
TRACES = {
    "C = 2^4, γ = 2^-2": [
        (2.1, 0.7230892),
        (13.3, 0.4697701),
        (17.6, 0.1178901),
        (23.9, 0.0280314),
        (25.9, 0.001787),
        (28.1, 4.76e-05),
        (31.7, 9e-07),
    ],
    "C = 1, γ = 1": [
        (0.4, 0.7989965),
        (2.9, 0.5272325),
        (5.6, 0.2153912),
        (8.1, 0.0599205),
        (8.3, 0.006977),
        (8.5, 0.0002822),
        (9.5, 4.7e-06),
        (9.7, 1e-8),
    ],
    "C = 2^-4, γ = 2^2": [
        (0.6, 0.8098782),
        (1.0, 0.274364),
        (2.2, 0.0469608),
        (3.3, 0.0040045),
        (3.6, 0.0001003),
        (3.9, 1.2e-06),
        (4.0, 1e-8),
    ],
}


def row(iteration: int, seconds: float, decrement: float) -> dict[str, float]:
    return {"iteration": iteration, "seconds": seconds, "decrement": decrement, "objective": 1.0}


@pytest.mark.parametrize("name", TRACES)
def test_newton_steps_are_foreseen_from_the_second_on(name: str) -> None:
    decrements = [math.log(ratio / TOL) for _, ratio in TRACES[name]]
    for done, (before, above) in enumerate(pairwise(decrements), start=2):
        truth = len(decrements) - done
        assert steps_left(above, before - above) == pytest.approx(truth, abs=2.0)


@pytest.mark.parametrize("name", TRACES)
def test_a_prediction_far_too_low_is_corrected_by_the_first_steps(name: str) -> None:
    trace = TRACES[name]
    end = trace[-1][0]
    left = Remaining(0.02 * end, TOL, 0.0)
    for iteration, (seconds, ratio) in enumerate(trace[:3]):
        left.note(row(iteration, seconds, ratio), seconds)
    now = trace[2][0]
    assert (end - now) / 3 < left.seconds(now) < 3 * (end - now)


@pytest.mark.parametrize("name", TRACES)
def test_words_do_not_go_to_and_fro(name: str) -> None:
    trace, left = TRACES[name], Remaining(TRACES[name][-1][0], TOL, 0.0)
    rows = {seconds: (k, ratio) for k, (seconds, ratio) in enumerate(trace)}
    told: list[float] = []
    for tick in range(int(10 * trace[-1][0]) + 1):
        if tick / 10 in rows:
            left.note(row(rows[tick / 10][0], tick / 10, rows[tick / 10][1]), tick / 10)
        told.append(left.seconds(tick / 10))
    words = [word for word, after in pairwise([*map(roughly, told), ""]) if word != after]
    assert len(words) <= len(trace), words


def test_a_step_that_takes_long_is_not_said_to_be_over_soon() -> None:
    left = Remaining(2.0, TOL, 100.0)
    assert left.seconds(101.0) == 1.0
    assert left.seconds(140.0) == 40.0


def test_a_correction_that_hardly_differs_is_not_told() -> None:
    left = Remaining(8.0, TOL, 0.0)
    left.note(row(0, 1.0, 0.8), 1.0)
    left.note(row(1, 2.0, 0.4), 2.0)
    assert left.seconds(2.0) == 6.0


def test_first_steps_that_are_cheap_do_not_lower_what_is_told() -> None:
    left = Remaining(60.0, TOL, 0.0)
    for k, ratio in enumerate((0.8, 0.5, 0.2)):
        left.note(row(k, 0.1 * (k + 1), ratio), 0.1 * (k + 1))
    assert left.seconds(1.0) == 59.0
    left.note(row(3, 1.0, 1e-5), 1.0)
    assert left.seconds(1.0) < 1.0, "past half of the way they do"


def test_what_tells_no_decrement_is_counted_down() -> None:
    left = Remaining(10.0, TOL, 0.0)
    left.note({"iteration": 0, "seconds": 1.0, "objective": 1.0}, 1.0)
    assert left.seconds(4.0) == 6.0
    left = Remaining(10.0, None, 0.0)
    left.note(row(0, 1.0, 0.8), 1.0)
    assert left.seconds(4.0) == 6.0


def test_a_decrement_at_the_tolerance_leaves_nothing() -> None:
    assert steps_left(-0.5, 3.0) == 0.0


def test_rough_durations() -> None:
    assert [roughly(s) for s in (0.0, 4.9, 7, 35, 61, 95, 170, 7200)] == [
        "a few seconds",
        "a few seconds",
        "about 10 s",
        "about 40 s",
        "about 90 s",
        "about 2 min",
        "about 3 min",
        "about 2.0 h",
    ]


def test_early_stopping_takes_typical_rounds() -> None:
    def seconds(**settings: int) -> float:
        return estimate(RunSpec("demo", method="lambdamart", **settings), SHAPE, RATES).seconds

    assert seconds(patience=50, n_rounds=300) == seconds(patience=50, n_rounds=100) < seconds(patience=0)
    assert seconds(patience=0, n_rounds=300) == seconds(patience=0)
