"""The garbage collector passes over what was loaded: a collection after a run takes no time."""

from __future__ import annotations

import gc
from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from ui.shell.server import freeze_libraries


def test_what_was_loaded_is_passed_over_after_the_first_page(open_page: Callable[..., AppTest]) -> None:
    freeze_libraries.cache_clear()
    gc.unfreeze()
    tracked = len(gc.get_objects())
    open_page("train", m=5)
    assert gc.get_freeze_count() > 0.9 * tracked > 10_000
    assert len(gc.get_objects()) < 0.5 * tracked
    frozen = gc.get_freeze_count()
    open_page("train", m=6)
    assert gc.get_freeze_count() <= frozen, "once: what a visitor leaves behind is collected"
