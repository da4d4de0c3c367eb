"""A session above its share of the processor waits while others work."""

from __future__ import annotations

import pytest

from ui.shell.shares import AT_WORK, BURST, LONGEST, SHARE, Shares


@pytest.fixture
def shares() -> Shares:
    found = Shares()
    found.add("class", 0.1, 0.0)
    return found


def test_a_session_within_its_share_never_waits(shares: Shares) -> None:
    for now in range(100):
        assert shares.wait("one", float(now)) == 0
        shares.add("one", SHARE, float(now))
        shares.add("class", 0.1, float(now))


def test_a_flood_waits_until_it_has_paid_back(shares: Shares) -> None:
    shares.add("flood", BURST + 0.5 * SHARE, 1.0)
    assert shares.wait("flood", 1.0) == pytest.approx(0.5)
    assert shares.wait("flood", 1.5) == pytest.approx(0)
    assert shares.wait("class", 1.0) == 0, "only its sender waits"
    shares.add("flood", 1000.0, 2.0)
    assert shares.wait("flood", 2.0) == LONGEST


def test_a_session_alone_never_waits(shares: Shares) -> None:
    shares.add("flood", 1000.0, AT_WORK)
    assert shares.wait("flood", AT_WORK) == 0, "nobody else has worked lately"
    shares.add("class", 0.1, AT_WORK)
    assert shares.wait("flood", AT_WORK) > 0


def test_sessions_that_ended_are_forgotten(shares: Shares) -> None:
    shares.add("next", 0.1, BURST / SHARE + AT_WORK)
    assert shares._used.keys() == {"next"}
