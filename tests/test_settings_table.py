"""The table of settings in the documentation is that of the code."""

from __future__ import annotations

import pytest
import strangers

from rankviz.common.settings import Choice, Setting, Steps, Whole
from rankviz.models.methods import METHODS, Method
from tools import settings_table

WIDTH = Setting("width", "w|h", "Width", Whole(), 3, "Of the stranger.", key="width", offer=Steps((1, 3)))


def test_the_page_is_up_to_date() -> None:
    written = settings_table.TARGET.read_text(encoding="utf-8")
    assert written == settings_table.table(), "run: python -m tools.settings_table"


def test_a_new_setting_comes_into_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    mood = Setting("mood", "mood", "Mood", Choice({"good": strangers.LOSS}), "good", "Of it.")
    monkeypatch.setitem(METHODS, "odd", Method("odd one", strangers.FeatureMean, (WIDTH, mood)))
    rows = settings_table.table().splitlines()
    values = "a whole number of at least 1; the app offers 1, 3"
    assert f"| `width` | w\\|h | Width | {values} | `3` | `width` | odd one | Of the stranger. |" in rows
    assert "| `mood` | mood | Mood | `good` (exponential) | `good` | – | odd one | Of it. |" in rows


def test_every_setting_is_there_once_with_its_readers() -> None:
    names = [setting.name for setting in settings_table.settings()]
    for method in METHODS.values():
        assert {setting.name for setting in method.settings} <= set(names)
    assert {"degree", "gamma", "rank", "preconditioner", "normalisation", "baseline_C"} <= set(names)
    assert len(settings_table.settings()) == len({id(one) for one in settings_table.settings()})
