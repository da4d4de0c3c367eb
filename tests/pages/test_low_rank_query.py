"""Low rank, one query: what cutting every query to rank k loses, in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ui.low_rank.computations import Cut
from ui.low_rank.words import lost_by_all


@pytest.fixture
def cut() -> Cut:
    """Blocks cut to rank 1 and 2, of which the latter cuts nothing but rounding; rankings are the same."""
    rows = {"scope": "all", "k": [1, 2], "energy": [0.9, 1.0]}
    table = pd.DataFrame(rows | {"alpha_error": [0.3, 1e-16], "w_error": [0.2, 2e-15]})
    queries = np.linspace(0.1, 0.9, 10)
    return Cut(table, {"all": pd.DataFrame({1: queries, 2: queries})})


@pytest.mark.parametrize("k", [2, 100])
def test_a_cut_that_loses_nothing_changes_nothing(cut: Cut, k: int) -> None:
    assert f"cut to rank {k}, nothing changes" in lost_by_all(k, cut)
    assert "distinguishable" not in lost_by_all(k, cut)


def test_a_cut_that_loses_something_is_compared_by_its_rankings(cut: Cut) -> None:
    said = lost_by_all(1, cut)
    assert "changes by 30 % of its norm, w by 20 % of its length" in said
    assert "not distinguishable" in said


def test_w_alone_is_enough_of_a_loss(cut: Cut) -> None:
    table = cut.table.assign(alpha_error=0.0, w_error=1e-6)
    assert "nothing changes" not in lost_by_all(2, Cut(table, cut.metric))
