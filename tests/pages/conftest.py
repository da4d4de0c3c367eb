"""The app under AppTest: through router.py, with data folders and caches of the test's own."""

import logging
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from conftest_pages import APP, CHEAP_TABS, EDGES, SMALL
from plotly import basedatatypes
from runs_once import RunsOnce
from streamlit.components.v2 import manifest_scanner
from streamlit.components.v2.manifest_scanner import scan_component_manifests
from streamlit.testing.v1 import AppTest

from rankviz.common.processes import start
from rankviz.datasets import Fold, write_letor
from rankviz.runs.starting_points import StartingPoint, starting_point
from rankviz.store import RunStore
from rankviz.store.execution import worker_processes
from ui.controls.link import _PLACE
from ui.defaults import page_hash, through_router
from ui.model.what_if_models import memory
from ui.shell import page
from ui.shell.errors import LOG, errors_as_sentences
from ui.shell.steady import MOST_AHEAD
from ui.shell.visitors import accounts_required
from ui.work.folds import FOLDS
from ui.work.jobs import _slow
from ui.work.run_store import _opened, forget
from ui.work.runs import _memory
from ui.work.watching import _jobs_of


class Faults(logging.Handler):
    """The faults that pages have logged; a test that asks for one empties it, any other fails at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what was logged, with its traceback."""
        self.told.append(logging.Formatter().format(record))


@pytest.fixture(autouse=True)
def faults() -> Iterator[list[str]]:
    """Collect the faults that pages log: they are caught, so AppTest sees no exception."""
    watch = Faults()
    LOG.addHandler(watch)
    yield watch.told
    LOG.removeHandler(watch)
    assert not watch.told, watch.told[0]


@pytest.fixture(autouse=True)
def plain_headings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the spaces of headings, so that tests compare them with sentences; e2e/test_app.py sees both."""
    monkeypatch.setattr("ui.shell.figures.unbroken", str)


@pytest.fixture(autouse=True)
def nothing_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no figures for other values of a slider: they take half the time of Nyström and Fourier."""
    monkeypatch.setattr("ui.shell.steady.MOST_AHEAD", 0)


@pytest.fixture
def ahead(nothing_ahead: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Send figures of other values of a slider ahead, as the app does."""
    monkeypatch.setattr("ui.shell.steady.MOST_AHEAD", MOST_AHEAD)


@pytest.fixture(scope="session", autouse=True)
def found_once() -> Iterator[None]:
    """Find once what is the same for all apps under test: packages, paths of Plotly, start values."""
    starts: dict[tuple[str, str], StartingPoint] = {}

    def start_of(fold: Fold) -> StartingPoint:
        key = fold.name, fold.digest
        if key not in starts:
            starts[key] = starting_point(fold)
        return starts[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(scan_component_manifests))
        patch.setattr(basedatatypes, "_str_to_dict_path_full", cache(basedatatypes._str_to_dict_path_full))
        patch.setattr("ui.controls.sidebar.starting_point", start_of)
        patch.setattr("rankviz.common.files.sync", lambda stream: stream.flush())  # no disk is tested
        yield


@pytest.fixture(scope="session")
def parsed_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def runs_once() -> RunsOnce:
    return RunsOnce()


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run store without runs: to copy it is faster than to make its tables for each test."""
    file = tmp_path_factory.mktemp("store") / "runs.sqlite"
    RunStore(file).close()
    return file


@pytest.fixture(scope="session")
def made_sets(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the data root with a data set of one kind, made once."""

    @cache
    def made(kind: str) -> Path:
        root = tmp_path_factory.mktemp("sets")
        folder = root / "edge" / "Fold1"
        folder.mkdir(parents=True)
        for number, name in enumerate(("train", "vali", "test")):
            write_letor((EDGES | SMALL)[kind](1 + 100 * number), folder / f"{name}.txt")
        return root

    return made


@pytest.fixture(autouse=True)
def own_folders(
    tmp_path: Path,
    parsed_files: Path,
    runs_once: RunsOnce,
    empty_store: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[None]:
    """Keep tests away from the user's caches and data, and pages from what they remember of other tests.

    Workers that a test has had started end with it. Streamlit puts the script in place of `__main__`, and a
    worker of a later test would run it.
    """
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr("ui.work.runs.execute_all", runs_once)
    monkeypatch.setenv("RANKVIZ_CACHE", str(parsed_files))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user-data"))
    monkeypatch.delenv("RANKVIZ_DATA", raising=False)
    monkeypatch.setenv("RANKVIZ_RUNS", str(tmp_path / "runs"))
    (tmp_path / "runs").mkdir()
    shutil.copy(empty_store, tmp_path / "runs")
    monkeypatch.setenv("RANKVIZ_PREPARE", "no")
    monkeypatch.setattr("ui.work.jobs.LIVE_LIMIT", 60.0)  # a machine busy with tests is no reason for a job
    monkeypatch.chdir(APP.parent)
    st.cache_resource.clear()
    forget()
    for kept in (_memory, _slow, _jobs_of, accounts_required, memory):
        kept.cache_clear()
    FOLDS.clear()
    yield
    for process in (process for execution in _opened for process in worker_processes(execution.store)):
        process.terminate()
        assert process.wait(60)


@pytest.fixture
def made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make all runs while the test waits."""
    monkeypatch.setattr("ui.work.jobs.LIVE_SECONDS", 60.0)
    monkeypatch.setattr("ui.work.jobs.LIVE_IN_ALL", 600.0)


@pytest.fixture
def sleepers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers are started, and make nothing."""
    monkeypatch.setattr("rankviz.store.execution.start", lambda command, *rest: start(["sleep", "60"], *rest))


@pytest.fixture
def every_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw all tabs of the pages that have to train nothing for them, and what visitors can open."""
    only_open, expander = page.tabs, st.expander

    def tabs(draw: Mapping[str, Callable[[], object]]) -> None:
        if not CHEAP_TABS.issuperset(draw):
            only_open(draw)
            return
        for place, drawn in zip(st.tabs(list(draw)), draw.values(), strict=True):
            with place, errors_as_sentences():
                drawn()

    def open_expander(label: str, expanded: bool = False, **how: Any) -> object:
        return expander(label, expanded or how.get("on_change") == "rerun", **how)

    monkeypatch.setattr(page, "tabs", tabs)
    monkeypatch.setattr(st, "expander", open_expander)


@pytest.fixture
def open_page(faults: list[str]) -> Iterator[Callable[..., AppTest]]:
    """Open a page of the app with query parameters, as a link does."""

    def opened(page: str | None = None, **params: Any) -> AppTest:
        app = AppTest.from_file(str(APP), default_timeout=180)
        app.query_params.update({key: str(value) for key, value in params.items()})
        app._page_hash = page_hash(page or "home")
        return drawn(app, faults)

    with through_router():
        yield opened


@pytest.fixture
def open_by_menu(monkeypatch: pytest.MonkeyPatch, faults: list[str]) -> Callable[..., AppTest]:
    """Open a page after a first run on Home, which is not drawn; only then AppTest can switch pages."""

    def opened(page: str, **params: Any) -> AppTest:
        app = AppTest.from_file(str(APP), default_timeout=180)
        link = {key: str(value) for key, value in params.items()}
        app.query_params.update(link)  # read by the sidebar in the first run, by the page in its own
        with monkeypatch.context() as quiet:
            quiet.setattr("ui.learn.home.headline", lambda *_: None)
            app.run()
        if page != "home":
            app.switch_page(f"pages/{page}.py")
            del app.session_state[_PLACE]  # the router's, which does not run with a page that AppTest opens
        app.query_params.update(link)
        return drawn(app, faults)

    return opened


def drawn(app: AppTest, faults: list[str]) -> AppTest:
    app.run()
    assert not app.exception, app.exception
    assert not faults, faults[0]
    return app


@pytest.fixture
def data_set(
    tmp_path: Path, made_sets: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., None]:
    """Offer a data set of one kind, "edge", in a data root of its own; as a copy to tests that change it."""

    def put(kind: str, copied: bool = False) -> None:
        root = made_sets(kind)
        if copied:
            root = Path(shutil.copytree(root, tmp_path / "data"))
        monkeypatch.setenv("RANKVIZ_DATA", str(root))

    return put


@pytest.fixture
def small_set(data_set: Callable[..., None]) -> None:
    """Offer an ordinary small data set, "edge"."""
    data_set("small")
