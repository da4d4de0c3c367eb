"""The location of files that come with the package: the app, the demonstration folds.

A checkout has them at its top, beside the package. tools/package_build.py puts them into one folder of the
built package, because a package called `ui` or `pages` must not lie beside rankviz.

See docs/decisions/0028-the-wheel-is-the-product.md.
"""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
INSIDE = "_shipped"
"""Folder in an installed package for files at the top of a checkout; tools/package_build.py fills it."""


def shipped(name: str, package: Path = PACKAGE) -> Path:
    """Return the path of a file or folder `name` at the top of a checkout, for the imported rankviz."""
    inside = package / INSIDE
    return (inside if inside.is_dir() else package.parent) / name
