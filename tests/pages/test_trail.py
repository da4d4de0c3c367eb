"""The effect of the latest change of a setting, and the way back."""

import pytest
from conftest_pages import Opener, execute
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec
from rankviz.metrics.significance import METHOD, compare
from ui.controls import trail
from ui.controls.widgets import USUAL_METRIC
from ui.defaults import page_hash
from ui.shell import words
from ui.shell.terms import explained

SPEC = RunSpec("synthetic-demo", n_components=50, C=2.0**-4, gamma=2.0**-2)
HIGHER = SPEC.but(C=2.0**-3)


@pytest.fixture
def train(open_page: Opener, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(trail, "ONE_MOVE_SECONDS", 0.0)  # a test changes its controls without a pause
    return open_page("train", m="50", c="-4", g="-2")


def effect(before: RunSpec, now: RunSpec, part: str = "vali", metric: str = USUAL_METRIC) -> str:
    """The difference of two runs that are made anew."""
    old, new = (execute(spec).metrics[part][metric] for spec in (before, now))
    return compare(new, old).effect(metric)


def change(app: AppTest, **values: object) -> None:
    """Set the sidebar's widgets, which are drawn by the router alone."""
    for key, value in values.items():
        app.session_state[key] = value
    app.run()


def effects(app: AppTest) -> list[str]:
    return [one.value for one in (*app.markdown, *app.caption)]


def buttons(app: AppTest) -> list[str]:
    return [one.label for one in app.button if str(one.key).startswith("back-to-")]


def test_a_change_is_compared_with_the_model_before_it_and_one_click_leads_back(train: AppTest) -> None:
    assert words.NO_CHANGE_YET in effects(train)
    assert not buttons(train)
    change(train, c=-3)
    assert words.effect([("C", "2⁻⁴", "2⁻³")], effect(SPEC, HIGHER)) in effects(train)
    (told,) = [one for one in train.markdown if one.value.startswith("**C 2⁻⁴")]
    assert told.help == explained("95 % interval"), "the method of the interval"
    assert METHOD in told.help
    assert buttons(train) == ["C 2⁻⁴"]
    train.button(key="back-to-0").click().run()
    assert train.session_state["c"] == -4
    assert words.effect([("C", "2⁻³", "2⁻⁴")], effect(HIGHER, SPEC)) in effects(train)
    assert buttons(train) == ["C 2⁻³"]


def test_quick_steps_of_one_control_are_one_change(train: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three arrow keys make C eight times as large: the answer is about 8, not about the last step."""
    monkeypatch.setattr(trail, "ONE_MOVE_SECONDS", 3600.0)
    for c in (-3, -2, -1):
        change(train, c=c)
    told = effect(SPEC, SPEC.but(C=2.0**-1))
    assert words.effect([("C", "2⁻⁴", "2⁻¹")], told) in effects(train)
    assert buttons(train) == ["C 2⁻⁴"]
    change(train, m=100)
    assert buttons(train) == ["m 50", "m 50, C 2⁻⁴"], "another control is another change"
    change(train, m=50)
    assert buttons(train) == ["m 100", "C 2⁻⁴"], "the way back ends no change"


def test_the_part_that_is_shown_is_compared(train: AppTest) -> None:
    train.toggle(key="test").set_value(True).run()
    change(train, c=-3)
    assert words.effect([("C", "2⁻⁴", "2⁻³")], effect(SPEC, HIGHER, "test")) in effects(train)


@pytest.mark.parametrize("page", ["train", "what_if", "low_rank"])
def test_the_metric_that_the_page_shows_is_compared(page: str, open_page: Opener) -> None:
    app = open_page(page, m="50", c="-4", g="-2", upto="10", metric="MAP")
    title = "Settings: " if page == "what_if" else ""
    change(app, c=-3)
    assert words.effect([("C", "2⁻⁴", "2⁻³")], effect(SPEC, HIGHER, metric="MAP"), title) in effects(app)
    moved = [execute(spec).metrics["vali"]["MAP"].mean() for spec in (HIGHER.but(seed=1), HIGHER)]
    assert words.OTHER_SEED.format(difference=trail.with_minus(moved[0] - moved[1], "+z.3f")) in effects(app)
    app.selectbox(key="metric").select("P@5").run()
    assert words.effect([("C", "2⁻⁴", "2⁻³")], effect(SPEC, HIGHER, metric="P@5"), title) in effects(app)


def test_another_metric_shows_the_same_model_by_both(train: AppTest) -> None:
    train.selectbox(key="metric").select("P@5").run()
    found = {part: execute(SPEC).metrics[part].mean() for part in ("vali", "test")}
    told = f"**NDCG@10 → P@5:** the same model has NDCG@10 {found['vali']['NDCG@10']:.3f} and P@5 "
    assert f"{told}{found['vali']['P@5']:.3f}." in effects(train)
    assert words.NO_CHANGE_YET not in effects(train)
    train.run()
    assert f"{told}{found['vali']['P@5']:.3f}." in effects(train), "a rerun is no change"
    train.toggle(key="test").set_value(True).run()
    values = f"P@5 {found['vali']['P@5']:.3f} (validation) and P@5 {found['test']['P@5']:.3f} (test)"
    assert f"**validation → test:** the same model has {values}." in effects(train)
    train.toggle(key="test").set_value(False).run()
    assert not any("the same model" in one for one in effects(train)), "the test part is hidden again"
    train.selectbox(key="metric").select("MAP").run()
    change(train, c=-3)
    assert words.effect([("C", "2⁻⁴", "2⁻³")], effect(SPEC, HIGHER, metric="MAP")) in effects(train)
    assert not any("the same model" in one for one in effects(train)), "another model"


def test_another_page_begins_with_the_metric_chosen_last(train: AppTest) -> None:
    train.selectbox(key="metric").select("P@5").run()
    for page, title in (("why", "Why"), ("data", "Data"), ("why", "Why")):
        train._page_hash = page_hash(page)
        train.query_params.pop("metric", None)
        train.run()
        assert train.title[0].value == title
        assert title == "Data" or train.selectbox(key="metric").value == "P@5"


def test_a_kept_model_stays_the_one_to_compare_with(train: AppTest) -> None:
    change(train, c=-3)
    assert train.button(key="keep-comparing").label == words.PIN
    train.button(key="keep-comparing").click().run()
    assert train.button(key="keep-comparing").label == words.UNPIN
    change(train, m=100)
    both = [("m", "50", "100"), ("C", "2⁻⁴", "2⁻³")]
    assert words.effect(both, effect(SPEC, HIGHER.but(n_components=100))) in effects(train)
    assert buttons(train) == ["m 50", "m 50, C 2⁻⁴"]
    train.button(key="keep-comparing").click().run()
    assert words.effect(both[:1], effect(HIGHER, HIGHER.but(n_components=100))) in effects(train)


def test_a_kept_model_outlives_more_changes_than_the_trail_has_places(train: AppTest) -> None:
    change(train, c=-3)
    train.button(key="keep-comparing").click().run()
    for c in range(-2, 2 + trail.MOST):
        change(train, c=c)
    last = SPEC.but(C=2.0 ** (1 + trail.MOST))
    assert words.effect([("C", "2⁻⁴", "2⁵")], effect(SPEC, last)) in effects(train)
    assert len(buttons(train)) == trail.MOST


def test_another_fold_has_other_queries_and_a_model_without_draws_no_other_seed(train: AppTest) -> None:
    change(train, fold="Fold2")
    (told,) = [one for one in train.markdown if words.OTHER_QUERIES in one.value]
    assert not told.help, "there is no interval"
    assert not any(one.startswith(words.OTHER_SEED.format(difference="")[:12]) for one in effects(train))
    change(train, map="linear")
    assert not any(one.startswith(words.OTHER_SEED.format(difference="")[:12]) for one in effects(train))
    assert any("→ linear, C = 2⁻⁴:" in one for one in effects(train))


def test_the_trail_is_short_and_has_each_model_once_and_no_slow_run_with_another_seed(
    train: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trail, "SEED_SECONDS", 0.0)
    for exponent in (-3, -2, -3, -4, -1, 0, 1):
        change(train, c=exponent)
        assert not any(one.startswith(words.OTHER_SEED.format(difference="")[:12]) for one in effects(train))
    assert buttons(train) == ["C 2⁰", "C 2⁻¹", "C 2⁻⁴", "C 2⁻³"]


@pytest.mark.parametrize("page", ["why", "ndcg_vs_m"])
def test_pages_that_train_the_model_tell_the_effect(page: str, open_page: Opener) -> None:
    app = open_page(page, m="50", c="-4", g="-2", upto="50", exact="false")
    change(app, c=-3)
    assert words.effect([("C", "2⁻⁴", "2⁻³")], effect(SPEC, HIGHER)) in effects(app)


def test_a_model_on_other_data_has_a_way_back_while_it_is_the_base(train: AppTest) -> None:
    change(train, c=-3)
    change(train, map="linear")
    assert len(buttons(train)) == 2
    change(train, fold="Fold2", c=-2)
    assert buttons(train) == ["synthetic-demo fold 1"]
    change(train, map="nystroem")
    assert buttons(train) == ["linear, C = 2⁻²"]
