"""Comparisons of models and of kernels: the tables behind figures."""

from typing import TYPE_CHECKING

from rankviz.common import submodules

if not TYPE_CHECKING:  # else type checkers accept any name
    __getattr__, __dir__ = submodules(globals())
