"""Metrics against plain loops written straight from the definitions, and against the official scripts."""

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from naive_metrics import slow_evaluate, slow_measures_by_ties, slow_ties

from rankviz.common.errors import DataError, SettingError
from rankviz.datasets.group_files import read_scores
from rankviz.datasets.letor import read_letor
from rankviz.datasets.types import RankingData
from rankviz.metrics import DEFINITIONS, Definition, evaluate
from rankviz.metrics.definitions import COMPARED
from rankviz.metrics.evaluation import COLUMNS, compared, moved_in_words, ties_in_words
from rankviz.metrics.lists import JOINED, ranked

# --- data -------------------------------------------------------------------------------------------------


def make(y: list[int], qid: list[int] | None = None, name: str = "") -> RankingData:
    ids = [1] * len(y) if qid is None else qid
    return RankingData.from_arrays(np.zeros((len(y), 1)), y, ids, regroup=True, name=name)


def random_case(seed: int) -> tuple[np.ndarray, RankingData]:
    """Queries of 1 to 40 documents standing apart in the file, many ties, one to five grades, some empty."""
    rng = np.random.default_rng(seed)
    n_queries = int(rng.integers(1, 25))
    sizes = rng.integers(1, 1 + rng.choice([1, 4, 12, 40]), n_queries)
    qid = np.repeat(rng.permutation(1000)[:n_queries], sizes)
    y = rng.integers(0, rng.choice([1, 2, 3, 5]), sizes.sum())
    y[np.isin(qid, qid[rng.random(len(qid)) < 0.02])] = 0
    order = rng.permutation(len(qid)) if seed % 3 == 0 else np.arange(len(qid))
    scores = rng.integers(-3, 4, len(qid)) / 4.0 if seed % 2 else rng.normal(size=len(qid))
    return scores, make(list(y[order]), list(qid[order]))


# --- tests ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(DEFINITIONS))
def test_equals_the_plain_loops_on_random_cases(name: str) -> None:
    largest = DEFINITIONS[name].largest_k or 30
    for seed in range(30):
        scores, data = random_case(seed)
        ranks = sorted({1, 2, largest, 1 + seed % largest})
        got = evaluate(scores, data, name, ranks, ties="order")
        expected = slow_evaluate(scores, data, name, ranks)
        assert list(got.per_query.columns) == list(expected.columns)
        pd.testing.assert_frame_equal(
            got.per_query, expected, rtol=0, atol=1e-12, check_names=False, check_index_type=False
        )
        np.testing.assert_allclose(got.mean, expected.mean(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", list(DEFINITIONS))
def test_equal_scores_count_as_all_their_orders_do(name: str) -> None:
    """A query without ties is in the same block, and does not change."""
    rng, ranks, others = np.random.default_rng(0), [1, 2, 3, 5, 10], [99] * 7
    alone = slow_evaluate(np.arange(7.0), make(list(range(7)), others), name, ranks)
    for seed in range(20):
        n = int(rng.integers(1, 8))
        scores, y = rng.integers(0, 3, n).astype(float), rng.integers(0, 4, n)
        if seed % 5 == 0:
            scores[:] = 0
        data = make([*y, *range(7)], [seed] * n + others)
        for rule, expected in slow_ties(scores.tolist(), y.tolist(), name, ranks).items():
            got = evaluate([*scores, *range(7)], data, name, ranks, ties=rule).per_query
            np.testing.assert_allclose(got.loc[seed, expected.index], expected, rtol=0, atol=1e-12)
            np.testing.assert_allclose(got.loc[99, alone.columns], alone.loc[99], rtol=0, atol=1e-12)


def test_other_measures_equal_the_plain_loops_by_every_rule_for_equal_scores() -> None:
    """Lists with and without ties are in the same block; a query of each part has its own id."""
    rng = np.random.default_rng(1)
    scores, y, qid, expected = [], [], [], []
    for query in range(150):
        n = int(rng.integers(1, 8))
        own, grades = rng.integers(0, rng.choice([1, 3, 90]), n).astype(float), rng.integers(0, 6, n)
        grades[rng.random(n) < 0.4] = 0
        expected.append(slow_measures_by_ties(own.tolist(), grades.tolist()))
        scores, y, qid = [*scores, *own], [*y, *grades], [*qid, *[query] * n]
    for rule in ("order", "mean", "worst", "best"):
        rows = pd.DataFrame([one[rule] for one in expected])
        got = evaluate(scores, y, qid=qid, ties=rule, measures=list(rows)).per_query
        np.testing.assert_allclose(got[rows.columns], rows, rtol=0, atol=1e-12)
        runs = evaluate(scores, y, qid=qid, ties=rule, measures=COLUMNS).per_query
        assert ((runs >= 0) & (runs <= 1)).all(axis=None), "not even by rounding: records are refused then"


def test_a_definition_has_a_rule_for_equal_scores() -> None:
    rules = {name: definition.ties for name, definition in DEFINITIONS.items()}
    assert rules == dict.fromkeys(DEFINITIONS, "order") | dict.fromkeys(
        ("textbook", "sklearn", "rankviz"), "mean"
    )
    data = make([1, 0])
    assert evaluate([0, 0], data, "textbook", [1]).mean["P@1"] == 0.5
    assert evaluate([0, 0], data, "textbook", [1], ties="order").mean["P@1"] == 1
    assert "equal scores count in their worst order" in evaluate([0, 0], data, ties="worst").caption
    with pytest.raises(ValueError, match="ties='random' is not one of 'order', 'mean'"):
        evaluate([0, 0], data, ties="random")


def test_equal_scores_of_one_grade_are_no_ties() -> None:
    data = make([1, 1, 0, 0], [1, 1, 1, 1])
    (lists,) = ranked(np.array([2.0, 2, 1, 1]), data, DEFINITIONS["textbook"])
    assert lists.ties is None
    assert not lists.tied.any()
    (lists,) = ranked(np.array([2.0, 2, 2, 1]), data, DEFINITIONS["textbook"])
    assert lists.ties is not None
    assert evaluate([2.0, 2, 2, 1], data).n_tied == 1
    assert evaluate([2.0, 2, 2, 1], make([3, 0, 3, 0]), "letor_script").n_tied == 0, "grades that count as 0"


def test_runs_take_the_mean_and_tell_of_the_order() -> None:
    """With equal scores in the order of the file, NDCG@1 is 1; on average over both orders it is ½."""
    data = make([1, 0])
    means, by_order = compared([0, 0], data)
    assert (means["NDCG@1"].item(), by_order["NDCG@1"]) == (0.5, 1.0)
    assert "P@2" not in by_order
    assert compared([1, 0], data)[1] == {}
    moved = moved_in_words({"NDCG@1": 0.5, "P@2": 0.5}, by_order)
    text = ties_in_words({"A": moved, "B": {}})
    assert text.endswith("in the order of the file NDCG@1 would be 1.000 instead of 0.500 (A).")
    assert ties_in_words({"A": moved_in_words({"P@2": 0.5}, by_order)}) == ""
    assert ties_in_words(dict.fromkeys("ABCDE", moved)).endswith("0.500 (C), and 2 more.")


def test_known_answer_of_the_paper() -> None:
    """he2009 §3: the list 2, 0, 1, 1 has NDCG 1, 0.667, 0.725, 0.862 (there printed from rounded DCG)."""
    result = evaluate([4, 3, 2, 1], make([2, 0, 1, 1]), "he2009", at=[1, 2, 3, 4])
    np.testing.assert_allclose(result.mean.iloc[:4], [1, 2 / 3, 0.725, 0.862], atol=6e-4)


def test_the_definition_of_runs_and_pages_has_a_name() -> None:
    data, names = make([2, 0, 1, 0]), ["NDCG@1", "P@1", "MAP"]
    ours, runs, letor = (
        evaluate([1, 1, 1, 1], data, one, measures=names).mean for one in ("rankviz", COMPARED, "letor")
    )
    pd.testing.assert_series_equal(ours, runs)
    assert (ours != letor).all()


def test_every_definition_has_its_columns() -> None:
    data, at = make([0, 1, 2]), [2, 1]
    common = ["NDCG@2", "NDCG@1", "MeanNDCG", "P@2", "P@1", "MAP"]
    without = [c for c in common if c != "MeanNDCG"]
    columns = {name: list(evaluate([3, 2, 1], data, name, at).per_query) for name in DEFINITIONS}
    assert columns == {
        "letor": common,
        "rankviz": common,
        "letor_script": common,
        "letor3": without,
        "mslr": common,
        "textbook": common,
        "he2009": [*without, "AvgNDCG", "AvgPrec"],
        **dict.fromkeys(("trec_eval", "sklearn", "lightgbm", "xgboost"), without),
    }


def test_the_best_order_has_ndcg_one_and_map_one() -> None:
    y = [4, 3, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0]
    for name, definition in DEFINITIONS.items():
        known = [min(grade, definition.relevant_to or grade) for grade in y]
        mean = evaluate(np.linspace(1, 0, len(y)), make(known), name).mean
        assert (mean[[f"NDCG@{k}" for k in range(1, 11)]] == 1.0).all()
        assert mean["MAP"] == 1.0


def test_only_the_order_of_scores_matters() -> None:
    scores, data = random_case(7)
    first = evaluate(scores, data).per_query
    pd.testing.assert_frame_equal(first, evaluate(np.exp(3 * scores) - 5, data).per_query)


def test_ties_keep_the_order_of_the_file_even_where_the_arrays_do_not() -> None:
    assert evaluate([0, 0], make([1, 0])).mean["NDCG@1"] == 1
    assert evaluate([0.0, -0.0], make([0, 1])).mean["NDCG@1"] == 0
    turned = replace(make([1, 0]), rows=np.array([1, 0]))
    assert evaluate([0, 0], turned).mean["NDCG@1"] == 0


def test_short_queries_by_definition() -> None:
    data = make([1, 1])
    values = {name: evaluate([2, 1], data, name).mean for name in DEFINITIONS}
    assert {name: v["NDCG@3"] for name, v in values.items()} == {
        "letor": 0,
        "rankviz": 0,
        "letor_script": 0,
        "letor3": 0,
        "mslr": 0,
        "textbook": 1,
        "he2009": 1,
        **dict.fromkeys(("trec_eval", "sklearn", "lightgbm", "xgboost"), 1),
    }
    assert values["letor"]["P@4"] == 0.5
    assert values["letor3"]["P@4"] == 0
    assert values["textbook"]["P@4"] == 1
    assert values["letor"]["MeanNDCG"] == 1


def test_empty_queries_count_as_zero_or_are_left_out() -> None:
    data = make([0, 0, 1, 0], [5, 5, 9, 9])
    letor, textbook = (evaluate([4, 3, 2, 1], data, name, at=[1]) for name in ("letor", "textbook"))
    assert list(letor.per_query.index) == [5, 9]
    assert (letor.n_queries, letor.n_empty) == (textbook.n_queries, textbook.n_empty) == (2, 1)
    assert letor.mean["NDCG@1"] == 0.5
    assert textbook.mean["NDCG@1"] == 1
    assert textbook.per_query.loc[5].isna().all()
    assert evaluate([1, 0], make([0, 0]), "textbook").mean.isna().all()


def test_captions_say_what_was_counted() -> None:
    data = make([0, 1, 2], [1, 2, 3])
    captions = {
        name: evaluate([0, 0, 0], data, name, at=[1]).caption for name in ("letor", "textbook", "mslr")
    }
    assert captions == {
        "letor": "LETOR 4.0 definition, 3 queries, 1 of them without a relevant document, counted as 0",
        "textbook": "textbook definition, 3 queries, 1 of them without a relevant document, left out; equal "
        "scores count at the mean over their orders",
        "mslr": "MSLR definition, 3 queries, 1 of them without a document graded above 0, counted as 0, "
        "2 of them without one of grade 2 or more, counted as 0 in P and MAP",
    }
    assert evaluate([0], make([1]), "letor3").caption.startswith(
        "LETOR 3.0 definition, 1 query, none without"
    )


def test_grades_that_a_script_does_not_know() -> None:
    """Eval-Score-4.0 with grades 3, worked out by its tables: gains {0: 0, 1: 1, 2: 3}, relevant 1 and 2."""
    data, scores = make([3, 1, 0, 2, 3, 0], [1, 1, 1, 1, 2, 2]), [4, 3, 2, 1, 2, 1]
    script, formula = (evaluate(scores, data, name, at=[1, 2]) for name in ("letor_script", "letor"))
    assert script.per_query["NDCG@1"].tolist() == [0, 0]
    assert script.per_query["NDCG@2"].tolist() == [0.25, 0]  # 0 + 1 of 3 + 1
    assert script.per_query["MAP"].tolist() == [(1 / 2 + 2 / 4) / 2, 0]
    assert formula.per_query["NDCG@1"].tolist() == [1, 1]
    assert formula.per_query["MAP"].tolist() == [(1 + 1 + 3 / 4) / 3, 1]
    assert (script.n_empty, formula.n_empty, script.n_unknown, formula.n_unknown) == (1, 0, 2, 2)
    assert script.caption.endswith(
        "; 2 documents have grades above 2, which count as irrelevant, with gain 0"
    )
    assert formula.caption.endswith(
        "; 2 documents have grades above 2, with gains by the same formula where the script gives 0"
    )
    assert evaluate(scores, data, "mslr").n_unknown == evaluate(scores, data, "textbook").n_unknown == 0
    assert "1 document has a grade above 4" in evaluate([1.0], make([5]), "mslr").caption
    assert evaluate([1.0], make([1000]), "letor_script").mean["MAP"] == 0


def test_both_definitions_are_one_where_the_script_knows_the_grades() -> None:
    scores, data = np.arange(12.0), make([0, 1, 2] * 4)
    pd.testing.assert_frame_equal(
        evaluate(scores, data, "letor").per_query, evaluate(scores, data, "letor_script").per_query
    )


def test_a_definition_can_be_given_as_a_value() -> None:
    binary = replace(DEFINITIONS["he2009"], name="he2009-td", relevant_from=1)
    result = evaluate([2, 1], make([0, 1]), binary, at=[2])
    assert result.definition is binary
    assert result.mean["MAP"] == 0.5


@pytest.mark.parametrize(("name", "k", "limit"), [("letor", 11, 10), ("letor3", 17, 16), ("he2009", 21, 20)])
def test_k_beyond_the_definition_is_an_error(name: str, k: int, limit: int) -> None:
    with pytest.raises(ValueError, match=rf"@{k} is beyond the .* definition, whose largest k is {limit}"):
        evaluate([1.0], make([1]), name, at=[1, k])


def test_k_is_a_whole_number_from_one() -> None:
    with pytest.raises(ValueError, match="@0 is not a cut-off"):
        evaluate([1.0], make([1]), at=[0])
    with pytest.raises(ValueError, match="must be whole numbers"):
        evaluate([1.0], make([1]), at=[1.5])
    assert list(evaluate([1.0], make([1]), at=[]).per_query) == ["MeanNDCG", "MAP"]
    repeated = evaluate([1.0], make([1]), "textbook", at=[50, 50]).per_query
    assert list(repeated) == ["NDCG@50", "MeanNDCG", "P@50", "MAP"]


def test_definitions_refuse_what_means_nothing() -> None:
    with pytest.raises(ValueError, match="there are letor, letor_script, letor3, mslr, textbook, he2009"):
        evaluate([1.0], make([1]), "trec")
    with pytest.raises(ValueError, match="gain='3\\^y' is not one of '2\\^y - 1', '2\\^y - 1 up to 2', 'y'"):
        Definition("x", "x", "x", gain="3^y")
    with pytest.raises(ValueError, match="grade 0 is never relevant"):
        Definition("x", "x", "x", relevant_from=0)


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ([1.0, 2.0], r"part\.txt: scores of shape \(2,\) for 3 documents.*shape \(3,\)"),
        ([[1.0], [2.0], [3.0]], r"scores of shape \(3, 1\)"),
        ([1.0, np.nan, 2.0], r"score nan for document 2 \(query 8\)"),
        ([1.0, 2.0, np.inf], r"score inf for document 3 \(query 9\)"),
        (["a", "b", "c"], "scores that are not numbers .they are of type <U1"),
        ([1j, 2, 3], "scores that are not numbers .they are of type complex"),
    ],
)
def test_bad_scores_are_data_errors(scores: list[object], says: str) -> None:
    with pytest.raises(DataError, match=says):
        evaluate(scores, make([0, 1, 0], [8, 8, 9], name="part.txt"))


def test_grades_too_large_to_raise_two_to_are_an_error() -> None:
    with pytest.raises(DataError, match="grade 2000"):
        evaluate([1.0], make([2000]))
    assert evaluate([1.0, 0.0], make([1000, 999])).mean["NDCG@1"] == 1.0


def test_no_documents_at_all() -> None:
    result = evaluate([], make([], []))
    assert (result.n_queries, len(result.per_query)) == (0, 0)
    assert result.mean.isna().all()


@pytest.mark.parametrize(("n_queries", "n_blocks"), [(500, 1), (5000, 3), (100_000, 5)])
def test_queries_of_similar_size_are_ranked_together(n_queries: int, n_blocks: int) -> None:
    """A block for each doubling of the size, less where there are few queries; padding stays small."""
    sizes = np.random.default_rng(0).integers(1, 64, n_queries)
    data = make([0] * int(sizes.sum()), list(np.repeat(np.arange(n_queries), sizes)))
    blocks = [lists.block for lists in ranked(np.zeros(data.n_documents), data, DEFINITIONS["letor"])]
    assert len(blocks) == n_blocks
    assert sorted(np.concatenate([block.queries for block in blocks])) == list(range(n_queries))
    for block in blocks:
        np.testing.assert_array_equal(block.sizes[:, 0], sizes[block.queries])
    assert sum(block.absent.sum() for block in blocks) < data.n_documents + (6 - n_blocks) * JOINED


def test_the_same_documents_are_measured_with_other_scores_and_definitions_in_turn() -> None:
    """What is kept of the documents depends neither on the scores nor on the first definition."""
    scores, data = random_case(4)
    for definition in ("letor", "textbook", "he2009", "letor"):
        for own in (scores, -scores):
            _, again = random_case(4)
            found, fresh = (evaluate(own, part, definition).per_query for part in (data, again))
            pd.testing.assert_frame_equal(found, fresh)
    np.testing.assert_array_equal(scores, random_case(4)[0])


# --- the official scripts ---------------------------------------------------------------------------------


@pytest.mark.letor
def test_eval_score_3_on_ohsumed(letor_root: Path) -> None:
    oracle = letor_root.parent / "oracle"
    data = read_letor(letor_root / "OHSUMED" / "Fold5" / "test.txt")
    scores = read_scores(oracle / "OHSUMED.Fold5.test.svm_rank_C0.01.score", data)
    result = evaluate(scores, data, "letor3", at=range(1, 17))
    assert (result.n_queries, result.n_empty) == (21, 0)
    columns = {"precision:": "P@", "NDCG:": "NDCG@"}
    seen = 0
    for line in (oracle / "OHSUMED.Fold5.eval3.0.txt").read_text().splitlines():
        if line.strip():
            what, *numbers = line.split()
            names = ["MAP"] if what == "MAP:" else [f"{columns[what]}{k}" for k in range(1, 17)]
            np.testing.assert_allclose(result.mean[names], np.array(numbers, float), rtol=0, atol=1e-9)
            seen += len(numbers)
    assert seen == 33


@pytest.mark.letor
def test_eval_score_4_on_mq2008_query_by_query(letor_root: Path) -> None:
    oracle = letor_root.parent / "oracle"
    data = read_letor(letor_root / "MQ2008" / "Fold3" / "test.txt")
    scores = read_scores(oracle / "MQ2008.Fold3.test.ties.score", data)
    result = evaluate(scores, data, "letor")
    assert (result.n_queries, result.n_empty) == (157, 45)
    text = (oracle / "MQ2008.Fold3.eval4.0.txt").read_text().strip()
    seen = 0
    for table in text.split("\n\n"):
        header, *lines = [line.split() for line in table.splitlines()]
        for query, *numbers in lines:
            row = result.mean if query == "Average" else result.per_query.loc[int(query)]
            assert [f"{row[name]:.4f}" for name in header[1:]] == numbers, query
            seen += len(numbers)
    assert seen == 2 * 158 * 11


def test_columns_have_rules_of_their_own() -> None:
    names = ["nDCG(gains={1: 1, 2: 9})@5", "NDCG@5", "AP (trec_eval)", "P(rel=2)@3", "MAP", "P(rel=1)@3"]
    drawn = np.random.default_rng(5)
    scores = drawn.integers(0, 9, 300) / 4.0
    data = make(list(drawn.integers(0, 3, 300)), list(np.sort(drawn.integers(0, 40, 300))))
    for ties in (None, "worst"):
        table = evaluate(scores, data, "letor", measures=names, ties=ties).per_query
        assert list(table) == [
            "nDCG(gains={0: 0, 1: 1, 2: 9})@5",
            "NDCG@5",
            "MAP (trec_eval)",
            "P(rel=2)@3",
            "MAP",
            "P@3",
        ]
        for column, name, definition in zip(
            table,
            ["NDCG@5", "NDCG@5", "MAP", "P@3", "MAP", "P@3"],
            [
                replace(DEFINITIONS["letor"], gain=(0, 1, 9)),
                "letor",
                "trec_eval",
                replace(DEFINITIONS["letor"], relevant_from=2),
                "letor",
                "letor",
            ],
            strict=True,
        ):
            wanted = evaluate(scores, data, definition, measures=[name], ties=ties).per_query[name]
            np.testing.assert_array_equal(table[column], wanted)
    assert "is 0" not in evaluate(scores, data, measures=["NDCG@20 (textbook)"]).caption


@pytest.mark.parametrize(
    "name",
    [
        "nDCG(gains=__import__('os'))@5",
        "nDCG(gains={1: {}})@5",
        "nDCG(gains=[[1]])@5",
        "nDCG(" + "gains=" + "(" * 150 + ")" * 150 + ")@5",
        "nDCG(gains=" + "-" * 480 + "1)@5",
        "nDCG(gains={" + "1: 1, " * 100 + "})@5",
        "nDCG(discount=(1e999, 1))@5",
        "nDCG(rel='x')@5",
    ],
)
def test_foreign_names_of_metrics_are_refused(name: str) -> None:
    with pytest.raises((SettingError, ValueError)):
        evaluate([1.0], [1], qid=[1], measures=[name])


def test_many_small_groups_of_equal_scores_take_little_memory() -> None:
    """Each group had a row as long as the cut-off: 3.3 GB and 27 s for 10,000 pairs of equal scores."""
    n = 8000
    scores, grades = np.arange(n // 2).repeat(2).astype(float), np.arange(n) % 3
    tracemalloc.start()
    found = evaluate(scores, grades, "rankviz", measures=[f"ERR@{n}"], qid=np.ones(n, int))
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 20e6
    assert 0.0 < found.per_query.to_numpy().item() < 1.0
