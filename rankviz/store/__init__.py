"""The run store: every run that was made, what asked for it, and what is still to be made."""

from rankviz.store.database import Database, default_url
from rankviz.store.errors import NoSuchStudy, NotYours, StoreError, StoreOutOfReach
from rankviz.store.runs import RunStore
from rankviz.store.study import Study, StudyStatus

__all__ = [
    "Database",
    "NoSuchStudy",
    "NotYours",
    "RunStore",
    "StoreError",
    "StoreOutOfReach",
    "Study",
    "StudyStatus",
    "default_url",
]
