"""A solver that exists nowhere in the project: it trains what it can, refuses the rest, and has its name."""

import pytest
from conftest_solvers import DATA
from strangers import GradientDescent

from rankviz import Fold, RankSVM, RunSpec, execute
from rankviz.common.errors import SettingError
from rankviz.common.settings import Setting, Typed, Whole
from rankviz.learning.losses import LOSSES
from rankviz.learning.objective import Status, TraceRow
from rankviz.learning.solvers import BOUNDED, CONVEX, SMOOTH, SOLVERS, Need, SolverChoice
from rankviz.runs.description import describe
from rankviz.runs.estimate import LAPTOP, estimate

EVEN = Need("slopes that vanish beyond a margin", lambda loss: loss.label in ("squared hinge", "Huber"))
PATIENCE = Setting(
    name="patience",
    symbol="patience",
    label="Patience",
    domain=Whole(),
    default=3,
    help="A setting that only this solver has.",
    key="patience",
    offer=Typed(1, 9),
    how=True,
    parameter=None,
)


@pytest.fixture(autouse=True)
def entered(monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry, where the project's own solvers are; and one that asks for more."""

    def made(settings: object) -> GradientDescent:
        return GradientDescent(settings.tol, settings.at_most(20_000))

    monkeypatch.setitem(
        SOLVERS, "descent", SolverChoice("gradient descent", made, (CONVEX, SMOOTH), settings=(PATIENCE,))
    )
    monkeypatch.setitem(
        SOLVERS, "picky", SolverChoice("picky descent", made, (CONVEX, SMOOTH, BOUNDED, EVEN))
    )


@pytest.mark.parametrize("feature_map", ["linear", "nystroem"])
@pytest.mark.parametrize("loss", LOSSES)
def test_it_trains_every_loss_it_can(loss: str, feature_map: str) -> None:
    settings = {"n_components": 12, "gamma": 0.3, "C": 0.05, "loss": loss}
    svm = RankSVM(feature_map, solver="descent", tol=1e-8, **settings)
    if not LOSSES[loss].smooth:
        with pytest.raises(
            SettingError, match=r"'descent' needs a loss with a derivative everywhere, .*hinge"
        ):
            svm.fit_data(DATA)
        return
    usual = RankSVM(feature_map, tol=1e-12, **settings).fit_data(DATA)
    assert svm.fit_data(DATA).status_ is Status.CERTIFIED
    assert svm.objective_ == pytest.approx(usual.objective_, rel=1e-7)
    assert list(svm.trace_.columns) == list(TraceRow.__annotations__)
    assert svm.gap_ <= 1e-8


def test_its_own_needs_are_told() -> None:
    able = {name for name, loss in LOSSES.items() if not SOLVERS["picky"].lacks(loss)}
    assert able == {"squared_hinge", "huber"}
    with pytest.raises(SettingError, match="slopes that vanish beyond a margin, unlike logistic"):
        RankSVM(loss="logistic", solver="picky").fit_data(DATA)
    RankSVM(loss="huber", solver="picky").fit_data(DATA)


def test_runs_have_its_settings_and_captions_its_label(fold: Fold) -> None:
    spec = RunSpec("demo", feature_map="linear", C=0.01, solver="descent", patience=5)
    assert RunSpec.from_json(spec.to_json()) == spec
    assert "preconditioner" not in spec
    assert describe(spec).words("solver", "patience") == ("gradient descent", "patience = 5")
    assert "patience" not in spec.but(solver="newton")
    assert spec.problem == spec.but(solver="newton").problem
    with pytest.raises(SettingError, match="patience=0 must be a whole number of at least 1"):
        spec.but(patience=0)
    record = execute(spec, fold=fold)
    assert record.status == Status.CERTIFIED.value
    assert record.objective == pytest.approx(
        execute(spec.but(solver="newton"), fold=fold).objective, rel=1e-5
    )
    with pytest.raises(SettingError, match="choose solver='newton', which can train it"):
        execute(spec.but(loss="hinge"), fold=fold)


def test_its_cost_is_a_guess_that_says_so(fold: Fold) -> None:
    spec = RunSpec("demo", feature_map="linear", solver="descent")
    predicted, usual = estimate(spec, fold, LAPTOP), estimate(spec.but(solver="newton"), fold, LAPTOP)
    assert predicted.seconds > 0
    assert "a guess" in str(predicted)
    assert "a guess" not in str(usual)
