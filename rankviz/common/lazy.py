"""Modules of a package, imported when they are first asked for (PEP 562); the standard library only."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType


def submodules(package: str) -> Callable[[str], ModuleType]:
    """A `__getattr__` for the package of this name: its modules, and AttributeError for anything else."""

    def found(name: str) -> ModuleType:
        if name.startswith("_") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return found


def names_of(path: list[str]) -> list[str]:
    """The public modules in a package's folders, for `dir`."""
    return [module.name for module in iter_modules(path) if not module.name.startswith("_")]
