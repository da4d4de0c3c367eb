"""A bound on the processor time of one session while others work: a flood of moves delays only its sender."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from streamlit.runtime.scriptrunner import get_script_run_ctx

SHARE = 0.25
"""Share of one core that a session may use for long."""
BURST = 5.0
"""Processor seconds that a session may use at once: more than twenty scripts."""
LONGEST = 5.0
"""Longest wait of a script, in seconds."""
AT_WORK = 10.0
"""Seconds after its last script in which a session counts as one that works."""


class Shares:
    """Counts the processor seconds of sessions above their share."""

    def __init__(self) -> None:
        self._used: dict[str, tuple[float, float]] = {}
        self._lock = Lock()

    def add(self, session: str, seconds: float, now: float) -> None:
        """Count the processor seconds of a script that ended now, on the clock of `time.monotonic`."""
        with self._lock:
            self._used[session] = self._above(session, now) + seconds, now
            self._used = {one: of for one, of in self._used.items() if now - of[1] < BURST / SHARE + AT_WORK}

    def wait(self, session: str, now: float) -> float:
        """Return the seconds for which the session's next script waits; 0 while no other session works."""
        with self._lock:
            others = (last for one, (_, last) in self._used.items() if one != session)
            if not any(now - last < AT_WORK for last in others):
                return 0.0
            return min(LONGEST, max(0.0, self._above(session, now) - BURST) / SHARE)

    def _above(self, session: str, now: float) -> float:
        seconds, last = self._used.get(session, (0.0, now))
        return max(0.0, seconds - SHARE * (now - last))


SHARES = Shares()


@contextmanager
def fair_share() -> Iterator[None]:
    """Wait until the session is within its share, then count the processor time of the block.

    Moves that come during the wait are one: Streamlit keeps the latest state of the controls.
    """
    context = get_script_run_ctx()
    session = context.session_id if context else ""
    time.sleep(SHARES.wait(session, time.monotonic()))
    began = time.thread_time()
    try:
        yield
    finally:
        SHARES.add(session, time.thread_time() - began, time.monotonic())
