"""Keeps the tests of this folder out of the user's cache and data; bounds of a test's own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rankviz.common.bounds import ENVIRONMENT as BOUNDS
from rankviz.datasets.upload_folders import ENVIRONMENT as UPLOADS


@pytest.fixture(scope="session")
def cache_of_tests(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(cache_of_tests, monkeypatch):
    monkeypatch.setenv("RANKVIZ_CACHE", str(cache_of_tests))


@pytest.fixture(autouse=True)
def own_uploads(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(UPLOADS, str(tmp_path_factory.mktemp("uploads")))
    monkeypatch.delenv(BOUNDS, raising=False)


@pytest.fixture
def bounded(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets bounds of the machine by their names."""

    def bound(**values: int) -> None:
        path: Path = tmp_path_factory.mktemp("bounds") / "bounds.toml"
        path.write_text("".join(f"{name} = {value}\n" for name, value in values.items()))
        monkeypatch.setenv(BOUNDS, str(path))

    return bound
