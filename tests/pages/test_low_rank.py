"""Low rank: its headline is what the library computes from the same spec; its sentences."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pandas as pd
import pytest
from conftest_pages import Opener, figures, words
from runs_once import RunsOnce, Told
from test_home_train import lines

from rankviz import Fold, RunSpec, execute
from rankviz.analysis.spectra import MATRICES, Spectra, spectra
from rankviz.common.progress import Callback
from rankviz.datasets import find_datasets, open_fold
from rankviz.learning.losses import LOSSES
from rankviz.plots import dual_energy
from ui.study import low_rank_computations
from ui.study.low_rank_computations import Cut
from ui.study.low_rank_why import EXPONENTS, SOLVER_TOLERANCES
from ui.study.low_rank_words import (
    NOTHING_HERE,
    law,
    law_holds_up_to,
    losses_of_all,
    nothing,
    off_by,
    off_the_staircase,
    one_reading,
    rank_reading,
    scope_of_errors,
    shuffled_reading,
    staircase,
)

SPEC = RunSpec("synthetic-demo", n_components=10, C=2.0**-4, gamma=2.0**-2)
TABS = ("All queries", "One query", "Energy", "Why so low?", "Numbers")
REASONS = {
    "Squared hinge: a law": (2, "the law allows"),
    "Hinge: a staircase": (2, "stairs, numerical rank"),
    "Errors of a solver": (1, "raise the median rank from"),
}
"""The reasons in the address, how many figures they have, and a part of what they say."""


def found(matrix: str) -> Spectra:
    fold = open_fold(find_datasets()["synthetic-demo"], "Fold1")
    return spectra(execute(SPEC, fold=fold), fold.train, matrix)


@pytest.mark.parametrize("matrix", MATRICES)
def test_low_rank_shows_what_the_library_computes(matrix: str, open_page: Opener) -> None:
    app, expected = open_page("low_rank", m=10, matrix=matrix, t="80 %", zero="10⁻²"), found(matrix)
    needs = dual_energy.dimensions_needed(expected, expected, 0.8, 1e-2)
    for drawn, measure in zip(figures(app)[2:], ("k", "rank"), strict=True):
        bars = dual_energy.histogram_data(needs, measure, "documents")
        assert lines(drawn)["this model"] == bars["queries"].tolist()
        assert lines(drawn)["largest rank that the grades allow"][1:-1:2] == bars["allowed"].tolist()
    k = int(needs["k"].quantile(0.5, "lower"))
    assert f"{(needs['k'] <= k).sum()} of {len(needs)} queries keep 80 %" in words(app)
    assert rank_reading(needs, 1e-2).split(",")[0] in words(app)


def test_a_training_query_of_the_address_is_shown_and_an_unknown_one_is_not(
    open_page: Opener,
) -> None:
    table = found("block").table
    query, largest = int(table["query"].iloc[-1]), int(table.loc[table["pairs"].idxmax(), "query"])
    app = open_page("low_rank", m=10, block=query)
    assert f"Query {query}: " in words(app)
    assert "· training" in words(app), "α belongs to it"
    assert "without a preference pair" in words(app)
    assert f"Query {largest}: " in words(open_page("low_rank", m=10, block=987654))


def test_a_query_with_too_large_a_matrix_is_a_sentence(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any matrix is made."""
    monkeypatch.setattr(low_rank_computations, "MOST_ENTRIES", 10)
    app = open_page("low_rank", m=7)
    assert "at most 10 entries" in app.error[0].value
    assert not figures(app)


def test_a_selection_of_the_address_holds_in_every_view(open_page: Opener) -> None:
    chosen = [int(query) for query in found("block").table["query"].iloc[[1, 4, 7]]]
    picked = ".".join(map(str, chosen))
    app = open_page("low_rank", m=10, picked=picked)
    assert "**3 of " in words(app)
    assert "of 3 selected queries keep" in words(app)
    assert [int(option) for option in app.selectbox(key="block").options] == chosen
    assert sum(lines(figures(app)[2])["this model"]) == 3
    assert "of 3 selected queries." in app.header[0].value
    energy = open_page("low_rank", m=10, picked=picked, view="Energy")
    assert "of the 3 selected of" in words(energy)
    numbers = open_page("low_rank", m=10, picked=picked, view="Numbers", onlypicked="true")
    assert numbers.dataframe[0].value["query"].tolist() == chosen


def test_cutting_to_rank_k_is_told_for_one_query_and_for_all(open_page: Opener) -> None:
    text = words(open_page("low_rank", m=10, k=2, view="One query"))
    assert "Cut to rank 2, query" in text
    assert "With every query cut to rank 2" in text
    whole = words(open_page("low_rank", m=10, k=100, view="One query"))
    assert "With every query cut to rank 100, nothing changes" in whole


@pytest.mark.parametrize("kind", ["tiny", "one document", "one grade", "all-zero features"])
def test_data_at_the_edges_have_their_sentence_or_their_figures(
    kind: str, open_page: Opener, data_set: Callable[[str], None]
) -> None:
    data_set(kind)
    app = open_page("low_rank", data="edge", map="linear")
    for view in TABS:
        app.session_state["view"] = view
        app.run()
        if kind in ("one document", "one grade"):
            assert nothing(Spectra(pd.DataFrame(), [], 0, 0)) in words(app)
        else:
            assert len(figures(app)) >= 2


@pytest.mark.parametrize(
    ("loss", "c"), [("squared_hinge", 10), ("hinge", 10), ("hinge", -15), ("logistic", 10)]
)
def test_losses_have_spectra_at_the_ends_of_c(loss: str, c: int, open_page: Opener) -> None:
    app = open_page("low_rank", m=5, c=c, loss=LOSSES[loss].label)
    assert len(figures(app)) == 4
    app.session_state["view"] = "One query"
    app.run()
    assert len(figures(app)) == 4


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_is_shown_with_its_figures_and_no_other(reason: str, open_page: Opener) -> None:
    app = open_page("low_rank", m=10, view="Why so low?", why=reason, loss="hinge")
    text = words(app)
    assert len(figures(app)) == 2 + REASONS[reason][0]
    assert [said in text for _, said in REASONS.values()] == [one == reason for one in REASONS]
    trained_for_this = "Trained for these figures with the squared hinge" in text
    assert trained_for_this == (reason == "Squared hinge: a law")


def test_only_what_is_shown_is_trained(
    open_page: Opener, runs_once: RunsOnce, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[RunSpec] = []

    def noted(specs: Iterable[RunSpec], callback: Callback, *, fold: Fold) -> Iterator[Told]:
        asked.extend(specs := list(specs))
        return runs_once(specs, callback, fold=fold)

    monkeypatch.setattr("ui.work.runs.execute_all", noted)
    app = open_page("low_rank", m=10)
    assert len(asked) == 1
    for reason, trained in (("accuracy", SOLVER_TOLERANCES), ("staircase", ["hinge"]), ("law", EXPONENTS)):
        asked.clear()
        app.session_state["view"], app.session_state["why"] = "Why so low?", reason
        app.run()
        assert len(asked) == len(trained), reason


def test_one_query_beside_all(open_page: Opener) -> None:
    needs = pd.DataFrame({"query": [4, 5, 6], "k": [3, 1, 1], "largest_rank": [7, 7, 1]})
    rows = [row for _, row in needs.iterrows()]
    said = "3 of 7 possible singular values keep 90 % of the energy of query 4"
    assert one_reading(rows[0], needs, 0.9) == f"{said}; 1 is enough in 2 of 3 queries"
    assert one_reading(rows[0], needs[:1], 0.9) == said
    assert one_reading(rows[2], needs, 0.9, "selected ").startswith(
        "1 of 1 possible singular value keeps 90 %"
    )


def test_the_first_figure_alone_ends_the_page(open_page: Opener) -> None:
    app = open_page("low_rank", map="linear", alone="true")
    assert [figure["layout"]["title"]["text"] for figure in figures(app)] == ["Query 175, whole"]
    assert not app.tabs


@pytest.mark.parametrize(
    ("link", "title"),
    [({"k": 2}, "Cut to rank 2: "), ({"beside": "what that leaves out"}, "Error of rank 1")],
)
def test_what_stands_beside_is_said(link: dict[str, object], title: str, open_page: Opener) -> None:
    whole, beside = figures(open_page("low_rank", map="linear", **link))[:2]
    assert beside["layout"]["title"]["text"].startswith(title)
    assert np.shape(beside["data"][0]["z"]) == np.shape(whole["data"][0]["z"])


def test_no_dual_variables_are_explained(open_page: Opener) -> None:
    app = open_page("low_rank", map="linear", costs="λ as below", lam="0, 0, 0")
    for view in TABS:
        app.session_state["view"] = view
        app.run()
        assert "Every dual variable is 0: in " in words(app)
        assert NOTHING_HERE in words(app)
        assert figures(app) == []


def test_nothing_to_show_has_its_reason() -> None:
    none = pd.DataFrame()
    assert "no preference pairs" in nothing(Spectra(none, [], 3, 0))
    assert "Every dual variable is 0" in nothing(Spectra(none, [], 0, 3))
    assert "in 3 queries each pair has" in nothing(Spectra(none, [], 0, 3))


@pytest.mark.parametrize(
    ("k", "shuffled", "allowed", "share", "said"),
    [
        (2, 3, 20, 0.9, "in any order** here (3 against 2)"),
        (2, 3, 20, 0.9, "Try a larger share"),
        (2, 9, 20, 0.9, "4.5 times as many"),
        (4, 7, 7, 0.999, "Of 7 possible singular values, α needs 4, shuffled 7 (medians)"),
        (4, 7, 7, 0.999, "the order of α saves 3, its values alone save 0."),
        (7, 7, 8, 0.9, "the order of α saves none."),
        (1, 1, 1, 0.9, "allow only rank 1"),
    ],
)
def test_shuffled_values_are_said_to_matter_only_where_they_differ(
    k: int, shuffled: int, allowed: int, share: float, said: str
) -> None:
    needs = pd.DataFrame({"k": [k] * 2, "k_shuffled": [shuffled] * 2, "largest_rank": [allowed] * 2})
    text = shuffled_reading(needs, share)
    assert said in text
    assert ("in any order" in text) == (2 * shuffled <= allowed and shuffled <= 2 * k)


def test_no_larger_share_is_spoken_of_where_there_is_none(open_page: Opener) -> None:
    needs = pd.DataFrame({"k": [2], "k_shuffled": [3], "largest_rank": [20]})
    assert "Try a larger share" not in shuffled_reading(needs, 0.999)
    text = words(open_page("low_rank", t="99.9 %"))
    assert "Try a larger share" not in text
    assert "Of 7 possible singular values, α needs 4, shuffled 7 (medians)" in text


def test_what_is_lost_is_said_as_a_part_or_as_a_multiple() -> None:
    said = [off_by(error, "its length") for error in (0.0, 0.44, 2.2)]
    assert said == ["0 %", "44 % of its length", "2.2 times its length"]


def test_stopping_early_is_said_of_two_losses_only() -> None:
    assert scope_of_errors(SPEC.but(loss="hinge")) == scope_of_errors(SPEC) == ""
    assert "With the logistic loss," in scope_of_errors(SPEC.but(loss="logistic"))
    assert "With the smooth hinge," in scope_of_errors(SPEC.but(loss="smooth_hinge"))
    assert "holds for RankSVM" in scope_of_errors(SPEC.factorized(2, SPEC.C))


def fit(active: list[int]) -> pd.DataFrame:
    """Queries with 10 pairs and so many active ones, at C = 2⁻⁴."""
    return pd.DataFrame({"C": 2.0**-4, "active": active, "pairs": 10, "law": 4, "rank": [3] * len(active)})


def over(lawful: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"C": [2.0**-15, 2.0**-10, 2.0**-5][: len(lawful)], "lawful": lawful})


def test_the_law_is_said_to_hold_where_every_pair_is_active() -> None:
    text = law(fit([10, 9, 10]))
    assert "every pair is active in 2 of 3 queries: the law allows rank 4, and the largest is 3" in text
    assert "C = 2⁻¹⁰ " in law_holds_up_to(over([1.0, 1.0, 0.5]))


def test_the_sentence_speaks_of_most_queries_not_of_the_few_for_which_the_law_holds() -> None:
    assert law(fit([10, 9, 8, 5])) == (
        "At C = 2⁻⁴ the law holds for 1 of 4 queries; medians of the others: 20 % of pairs inactive, rank 3 "
        "where the law allows 4"
    )
    assert "the law holds for none of 2 queries; medians" in law(fit([9, 9]))


def test_the_law_holds_up_to_the_first_c_at_which_it_does_not() -> None:
    assert "C = 2⁻¹⁵ " in law_holds_up_to(over([1.0, 0.5, 0.0]))
    assert law_holds_up_to(over([0.0, 1.0])) == ""


def test_medians_over_queries_and_a_share_of_all_pairs_are_apart() -> None:
    stairs = pd.DataFrame(
        {"active": [5, 7, 0], "pairs": [400, 600, 1000], "boundary": [2, 0, 0], "stairs": [3, 3, 0]}
        | {"rank": [4, 4, 0], "k_90": [2, 2, 0], "error": [0.0, 0.0, 0.0]}
    )
    said = "Medians over 2 queries: 3 stairs, numerical rank 4, but 2 for 90 % of the energy"
    assert staircase(stairs) == said
    off = off_the_staircase(stairs)
    assert off.startswith("α differs from the staircase by 0 % (median). Of all pairs 0.2 % lie")
    assert off_the_staircase(stairs.assign(boundary=0)).endswith("Of all pairs none lies between 0 and C.")
    assert "all pairs 100 % lie" in off_the_staircase(stairs.assign(boundary=stairs["pairs"]))


def test_there_are_no_stairs_where_every_dual_variable_is_0() -> None:
    none = pd.DataFrame({"active": [0], "pairs": [10], "boundary": 0, "stairs": 0, "rank": 0, "k_90": 0})
    assert "every α is 0" in staircase(none.assign(error=0.0))
    assert off_the_staircase(none.assign(error=0.0)) == ""


@pytest.fixture
def cut() -> Cut:
    """Blocks cut to rank 1 and 2, of which the latter cuts nothing but rounding; rankings are the same."""
    rows = {"scope": "all", "k": [1, 2], "energy": [0.9, 1.0]}
    table = pd.DataFrame(rows | {"alpha_error": [0.3, 1e-16], "w_error": [0.2, 2e-15]})
    queries = np.linspace(0.1, 0.9, 10)
    return Cut(table, {"all": pd.DataFrame({1: queries, 2: queries})})


@pytest.mark.parametrize("k", [2, 100])
def test_a_cut_that_loses_nothing_changes_nothing(cut: Cut, k: int) -> None:
    assert f"cut to rank {k}, nothing changes" in losses_of_all(k, cut)
    assert "differs" not in losses_of_all(k, cut)


def test_a_cut_that_loses_something_is_compared_by_its_rankings(cut: Cut) -> None:
    said = losses_of_all(1, cut)
    assert "changes by 30 % of its norm, w by 20 % of its length" in said
    assert "none differs" in said


def test_w_alone_is_enough_of_a_loss(cut: Cut) -> None:
    table = cut.table.assign(alpha_error=0.0, w_error=1e-6)
    assert "nothing changes" not in losses_of_all(2, Cut(table, cut.metric))
