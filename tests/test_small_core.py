"""The small core in JavaScript against rankviz: the same problems, made here, in one process of node."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankviz import RankingData, RankSVM, evaluate
from rankviz.common.arrays import FloatArray
from rankviz.datasets import make_data
from rankviz.features.kernels import RBF
from rankviz.learning.feature_space import RankObjective
from rankviz.learning.losses import LOSSES, loss_of
from rankviz.learning.newton import NewtonYuan
from rankviz.learning.pairs import preference_pairs
from rankviz.learning.sorted_risk import risk_of
from rankviz.metrics.definitions import COMPARED, DEFINITIONS
from rankviz.models.dual_variables import GivenDuals, sides

ROOT = Path(__file__).parents[1]
IN_BROWSER = {name: DEFINITIONS[name] for name in ("letor", "letor_script", "letor3", "mslr")}
IN_BROWSER |= {"textbook": DEFINITIONS["textbook"], "he2009": DEFINITIONS["he2009"], "compared": COMPARED}
"""Definitions of the small core: that of runs, and none of other tools."""
GAP = 1e-9
"""Duality gap over objective at which training of the hinge ends."""
TICKS = np.linspace(-2, 2, 9)
EQUAL, ROUNDING = 1e-8, 1e-14
"""Largest difference, relative to the largest entry if that is above 1; and of a single number."""
MAPS = ("linear", "nystroem", "fourier")
TRAINED = [name for name, loss in LOSSES.items() if not loss.by_continuation]
NODE = shutil.which("node", path=os.pathsep.join([os.environ.get("PATH", ""), str(ROOT / ".venv" / "bin")]))


def camel(name: str) -> str:
    """Return the name of a loss in the small core."""
    return re.sub("_(.)", lambda found: found[1].upper(), name)


@dataclass
class Problem:
    """A model of rankviz at its optimum, with what the small core needs to train the same one."""

    data: RankingData
    model: RankSVM
    probe: FloatArray
    unseen: FloatArray
    sent: dict[str, Any]

    @cached_property
    def objective(self) -> RankObjective:
        data, C = self.data, float(self.model.C)
        loss = loss_of(self.model.loss).at(C, lambda: float(len(preference_pairs(data.y, data.ptr))))
        return RankObjective(self.model.feature_map_.operator(data.X), risk_of(data.y, data.ptr, loss), C)

    @cached_property
    def weights(self) -> FloatArray:
        """The optimum, by Newton steps to a gradient of 1e-12: ‖w − w*‖ ≤ ‖∇‖, since H ≥ I."""
        found = NewtonYuan(tol=1e-12, max_iter=30).solve(self.objective, self.model.coef_).point.w
        assert np.linalg.norm(self.objective.at(found).gradient) < EQUAL / 10
        return found


def problem(seed: int, feature_map: str, loss: str, **settings: Any) -> Problem:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 5))
    C, gamma = (float(2.0 ** rng.integers(low, high)) for low, high in ((-6, 4), (-2, 2)))
    sizes = (int(rng.integers(2, 8)), int(rng.integers(8, 20)))
    data = make_data(n_queries=int(rng.integers(2, 5)), documents_per_query=sizes, n_features=d, seed=seed)
    m = int(rng.integers(3, 16))
    asked = {"C": C, "gamma": gamma, "n_components": m, "random_state": seed} | settings
    if feature_map == "linear":
        asked = {name: asked[name] for name in ("C", "tol") if name in asked}
    model = RankSVM(feature_map, loss=loss, **asked).fit(data.X, data.y, qid=data.qid)
    probe, unseen = rng.normal(size=model.n_components_), rng.normal(size=(5, d))
    sent = {
        "map": feature_map,
        "loss": camel(loss),
        "dim": d,
        "C": C,
        "tolerance": GAP if loss == "hinge" else None,
        "gamma": asked.get("gamma", gamma),
        "x": data.X.ravel().tolist(),
        "unseen": unseen.ravel().tolist(),
        "y": data.y.tolist(),
        "ptr": data.ptr.tolist(),
        "probe": probe.tolist(),
    }
    if feature_map == "nystroem":
        drawn: Any = model.unfitted_map(1.0, seed)
        sent["landmarks"] = drawn.draw(data.X).landmarks.ravel().tolist()
    if feature_map == "fourier":
        sent["omega"] = model.feature_map_.frequencies.ravel().tolist()
        sent["phase"] = model.feature_map_.phases.tolist()
    return Problem(data, model, probe, unseen, sent)


def problems() -> list[Problem]:
    return [problem(10 * k + i, name, loss) for k, loss in enumerate(TRAINED) for i, name in enumerate(MAPS)]


def lists() -> list[dict[str, Any]]:
    """Make lists with ties, with grades up to 4, shorter and longer than k, some without gain."""
    rng = np.random.default_rng(3)
    found = []
    for definition in IN_BROWSER:
        for k in (1, 5, 10):
            for n in (1, 4, 12, 30):
                for highest in (0, 1, 4):
                    scores, y = rng.integers(0, 9, n) / 4, rng.integers(0, highest + 1, n)
                    found.append({"scores": scores, "y": y, "definition": definition, "k": k})
    return found


def as_json(value: Any) -> Any:
    return value.tolist()


@pytest.fixture(scope="module")
def asked() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "problems": problems(),
        "hinges": [problem(50 + k, name, "hinge", tol=GAP) for k, name in enumerate(MAPS)],
        "singular": [problem(60, "nystroem", "squared_hinge", gamma=2.0**-20, n_components=30)],
        "lists": lists(),
        "losses": [
            {"loss": camel(name), "C": 0.5, "pairs": 40, "t": np.linspace(-9, 9, 721)} for name in LOSSES
        ],
        "matrices": [
            {"values": rng.normal(size=rows * columns), "rows": rows, "columns": columns}
            for rows, columns in ((1, 1), (3, 8), (9, 4), (7, 7))
        ],
    }


@pytest.fixture(scope="module")
def answers(asked: dict[str, Any]) -> dict[str, Any]:
    """The small core's answers, from one process."""
    if NODE is None:
        pytest.skip("there is no node here: `make js` brings one")
    sent = asked | {kind: [one.sent for one in asked[kind]] for kind in ("problems", "hinges", "singular")}
    text = json.dumps(sent, default=as_json)
    script = [NODE, str(ROOT / "tests" / "js" / "core_answers.js")]
    ended = subprocess.run(script, input=text, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def difference(found: Any, expected: Any) -> float:
    """Return the largest difference; null stands for NaN, which must be in the same places."""
    first, second = np.asarray(found, float).ravel(), np.asarray(expected, float).ravel()
    assert first.shape == second.shape
    assert np.array_equal(np.isnan(first), np.isnan(second))
    known = ~np.isnan(second)
    size = max(1.0, float(np.abs(second[known]).max(initial=0.0)))
    return float(np.abs(first - second)[known].max(initial=0.0)) / size


def expected(one: Problem) -> Iterator[tuple[str, Any]]:
    data, model, fitted = one.data, one.model, one.model.feature_map_
    K = RBF(one.sent["gamma"]).matrix(data.X, data.X)
    phi, there = fitted.operator(data.X).dense(), one.objective.at(one.probe)
    here = one.objective.at(one.weights)
    yield "kernel", K
    yield "eigenvalues", np.linalg.eigvalsh(K)[::-1]
    yield "features", phi
    yield "approximate", phi @ phi.T
    yield "value", there.value
    yield "gradient", there.gradient
    yield "hessian", np.array([one.objective.hessian_product(there, e) for e in np.eye(len(one.probe))])
    yield "weights", one.weights
    yield "scores", here.scores
    yield "objective", here.value
    yield "unseen", fitted.operator(one.unseen).product(one.weights)
    if data.n_features == 2:
        x, y = (side.ravel() for side in np.meshgrid(TICKS, TICKS[::-1]))
        yield "surface", fitted.operator(np.column_stack((x, y))).product(one.weights)
    model.coef_ = one.weights
    for query, block in enumerate(model.duals(data)):
        yield f"alpha {query}", block.alpha
        yield f"singular {query}", np.linalg.svd(block.alpha, compute_uv=False)


def answered(answer: dict[str, Any], name: str) -> Any:
    kind, _, query = name.partition(" ")
    if not query:
        return answer[name]
    return answer[kind][int(query)] if kind == "singular" else answer[kind][int(query)]["values"]


def largest_differences(asked: dict[str, Any], answers: dict[str, Any]) -> dict[str, float]:
    """Return the largest difference of each kind over all problems."""
    found: dict[str, float] = {}
    for one, answer in zip(asked["problems"], answers["problems"], strict=True):
        for name, value in expected(one):
            kind = name.partition(" ")[0]
            found[kind] = max(found.get(kind, 0.0), difference(answered(answer, name), value))
    return found


def test_models_equal_those_of_rankviz(asked: dict[str, Any], answers: dict[str, Any]) -> None:
    found = largest_differences(asked, answers)
    assert {"weights", "alpha", "surface"} <= found.keys()
    assert {kind: size for kind, size in found.items() if size > EQUAL} == {}


def test_weights_are_as_near_to_a_fit_as_its_gap_says(asked: dict[str, Any], answers: dict[str, Any]) -> None:
    for one, answer in zip(asked["problems"], answers["problems"], strict=True):
        fit = RankSVM(**one.model.get_params()).fit(one.data.X, one.data.y, qid=one.data.qid)
        bound = np.sqrt(2 * fit.gap_ * fit.objective_) + EQUAL
        assert np.linalg.norm(fit.coef_ - answer["weights"]) <= bound


def test_a_singular_matrix_is_handled_equally(asked: dict[str, Any], answers: dict[str, Any]) -> None:
    for one, answer in zip(asked["singular"], answers["singular"], strict=True):
        fitted = one.model.feature_map_
        assert answer["kept"] == fitted.kept.tolist()
        phi = fitted.operator(one.data.X).dense()
        assert difference(answer["approximate"], phi @ phi.T) < EQUAL
        assert (
            abs(answer["objective"] - one.model.objective_)
            <= (one.model.gap_ + ROUNDING) * one.model.objective_
        )


def test_pairs_and_blocks_are_in_the_same_order(asked: dict[str, Any], answers: dict[str, Any]) -> None:
    for one, answer in zip(asked["problems"], answers["problems"], strict=True):
        listed = preference_pairs(one.data.y, one.data.ptr)
        assert answer["pairs"] == [listed.winner.tolist(), listed.loser.tolist()]
        for query, block in enumerate(one.model.duals(one.data)):
            found = answer["alpha"][query]
            assert [found["winners"], found["losers"]] == [block.winners.tolist(), block.losers.tolist()]


def test_losses_and_their_derivatives_are_equal(asked: dict[str, Any], answers: dict[str, Any]) -> None:
    for name, own, sent in zip(LOSSES, answers["losses"], asked["losses"], strict=True):
        loss, t = LOSSES[name].at(sent["C"], lambda: 40.0), sent["t"]
        for found, values in (
            (own["value"], loss.value(t)),
            (own["derivative"], loss.derivative(t)),
            (own["second"], loss.second_derivative(t)),
        ):
            assert difference(found, values) < 1e-12, name


def test_the_hinge_is_trained_to_its_duality_gap(asked: dict[str, Any], answers: dict[str, Any]) -> None:
    for one, answer in zip(asked["hinges"], answers["hinges"], strict=True):
        model, least = one.model, float(one.model.objective_)
        assert abs(answer["objective"] - least) <= GAP * least
        assert np.linalg.norm(model.coef_ - answer["weights"]) <= 2 * np.sqrt(2 * GAP * least)
        blocks = [np.array(block["values"]) for block in answer["alpha"]]
        assert all(block.min(initial=0) >= 0 and block.max(initial=0) <= model.C for block in blocks)
        # D = Σα − ½‖w(α)‖² of these α proves the gap
        w = model.feature_map_.operator(one.data.X).adjoint(document_weights(one.data, blocks))
        assert answer["objective"] - sum(block.sum() for block in blocks) + 0.5 * w @ w <= GAP * least


def document_weights(data: RankingData, blocks: list[FloatArray]) -> FloatArray:
    duals = GivenDuals(data, np.zeros(len(data.y)), 1.0, lambda query: shaped(data, query, blocks[query]))
    return duals.document_weights()


def shaped(data: RankingData, query: int, values: FloatArray) -> FloatArray:
    """Return the rectangle of a query's dual variables."""
    return values.reshape([len(side) for side in sides(data.y[data.query_slice(query)])])


def test_metrics_are_equal_in_all_definitions(asked: dict[str, Any], answers: dict[str, Any]) -> None:
    assert answers["definitions"] == list(IN_BROWSER)
    for one, found in zip(asked["lists"], answers["lists"], strict=True):
        scores, y, k = one["scores"], one["y"], one["k"]
        definition = IN_BROWSER[one["definition"]]
        of = evaluate(scores, y, qid=np.ones(len(y)), definition=definition, at=[k]).per_query.iloc[0]
        assert difference(found["ndcg"], of[f"NDCG@{k}"]) < EQUAL
        assert found["sum"] == pytest.approx(found["dcg"], abs=1e-12)
        pairs = preference_pairs(y, np.array([0, len(y)]))
        assert found["right"] == int((pairs.margins(scores) > 0).sum())


def test_singular_values_are_equal(asked: dict[str, Any], answers: dict[str, Any]) -> None:
    for one, found in zip(asked["matrices"], answers["matrices"], strict=True):
        values = one["values"].reshape(one["rows"], one["columns"])
        assert difference(found, np.linalg.svd(values, compute_uv=False)) < EQUAL
