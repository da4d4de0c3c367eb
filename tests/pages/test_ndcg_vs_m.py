"""NDCG against m: levels, folds and seeds, seconds, one query's ranks, distances from the exact model."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest_pages import Opener, figures, words
from test_home_train import decoded, lines

from rankviz import DataError, RunSpec, execute
from rankviz.analysis.reference_runs import ranking_errors
from rankviz.common.settings import SEED
from rankviz.datasets import find_datasets, open_fold
from rankviz.features import FEATURE_MAPS
from rankviz.runs.record import RunRecord
from ui.study import ndcg_vs_m as views
from ui.study.ndcg_vs_m_words import agreement

pytestmark = pytest.mark.usefixtures("every_tab")

SPEC = RunSpec("synthetic-demo", n_components=10, C=2.0**-4, gamma=2.0**-2)
QUICK = {"upto": 10}


def test_levels_and_distances_are_the_library_s(open_page: Opener) -> None:
    app, exact = open_page("ndcg_vs_m", **QUICK), execute(SPEC.exact())
    shown = figures(app)
    assert len(shown) == 5
    level = lines(shown[0])["exact kernel (no m)"]
    assert set(level) == {exact.metrics["vali"]["NDCG@10"].mean()}
    data = open_fold(find_datasets()["synthetic-demo"], 1).vali
    found = ranking_errors(execute(SPEC), exact, data, "vali")
    assert lines(shown[2])["Nyström"][-1] == pytest.approx(found["tau"].median(), abs=0.02)
    assert lines(shown[3])["Nyström"][-1] == pytest.approx(found["overlap"].median(), abs=0.11)
    assert f"median τ with the exact ranking is {lines(shown[2])['Nyström'][-1]:.2f} for Nyström" in words(
        app
    )
    assert "Compared with the exact kernel, Nyström and random Fourier are worse at every m." in words(app)
    assert "the exact kernel is better" in words(app)
    assert app.header[0].value == (
        "Nyström and random Fourier at m = 10 are still worse than the exact kernel (NDCG@10, 40 queries)."
    )


def test_an_answer_from_some_of_the_runs_says_so(open_page: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    available = views.run_available

    def some(runs: list[RunSpec], **how: Any) -> dict[RunSpec, RunRecord]:
        return {spec: run for spec, run in available(runs, **how).items() if spec.get("n_components") != 5}

    monkeypatch.setattr(views, "run_available", some)
    app = open_page("ndcg_vs_m", **QUICK)
    assert app.header[0].value.startswith("So far, Nyström")
    assert "So far, by NDCG@10 with 40 queries, compared with the linear model" in words(app)


def test_all_folds_are_averaged(open_page: Opener) -> None:
    app = open_page("ndcg_vs_m", folds="all folds", exact="false", **QUICK)
    runs = [execute(SPEC.but(fold=f"Fold{k}")) for k in (1, 2, 3)]
    expected = np.mean([r.metrics["vali"]["NDCG@10"].mean() for r in runs])
    assert lines(figures(app)[0])["Nyström"][-1] == pytest.approx(expected, abs=2e-3)
    assert "120 queries of 3 folds" in words(app)
    assert "synthetic-demo 3 folds" in words(app)
    assert "band: lowest to highest of 3 folds" in words(app)
    assert "rankviz definition, 120 queries" in words(app)


def test_against_seconds(open_page: Opener) -> None:
    app = open_page("ndcg_vs_m", xaxis="seconds", seeds=2, **QUICK)
    traces = {trace.get("name"): trace for trace in figures(app)[0]["data"]}
    assert all(0 < x < 60 for x in decoded(traces["Nyström"]["x"]))
    assert "Training took" in words(app)
    assert "seeds 0 to 1" in words(app)


def test_four_panels_with_the_exact_level(open_page: Opener) -> None:
    app = open_page("ndcg_vs_m", figure2="true", **QUICK)
    names = [trace.get("name") for trace in figures(app)[0]["data"]]
    assert names.count("exact kernel (no m)") == 4


def test_the_exact_kernel_can_be_switched_off_and_the_test_part_revealed(open_page: Opener) -> None:
    app = open_page("ndcg_vs_m", exact="false", **QUICK)
    assert len(figures(app)) == 2
    assert "when it is switched on under More" in words(app)
    assert "has 10 at m = 5" in words(app) or "documents of query" in words(app)
    assert "· test" not in words(app)
    app.toggle(key="test").set_value(True).run()
    assert "· test" in words(app)


def test_an_exact_kernel_that_does_not_fit_is_left_out(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(predicted: object) -> None:
        raise DataError("training needs about 9 GB of memory", expected="at most 5 GB", remedy="Take less.")

    monkeypatch.setattr("ui.study.ndcg_vs_m.check_budget", refuse)
    app = open_page("ndcg_vs_m", **QUICK)
    assert "The exact kernel is left out: training needs about 9 GB" in words(app)
    assert len(figures(app)) == 2


def test_query_map_and_length_of_the_bump_chart(open_page: Opener) -> None:
    data = open_fold(find_datasets()["synthetic-demo"], 1).vali
    place = int(np.diff(data.ptr).argmax())
    query, n = int(data.query_ids[place]), int(np.diff(data.ptr).max())
    app = open_page("ndcg_vs_m", query=query, documents="all", map="random Fourier", **QUICK)
    assert f"Query {query}, {n} documents, random Fourier" in words(app)
    markers = [t for t in figures(app)[1]["data"] if t.get("mode") == "markers"]
    assert sum(len(decoded(t["x"])) for t in markers) == 3 * n
    app = open_page("ndcg_vs_m", query=10**9, **QUICK)
    assert app.selectbox(key="query").value is None


def test_too_few_queries_are_said(open_page: Opener, data_set: Callable[[str], None]) -> None:
    data_set("tiny")
    app = open_page("ndcg_vs_m", data="edge", **QUICK)
    assert "2 queries are too few to compare models (a 95 % interval needs at least 6)" in words(app)


def errors_at(m: int, taus: dict[str, list[float]]) -> pd.DataFrame:
    rows = [(name, m, "Fold1", q, tau) for name, values in taus.items() for q, tau in enumerate(values)]
    return pd.DataFrame(rows, columns=["map", "m", "fold", "query", "tau"])


def test_agreement_claims_a_difference_only_where_queries_support_it() -> None:
    nearer = [0.9 + place / 100 for place in (-3, -2, -1, 0, 0, 1, 2, 3)]
    told = agreement(errors_at(5, {"nystroem": nearer, "fourier": [0.5] * 8}), 5)
    assert told.startswith(
        "at m = 5 the median τ with the exact ranking is 0.90 for Nyström, 0.50 for random Fourier; "
    )
    assert "Nyström is closer than random Fourier by 0.400 mean τ" in told
    even = agreement(errors_at(5, {"nystroem": [0.9, 0.4] * 4, "fourier": [0.4, 0.9] * 4}), 5)
    assert "no significant difference between Nyström and random Fourier, 8 queries" in even
    few = agreement(errors_at(5, {"nystroem": [0.9] * 3, "fourier": [0.5] * 3}), 5)
    assert "no significant difference between Nyström and random Fourier, 3 queries" in few


def test_agreement_of_little() -> None:
    one = agreement(errors_at(5, {"nystroem": [0.9996] * 8}), 5)
    assert one == "at m = 5 the median τ with the exact ranking is 0.999 for Nyström"
    assert "no query to compare" in agreement(errors_at(5, {"nystroem": [np.nan]}), 5)
    assert "no query to compare" in agreement(errors_at(5, {"nystroem": [0.5]}), 10)


def test_a_third_approximation_has_a_curve_and_is_told_about(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    # one that draws nothing: it is told no seed
    kind = FEATURE_MAPS["nystroem"]
    settings = tuple(setting for setting in kind.settings if setting is not SEED)
    third = replace(kind, label="third", in_a_sentence="the third map", settings=settings)
    monkeypatch.setitem(FEATURE_MAPS, "third", third)
    app = open_page("ndcg_vs_m", seeds=2, map="third", m=10, **QUICK)
    shown = figures(app)
    assert {"Nyström", "random Fourier", "third"} <= set(lines(shown[0]))
    assert lines(shown[0])["third"][-1] == pytest.approx(
        execute(SPEC).metrics["vali"]["NDCG@10"].mean(), abs=2e-3
    )
    assert "Nyström, random Fourier and third are worse at every m" in words(app)
    assert "Nyström, random Fourier and third, m = 5 to 10" in words(app)
    assert "seeds 0 to 1" in words(app)
    assert re.search(r"median τ with the exact ranking is [^;]*, 0\.\d+ for third", words(app))
    assert "Nyström and third: the best F̃ is never below F" in words(app)
    assert "third, the exact ranking at the right end" in words(app)
    assert {"Nyström", "random Fourier", "third"} == set(lines(shown[4]))


def test_a_map_that_does_not_take_the_kernel_is_left_out(open_page: Opener) -> None:
    app = open_page("ndcg_vs_m", kernel="polynomial", exact="false", **QUICK)
    assert "feature_map='fourier' needs a kernel" in words(app)
    assert list(lines(figures(app)[0])) == ["linear (no m)", "Nyström"]
    assert "Nyström, m = 5 to 10, polynomial kernel" in words(app)
    assert "random Fourier is" not in words(app)


def test_a_solver_that_cannot_train_the_exact_kernel_leaves_it_out(open_page: Opener) -> None:
    app = open_page("ndcg_vs_m", solver="L-BFGS (SciPy)", **QUICK)
    assert "The exact kernel is left out: solver='lbfgs' needs weights of features" in words(app)
    assert list(lines(figures(app)[0])) == ["linear (no m)", "Nyström", "random Fourier"]


def test_another_method_is_a_level_with_its_m(open_page: Opener) -> None:
    app = open_page("ndcg_vs_m", m=10, method="factorised RankSVM", exact="false", **QUICK)
    record = execute(SPEC.factorized(5, SPEC.C))
    level = lines(figures(app)[0])["factorised RankSVM, 5 factors, m = 10"]
    assert set(level) == {record.metrics["vali"]["NDCG@10"].mean()}
    assert "factorised RankSVM is" in words(app)
    assert [t["name"] for t in figures(app)[0]["data"] if t.get("name", "").startswith("Ny")] == ["Nyström"]
