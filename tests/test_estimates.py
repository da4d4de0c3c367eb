"""First-order estimates of what left-out queries do, against refits and against the formula itself."""

import numpy as np
import pytest
from naive_ranking import problem, qid_of

from rankviz import FactorizedRankSVM, RankingData, RankSVM, StopRequested
from rankviz.common.errors import SettingError
from rankviz.features import exact
from rankviz.whatif.changes import QueryOut
from rankviz.whatif.estimates import effects_of_queries, margins_without_queries
from rankviz.whatif.refits import refits_of, without_query

X, Y, PTR = problem(n_queries=40)
DATA = RankingData.from_arrays(X, Y, qid_of(PTR))
MAPS: dict[str, dict[str, object]] = {
    "linear": {},
    "nystroem": {"n_components": 30, "gamma": 0.2},
    "fourier": {"n_components": 30, "gamma": 0.2},
    "exact": {"gamma": 0.2},
}


def fitted(name: str, **settings: object) -> RankSVM:
    return RankSVM(**{"feature_map": name, "C": 0.1} | MAPS[name] | settings).fit_data(DATA)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_estimates_are_close_to_refits(name: str, loss: str) -> None:
    refits = refits_of(fitted(name, loss=loss), DATA)
    table = margins_without_queries(refits, X[0], X[-1], most=DATA.n_queries)
    assert len(table) == DATA.n_queries
    assert np.corrcoef(table["estimate"], table["refit"])[0, 1] > 0.95
    assert np.abs(table["estimate"] - table["refit"]).max() < 0.5 * np.abs(table["refit"]).max()
    assert (np.diff(table["estimate"].abs()) <= 0).all()
    a, b = refits.before.model.predict(X[[0, -1]])
    assert table["margin"].iloc[0] == pytest.approx(a - b)


def test_the_error_is_of_second_order() -> None:
    """With a tenth of C, the relative error is about a tenth."""
    errors = []
    for C in (1e-4, 1e-5):
        refits = refits_of(fitted("linear", C=C), DATA)
        table = margins_without_queries(refits, X[0], X[-1], most=DATA.n_queries)
        errors.append(np.abs(table["estimate"] - table["refit"]).max() / np.abs(table["refit"]).max())
    assert errors[1] < 0.2 * errors[0]


def test_weights_of_queries_count() -> None:
    weight = np.ones(DATA.n_queries)
    weight[3] = 2.0
    sample_weight = np.repeat(weight, np.diff(PTR))
    model = RankSVM(C=0.01).fit(X, Y, qid=DATA.qid, sample_weight=sample_weight)
    refits = refits_of(model, DATA)
    change = refits.refit([QueryOut(DATA.query_labels[3])]).model.coef_ - refits.before.model.coef_
    effects = effects_of_queries(refits)
    np.testing.assert_allclose(effects.changes[3], change, atol=0.3 * np.abs(change).max())
    assert effects.sizes[3] == pytest.approx(np.linalg.norm(effects.changes[3]))


def test_changes_of_scores_are_those_of_the_weights() -> None:
    refits = refits_of(fitted("nystroem"), DATA)
    effects = effects_of_queries(refits)
    model = refits.before.model
    moved = model.feature_map_.operator(X[:5]).dense() @ effects.changes.T
    np.testing.assert_allclose(effects.of_scores(X[:5]), moved.T, atol=1e-9)


def test_can_be_stopped() -> None:
    refits = refits_of(fitted("linear"), DATA)
    with pytest.raises(StopRequested):
        margins_without_queries(refits, X[0], X[1], callback=lambda progress: True)


def test_refuses_where_no_hessian_is_formed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingError, match="no second derivative"):
        effects_of_queries(refits_of(fitted("linear", loss="hinge"), DATA))
    with pytest.raises(SettingError, match="the Hessian of a RankSVM"):
        effects_of_queries(refits_of(FactorizedRankSVM(rank=2).fit_data(DATA), DATA))
    monkeypatch.setattr(exact, "SMALL", 10)
    with pytest.raises(SettingError, match="is not formed"):
        effects_of_queries(refits_of(fitted("exact"), DATA))


# --- The margin without each query --------------------------------------------------------------------------


def test_the_largest_estimates_are_refitted_as_without_query_does() -> None:
    model = fitted("nystroem")
    table = margins_without_queries(refits_of(model, DATA), X[0], X[-1], most=4)
    assert len(table) == DATA.n_queries
    assert table["refit"].notna().tolist() == [True] * 4 + [False] * (DATA.n_queries - 4)
    assert (np.diff(table["estimate"].abs()) <= 0).all()
    for row in table.head(4).itertuples(index=False):
        a, b = without_query(model, DATA, row.query).predict(X[[0, -1]])
        assert row.after == pytest.approx(a - b, abs=1e-9)
        assert row.refit == pytest.approx(a - b - row.margin, abs=1e-9)
    rest = table.tail(-4)
    np.testing.assert_allclose(rest["after"], rest["margin"] + rest["estimate"])


def test_pairs_are_those_of_each_query() -> None:
    table = margins_without_queries(refits_of(fitted("linear"), DATA), X[0], X[-1], most=1)
    for query, pairs in zip(table["query"], table["pairs"], strict=True):
        grades = Y[DATA.qid == query]
        assert pairs == (grades[:, None] > grades[None, :]).sum()


def test_without_time_one_query_is_refitted() -> None:
    table = margins_without_queries(refits_of(fitted("linear"), DATA), X[0], X[-1], seconds=0.0)
    assert table["refit"].notna().sum() == 1
