"""Test that cache keys are complete: folds, explanations, comparisons, outcomes, looks."""

import os
import re
from collections.abc import Callable
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from conftest_pages import Opener, ordinary, shown, words
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec, execute
from rankviz.datasets import NORMALISATIONS, find_datasets, normalise, open_fold
from rankviz.metrics.significance import compare
from ui.compare.chosen_runs import ChosenRuns, opened
from ui.model.what_if_models import memory
from ui.study.ndcg_vs_m_words import compared, per_query
from ui.work.folds import FOLDS, fold_of, normalised
from ui.work.runs import remember

SECONDS = re.compile(r"[\d.]+ s\b")
"""Estimates, which go by what the server has measured."""
QUERY_ZSCORE = NORMALISATIONS["query_zscore"].label


def ids(*places: int) -> str:
    """Queries of the small validation part as an address has them, by their places."""
    return ".".join(str(ordinary(101).query_ids[place]) for place in places)


SMALL: dict[str, object] = {"data": "edge", "m": 10}
DRAWN = SMALL | {"errupto": 10, "draws": 1}
ROUGH = SMALL | {"loss": "hinge", "picked": "1.2.3"}
LINKS: dict[str, list[dict[str, object]]] = {
    "what_if": [
        SMALL | more
        for more in (
            {},
            {"norm": QUERY_ZSCORE},
            {"query": 3},
            {"changes": "o_t0_3"},
            {"changes": "o_t0_3", "part": "validation"},
        )
    ],
    "why": [
        SMALL | {"query": ids(1), "above": f"document {above}", "below": "document 4"} | more
        for above, more in (
            (1, {}),
            (2, {}),
            (1, {"c": 2}),
            (1, {"norm": QUERY_ZSCORE}),
            (1, {"of": "random Fourier"}),
        )
    ]
    + [SMALL, SMALL | {"query": ids(2)}, SMALL | {"test": "true"}],
    "side_by_side": [
        SMALL | more
        for more in (
            {},
            {"metric": "MAP"},
            {"test": "true"},
            {"right": "exact kernel"},
            {"picked": ids(3, 4)},
            {"c": 2},
        )
    ],
    "ndcg_vs_m": [
        {"data": "edge", "upto": 10, "seeds": 2, "exact": "true"} | more
        for more in ({}, {"metric": "MAP"}, {"test": "true"}, {"clin": 2}, {"g": 1})
    ],
    "kernel_approximation": [
        DRAWN | more
        for more in (
            {},
            {"seed": 3},
            {"norm": QUERY_ZSCORE},
            {"g": 1},
            {"kernel": "Laplacian"},
            {"errnorm": "spectral"},
            {"view": "Spectrum"},
            {"view": "Residuals of one query"},
            {"view": "Residuals of one query", "kq": 105},
        )
    ],
    "low_rank": [
        ROUGH | more
        for more in (
            {},
            {"matrix": "symmetrised"},
            {"c": 2},
            {"picked": "4.5.6"},
            {"view": "One query"},
            {"view": "One query", "k": 3},
        )
    ],
    "convergence": [{"data": "edge", "m": 10, "view": "Play"} | more for more in ({}, {"c": 2}, {"pq": 5})],
}
"""Links of pages that differ in one thing each."""
SPEC = RunSpec("synthetic-demo", n_components=10)


@pytest.mark.parametrize("order", [*permutations(NORMALISATIONS, 2)])
def test_a_fold_is_kept_by_its_normalisation(order: tuple[str, ...]) -> None:
    read = open_fold(find_datasets()["synthetic-demo"], "Fold1")
    for name in (*order, *order):
        assert np.array_equal(normalised(SPEC.but(normalisation=name)).train.X, normalise(read, name).train.X)
    assert np.array_equal(fold_of(SPEC).train.X, read.train.X)
    FOLDS.clear()


def test_a_fold_is_kept_by_the_time_of_its_files(data_set: Callable[..., None], tmp_path: Path) -> None:
    data_set("small", copied=True)
    spec, path = SPEC.but(dataset="edge"), tmp_path / "data" / "edge" / "Fold1" / "train.txt"
    before, text = fold_of(spec).digest, path.read_text()
    path.write_text(("0" if text[0] == "1" else "1") + text[1:])
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 10**9))
    assert fold_of(spec).digest != before


def everything(app: AppTest) -> str:
    tables = [frame.value.to_json() for frame in app.dataframe]
    return SECONDS.sub("s", "\n".join([words(app), *map(str, shown(app)), *tables]))


@pytest.mark.parametrize("page", LINKS)
@pytest.mark.usefixtures("every_tab")
def test_a_page_shows_the_same_whatever_was_looked_at_before(
    page: str, open_page: Opener, small_set: None
) -> None:
    """A key that lacks something gives one link what another one was shown."""
    alone = []
    for link in LINKS[page]:
        st.cache_resource.clear()
        st.cache_data.clear()
        memory.cache_clear()
        FOLDS.clear()
        alone.append(everything(open_page(page, **link)))
    alike = [link for place, link in enumerate(LINKS[page]) if alone[place] in alone[:place]]
    assert not alike, "each link shows something else"
    for link, found in zip(LINKS[page], alone, strict=True):
        assert everything(open_page(page, **link)) == found, link


def test_comparisons_are_kept_by_runs_part_and_metric() -> None:
    one, other = [execute(SPEC)], [execute(SPEC.linear(2.0**-10))]
    for runs, level in ((one, other), (other, one)):
        for part, metric in product(("vali", "test"), ("MAP", "NDCG@10")):
            expected = compare(per_query(runs, part, metric), per_query(level, part, metric))
            assert compared(runs, level, part, metric).difference == expected.difference


def test_models_of_a_comparison_are_kept_by_runs_and_part() -> None:
    records = [execute(SPEC), execute(SPEC.linear(2.0**-10))]
    for record, part in product(records, ("vali", "test")):
        remember(record)
        (run,) = opened(ChosenRuns((record.spec,)), part)[0].runs
        assert run.spec == record.spec
        assert run.per_query["MAP"].tolist() == record.metrics[part]["MAP"].tolist()


def test_only_looks_at_the_test_part_are_counted(open_page: Opener) -> None:
    app = open_page("train", m=10)
    for m in (5, 25):
        app.session_state["m"] = m
        app.run()
        assert "test results shown" not in words(app)
    app.toggle(key="test").set_value(True).run()
    assert "test results shown: 1 run" in words(app)
    app.toggle(key="test").set_value(False).run()
    app.session_state["m"] = 10
    app.run()
    assert "test results shown: 1 run" in words(app)
    app.toggle(key="test").set_value(True).run()
    assert "test results shown: 2 runs" in words(app)
    app.toggle(key="test").set_value(False).run()
    app.toggle(key="test").set_value(True).run()
    assert "test results shown: 2 runs" in words(app)
