"""Lectures: sequences of views as files and links, and classes that follow them."""

import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from html import unescape
from types import SimpleNamespace

import pytest
from conftest_pages import Opener, components, decoded, figures, opened
from streamlit.testing.v1 import AppTest

from rankviz.common.errors import DataError, SettingError
from ui.controls import sequence
from ui.controls.lesson_texts import gap_axis
from ui.controls.navigation import ENTRIES
from ui.controls.sequence import KEY, MOST_VIEWS, Place, Sequence, View, in_words, report_gap
from ui.learn import lecture
from ui.learn.lecture import example
from ui.shell import words
from ui.shell.figures import KINDS
from ui.shell.locks import _FREE
from ui.shell.page import ALONE, LARGE
from ui.shell.texts import formatted
from ui.shell.visitors import COOKIE
from ui.work.classes import (
    CLASSES,
    GUESS_SECONDS,
    GUESSES,
    IDLE,
    LENGTH,
    LETTERS,
    LONGEST,
    MOST,
    MOST_OF_ADDRESS,
    MOST_PARTICIPANTS,
    Classes,
)

LECTURE = Sequence(
    "A & ü", (View("train", {"C": "-4", "data": "a b"}, "*one*", True, True), View("home", {}))
)


# --- sequences ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sequence", [LECTURE, Sequence(), example()])
def test_files_and_links_give_the_same_sequence(sequence: Sequence) -> None:
    assert Sequence.read(sequence.json()) == sequence
    assert Sequence.unpacked(sequence.packed()) == sequence
    assert sequence.packed().replace("-", "").replace("_", "").isalnum()


def test_a_view_never_takes_another_sequence_with_it() -> None:
    found = json.loads(LECTURE.json())
    found["views"][0]["query"] |= {"seq": "x", "class": "ABC", "at": "3", "job": "1"}
    assert Sequence.read(json.dumps(found)) == LECTURE


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"page": "../app"}, "view 2"),
        ({"page": None}, "view 2"),
        ({"query": {"C": 3}}, "view 2"),
        ({"query": {str(k): "" for k in range(100)}}, "view 2"),
        ({"text": "x" * 5000}, "view 2"),
        ({"bare": "yes"}, "view 2"),
        ({"locked": 1}, "view 2"),
    ],
)
def test_a_wrong_view_is_named(change: dict[str, object], named: str) -> None:
    found = json.loads(LECTURE.json())
    found["views"][1] |= change
    with pytest.raises(DataError, match=named):
        Sequence.read(json.dumps(found))


@pytest.mark.parametrize("place", ["title", "text", "query"])
def test_half_a_surrogate_pair_is_refused_because_no_page_can_show_it(place: str) -> None:
    found = json.loads(LECTURE.json())
    if place == "title":
        found["title"] = "\ud800"
    else:
        found["views"][1][place] = "\ud800" if place == "text" else {"C": "\ud800"}
    with pytest.raises(DataError):
        Sequence.read(json.dumps(found))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "rankviz sequence"}', "[" * 100_000])
def test_other_files_are_refused(text: str) -> None:
    with pytest.raises(DataError):
        Sequence.read(text)


def test_too_many_views_are_refused() -> None:
    with pytest.raises(DataError, match=str(MOST_VIEWS)):
        Sequence.read(replace(LECTURE, views=LECTURE.views * MOST_VIEWS).json())


def test_damaged_links_are_refused_and_a_small_link_cannot_become_large() -> None:
    packed = LECTURE.packed()
    bomb = Sequence("x" * 3_000_000, ()).packed()
    assert len(bomb) < 10_000
    for wrong in (packed[:-9], packed[3:], "é", "!", bomb):
        with pytest.raises(SettingError):
            Sequence.unpacked(wrong)


@pytest.mark.parametrize(
    "text",
    [
        "![p](http://other.host/p.png)",
        "<img src=x>",
        "[a](b)",
        "https://other.host",
        "https\\://other.host",
        "https:\\//other.host",
        "www\\.other.host",
        "someone\\@other.host",
        "https&colon;//other.host",
        "&#104;ttps:/&sol;other.host",
    ],
)
def test_texts_of_views_fetch_and_link_nothing(text: str) -> None:
    shown = formatted(text)
    assert not set("[]<>") & set(shown)
    like_a_formula = formatted(f"from $5: {text} to $6")
    assert not re.search(r"[<>]|\][(\[:]", like_a_formula)
    for one in (shown, like_a_formula):
        seen = unescape(re.sub(r"\\(?=\W)", "", one))
        assert not re.search(r"https:/|www\.|@\w", seen)


@pytest.mark.parametrize("word", ["def", "gdef", "edef", "xdef", "let", "futurelet", "newcommand"])
def test_formulas_of_views_define_no_macros(word: str) -> None:
    """718 letters with macros in macros became 294,000 signs, for which a browser stood still."""
    assert f"\\{word}" not in formatted(f"$\\{word}\\a{{xx}} \\a\\a$")
    assert formatted(r"$\left(x\right) \definitely$") == r"$\left(x\right) \definitely$"


def test_what_only_looks_like_a_formula_has_no_colours_or_icons() -> None:
    shown = formatted(r"\$ :red-background[x] :material/verified: \$ and $f: a \to b$")
    assert shown == r"\$ {:}red-background[x] {:}material/verified: \$ and $f: a \to b$"


def test_texts_of_views_keep_emphasis_lists_and_formulas() -> None:
    assert formatted("*a* **b** $x_1$\n- c") == "*a* **b** $x_1$\n- c"
    assert formatted(r"$\sqrt[3]{x} \in f[0](1)$, $a<b$") == r"$\sqrt[3]{x} \in f[0]{}(1)$, $a\lt b$"


# --- classes ------------------------------------------------------------------------------------------------


def test_a_class_counts_each_participant_once_at_the_latest_view() -> None:
    classes = Classes()
    code = classes.open("packed", "lecturer", "here")
    assert classes.sequence(code) == "packed"
    for visitor, view in (("a", 1), ("b", 1), ("a", 2), ("lecturer", 3), ("c", 4)):
        classes.arrive(code, visitor, view)
    classes.answer(code, "a", 2, 3)
    classes.answer(code, "a", 2, 1)
    classes.answer(code, "stranger", 2, 9)
    found = classes.report(code)
    assert found is not None
    assert found.at == 3
    assert dict(found.views) == {2: 1, 1: 1, 4: 1}
    assert {view: dict(counts) for view, counts in found.answers.items()} == {2: {1: 1}}
    assert in_words(found, 2) == "3 students: 1 on this view, 1 on an earlier view, 1 on a later view."
    classes.arrive(code, "d", 0)
    found = classes.report(code)
    assert found is not None
    assert in_words(found, 0) == "4 students: 1 waiting, 3 on a view."
    assert in_words(found, 2).endswith("1 on an earlier view, 1 on a later view, 1 at the list of views.")
    assert in_words(replace(found, views=Counter({1: 1})), 2) == "1 student on an earlier view."
    assert in_words(replace(found, views=Counter()), 2) == words.NOBODY


def test_only_the_lecturer_changes_and_closes_a_class_and_then_nothing_is_left() -> None:
    classes = Classes()
    code = classes.open("old", "lecturer", "")
    classes.update(code, "forged", "student")
    assert classes.sequence(code) == "old"
    classes.update(code, "new", "lecturer")
    assert classes.sequence(code) == "new"
    code = classes.open("packed", "lecturer", "")
    classes.close(code, "student")
    assert classes.leads(code, "lecturer")
    assert not classes.leads(code, "student")
    classes.close(code, "lecturer")
    assert classes.sequence(code) is None
    assert classes.report(code) is None
    classes.arrive(code, "student", 1)  # a late message of an open tab
    assert classes.report(code) is None


def test_classes_end_by_themselves_and_their_number_is_bounded() -> None:
    now = [0.0]
    classes = Classes(lambda: now[0])
    for _ in range(MOST_OF_ADDRESS):
        classes.open("s", "one", "near")
    with pytest.raises(SettingError):
        classes.open("s", "two", "near")
    codes = [classes.open("s", "one", "") for _ in range(MOST - MOST_OF_ADDRESS)]
    with pytest.raises(SettingError):
        classes.open("s", "three", "")
    now[0] = LONGEST + 1
    assert classes.sequence(codes[0]) is None
    assert classes.open("s", "two", "near")


@pytest.mark.parametrize("address", ["near", ""])
def test_classes_that_nobody_looks_at_make_room_and_others_stay(address: str) -> None:
    now = [0.0]
    classes = Classes(lambda: now[0])
    codes = [classes.open("s", "forged", address) for _ in range(MOST_OF_ADDRESS if address else MOST)]
    now[0] = IDLE + 1
    for look in (classes.report, classes.sequence):
        look(codes.pop(0))
    classes.update(codes.pop(0), "new", "forged")
    held = len(codes)
    for _ in range(held):
        classes.open("s", "lecturer", address)
    assert not any(classes.leads(code, "forged") for code in codes)
    with pytest.raises(SettingError):
        classes.open("s", "lecturer", address)


def test_classes_without_participants_make_room_for_addresses_that_have_fewer() -> None:
    classes = Classes()
    made_up = [classes.open("s", f"0 {n}", "0") for n in range(MOST_OF_ADDRESS)]
    made_up += [classes.open("s", "another", "") for _ in range(MOST - MOST_OF_ADDRESS)]
    for code in made_up[1:]:
        classes.arrive(code, "student", 1, "school")
    code = classes.open("s", "lecturer", "school")
    assert classes.leads(code, "lecturer")
    assert [classes.report(one) is None for one in made_up].index(True) == 0
    with pytest.raises(SettingError):
        classes.open("s", "another", "far")
    with pytest.raises(SettingError):
        classes.open("s", "unknown", "")
    classes.close(made_up[1], "0 1")
    with pytest.raises(SettingError):
        classes.open("s", "another", "0")
    classes.open("s", "another", "new")


def test_ten_addresses_with_made_up_participants_leave_places_for_others() -> None:
    """They closed "Open a class" for everyone when each could take ten places."""
    classes = Classes()
    for k in range(10):
        for n in range(MOST_OF_ADDRESS):
            with suppress(SettingError):
                classes.arrive(classes.open("s", f"{k} {n}", f"{k}"), "student", 1, f"{k}")
    for k in range(10):
        assert classes.open("s", "lecturer", f"new {k}")


def test_one_class_of_each_address_makes_no_room_for_another() -> None:
    classes = Classes()
    for k in range(MOST):
        classes.open("s", "lecturer", f"{k}")
    with pytest.raises(SettingError):
        classes.open("s", "another", "new")


def test_participants_of_a_class_are_bounded() -> None:
    classes = Classes()
    code = classes.open("s", "lecturer", "")
    for k in range(MOST_PARTICIPANTS + 5):
        classes.arrive(code, str(k), 1)
    found = classes.report(code)
    assert found is not None
    assert found.views.total() == MOST_PARTICIPANTS


def test_guesses_find_no_class_while_it_is_open() -> None:
    guesses = 20 * LONGEST  # a server answers about 20 a second
    assert guesses * MOST / len(LETTERS) ** LENGTH < 0.001


def test_an_address_that_guesses_codes_waits_and_a_class_there_enters_its_own() -> None:
    now = [0.0]
    classes = Classes(lambda: now[0])
    here, far = classes.open("s", "lecturer", "school"), classes.open("t", "another", "elsewhere")
    for k in range(30):  # everyone in the room types the right code at the same time, after a closed one
        assert classes.sequence("AAAAAAAA", f"student {k}", "school") is None
        assert classes.sequence(far, f"student {k}", "school") == "t"
    classes.arrive(far, "participant", 1, "school")
    wrong = [f"AAAAAA{a}{b}" for a, b in zip(LETTERS, LETTERS[::-1], strict=True)]
    for k, code in enumerate(wrong[: GUESSES - 1]):
        assert classes.sequence(code, f"made up {k}", "school") is None
        now[0] += 0.1
    for code in (wrong[-1], far):
        with pytest.raises(SettingError, match="20 wrong codes came from your network address"):
            classes.sequence(code, "made up", "school")
    assert classes.sequence("too long for a code", "made up", "away") is None
    assert classes.sequence(here, "late student", "school") == "s", "the class was opened there"
    assert classes.sequence(far, "participant", "school") == "t"
    assert classes.sequence(far, "another", "school") == "t"
    assert classes.sequence(far, "student", "another school") == "t"
    now[0] += GUESS_SECONDS
    assert classes.sequence(far, "late student", "school") == "t"


def test_made_up_participants_push_out_only_those_of_their_own_network() -> None:
    classes = Classes()
    code = classes.open("s", "lecturer", "")
    for k in range(MOST_PARTICIPANTS):
        classes.arrive(code, str(k), 1, "near")
        classes.answer(code, str(k), 1, "forged")
    for k in range(3):
        classes.arrive(code, f"student {k}", 2, "far")
        classes.answer(code, f"student {k}", 2, "7")
    for k in range(MOST_PARTICIPANTS):
        classes.arrive(code, f"made up {k}", 3, "near")
    found = classes.report(code)
    assert found is not None
    assert dict(found.views) == {2: 3, 3: MOST_PARTICIPANTS - 3}
    assert {view: dict(counts) for view, counts in found.answers.items()} == {2: {"7": 3}}


def test_a_participant_is_counted_for_its_address(open_page: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    code, arrived = CLASSES.open(LECTURE.packed(), "lecturer", ""), list[tuple[object, ...]]()
    monkeypatch.setattr(sequence, "address", lambda: "near")
    monkeypatch.setattr(CLASSES, "arrive", lambda *about: arrived.append(about[2:]))
    open_page("train", **{"class": code, "at": "1"})
    assert set(arrived) == {(1, "near")}


# --- the page and the bar -----------------------------------------------------------------------------------


def bar(app: AppTest) -> str:
    """Return the HTML of the bar; "" without one."""
    found = [one.proto.body for one in app.get("html") if "<nav" in one.proto.body]
    return found[0] if found else ""


def test_the_page_starts_with_an_example_that_can_be_edited_and_undone(open_by_menu: Opener) -> None:
    app = open_by_menu("lecture")
    app.button(key="lecture-example").click().run()
    assert app.session_state[KEY] == example()
    app.button(key="down-0-1").click().run()
    assert [one.page for one in app.session_state[KEY].views][:2] == ["playground", "lessons"]
    app.text_area(key="text-0-2").input("*now*").run()
    assert app.session_state[KEY].views[0].text == "*now*"
    app.button(key="remove-3-2").click().run()
    assert len(app.session_state[KEY].views) == 3
    app.button(key="lecture-undo").click().run()
    assert len(app.session_state[KEY].views) == 4
    app.button(key="lecture-undo").click().run()
    assert app.session_state[KEY].views[0] == example().views[1]
    app.button(key="lecture-undo").click().run()
    assert app.session_state[KEY] == example()
    app.button(key="lecture-undo").click().run()
    assert "lecture-undo" not in [one.key for one in app.button], "nothing is left to undo"
    assert not app.exception


def test_a_link_opens_the_page_of_its_view_with_text_and_ways(open_page: Opener) -> None:
    sequence = Sequence("L", (View("train", {}), View("weights", {}, "**look** ![p](x)"), View("data", {})))
    app = open_page("weights", seq=sequence.packed(), at="2")
    assert "2 / 3" in bar(app)
    assert "/train?" in bar(app)
    assert "/data?" in bar(app)
    assert any(one.value.startswith("**look** !&#91;p&#93;") for one in app.markdown)
    assert not app.warning  # the parameters are known


def test_a_view_is_added_to_the_followed_lecture_and_a_page_left_has_a_way_back(open_page: Opener) -> None:
    app = open_page("weights", seq=example().packed(), at="2")
    opened(app, "share-and-presets").sidebar.button(key="add-view").click().run()
    assert app.session_state[KEY].views[:-1] == example().views
    assert app.session_state[KEY].views[-1].page == "weights"
    app.query_params.clear()  # the page is left by the menu
    app.run()
    assert "2" in bar(app)
    assert "/playground?" in bar(app)


def test_a_view_of_a_lesson_has_no_prediction_of_the_lecturer(open_page: Opener) -> None:
    for step, kept in (("2", None), ("3", "shown"), ("5", "shown")):
        app = opened(open_page("lessons", lesson="alpha", step=step, guess="12"), "share-and-presets")
        app.sidebar.button(key="add-view").click().run()
        query = app.session_state[KEY].views[-1].query
        assert (query["step"], query.get("guess")) == (step, kept)


def test_a_view_shows_its_values_and_locks_them(open_page: Opener) -> None:
    views = (View("kernel_approximation", {"c": "-6", "of": "query"}, locked=True), View("train", {}))
    packed = Sequence("L", views).packed()
    app = open_page("kernel_approximation", seq=packed, at="1", c="-6", of="query")
    bound = [
        *app.slider,
        *app.selectbox,
        *app.select_slider,
        *app.number_input,
        *app.toggle,
        *app.button_group,
    ]
    own = [one for one in bound if one.key not in ("large", "alone") and "-size" not in one.key]  # pictures
    assert len(own) > 15
    assert not [one.key for one in own if not one.disabled]
    assert [app.slider(key="c").value, app.session_state["of"]] == [-6, "query"]
    assert app.button(key="new-draw").disabled
    told = [getattr(one, "value", None) for one in app.main]
    assert told.index(words.CONTROLS_LOCKED) < told.index("Nyström and Fourier"), "the bar is above the page"
    app.query_params.clear()  # the page is left by the menu
    app.run()
    assert not app.slider(key="c").disabled
    other = open_page("train", seq=packed, at="2")
    assert not other.slider(key="c").disabled


@pytest.mark.usefixtures("every_tab")
@pytest.mark.parametrize("page", [entry.file for entry in ENTRIES])
def test_every_control_of_every_page_is_locked(open_page: Opener, page: str) -> None:
    app = open_page(page, seq=Sequence("L", (View(page, {}, locked=True),)).packed(), at="1")
    drawn = [one for one in (*app.main, *app.sidebar) if hasattr(getattr(one, "proto", None), "DESCRIPTOR")]
    assert any(getattr(one.proto, "disabled", False) for one in drawn)
    pictures = tuple(f"-{kind}" for kind in ("size", *KINDS))
    free = [
        one.key for one in drawn if getattr(one.proto, "disabled", True) is False and one.type not in _FREE
    ]
    assert not [
        key for key in free if key not in (LARGE, ALONE, "add-view") and not str(key).endswith(pictures)
    ]
    assert not [one.key for one in drawn if getattr(one.proto, "selection_mode", ())]
    told = [data["locked"] for data in components(app) if "locked" in data]
    assert all(told)
    assert bool(told) == (page in ("home", "playground", "weights", "what_if"))  # steps of lessons stay free


def test_what_if_can_be_changed_in_no_locked_view(open_page: Opener) -> None:
    packed = Sequence("L", (View("what_if", {}, locked=True), View("what_if", {}))).packed()
    for at, fixed in ((1, True), (2, False)):
        app = open_page("what_if", seq=packed, at=at)
        ways = [one for one in app.button if str(one.key).startswith("training-")]
        assert [one.disabled for one in ways] == [fixed] * 3
        popovers = [one.proto.popover for one in app.get("popover")]
        assert [one.disabled for one in popovers if one.label in ("Edit", "Add", "Leave out")] == [fixed] * 3


def test_the_lecturer_of_a_class_moves_what_is_locked_for_students(
    open_by_menu: Opener, open_page: Opener
) -> None:
    app = open_by_menu("lecture")
    app.button(key="lecture-example").click().run()
    app.toggle(key="locked-2-1").set_value(True).run()
    assert [one.locked for one in app.session_state[KEY].views] == [False, False, True, False]
    app.button(key="open-class").click().run()
    code = str(app.session_state["lecture-class"])
    student = open_page("kernel_approximation", **{"class": code, "at": "3"})
    assert student.slider(key="c").disabled
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence, "visitor", lambda: CLASSES._open[code].lecturer)
        assert not student.run().slider(key="c").disabled
    CLASSES.close(code, CLASSES._open[code].lecturer)


def test_the_lecturer_sees_a_histogram_of_the_gaps_at_a_view_until_the_class_is_closed(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = View("lessons", {"lesson": "alpha", "step": "3", "guess": "shown"})
    lecture = Sequence("L", (View("lessons", {"lesson": "alpha"}), View("train", {}), answer))
    code = CLASSES.open(lecture.packed(), "lecturer", "")
    for student in "abc":
        CLASSES.arrive(code, student, 1)
    monkeypatch.setattr(sequence, "visitor", lambda: "lecturer")
    answered = open_page("lessons", **{"class": code, "at": "3", **answer.query})
    assert words.NO_PREDICTIONS not in [one.value for one in answered.caption], "nobody is asked there"
    app = open_page("lessons", **{"class": code, "at": "1"})
    assert words.NO_PREDICTIONS in [one.value for one in app.caption]
    assert not figures(app)
    for student, told in (("a", 8.0), ("b", -1.0), ("c", 8.0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sequence, "visitor", lambda student=student: student)
            followed = {sequence._FOLLOWED: Place(lecture, (sequence.CODE, code), 1)}
            patch.setattr(sequence.st, "session_state", followed)
            report_gap("alpha", told)
            report_gap("newton", 99.0)  # a student who went on to another lesson
    (drawn,) = figures(app.run())
    assert decoded(drawn["data"][0]["y"]) == [1, 0, 0, 0, 0, 2]
    assert drawn["layout"]["xaxis"]["title"]["text"] == gap_axis("alpha")
    alt = app.get("plotly_chart")[0].proto.alt
    assert alt == words.GAPS.format(axis=gap_axis("alpha"), counts="−2 to −1: 1, 8 to 9: 2")
    monkeypatch.setattr(sequence, "visitor", lambda: "a")
    assert not figures(app.run())
    CLASSES.close(code, "lecturer")
    monkeypatch.setattr(sequence, "visitor", lambda: "lecturer")
    assert not figures(app.run())


@pytest.mark.parametrize("wrong", [{"seq": "damaged"}, {"class": "NOSUCH"}])
def test_a_wrong_link_says_so_and_shows_the_page(open_page: Opener, wrong: dict[str, str]) -> None:
    app = open_page("weights", at="1", **wrong)
    assert len(app.warning) == 1
    assert bar(app) == ""
    assert app.title


def test_the_lecturer_sees_the_class_and_a_participant_its_views(
    open_by_menu: Opener, open_page: Opener
) -> None:
    app = open_by_menu("lecture")
    app.button(key="lecture-example").click().run()
    app.button(key="open-class").click().run()
    code = str(app.session_state["lecture-class"])
    assert any(code in one.value for one in app.markdown)
    student = open_page("playground", **{"class": code.lower(), "at": "2"})
    assert "2 / 4" in bar(student)
    assert any(COOKIE in one.proto.body for one in student.get("html"))  # else each view counts anew
    found = CLASSES.report(code)
    assert found is not None
    assert dict(found.views) == {2: 1}
    app.button(key="close-class").click().run()
    assert CLASSES.report(code) is None
    assert "open-class" in [one.key for one in app.button]
    assert app.session_state[KEY] == example()
    (told,) = open_page("playground", **{"class": code, "at": "3"}).warning  # a student who goes on
    assert told.value[0].isupper()
    assert told.value.endswith(".")


def test_a_participant_is_counted_before_the_start_and_told_what_comes_next(open_page: Opener) -> None:
    code = CLASSES.open(example().packed(), "lecturer", "")

    def told(page: str, at: str) -> str:
        found = open_page(page, **{"class": code, "at": at}).get("html")
        return "".join(one.proto.body for one in found if '<p class="class-place' in one.proto.body)

    assert f"{words.IN_CLASS} {words.WAIT}" in told("lecture", "0")
    found = CLASSES.report(code)
    assert found is not None
    assert dict(found.views) == {0: 1}
    nothing = '<p class="class-place" role="status"></p>'
    assert told("lessons", "1") == nothing
    CLASSES.arrive(code, "lecturer", 2)
    assert words.IN_CLASS in told("lecture", "0")
    assert "/playground?" in told("lecture", "0")
    assert "/playground?" in told("lessons", "1")
    assert told("playground", "2") == nothing
    CLASSES.close(code, "lecturer")


def test_links_for_students_have_no_large_type_of_the_lecturer(open_page: Opener) -> None:
    app = open_page("lecture")
    assert app.text_input(key="join-class").value == "", "where Home leads a student"
    app.button(key="lecture-example").click().run()
    app.button(key="open-class").click().run()
    app.toggle(key="large").set_value(True).run()
    shared = [one.value for one in app.code]
    assert ["class=" in one for one in shared] == [True, False]
    assert not [one for one in shared if "large" in one]
    starts = [one.proto.body for one in app.get("html") if '<a class="lecture-start' in one.proto.body]
    assert ["large=true" in one for one in starts] == [True]


def test_a_lecturer_finds_the_open_class_again_after_a_reload(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lecture, "visitor", lambda: "lecturer")
    packed = Sequence("Found again", example().views).packed()
    app = open_page("lecture", seq=packed, at="0")
    app.button(key="open-class").click().run()
    code = app.session_state["lecture-class"]
    again = open_page("lecture", seq=packed, at="0")
    assert again.session_state["lecture-class"] == code
    assert "open-class" not in [one.key for one in again.button]
    other = open_page("lecture", seq=Sequence("Another", example().views).packed(), at="0")
    assert "close-class" not in [one.key for one in other.button]
    again.button(key="close-class").click().run()
    assert CLASSES.report(code) is None


def test_lessons_of_a_lecture_are_told_apart(open_page: Opener) -> None:
    views = (View("lessons", {"lesson": "loss", "step": "3"}), View("lessons", {"lesson": "?", "step": "9"}))
    app = open_page("lecture", seq=Sequence("L", views).packed())
    said = [one.value for one in app.markdown]
    assert "1. Lessons: Losses, step 3" in said
    assert "2. Lessons: Pairs and margins, step 1" in said


def test_views_of_one_page_differ_by_their_settings_in_the_list(open_page: Opener) -> None:
    query = {"data": "a*b", "fold": "Fold1", "c": "-1", "loss": "hinge", "seed": "0"}
    plane = {**query, "pset": "Ring", "peach": "20", "pmap": "Nyström", "pm": "6", "pc": "2"}
    views = (View("train", query), View("train", {}), View("playground", plane), View("data", query))
    app = open_page("lecture", seq=Sequence("", views).packed())
    listed = [one.value for one in app.main.markdown]
    assert listed[-4:] == [
        "1. Train :small[a&#42;b, Fold 1, C = 2⁻¹, Loss = hinge]",
        "2. Train",
        "3. Playground :small[Documents of each query = 20, Feature map = Nyström, m = 6, C = 2²]",
        "4. Data :small[a&#42;b, Fold 1]",
    ]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("How many? (ü)", "How-many-ü.json"),
        ("../a\\b_c", "a-b-c.json"),
        ("x" * 100, f"{'x' * 60}.json"),
        ("", "lecture.json"),
        ("…", "lecture.json"),
    ],
)
def test_a_saved_file_has_the_title_of_its_lecture(title: str, name: str) -> None:
    assert lecture.file_name(title) == name


@pytest.mark.parametrize("view", example().views, ids=lambda view: view.page)
def test_every_view_of_the_example_has_settings_that_exist(open_page: Opener, view: View) -> None:
    assert [one.value for one in open_page(view.page, **view.query).warning] == []


def test_a_lecture_is_made_in_several_tabs_and_only_by_its_visitor(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = opened(open_page("train", m="10"), "share-and-presets")
    first.sidebar.button(key="add-view").click().run()
    (view,) = first.session_state[KEY].views
    assert (view.page, view.query["m"], view.query["data"]) == ("train", "10", "synthetic-demo")
    assert any(COOKIE in one.proto.body for one in first.sidebar.get("html"))
    second = open_page("weights")
    second.session_state[COOKIE] = first.session_state[COOKIE]
    opened(second, "share-and-presets").sidebar.button(key="add-view").click().run()
    reloaded, stranger = open_page("lecture"), open_page("lecture")
    reloaded.session_state[COOKIE] = first.session_state[COOKIE]
    assert len(reloaded.run().text_area) == 2
    assert any(COOKIE in one.proto.body for one in reloaded.get("html"))
    assert len(stranger.text_area) == 0
    monkeypatch.setattr(sequence, "MOST_KEPT", 1)
    stranger.button(key="lecture-example").click().run()
    assert len(sequence._KEPT) == 1
    monkeypatch.setattr(sequence, "LONGEST_KEPT", 10)
    stranger.button(key="remove-0-1").click().run()
    assert sequence._KEPT == {}
    assert len(stranger.text_area) == 3


def test_made_up_visitors_push_out_only_lectures_of_their_own_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def keep(visitor: str, address: str) -> None:
        monkeypatch.setattr(sequence, "st", SimpleNamespace(session_state={}))
        monkeypatch.setattr(sequence, "visitor", lambda: visitor)
        monkeypatch.setattr(sequence, "address", lambda: address)
        sequence.change(Sequence(views=(View("train", {"m": "10"}),)))

    monkeypatch.setattr(sequence, "_KEPT", {})
    monkeypatch.setattr(sequence, "MOST_KEPT", 5)
    keep("lecturer", "here")
    for number in range(20):
        keep(f"made up {number}", "there")
    assert list(sequence._KEPT) == ["lecturer", *(f"made up {number}" for number in range(16, 20))]
    keep("lecturer", "here")
    assert list(sequence._KEPT)[-1] == "lecturer"
    assert len(sequence._KEPT) == 5


def test_a_wrong_file_is_named_with_what_to_do(open_by_menu: Opener) -> None:
    app = open_by_menu("lecture")
    app.file_uploader[0].set_value([("mine.json", b'{"format": "rankviz sequence"}', "application/json")])
    app.run()
    assert "mine.json" in app.error[0].value
    assert KEY not in app.session_state


def test_a_large_file_is_refused_unread_and_its_bytes_are_not_kept(open_by_menu: Opener) -> None:
    app = open_by_menu("lecture")
    app.file_uploader[0].set_value([("mine.json", b" " * 300_000, "application/json")]).run()
    assert "the file has 300,000 bytes" in app.error[0].value
    assert KEY not in app.session_state
    assert app.session_state["lecture-file-0"].getvalue() == b""
