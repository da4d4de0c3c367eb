"""Memory that was freed goes back to the system where a C library would keep it."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from rankviz.common.memory import return_freed_memory

CODE = """
from rankviz.common.memory import return_freed_memory

def resident():
    with open("/proc/self/statm") as told:
        return int(told.read().split()[1]) * 4096

blocks = [b"0" * 60_000 for _ in range(3000)]
above = b"0" * 60_000  # what lies below it cannot be cut off the heap's end
before = resident()
del blocks
return_freed_memory()
print(before - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is known to keep what was freed")
def test_what_was_freed_goes_back() -> None:
    told = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stdout
    assert int(told) > 0.9 * 3000 * 60_000


@pytest.mark.parametrize("system", ["win32", "darwin", "emscripten", "linux"])
def test_it_may_be_called_everywhere(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", system)
    return_freed_memory()
