"""Every page with data at the edges: a figure or a sentence, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest_pages import APP, figures, words
from streamlit.testing.v1 import AppTest

from rankviz.datasets import RankingData, write_letor
from rankviz.datasets import folds as folds_module

PAGES = sorted(path.stem for path in (APP.parent / "pages").glob("*.py"))
Opener = Callable[..., AppTest]


def part(sizes: list[int], grades: list[int], *, scale: float = 1.0, first: int = 1) -> RankingData:
    """Documents with three random features; the grades are dealt out in turn."""
    n = sum(sizes)
    rng = np.random.default_rng(first)
    qid = np.repeat(np.arange(first, first + len(sizes)), sizes)
    return RankingData.from_arrays(rng.random((n, 3)) * scale, np.resize(grades, n), qid)


EDGES: dict[str, Callable[[int], RankingData]] = {
    "tiny": lambda first: part([2, 3], [0, 1], first=first),
    "one query": lambda first: part([6], [0, 1, 2], first=first),
    "one document": lambda first: part([1], [1], first=first),
    "one grade": lambda first: part([4, 5], [1], first=first),
    "nothing relevant": lambda first: part([4, 5], [0], first=first),
    "all-zero features": lambda first: part([4, 5], [0, 1], scale=0.0, first=first),
    "five grades": lambda first: part([9, 12], [0, 1, 2, 3, 4], first=first),
}


@pytest.fixture
def data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put a data set of one kind below a data root of its own."""

    def put(kind: str) -> None:
        folder = tmp_path / "data" / "edge" / "Fold1"
        folder.mkdir(parents=True)
        for number, name in enumerate(("train", "vali", "test")):
            write_letor(EDGES[kind](1 + 100 * number), folder / f"{name}.txt")
        monkeypatch.setenv("RANKVIZ_DATA", str(tmp_path / "data"))

    return put


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("kind", EDGES)
def test_edges_of_data(page: str, kind: str, open_page: Opener, data_set: Callable[[str], None]) -> None:
    data_set(kind)
    app = open_page(page, data="edge", m=500)
    assert app.session_state["data"] == "edge"
    assert figures(app) or app.error or app.info or app.warning
    assert "nan" not in words(app).lower().split()


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("ends", [{"c": -15, "g": -12}, {"c": 10, "g": 4}, {"map": "linear", "c": 10}])
def test_ends_of_the_settings(page: str, ends: dict[str, object], open_page: Opener) -> None:
    app = open_page(page, m=5, **ends)
    assert app.session_state["c"] == ends["c"]
    assert figures(app)


@pytest.mark.parametrize("page", PAGES)
def test_no_data_at_all_is_a_sentence(
    page: str, open_page: Opener, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(folds_module, "BUNDLED", tmp_path)
    app = open_page(page)
    assert not figures(app)
    assert "no data set" in app.error[0].value
    assert "DATA=folder" in app.error[0].value


@pytest.mark.parametrize("page", PAGES)
def test_a_broken_file_is_a_sentence_with_its_line(
    page: str, open_page: Opener, data_set: Callable[[str], None], tmp_path: Path
) -> None:
    data_set("tiny")
    with (tmp_path / "data" / "edge" / "Fold1" / "train.txt").open("a") as file:
        file.write("2 qid:9 1:NaN 2:0.5\n")
    app = open_page(page, data="edge")
    assert "train.txt, line 6" in app.error[0].value
