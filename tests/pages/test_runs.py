"""The Runs page: what is listed, found and told of runs, what is done with them, and whose they are."""

import io
import json
import zipfile
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from conftest_pages import Opener, figures, words
from streamlit.testing.v1 import AppTest

from rankviz import RunRecord, RunSpec, execute_all
from rankviz.common.errors import DataError, SettingError
from rankviz.datasets import make_fold
from rankviz.datasets.archives import Upload
from rankviz.store import RunStore, Study
from rankviz.store.exchange import export_runs
from ui.compare import runs_actions as actions
from ui.compare import runs_words
from ui.compare.runs_actions import CHOSEN
from ui.compare.runs_filters import Columns
from ui.work.run_store import run_store
from ui.work.runs import CHECKING

ME, YOU = "1" * 32, "2" * 32
HOSTILE = "![p](https://elsewhere.example/p.png) **b**"


def digest_of(secret: str) -> str:
    return blake2b(secret.encode(), digest_size=16).hexdigest()


@pytest.fixture(scope="module")
def made() -> list[RunRecord]:
    """Linear runs and two on Nyström features, of one fold."""
    fold = make_fold(n_queries=20, documents_per_query=(8, 12), seed=0)
    linear = RunSpec("made", digest=fold.digest, feature_map="linear")
    nystroem = RunSpec("made", digest=fold.digest, n_components=10)
    specs = [linear.but(C=2.0**k) for k in (-8, -6, -4)] + [nystroem.but(seed=seed) for seed in (0, 1)]
    return [record for _, record in execute_all(specs, fold=fold)]


@pytest.fixture
def as_visitor(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have pages be opened by who has this secret."""
    return lambda secret: monkeypatch.setattr("ui.shell.visitors._secret", lambda: secret)


@pytest.fixture
def store(made: list[RunRecord], as_visitor: Callable[[str], None]) -> RunStore:
    """The store of the pages, in which the runs are one visitor's, who opens the pages."""
    as_visitor(ME)
    found = run_store()
    found.records.keep(made, digest_of(ME))
    return found


def rows(app: AppTest) -> pd.DataFrame:
    return app.dataframe[0].value


def choose(app: AppTest, digests: list[str]) -> None:
    app.session_state[CHOSEN] = digests
    app.run()


def press(app: AppTest, key: str) -> None:
    app.button(key=key).click().run()
    assert not app.exception
    assert not app.error, app.error[0].value


def test_the_best_run_is_told_and_drawn(
    open_page: Opener, made: list[RunRecord], as_visitor: Callable[[str], None]
) -> None:
    as_visitor(ME)
    shares = zip(made, (0.9, 1.0, 0.8, 0.7, 0.6), strict=True)
    graded = [replace(one, metrics={p: share * t for p, t in one.metrics.items()}) for one, share in shares]
    run_store().records.keep(graded, digest_of(ME))
    app = open_page("runs")
    best = graded[1].metrics["vali"]["NDCG@10"].mean()
    assert app.header[0].value.startswith("Of 5 runs on made fold 1, linear")
    assert f"C = 2⁻⁶ has the best validation NDCG@10: {best:.3f}." in app.header[0].value
    assert {trace["name"] for trace in figures(app)[0]["data"]} == {"linear", "Nyström", "best"}
    assert "5 runs." in words(app)


@pytest.mark.usefixtures("store")
def test_times_are_those_of_the_browsers_zone_or_of_utc_and_say_so(open_page: Opener) -> None:
    app = open_page("runs")
    for zone, title in {
        "Asia/Tokyo": "made",
        **dict.fromkeys(("", "nowhere", "/etc/passwd", "Europe", "x" * 9999, "\0"), "made (UTC)"),
    }.items():
        app.context["timezone"] = zone
        app.run()
        assert str(rows(app)["made"].dt.tz) == (zone if title == "made" else "UTC")
        assert json.loads(app.dataframe[0].proto.columns)["made"]["label"] == title


@pytest.mark.parametrize("name", ["run", "runs"])
def test_a_link_chooses_its_runs_and_says_which_are_lost(
    open_page: Opener, store: RunStore, made: list[RunRecord], name: str
) -> None:
    digests = [made[1].spec.hash, made[3].spec.hash]
    app = open_page("runs", **{name: ",".join([*digests, "0" * 16])})
    assert app.session_state[CHOSEN] == digests
    assert app.warning[0].value == runs_words.LOST_RUNS.format(runs="1 run")
    assert "ignores" not in words(app)
    choose(app, digests[:1])
    assert app.session_state[CHOSEN] == digests[:1], "the link chooses once"
    assert app.warning[0].value == runs_words.LOST_RUNS.format(runs="1 run")


def test_a_link_to_lost_runs_offers_ways_on_without_any_run(open_page: Opener) -> None:
    app = open_page("runs", run="0" * 16)
    assert app.warning[0].value == runs_words.LOST_RUNS.format(runs="1 run")
    assert app.header[0].value == "No runs yet."
    assert "Train one" in [link.proto.label for link in app.get("page_link")]


@pytest.mark.usefixtures("store")
def test_equal_runs_have_no_best_and_only_what_differs_has_a_column(
    open_page: Opener, made: list[RunRecord]
) -> None:
    (value,) = {f"{record.metrics['vali']['NDCG@10'].mean():.3f}" for record in made}
    app = open_page("runs")
    assert app.header[0].value == f"All 5 runs on made fold 1 have validation NDCG@10 {value}."
    assert sorted(rows(app)["C"]) == [-8, -7, -7, -6, -4]
    assert rows(app)["Seed"].isna().sum() == 3, "gaps are gaps"
    assert {"C", "Feature map", "Seed", "NDCG@10, validation", "seconds", "made"} <= set(rows(app))
    assert not {"Data set", "Loss", "m", "state", "whose", "tags"} & set(rows(app))
    said = next(text for text in words(app).splitlines() if text.startswith("All: "))
    assert "squared hinge" in said
    assert "made" in said
    app.toggle(key="everything").set_value(True).run()
    assert {"Data set", "Loss", "m"} <= set(rows(app))
    assert not [title for title in rows(app) if "test" in title]
    app.get("button_group")[0].set_value(["vali", "test"]).run()
    assert "NDCG@10, test" in rows(app)
    choose(app, [made[0].spec.hash])
    assert app.button(key="runs-open").disabled
    assert app.button(key="runs-open").help == "Its data are not here."


@pytest.mark.parametrize(
    ("link", "left"),
    [
        ({"find": "linear"}, 3),
        ({"find": "NYSTRÖM made"}, 2),
        ({"find": "nothing like it"}, 0),
        ({"starred": "true"}, 1),
        ({"find": "lecture"}, 2),
        ({"find": "again"}, 1),
        ({"atleast": "1.0"}, 0),
        ({"by": "Feature map", "only_feature_map": "Nyström"}, 2),
    ],
)
def test_a_link_shows_the_same_selection(
    link: Mapping[str, str], left: int, open_page: Opener, store: RunStore, made: list[RunRecord]
) -> None:
    me, first, second = digest_of(ME), made[0].spec.hash, made[1].spec.hash
    store.marks.star(me, [first])
    store.marks.note(me, [first], "look again")
    store.marks.tag(me, [first, second], "Lecture")
    app = open_page("runs", **link)
    if left:
        assert len(rows(app)) == left
    else:
        assert app.header[0].value == "None of 5 runs matches."
    press(app, "show-all" if left else "show-all-again")
    assert len(rows(app)) == 5
    assert not set(link) & set(app.query_params)


def test_folds_have_their_numbers_in_words_and_their_names_in_links(
    open_page: Opener, made: list[RunRecord], as_visitor: Callable[[str], None]
) -> None:
    as_visitor(ME)
    other = replace(made[1], spec=made[1].spec.but(fold="Fold2"))
    run_store().records.keep([made[0], other], digest_of(ME))
    app = open_page("runs", only_f="Fold2")
    shown = app.multiselect(key="only_f-named")
    assert (shown.options, shown.value) == (["Fold 1", "Fold 2"], ["Fold2"])
    assert len(rows(app)) == 1
    shown.set_value([]).run()
    assert len(rows(app)) == 2
    assert sorted(rows(app)["Fold"]) == ["fold 1", "fold 2"]
    assert "only_f" not in app.query_params


@pytest.mark.usefixtures("store")
def test_an_axis_of_powers_has_powers_and_numbers_are_chosen_by_a_range(open_page: Opener) -> None:
    app = open_page("runs", against="C", by="C")
    axis = figures(app)[0]["layout"]["xaxis"]
    assert (axis["title"]["text"], axis["tickvals"]) == ("C", [-8, -7, -6, -4])
    assert axis["ticktext"] == ["2⁻⁸", "2⁻⁷", "2⁻⁶", "2⁻⁴"]
    app.select_slider(key="only_C").set_range(2.0**-8, 2.0**-7).run()
    assert sorted(rows(app)["C"]) == [-8, -7, -7]
    press(app, "show-all")
    assert len(rows(app)) == 5
    assert not {"by", "only_C"} & set(app.query_params)


def test_marks_are_kept(open_page: Opener, store: RunStore, made: list[RunRecord]) -> None:
    me, first = digest_of(ME), made[0].spec.hash
    store.marks.tag(me, [made[1].spec.hash], "for the lecture")
    app = open_page("runs")
    assert app.button(key="runs-delete").disabled
    choose(app, [first])
    press(app, "runs-star")
    app.selectbox(key="runs-new-tag").set_value("for the lecture").run()
    press(app, "runs-tag-add")
    app.text_area[0].set_value(" look again ").run()
    press(app, "runs-note-keep")
    press(app, "runs-group")
    row = store.listing.seen_by(me).loc[first]
    assert (row["star"], row["tags"], row["note"], row["shared"]) == (
        True,
        ("for the lecture",),
        "look again",
        True,
    )
    assert rows(app)["★"].tolist().count("★") == 1
    assert rows(app)["whose"].tolist().count("own, shared") == 1
    for key in ("runs-star", "runs-group", "runs-untag-0"):
        press(app, key)
    row = store.listing.seen_by(me).loc[first]
    assert (row["star"], row["tags"], row["shared"]) == (False, (), False)


def test_what_is_deleted_comes_back(open_page: Opener, store: RunStore, made: list[RunRecord]) -> None:
    app, me = open_page("runs"), digest_of(ME)
    gone = [made[0].spec.hash, made[1].spec.hash]
    choose(app, gone)
    press(app, "runs-delete")
    assert len(rows(app)) == 3
    assert "2 runs deleted" in words(app)
    press(app, "runs-undo")
    assert len(rows(app)) == 5
    choose(app, gone)
    press(app, "runs-delete")
    later = open_page("runs", deleted="true")
    assert len(rows(later)) == 2
    choose(later, gone[:1])
    press(later, "runs-restore")
    assert set(store.listing.deleted_by(me).index) == {gone[1]}


@pytest.mark.usefixtures("store")
def test_all_that_were_found_are_chosen_and_no_others(open_page: Opener, made: list[RunRecord]) -> None:
    app = open_page("runs", find="linear")
    press(app, "runs-all")
    assert sorted(app.session_state[CHOSEN]) == sorted(
        r.spec.hash for r in made if r.spec.feature_map == "linear"
    )
    press(app, "runs-delete")
    assert app.header[0].value == "None of 2 runs matches."
    press(app, "runs-undo")
    assert len(rows(app)) == 3


def test_others_see_what_is_shared_and_cannot_change_it(
    open_page: Opener, store: RunStore, made: list[RunRecord], as_visitor: Callable[[str], None]
) -> None:
    shared = made[0].spec.hash
    store.marks.share(digest_of(ME), [shared])
    as_visitor(YOU)
    app = open_page("runs")
    assert rows(app)["whose"].tolist() == ["of others"]
    choose(app, [shared, made[1].spec.hash])
    assert app.session_state[CHOSEN][0] == shared
    for key in ("runs-star", "runs-delete", "runs-group"):
        assert app.button(key=key).disabled


def test_foreign_text_is_shown_as_it_is(
    open_page: Opener, store: RunStore, made: list[RunRecord], as_visitor: Callable[[str], None]
) -> None:
    as_visitor(YOU)
    fold = make_fold(n_queries=20, documents_per_query=(8, 12), seed=0)
    specs = [RunSpec(HOSTILE, digest=fold.digest, feature_map="linear", C=2.0**k) for k in (1, 2)]
    store.records.keep([record for _, record in execute_all(specs, fold=fold)], digest_of(YOU))
    for act in (store.marks.tag, store.marks.note):
        act(digest_of(YOU), [spec.hash for spec in specs], HOSTILE)
    app = open_page("runs")
    choose(app, [specs[0].hash])
    assert "](https://elsewhere" not in words(app)
    assert "**b**" not in words(app)
    labels = [button.label for button in app.button]
    assert any("elsewhere" in label for label in labels)
    assert not any("](https://elsewhere" in label or "**b**" in label for label in labels)
    (figure,) = figures(app)
    assert "<img" not in str(figure)


def test_failed_runs_say_why(open_page: Opener, store: RunStore, made: list[RunRecord]) -> None:
    wanted = made[0].spec.but(C=8.0)
    store.studies.submit(Study(digest_of(ME), "a sweep"), [wanted])
    store.records.fail(wanted, "Training took more memory than there is.")
    app = open_page("runs")
    assert "Training took more memory than there is." in rows(app)["reason"].tolist()
    assert "1 failed" in words(app)
    app = open_page("runs", state="failed")
    assert len(rows(app)) == 1
    assert "None has been trained" in app.header[0].value


def test_a_study_narrows_the_list(open_page: Opener, store: RunStore, made: list[RunRecord]) -> None:
    study = store.studies.submit(Study(digest_of(ME), "seeds"), [made[3].spec, made[4].spec])
    app = open_page("runs", study=f"seeds · {study[:6]}")
    assert not app.warning, "the study of the address is there"
    assert len(rows(app)) == 2
    assert list(rows(app)["Seed"]) == [0, 1]


# --- files -----------------------------------------------------------------------------------------------


def exported(store: RunStore, digests: list[str], folder: Path) -> bytes:
    path = folder / "some.rankviz"
    export_runs(store, digests, digest_of(ME), path)
    return path.read_bytes()


def test_a_damaged_file_is_a_sentence_and_keeps_nothing(
    store: RunStore, made: list[RunRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = exported(store, [record.spec.hash for record in made[:2]], tmp_path)
    monkeypatch.setattr(actions, "visitor", lambda: "another")
    middle = len(whole) // 2
    damaged = [b"", b"no zip", whole[:-200], whole[:middle] + bytes(64) + whole[middle + 64 :]]
    for content in damaged:
        with pytest.raises(DataError, match=r"not a readable|cannot|damaged|not"):
            actions.store_upload(Upload("x.rankviz", io.BytesIO(content)))
    assert store.listing.seen_by("another").empty
    assert actions.store_upload(Upload("x.rankviz", io.BytesIO(whole))) == 2
    assert len(store.listing.seen_by("another")) == 2


def test_a_file_that_is_damaged_does_not_keep_others_out(
    store: RunStore, made: list[RunRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = exported(store, [record.spec.hash for record in made[:2]], tmp_path)
    named = [("bad.json", b"{}"), ("good.rankviz", whole), ("bad.npz", b"no zip")]
    uploads = [Upload(name, io.BytesIO(content)) for name, content in named]
    monkeypatch.setattr(actions, "visitor", lambda: "another")
    monkeypatch.setattr(actions.upload_memory, "uploads", lambda _: uploads)
    monkeypatch.setattr(actions.upload_memory, "release_files", lambda: None)
    monkeypatch.setattr(actions, "_start_over", lambda *why: told.extend(why))
    told = list[str]()
    actions._take_in(["1", "2", "3"])
    assert len(store.listing.seen_by("another")) == 2
    assert [why.split(":")[0] for why in told] == ["bad.json", "bad.npz"]


def test_imports_take_turns_with_other_uploads(monkeypatch: pytest.MonkeyPatch) -> None:
    held = list[bool]()
    monkeypatch.setattr(actions, "store_upload", lambda _: held.append(CHECKING._now is not None) or 1)
    monkeypatch.setattr(actions.upload_memory, "uploads", lambda ids: ids)
    monkeypatch.setattr(actions, "_start_over", lambda *_: None)
    actions._take_in(["1", "2"])
    assert held == [True, True]
    assert CHECKING._now is None


def test_a_link_to_a_study_that_is_not_there_is_said(open_page: Opener, store: RunStore) -> None:
    app = open_page("runs", study="f" * 32)
    assert runs_words.NO_STUDY in app.warning[0].value


def test_a_selection_leaves_as_one_file_and_as_a_table(
    store: RunStore, made: list[RunRecord], tmp_path: Path
) -> None:
    digests = [record.spec.hash for record in made[:2]]
    files = (actions._exported(digests, digest_of(ME), "")(), exported(store, digests, tmp_path))
    one, other = (zipfile.ZipFile(io.BytesIO(file)) for file in files)
    assert {name: one.read(name) for name in one.namelist()} == {
        name: other.read(name) for name in other.namelist()
    }, "but for the times"
    store.marks.note(digest_of(ME), digests, "=1+1")
    table = actions.flat(store.listing.seen_by(digest_of(ME)).loc[digests])
    text = actions.as_csv(table)
    assert "'=1+1" in text
    assert digests[0] in text
    assert "test:" not in text


def test_no_file_is_made_that_is_too_large_or_while_downloads_hold_much_memory(
    store: RunStore, made: list[RunRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = [record.spec.hash for record in made[:2]]
    size = store.records.bytes_of(digests)
    assert size == sum(len(store.records.content(digest)) for digest in digests)
    made_by = (
        lambda who: actions._exported(digests, digest_of(ME), who),
        partial(actions._trec_runs, digests),
    )
    monkeypatch.setattr(actions, "_taken", deque())
    monkeypatch.setattr(actions, "MOST_OF_ONE", 2 * size)
    for limit, held, why in (
        (size - 1, 0, "choose fewer"),
        (size, actions.MOST_DOWNLOADS, "wait"),
        (size, 0, ""),
    ):
        monkeypatch.setattr(actions, "LIMITS", replace(actions.LIMITS, upload_bytes=limit))
        monkeypatch.setattr(actions, "bytes_of_downloads", lambda held=held: held)
        for make in made_by:
            with pytest.raises(SettingError, match=why) if why else nullcontext():
                assert make("one")()
    for make in made_by:
        assert make("another")(), "an address takes no room of others"
        with pytest.raises(SettingError, match="wait"):
            make("one")()


# --- columns ---------------------------------------------------------------------------------------------


def table_of(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(columns)


def test_a_setting_that_some_runs_do_not_have_does_not_differ_by_that() -> None:
    columns = Columns(
        table_of(kernel=["laplacian", None, "laplacian"], gamma=[0.5, None, 0.25], rank=[None, 5, None])
    )
    assert columns.differing(columns.table) == ["gamma", "rank"]
    assert columns.common(columns.table) == "Laplacian kernel"


def test_what_differs_in_a_part_is_what_differs_where_there_is_nothing_else() -> None:
    table = table_of(
        kernel=["laplacian", None, "laplacian", "rbf"],
        gamma=[0.5, None, 0.25, 0.25],
        rank=[None, 5, None, None],
        C=[1.0, 1.0, 1.0, 2.0],
        fold=["Fold1", "Fold1", "Fold1", "Fold1"],
    )
    columns, found = Columns(table), set()
    for n in range(1, len(table) + 1):
        for rows in combinations(range(len(table)), n):
            part = columns.table.iloc[list(rows)]
            assert columns.differing(part) == Columns(part).differing(part)
            found.add(tuple(columns.differing(part)))
    assert {(), ("gamma",)} < found
    assert len(columns.differing(table)) == 4


def test_costs_are_compared_as_a_whole() -> None:
    lists = [["query", [[0, 0], [1, 0]]], ["query", [[0, 0], [1, 0]]], "rule", None]
    columns = Columns(table_of(costs=lists[:2]))
    assert columns.differing(columns.table) == []
    assert Columns(table_of(costs=lists)).differing(table_of(costs=lists)) == ["costs"]


def test_values_that_are_no_powers_are_written_as_they_are() -> None:
    columns = Columns(table_of(C=[0.25, 0.3]))
    assert not columns.by_powers("C", columns.table)
    columns = Columns(table_of(C=[0.25, 0.5]))
    assert columns.exponents("C", columns.table).tolist() == [-2, -1]


def test_small_tolerances_are_written_as_powers_of_ten() -> None:
    columns = Columns(table_of(tol=[1e-6, 1e-3], n_components=[10, 100], coef0=[1.0, 1.0]))
    assert columns.by_powers("tol", columns.table)
    assert columns.exponents("tol", columns.table).tolist() == [-6, -3]
    assert columns.base("tol") == 10
    assert not columns.by_powers("n_components", columns.table)
    assert not columns.by_powers("coef0", columns.table)


def test_a_damaged_upload_is_said_on_the_page(
    open_page: Opener,
    store: RunStore,
    made: list[RunRecord],
    tmp_path: Path,
    as_visitor: Callable[[str], None],
) -> None:
    whole = exported(store, [made[0].spec.hash], tmp_path)
    as_visitor(YOU)
    app = open_page("runs")
    for content, said in ((whole[:-100], "not a readable file of runs"), (whole, "1 run imported.")):
        sent = [("[mine](x).rankviz", content, "")]
        app.file_uploader[0].set_value(sent).run()
        app.file_uploader[0].set_value(sent)  # AppTest looks for bytes where the page has none
        app.button(key="runs-import-now").click().run()
        assert said in "".join(one.value for one in (*app.error, *app.success))
        assert len(store.listing.seen_by(digest_of(YOU))) == ("imported" in said)


def test_runs_whose_means_differ_by_rounding_are_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = [RunSpec("d", "Fold1", C=C) for C in (1.0, 2.0, 4.0)]
    about = {"dataset": "d", "fold": "Fold1", "state": "done", "vali:MAP": [0.3, 0.1 + 0.2, 0.2]}
    table = pd.DataFrame(about, index=[spec.hash for spec in specs])
    listing = SimpleNamespace(specs=lambda digests: [one for one in specs if one.hash in digests])
    monkeypatch.setattr(runs_words, "run_store", lambda: SimpleNamespace(listing=listing))
    monkeypatch.setattr(runs_words, "name_of", lambda spec, columns, among: f"C = {spec.C:g}")
    shown = SimpleNamespace(table=table, metric="MAP", total=3)
    answer, digest = runs_words.best_of(shown, None)  # type: ignore[arg-type]
    assert digest == specs[0].hash
    assert "C = 1 has the best validation MAP: 0.300 (1 other as good)" in answer
