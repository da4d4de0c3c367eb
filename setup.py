"""What pyproject.toml cannot say: the app and the demonstration folds go into the package when it is built.

They stand at the top of the repository and stay there. In a wheel they lie below rankviz/_shipped in the same
order, where rankviz/common/files.py finds them.
"""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

TOP = Path(__file__).parent
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


def long_description():
    """README.md for readers without the repository: no picture, and links into it are their words."""
    text = (TOP / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"^!\[[^]]*\]\([^)]*\)\n\n", "", text, flags=re.MULTILINE)
    return re.sub(r"\[([^]]*)\]\((?!https?://)[^)]*\)", r"\1", text)


setup(
    cmdclass={"build_py": BuildWithApp},
    long_description=long_description(),
    long_description_content_type="text/markdown",
)
