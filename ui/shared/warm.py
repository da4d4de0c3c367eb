"""What stays once it is loaded is kept out of the garbage collector's way.

Streamlit collects all garbage after every run of a script, and with the libraries in memory that takes longer
than many a run. They stay until the server ends, so nothing is lost where the collector passes them over.

See docs/decisions/0030-streamlit-traps.md.
"""

from __future__ import annotations

import gc
from functools import cache


@cache
def settle() -> None:
    """Collect once, after the first page, and have the collector pass over what is there then."""
    gc.collect()
    gc.freeze()
