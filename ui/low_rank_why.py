"""Why."""

from ui.low_rank_work import Shown


def show(what: Shown) -> None:
    """."""
