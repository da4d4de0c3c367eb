"""Test imported runs on pages: they never replace a run, and are marked everywhere."""

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace

import pytest
from conftest_jobs import ended
from conftest_pages import Opener, figures, words

from rankviz import RunRecord, RunSpec, execute
from rankviz.datasets.archives import Upload
from rankviz.store.exchange import LIST
from ui.compare import runs_actions as actions
from ui.compare.runs_actions import CHOSEN
from ui.shell.visitors import visitor
from ui.work.run_store import keeper, run_store
from ui.work.watching import jobs

ME, YOU = "1" * 32, "2" * 32
SETTINGS = {"m": 5}
LIE = 0.9876


@pytest.fixture
def as_visitor(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Have pages be opened by who has this secret; returns whose their runs are."""

    def put(secret: str) -> str:
        monkeypatch.setattr("ui.shell.visitors._secret", lambda: secret)
        return visitor()

    return put


@pytest.fixture(scope="module")
def honest() -> RunRecord:
    spec = RunSpec("synthetic-demo", n_components=5, C=2.0**-4, gamma=2.0**-2)
    return execute(spec)


def imported(record: RunRecord) -> str:
    """Have the visitor import a record whose figures are another one's; returns what it is kept under."""
    lie = replace(record, metrics={part: table * 0 + LIE for part, table in record.metrics.items()})
    file = io.BytesIO()
    about = {"digest": lie.spec.hash, "star": False, "note": "", "tags": []}
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(LIST, json.dumps({"format": 1, "runs": [about]}))
        archive.writestr(f"{lie.spec.hash}.npz", lie.to_bytes())
    file.seek(0)
    assert actions.store_upload(Upload("lie.rankviz", file)) == 1
    return next(
        digest
        for digest, state in run_store().listing.seen_by(visitor())["state"].items()
        if state == "imported"
    )


def test_train_shows_nobody_an_imported_run(
    open_page: Opener, as_visitor: Callable[[str], str], honest: RunRecord
) -> None:
    as_visitor(ME)
    imported(honest)
    for secret in (YOU, ME):
        as_visitor(secret)
        app = open_page("train", **SETTINGS)
        assert app.metric[0].value == f"{honest.metrics['vali']['NDCG@10'].mean():.3f}"
        assert f"{LIE:.3f}" not in words(app)
    as_visitor(YOU)
    keeper().wait()
    assert f"{LIE:.3f}" not in words(open_page("runs"))
    assert LIE not in app.session_state


def test_runs_calls_it_imported_and_best_is_what_was_made_here(
    open_page: Opener, as_visitor: Callable[[str], str], honest: RunRecord
) -> None:
    me = as_visitor(ME)
    digest = imported(honest)
    app = open_page("runs")
    assert app.header[0].value.endswith("None has been trained here.")
    assert "1 imported, not made here" in words(app)
    others = [replace(honest, spec=honest.spec.but(C=2.0**-k)) for k in (5, 6)]
    run_store().records.keep(others, me)
    app = open_page("runs")
    assert app.dataframe[0].value["state"].tolist().count("imported, not made here") == 1
    assert f"{LIE:.3f}" not in app.header[0].value
    assert str(LIE) not in str(figures(app)[0])
    assert "are not drawn" in words(app)
    app.session_state[CHOSEN] = [digest]
    app.run()
    assert app.button(key="runs-group").disabled, "it is shared with nobody"
    assert not app.button(key="runs-star").disabled
    again = app.button(key="runs-open")
    assert (again.label, again.disabled) == ("Train again", False)
    app.session_state[CHOSEN] = [others[0].spec.hash]
    app.run()
    assert app.button(key="runs-open").label == "Open in Train"


def test_training_again_says_whether_figures_agree(
    open_page: Opener, as_visitor: Callable[[str], str], honest: RunRecord
) -> None:
    as_visitor(ME)
    digest = imported(honest)
    app = open_page("runs", **SETTINGS)
    app.session_state[CHOSEN] = [digest]
    app.run()
    app.button(key="runs-open").click().run()
    app.switch_page("pages/train.py").run(timeout=30)
    assert f"not {LIE:.4f}" in words(app)
    assert "do not agree" in app.warning[0].value
    app.switch_page("pages/runs.py").run()
    shown = app.dataframe[0].value
    assert shown["reason"].str.contains("The run made here has").sum() == 1
    assert sorted(set(shown["state"])) == ["done", "imported, not made here"]
    app.button(key="imported-hide").click().run()
    assert not app.warning


def test_what_train_does_not_offer_is_trained_again_in_the_background(
    open_page: Opener, as_visitor: Callable[[str], str], honest: RunRecord
) -> None:
    me = as_visitor(ME)
    odd = replace(honest, spec=honest.spec.but(C=0.3, n_components=7))
    digest = imported(odd)
    app = open_page("runs")
    app.session_state[CHOSEN] = [digest]
    app.run()
    app.button(key="runs-open").click().run()
    assert "again in the background" in app.info[0].value
    (job,) = jobs().of(me)
    ended(jobs(), job.id)
    app.run()
    assert "do not agree" in app.warning[0].value
    assert not app.info
    states = run_store().listing.seen_by(me)["state"]
    assert (states[odd.spec.hash], states[digest]) == ("done", "imported")


def test_compare_calls_it_imported(
    open_page: Opener, as_visitor: Callable[[str], str], honest: RunRecord
) -> None:
    me = as_visitor(ME)
    digest = imported(honest)
    run_store().records.keep([honest], me)
    app = open_page("compare", runs=f"{honest.spec.hash},{digest}")
    assert "1 run is imported, not made here." in words(app)
    assert "(imported, not made here)" in app.header[0].value
    assert "is significantly better than" in app.header[0].value, "both are there, one as the file has it"
    as_visitor(YOU)
    assert "2 runs left out" in words(open_page("compare", runs=f"{honest.spec.hash},{digest}"))


def test_a_note_or_tags_beyond_their_bounds_are_a_sentence(
    open_page: Opener, as_visitor: Callable[[str], str], honest: RunRecord
) -> None:
    me = as_visitor(ME)
    other = replace(honest, spec=honest.spec.but(C=1.0))
    run_store().records.keep([honest, other], me)
    run_store().marks.tag(me, [other.spec.hash], "one more")
    for k in range(50):
        run_store().marks.tag(me, [honest.spec.hash], f"tag {k}")
    app = open_page("runs")
    app.session_state[CHOSEN] = [honest.spec.hash]
    app.run()
    app.selectbox(key="runs-new-tag").set_value("one more").run()
    app.button(key="runs-tag-add").click().run()
    assert "a run has at most 50 tags, not 51" in app.error[0].value
