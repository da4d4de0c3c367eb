"""Losses over margins: a range that one loss, however huge, does not make flat or endless."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import strangers

from rankviz.learning.losses import LOSSES
from rankviz.plots import margins


def bins(low: float) -> pd.DataFrame:
    """Two bins from a lowest margin to 2."""
    edges = {"left": [low, 0.0], "right": [0.0, 2.0]}
    return pd.DataFrame({**edges, "pairs": [1, 3], "share": [0.25, 0.75]})


@pytest.mark.parametrize("low", [-3.0, -50.0, -5000.0])
def test_an_exponential_loss_does_not_flatten_the_others(low: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LOSSES, "stranger", strangers.LOSS)
    table = bins(low)
    fig = margins.figure(table, margins.curves(table), "linear", "stranger")
    for axis, largest in ((fig.layout.yaxis, (1 - low) ** 2), (fig.layout.yaxis2, 2 * (1 - low))):
        assert np.isfinite(axis.range).all()
        assert max(map(abs, axis.range)) == pytest.approx(largest, rel=0.07)


@pytest.mark.parametrize("loss", list(LOSSES))
def test_the_range_is_the_loss_s_own_elsewhere(loss: str) -> None:
    table = bins(-9.0)
    lines = margins.curves(table)
    fig, own = margins.figure(table, lines, "linear", loss), lines[lines["loss"] == loss]
    assert fig.layout.yaxis.range[1] == pytest.approx(1.06 * own["value"].max())
    assert fig.layout.yaxis2.range[0] == pytest.approx(1.06 * min(own["slope"].min(), -1.0), rel=1e-6)
