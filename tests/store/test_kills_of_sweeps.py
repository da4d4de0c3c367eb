"""A few kills in the middle of sweeps; `make soak ARGS="kills"` has many."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.store_kills import trials
from rankviz.store.database import ENVIRONMENT


@pytest.mark.parametrize("kind", ["worker", "app", pytest.param("database", id="postgresql")])
def test_a_sweep_outlives_a_kill(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "database" and "RANKVIZ_TEST_POSTGRES" not in os.environ:
        pytest.skip("RANKVIZ_TEST_POSTGRES is not set: make test-postgres starts a server")
    monkeypatch.setenv(ENVIRONMENT, "")  # put back afterwards
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "own"))
    (trial,) = trials(kind, [0.3], tmp_path)
    assert (trial.lost, trial.doubled, trial.unmade) == (0, 0, 0)
    assert 0 < trial.at < 360
    assert trial.seconds < 30
