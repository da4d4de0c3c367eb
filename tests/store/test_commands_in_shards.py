"""`rankviz train --where` and `rankviz sweep --where`: in shards, by worker processes; what is refused."""

from __future__ import annotations

import pytest
from test_commands import MODEL, SQLITE, Command, as_json, command  # noqa: F401 - a fixture

from rankviz.common.errors import SettingError
from rankviz.shards import Here
from rankviz.shards.backend import place_of
from rankviz.store import RunStore


@SQLITE
def test_training_in_shards_is_the_same_run_and_says_its_plan_before(
    command: Command,  # noqa: F811
    store: RunStore,
) -> None:
    status, _, err = command("train", *MODEL, "--shards", "3")
    assert status == 0
    assert "Fold1: 3 shards, features in double precision: about" in err
    (row,) = as_json(command("train", *MODEL, "--json"))  # without: found, for it is the same run
    assert len(store.listing.every()) == 1
    assert row["run"] == store.listing.every().index[0]


@SQLITE
def test_a_model_that_shards_cannot_train_is_refused(command: Command) -> None:  # noqa: F811
    status, _, err = command("train", "small", "--method", "factorized", "--where", "here")
    assert status != 0
    assert "not trained in shards" in err


@SQLITE
@pytest.mark.parametrize("where", ["local:0", "local:two", "local:-1", "local:99999"])
def test_what_names_no_place_is_refused(command: Command, where: str) -> None:  # noqa: F811
    status, _, err = command("train", *MODEL, "--where", where)
    assert status != 0
    assert "names no number of workers" in err


@SQLITE
def test_a_sweep_on_a_cluster(command: Command, store: RunStore) -> None:  # noqa: F811
    status, _, err = command("sweep", *MODEL, "--axis", "C=2^-2..2^0", "--where", "local:2")
    assert status == 0
    assert "3 of 3 runs made" in err


@SQLITE
def test_a_cluster_is_not_left_to_itself(command: Command) -> None:  # noqa: F811
    status, _, err = command("sweep", *MODEL, "--axis", "C=2^-2..2^0", "--where", "local:2", "--detach")
    assert status != 0
    assert "while somebody waits" in err


def test_here_is_this_process() -> None:
    with place_of("here", 5) as where:
        assert isinstance(where, Here)
        assert where.count(10) == 5


def test_without_dask_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankviz.shards.backend.find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r"rankviz\[dask\]"), place_of("tcp://127.0.0.1:1"):
        pass
