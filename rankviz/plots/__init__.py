"""Figures, one per module: data(...) -> table, figure(table) -> plotly figure."""

from typing import TYPE_CHECKING

from rankviz.common import submodules

if not TYPE_CHECKING:  # else type checkers accept any name
    __getattr__, __dir__ = submodules(globals())
