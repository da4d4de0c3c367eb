"""ApproxNDCG, SmoothRank and LambdaRank: plain loops, finite differences, limits, starts, Stop and files."""

import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from naive_ranking import problem, qid_of, slow_pairs
from scipy.special import expit

from rankviz import (
    ApproxNDCG,
    HiddenLayer,
    LambdaLoss,
    LambdaRank,
    RankSVM,
    RunSpec,
    SmoothRank,
    evaluate,
    execute,
    load,
    save,
)
from rankviz.common.errors import DataError, SettingError
from rankviz.datasets import RankingData, make_fold
from rankviz.learning.dcg import ideal
from rankviz.learning.losses import LOSSES
from rankviz.learning.objective import Status
from rankviz.learning.pairs import preference_pairs
from rankviz.learning.risk import PairRisk
from rankviz.learning.score_risk import ScoreRisk
from rankviz.metrics.definitions import COMPARED
from rankviz.models.approx_ndcg import ApproxNDCGLoss
from rankviz.models.hidden_layer import NetworkObjective
from rankviz.models.lambda_rank import frozen, lambda_weights
from rankviz.models.map_ranker import MapRanker
from rankviz.models.smooth_rank import SmoothRankLoss
from rankviz.plots.convergence import convergence_data, starts_sentence
from rankviz.plots.rounds import rounds_data
from rankviz.runs.estimate import estimate
from rankviz.runs.run import model_from, model_of

X, Y, PTR = problem(7, n_queries=9)
DATA = RankingData.from_arrays(X, Y, qid_of(PTR))
EACH = [slice(a, b) for a, b in pairwise(PTR)]
RNG = np.random.default_rng(3)
SCORES = RNG.normal(size=len(Y))
LOSSES_OF_SCORES = [ApproxNDCGLoss(0.3), ApproxNDCGLoss(0.05), SmoothRankLoss(0.4, 0), SmoothRankLoss(0.2, 3)]
FITS: list[MapRanker] = [
    ApproxNDCG(C=4.0),
    SmoothRank(C=40.0),
    LambdaRank(C=2.0),
    LambdaLoss(C=2.0, mu=3.0),
    HiddenLayer(n_components=15, C=0.1, gamma=0.3, starts=2),
]
each_fit = pytest.mark.parametrize("model", FITS, ids=lambda model: type(model).__name__)
each_loss = pytest.mark.parametrize("loss", LOSSES_OF_SCORES, ids=str)


def gain(y: int) -> float:
    return 2.0**y - 1.0


def best_dcg(y: np.ndarray, cutoff: int) -> float:
    return sum(
        gain(g) / np.log2(r + 2) for r, g in enumerate(sorted(y, reverse=True)) if r < (cutoff or len(y))
    )


def approx(f: np.ndarray, loss: ApproxNDCGLoss) -> float:
    """As qin2010a writes it, document by document."""
    total = 0.0
    for q in EACH:
        best, dcg = best_dcg(Y[q], 0), 0.0
        for i in range(q.start, q.stop):
            rank = 1.0 + sum(
                expit((f[j] - f[i]) / loss.temperature) for j in range(q.start, q.stop) if j != i
            )
            dcg += gain(Y[i]) / np.log2(1.0 + rank)
        total += 1.0 - dcg / best if best > 0 else 0.0
    return total


def smooth(f: np.ndarray, loss: SmoothRankLoss) -> float:
    """As chapelle2010a writes it, rank by rank."""
    total = 0.0
    for q in EACH:
        best, dcg, own = best_dcg(Y[q], loss.cutoff), 0.0, f[q]
        for r, d in enumerate(np.argsort(-own, kind="stable")):
            if r < (loss.cutoff or len(own)):
                h = np.exp(-((own - own[d]) ** 2) / (2 * loss.sigma**2))
                dcg += (h / h.sum()) @ [gain(g) for g in Y[q]] / np.log2(r + 2)
        total += 1.0 - dcg / best if best > 0 else 0.0
    return total


@each_loss
def test_the_value_is_the_sum_as_it_is_written(loss: Any) -> None:
    slow = approx if isinstance(loss, ApproxNDCGLoss) else smooth
    for f in (SCORES, 10.0 * SCORES):
        assert ScoreRisk(Y, PTR, loss).at(f).value == pytest.approx(slow(f, loss), rel=1e-12)


@each_loss
def test_gradients_are_those_of_finite_differences(loss: Any) -> None:
    risk, h = ScoreRisk(Y, PTR, loss), 1e-6
    slopes = [
        (risk.at(SCORES + h * e).value - risk.at(SCORES - h * e).value) / (2 * h) for e in np.eye(len(Y))
    ]
    np.testing.assert_allclose(risk.at(SCORES).gradient, slopes, rtol=1e-6, atol=1e-8)


def ndcg_loss(cutoff: int) -> float:
    at = cutoff or int(np.diff(PTR).max())
    found = evaluate(SCORES, DATA, "textbook", measures=[f"NDCG@{at}"]).per_query
    return float((1.0 - found[f"NDCG@{at}"]).sum())


@pytest.mark.parametrize("cutoff", [0, 3])
def test_without_smoothing_they_are_ndcg(cutoff: int) -> None:
    exact = ndcg_loss(cutoff)
    losses: list[Any] = [SmoothRankLoss(1e-5, cutoff)] + [ApproxNDCGLoss(1e-5)] * (cutoff == 0)
    for loss in losses:
        assert ScoreRisk(Y, PTR, loss).at(SCORES).value == pytest.approx(exact, rel=1e-9)
    far = ScoreRisk(Y, PTR, SmoothRankLoss(1.0, cutoff)).at(SCORES).value
    assert abs(far - exact) > 1e-2


def test_the_ideal_dcg_is_that_of_sorted_grades() -> None:
    for cutoff in (0, 2):
        np.testing.assert_allclose(ideal(Y, PTR, cutoff), [best_dcg(Y[q], cutoff) for q in EACH], rtol=1e-14)
    with pytest.raises(SettingError, match="beyond double precision"):
        ideal(np.array([2000, 1]), np.array([0, 2]))


def mean_over(values: np.ndarray, f: np.ndarray, i: int) -> float:
    return float(np.mean([v for v, other in zip(values, f, strict=True) if other == f[i]]))


FALLING = -np.cumsum(~np.isin(np.arange(len(Y)), PTR)).astype(float)
"""Scores that fall over all documents; the last of a query and the first of the next are equal."""


@pytest.mark.parametrize("f", [SCORES, np.round(SCORES), FALLING], ids=["none", "within", "across"])
@pytest.mark.parametrize("mu", [0.0, 4.0])
def test_weights_are_those_of_a_double_loop(mu: float, f: np.ndarray) -> None:
    expected = []
    for i, j in slow_pairs(Y, PTR):
        q = next(q for q in EACH if q.start <= i < q.stop)
        own = f[q]
        rank = np.empty(len(own))
        rank[np.argsort(-own, kind="stable")] = np.arange(1, len(own) + 1)
        a, b = i - q.start, j - q.start
        D = [mean_over(1 / np.log2(1 + rank), own, k) for k in (a, b)]
        gap = max(abs(mean_over(rank, own, a) - mean_over(rank, own, b)), 1.0)
        delta = 1 / np.log2(1 + gap) - 1 / np.log2(2 + gap)
        expected.append((abs(D[0] - D[1]) + mu * delta) * (gain(Y[i]) - gain(Y[j])) / best_dcg(Y[q], 0))
    pairs = preference_pairs(Y, PTR)
    found = dict(
        zip(zip(pairs.winner, pairs.loser, strict=True), lambda_weights(f, Y, PTR, pairs, mu), strict=True)
    )
    np.testing.assert_allclose([found[pair] for pair in slow_pairs(Y, PTR)], expected, rtol=1e-12)
    if mu == 0 and f is SCORES:  # |ΔNDCG| of a swap, measured
        i, j = slow_pairs(Y, PTR)[0]
        swapped = f.copy()
        swapped[[i, j]] = f[[j, i]]
        whole = [f"NDCG@{int(np.diff(PTR).max())}"]
        made = [evaluate(s, DATA, "textbook", measures=whole).per_query.to_numpy() for s in (f, swapped)]
        one, other = made
        assert np.abs(one - other).sum() == pytest.approx(expected[0], rel=1e-9)


def test_lambda_gradients_are_those_of_a_double_loop() -> None:
    weight = dict(zip(slow_pairs(Y, PTR), _weights_in_order(), strict=True))
    expected = np.zeros(len(Y))
    for (i, j), w in weight.items():
        slope = -w / (1.0 + np.exp(SCORES[i] - SCORES[j]))
        expected[[i, j]] += slope, -slope
    risk = PairRisk(Y, PTR, LOSSES["logistic"])
    fixed = frozen(risk, lambda_weights(SCORES, Y, PTR, risk.pairs))
    np.testing.assert_allclose(fixed.at(SCORES).gradient, expected, rtol=1e-12, atol=1e-15)


def _weights_in_order() -> list[float]:
    pairs = preference_pairs(Y, PTR)
    found = dict(
        zip(zip(pairs.winner, pairs.loser, strict=True), lambda_weights(SCORES, Y, PTR, pairs), strict=True)
    )
    return [found[pair] for pair in slow_pairs(Y, PTR)]


def test_lambdarank_ends_at_a_fixed_point() -> None:
    model = LambdaRank(C=0.5, tol=1e-10).fit_data(DATA)
    assert model.status_ is Status.FIXED
    risk = PairRisk(Y, PTR, LOSSES["logistic"])
    risk = frozen(risk, lambda_weights(model.predict(X), Y, PTR, risk.pairs))
    gradient = model.coef_ + 0.5 * X.T @ risk.at(X @ model.coef_).gradient
    assert np.linalg.norm(gradient) < 1e-3
    assert model.trace_["gradient_norm"].iloc[-1] == pytest.approx(
        np.linalg.norm(gradient), rel=1e-3, abs=1e-9
    )
    assert np.isnan(model.outcome().objective)


def test_the_first_round_is_ranknet_and_lambdaloss_without_mu_is_lambdarank() -> None:
    one = LambdaRank(C=2.0, reweightings=1, tol=1e-10).fit_data(DATA)
    other = RankSVM(C=2.0, loss="ranknet", tol=1e-10).fit_data(DATA)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-4, atol=1e-6)
    same = [m.fit_data(DATA).coef_ for m in (LambdaRank(C=2.0), LambdaLoss(C=2.0, mu=0.0), LambdaLoss(C=2.0))]
    assert np.array_equal(same[0], same[1])
    assert not np.allclose(same[0], same[2], rtol=1e-3)


def test_early_stopping_keeps_the_best_round_of_the_validation_part() -> None:
    vali = RankingData.from_arrays(*(a[: PTR[4]] for a in (X[::-1], Y[::-1], qid_of(PTR)[::-1])))
    model = LambdaLoss(C=50.0, patience=3, reweightings=30).fit_watching(DATA, vali)
    measured = model.trace_["validation"].to_numpy()
    assert model.n_rounds_ == 1 + int(np.argmax(measured[1:]))
    again = evaluate(model.predict(vali.X), vali, COMPARED, measures=["NDCG@10"]).mean["NDCG@10"]
    assert again == pytest.approx(measured.max(), abs=1e-12)
    assert model.unfitted().fit_data(DATA).n_rounds_ == model.n_rounds_


@pytest.mark.parametrize("model", FITS[:2], ids=lambda model: type(model).__name__)
def test_the_lowest_end_of_all_starts_is_kept(model: Any) -> None:
    fitted = type(model)(**model.get_params() | {"starts": 4}).fit_data(DATA)
    assert fitted.objective_ == fitted.starts_.min()
    assert len(fitted.starts_) == 4
    assert np.ptp(fitted.starts_) > 0
    risk = ScoreRisk(Y, PTR, fitted.loss())
    moved = fitted.coef_ - fitted.origin_
    value = 0.5 * moved @ moved + fitted.C * risk.at(X @ fitted.coef_).value
    assert fitted.objective_ == pytest.approx(value, rel=1e-12)
    kept = fitted.trace_["start"].iloc[-1]
    ends = fitted.trace_.groupby("start")["objective"].last()
    np.testing.assert_allclose(ends, fitted.starts_, rtol=1e-9)
    assert kept == ends.idxmin()
    assert fitted.trace_["gap"].isna().all()
    again = type(model)(**fitted.get_params()).fit_data(DATA)
    assert np.array_equal(again.coef_, fitted.coef_)


def network(rigidity: float = 0.7) -> NetworkObjective:
    drawn = HiddenLayer(n_components=6).unfitted_map(0.3, 1).fit(X)
    return NetworkObjective(X, drawn, PairRisk(Y, PTR, LOSSES["logistic"]), 0.4, rigidity)


def test_backpropagation_is_the_slope_of_finite_differences() -> None:
    objective, h = network(), 1e-6
    v = np.concatenate((RNG.normal(size=6), objective.first + 0.3 * RNG.normal(size=len(objective.first))))
    slopes = [
        (objective.at(v + h * e).value - objective.at(v - h * e).value) / (2 * h) for e in np.eye(len(v))
    ]
    np.testing.assert_allclose(objective.at(v).gradient, slopes, rtol=1e-6, atol=1e-7)


def test_the_frozen_network_is_ranknet_on_random_fourier_features() -> None:
    settings = {"n_components": 15, "gamma": 0.3, "C": 0.2, "tol": 1e-12}
    fixed = HiddenLayer(first_layer="frozen", starts=1, **settings).fit_data(DATA)
    linear = RankSVM("fourier", loss="ranknet", **settings).fit_data(DATA)
    np.testing.assert_allclose(fixed.coef_, linear.coef_, rtol=1e-6, atol=1e-9)
    rigid = HiddenLayer(rigidity=1e9, starts=1, **settings).fit_data(DATA)
    np.testing.assert_allclose(rigid.predict(X), linear.predict(X), atol=1e-6)
    trained = HiddenLayer(starts=1, **settings).fit_data(DATA)
    assert trained.objective_ < fixed.objective_ - 1e-3
    assert np.abs(trained.feature_map_.frequencies - fixed.feature_map_.frequencies).max() > 1e-3


@each_fit
def test_files_keep_the_model(model: MapRanker, tmp_path: Path) -> None:
    fitted = type(model)(**model.get_params()).fit_data(DATA)
    again = load(save(fitted, tmp_path / "model.npz"))
    assert np.array_equal(again.predict(X), fitted.predict(X))
    assert again.get_params() == fitted.get_params()
    assert again.status_ is fitted.status_
    for name in fitted.solution:
        if name not in ("omega", "phase"):
            own = f"{'objective' if name == 'own' else name}_"
            np.testing.assert_array_equal(getattr(again, own), getattr(fitted, own))


@each_fit
@pytest.mark.parametrize("feature_map", ["nystroem", "fourier", "exact"])
def test_other_maps_train(model: MapRanker, feature_map: str) -> None:
    if isinstance(model, HiddenLayer):
        pytest.skip("it has its own features")
    made = {"feature_map": feature_map, "n_components": 20, "gamma": 0.3}
    fitted = type(model)(**model.get_params() | made).fit_data(DATA)
    before = RankSVM(**made, C=1e-9).fit_data(DATA)
    assert fitted.score(X, Y, qid=qid_of(PTR)) > before.score(X, Y, qid=qid_of(PTR))


@each_fit
def test_a_stop_keeps_the_present_weights(model: MapRanker) -> None:
    calls = 0

    def stop(progress: Any) -> bool:
        nonlocal calls
        calls += progress.stage == "newton"
        return calls > 8

    fitted = type(model)(**model.get_params()).fit_data(DATA, callback=stop)
    assert fitted.status_ is Status.STOPPED
    assert fitted.outcome().stopped
    assert np.isfinite(fitted.predict(X)).all()


@each_fit
def test_what_does_not_fit_is_refused_before_training(model: MapRanker) -> None:
    with pytest.raises(DataError, match="needs about"):
        type(model)(**model.get_params() | {"memory_limit": 10.0}).fit_data(DATA)
    with pytest.raises(SettingError, match="sample_weight"):
        type(model)(**model.get_params()).fit(X, Y, qid=qid_of(PTR), sample_weight=np.ones(len(Y)))


def test_the_exact_kernel_in_coefficients_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankviz.learning.memory.TrainingSizes.in_kernel_space", property(lambda self: True))
    with pytest.raises(SettingError, match="ApproxNDCG has none; choose feature_map='nystroem'"):
        ApproxNDCG("exact").fit_data(DATA)


def record_of(method: str, **settings: Any) -> Any:
    fold = make_fold(n_queries=12, documents_per_query=(5, 15), n_features=6, seed=1)
    return execute(RunSpec("demo", method=method, feature_map="linear", **settings), fold=fold)


def test_figures_show_the_kept_start_and_name_the_ends_of_others() -> None:
    record = record_of("approx_ndcg", C=4.0)
    rows, trace = convergence_data([record]), record.trace
    assert len(rows) == (trace["start"] == trace["start"].iloc[-1]).sum() < len(trace)
    assert rows["iteration"].tolist() == list(range(len(rows)))
    assert rows["objective"].iloc[-1] == pytest.approx(record.objective, rel=1e-9)
    lowest, highest = record.solution["starts"].min(), record.solution["starts"].max()
    said = starts_sentence(record)
    assert said.startswith(f"3 starts end at the objectives {lowest:.6g} (kept), ")
    assert said.endswith(f"{highest:.6g}")
    assert starts_sentence(record_of("approx_ndcg", starts=1)) == ""


def test_rounds_mark_the_one_that_is_kept() -> None:
    record = record_of("lambdarank", C=4.0, reweightings=12)
    table = rounds_data([record])
    kept = table.loc[table["kept"], "round"].unique().tolist()
    assert kept == [int(record.solution["n_rounds"].item())]
    assert not np.isfinite(record.objective)


def test_a_record_has_the_trained_first_layer() -> None:
    fold = make_fold(n_queries=12, documents_per_query=(5, 15), n_features=6, seed=1)
    spec = RunSpec("demo", method="hidden_layer", n_components=10, gamma=0.5, C=0.5, starts=2)
    record = execute(spec, fold=fold)
    again = model_from(record, fold.train)
    np.testing.assert_allclose(again.predict(fold.test.X), record.scores["test"], rtol=1e-12)
    drawn = model_of(spec).unfitted_map(0.5, 0).fit(fold.train.X)
    assert np.abs(again.feature_map_.frequencies - drawn.frequencies).max() > 1e-3


def test_the_memory_of_a_hidden_layer_grows_with_its_width() -> None:
    """All evaluations have arrays of n × m numbers; 4.3 GB were taken where 0.5 GB was predicted."""
    fold = make_fold(n_queries=30, documents_per_query=(20, 40), n_features=4, seed=1)
    spec = RunSpec("demo", method="hidden_layer", n_components=1000, gamma=0.5, C=0.5, starts=1)
    tracemalloc.start()
    execute(spec, fold=fold)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < estimate(spec, fold).bytes < 2 * taken
