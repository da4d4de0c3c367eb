"""Tools for every part of the core: errors, arrays, files, progress, timing and threads."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType
from typing import Any


def submodules(namespace: dict[str, Any]) -> tuple[Callable[[str], ModuleType], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package with these globals.

    The first imports a module, or raises AttributeError for any other name. The second also lists the modules
    that are not imported yet.
    """
    package = namespace["__name__"]

    def found(name: str) -> ModuleType:
        if name.startswith("_") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    def names() -> list[str]:
        modules = (module.name for module in iter_modules(namespace["__path__"]))
        return sorted({*namespace, *(name for name in modules if not name.startswith("_"))})

    return found, names
