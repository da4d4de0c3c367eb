"""Comparisons of models and of kernels: the tables behind figures."""

from typing import TYPE_CHECKING

from rankviz.common import names_of, submodules

if not TYPE_CHECKING:  # else type checkers accept any name
    __getattr__ = submodules(__name__)


def __dir__() -> list[str]:
    """List the names, including modules not imported yet."""
    return sorted({*globals(), *names_of(__path__)})
