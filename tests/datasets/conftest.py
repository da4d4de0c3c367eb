"""Keeps the tests of this folder out of the user's cache."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def cache_of_tests(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(cache_of_tests, monkeypatch):
    monkeypatch.setenv("RANKVIZ_CACHE", str(cache_of_tests))
