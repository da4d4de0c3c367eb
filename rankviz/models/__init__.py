"""Rankers with scikit-learn's conventions, and files of fitted models."""

from typing import TYPE_CHECKING

from rankviz.common import submodules

if not TYPE_CHECKING:  # a type checker that saw this would accept any name
    __getattr__, __dir__ = submodules(globals())
