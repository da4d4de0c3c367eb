"""Files that appear whole."""

import os
from pathlib import Path
from typing import Any

import pytest

from rankviz.common import files


def test_a_file_that_is_being_read_on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Any] = []
    real = os.replace

    def refuse_once(source: Path, target: Path) -> None:
        tried.append(target)
        if len(tried) == 1:
            raise PermissionError
        real(source, target)

    (tmp_path / "aside").write_text("new")
    monkeypatch.setattr(os, "replace", refuse_once)
    with pytest.raises(PermissionError):
        files.replace(tmp_path / "aside", tmp_path / "file")
    tried.clear()
    monkeypatch.setattr(files, "WINDOWS", True)
    files.replace(tmp_path / "aside", tmp_path / "file")
    assert (len(tried), (tmp_path / "file").read_text()) == (2, "new")
