"""NDCG as other tools print it on a small data set, and the rules behind the differences."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from rankviz import RankingData, evaluate
from rankviz.common.arrays import FloatArray
from rankviz.metrics import DEFINITIONS

SIZES = [12, 3, 5, 1, 8, 7]
"""One query has one document, and one (of five documents) has no relevant one."""
CUTS = [1, 3, 5, 12]
ROUNDING = 4e-16
"""The tools multiply by one over the ideal DCG, where `evaluate` divides."""


@dataclass(frozen=True)
class Printed:
    """Scores of a boosted model, and its NDCG by cut-off: the texts of the training log, and all digits."""

    scores: FloatArray
    texts: dict[int, str]
    digits: dict[int, float]


@pytest.fixture(scope="module")
def data() -> RankingData:
    rng = np.random.default_rng(0)
    y, queries = rng.integers(0, 4, sum(SIZES)), np.repeat(np.arange(len(SIZES)), SIZES)
    y[queries == 2] = 0
    return RankingData.from_arrays(rng.random((len(y), 2)).round(1), y, queries)


def lightgbm_model(data: RankingData, capsys: pytest.CaptureFixture[str]) -> Printed:
    lightgbm = pytest.importorskip("lightgbm")
    found: dict[str, dict[str, list[float]]] = {}
    rows = lightgbm.Dataset(data.X, data.y, group=SIZES)
    settings = {"objective": "lambdarank", "eval_at": CUTS, "num_leaves": 4, "min_data_in_leaf": 1}
    settings |= {"min_sum_hessian_in_leaf": 0, "num_threads": 1}
    told = [lightgbm.record_evaluation(found), lightgbm.log_evaluation(1)]
    model = lightgbm.train(settings, rows, 1, valid_sets=[rows], valid_names=["x"], callbacks=told)
    scores = np.asarray(model.predict(data.X, raw_score=True))
    assert len(np.unique(scores)) <= 4
    texts = dict(re.findall(r"x's ndcg@(\d+): (\S+)", capsys.readouterr().out))
    return Printed(scores, _by_cut(texts), {k: found["x"][f"ndcg@{k}"][-1] for k in CUTS})


def xgboost_model(
    data: RankingData, capsys: pytest.CaptureFixture[str], metric: str = "ndcg@{}", **settings: object
) -> Printed:
    """Train one tree of depth two, so that many scores are equal; `metric` names its measure at each cut."""
    xgboost = pytest.importorskip("xgboost")
    rows = xgboost.DMatrix(data.X, data.y)
    rows.set_group(SIZES)
    names = [metric.format(k) for k in CUTS]
    settings |= {"objective": "rank:ndcg", "eval_metric": names, "max_depth": 2, "nthread": 1}
    found: dict[str, dict[str, list[float]]] = {}
    model = xgboost.train(settings, rows, 1, evals=[(rows, "x")], evals_result=found)
    scores = model.predict(rows, output_margin=True).astype(np.float64)
    assert len(np.unique(scores)) <= 4
    texts = dict(re.findall(r"x-\w+@(\d+)-?:(\S+)", capsys.readouterr().out))
    return Printed(scores, _by_cut(texts), {k: found["x"][metric.format(k)][-1] for k in CUTS})


def _by_cut(texts: dict[str, str]) -> dict[int, str]:
    assert sorted(map(int, texts)) == CUTS
    return {int(k): text for k, text in texts.items()}


def test_lightgbm_prints_the_ndcg_of_its_definition(
    data: RankingData, capsys: pytest.CaptureFixture[str]
) -> None:
    model = lightgbm_model(data, capsys)
    ours = evaluate(model.scores, data, "lightgbm", at=CUTS).mean
    assert {k: f"{ours[f'NDCG@{k}']:g}" for k in CUTS} == model.texts
    assert {k: ours[f"NDCG@{k}"] for k in CUTS} == pytest.approx(model.digits, rel=0, abs=ROUNDING)


def differences(
    model: Printed, start: str, tool: str, rules: Sequence[str], data: RankingData
) -> list[float]:
    """Return NDCG@5 by `start` with these rules of a tool, then with all of them but one."""
    theirs = {name: getattr(DEFINITIONS[tool], name) for name in rules}
    some = [theirs, *({name: theirs[name] for name in rules if name != left_out} for left_out in rules)]
    changed = (replace(DEFINITIONS[start], **one) for one in some)
    return [float(evaluate(model.scores, data, one, at=[5]).mean["NDCG@5"]) for one in changed]


def test_two_rules_make_lightgbm_differ_from_the_textbook(
    data: RankingData, capsys: pytest.CaptureFixture[str]
) -> None:
    """Equal scores, and queries without a relevant document; both are needed."""
    model, rules = lightgbm_model(data, capsys), ("ties", "leaves_out_empty", "empty_value")
    assert f"{evaluate(model.scores, data, 'textbook', at=[5]).mean['NDCG@5']:g}" != model.texts[5]
    both, *others = differences(model, "textbook", "lightgbm", rules, data)
    assert f"{both:g}" == model.texts[5]
    assert model.texts[5] not in [f"{one:g}" for one in others]


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("minus", ["", "-"])
def test_xgboost_prints_the_ndcg_of_its_definition(
    linear: bool, minus: str, data: RankingData, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its two switches: ndcg_exp_gain, and a minus for queries without a relevant document."""
    model = xgboost_model(data, capsys, f"ndcg@{{}}{minus}", ndcg_exp_gain=not linear)
    gain, empty = "y" if linear else "2^y - 1", 0.0 if minus else 1.0
    definition = replace(DEFINITIONS["xgboost"], gain=gain, empty_value=empty)
    ours = evaluate(model.scores, data, definition, at=CUTS).mean
    assert {k: f"{ours[f'NDCG@{k}']:.5f}" for k in CUTS} == model.texts
    assert {k: ours[f"NDCG@{k}"] for k in CUTS} == pytest.approx(model.digits, rel=0, abs=ROUNDING)


def test_three_rules_make_xgboost_differ_from_letor(
    data: RankingData, capsys: pytest.CaptureFixture[str]
) -> None:
    """Discount, short lists, and queries without a relevant document; all of them are needed."""
    model, rules = xgboost_model(data, capsys), ("discount", "short_ndcg", "empty_value")
    together, *others = differences(model, "letor", "xgboost", rules, data)
    assert f"{together:.5f}" == model.texts[5]
    assert model.texts[5] not in [f"{one:.5f}" for one in others]


def test_xgboost_prints_map_and_precision_of_its_definition(
    data: RankingData, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a relevant document MAP is 1 but precision 0; precision divides by the size of short lists."""
    binary = replace(data, y=(data.y >= 2).astype(np.int64))
    for name, column, k in (("map", "MAP", CUTS[-1]), ("pre", "P@5", 5)):
        model = xgboost_model(binary, capsys, f"{name}@{{}}")
        ours = evaluate(model.scores, binary, "xgboost", at=[5]).mean
        assert f"{ours[column]:.5f}" == model.texts[k]


def test_scikit_learn_has_the_ndcg_of_its_definition(data: RankingData) -> None:
    scores = (data.X[:, 0] * 5).round()
    for k in CUTS:
        ours = evaluate(scores, data, "sklearn", at=[k]).per_query[f"NDCG@{k}"]
        for query, value in enumerate(ours):
            rows = data.query_slice(query)
            if SIZES[query] > 1:  # it refuses a single document
                theirs = ndcg_score([data.y[rows]], [scores[rows]], k=k)
                assert value == pytest.approx(theirs, rel=0, abs=1e-15)


def test_trec_eval_has_the_numbers_of_its_definition(data: RankingData) -> None:
    """With documents in its order of equal scores, by descending id, which no definition can state."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    scores = (data.X[:, 0] * 5).round()
    names = [f"d{row:03d}" for row in range(data.n_documents)]
    qrels, run = {}, {}
    for query in range(data.n_queries):
        rows = range(*data.query_slice(query).indices(data.n_documents))
        qrels[str(query)] = {names[row]: int(data.y[row]) for row in rows}
        run[str(query)] = {names[row]: float(scores[row]) for row in rows}
    measures = {f"ndcg_cut.{','.join(map(str, CUTS))}", "P.5", "map"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    turned = replace(data, rows=data.rows[::-1].copy())
    ours = evaluate(scores, turned, "trec_eval", at=CUTS).per_query
    columns = {f"NDCG@{k}": f"ndcg_cut_{k}" for k in CUTS} | {"P@5": "P_5", "MAP": "map"}
    for query, found in theirs.items():
        for column, name in columns.items():
            assert ours.loc[int(query), column] == pytest.approx(found[name], rel=0, abs=1e-15)
    assert len(theirs) == data.n_queries
