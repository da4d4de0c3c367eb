"""Build the package: the wheel also gets the app and the demonstration folds.

These are folders at the top of the repository. In a wheel they lie below rankviz/_shipped in the same
order, where rankviz/common/files.py finds them.
"""

import shutil
from pathlib import Path

from setuptools.command.build_py import build_py

TOP = Path(__file__).parent.parent
SHIPPED = ("app.py", "router.py", "pages", "ui", ".streamlit", "static", "data")


class BuildWithApp(build_py):
    """Copies the app and the demonstration folds as well, unless the package is used from the checkout."""

    def run(self):
        """Build the package, then fill its folder _shipped anew."""
        super().run()
        if not self.editable_mode:
            inside = Path(self.build_lib) / "rankviz" / "_shipped"
            shutil.rmtree(inside, ignore_errors=True)
            for name in SHIPPED:
                _copy(TOP / name, inside / name)


def _copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copyfile(source, target)
