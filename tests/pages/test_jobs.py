"""Runs that take longer than predicted: they go on as a job that is watched, stopped, and left behind."""

import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest_pages import Opener, figures, words
from sqlalchemy import update
from streamlit.testing.v1 import AppTest

from rankviz import RunSpec
from rankviz.runs.estimate import OVERHEAD, Estimate, Shape
from rankviz.store.study import WatchedStatus
from rankviz.store.tables import families
from ui.shell.words import NO_JOB, NO_POINT_ASKED, NO_POINT_YET
from ui.work import jobs as page_jobs
from ui.work import watching
from ui.work.jobs import (
    _FINDING,
    CROWDED_LIMIT,
    LIVE_BYTES,
    LIVE_SECONDS,
    MOST_SLOW,
    SCRIPT_THREAD,
    _note_slow,
    _short,
    _slow,
    found_records,
    run_available,
)
from ui.work.run_store import run_store
from ui.work.watching import jobs


def shown_until_done(app: AppTest, seconds: float = 180) -> None:
    """Run the page again, as its fragment would, until its figures are there."""
    deadline = time.monotonic() + seconds
    while not figures(app) and time.monotonic() < deadline:
        time.sleep(0.2)
        app.run()


def test_a_run_slower_than_predicted_goes_on_as_a_job_that_can_be_stopped(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.work.jobs.LIVE_LIMIT", -1.0)
    app = open_page("train", m=10)
    assert not figures(app)
    assert [button.label for button in app.button if "job" in button.label] == ["Stop the job"]
    assert "longer than predicted" in watched(app)
    assert app.query_params["job"]
    shown_until_done(app)
    assert figures(app), "the figure comes by itself"
    assert "job" not in app.query_params


def test_runs_that_belong_together_are_shown_together(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = [RunSpec("made", fold=fold, C=C) for C in (1.0, 2.0) for fold in ("Fold1", "Fold2")]
    found = [SimpleNamespace(spec=spec) for spec in specs[:3]] + [None]
    monkeypatch.setattr("ui.work.jobs.run_or_submit", lambda *_, **__: found)
    whole = run_available(specs, title="", together=lambda spec: spec.C)
    assert list(whole) == specs[:2]


def test_visitors_who_come_together_read_the_store_once(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = RunSpec("synthetic-demo", digest="together", n_components=5)
    numbers = {"weights": np.zeros(0), "scores": {}, "metrics": {}, "solution": {}}
    record, read = SimpleNamespace(spec=spec, start="zero", **numbers), list[object]()

    def find(specs: list[RunSpec]) -> dict[RunSpec, object]:
        if specs:
            read.append(specs)
            time.sleep(0.1)
        return {one: record for one in specs if one == spec}

    monkeypatch.setattr("ui.work.run_store.find", find)
    with ThreadPoolExecutor(5) as visitors:
        found = list(visitors.map(lambda _: found_records([spec]), range(5)))
    assert len(read) == 1
    assert all(one == {spec: record} for one in found)
    missing = spec.but(seed=1)
    monkeypatch.setattr("ui.work.jobs.FIND_PATIENCE", 0.01)
    with _FINDING:  # somebody reads slowly
        assert found_records([missing]) == {}
    assert len(read) == 2


@pytest.mark.usefixtures("sleepers")
def test_what_is_ready_is_drawn_and_said_while_a_hard_run_goes_on(open_page: Opener) -> None:
    app = open_page("ndcg_vs_m", c=4, g=2, upto=10, xaxis="features m")
    assert figures(app), "the curves, though the exact kernel is not there"
    assert "Training this run will take" in words(app)
    app.button(key=next(one.key for one in app.button if "background" in one.label)).click().run()
    (job,) = jobs().live()
    assert figures(app)
    assert [spec.feature_map for spec in job.specs] == ["exact"]
    assert watched(app).startswith("5 of 6 runs ready · ")
    assert len(app.tabs) == 5
    more = jobs().submit([*job.specs, RunSpec("synthetic", digest="other")], owner="somebody", title="More")
    app = open_page("ndcg_vs_m", c=4, g=2, upto=10, xaxis="features m", job=more)
    assert "5 of 6 runs ready · " in watched(app), "runs that this page does not show are not counted"
    assert app.get("progress")[0].proto.value == 83


@pytest.mark.usefixtures("sleepers")
def test_a_figure_without_points_says_what_starts_its_runs(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.work.jobs.LIVE_SECONDS", -1.0)
    app = open_page("ndcg_vs_m", upto=10)
    assert NO_POINT_ASKED in words(app)
    app.button(key=next(one.key for one in app.button if "background" in one.label)).click().run()
    assert NO_POINT_YET in words(app)
    assert NO_POINT_ASKED not in words(app)


@pytest.mark.parametrize(
    ("name", "asked", "said"),
    [
        ("influence", {"view": "Influence of C"}, "So far, NDCG@10 is highest at C = "),
        ("influence", {"view": "Influence of λ and μ", "scope": "this fold"}, "the same without costs"),
        ("convergence", {"cs": "2^0"}, "CG iterations"),
    ],
)
def test_pages_of_many_runs_show_those_that_are_there(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch, name: str, asked: dict[str, Any], said: str
) -> None:
    monkeypatch.setattr(
        "ui.work.jobs._short",
        lambda costs: [
            cost.spec for cost in costs if cost.spec.C < 1 and "4" not in str(cost.spec.get("costs"))
        ],
    )
    app = open_page(name, c=-4, m=10, **asked)
    assert figures(app)
    assert said in words(app)
    assert [one for one in app.button if "background" in one.label], "the rest is offered"


ABOVE = ("train", "ndcg_vs_m", "convergence", "low_rank", "why", "what_if")
"""Pages with a line for the effect of a change: a job takes its place."""


@pytest.mark.parametrize("name", [*ABOVE, "home", "side_by_side", "influence", "weights"])
@pytest.mark.usefixtures("sleepers")
def test_a_job_begins_without_moving_the_figure(open_page: Opener, name: str) -> None:
    job = jobs().submit([RunSpec("synthetic", digest="other")], owner="somebody", title="Other settings")
    app = open_page(name, m=10, upto=10, job=job)
    kinds = [element.type for element in app.main]
    first = min(kinds.index(kind) for kind in ("plotly_chart", "bidi_component") if kind in kinds)
    assert "Other settings" in watched(app)
    assert (kinds.index("title") < kinds.index("progress") < first) == (name in ABOVE)


def watched(app: AppTest) -> str:
    return " ".join(str(one.proto.text) for one in app.get("progress"))


def test_a_job_says_which_run_goes_on_and_about_how_long() -> None:
    spec = RunSpec("demo", digest="some")
    status = WatchedStatus(
        id="some",
        owner="me",
        title="Curve",
        state="running",
        reason="",
        finished=(0,),
        specs=(spec.linear(1.0), spec.exact()),
        news=({"index": 1, "stage": "newton", "fraction": None, "remaining": 33.0},),
        created=10.0,
        ended=22.0,
    )
    said = "13 of 14 runs ready · the exact kernel: training, about 40 s left · 12 s"
    assert watching._words(status, 13, 14) == said
    assert watching._words(replace(status, failed=(1,)), 1, 2).startswith("1 of 2 runs ready, 1 failed · ")
    assert (
        watching._words(replace(status, state="finished"), 14, 14) == "14 of 14 runs ready · finished · 12 s"
    )
    alone = replace(status, specs=(spec.exact(),), finished=(), news=({**status.news[0], "index": 0},))
    assert watching._words(alone, 0, 1) == "training, about 40 s left · 12 s"
    before = replace(alone, news=({"index": 0, "stage": "data", "fraction": 0.0},))
    assert watching._words(before, 0, 1) == "reading the data · 12 s", (
        "as told by a worker of the version before"
    )
    assert watching._words(replace(alone, state="queued"), 0, 1).startswith("waiting for another run")


@pytest.mark.usefixtures("sleepers")
def test_what_another_visitor_has_asked_for_is_waited_for_and_cannot_be_stopped(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.work.jobs.LIVE_SECONDS", -1.0)
    app = open_page("train", m=10)
    app.button(key=next(one.key for one in app.button if "background" in one.label)).click().run()
    assert len(jobs().live()) == 1
    other, else_ = open_page("train", m=10), open_page("train", m=25)
    assert "Another visitor asked for the same runs" in watched(other)
    assert not [one.label for one in other.button if "job" in one.label or "background" in one.label]
    assert "Another visitor" not in watched(else_), "that job makes other runs"
    assert [one.label for one in else_.button if "background" in one.label]


def below_a_file(runs: Path) -> None:
    shutil.rmtree(runs)
    runs.write_text("")


def no_database(runs: Path) -> None:
    (runs / "runs.sqlite").write_bytes(b"not a database " * 1000)


@pytest.mark.parametrize(
    ("damage", "why"), [(below_a_file, "it cannot be opened"), (no_database, "the file is not a database")]
)
def test_where_no_job_can_be_kept_pages_make_their_runs_and_say_why(
    open_page: Opener,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path], None],
    why: str,
) -> None:
    damage(tmp_path / "runs")
    assert figures(open_page("train", m=10))
    monkeypatch.setattr("ui.work.jobs.LIVE_LIMIT", -1.0)
    app = open_page("train", m=5, job="0123456789abcdef" * 2)
    assert figures(app)
    assert f"The database of runs cannot be used: {why}. " in app.warning[0].value
    assert str(tmp_path) not in words(app)
    monkeypatch.setattr("ui.work.jobs.LIVE_SECONDS", -1.0)
    app = open_page("train", m=6)
    app.button(key=next(one.key for one in app.button if "background" in one.label)).click().run()
    assert [one.value for one in app.warning if why in one.value]
    assert not app.error


def test_runs_have_less_time_while_a_page_of_another_session_runs(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[str, float]] = []

    def note(*_: RunSpec, seconds: float, **__: object) -> None:
        given.append((threading.current_thread().name, seconds))

    monkeypatch.setattr("ui.work.jobs.run", note)
    monkeypatch.setattr("ui.work.jobs.continue_as_job", lambda *_: True)
    open_page("train", m=5)
    ended = threading.Event()
    other = threading.Thread(target=ended.wait, name=SCRIPT_THREAD)
    other.start()
    open_page("train", m=5)
    assert given == [(SCRIPT_THREAD, page_jobs.LIVE_LIMIT), (SCRIPT_THREAD, CROWDED_LIMIT)]
    monkeypatch.setattr("ui.work.jobs.CROWDED_SECONDS", 0.0)
    open_page("train", m=5)
    assert given.pop() == given[1], "without a worker a job would begin late"
    monkeypatch.setattr("ui.work.jobs.worker_processes", lambda _: [object()])
    open_page("train", m=5)
    assert len(given) == 2, "a job begins at once"
    ended.set()
    other.join()
    open_page("train", m=5)
    assert given[2:] == given[:1]


@pytest.mark.usefixtures("sleepers")
def test_a_job_beyond_the_bound_of_its_visitor_is_a_sentence(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bounds.toml").write_text("live_jobs_each = 1")
    monkeypatch.setenv("RANKVIZ_BOUNDS", str(tmp_path / "bounds.toml"))
    monkeypatch.setattr("ui.work.jobs.LIVE_LIMIT", -1.0)
    monkeypatch.setattr("ui.work.jobs.LIVE_SECONDS", -1.0)
    app = open_page("train", m=5)
    for c in (-4, -3):
        app.session_state["c"], app.session_state["clin"] = c, c
        app.run()
        next(button for button in app.button if "in the background" in button.label).click().run()
        assert not app.exception
    assert len(jobs().live()) == 1
    assert "Of one visitor at most 1 job may wait or run" in "".join(one.value for one in app.warning)


@pytest.mark.usefixtures("sleepers")
def test_a_job_that_nobody_asked_for_ends_when_its_visitor_moves_on(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.work.jobs.LIVE_LIMIT", -1.0)
    app = open_page("train", m=10)
    first = app.query_params["job"]
    monkeypatch.setattr("ui.work.jobs.LIVE_LIMIT", 60.0)
    app.session_state["m"], app.session_state["clin"] = 25, -3
    app.run()
    assert figures(app)
    assert "job" not in app.query_params
    assert not any("job" in button.label for button in app.button)
    assert run_store().studies.status(first).asked == "stopped"
    assert jobs().status(first).state == "stopped"


def test_a_job_that_was_stopped_does_not_begin_again_unasked(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.work.jobs.LIVE_LIMIT", -1.0)
    app = open_page("train", m=10)
    next(button for button in app.button if button.label == "Stop the job").click().run()
    app.query_params.clear()  # as a run of the page does that was on its way
    shown_until_done(app, seconds=3)
    assert [button.label for button in app.button if "job" in button.label] == ["Delete the job"]
    assert not figures(app)
    assert any("in the background" in button.label for button in app.button)
    monkeypatch.setattr("ui.work.jobs.LIVE_LIMIT", 60.0)
    _slow().clear()
    app.query_params.clear()
    app.switch_page("pages/why.py").run()
    assert figures(app), "on another page a short run is made at once"


def test_only_the_latest_slow_runs_are_known() -> None:
    specs = [RunSpec("small", feature_map="linear", C=1.0 + number) for number in range(MOST_SLOW + 3)]
    _note_slow(specs[:2])
    _note_slow(specs)
    assert list(_slow()) == specs[3:]


@pytest.mark.parametrize("page", ["train", "sweep"])
def test_a_link_to_a_job_that_does_not_exist_says_so_once(open_page: Opener, page: str) -> None:
    app = open_page(page, m=10, job="0" * 32)
    assert figures(app)
    assert [one.value for one in app.warning] == [NO_JOB]
    assert "job" not in app.query_params
    assert NO_JOB not in words(app.run())


@pytest.mark.usefixtures("sleepers")
@pytest.mark.parametrize("news", ["{", "[]", '{"digest": 7}', "[" * 100_000])
def test_a_job_whose_progress_cannot_be_read_stops_no_page(
    open_page: Opener, monkeypatch: pytest.MonkeyPatch, news: str
) -> None:
    monkeypatch.setattr("ui.work.jobs.LIVE_LIMIT", -1.0)
    first = open_page("train", m=10).query_params["job"]
    assert run_store().queue.take("a worker that makes it")
    with run_store().database.writing() as connection:
        connection.execute(update(families).values(progress=news))
    app = open_page("train", m=25, job=first)
    assert "starting" in watched(app)
    assert not app.error
    monkeypatch.setattr("ui.work.jobs.LIVE_LIMIT", 60.0)
    _slow().clear()
    assert figures(open_page("train", m=25)), "another visitor is not stopped"


def test_the_more_pages_watch_the_less_often_each_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    watchers = watching._Watchers()
    for number in range(30):
        watchers.note(f"page {number % 20}")
    assert watchers.number() == 20
    monkeypatch.setattr(watching, "MOST_POLL_SECONDS", 0.0)
    assert watchers.number() == 0, "those that have left are forgotten"


def test_what_takes_much_memory_is_never_made_by_the_server() -> None:
    """However few seconds are predicted: a visitor's m must not end the server."""
    small = predicted_as(seconds=0.1, size=LIVE_BYTES)
    assert _short([small]) == [small.spec]
    assert _short([predicted_as(seconds=0.1, size=LIVE_BYTES + 1)]) == []
    assert _short([predicted_as(seconds=LIVE_SECONDS + 0.1, size=1.0)]) == []


def predicted_as(seconds: float, size: float) -> Estimate:
    spec = RunSpec("demo")
    shape = Shape(n=10, d=2, pairs=9, documents=20, largest_part=10)
    stages = {"features": 0.0, "preconditioner": 0.0, "newton": seconds / OVERHEAD}
    return Estimate(spec, shape, shape.training(spec), stages, int(size))


def test_a_page_shows_no_large_job_of_somebody_else_that_has_its_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    specs = tuple(RunSpec("some", digest="0" * 32, C=float(k)) for k in range(1, 9))
    job = WatchedStatus("1" * 32, "you", "A job", "running", "", (0,), specs, (), 0.0, None)
    monkeypatch.setattr(page_jobs, "jobs", lambda: SimpleNamespace(live=lambda _: [job]))
    assert page_jobs._job_for([specs[1]], None) is None
    assert page_jobs._job_for([*specs[1:3]], None) == job
    job = replace(job, news=({"index": 1},))
    assert page_jobs._job_for([specs[1]], None) == job, "it is made now"


def test_a_page_looks_only_for_jobs_of_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, missing = list[object](), [RunSpec("some", digest="0" * 32)]
    found = SimpleNamespace(live=lambda specs=None: asked.append(specs) or [])
    monkeypatch.setattr(page_jobs, "jobs", lambda: found)
    assert page_jobs._job_for(missing, None) is None
    assert asked == [missing]
