"""Rankers with scikit-learn's conventions, and files of fitted models."""

from typing import TYPE_CHECKING

from rankviz.common import names_of, submodules

if not TYPE_CHECKING:  # a type checker that saw this would accept any name
    __getattr__ = submodules(__name__)


def __dir__() -> list[str]:
    """List all modules, including those that are not imported yet."""
    return sorted({*globals(), *names_of(__path__)})
