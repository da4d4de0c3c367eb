"""Fixtures shared by all tests; where the real folds are, and what to do when they are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


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
