"""The run store: finished runs, the studies that requested them, and runs still to be made."""

from rankviz.store.database import Database, default_url
from rankviz.store.run_store import RunStore
from rankviz.store.study import NoSuchStudy, NotYours, StoreError, StoreOutOfReach, Study, StudyStatus

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
