"""Makes a Python process lack what other systems lack: `ELSEWHERE` names the modules and functions of os.

Python runs this file at its start where PYTHONPATH leads to it, in workers too. Without "proc" nobody looks
processes up in /proc.
"""

import contextlib
import os
import sys

LACKING = os.environ.get("ELSEWHERE", "").split()
if "psutil" not in LACKING:
    with contextlib.suppress(ImportError):
        import psutil  # noqa: F401 - that of Linux needs what that of Windows does without

for name in LACKING:
    if name.startswith("os."):
        delattr(os, name.removeprefix("os."))
    elif name == "proc":
        from rankviz.common import processes

        processes._HAS_PROC = False
    else:
        sys.modules[name] = None  # importing it fails
