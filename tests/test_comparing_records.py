"""From records of trained models to every table and figure of a comparison."""

from __future__ import annotations

from itertools import product

import pytest

from rankviz import RunRecord, RunSpec, execute_all
from rankviz.analysis import slices
from rankviz.analysis.chosen import best_of
from rankviz.analysis.comparison import Comparison, compare
from rankviz.analysis.contestants import contestants
from rankviz.analysis.cutoffs import cutoffs
from rankviz.analysis.front import front
from rankviz.analysis.tables import as_latex, as_markdown, comparison_csv, sheet
from rankviz.datasets import Fold, make_data
from rankviz.datasets.parts import cyclic_fold
from rankviz.plots import compared_deltas, compared_metrics, compared_slices, metric_curve, time_and_quality

NYSTROEM = RunSpec("made", n_components=10, gamma=0.5)


@pytest.fixture(scope="module")
def folds() -> dict[str, Fold]:
    data = make_data(n_queries=30, documents_per_query=(8, 16), seed=3)
    return {f"Fold{number}": cyclic_fold(data, number) for number in (1, 2)}


@pytest.fixture(scope="module")
def records(folds: dict[str, Fold]) -> list[RunRecord]:
    models = [NYSTROEM.linear(1.0), *(NYSTROEM.but(feature_map=m, seed=s) for m, s in product(MAPS, (0, 1)))]
    return [
        record
        for name, fold in folds.items()
        for _, record in execute_all([spec.but(fold=name) for spec in models], fold=fold)
    ]


MAPS = ("nystroem", "fourier")


@pytest.fixture(scope="module")
def found(records: list[RunRecord]) -> Comparison:
    return compare(contestants(records), ["NDCG@5", "MAP"], "linear")


def test_test_parts_of_folds_stand_beside_one_another(found: Comparison, folds: dict[str, Fold]) -> None:
    assert [one.label for one in found.matched.contestants] == [
        "linear",
        "Nyström, m = 10",
        "random Fourier, m = 10",
    ]
    assert len(found.matched.queries) == sum(fold.test.n_queries for fold in folds.values())
    assert found.standings["seeds"].tolist() == [1, 2, 2] * 2
    assert found.notes == ()


def test_training_parts_share_queries_which_count_once(
    records: list[RunRecord], folds: dict[str, Fold]
) -> None:
    found = compare(contestants(records, "train"), ["MAP"], "linear")
    queries = {query for fold in folds.values() for query in fold.train.query_labels}
    assert set(found.standings["queries"]) == {len(queries)}
    assert sum(fold.train.n_queries for fold in folds.values()) > len(queries)
    assert "each counts once" in found.notes[0]


def test_all_that_is_made_of_it(found: Comparison, folds: dict[str, Fold]) -> None:
    matched = found.matched
    facts = slices.query_facts([fold.test for fold in folds.values()])
    assert set(facts.index) == set(matched.queries)
    for slicing in (
        slices.by_length(facts, 2),
        slices.by_relevant(facts, 2),
        slices.by_difficulty(matched, "MAP", n=2),
    ):
        table = compared_slices.data(matched, "MAP", "linear", slicing)
        assert table.groupby("label")["queries"].sum().tolist() == [len(matched.queries)] * 2
        assert compared_slices.figure(table, "MAP").data
    assert compared_metrics.figure(compared_metrics.data(found)).data
    assert compared_deltas.figure(compared_deltas.data(found)).data
    assert set(cutoffs(matched)["k"]) == set(range(1, 11))
    assert metric_curve.figure(cutoffs(matched)).data
    assert time_and_quality.figure(time_and_quality.data(front(matched, "MAP")), "MAP").data
    assert best_of(matched, "MAP", "linear").sentence().startswith("Of 2 candidates, ")
    printed = sheet(found, "test")
    for text in (as_latex(printed), as_markdown(printed), comparison_csv(found)):
        assert "random Fourier, m = 10" in text
    assert "(made, 2 folds, test part)" in printed.legend
