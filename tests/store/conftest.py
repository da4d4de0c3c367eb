"""Fixtures of the tests of the run store: a store on each kind of database, specs of a small fold."""

import os
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from conftest_jobs import SPEC, end_workers
from conftest_store import Command, Sleeper
from conftest_warm import start_warm
from sqlalchemy import create_engine, make_url, text

from rankviz import RunRecord, RunSpec, execute_all
from rankviz.__main__ import main
from rankviz.common.processes import ProcessId, start
from rankviz.datasets import Fold, find_datasets, open_fold
from rankviz.store import RunStore
from rankviz.store.database import ENVIRONMENT
from rankviz.store.environment import FOLDER_ENVIRONMENT, WORKERS_ENVIRONMENT
from rankviz.store.execution import LocalWorkers
from rankviz.store.watched import WatchedStudies

POSTGRES = "RANKVIZ_TEST_POSTGRES"
"""Address of a PostgreSQL server on which tests may make databases; `make test-postgres` starts one."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give tests a store on SQLite, and those marked `both_stores` one on PostgreSQL too, as a story."""
    named = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if "address" in metafunc.fixturenames and "address" not in named:
        both = metafunc.definition.get_closest_marker("both_stores")
        further = [pytest.param("postgresql", marks=pytest.mark.story)] if both else []
        metafunc.parametrize("address", ["sqlite", *further], indirect=True)


@pytest.fixture
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "runs.sqlite")
        return
    server = os.environ.get(POSTGRES)
    if not server:
        pytest.skip(f"{POSTGRES} is not set: make test-postgres starts a server")
    name = f"rankviz_{secrets.token_hex(6)}"
    url = make_url(server).set(drivername="postgresql+psycopg")
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield make_url(server).set(database=name).render_as_string(hide_password=False)
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


@pytest.fixture(autouse=sys.platform == "linux")
def warm_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start workers with the libraries imported, which otherwise takes a second of a core each."""
    monkeypatch.setattr("rankviz.store.execution.start", start_warm)


@pytest.fixture
def cold_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start workers as the app does: only so it learns how they end."""
    monkeypatch.setattr("rankviz.store.execution.start", start)


@pytest.fixture
def store(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunStore]:
    monkeypatch.setenv(ENVIRONMENT, address)
    monkeypatch.setenv(WORKERS_ENVIRONMENT, "2")
    monkeypatch.setenv(FOLDER_ENVIRONMENT, str(tmp_path))
    store = RunStore()
    yield store
    end_workers(store)
    store.close()


@pytest.fixture
def jobs(store: RunStore) -> WatchedStudies:
    return WatchedStudies(LocalWorkers(store, 1))


@pytest.fixture
def submit(jobs: WatchedStudies, root: Path) -> Callable[..., str]:
    def submitted(specs: Sequence[RunSpec] = (SPEC,), owner: str = "me") -> str:
        return jobs.submit(specs, owner=owner, title="A job", roots=[root])

    return submitted


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker is started: the test itself takes what is to be made."""
    monkeypatch.setattr(LocalWorkers, "_missing", lambda *_: 0)


@pytest.fixture
def interrupted(command: Command, store: RunStore, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Do a sweep that is interrupted while it waits; return what it says."""

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    def done(*words: str) -> str:
        with monkeypatch.context() as patch:
            patch.setattr(LocalWorkers, "_missing", lambda *_: 0)  # else all may be made before
            patch.setattr("rankviz.command.sweep.time.sleep", interrupt)
            status, _, err = command("sweep", *words)
        assert status == 130
        return err

    return done


@pytest.fixture
def sleepers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Sleeper]]:
    """Processes that sleep are started in place of workers; they are noted here, and ended afterwards."""
    found = list[Sleeper]()

    def sleeps(command: list[str], environment: dict[str, str], log: Path) -> ProcessId:
        found.append(Sleeper(start(["sleep", "60"], environment, log), command[-1], environment))
        return found[-1].process

    monkeypatch.setattr("rankviz.store.execution.start", sleeps)
    yield found
    for one in found:
        one.process.terminate()


@pytest.fixture(scope="session")
def fold(root: Path) -> Fold:
    return open_fold(find_datasets([root])["small"], "Fold1")


@pytest.fixture(scope="session")
def base(fold: Fold) -> RunSpec:
    return RunSpec("small", digest=fold.digest, feature_map="nystroem", n_components=10)


@pytest.fixture(scope="session")
def specs(base: RunSpec) -> list[RunSpec]:
    return [base.but(C=C, seed=seed) for seed in (0, 1) for C in (0.25, 0.5, 1.0)]


@pytest.fixture(scope="session")
def made(specs: list[RunSpec], fold: Fold) -> dict[RunSpec, RunRecord]:
    return dict(execute_all(specs, fold=fold))


@pytest.fixture
def command(root: Path, store: RunStore, capsys: pytest.CaptureFixture[str]) -> Command:
    """Do a command as typed; its exit status, and what it has printed on both streams."""

    def done(name: str, *words: str) -> tuple[int, str, str]:
        data = ["--data-dir", str(root)] if name in ("train", "sweep") else []
        with pytest.raises(SystemExit) as ended:
            main([name, *words, *data])
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return done
