"""Bounds of the machine: sets by name, files, and what is wrong with one."""

from pathlib import Path

import pytest

from rankviz.common.bounds import ENVIRONMENT, SETS, Bounds, bounds, room_for
from rankviz.common.errors import SettingError


def _file(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = folder / "bounds.toml"
    path.write_text(text)
    monkeypatch.setenv(ENVIRONMENT, str(path))
    return path


def test_without_a_word_they_are_those_of_an_own_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    assert bounds() == Bounds()


def test_a_class_has_a_set_of_its_own_in_one_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, "class")
    assert bounds() == SETS["class"]
    assert bounds().job_seconds < Bounds().job_seconds


def test_a_file_changes_what_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _file(tmp_path, 'like = "class"\njob_seconds = 90.5\n', monkeypatch)
    assert bounds().job_seconds == 90.5
    assert bounds().live_jobs_each == SETS["class"].live_jobs_each


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("job_second = 3", "job_second is not a bound; the bounds are live_jobs, "),
        ("live_jobs = 0", "live_jobs is 0; it should be a positive number"),
        ("live_jobs = true", "live_jobs is True"),
        ("live_jobs = nan", "live_jobs is nan"),
        ('live_jobs = "many"', "live_jobs is 'many'"),
        ('like = "school"', "like = 'school'; it should be own or class"),
        ("live_jobs = [", "is not TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_name(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _file(tmp_path, text, monkeypatch)
    with pytest.raises(SettingError) as caught:
        bounds()
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_neither_a_set_nor_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, "klass")
    with pytest.raises(SettingError, match="neither own or class nor a file to read"):
        bounds()


def test_the_last_tenth_of_a_room_is_for_those_who_have_little() -> None:
    assert room_for(500, 1000, [10, 0]) == 400
    assert room_for(100, 1000, [0, 4]) == 6
    assert room_for(-50, 1000, [10]) < 0
    assert room_for(50, 1000, []) == 50
    left = 1e6
    for _ in range(60):
        left -= room_for(int(left), 10_000_000, [0])
    assert 1 / 75 < left / 1e7 < 1 / 70
