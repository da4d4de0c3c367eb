"""Tools for every part of the core: errors, arrays, files, progress, timing and threads."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType


def submodules(package: str) -> Callable[[str], ModuleType]:
    """Return a package's `__getattr__`: it imports a module, or raises AttributeError for any other name."""

    def found(name: str) -> ModuleType:
        if name.startswith("_") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return found


def names_of(path: list[str]) -> list[str]:
    """Return the public modules in a package's folders, for `dir`."""
    return [module.name for module in iter_modules(path) if not module.name.startswith("_")]
