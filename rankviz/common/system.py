"""What kind of system this is, as far as anything depends on it; the standard library only.

See docs/decisions/0027-what-systems-differ-in.md.
"""

from __future__ import annotations

import sys

WINDOWS = sys.platform == "win32"
ALONE = sys.platform in ("emscripten", "wasi")
"""In a browser (Pyodide): neither threads nor processes beside this one."""
