"""Polynomial kernels too large for double precision: a sentence, or an objective that its own scores have."""

import warnings

import numpy as np
import pytest

from rankviz import RankSVM
from rankviz.common.errors import SettingError
from rankviz.datasets import make_data
from rankviz.features import exact
from rankviz.learning import training
from rankviz.learning.losses import LOSSES
from rankviz.learning.sorted_risk import risk_of
from rankviz.shards import Here

DATA = make_data(n_queries=12, documents_per_query=(10, 10), n_features=10, seed=0)
SCALES = [(3, 1e2), (5, 1e2), (9, 1e2), (12, 1e2), (20, 10.0), (30, 10.0)]
"""Degrees and γ: kernel values from 1e8 to 1e55."""


def polynomial(feature_map: str, degree: int, gamma: float, **settings: object) -> RankSVM:
    own = {"kernel": "polynomial", "degree": degree, "gamma": gamma, "C": 1.0}
    return RankSVM(feature_map, 40, **own | settings)


def of_its_scores(model: RankSVM) -> float:
    """½‖w‖² + C·risk from what the model predicts."""
    w, features = model.coef_, model.feature_map_
    length = w @ (features.operator(DATA.X).base @ w) if features.in_kernel_space else w @ w
    risk = risk_of(DATA.y, DATA.ptr, LOSSES["squared_hinge"])
    return float(0.5 * length + model.C * risk.at(model.predict(DATA.X)).value)


@pytest.mark.parametrize(("degree", "gamma"), SCALES)
@pytest.mark.parametrize("where", ["nystroem", "exact", "exact in kernel space"])
def test_the_objective_is_that_of_the_scores_or_refused(
    monkeypatch: pytest.MonkeyPatch, where: str, degree: int, gamma: float
) -> None:
    if where == "exact in kernel space":
        monkeypatch.setattr(exact, "SMALL", 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of solvers that end early, which is not silent either
        try:
            model = polynomial(where.split()[0], degree, gamma).fit_data(DATA)
        except SettingError as error:
            for named in (f"gamma={gamma:g}", f"degree={degree}", "coef0=1", "scale the features"):
                assert named in str(error)  # noqa: PT017
            return
    assert model.objective_ == pytest.approx(of_its_scores(model), rel=1e-3)


def test_coefficients_of_documents_are_refused_at_1e26(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "SMALL", 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(SettingError, match="too large for double precision: the solver ends at"):
            polynomial("exact", 9, 1e2).fit_data(DATA)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
@pytest.mark.parametrize("kernel", ["polynomial", "linear"])
def test_kernels_of_usual_size_are_trained_as_ever(
    monkeypatch: pytest.MonkeyPatch, kernel: str, loss: str
) -> None:
    """Also by continuation, whose last objective is not that of the loss it begins with."""
    monkeypatch.setattr(exact, "SMALL", 5)
    model = RankSVM("exact", kernel=kernel, degree=2, C=0.01, loss=loss, tol=1e-4).fit_data(DATA)
    assert model.status_.converged


def test_what_is_refused_is_also_refused_in_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every map is looked at, also where documents are apart."""
    monkeypatch.setattr(training, "MOST_ROUNDING", -1.0)
    for fit in (
        lambda: polynomial("nystroem", 2, 0.1).fit_data(DATA),
        lambda: polynomial("exact", 2, 0.1).fit_data(DATA),
        lambda: polynomial("nystroem", 2, 0.1).fit_in_shards(DATA, Here(2)),
    ):
        with pytest.raises(SettingError, match=r"gamma=0.1, degree=2, coef0=1"):
            fit()
    RankSVM("nystroem", 40).fit_data(DATA)  # κ ≤ 1: not looked at
    assert np.isfinite(polynomial("linear", 3, 1.0).set_params(kernel="rbf").fit_data(DATA).objective_)
