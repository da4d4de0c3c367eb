"""Preference pairs, grade groups and the pair matrix against plain loops."""

import numpy as np
import pytest
from naive_ranking import GRADES, pair_matrix, random_grades, slow_pairs

from rankviz.learning.pairs import count_pairs, grade_groups, preference_pairs

each_case = pytest.mark.parametrize(("y", "ptr"), GRADES.values(), ids=GRADES)


RANDOM = {f"random {seed}": random_grades(seed, 1 + seed % 6, (1, 25)) for seed in range(20)}


@pytest.mark.parametrize(("y", "ptr"), (GRADES | RANDOM).values(), ids=GRADES | RANDOM)
def test_pairs_are_those_of_the_plain_loops(y: np.ndarray, ptr: np.ndarray) -> None:
    pairs, slow = preference_pairs(y, ptr), slow_pairs(y, ptr)
    assert sorted(zip(pairs.winner.tolist(), pairs.loser.tolist(), strict=True)) == slow
    assert (len(pairs), pairs.n) == (len(slow), len(y))
    expected = [sum(ptr[q] <= i < ptr[q + 1] for i, _ in slow) for q in range(len(ptr) - 1)]
    assert count_pairs(y, ptr).tolist() == expected


@each_case
def test_pairs_of_a_query_stand_together(y: np.ndarray, ptr: np.ndarray) -> None:
    winner = preference_pairs(y, ptr).winner
    query = np.searchsorted(ptr, winner, side="right")
    assert (np.diff(query) >= 0).all()


@each_case
def test_groups_partition_the_documents(y: np.ndarray, ptr: np.ndarray) -> None:
    groups = grade_groups(y, ptr)
    assert sorted(groups.order) == list(range(len(y)))
    query = np.searchsorted(ptr, np.arange(len(y)), side="right") - 1
    seen = []
    for g, (start, size) in enumerate(zip(groups.start, groups.size, strict=True)):
        members = groups.order[start : start + size]
        assert (groups.group[start : start + size] == g).all()
        assert members.tolist() == sorted(members)
        assert {(int(query[i]), int(-y[i])) for i in members} == {(int(groups.query[g]), int(-y[members[0]]))}
        seen.append((int(groups.query[g]), int(-y[members[0]])))
    assert seen == sorted(set(seen))
    assert groups.size.sum() == len(y)


@each_case
def test_margins_and_pull_back_are_the_pair_matrix_and_its_transpose(y: np.ndarray, ptr: np.ndarray) -> None:
    pairs, rng = preference_pairs(y, ptr), np.random.default_rng(0)
    A = pair_matrix(y, ptr)
    A = A[[slow_pairs(y, ptr).index(p) for p in zip(pairs.winner, pairs.loser, strict=True)]]
    f, u = rng.normal(size=len(y)), rng.normal(size=len(pairs))
    np.testing.assert_allclose(pairs.margins(f), A @ f, atol=1e-14)
    np.testing.assert_allclose(pairs.pull_back(u), A.T @ u, atol=1e-13)
    assert pairs.margins(f) @ u == pytest.approx(f @ pairs.pull_back(u), abs=1e-12)
    assert pairs.pull_back(u).dtype == np.float64


def test_take_keeps_chosen_pairs() -> None:
    pairs = preference_pairs(*GRADES["five grades"])
    chosen = pairs.take(np.array([4, 1]))
    assert chosen.winner.tolist() == pairs.winner[[4, 1]].tolist()
    assert chosen.loser.tolist() == pairs.loser[[4, 1]].tolist()
    assert (len(chosen), chosen.n) == (2, pairs.n)
