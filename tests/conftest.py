"""Fixtures that tests share: the real folds, and what to do when they are not there; a small data set."""

import os

# Processes of tests that work at the same time share the cores, as jobs do: more threads of BLAS than cores
# would wait for each other by keeping cores busy. It counts where it is said before NumPy is imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    share = (os.cpu_count() or 1) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(max(1, share)))

# Workers that stood back would starve beside the tests that wait for them.
os.environ.setdefault("RANKVIZ_NICE", "0")

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest_jobs import FOLD

from rankviz.common.bounds import ENVIRONMENT as BOUNDS
from rankviz.datasets import Fold, make_fold, write_letor


@pytest.fixture(scope="session")
def letor_root() -> Path:
    """Folder with the real LETOR folds: set and wrong fails, unset skips with a reason."""
    value = os.environ.get("RANKVIZ_LETOR")
    if not value:
        pytest.skip("RANKVIZ_LETOR is not set: the real LETOR folds are not at hand")
    root = Path(value)
    if not (root / "OHSUMED" / "Fold1" / "train.txt").is_file():
        pytest.fail(f"RANKVIZ_LETOR={value} has no OHSUMED/Fold1/train.txt")
    return root.resolve()


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with the small data set that jobs name."""
    root = tmp_path_factory.mktemp("data")
    folder = root / "small" / "Fold1"
    folder.mkdir(parents=True)
    for name, part in FOLD.parts.items():
        write_letor(part, folder / f"{name}.txt")
    return root


@pytest.fixture(scope="session")
def fold() -> Fold:
    return make_fold(n_queries=12, documents_per_query=(5, 15), n_features=6, seed=1)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a test out of the user's cache."""
    monkeypatch.setenv("RANKVIZ_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets bounds of this machine, for the workers that are started too."""

    def changed(**values: float) -> None:
        lines = [f"{name} = {value}" for name, value in values.items()]
        file = tmp_path / f"bounds-{len(list(tmp_path.glob('bounds-*')))}.toml"  # what was read stays read
        file.write_text("\n".join(lines))
        monkeypatch.setenv(BOUNDS, str(file))

    return changed
