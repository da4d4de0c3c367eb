"""Errors of the run store, as sentences."""

from __future__ import annotations


class StoreError(Exception):
    """An operation that the run store cannot do, as a sentence."""


class StoreOutOfReach(StoreError):  # noqa: N818 - reads as what it says
    """The database does not answer, cannot be written to, or is not one of ours.

    Its text never has the database's address, which may hold a password.
    """


class NoSuchStudy(StoreError):  # noqa: N818 - reads as what it says
    """No study has this id (any more)."""


class NotYours(StoreError):  # noqa: N818 - reads as what it says
    """Only the visitor who made it may do this."""
