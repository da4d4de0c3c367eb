"""Films of Newton iterations: the run itself, with the scores that each row of its trace begins with."""

from __future__ import annotations

import numpy as np
import pytest

from rankviz import Fold, RunSpec, execute
from rankviz.datasets import make_fold
from rankviz.learning.pairs import preference_pairs
from rankviz.learning.solvers import SOLVERS
from rankviz.plots import playback as plot
from rankviz.runs.playback import play, playable

SPEC = RunSpec("demo", n_components=25, gamma=0.5, C=0.25, start="zero")


@pytest.fixture(scope="module")
def fold() -> Fold:
    return make_fold(n_queries=12, documents_per_query=(5, 20), n_features=6, seed=1)


def test_newton_methods_can_be_played_and_no_others() -> None:
    assert [name for name in SOLVERS if playable(SPEC.but(solver=name))] == ["newton", "newton_yuan"]
    assert not playable(SPEC.factorized(2, 0.25))


@pytest.mark.parametrize("solver", [name for name in SOLVERS if playable(SPEC.but(solver=name))])
def test_scores_are_those_of_the_trace(fold: Fold, solver: str) -> None:
    found = play(SPEC.but(solver=solver), fold)
    record = execute(SPEC.but(solver=solver), fold=fold)
    assert found.record.trace["objective"].tolist() == record.trace["objective"].tolist()
    assert len(found.scores) == len(record.trace)
    assert not found.scores[0].any()
    np.testing.assert_array_equal(found.scores[-1], record.scores["train"])
    pairs = preference_pairs(fold.train.y, fold.train.ptr)
    active = [int((pairs.margins(f) < 1).sum()) for f in found.scores]
    assert active == record.trace["active_pairs"].tolist()


def test_the_hinge_has_one_frame_for_each_row(fold: Fold) -> None:
    found = play(SPEC.but(loss="hinge"), fold)
    assert len(found.scores) == len(found.record.trace)
    pairs = preference_pairs(fold.train.y, fold.train.ptr)
    for f, (_, row) in zip(found.scores, found.record.trace.iterrows(), strict=True):
        t = pairs.margins(f)
        assert int(((t < 1) & (t >= 1 - row["smoothing"])).sum()) == pytest.approx(row["active_pairs"], abs=1)


def test_other_solvers_are_refused(fold: Fold) -> None:
    with pytest.raises(ValueError, match="not a Newton method"):
        play(SPEC.but(solver="lbfgs"), fold)


def test_documents_keep_their_rows_and_bins_their_edges(fold: Fold) -> None:
    found = play(SPEC, fold)
    table, counts = plot.documents(found.scores, fold.train, 2), plot.bins(found.scores, fold.train)
    first = table[table["iteration"] == 0]
    for _, rows in table.groupby("iteration"):
        assert rows["document"].tolist() == first["document"].tolist()
        assert sorted(rows["rank"]) == list(range(1, len(rows) + 1))
    assert counts.groupby("iteration")["pairs"].sum().unique().tolist() == [found.record.n_pairs]
    titles = {k: str(k) for k in range(len(found.scores))}
    fig = plot.figure(table, counts, titles, "nystroem", 10)
    assert [frame.name for frame in fig.frames] == list(titles.values())


def test_long_films_keep_their_ends() -> None:
    assert plot.kept(3) == [0, 1, 2]
    shown = plot.kept(1000)
    assert (shown[0], shown[-1]) == (0, 999)
    assert len(shown) <= plot.MOST_FRAMES
