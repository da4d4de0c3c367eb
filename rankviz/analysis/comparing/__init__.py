"""Models beside one another: matched on the same queries, tested, cut into slices, in tables."""

from typing import TYPE_CHECKING

from rankviz.common.lazy import names_of, submodules

if not TYPE_CHECKING:  # a checker that saw this would believe that any name exists
    __getattr__ = submodules(__name__)


def __dir__() -> list[str]:
    """Say which modules there are, those not imported yet among them."""
    return sorted({*globals(), *names_of(__path__)})
