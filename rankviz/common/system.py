"""Properties of this system that other modules depend on; uses only the standard library.

See docs/decisions/0027-what-systems-differ-in.md.
"""

from __future__ import annotations

import sys

WINDOWS = sys.platform == "win32"
ALONE = sys.platform in ("emscripten", "wasi")
"""True in a browser (Pyodide), without threads or further processes."""
