"""Words of the page of lessons; the lessons' own texts are in ui/browser/lessons/texts."""

from __future__ import annotations

MENU = "Lesson"
