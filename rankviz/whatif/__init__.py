"""Models retrained on changed data ("what if"), and explanations of scores ("why")."""

from typing import TYPE_CHECKING

from rankviz.common import submodules

if not TYPE_CHECKING:  # a type checker that saw this would accept any name
    __getattr__, __dir__ = submodules(globals())
