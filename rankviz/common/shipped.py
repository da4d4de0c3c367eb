"""Where what comes with the package lies: the app, the demonstration folds.

In a checkout they stand at its top, beside the package; setup.py puts them into the package when it is
built, in the same order below one folder: a package called `ui` or `pages` must not lie beside rankviz.

See docs/decisions/0028-the-wheel-is-the-product.md.
"""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
INSIDE = "_shipped"
"""The folder in an installed package that holds what a checkout has at its top; setup.py fills it."""


def shipped(name: str, package: Path = PACKAGE) -> Path:
    """Where the file or folder `name` of the top of a checkout is, for the rankviz that is imported."""
    inside = package / INSIDE
    return (inside if inside.is_dir() else package.parent) / name
