"""Data: it counts what the library counts; uploads are a visitor's own, and broken ones change nothing."""

import errno
import gzip
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from conftest_pages import APP, Opener, figures, words
from streamlit.testing.v1 import AppTest

from rankviz.common.errors import SettingError
from rankviz.datasets import describe, find_datasets, make_data, open_fold, query_table, write_letor
from rankviz.datasets.parts import cyclic_fold
from rankviz.datasets.synthetic import Recipe
from ui.model import data as views
from ui.model import uploads
from ui.work.folds import data_roots_of_visitor

DATA = make_data(n_queries=10, documents_per_query=(2, 6), n_features=3, seed=1)
SMALL = Recipe(queries=20, smallest=2, largest=5, features=3)


def text(data) -> bytes:
    out = io.BytesIO()
    write_letor(data, out)
    return out.getvalue()


def archive(*folds: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        for k in folds or (1,):
            for part, data in cyclic_fold(DATA, k).parts.items():
                zipped.writestr(f"OWN/Fold{k}/{part}.txt", text(data))
    return out.getvalue()


@pytest.fixture(autouse=True)
def quiet_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.learn.home.headline", lambda *_: None)


def with_sidebar(app: AppTest, page: str = "data") -> list[str]:
    """Run router.py, which AppTest leaves out once it has switched pages, then the page; returns the menu."""
    app.switch_page("router.py").run()
    menu = app.selectbox(key="data").options
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception
    return list(menu)


def upload(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    """Choose files and press the button; given twice, for AppTest looks for bytes where the page has none."""
    sent = [(name, content, "text/plain") for name, content in files]
    app.file_uploader[0].set_value(sent).run()
    app.file_uploader[0].set_value(sent)
    app.button(key="upload-add").click().run()
    assert not app.exception, app.exception
    if not app.error:
        with_sidebar(app)
    return app


@pytest.mark.usefixtures("every_tab")
@pytest.mark.parametrize("part", ["train", "vali"])
def test_headline_is_what_the_library_counts(part: str, open_by_menu: Opener) -> None:
    data = open_fold(find_datasets()["synthetic-demo"], 1).parts[part]
    app = open_by_menu("data", part={"train": "training", "vali": "validation"}[part])
    summary, bars = describe(data), figures(app)[0]["data"]
    assert {tile.label: tile.value for tile in app.metric} == {
        "Queries": f"{summary.queries:,}",
        "Documents": f"{summary.documents:,}",
        "Features": f"{summary.features:,}",
        "Preference pairs": f"{summary.pairs:,}",
    }
    assert len(bars) == len(summary.grades) + 1
    assert "preference pairs;" in words(app)
    assert "Synthetic: " in words(app)
    assert f"of {summary.queries:,} queries" in words(app)


@pytest.mark.usefixtures("every_tab")
def test_test_part_is_behind_the_switch(open_by_menu: Opener) -> None:
    data = open_fold(find_datasets()["synthetic-demo"], 1).test
    app = open_by_menu("data")
    assert "· test" not in words(app)
    app.toggle(key="test").set_value(True).run()
    assert f"{data.n_documents:,} documents" in words(app)
    assert "fold 1 · test" in words(app)


@pytest.mark.usefixtures("every_tab")
def test_the_query_of_the_address_is_shown(open_by_menu: Opener) -> None:
    data = open_fold(find_datasets()["synthetic-demo"], 1).train
    without = query_table(data).query("pairs == 0")["query"].iloc[0]
    assert f"Query {without}, " in words(open_by_menu("data", query=without))
    first = int(data.query_ids[0])
    assert f"Query {first}, " in words(open_by_menu("data", query=first))


@pytest.mark.parametrize(("folds", "gap"), [((1, 2, 4, 5), True), ((1, 2), False), ((2,), False)])
def test_a_missing_fold_between_others_is_a_warning(
    open_by_menu: Opener, folds: tuple[int, ...], gap: bool
) -> None:
    app = upload(open_by_menu("data"), ("letor.zip", archive(*folds)))
    said = [one.value for one in app.warning]
    assert len(said) == gap
    if gap:
        assert "Fold3 is missing" in said[0]
        assert "cover only Fold1, Fold2, Fold4, Fold5." in said[0]


def test_no_file_is_made_while_downloads_hold_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert views._written(write_letor, DATA) == text(DATA)
    monkeypatch.setattr(views, "bytes_of_downloads", lambda: views.MOST_DOWNLOADS + 1)
    with pytest.raises(SettingError, match="Wait a minute"):
        views._written(write_letor, DATA)


def test_an_upload_is_chosen_and_stays_on_other_pages(open_by_menu: Opener) -> None:
    app = upload(open_by_menu("data"), ("letor.zip", archive()))
    assert app.session_state["data"] == "OWN"
    assert "Only you see **" in words(app)
    with_sidebar(app, "train")
    assert app.session_state["data"] == "OWN"
    assert "OWN fold 1" in words(app)


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ([("own.txt.gz", gzip.compress(text(DATA)))], "own"),
        ([(f"{p}.txt", text(d)) for p, d in cyclic_fold(DATA, 1).parts.items()], "upload"),
    ],
)
def test_other_kinds_of_upload(files: list[tuple[str, bytes]], name: str, open_by_menu: Opener) -> None:
    assert upload(open_by_menu("data"), *files).session_state["data"] == name


def test_two_visitors_do_not_see_each_others_uploads(open_by_menu: Opener) -> None:
    one, two = open_by_menu("data"), open_by_menu("data")
    upload(one, ("mine.txt", text(DATA)))
    upload(two, ("yours.txt", text(DATA)))
    assert with_sidebar(one) == ["synthetic-demo", "mine"]
    assert with_sidebar(two) == ["synthetic-demo", "yours"]
    stranger = open_by_menu("data", data="mine")
    assert stranger.session_state["data"] == "synthetic-demo"


def test_a_broken_upload_is_a_sentence_and_changes_nothing(open_by_menu: Opener, tmp_path: Path) -> None:
    app = open_by_menu("data", data="synthetic-demo", fold="Fold2")
    for name, content, said in (
        ("bad.txt", text(DATA) + b"1 qid:x 1:1\n", f"bad.txt, line {DATA.n_documents + 1}: query id 'x'"),
        ("bad.zip", archive()[:-30], "bad.zip: a damaged zip archive"),
        ("bad.gz", gzip.compress(text(DATA))[:-20], "bad.gz: a damaged file"),
        (
            "paper.pdf",
            b"%PDF-1.7\n%\xe2\xe3\n1 0 obj\n",
            "a PDF file, so no LETOR text file. Expected: lines",
        ),
    ):
        upload(app, (name, content))
        (error,) = app.error
        assert said in error.value
        assert str(tmp_path) not in error.value
        assert (app.session_state["data"], app.session_state["fold"]) == ("synthetic-demo", "Fold2")
        assert figures(app)
    assert "grades" not in error.value, "of a PDF file"
    upload(app, ("good.txt", text(DATA)))
    assert not app.error
    assert app.session_state["data"] == "good"


def test_an_upload_to_a_full_disk_is_a_sentence(
    open_by_menu: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    app = open_by_menu("data")
    monkeypatch.setattr("rankviz.datasets.uploads.publish", full)
    upload(app, ("own.txt", text(DATA)))
    assert "No space left on device" in app.error[0].value
    assert app.session_state["data"] == "synthetic-demo"


def test_after_a_refused_archive_the_form_has_only_its_name_and_takes_another(open_by_menu: Opener) -> None:
    app = open_by_menu("data")
    app.text_input(key="upload-name-0").set_value("mine")
    upload(app, ("bad.zip", archive()[:-30]))
    assert "bad.zip" in app.error[0].value
    assert not app.file_uploader[0].value
    upload(app, ("good.zip", archive()))
    assert app.session_state["data"] == "mine"


def test_an_upload_can_be_removed(open_by_menu: Opener) -> None:
    app = upload(open_by_menu("data"), ("own.txt", text(DATA)))
    app.button(key="remove-upload").click()
    assert with_sidebar(app) == ["synthetic-demo"]
    assert app.session_state["data"] == "synthetic-demo"


def test_knobs_make_a_data_set_that_is_chosen(open_by_menu: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts for the visitor's address."""
    filled = list[str]()
    monkeypatch.setattr(uploads, "address", lambda: "here")
    monkeypatch.setattr(uploads, "record_address", lambda root, address: filled.append(address))
    app = open_by_menu("data", gq=20, gf=3)
    app.button(key="generate").click().run()
    with_sidebar(app)
    recipe = Recipe.named(app.session_state["data"])
    assert recipe is not None
    assert (recipe.queries, recipe.features) == (20, 3)
    assert filled == ["here"]


def test_at_the_bound_of_all_visitors_a_sentence_comes_before_anything_is_made(
    open_by_menu: Opener, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bounds.toml").write_text(f"upload_bytes = {len(text(DATA))}")
    monkeypatch.setenv("RANKVIZ_BOUNDS", str(tmp_path / "bounds.toml"))
    monkeypatch.setattr(Recipe, "make", lambda _: pytest.fail("made for nothing"))
    app = upload(open_by_menu("data"), ("own.txt", text(DATA)))
    app.button(key="generate").click().run()
    assert "more than 1 MB with the uploads of all visitors" in app.error[0].value
    assert not app.error[0].value.endswith("..")
    assert with_sidebar(app) == ["synthetic-demo", "own"]


def test_a_link_writes_nothing_and_offers_to_make_the_data_set_that_it_names(
    open_page: Opener, tmp_path: Path
) -> None:
    app = open_page(data=SMALL.name)
    assert app.session_state["data"] == "synthetic-demo"
    assert SMALL.name in app.warning[0].value
    assert f"about {SMALL.expected_documents:.0f} documents" in app.warning[0].value
    assert app.button(key="generate-linked")
    assert SMALL.name not in {path.name for path in tmp_path.rglob("*")}


def test_a_link_to_what_is_too_large_or_not_here_is_said(open_by_menu: Opener) -> None:
    huge = Recipe(queries=2000, largest=500, features=200).name
    for name in (huge, "somebody-elses"):
        app = AppTest.from_file(str(APP), default_timeout=180)
        app.query_params["data"] = name
        app.run()
        assert not app.exception
        assert any(name in warning.value for warning in app.warning)
        assert app.session_state["data"] == "synthetic-demo"


def test_workers_are_told_where_uploads_are(open_by_menu: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    app = upload(open_by_menu("data"), ("own.txt", text(DATA)))
    monkeypatch.setattr("ui.shell.visitors.st.session_state", app.session_state)
    found = find_datasets(data_roots_of_visitor())
    assert np.array_equal(open_fold(found["own"], 1).train.y, cyclic_fold(DATA, 1).train.y)
