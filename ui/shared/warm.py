"""Exclude permanently loaded objects from garbage collection.

Streamlit collects all garbage after every run of a script. With the libraries in memory this takes longer
than many runs. They stay until the server ends, so the collector can skip them.

See docs/decisions/0030-streamlit-traps.md.
"""

from __future__ import annotations

import gc
from functools import cache


@cache
def settle() -> None:
    """Collect once, after the first page, and make the collector skip all present objects."""
    gc.collect()
    gc.freeze()
