"""Uploads in a browser: good and broken files, what survives a reload, and two visitors at once."""

from __future__ import annotations

import io
import zipfile

from helpers import assert_no_errors_shown, follow, sidebar, tile, traces
from playwright.sync_api import Page, expect

from rankviz.datasets import make_data, write_letor
from rankviz.datasets.parts import cyclic_fold
from rankviz.datasets.synthetic import Recipe
from tools.browser import Server, open_page, wait_settled

GOOD = "".join(
    f"{document % 3} qid:{query} 1:{document / 7:.4f} 2:{document * query % 5 / 5:.4f} "
    f"# docid = q{query}d{document}\n"
    for query in range(1, 11)
    for document in range(6)
)
BROKEN = GOOD.replace("1:0.2857", "1:NaN", 1)


def upload(page: Page, name: str, content: str | bytes) -> None:
    """Open the form if it is closed, give it a file, and press the button."""
    form = page.get_by_test_id("stExpander").filter(has_text="Bring your own data")
    chooser = form.locator('input[type="file"]')
    if not chooser.count() or not form.get_by_role("button", name="Check and add").is_visible():
        form.locator("summary").click()
    sent = content.encode() if isinstance(content, str) else content
    chooser.set_input_files({"name": name, "mimeType": "text/plain", "buffer": sent})
    add = form.get_by_role("button", name="Check and add")
    expect(add).to_be_enabled()
    wait_settled(page)  # the file's own row moves the button
    add.click()
    wait_settled(page)


def offered(page: Page) -> list[str]:
    """The data sets in the sidebar's menu."""
    sidebar(page).get_by_role("combobox", name="Data set").click()
    names = page.get_by_role("option").all_inner_texts()
    page.keyboard.press("Escape")
    return names


def test_an_uploaded_file_is_chosen_shown_trained_on_and_kept_through_a_reload(
    server: Server, page: Page
) -> None:
    open_page(page, f"{server.url}/data")
    upload(page, "mine.txt", GOOD)
    expect(sidebar(page).get_by_role("combobox", name="Data set")).to_have_value("mine")
    assert tile(page, "Queries") == "6"
    assert_no_errors_shown(page)
    page.reload()
    wait_settled(page)
    expect(sidebar(page).get_by_role("combobox", name="Data set")).to_have_value("mine")
    follow(page, "Train")
    page.wait_for_url("**/train*")
    wait_settled(page)
    assert traces(page, "ndcg-at-k")
    assert "mine" in offered(page)
    page.get_by_role("tab", name="Numbers").click()
    for made in ("Scores, validation part", "Model"):
        with page.expect_download() as download:
            page.get_by_role("button", name=made, exact=True).click()
        assert download.value.path().stat().st_size > 0


def test_a_broken_file_is_a_sentence_and_changes_nothing(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/data")
    upload(page, "mine.txt", BROKEN)
    error = page.get_by_test_id("stAlertContentError")
    expect(error).to_contain_text("mine.txt, line 3")
    expect(error).to_contain_text("NaN")
    expect(sidebar(page).get_by_role("combobox", name="Data set")).to_have_value("synthetic-demo")
    assert "mine" not in offered(page)


def test_two_visitors_do_not_see_each_others_uploads(server: Server, page: Page, other: Page) -> None:
    open_page(page, f"{server.url}/data")
    upload(page, "secret.txt", GOOD)
    open_page(other, page.evaluate("location.href"))
    assert "secret" not in offered(other)
    expect(other.get_by_test_id("stMain")).not_to_contain_text("q1d0")
    assert "secret" in offered(page)


def test_a_link_names_a_recipe_and_a_button_makes_its_data(server: Server, page: Page) -> None:
    name = Recipe(queries=20, smallest=2, largest=5, features=3).name
    open_page(page, f"{server.url}/data?data={name}")
    expect(sidebar(page).get_by_role("combobox", name="Data set")).to_have_value("synthetic-demo")
    page.get_by_role("button", name="Generate it").click()
    wait_settled(page)
    expect(sidebar(page).get_by_role("combobox", name="Data set")).to_have_value(name)
    assert tile(page, "Queries") == "12"
    assert_no_errors_shown(page)
    page.goto(f"{server.url}/data?data={name}")
    wait_settled(page)
    expect(sidebar(page).get_by_role("combobox", name="Data set")).to_have_value(name)
    expect(page.get_by_role("button", name="Generate it")).to_have_count(0)


def rotated(*, broken: bool = False) -> bytes:
    """A zip archive of five folds as LETOR rotates them; one line of Fold4 may be broken."""
    data = make_data(n_queries=20, documents_per_query=(4, 8), n_features=3, seed=1)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(1, 6):
            for name, part in cyclic_fold(data, number).parts.items():
                write_letor(part, content := io.BytesIO())
                lines = content.getvalue().splitlines(keepends=True)
                if broken and (number, name) == (4, "vali"):
                    lines[2] = b"1 qid:7 1:NaN\n"
                archive.writestr(f"five/Fold{number}/{name}.txt", b"".join(lines))
    return packed.getvalue()


def test_five_folds_are_uploaded_at_once_and_compared_over_all(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/data")
    upload(page, "five.zip", rotated(broken=True))
    expect(page.get_by_test_id("stAlertContentError")).to_contain_text(
        "five.zip: five/Fold4/vali.txt, line 3"
    )
    assert "five" not in offered(page)
    open_page(page, f"{server.url}/data")
    upload(page, "five.zip", rotated())
    expect(sidebar(page).get_by_role("combobox", name="Data set")).to_have_value("five")
    said = page.get_by_text("5 folds: Fold1, Fold2, Fold3, Fold4, Fold5.")
    expect(said).to_contain_text("Their test parts share no query.")
    sidebar(page).get_by_role("combobox", name="Fold", exact=True).click()
    assert page.get_by_role("option").all_inner_texts() == [f"Fold{k}" for k in range(1, 6)]
    page.keyboard.press("Escape")
    follow(page, "Several models")
    page.get_by_role("button", name="Compare with the linear model").click()
    about = page.get_by_test_id("stMain").get_by_text("five · 5 folds · 2 models (10 runs) · validation")
    expect(about.first).to_be_visible()
    wait_settled(page)
    assert_no_errors_shown(page)
