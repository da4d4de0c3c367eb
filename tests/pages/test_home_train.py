"""Home, Train and NDCG against m: what they show is what the library computes."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest_pages import Opener, decoded, execute, figures, words

from rankviz import RunSpec
from rankviz.metrics.significance import compare
from rankviz.plots import metric_vs_m, model_comparison
from ui.learn import home
from ui.study.ndcg_vs_m_words import clause, in_words, together
from ui.work.folds import fold_of

pytestmark = pytest.mark.usefixtures("every_tab")

SPEC = RunSpec("synthetic-demo", n_components=50, C=2.0**-4, gamma=2.0**-2)


def lines(figure: dict[str, object]) -> dict[str, list[float]]:
    return {trace["name"]: decoded(trace["y"]) for trace in figure["data"] if trace.get("name")}


def test_train_shows_what_the_library_computes_and_a_typical_query(
    open_page: Opener,
) -> None:
    app = open_page("train", m=50)
    linear, kernel = execute(SPEC.linear(2.0**-10)), execute(SPEC)
    table = model_comparison.curve_data([linear, kernel], "vali")
    shown = lines(figures(app)[0])
    for label, rows in table.groupby("label"):
        assert shown[label] == pytest.approx(rows["value"].tolist())
    assert app.metric[0].value == f"{kernel.metrics['vali']['NDCG@10'].mean():.3f}"
    apart = kernel.metrics["vali"]["NDCG@10"] - linear.metrics["vali"]["NDCG@10"]
    usual = int((apart - apart.mean()).abs().idxmin())
    assert f"Query {usual} has NDCG@10" in words(app)
    short = (np.diff(fold_of(SPEC).vali.ptr) < 10).sum()
    assert 0 < short <= (kernel.metrics["vali"]["NDCG@10"] == 0).sum()
    said = f"NDCG@10 is 0 for {short} of 40 queries, whatever the model"  # the curves seem to blame the model
    assert any(one.value.startswith(said) for one in app.caption)


def test_home_shows_what_the_library_computes_and_how_many_features_are_enough(open_page: Opener) -> None:
    app = open_page(None, m=50)
    runs = [execute(SPEC.but(n_components=m)) for m in (5, 500)]
    values = metric_vs_m.metric_data(runs, "vali")["value"].tolist()
    shown = lines(figures(app)[0])["Nyström"]
    assert [shown[0], shown[-1]] == pytest.approx(values)
    heading = app.header[1].value
    by_m = {m: execute(SPEC.but(n_components=m)).metrics["vali"]["NDCG@10"] for m in (50, 100, 200, 500)}
    apart = {m: compare(values, by_m[500]).distinguishable for m, values in by_m.items()}
    assert heading.startswith("Nyström from m = ")
    assert "on is not significantly different from m = 500" in heading
    first = int(heading.split("m = ")[1].split()[0])
    assert not any(different for m, different in apart.items() if m >= first)
    assert heading.endswith("(NDCG@10, 40 queries).")


def test_home_makes_its_figure_once_for_equal_settings(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int | None] = []
    own = metric_vs_m.metric_figure

    def count(table: pd.DataFrame, marked: int | None) -> object:
        made.append(marked)
        return own(table, marked)

    monkeypatch.setattr(metric_vs_m, "metric_figure", count)
    home._told.clear()
    first, again = (open_page(None, m=50) for _ in range(2))
    assert made == [50]
    assert (figures(first), words(first)) == (figures(again), words(again))
    other, weaker = open_page(None, m=100), open_page(None, m=50, c=-6)
    assert made == [50, 100, 50]
    for app in (other, weaker):
        assert figures(app) != figures(first)


def test_ndcg_against_m_shows_means_and_ranges_over_seeds(open_page: Opener) -> None:
    app = open_page("ndcg_vs_m", m=50, upto=10, seeds=2, metric="MAP")
    runs = [execute(SPEC.but(n_components=10, seed=seed)) for seed in (0, 1)]
    expected = np.mean([r.metrics["vali"]["MAP"].mean() for r in runs])
    assert lines(figures(app)[0])["Nyström"][-1] == pytest.approx(expected)


def test_the_linear_model_is_compared_with_nothing(open_page: Opener) -> None:
    app = open_page("train", map="linear")
    assert list(lines(figures(app)[0])) == ["linear"]
    assert "This is the linear model (C = 2⁻⁴) itself." in words(app)
    assert "Other models stand beside the linear one with C = 2⁻¹⁰." in words(app)


def test_the_definition_is_said_and_the_test_part_hidden_until_revealed(open_page: Opener) -> None:
    app = open_page("train", m=10)
    assert "rankviz definition, 40 queries" in words(app)
    assert "without a relevant document, counted as 0" in words(app)
    assert "· test" not in words(app)
    app.toggle(key="test").set_value(True).run()
    assert "· test" in words(app)


def test_precision_can_be_drawn_instead(open_page: Opener) -> None:
    app = open_page("train", m=10, metric="P@5")
    record = execute(SPEC.but(n_components=10))
    expected = [record.metrics["vali"][f"P@{k}"].mean() for k in range(1, 11)]
    assert lines(figures(app)[0])["Nyström, m = 10"] == pytest.approx(expected)
    assert " P@5 " in app.header[0].value
    assert {"P@5", "NDCG@10"} <= {one.label for one in app.metric}
    assert not any(" is 0 for " in one.value for one in app.caption), "P@5 falls for no such reason"


def test_data_folders_can_be_named_on_the_command_line(
    open_page: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fold = tmp_path / "roots" / "mine" / "Fold1"
    fold.mkdir(parents=True)
    for number, name in enumerate(("train", "vali", "test")):
        lines_of_query = [f"{k % 2} qid:{number} 1:0.{k}" for k in range(4)]
        (fold / f"{name}.txt").write_text("\n".join(lines_of_query))
    monkeypatch.setattr("sys.argv", ["app.py", "--data-dir", str(tmp_path / "roots")])
    app = open_page("train", data="mine", map="linear")
    assert app.session_state["data"] == "mine"
    assert figures(app)


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ({5: 0, 10: 0}, "is not significantly different at any m"),
        ({5: 1, 10: 1}, "is better at every m"),
        (
            {5: -1, 10: -1, 50: 0, 100: 1},
            "is worse at m = 5 to 10, not significantly different at m = 50, better at ",
        ),
        ({100: 1, 500: 0}, "is better at m = 100, not significantly different at m = 500"),
        ({}, "has no run yet"),
    ],
)
def test_readings_say_what_holds_at_every_m(verdicts: dict[int, int], words: str) -> None:
    assert words in in_words(verdicts)


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (
            {5: -1, 10: -1, 50: 0, 500: 0},
            "Nyström from m = 50 on is not significantly different from the exact kernel",
        ),
        (
            {5: 0, 10: -1, 50: 0, 500: 0},
            "Nyström from m = 50 on is not significantly different from the exact kernel",
        ),
        ({5: 0, 10: 0}, "Nyström from m = 5 on is not significantly different from the exact kernel"),
        ({5: -1, 10: 0}, "Nyström at m = 10 is not significantly different from the exact kernel"),
        ({5: -1, 10: -1}, "Nyström at m = 10 is still worse than the exact kernel"),
        ({5: 0, 10: 1}, "Nyström at m = 10 is better than the exact kernel"),
    ],
)
def test_the_heading_says_from_which_m_on_there_is_no_difference(
    verdicts: dict[int, int], words: str
) -> None:
    assert together({clause(verdicts, "the exact kernel"): ["Nyström"]}) == words


def test_maps_of_which_the_same_holds_share_a_clause() -> None:
    one, other = (clause({5: -1, m: 0, 500: 0}, "the exact kernel") for m in (50, 200))
    assert together({one: ["Nyström"], other: ["random Fourier"]}) == (
        "Nyström from m = 50 on and random Fourier from m = 200 on are not significantly different from the "
        "exact kernel"
    )


def test_home_says_so_far_while_runs_are_missing(open_page: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    every = home.run_or_submit
    monkeypatch.setattr(home, "run_or_submit", lambda specs, title: [*every(specs, title=title)[:-1], None])
    assert open_page(None, m=50).header[1].value.startswith("So far, ")
