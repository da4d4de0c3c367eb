"""Test automatic jobs: they wait until the controls rest, and end with the last tab that waits for them."""

from collections.abc import Iterator

import pytest
from conftest_pages import Opener, words

from rankviz.store import NoSuchStudy
from ui.work import auto_jobs
from ui.work.watching import jobs


class Noted:
    """Jobs of which only is noted which were stopped, and for whom."""

    def __init__(self) -> None:
        self.stopped: list[tuple[str, str]] = []

    def stop(self, job_id: str, owner: str) -> None:
        self.stopped.append((job_id, owner))
        if job_id == "deleted":
            raise NoSuchStudy


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, str]]]:
    noted = Noted()
    monkeypatch.setattr(auto_jobs, "jobs", lambda: noted)
    monkeypatch.setattr(auto_jobs, "WAITING", auto_jobs.Waiting())
    return noted.stopped


class Server:
    """A server that knows which sessions are there."""

    def __init__(self, *there: str) -> None:
        self.there = there

    def is_active_session(self, tab: str) -> bool:
        return tab in self.there


def test_the_last_tab_that_leaves_ends_the_job(stopped: list[tuple[str, str]]) -> None:
    auto_jobs.WAITING.begin("job", "owner", "first")
    auto_jobs.WAITING.join("job", "second")
    auto_jobs.leave("job", "first")
    assert stopped == []
    auto_jobs.leave("job", "first")
    assert stopped == []
    auto_jobs.leave("job", "second")
    assert stopped == [("job", "owner")]
    auto_jobs.leave("job", "second")
    assert len(stopped) == 1


def test_a_job_that_somebody_asked_for_goes_on(stopped: list[tuple[str, str]]) -> None:
    auto_jobs.WAITING.join("asked for", "tab")
    auto_jobs.leave("asked for", "tab")
    assert stopped == []


def test_a_job_that_was_deleted_is_forgotten(stopped: list[tuple[str, str]]) -> None:
    auto_jobs.WAITING.begin("deleted", "owner", "tab")
    auto_jobs.leave("deleted", "tab")
    assert auto_jobs.WAITING.of("tab") == []


@pytest.mark.parametrize(("there", "ended"), [((), ["a", "b"]), (("tab",), [])])
def test_a_tab_that_has_gone_ends_what_it_waited_for_and_one_that_came_back_does_not(
    there: tuple[str, ...], ended: list[str], stopped: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for job in ("a", "b"):
        auto_jobs.WAITING.begin(job, "owner", "tab")
    auto_jobs.WAITING.begin("c", "owner", "another")
    monkeypatch.setattr(auto_jobs.runtime, "exists", lambda: True)
    monkeypatch.setattr(auto_jobs.runtime, "get_instance", lambda: Server(*there))
    auto_jobs._end_waiting_jobs("tab")
    assert [job for job, _ in stopped] == ended


def test_a_run_known_to_be_slow_begins_when_the_controls_rest(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.work.auto_jobs.REST_SECONDS", 1e9)
    monkeypatch.setattr("ui.work.jobs.LIVE_LIMIT", -1.0)
    app = open_page("train", m=10)
    assert "job" in app.query_params, "its visitor has waited while it was tried"
    for job in jobs().live():
        jobs().delete(job.id, job.owner)
    app = open_page("train", m=10)
    app.run()
    assert "start when you stop changing settings" in words(app)
    assert jobs().live() == []
    monkeypatch.setattr("ui.work.auto_jobs.REST_SECONDS", 0.0)
    app.run()
    assert "longer than predicted" in str(app.get("progress")[0].proto.text)
    assert app.query_params["job"]
