"""Classes that follow a sequence of views: who is at which view, and how they predicted.

A class lives in this process only, until its lecturer closes it or `LONGEST` has passed. Participants are
counted by their visitor's digest, without names. Nothing of a class is stored.
"""

from __future__ import annotations

import math
import secrets
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from rankviz.common.errors import SettingError

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ"
"""Letters of codes: none looks like another one or like a digit."""
LENGTH = 8
"""Letters of a code. A server answers about 20 guesses a second. In six hours these find one of 100
classes with a chance of 26 % if codes have six letters, and of 0.06 % if they have eight."""
GUESSES, GUESS_SECONDS = 20, 60.0
"""Most different wrong codes from one network address within so many seconds."""
LONGEST = 6 * 3600.0
"""Seconds after which a class ends by itself."""
IDLE = 900.0
"""Seconds after which a class that nobody looks at makes room for another one, if there is none left."""
MOST, MOST_OF_ADDRESS, MOST_PARTICIPANTS = 100, 10, 1000
"""Most open classes, most from one network address, and most participants of one class."""
SHARE_OF_FREE, FEW = 0.25, 4
"""An address may have this share of the free places, plus one; it may have `FEW` classes in any case."""


@dataclass
class _Class:
    sequence: str
    lecturer: str
    address: str
    opened: float
    used: float
    at: int = 0
    views: dict[str, tuple[int, str]] = field(default_factory=dict)
    """View and network address by visitor, the latest to arrive last."""
    answers: dict[tuple[int, str], float] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """Progress of a class.

    Attributes
    ----------
    at : int
        View of the lecturer, from 1; 0 before the start.
    views : Counter of int
        Number of participants at each view; 0 is the list of views.
    answers : mapping from int to Counter of float
        Gaps of the predictions at each view, as counts.
    """

    at: int
    views: Counter[int]
    answers: dict[int, Counter[float]]


class Classes:
    """The open classes of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._open, self._lock, self._clock = dict[str, _Class](), Lock(), clock
        self._wrong = dict[str, dict[str, float]]()

    def open(self, sequence: str, lecturer: str, address: str) -> str:
        """Open a class for a packed sequence; return its code. Raises `SettingError` beyond the limits."""
        with self._lock:
            self._expire()
            self._make_room(address)
            code, now = self._new_code(), self._clock()
            self._open[code] = _Class(sequence, lecturer, address, now, now)
            return code

    def _make_room(self, address: str) -> None:
        """End the class that was idle longest, if no more may be opened.

        If none is idle, it is one without participants, of the address that has most, for who has fewer.
        The more classes are open, the fewer may an address add, so that a new address finds a place.
        """
        near = [code for code, one in self._open.items() if address and one.address == address]
        free = MOST - len(self._open)
        most = min(MOST_OF_ADDRESS, max(FEW, math.floor(SHARE_OF_FREE * free) + 1))
        if free and len(near) < most:
            return
        full = near if len(near) >= most else list(self._open)
        idle = [code for code in full if self._clock() - self._open[code].used > IDLE]
        held = Counter(one.address for one in self._open.values() if one.address)
        highest = max(held.values(), default=0)
        if not idle and address and len(near) + 1 < highest:
            empty = (code for code in full if not self._open[code].views)
            idle = [code for code in empty if held[self._open[code].address] == highest]
        if not idle:
            raise SettingError(
                f"your network has {len(near)} open classes, and may have {most} now: close one first"
                if len(near) >= most
                else f"all {MOST} classes are open: try again later"
            )
        del self._open[min(idle, key=lambda code: self._open[code].used)]

    def _used(self, code: str) -> _Class | None:
        """Return a class that somebody looks at; None if it is closed or unknown."""
        self._expire()
        if (one := self._open.get(code)) is not None:
            one.used = self._clock()
        return one

    def _new_code(self) -> str:
        while (code := "".join(secrets.choice(LETTERS) for _ in range(LENGTH))) in self._open:
            pass
        return code

    def _expire(self) -> None:
        old = [code for code, one in self._open.items() if self._clock() - one.opened > LONGEST]
        for code in old:
            del self._open[code]
        since = self._clock() - GUESS_SECONDS
        recent = {
            where: {code: at for code, at in wrong.items() if at > since}
            for where, wrong in self._wrong.items()
        }
        self._wrong = {where: wrong for where, wrong in recent.items() if wrong}

    def sequence(self, code: str, visitor: str = "", address: str = "") -> str | None:
        """Return the packed sequence of a class; None if it is closed or unknown.

        Raises `SettingError` for an address that has tried many wrong codes, except for participants and for
        classes that were opened from there.
        """
        with self._lock:
            one = self._used(code)
            wrong = self._wrong.get(address, {})
            known = one is not None and (
                one.address == address or visitor in one.views or visitor == one.lecturer
            )
            if not known and code not in wrong and len(wrong) >= GUESSES:
                raise SettingError(
                    f"{len(wrong)} wrong codes came from your network address within a minute: wait a minute"
                )
            if one is None and len(code) == LENGTH:  # no class has a code of another length
                self._wrong[address] = wrong | {code: self._clock()}
            return None if one is None else one.sequence

    def update(self, code: str, sequence: str, visitor: str) -> None:
        """Replace the sequence of a class, if this visitor opened it."""
        with self._lock:
            if (one := self._used(code)) is not None and one.lecturer == visitor:
                one.sequence = sequence

    def leads(self, code: str, visitor: str) -> bool:
        """Return True if this visitor opened the class."""
        with self._lock:
            return code in self._open and self._open[code].lecturer == visitor

    def led_by(self, visitor: str, sequence: str) -> str:
        """Return the code of an open class of this visitor with this packed sequence; "" without one."""
        with self._lock:
            self._expire()
            own = (
                code
                for code, one in self._open.items()
                if one.lecturer == visitor and one.sequence == sequence
            )
            return next(own, "")

    def arrive(self, code: str, visitor: str, view: int, address: str = "") -> None:
        """Note that a visitor is at a view, the lecturer included.

        In a full class, made-up visitors push out only participants of the address that has most.
        """
        with self._lock:
            if (one := self._open.get(code)) is None:
                return
            if visitor == one.lecturer:
                one.at = view
                return
            one.views.pop(visitor, None)
            one.views[visitor] = view, address
            if len(one.views) > MOST_PARTICIPANTS:
                fullest = Counter(where for _, where in one.views.values()).most_common(1)[0][0]
                gone = next(who for who, (_, where) in one.views.items() if where == fullest)
                del one.views[gone]
                one.answers = {asked: gap for asked, gap in one.answers.items() if asked[1] != gone}

    def answer(self, code: str, visitor: str, view: int, gap: float) -> None:
        """Note the gap of a participant's prediction at a view; a later one replaces it."""
        with self._lock:
            one = self._open.get(code)
            if one is not None and visitor in one.views:
                one.answers[view, visitor] = gap

    def report(self, code: str) -> Report | None:
        """Return the progress of a class; None if it is closed or unknown."""
        with self._lock:
            if (one := self._used(code)) is None:
                return None
            answers: dict[int, Counter[float]] = {}
            for (view, _), gap in one.answers.items():
                answers.setdefault(view, Counter())[gap] += 1
            return Report(one.at, Counter(view for view, _ in one.views.values()), answers)

    def close(self, code: str, visitor: str) -> None:
        """Forget a class and all that is known of it, if this visitor opened it."""
        with self._lock:
            if code in self._open and self._open[code].lecturer == visitor:
                del self._open[code]


CLASSES = Classes()
