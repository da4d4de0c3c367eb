"""Tables that compare definitions: terms sum to NDCG, marks where rules differ, one change at a time."""

from dataclasses import replace

import numpy as np
import pytest

from rankviz import DataError, RankingData, evaluate
from rankviz.analysis.definitions import (
    OTHER,
    deciding_rules,
    effects_data,
    in_order,
    means_data,
    rules_data,
    same_terms,
    terms,
    terms_data,
    value,
)
from rankviz.datasets.parts import take_queries
from rankviz.datasets.pasted import MOST, parse_list
from rankviz.metrics import DEFINITIONS
from rankviz.plots.definitions import COLOURS, terms_figure

LETOR, TREC, XGBOOST = (DEFINITIONS[name] for name in ("letor", "trec_eval", "xgboost"))


def part(seed: int = 0) -> tuple[np.ndarray, RankingData]:
    """Return queries of 1 to 15 documents with equal scores; one is empty."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 16, 12)
    qid = np.repeat(np.arange(12), sizes)
    y = np.where(qid == 3, 0, rng.integers(0, 4, len(qid)))
    return rng.integers(0, 6, len(qid)) / 2.0, RankingData.from_arrays(np.zeros((len(qid), 0)), y, qid)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_terms_sum_to_ndcg(name: str) -> None:
    scores, data = part()
    one = replace(DEFINITIONS[name], short_ndcg="capped", empty_value=0.0, leaves_out_empty=False)
    for k in (1, 4, 10):
        expected = evaluate(scores, data, one, at=[k]).per_query[f"NDCG@{k}"].to_numpy()
        for query in range(data.n_queries):
            own = scores[data.query_slice(query)], take_queries(data, [query])
            table = terms(*own, one, k)
            assert table["share"].sum() == pytest.approx(expected[query], abs=1e-14)
            assert len(table) == min(k, len(own[0]))
            np.testing.assert_allclose(table["term"], table["gain"] * table["discount"])


def test_equal_terms_share_a_table_and_a_colour() -> None:
    scores, data = parse_list("0 9\n2 8\n1 7\n1 6\n2 5")
    groups = same_terms(scores, data, in_order(LETOR), 5)
    labels = [[one.label for one in members] for members in (group.members for group in groups)]
    assert labels == [
        ["LETOR 4.0", "LETOR 4.0 script", "LETOR 3.0", "MSLR", "rankviz"],
        ["textbook", "LightGBM", "XGBoost"],
        ["He et al. 2009"],
        ["trec_eval", "scikit-learn"],
    ]
    bars = terms_figure(groups, 5).data
    assert [bar.marker.color for bar in bars] == [
        COLOURS[name] for name in ("letor", "textbook", "he2009", "trec_eval")
    ]
    again = terms_figure(same_terms(scores, data, in_order(XGBOOST), 5), 5).data
    assert again[0].marker.color == COLOURS["textbook"], "a colour stays when another definition is chosen"
    tied, data = parse_list("0 9\n2 9\n1 7")
    split = [[one.name for one in group.members] for group in same_terms(tied, data, in_order(TREC), 3)]
    assert split[0] == ["trec_eval"], "scikit-learn takes the mean over equal scores"


def test_rules_and_terms_are_marked_where_they_differ() -> None:
    rules = rules_data(LETOR)
    assert rules.index[0] == LETOR.label
    assert not rules.loc[LETOR.label].str.startswith(OTHER).any()
    marked = rules.loc["XGBoost"].str.startswith(OTHER)
    assert marked[marked].index.tolist() == [
        "discount",
        "fewer than k documents",
        "no relevant document",
        "P@k of fewer documents",
    ]
    scores, data = parse_list("2 9\n1 8")
    table = terms_data(same_terms(scores, data, [LETOR, TREC], 2))
    assert table["trec_eval"].tolist() == ["≠ 2 × 1.000 = 2.000", "≠ 1 × 0.631 = 0.631", "2.631"]
    assert table["LETOR 4.0"].tolist() == ["3 × 1.000 = 3.000", "1 × 1.000 = 1.000", "4.000"]


@pytest.mark.parametrize("name", ["letor", "xgboost"])
def test_effects_are_those_of_one_changed_rule(name: str) -> None:
    scores, data = part()
    chosen = DEFINITIONS[name]
    start = value(scores, data, chosen, "NDCG@5", 5)
    table = effects_data(scores, data, chosen, 5)
    assert table["difference"].abs().is_monotonic_decreasing
    np.testing.assert_allclose(table["mean"] - start, table["difference"])
    gain = table[(table["rule"] == "gain") & (table["then"] == "y")].iloc[0]
    expected = evaluate(scores, data, replace(chosen, gain="y"), at=[5]).mean["NDCG@5"]
    assert gain["mean"] == expected != start
    assert gain["definitions"] == "He et al. 2009, trec_eval, scikit-learn"
    assert set(table["rule"]) == {
        "gain",
        "discount",
        "equal scores",
        "fewer than k documents",
        "no relevant document",
    }


def test_means_are_those_of_evaluate_and_missing_beyond_the_largest_k() -> None:
    scores, data = part(1)
    table = means_data(scores, data, 12, LETOR)
    assert np.isnan(table.loc["LETOR 4.0", "NDCG@12"])
    ours = evaluate(scores, data, "lightgbm", at=[12]).mean
    assert table.loc["LightGBM", "NDCG@12"] == ours["NDCG@12"]
    assert table.loc["LightGBM", "MAP"] == ours["MAP"]
    assert {"ERR@10", "RBP(p=0.8)", "RR"} <= set(table.columns)


@pytest.mark.parametrize(
    "text", ["2 0.5\n0 -1e3", "2\t0.5\n0\t-1000", " 2,0.5 \n\n0 , -1000", "grade;score\r\n2;0.5\r\n0;-1000"]
)
def test_a_list_is_read_from_lines_or_a_sheet(text: str) -> None:
    scores, data = parse_list(text)
    assert scores.tolist() == [0.5, -1000]
    assert data.y.tolist() == [2, 0]
    assert data.n_queries == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 0.5\nx 0.2", "line 2: the grade 'x'"),
        ("1 0.5\n\n1.5 0.2", "line 3: the grade '1.5'"),
        ("-1 0.5", "line 1: the grade '-1'"),
        ("101 0.5", "line 1: the grade '101'"),
        ("²3 0.5", "line 1: the grade '²3'"),
        ("1 nan", "line 1: the score 'nan'"),
        ("1 1e999", "line 1: the score '1e999'"),
        ("1 0.5 7", "line 1: '1 0.5 7'"),
        ("2;0,5", "line 1: the score '0,5'"),
        ("7", "line 1: '7'"),
        ("", "0 lines"),
        ("grade score", "0 lines"),
        ("1 1\n" * (MOST + 1), f"{MOST + 1} lines"),
    ],
)
def test_a_wrong_line_is_named(text: str, said: str) -> None:
    with pytest.raises(DataError, match="pasted list") as caught:
        parse_list(text)
    assert said in str(caught.value)


def test_the_legend_has_the_value_and_the_sum_of_bars_where_a_rule_gives_another() -> None:
    short, empty = parse_list("1 1\n1 2"), parse_list("0 1\n0 2")
    drawn = [bar.name for bar in terms_figure(same_terms(*short, in_order(LETOR), 10), 10).data]
    assert drawn == [
        "LETOR 4.0, LETOR 4.0 script, LETOR 3.0,<br>MSLR, rankviz: 0.000 (sum of bars 1.000)",
        "textbook, trec_eval, scikit-learn, LightGBM,<br>XGBoost: 1.000",
        "He et al. 2009: 1.000",
    ]
    drawn = [bar.name for bar in terms_figure(same_terms(*empty, in_order(XGBOOST), 2), 2).data]
    assert drawn[0] == "XGBoost, LightGBM: 1.000 (sum of bars 0.000)"
    assert "textbook: left out (sum of bars 0.000)" in drawn
    assert "LETOR 4.0" not in "".join(
        bar.name for bar in terms_figure(same_terms(*short, in_order(TREC), 12), 12).data
    )


def test_the_rules_that_decide_are_the_fewest_that_give_the_other_value() -> None:
    """A list of ten documents: LightGBM differs from LETOR by its discount, trec_eval also by its gain."""
    data = RankingData.from_arrays(np.zeros((10, 1)), [2, 0, 1, 0, 3, 0, 1, 0, 2, 0], [1] * 10)
    scores = np.array([9.0, 9, 7, 6, 5, 4, 3, 2, 1, 0])
    letor = DEFINITIONS["letor"]

    def decide(name: str, of: RankingData = data, by: np.ndarray = scores) -> list[str]:
        return [rule.name for rule in deciding_rules(by, of, letor, DEFINITIONS[name], 10)]

    assert decide("letor3") == []
    assert decide("lightgbm") == decide("xgboost") == ["discount"]
    assert decide("trec_eval") == ["gain", "discount"]
    assert decide("sklearn") == ["gain", "discount", "equal scores"]
    short = RankingData.from_arrays(np.zeros((3, 1)), [2, 0, 1], [1] * 3)
    assert decide("lightgbm", short, np.array([3.0, 2, 1])) == ["discount", "fewer than k documents"]
    empty = RankingData.from_arrays(np.zeros((10, 1)), [0] * 10, [1] * 10)
    assert decide("lightgbm", empty) == decide("xgboost", empty) == ["no relevant document"]
