"""What visitors do: come one after the other, and move controls in an order that a seed draws."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from typing import Literal

from benchmarks.streamlit_client import Request, Visitor
from benchmarks.streamlit_page import Page, Shown

SLIDERS = ("m", "c", "g")
TITLES = ("Home", "Train", "NDCG against m")
JOB_BUTTON = "train-in-background"
STEPS = (-3, -2, -1, 1, 2, 3)
"""Places by which a slider is moved."""
EVERY = 5.0
"""Seconds from one move to the next."""
PATIENCE = 60.0
"""Seconds after which a script that has not ended is a failure."""

Step = tuple[Literal["move"], str, float | str] | tuple[Literal["turn_to", "press"], str]


def next_step(page: Page, draw: random.Random) -> Step:
    """A slider some places further, another page, or a job that is offered; each kind is as likely.

    A job is taken only where no fragment waits for another one: a visitor may have few at a time.
    """
    widgets = page.widgets()
    sliders = [key for key in SLIDERS if key in widgets and not widgets[key].proto.disabled]
    offered = [key for key in widgets if key.startswith(JOB_BUTTON) and not page.timers]
    kind = draw.choice([*sliders, "page", *offered[:1]])
    if kind == "page":
        return "turn_to", draw.choice([title for title in TITLES if title != page.title])
    if kind in offered:
        return "press", kind
    return "move", kind, moved(widgets[kind], page, draw.choice(STEPS))


def moved(slider: Shown, page: Page, places: int) -> float | str:
    """What a slider holds some places further, turned back at its ends."""
    proto, state = slider.proto, page.states[slider.id]
    if proto.options:
        words = list(proto.options)
        return str(words[_within(words.index(state.string_array_value.data[0]), places, len(words))])
    count = round((proto.max - proto.min) / proto.step) + 1
    at = round((state.double_array_value.data[0] - proto.min) / proto.step)
    return float(proto.min + proto.step * _within(at, places, count))


def _within(at: int, places: int, count: int) -> int:
    return at + places if 0 <= at + places < count else max(0, min(count - 1, at - places))


async def take(visitor: Visitor, step: Step) -> Request:
    """Take a step and wait until its script has ended; a failure of the visitor where it does not."""
    request = await getattr(visitor, step[0])(*step[1:])
    if not await visitor.until(lambda: request.ended == request.ended, PATIENCE) and not visitor.broken:
        visitor.failures.append(f"{request.what}: no end after {PATIENCE:g} s")
    return request


async def arrive(visitors: Sequence[Visitor], within: float, seconds: float, query: str = "") -> None:
    """Open Home in one visitor after the other, evenly, and wait until each page is at rest."""

    async def one(place: int, visitor: Visitor) -> None:
        await asyncio.sleep(place * within / len(visitors))
        try:
            await visitor.open(query)
        except OSError as error:
            visitor.failures.append(f"{type(error).__name__}: {error}")
            visitor.broken = True
        else:
            await visitor.rest(seconds)

    await asyncio.gather(*(one(place, visitor) for place, visitor in enumerate(visitors)))


async def wander(visitor: Visitor, seed: str, seconds: float, query: str, stay: int = 0) -> list[Request]:
    """Move controls for so many seconds; after `stay` moves (0: never) leave the page and come back.

    The next move is due five seconds after the one before, or when its script has ended. Returns the moves.
    """
    draw, moves = random.Random(seed), list[Request]()
    until = time.monotonic() + seconds
    await asyncio.sleep(draw.random() * EVERY)
    while (due := time.monotonic()) < until and not visitor.broken:
        if stay and len(moves) % stay == stay - 1:
            await visitor.close()
            moves.append(await visitor.open(query))
            await visitor.rest(PATIENCE)
        else:
            moves.append(await take(visitor, next_step(visitor.page, draw)))
        await asyncio.sleep(max(0.0, min(due + EVERY, until) - time.monotonic()))
    return moves
