"""The What if page: what gestures stand for, the list of changes, and what the page says of them."""

import json
import re
import runpy
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest_pages import Opener, execute, figures, opened, tell, words
from conftest_pages import decoded as numbers
from streamlit.testing.v1 import AppTest

from rankviz import DataError, RunSpec
from rankviz.common.numbers import with_minus
from rankviz.datasets import load_demo, make_fold, normalise
from rankviz.metrics import evaluate
from rankviz.metrics.significance import compare, differences_of
from rankviz.runs.run import model_of
from rankviz.whatif.changes import (
    Change,
    DocumentAdded,
    DocumentOut,
    FeatureOff,
    FeatureSet,
    GradeSet,
    OtherDraw,
    QueryOut,
    QueryWeighed,
    SomeQueries,
    WrongGrades,
    changed,
    next_document,
)
from rankviz.whatif.outcomes import WhatIf
from ui.model import what_if
from ui.model.what_if_change_list import (
    LONGEST,
    Line,
    applied,
    decoded,
    divided,
    encoded,
    has_no_effect,
    next_number,
)
from ui.model.what_if_editors import changes_of, grades, script
from ui.model.what_if_lists import Lists
from ui.model.what_if_models import MODELS, MOST_BYTES, Memory, SharedModel
from ui.model.what_if_words import (
    DRAWS_AGAIN,
    KEEPS,
    NOT_LEARNED,
    NOT_TRAINED,
    NOTHING_YET,
    OF_THE_PART,
    OTHER_DRAW_HELP,
    TIGHTER,
    TOO_LONG,
    OfQuery,
    answer,
    grades_allow,
    named,
    of_change,
)
from ui.shell.figures import zero_by_definition
from ui.shell.texts import escaped
from ui.shell.words import OTHER_SEED
from ui.work.folds import IDLE_SECONDS

FOLD = make_fold(n_queries=20, documents_per_query=(8, 15), n_features=3, seed=0)
QUERY, VALI = int(FOLD.train.query_labels[2]), int(FOLD.vali.query_labels[1])
FIRST = int(FOLD.train.rows[FOLD.train.ptr[2]])
NEW = next_document(FOLD.train)
EVERY: list[Change] = [
    GradeSet(QUERY, FIRST, 2),
    DocumentOut(VALI, int(FOLD.vali.rows[FOLD.vali.ptr[1]])),
    FeatureSet(QUERY, FIRST, 1, -2.5e-7),
    FeatureSet(QUERY, FIRST, 2, 3.0),
    DocumentAdded(QUERY, NEW, (0.1, -2.0, 1e300), 1),
    GradeSet(QUERY, NEW, 2),
    QueryOut(int(FOLD.train.query_labels[0])),
    QueryWeighed(QUERY, 10.0),
    FeatureOff(0),
    SomeQueries(0.5, 3),
    WrongGrades(0.1),
    OtherDraw(1),
]
HEAVY = "w_t0_30"


def listed(app: AppTest) -> dict[str, Any]:
    proto = app.get("bidi_component")[0].proto
    return dict(json.loads(proto.json or proto.mixed.json))


def ranking(app: AppTest) -> list[str]:
    return [one["name"] for one in listed(app)["now"]]


def button(app: AppTest, key: str) -> Any:
    return next(one for one in app.button if one.key.startswith(key))


def test_before_any_change_the_list_is_as_it_was_and_a_query_may_count_more(open_page: Opener) -> None:
    app = open_page("what_if", m=50)
    assert app.header[0].value == NOTHING_YET["train"]
    assert [one["name"] for one in listed(app)["before"]] == ranking(app)
    assert listed(app)["grades"] == [0, 1, 2]
    assert figures(app) == [], "without a change a figure of changes is empty"
    assert "No change yet" in words(app)
    before = ranking(app)
    for weight, changes in ((100.0, "w_t0_100"), (1.0, "")):
        next(one for one in app.selectbox if one.label == "Query weight").select(weight).run()
        assert app.query_params.get("changes", "") == changes
        assert (ranking(app) == before) == (not changes)
    assert "No change yet" not in words(app), "there is something to undo"
    assert not button(app, "what-if-undo").disabled


def test_pairs_of_a_very_long_query_are_not_compared(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert words(open_page("what_if", m=50, changes="w_t0_100")).count("not counted") == 0
    monkeypatch.setattr(what_if, "MOST_PAIRS", 10)
    assert words(open_page("what_if", m=50, changes="w_t0_100")).count("not counted") == 3


def test_the_weight_shown_is_that_of_the_query(open_page: Opener) -> None:
    app = open_page("what_if", m=10, changes="w_t0_100")
    shown = []
    for query in (5, 1):
        app.session_state["query"] = query
        app.run()
        shown += [one.value for one in app.selectbox if one.label == "Query weight"]
    assert shown == [1.0, 100.0]


def test_changes_come_from_the_link_and_can_be_switched_off_and_undone(open_page: Opener) -> None:
    link = f"{HEAVY}__g_t0_4_1"
    app = open_page("what_if", m=50, changes=link)
    with_both = ranking(app)
    assert [box.label for box in app.checkbox] == ["query 1: weight 30×", "S1-5 of query 1: grade 2 → 1"]
    assert with_both != [one["name"] for one in listed(app)["before"]]
    assert listed(app)["marked"] == "4"
    assert app.header[0].value.startswith(
        "With 2 changes instead of none (the last: with grade 1), S1-5 falls from rank 2 to 3 "
    )
    assert len(figures(app)) == 1
    app.checkbox[0].uncheck().run()
    assert app.query_params["changes"] == "-" + link
    assert ranking(app) != with_both
    button(app, "what-if-undo").click().run()
    assert app.query_params["changes"] == link
    assert ranking(app) == with_both
    button(app, "change-out").click().run()
    assert app.query_params["changes"] == "g_t0_4_1"
    button(app, "what-if-clear").click().run()
    assert "changes" not in app.query_params
    assert app.header[0].value == NOTHING_YET["train"]
    for _ in range(2):
        button(app, "what-if-undo").click().run()
    assert ranking(app) == with_both


def test_a_query_of_the_validation_part_trains_nothing(open_page: Opener) -> None:
    app = open_page("what_if", m=50, part="validation", changes="g_v0_0_0__g_v0_1_0__o_v0_2")
    assert "Not a training query" in words(app)
    assert NOT_TRAINED in app.header[0].value
    assert not [one for one in app.selectbox if one.label == "Query weight"]


NO_CHANGES = (
    "nonsense g_t0 g_z0_1_1 g_t9999_1_1 f_t0_0_1_x g_t-1_0_1 -f_t0_0_0_nan w_t0_inf h_0_0 h_1.5_0 h_0.5_x "
    f"h_1_7 n_nan_0 n_0.1_99999999999 r_-1 r_{10**14} g_t0_4_1_x g_t0_4_1_{10**30} g_t0_4_1_1_1 "
    f"g_t0_{10**30}_1 g_t0_-1_1"
).split()


@pytest.mark.parametrize("text", NO_CHANGES)
def test_other_texts_are_no_changes(text: str) -> None:
    with pytest.raises(DataError, match="is not a change of these data"):
        decoded(text, FOLD)


@pytest.mark.parametrize(
    ("text", "said"),
    [("nonsense", "is not a change of these data"), ("-o_t0_300", "no document 300 in query 1")],
)
def test_a_change_of_a_link_that_cannot_be_made_is_said(text: str, said: str, open_page: Opener) -> None:
    app = open_page("what_if", m=50, changes=f"{HEAVY}__{text}")
    assert app.warning[0].value.startswith("1 change ")
    assert said in app.warning[0].value
    assert app.query_params["changes"] == HEAVY
    assert len(ranking(app)) == 15
    assert not app.error


def test_of_many_changes_of_a_link_those_are_made_that_can_be(open_page: Opener) -> None:
    asked = [f"o_t0_{document}" for document in range(300)]
    app = open_page("what_if", m=50, changes="__".join(asked))
    assert app.warning[0].value.startswith("286 changes ")
    assert "no document of query 1 would remain" in app.warning[0].value
    assert app.query_params["changes"] == "__".join(asked[:14])
    assert len(ranking(app)) == 1
    app = open_page("what_if", m=50, changes="__".join(["x_1"] * 500 + ["x_2"] * 70_000))
    assert app.query_params["changes"] == "x_1"
    assert app.warning[0].value.startswith("70,000 changes ")
    assert "beyond the first 500" in app.warning[0].value
    app = open_page("what_if", m=50, changes="o_t0_3__o_t0_3")
    assert not app.warning
    assert app.query_params["changes"] == "o_t0_3"


def test_a_change_of_a_document_that_is_not_added_can_be_taken_out(open_page: Opener) -> None:
    app = open_page("what_if", m=50, changes="g_t0_999999_1")
    assert "document missing" in app.checkbox[0].label
    button(app, "what-if-clear").click().run()
    assert not app.error
    assert app.header[0].value == NOTHING_YET["train"]


def test_a_document_is_added_as_a_copy_and_edited_or_typed(open_page: Opener) -> None:
    app = open_page("what_if", m=50)
    n = len(ranking(app))
    button(app, "add-add").click().run()
    assert len(ranking(app)) == n + 1
    assert "new document 1" in ranking(app)
    new = next(one for one in listed(app)["now"] if one["name"] == "new document 1")
    source = app.selectbox(key="add-copy").value
    copied = next(one for one in listed(app)["now"] if one["key"] == str(source))
    assert new["before"] is None
    assert new["was"] is None
    assert new["score"] == pytest.approx(copied["score"]), "alike features, alike scores"
    app.selectbox(key="edit-document").select(int(new["key"])).run()
    next(one for one in app.number_input if one.key.startswith("edit-value")).set_value(9.0).run()
    button(app, "edit-set").click().run()
    assert app.checkbox[1].label == "new document 1 of query 1: feature 1 = 9"
    app.checkbox[0].uncheck().run()
    assert "document missing" in app.checkbox[1].label
    assert len(ranking(app)) == n
    button(app, "change-out").click().run()
    assert not app.checkbox, "what is said of a document goes with it"
    app.button_group(key="add-as").select("typed").run()
    app.text_area(key="add-text").set_value("1 qid:9 2:0.5\n0 qid:9 3:1e-2").run()
    button(app, "add-add").click().run()
    assert len(ranking(app)) == n + 2
    added = [one for one in listed(app)["now"] if one["was"] is None]
    assert sorted(one["grade"] for one in added) == [0, 1]
    app.text_area(key="add-text").set_value("1 2").run()
    button(app, "add-add").click().run()
    assert "2 numbers in document 1" in app.error[0].value


def test_a_query_and_a_feature_are_left_out(open_page: Opener) -> None:
    app = open_page("what_if", m=50)
    button(app, "out-query-go").click().run()
    assert app.button(key="out-feature-go").disabled, "none is chosen"
    app.selectbox(key="out-feature").select(0).run()
    button(app, "out-feature-go").click().run()
    assert app.query_params["changes"] == "q_t0__x_0"
    assert [box.label for box in app.checkbox] == [
        "query 1 left out of training",
        "feature 1 left out of all documents",
    ]
    assert len(ranking(app)) == 15, "a query that is not trained on is ranked all the same"


def test_half_of_the_queries_wrong_grades_and_another_draw_are_a_click_each(open_page: Opener) -> None:
    app = open_page("what_if", m=50)
    before = ranking(app)
    for kind, texts in {"SomeQueries": "h_0.5_", "WrongGrades": "n_0.1_", "OtherDraw": "r_"}.items():
        first = 1 if kind == "OtherDraw" else 0
        for draw in (first, first + 1):
            button(app, f"training-{kind}").click().run()
            assert app.query_params["changes"] == f"{texts}{draw}", "another draw replaces the one before"
            change = decoded(app.query_params["changes"], FOLD).change
            label = of_change(change, FOLD, "landmarks")
            assert app.checkbox[0].label == label
            assert app.header[0].value.startswith(f"With {label}, query 1 ")
            assert ranking(app) != before
            assert [one["grade"] for one in listed(app)["now"]].count(2) == 3, "the list has true grades"
        button(app, "what-if-undo").click().run()
        assert app.query_params["changes"] == f"{texts}{first}"
        button(app, "what-if-clear").click().run()
        assert ranking(app) == before


def test_half_of_the_queries_says_what_it_keeps(open_page: Opener) -> None:
    drawn = {"Nyström": "landmarks", "random Fourier": "frequencies", "linear": ""}
    for kind, kept in drawn.items():
        app = open_page("what_if", map=kind, m=10)
        told = KEEPS.format(drawn=kept) if kept else DRAWS_AGAIN
        assert button(app, "training-SomeQueries").help == told
        assert button(app, "training-WrongGrades").help == DRAWS_AGAIN
        others = [one.label for one in app.button if one.key == "training-OtherDraw"]
        assert [one.endswith(kept) for one in others] == [True] * bool(kept)
        helps = [one.help for one in app.button if one.key == "training-OtherDraw"]
        assert helps == [OTHER_DRAW_HELP] * bool(kept)


@pytest.mark.parametrize(("metric", "k"), [("NDCG@10", 10), ("NDCG@8", 8), ("P@10", 10)])
def test_a_query_too_short_for_its_metric_is_explained(metric: str, k: int, open_page: Opener) -> None:
    """Of the query's fifteen documents, seven or eight are left: NDCG@10 is 0, and NDCG@8 only of seven."""
    for left in (7, 8):
        out = "__".join(f"o_t0_{number}" for number in range(15 - left))
        app = open_page("what_if", m=10, metric=metric, changes=out)
        (table,) = [one.value for one in app.markdown if one.value.startswith("| queries")]
        is_zero = table.splitlines()[2].split(" | ")[1] == "0.000"
        told = zero_by_definition(metric, left)
        assert is_zero == bool(told) == (metric.startswith("NDCG") and left < k)
        assert any(told and told in one.value for one in app.caption) == bool(told)


@pytest.mark.parametrize(
    ("link", "asked", "because", "steps"),
    [
        (
            "g_t0_10_2_1",
            1,
            "with weight 100× for query 1 it would be at rank",
            ["Try weight 100×", "Prefer it to all 3", "Try weight 10,000×"],
        ),
        ("g_t0_0_1_1", 1, "; weight 100× for query 1 does not help", ["Why?"]),
        ("w_t0_100__g_t0_0_1_1", 1, "; with weight 10,000× instead of 100× for query 1 it would be", []),
        ("w_t0_30__g_t0_10_2_6", 6, "", ["Prefer all 2 to it"]),
        ("w_t0_1000__g_t0_10_2_1", 1, grades_allow(3, rises=True), ["Prefer it to all 3"]),
        ("q_t0__g_t0_10_2_1", 1, NOT_LEARNED, []),
        ("g_v0_2_2_1&part=validation", 1, NOT_LEARNED, ["Show a training query"]),
    ],
)
def test_the_answer_says_which_rank_was_asked_for_and_the_next_step(
    link: str, asked: int, because: str, steps: list[str], open_page: Opener
) -> None:
    changes, _, part = link.partition("&part=")
    app = open_page("what_if", m=50, changes=changes, part=part or "training")
    text, found = app.header[0].value, listed(app)
    rank = [one["key"] for one in found["now"]].index(found["marked"]) + 1
    assert text.startswith(f"You asked for rank {asked}: ")
    assert f"rank {rank} of " in text or f" to {rank} of " in text
    assert because in text
    assert any(why in text for why in (", because", "; with weight", "; weight")) == (rank != asked)
    for label in steps:
        step = button(app, "what-if-step")
        assert step.label == label
        step.click().run()
    left = [one.label for one in app.button if "what-if-step" in str(one.key)]
    match steps:
        case ["Why?"]:
            assert {"A", "B"} <= {one.label for one in app.selectbox}
        case ["Show a training query"]:
            assert OF_THE_PART["train"] in words(app)
        case [*_, last] if "weight" in last or "Prefer it" in last:
            assert app.header[0].value.startswith(
                "You asked for rank 1: S1-11 rises from rank 7 to 1 of 15. "
            )
            assert not left


def test_a_drop_that_is_refused_or_lowers_only_the_other_grade_is_answered(open_by_menu: Opener) -> None:
    app = open_by_menu("what_if", m=50)
    first, second = (one for one in listed(app)["now"][:2])
    assert first["grade"] == second["grade"] == 2, "the highest grade"
    tell(app, "gesture", {"do": "above", "key": second["key"], "other": first["key"]})
    assert app.header[0].value.startswith(f"You asked for rank 1: {second['name']} ")
    button(app, "what-if-clear").click().run()
    first = next(one for one in listed(app)["now"] if one["grade"] == 2)
    other = next(one for one in listed(app)["now"] if one["grade"] == 1)
    tell(app, "gesture", {"do": "above", "key": first["key"], "other": other["key"]})
    assert "the model disagrees" in app.header[0].value
    button(app, "what-if-step").click().run()
    assert app.query_params["changes"] == "w_t0_100"


def test_a_rank_that_the_list_does_not_have_is_not_told(open_page: Opener) -> None:
    app = open_page("what_if", m=50, changes="g_t0_10_2_999")
    assert app.header[0].value.startswith("With grade 2, S1-11 ")


@pytest.mark.parametrize(("shift", "told"), [(0.05, "gain"), (-0.05, "loss"), (0.0, "")])
def test_training_is_reported_if_only_its_difference_is_significant(shift: float, told: str) -> None:
    rng = np.random.default_rng(0)
    noise = pd.Series(0.02 * rng.standard_normal(40))
    train, vali = compare(noise + shift, 0.0 * noise), compare(noise - noise.mean(), 0.0 * noise)
    shown = Lists(QUERY, "train", (), ())
    told_of = partial(
        answer, shown, "Without feature 1", None, OfQuery(0.5, 0.5, 0.6), metric="MAP", trained=True
    )
    assert ("training queries" in told_of(train, vali)) == bool(told)
    assert f"Significant {told} on 40 training queries" in told_of(train, vali) or not told
    assert "No significant difference on 40 validation queries" in told_of(train, vali)
    assert "training queries" not in told_of(train, compare(noise + 0.05, 0.0 * noise))


@pytest.mark.parametrize(
    ("bound", "method", "choice"),
    [
        ("MOST_SECONDS", "RankSVM", "fewer features, or fewer queries"),
        ("LIVE_BYTES", "RankSVM", "fewer features, or fewer queries"),
        ("LIVE_BYTES", "LambdaMART", "fewer rounds, or RankSVM"),
    ],
)
def test_training_that_takes_long_or_much_memory_is_not_offered(
    bound: str, method: str, choice: str, open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"ui.model.what_if.{bound}", 0.0)
    said = (app := open_page("what_if", m=50, method=method)).info[0].value
    assert re.search(rf"takes about .* s (and .* (kB|MB) )?to train here, too long. Choose {choice}", said)
    assert not app.header


def test_every_change_is_the_same_in_the_link() -> None:
    lines = [Line(change, on=place % 2 == 0) for place, change in enumerate(EVERY)]
    text = encoded(lines, FOLD)
    lines.append(Line(GradeSet(QUERY, FIRST + 1, 0), on=False, asked=12))
    text = encoded(lines, FOLD)
    assert [decoded(one, FOLD) for one in divided(text)] == lines
    assert set(text) <= set("abcdefghijklmnopqrstuvwxyz0123456789_.-+")
    assert divided("") == []


def test_what_is_too_long_for_a_link_is_said(open_page: Opener) -> None:
    app = open_page("what_if", m=50)
    app.button_group(key="add-as").select("typed").run()
    assert not app.info
    line = " ".join(["0.12345"] * 20)
    app.text_area(key="add-text").set_value("\n".join([line] * 15)).run()
    button(app, "add-add").click().run()
    assert TOO_LONG.split("{")[0] in "".join(one.value for one in opened(app, "what-if-share").info)
    assert "changes" not in app.query_params
    assert len(app.checkbox) == 15
    assert LONGEST < 2000


def test_what_is_left_out_is_left_out_last() -> None:
    lines = [Line(change) for change in reversed(EVERY) if not isinstance(change, SomeQueries)]
    lines += [Line(DocumentOut(QUERY, FIRST)), Line(GradeSet(QUERY, FIRST, 1))]
    fold = changed(FOLD, applied(lines, FOLD))
    assert fold.train.n_documents == FOLD.train.n_documents - (FOLD.train.ptr[1] - FOLD.train.ptr[0])
    added = next(line for line in lines if isinstance(line.change, DocumentAdded))
    off = [Line(line.change, line is not added) for line in lines]
    about = next(line for line in off if line.change == GradeSet(QUERY, NEW, 2))
    assert has_no_effect(about, off, FOLD)
    assert not has_no_effect(off[0], off, FOLD)
    assert next_number("train", lines, FOLD) == NEW + 1
    assert next_number("train", [], FOLD) == NEW


def test_gestures_are_changes() -> None:
    own = FOLD.train.query_slice(2)
    low, high = (int(FOLD.train.rows[own][at(FOLD.train.y[own])]) for at in (np.argmin, np.argmax))

    def of(**told: Any) -> list[Change]:
        return changes_of(told, FOLD, FOLD, "train", QUERY)

    assert of(do="grade", key=str(low), grade=2) == [GradeSet(QUERY, low, 2)]
    assert of(do="out", key=str(low)) == [DocumentOut(QUERY, low)]
    after = changed(FOLD.train, of(do="above", key=str(low), other=str(high)))
    grade = dict(zip(after.rows.tolist(), after.y.tolist(), strict=True))
    assert grade[low] > grade[high]
    assert of(do="above", key=str(high), other=str(low)) == []
    assert of(do="below", key=str(low), other=str(high)) == []
    with pytest.raises(DataError, match="no document 99999"):
        of(do="out", key="99999")
    assert grades(FOLD) == [0, 1, 2]


def test_every_change_has_words_and_foreign_ones_are_shown_as_they_are() -> None:
    said = [of_change(change, FOLD) for change in EVERY]
    assert len(set(said)) == len(EVERY)
    assert len({named(change, FOLD) for change in EVERY}) == len(EVERY)
    assert named(FeatureOff(6), FOLD) == "Without feature 7"
    assert said[5] == f"new document 1 of query {QUERY}: grade 2"


def test_the_program_finds_what_the_page_says(
    open_page: Opener, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = open_page("what_if", m=50, changes=f"{HEAVY}__g_t0_4_1__h_0.5_0__n_0.1_0__r_1")
    spec = RunSpec("synthetic-demo", "Fold1", feature_map="nystroem", n_components=50, C=2.0**-4, gamma=0.25)
    program = tmp_path / "what_if.py"
    changes = [QueryWeighed(1, 30.0), GradeSet(1, 4, 1), SomeQueries(0.5), WrongGrades(0.1), OtherDraw(1)]
    program.write_text(script(spec, changes, "NDCG@10"), encoding="utf-8")
    capsys.readouterr()
    runpy.run_path(str(program))
    printed = capsys.readouterr().out
    table = next(one.value for one in app.markdown if one.value.startswith("| queries |"))
    rows = {row.split("|")[1].strip(): row.split("|")[2].strip() for row in table.splitlines()[3:]}
    assert "vali: NDCG@10" in printed
    assert f"{rows['validation']} with them" in printed
    assert f"{rows['training']} with them" in printed


@pytest.mark.parametrize("metric", ["MAP", "P@5"])
def test_answer_table_and_chart_are_by_the_metric_of_the_link(metric: str, open_page: Opener) -> None:
    app = open_page("what_if", m=50, query=1, changes="x_2", metric=metric)
    assert app.query_params["metric"] in (metric, [metric])
    spec = RunSpec("synthetic-demo", "Fold1", feature_map="nystroem", n_components=50, C=2.0**-4, gamma=0.25)
    fold = normalise(load_demo(1), spec.normalisation)
    outcome = WhatIf(model_of(spec).fit_data(fold.train), fold).outcome([FeatureOff(2)])
    at, both = [int(metric.partition("@")[2] or 10)], (outcome.old, outcome.new)
    values = {
        part: [evaluate(one[part], fold.parts[part], at=at).per_query[metric] for one in both]
        for part in ("train", "vali")
    }
    old, new = values["vali"]
    found = compare(new, old)
    ends = found.interval
    change = f"{with_minus(found.difference, '+.3f')}, {ends.in_words('+.3f')}"
    said = app.header[0].value
    assert change in said
    own = [f"{one.iloc[0]:.3f}" for one in values["train"]]
    assert (f"from {metric} {own[0]} to {own[1]}" if own[0] != own[1] else f"keeps {metric} {own[1]}") in said
    table = next(one.value for one in app.markdown if one.value.startswith("| queries |"))
    assert table.startswith(f"| queries | {metric} |")
    row = next(row for row in table.splitlines() if "| validation |" in row)
    assert f"| {new.mean():.3f} | {with_minus(found.difference, '+.3f')} {'[' * ends.known}" in row
    assert not re.search(r"\d\.\d{4}", said + table)
    (drawn,) = [one for one in figures(app) if metric in str(one["layout"])]
    heights = [height for trace in drawn["data"] for height in numbers(trace["y"]) if height]
    differences = [one for was, now in values.values() for one in differences_of(now, was) if one]
    assert sorted(heights) == pytest.approx(sorted(differences))


def test_models_are_kept_while_they_are_asked_for() -> None:
    kept, specs = Memory(), [RunSpec("made", feature_map="linear", C=2.0**-place) for place in range(6)]

    def get(spec: RunSpec, size: float = 1.0) -> SharedModel:
        return kept.get(spec, lambda: pytest.fail("nobody has asked it for anything"), size)

    first = get(specs[0])
    assert get(specs[0]) is first
    for spec in specs:
        get(spec)
    assert len(kept) == MODELS
    assert get(specs[0]) is not first
    assert not kept.free_idle(time.monotonic())
    get(specs[0], 1.0)
    get(specs[1], 2 * MOST_BYTES)
    assert len(kept) == 1, "a large one stands alone"
    assert kept.free_idle(time.monotonic() + IDLE_SECONDS + 1)
    assert len(kept) == 0


# --- Why ----------------------------------------------------------------------------------------------------


def test_why_is_asked_of_the_model_as_the_changes_make_it(open_page: Opener) -> None:
    def answered(changes: str) -> tuple[str, float]:
        app = open_page("what_if", m=50, query=1, changes=changes, names="15: clicks")
        app.session_state["what-if-why"] = True
        app.run()
        first, second = (listed(app)["now"][rank] for rank in (0, 1))
        app.selectbox(key=key(app, "A")).select(first["name"]).run()
        app.selectbox(key=key(app, "B")).select(second["name"]).run()
        (drawn,) = [one for one in figures(app) if "share by share" in str(one["layout"]["xaxis"]["title"])]
        assert "clicks" in "".join(drawn["layout"]["yaxis"]["ticktext"])
        said = next(one.value for one in app.header if one.value.startswith("A, "))
        margin = float(drawn["data"][0]["x"][-1])
        assert margin == pytest.approx(first["score"] - second["score"])
        return said, margin

    def key(app: AppTest, label: str) -> str:
        return next(str(one.key) for one in app.selectbox if str(one.key).startswith(f"what-if-why-{label}"))

    (said, before), (_, after) = answered(""), answered("g_t0_0_2__w_t0_100")
    assert f"scores {before:.3g} above" in said
    assert after != before


def test_features_are_called_what_the_visitor_calls_them_and_no_other_sees_it(open_page: Opener) -> None:
    app = open_page("what_if", m=50, query=1, changes="x_2", names="1: mine|3: <b>clicks</b>")
    assert app.checkbox[0].label == escaped("<b>clicks</b> left out of all documents")
    assert app.query_params["names"] == "1: mine|3: <b>clicks</b>"
    other = open_page("what_if", m=50, query=1, changes="x_2")
    for key in ("edit-feature", "out-feature"):
        assert other.selectbox(key=key).options[:3] == ["feature 1", "feature 2", "feature 3"]


def test_of_a_list_from_a_link_the_last_change_can_be_undone(open_page: Opener) -> None:
    app = open_page("what_if", m=50, changes="q_t0__x_0")
    app.button(key="what-if-undo").click().run()
    assert app.query_params["changes"] == "q_t0"
    app.button(key="what-if-undo").click().run()
    assert "changes" not in app.query_params
    assert app.button(key="what-if-undo").disabled


def test_all_numbers_of_one_model_are_of_one_fit(open_page: Opener) -> None:
    """The run ends at a larger tolerance than what changes start from: here by 0.0015 of NDCG@10."""
    app = open_page("what_if", m=200, c=-2, g=0, metric="MAP")
    app.selectbox(key="metric").select("NDCG@10").run()
    spec = RunSpec("synthetic-demo", n_components=200, C=2.0**-2, gamma=1.0)
    fitted = WhatIf(model_of(spec).fit_data(load_demo().train), load_demo())
    table = fitted.outcome([OtherDraw(1)]).per_query("vali", "NDCG@10")
    value = f"NDCG@10 {table['old'].mean():.3f}"
    assert value != f"NDCG@10 {execute(spec).metrics['vali']['NDCG@10'].mean():.3f}"
    assert re.search(rf"the same model has MAP 0\.\d{{3}} and {value}\.", words(app))
    assert f" and {value}." in app.header[0].value
    app.session_state["g"] = -1
    app.run()
    app.session_state["g"] = 0
    app.run()
    moved = with_minus(table["new"].mean() - table["old"].mean(), "+z.3f")
    (seed,) = [one for one in app.caption if one.value == OTHER_SEED.format(difference=moved)]
    assert seed.help == TIGHTER, "the same draw as the button makes, not as on Train"
    assert any(str(one.help).endswith(TIGHTER) for one in app.markdown if "γ" in one.value)
