"""Uploads in a browser: good and broken files, what survives a reload, and two visitors at once."""

import io

from helpers import assert_no_errors_shown, follow, sidebar, tile, traces
from playwright.sync_api import Page, expect

from rankviz import evaluate
from rankviz.datasets import load_demo
from rankviz.datasets.synthetic import Recipe
from rankviz.runs.given import write_trec
from tools.browser import Server, open_page, wait_settled

GOOD = "".join(
    f"{document % 3} qid:{query} 1:{document / 7:.4f} 2:{document * query % 5 / 5:.4f} "
    f"# docid = q{query}d{document}\n"
    for query in range(1, 11)
    for document in range(6)
)


def upload(page: Page, name: str, content: str | bytes) -> None:
    """Open the form if it is closed, give it a file, and press the button."""
    form = page.get_by_test_id("stExpander").filter(has_text="Bring your own data")
    chooser = form.locator('input[type="file"]').first
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
    page.emulate_media(color_scheme="dark")
    open_page(page, f"{server.url}/data")
    page.get_by_test_id("stExpander").filter(has_text="Bring your own data").locator("summary").click()
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        assert_a_disabled_button_can_be_read(page, scheme)
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


def assert_a_disabled_button_can_be_read(page: Page, scheme: str) -> None:
    """Check that its letters are light in the dark theme, and dark in the light one."""
    button = page.get_by_role("button", name="Check and add")
    expect(button).to_be_disabled()
    page.wait_for_function(
        """([letters, dark]) => {
            const parts = getComputedStyle(letters).color.match(/[0-9.]+/g).slice(0, 3).map(Number);
            return (Math.max(...parts) >= 100) === dark;
        }""",
        arg=[button.locator("p").element_handle(), scheme == "dark"],
    )


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


def test_scores_of_a_system_are_added_and_shown_on_train(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/data")
    form = page.get_by_test_id("stExpander").filter(has_text="Bring your own data or scores")
    form.locator("summary").click()
    form.get_by_role("tab", name="Scores of a system").click()
    part, text = load_demo(1).vali, io.BytesIO()
    write_trec(part.y.astype(float), part, "mine", text)
    chooser = form.locator('input[type="file"]').last
    sent = {"name": "Fold1.vali.run", "mimeType": "text/plain"}
    bad = text.getvalue().replace(b" 1 ", b" 1 nan-", 1)
    for name, content in (("<b>bad</b>", bad), ("<b>mine</b>", text.getvalue())):
        chooser.set_input_files(sent | {"buffer": content})
        form.get_by_role("textbox", name="Name").fill(name)
        wait_settled(page)
        form.get_by_role("button", name="Add scores").click()
        wait_settled(page)
        if content is bad:
            expect(form.get_by_test_id("stAlert")).to_contain_text("Fold1.vali.run")
    form.get_by_role("button", name="Show on Train").click()
    page.wait_for_url("**/train*")
    wait_settled(page)
    assert traces(page, "ndcg-at-k")
    mean = evaluate(part.y.astype(float), part, at=[10], ties="mean").mean["NDCG@10"]
    assert tile(page, "NDCG@10") == f"{mean:.3f}"
    assert_no_errors_shown(page)
