"""A server whose visitors have accounts: nothing is shown before the login, data sets follow the account."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import follow, forget, sidebar
from issuer import CLIENT, issuer
from playwright.sync_api import Page, expect
from test_uploads import GOOD, offered, upload

from tools.browser import Server, app_server, free_port, open_page, wait_settled

SECRETS = """[auth]
redirect_uri = "http://127.0.0.1:{port}/oauth2callback"
cookie_secret = "a secret of this test"
client_id = "{client}"
client_secret = "another one"
server_metadata_url = "{issuer}/.well-known/openid-configuration"
"""


@pytest.fixture
def accounts(tmp_path: Path) -> Iterator[Server]:
    """The app with a section [auth] in its secrets."""
    folder, port = tmp_path, free_port()
    with issuer() as provider:
        secrets = folder / "secrets.toml"
        secrets.write_text(SECRETS.format(port=port, client=CLIENT, issuer=provider))
        with app_server(folder, {"STREAMLIT_SECRETS_FILES": str(secrets)}, port=port) as running:
            yield running
            assert "Traceback" not in running.log(), running.log()


def log_in(page: Page, who: str) -> None:
    """Press the button, and tell the provider who one is."""
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name=who).click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible(timeout=30_000)
    wait_settled(page)


def test_nothing_is_shown_before_the_login_and_data_sets_follow_the_account(
    accounts: Server, page: Page, other: Page
) -> None:
    """Not even on the first visit of all to a page, which Streamlit runs without app.py."""
    open_page(page, f"{accounts.url}/train")
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    assert page.locator(".js-plotly-plot").count() == 0
    expect(page.get_by_test_id("stSidebar").get_by_role("combobox")).to_have_count(0)

    log_in(page, "Ada")
    expect(sidebar(page)).to_contain_text("Ada")
    follow(page, "Data")
    page.wait_for_url("**/data*")
    wait_settled(page)
    upload(page, "mine.txt", GOOD)
    assert "mine" in offered(page)
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("button", name="Log in")).to_be_visible(timeout=30_000)
    log_in(page, "Emmy")
    assert "mine" not in offered(page)
    open_page(other, accounts.url)
    log_in(other, "Ada")
    assert "mine" in offered(other)
    forget(other)
