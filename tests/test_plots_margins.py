"""Losses over margins: a range that one loss, however huge, does not make flat or endless."""

import numpy as np
import pandas as pd
import pytest
import strangers

from rankviz import Fold, RunSpec
from rankviz.learning.losses import LOSSES
from rankviz.plots import margins
from rankviz.plots import margins as plot
from rankviz.runs.run import play


def bins(low: float) -> pd.DataFrame:
    """Two bins from a lowest margin to 2."""
    edges = {"left": [low, 0.0], "right": [0.0, 2.0]}
    return pd.DataFrame({**edges, "pairs": [1, 3], "share": [0.25, 0.75]})


@pytest.mark.parametrize("low", [-3.0, -50.0, -5000.0])
def test_an_exponential_loss_does_not_flatten_the_others(low: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LOSSES, "stranger", strangers.LOSS)
    table = bins(low)
    fig = margins.losses_figure(table, margins.curves(table), "linear", "stranger")
    for axis, largest in ((fig.layout.yaxis, (1 - low) ** 2), (fig.layout.yaxis2, 2 * (1 - low))):
        assert np.isfinite(axis.range).all()
        assert max(map(abs, axis.range)) == pytest.approx(largest, rel=0.07)


@pytest.mark.parametrize("loss", list(LOSSES))
def test_the_range_is_the_loss_s_own_elsewhere(loss: str) -> None:
    table = bins(-9.0)
    lines = margins.curves(table)
    fig, own = margins.losses_figure(table, lines, "linear", loss), lines[lines["loss"] == loss]
    assert fig.layout.yaxis.range[1] == pytest.approx(1.06 * own["value"].max())
    assert fig.layout.yaxis2.range[0] == pytest.approx(1.06 * min(own["slope"].min(), -1.0), rel=1e-6)


SPEC = RunSpec("demo", n_components=25, gamma=0.5, C=0.25, start="zero")


def test_documents_keep_their_rows_and_bins_their_edges(fold: Fold) -> None:
    found = play(SPEC, fold)
    table, counts = (
        plot.playback_documents(found.scores, fold.train, 2),
        plot.playback_bins(found.scores, fold.train),
    )
    first = table[table["iteration"] == 0]
    for _, rows in table.groupby("iteration"):
        assert rows["document"].tolist() == first["document"].tolist()
        assert sorted(rows["rank"]) == list(range(1, len(rows) + 1))
    assert counts.groupby("iteration")["pairs"].sum().unique().tolist() == [found.record.n_pairs]
    titles = {k: str(k) for k in range(len(found.scores))}
    fig = plot.playback_figure(table, counts, titles, "nystroem", 10)
    assert [frame.name for frame in fig.frames] == list(titles.values())
    cut, later = fig.data[-1], fig.frames[-1].data[-1]
    assert [text for text in cut.text if text] == ["100\N{NO-BREAK SPACE}%"], "higher than the axis"
    assert max(cut.y) < fig.layout.yaxis2.range[1] < 1
    assert not any(later.text)
    assert sum(later.y) == pytest.approx(1)


def test_long_films_keep_their_ends() -> None:
    assert plot.shown_iterations(3) == [0, 1, 2]
    shown = plot.shown_iterations(1000)
    assert (shown[0], shown[-1]) == (0, 999)
    assert len(shown) <= plot.MOST_FRAMES
