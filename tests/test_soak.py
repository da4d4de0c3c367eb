"""What `make soak` keeps of Streamlit's messages, how it chooses moves, counts jobs and sums up."""

from __future__ import annotations

import math
import os
import random
import time
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.proto.Slider_pb2 import Slider

from benchmarks import soak, soak_report
from benchmarks.soak_app import Sample
from benchmarks.soak_jobs import Jobs as Seen
from benchmarks.soak_walk import TITLES, next_step
from benchmarks.streamlit_files import files_of, files_of_the_frame
from benchmarks.streamlit_page import CacheMissError, Page
from rankviz import RunSpec, execute_all
from rankviz.datasets import make_fold
from rankviz.experiments.processes import ProcessId
from rankviz.store import RunStore
from rankviz.store.execution import LocalWorkers
from rankviz.store.jobs import Jobs
from rankviz.store.queue import Lease

WORDS = ["5", "10", "25", "50"]


def begin(page: Page, run: str, fragments: tuple[str, ...] = (), script: str = "home") -> None:
    message = ForwardMsg()
    message.metadata.run.script_run_id = run
    message.metadata.run.fragment_ids.extend(fragments)
    message.new_session.page_script_hash, message.new_session.main_script_hash = script, "app"
    page.take(message)


def finish(page: Page, run: str, fragments: tuple[str, ...] = (), status: int = 0) -> None:
    message = ForwardMsg(script_finished=status)
    message.metadata.run.script_run_id = run
    message.metadata.run.fragment_ids.extend(fragments)
    page.take(message)


def draw(
    page: Page, at: list[int], kind: str, *, script: str = "app", fragment: str = "", **values: Any
) -> None:
    page.take(element(at, kind, script=script, fragment=fragment, **values))


def element(
    at: list[int], kind: str, *, script: str = "app", fragment: str = "", **values: Any
) -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path.extend(at)
    message.metadata.active_script_hash = script
    message.delta.fragment_id = fragment
    proto = getattr(message.delta.new_element, kind)
    proto.SetInParent()
    for name, value in values.items():
        if isinstance(value, list):
            getattr(proto, name).extend(value)
        else:
            setattr(proto, name, value)
    return message


def draw_m(page: Page, **values: Any) -> None:
    settings = {"type": Slider.SELECT_SLIDER, "options": WORDS, "default": [1.0], "query_param_key": "m"}
    draw(page, [1, 0], "slider", id="$$ID-0a-m", **(settings | values))


@pytest.fixture
def page() -> Page:
    """A page with the slider of m, and with one of whole numbers that only Home has."""
    page = Page("http://127.0.0.1", "v=1")
    begin(page, "first")
    menu = ForwardMsg()
    menu.navigation.page_script_hash = "home"
    for title, script in zip(TITLES, ("home", "train", "ndcg"), strict=True):
        path, first = f"at_{script}", script == "home"
        menu.navigation.app_pages.add(
            page_name=title, page_script_hash=script, url_pathname=path, is_default=first
        )
    page.take(menu)
    draw_m(page)
    values = {"min": -3, "max": 3, "step": 1, "default": [0.0], "query_param_key": "c"}
    draw(page, [0, 1], "slider", id="$$ID-0b-c", type=Slider.SLIDER, script="home", **values)
    finish(page, "first")
    return page


def sent(page: Page) -> dict[str, str]:
    states = page.rerun().rerun_script.widget_states.widgets
    return {one.id.split("-", 2)[2]: str(one).split("\n", 1)[1].replace("\n", "") for one in states}


def test_a_widget_begins_with_its_default_and_keeps_what_it_was_moved_to(page: Page) -> None:
    assert page.states["$$ID-0a-m"].string_array_value.data[:] == ["10"]
    moved = page.move("m", "50").rerun_script
    assert moved.query_string == "v=1&m=50"
    begin(page, "second")
    draw_m(page)
    assert page.states["$$ID-0a-m"].string_array_value.data[:] == ["50"]
    draw_m(page, set_value=True, raw_value=["5"])  # as a preset does
    assert page.states["$$ID-0a-m"].string_array_value.data[:] == ["5"]


def test_a_value_equal_to_its_default_leaves_the_address(page: Page) -> None:
    assert page.move("c", -2.0).rerun_script.query_string == "v=1&c=-2"
    assert page.move("c", 0.0).rerun_script.query_string == "v=1"


def test_what_a_script_did_not_draw_again_goes_with_its_state(page: Page) -> None:
    begin(page, "second")
    draw_m(page)
    assert set(page.widgets()) == {"m", "c"}
    finish(page, "second", status=ForwardMsg.FINISHED_EARLY_FOR_RERUN)
    assert set(page.widgets()) == {"m", "c"}
    finish(page, "second")
    assert set(page.widgets()) == set(sent(page)) == {"m"}


def test_a_run_of_a_fragment_ends_only_what_the_fragment_has_drawn(page: Page) -> None:
    draw(page, [0, 2], "text_input", id="$$ID-0c-name", fragment="f", default="a")
    draw(page, [0, 3], "checkbox", id="$$ID-0d-on", fragment="f", default=True)
    begin(page, "of f", ("f",))
    draw(page, [0, 2], "text_input", id="$$ID-0c-name", fragment="f", default="a")
    finish(page, "of f", ("f",), ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
    assert set(page.widgets()) == {"m", "c", "name"}


def test_an_element_takes_the_place_of_all_that_was_below(page: Page) -> None:
    draw(page, [0, 2, 0], "number_input", id="$$ID-0e-n", data_type=NumberInput.INT, default=3.0)
    assert sent(page)["n"] == "int_value: 3"
    draw(page, [0, 2], "markdown", body="instead")
    assert "n" not in page.widgets()


def test_another_page_keeps_the_frame_and_the_bound_parameters(page: Page) -> None:
    page.move("m", "50")
    page.timers["f"] = 0.3
    asked = page.turn_to("Train").rerun_script
    assert asked.page_script_hash == "train"
    assert asked.query_string == "m=50"
    assert [one.id for one in asked.widget_states.widgets] == ["$$ID-0a-m"]
    assert asked.context_info.url == "http://127.0.0.1/"
    assert not page.timers
    menu = ForwardMsg()
    menu.navigation.page_script_hash = "train"
    menu.navigation.app_pages.add(page_name="Train", page_script_hash="train", url_pathname="at_train")
    page.take(menu)
    assert page.rerun().rerun_script.context_info.url == "http://127.0.0.1/at_train"


def test_a_button_is_pressed_once(page: Page) -> None:
    draw(page, [0, 4], "button", id="$$ID-0f-go")
    pressed = page.press("go").rerun_script.widget_states.widgets
    assert [one.id for one in pressed if one.trigger_value] == ["$$ID-0f-go"]
    assert "go" not in sent(page)
    with pytest.raises(KeyError):
        page.press("nothing")


def test_a_message_is_recalled_until_two_runs_did_not_ask_for_it(page: Page) -> None:
    figure = element([0, 5], "plotly_chart", id="chart", spec="{}")
    figure.hash, figure.metadata.cacheable = "abc", True
    page.take(figure)
    again = ForwardMsg(ref_hash="abc")
    again.metadata.delta_path.extend([0, 6])
    assert page.take(again).delta.new_element.plotly_chart.id == "chart"
    assert page.rerun().rerun_script.cached_message_hashes == ["abc"]
    assert page.figures() == ["chart", "chart"]
    for run in ("a", "b", "c"):
        begin(page, run)
        finish(page, run)
    with pytest.raises(CacheMissError):
        page.take(again)


def test_timers_begin_are_stopped_and_end_with_a_whole_run(page: Page) -> None:
    for fragment in ("f", "g"):
        message = ForwardMsg()
        message.auto_rerun.fragment_id, message.auto_rerun.interval = fragment, 0.25
        page.take(message)
    begin(page, "of f", ("f",))
    assert page.timers == {"f": 0.25, "g": 0.25}
    stop = ForwardMsg()
    stop.stop_auto_rerun.fragment_ids.append("f")
    page.take(stop)
    assert page.timers == {"g": 0.25}
    asked = page.rerun("g", auto=True).rerun_script
    assert (asked.fragment_id, asked.is_auto_rerun) == ("g", True)
    begin(page, "whole")
    assert not page.timers


def test_errors_and_cookies_are_noted(page: Page) -> None:
    draw(page, [0, 7], "exception", type="ValueError", message="no")
    draw(page, [0, 8], "alert", format=Alert.ERROR, body="Stop.")
    draw(page, [0, 9], "alert", format=Alert.INFO, body="By the way.")
    draw(page, [0, 10], "toast", icon=":material/error:", body="Too many.")
    told = {"ValueError: no", "Stop.", "Too many."}
    assert {text for level, text in page.said if level == "error"} == told
    script = '<script>document.cookie = "name=0f; path=/";</script>'
    draw(page, [0, 11], "html", body=script, unsafe_allow_javascript=True)
    assert page.cookies == {"name": "0f"}


def test_files_are_those_of_the_frame_and_of_each_kind_of_element() -> None:
    frame = files_of_the_frame()
    assert any("/index." in name for name in frame)
    assert any("/PlotlyChart." in name for name in files_of("plotly_chart"))
    assert not set(map(Path, frame)) & {Path(n) for n in files_of("plotly_chart") if "Plotly" in n}
    assert files_of("no_such_kind") == ()


def test_steps_stay_on_the_sliders_and_are_the_same_for_the_same_seed(page: Page) -> None:
    steps = [next_step(page, random.Random(seed)) for seed in range(60)]
    assert steps == [next_step(page, random.Random(seed)) for seed in range(60)]
    assert {step[2] for step in steps if step[:2] == ("move", "m")} == {"5", "25", "50"}
    assert {step[2] for step in steps if step[:2] == ("move", "c")} <= {-3.0, -2.0, -1.0, 1.0, 2.0, 3.0}
    assert {step[1] for step in steps if step[0] == "turn_to"} == {"Train", "NDCG against m"}


def test_a_job_is_taken_where_it_is_offered_and_none_is_waited_for(page: Page) -> None:
    draw(page, [0, 4], "button", id="$$ID-0f-train-in-background-Title")
    kinds = {next_step(page, random.Random(seed))[0] for seed in range(60)}
    assert kinds == {"move", "turn_to", "press"}
    page.timers["f"] = 0.3
    assert {next_step(page, random.Random(seed))[0] for seed in range(60)} == {"move", "turn_to"}


def tell(store: RunStore, lease: Lease, spec: RunSpec, stage: str) -> None:
    assert store.queue.renew(lease, {"digest": spec.hash, "stage": stage, "fraction": None})


def test_jobs_are_counted_with_what_was_there_and_after_they_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankviz.store.execution.start", lambda *_: ProcessId.of(os.getpid()))
    file = tmp_path / "runs.sqlite"
    seen = Seen(file)
    seen.look()
    assert seen.counts()["jobs"] == 0
    assert not file.exists(), "it is the app that makes the store"
    fold = make_fold(n_queries=12, documents_per_query=(5, 10), seed=1)
    spec = RunSpec("made", digest=fold.digest, feature_map="linear")
    specs = [spec.but(C=C) for C in (1.0, 2.0, 3.0)]
    records = dict(execute_all(specs, fold=fold))
    store = RunStore(file)
    jobs = Jobs(LocalWorkers(store, 1))
    first = jobs.submit(specs[:2], owner="me", title="A")
    lease = store.queue.take("w")
    assert lease is not None
    tell(store, lease, specs[0], "data")
    seen.look()
    assert (seen.counts()["trained"], seen.live) == (0, 1)
    tell(store, lease, specs[0], "newton")
    seen.look()
    store.queue.release(lease)  # as where it is stopped before it was saved
    lease = store.queue.take("w")
    assert lease is not None
    tell(store, lease, specs[0], "newton")
    seen.look()
    for one in specs[:2]:
        store.records.save(records[one])
    store.queue.release(lease)
    seen.look()
    second = jobs.submit(specs[1:], owner="me", title="B")
    lease = store.queue.take("w")
    assert lease is not None
    store.records.fail(specs[2], "It is too large.")
    store.queue.release(lease)
    seen.look()
    jobs.delete(first, "me")
    store.studies.delete(second, "me")
    jobs.submit([spec.but(C=9.0)], owner="me", title="C")
    seen.look()
    assert seen.counts() == {
        "jobs": 3,
        "records": 3,
        "specs": 2,
        "trained": 3,
        "the same at most": 2,
        "failed jobs": 1,
    }
    assert seen.live == 1
    assert seen.last_end() == pytest.approx(time.time(), abs=60.0)
    seen.close()
    store.close()


def test_seconds_that_never_came_are_the_worst() -> None:
    told = soak_report.summary([0.5, 0.1, 0.2, math.nan], "end")
    assert told == {"end, median s": pytest.approx(0.35), "end, 95 % s": math.inf, "end, worst s": math.inf}


def test_growth_is_that_of_the_second_half() -> None:
    samples = [Sample(60.0 * k, max(100.0, 80.0 + k), 0.0, 5, 9, 1, 4, 2.0) for k in range(60)]
    assert soak_report.slopes(samples)["server"] == pytest.approx(60.0)
    assert soak_report.slopes(samples)["threads"] == pytest.approx(0.0, abs=1e-9)


def test_samples_of_a_long_visit_are_told_by_the_minute_with_their_growth() -> None:
    samples = [Sample(30.0 * k, 100.0 + k, 0.0, 5, 9, 1, 4, 2.0) for k in range(24)]
    rows = soak.over_time(samples, "synthetic")
    assert [row["minute"] for row in rows] == ["0", "5", "10", "12", "more in an hour"]
    assert [row["server"] for row in rows] == pytest.approx([100.0, 110.0, 120.0, 123.0, 120.0])


def test_rows_replace_those_of_the_same_app_and_case(tmp_path: Path) -> None:
    soak_report.keep(tmp_path, "class", "before", [{"case": "cold", "seconds": 9.0}], "A note.")
    soak_report.keep(tmp_path, "class", "after", [{"case": "cold", "seconds": 5.0}], "A note.")
    rows = [{"case": "warm", "seconds": 1.0}, {"case": "cold", "seconds": 4.0}]
    soak_report.keep(tmp_path, "class", "after", rows, "A note.")
    text = (tmp_path / "soak.md").read_text()
    assert "A note." in text
    assert [line for line in text.splitlines() if "cold" in line or "warm" in line] == [
        "| before | cold | 9 |",
        "| after | cold | 4 |",
        "| after | warm | 1 |",
    ]
