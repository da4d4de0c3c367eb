"""The commands of `rankviz` on a run store: what they print, and how they end."""

import errno
import json
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from unittest.mock import Mock

import pytest
from conftest_store import MODEL, Command, as_json

from rankviz import RunSpec
from rankviz.command import sweep
from rankviz.command.values import parse_number, parse_value, settings_of
from rankviz.common.errors import SettingError
from rankviz.metrics.evaluation import column_name
from rankviz.shards import Here
from rankviz.shards.backend import place_of
from rankviz.store import RunStore
from rankviz.store.database import ENVIRONMENT
from rankviz.store.execution import worker_processes
from tools.stored import NotAllowed, small_disk


def test_train_says_metrics_and_makes_nothing_twice(
    command: Command, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out, err = command("train", *MODEL, "--set", "C=2^-3")
    assert status == 0
    assert "Nyström m = 10" in out
    assert "vali:NDCG@10" in out
    assert "converged" in err
    monkeypatch.setattr("rankviz.command.train.execute", None)  # which would be an error if it were asked
    (again,) = as_json(command("train", *MODEL, "--set", "C=0.125", "--json"))
    row = store.listing.every().loc[again["run"]]
    assert again["spec"]["settings"]["C"] == row["C"] == 0.125
    assert again["metrics"]["test:MAP"] == row["test:MAP"]
    assert again["run"] in store.listing.seen_by("a visitor of the app").index


def test_a_sweep_is_made_and_chosen_among(command: Command, store: RunStore) -> None:
    status, out, err = command("sweep", *MODEL, "--axis", "C=2^-2..2^0", "--axis", "gamma=0.5,1")
    assert status == 0
    assert "6 of 6 runs made" in err
    assert "The test part, of what was chosen only" in out
    (study,) = store.studies.every()
    found = as_json(command("sweep", "--resume", study.id, "--json"))
    assert found["runs"] == {"done": 6}
    table = store.listing.of_studies([study.id])
    assert found["validation"] == pytest.approx(table["vali:NDCG@10"].max())
    assert len(as_json(command("runs", "--study", study.id, "--where", "gamma=2^-1", "--json"))) == 3
    best = as_json(command("runs", "--sort", "vali:MAP", "--limit", "1", "--json"))
    assert best[0]["vali:MAP"] == table["vali:MAP"].max()


@pytest.mark.parametrize("metric", ["MeanRank", "nDCG(gains={1: 1, 2: 9, 3: 9, 4: 9})@5", "AP"])
def test_a_sweep_chooses_by_a_metric_that_runs_lack(
    command: Command, store: RunStore, root: Path, metric: str
) -> None:
    axis, data = ("--axis", "C=2^-9,2^-3,2^3"), ("--data-dir", str(root))
    found = as_json(command("sweep", *MODEL, *axis, "--metric", metric, "--json", *data))
    column = column_name(metric)
    assert found["choice"]["metric"] == column
    assert column in found["test"]
    train = ("train", *MODEL, "--set", f"C={found['settings']['Fold1']['C']}", "--metric", metric, "--json")
    own = as_json(command(*train, *data))[0]["metrics"]
    assert own[f"vali:{column}"] == pytest.approx(found["validation"])
    assert own[f"test:{column}"] == pytest.approx(found["test"][column])
    train = ("train", *MODEL, "--metric", metric, "--json")
    every = [as_json(command(*train, "--set", f"C=2^{k}", *data))[0]["metrics"] for k in (-9, -3, 3)]
    values = [one[f"vali:{column}"] for one in every]
    assert len(set(values)) > 1
    assert found["validation"] == pytest.approx(min(values) if metric == "MeanRank" else max(values))
    (study,) = store.studies.every()
    again = as_json(command("sweep", "--resume", study.id, "--metric", metric, "--json"))
    assert again["validation"] == found["validation"]
    status, _, err = command("sweep", *MODEL, *axis, "--metric", "nDCG(gain=)@5")
    assert (status, "cannot be read" in err or "is not a metric" in err) == (2, True)


def test_a_plan_makes_nothing(command: Command, store: RunStore) -> None:
    words = ("--axis", "C=2^-2..2^2", "--seed", "0", "--seed", "1", "--plan", "--json")
    planned = as_json(command("sweep", *MODEL, *words))
    assert (planned["runs"], planned["families"]) == (10, 2)
    assert planned["seconds"] > 0
    assert store.studies.every() == []


def test_drawn_designs_take_ranges(command: Command) -> None:
    words = ("--axis", "C=0.1..10", "--kind", "sobol", "--points", "8", "--plan", "--json")
    assert as_json(command("sweep", *MODEL, *words))["runs"] == 8


def test_interrupted_a_sweep_is_paused_and_goes_on_when_asked(
    command: Command, store: RunStore, interrupted: Callable[..., str]
) -> None:
    err = interrupted(*MODEL, "--axis", "C=2^-2..2^0")
    (study,) = store.studies.every()
    assert study.asked == "paused"
    assert f"rankviz sweep --resume {study.id}" in err
    assert as_json(command("sweep", "--resume", study.id, "--json"))["runs"] == {"done": 3}


def test_detached_a_sweep_goes_on_by_itself(command: Command, store: RunStore) -> None:
    study = as_json(command("sweep", *MODEL, "--axis", "C=1,2", "--detach", "--json"))["study"]
    assert store.studies.status(study).total == 2
    assert as_json(command("sweep", "--resume", study, "--json"))["runs"] == {"done": 2}
    assert worker_processes(store)


@pytest.mark.parametrize("good", [0, 1])
def test_runs_that_fail_are_said_and_the_status_is_1(
    command: Command, store: RunStore, monkeypatch: pytest.MonkeyPatch, good: int
) -> None:
    """Those that fail mean other data, which are not there."""
    pinned = sweep.with_digests

    def elsewhere(specs: Sequence[RunSpec], chosen: Namespace) -> list[RunSpec]:
        there = pinned(specs, chosen)
        return [*there[:good], *(spec.but(digest="0" * 32) for spec in there[good:])]

    monkeypatch.setattr(sweep, "with_digests", elsewhere)
    status, out, err = command("sweep", *MODEL, "--axis", "C=1,2")
    assert status == 1
    assert f"{2 - good} cannot be made" in err
    assert "0" * 32 in err
    assert ("C = 1.0" in out) == bool(good)


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv"])
def test_models_are_compared(command: Command, store: RunStore, form: str) -> None:
    for words in (MODEL, ("small", "--set", "feature_map=linear")):
        command("train", *words)
    first, second = store.listing.every().index
    status, out, _ = command("compare", first[:6], second, "--format", form, "--metric", "MAP")
    assert status == 0
    assert "MAP" in out
    assert "Nyström" in out
    assert ("toprule" in out) == (form == "latex")
    assert ("p, Holm" in out) == (form in ("latex", "markdown"))
    found = as_json(command("compare", first, second, "--baseline", second, "--json"))
    assert len(found["deltas"]) == 2
    assert (
        found["deltas"][0]["queries"]
        == store.records.find(store.listing.specs([first])).popitem()[1].metrics["test"].shape[0]
    )


def test_one_run_names_its_model_with_all_seeds(command: Command, store: RunStore) -> None:
    for C, seed in product(("2^-3", "2^-2"), (0, 1)):
        command("train", *MODEL, "--set", f"C={C}", "--set", f"seed={seed}")
    table = store.listing.every()
    first = list(table.index[table["seed"] == 0])
    one, every = (as_json(command("compare", *first, *more, "--json")) for more in ((), ("--all-folds",)))
    assert [row["seeds"] for row in one["standings"]] == [1] * 4
    assert [row["seeds"] for row in every["standings"]] == [2] * 4


def test_runs_travel(
    command: Command, store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("train", *MODEL)
    (digest,) = store.listing.every().index
    file = tmp_path / "some.rankviz"
    assert as_json(command("export", digest[:8], "-o", str(file), "--json"))["runs"] == 1
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "other.sqlite"))
    status, out, err = command("import", str(file))
    assert (status, out) == (0, f"1 run: {file}\n")
    assert "imported, not made here" in err
    (listed,) = as_json(command("runs", "--json"))
    assert listed["state"] == "imported"
    assert listed["run"] != digest
    assert "imported, not made here" in command("runs")[1]
    command("train", *MODEL, "--set", "C=8")
    (other,) = (row["run"] for row in as_json(command("runs", "--json")) if row["state"] == "done")
    found = as_json(command("compare", other, listed["run"], "--baseline", listed["run"], "--json"))
    assert found["baseline"].endswith("(imported, not made here)")
    assert "agree with those of the run made here" in command("train", *MODEL)[2]
    assert {row["run"]: row["state"] for row in as_json(command("runs", "--json"))} == {
        digest: "done",
        other: "done",
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("train", "nowhere"), "nowhere"),
        (("train",), "name a data set: "),
        (("train", ""), "dataset='' is not known"),
        (("train", "small", "--fold", "Fold7"), "Fold7"),
        (("train", "small", "--fold", "Fold1", "--fold", "Fold1"), "--fold Fold1 is given twice"),
        (("train", "small", "--fold", "Fold1", "--all-folds"), "give only one"),
        (("train", "small", "--normalisation", "foo"), "normalisation='foo' is not known"),
        (("train", "small", "--set", "C=2^99999"), "2^99999 is beyond the largest number"),
        (("train", "small", "--set", "C=2^-99999"), "2^-99999 is below the smallest number above 0"),
        (("train", "small", "--set", "C=0^-1"), "0^-1 divides by 0"),
        (("train", "small", "--set", "C=1.2.3^4"), "'1.2.3^4' must be a positive finite number"),
        (("train", "small", "--set", f"C=2^{'9' * 5000}"), "must be a positive finite number"),
        (("train", "small", "--set", "C=1", "--set", "C=2"), "--set C is given twice"),
        (("train", "small", "--set", "rank=abc"), "rank='abc' must be a whole number"),
        (("train", "small", "--set", "costs=foo"), "costs='foo' is not known"),
        (("train", "small", "--method", "listnet"), "leave method out and choose loss='listnet'"),
        (("train", "small", "--set", "gamma=none"), "gamma=None must be a positive"),
        (("train", "small", "--set", "loss=hinge", "--set", "solver=lbfgs"), "choose solver='newton'"),
        (("train", "small", "--shards", "0"), "shards=0 must be a whole number of at least 1"),
        (("train", "small", "--where", ""), "no Dask scheduler answers"),
        (("train", "small", "--set", "C"), "NAME=VALUE"),
        (("train", "small", "--set", "C=-1"), "C=-1 must be a positive finite number"),
        (("train", "small", "--set", "Q=1"), "'Q'"),
        (("train", "small", "--set", "feature_map=linear", "--set", "gamma=1"), "gamma"),
        (("sweep", "small", "--axis", "C=0.1..1"), "powers of one number"),
        (("sweep", "small", "--axis", "C=2^0..2^2000"), "2^1024 is beyond the largest number"),
        (("sweep", "small", "--axis", "C=2^0..2^999999999"), "more than the 20,000 runs of one sweep"),
        (("sweep", "small", "--axis", f"n_components=1..{'9' * 5000}"), "more than the 20,000 runs"),
        (("sweep", "small", "--axis", "C=2^6..2^-6"), "give the smaller number first"),
        (("sweep", "small", "--axis", "feature_map=linear..exact"), "powers of one number"),
        (
            ("sweep", "small", "--axis", "feature_map=linear..exact", "--points", "4", "--kind", "random"),
            "feature_map has no range",
        ),
        (
            ("sweep", "small", "--axis", "gamma=scale..2", "--points", "4", "--kind", "random"),
            "the range of gamma is 'scale' to 2.0; give two numbers",
        ),
        (("sweep", "small", "--axis", "C=1,,2"), "C='' must be a positive finite number"),
        (("sweep", "small", "--axis", "C=1..2", "--kind", "random"), "points=0 must be a whole number"),
        (("sweep", "small", "--axis", "C=1,2", "--kind", "given"), "choose one of 'grid'"),
        (("sweep", "small", "--axis", "C=1,2", "--workers", "0"), "at least one worker process"),
        (("sweep", "small", "--axis", "C=1,2", "--metric", "NOPE"), "'NOPE' is not a metric"),
        (("sweep", "small", "--axis", "C=1,2", "--metric", ""), "'' is not a metric"),
        (("sweep", "small", "--axis", "C=1,2", "--rule", "one_standard_error"), "over 2 folds at least"),
        (("sweep", "small", "--axis", "C=1,2", "--rule", "one_paired_error"), "over 2 folds at least"),
        (("sweep", "small", "--axis", "C=1,2", "--where", "local:0"), "must name 1 to 1,024 workers"),
        (("sweep", "small", "--axis", "C=1,2", "--title", "\udcff"), "an argument is no text"),
        (("sweep", "small", "--preset", "chen2017", "--axis", "C=1"), "--preset has its own axes"),
        (("sweep", "--resume", ""), "no study with this id"),
        (("sweep", "small"), "no axes: give --axis NAME=VALUES at least once, with one of C, "),
        (("sweep", "--resume", "0" * 32), "no study with this id"),
        (("sweep", "small", "--axis", "C=1,2", "--rule", "luck"), "choose one of 'best'"),
        (("runs", "--where", "Q=1"), "'Q' is not a column"),
        (("runs", "--where", "dataset=2^99999"), "beyond the largest number"),
        (("runs", "--study", "nope"), "There is no study with this id; it may have been deleted."),
        (("runs", "--study", ""), "There is no study with this id; it may have been deleted."),
        (("runs", "--study", "\udcff"), "an argument is no text"),
        (("runs", "--limit", "-1"), "--limit -1"),
        (("compare",), "name runs by their digests"),
        (("compare", "--study", "nope"), "There is no study with this id; it may have been deleted."),
        (
            ("export", "--study", "nope", "-o", "x"),
            "There is no study with this id; it may have been deleted.",
        ),
        (("export", "abc", "-o", ""), "-o is empty"),
        (("compare", "abc"), "no runs begin with 'abc'"),
        (("import", "nothing.rankviz"), "there is no file 'nothing.rankviz'"),
        (("import", ""), "there is no file ''"),
        (("import", "/dev/zero"), "there is no file '/dev/zero'"),
    ],
)
def test_what_cannot_be_done_is_a_sentence_and_the_status_is_2(
    command: Command, store: RunStore, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    """It is said before anything is trained or asked for."""
    monkeypatch.setattr("rankviz.command.train.execute", None)
    monkeypatch.setattr(sweep.LocalWorkers, "maintain", None)
    status, out, err = command(*words)
    assert store.studies.every() == []
    assert (status, out) == (2, "")
    assert said in err
    assert err.startswith("rankviz: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("C", "2^-7", 2.0**-7),
        ("C", "1e-3", 1e-3),
        ("n_components", "500", 500),
        ("feature_map", "linear", "linear"),
        ("gamma", "scale", "scale"),
        ("seed", "3", 3),
    ],
)
def test_values_are_read_by_their_settings(name: str, text: str, value: object) -> None:
    assert parse_value(settings_of("ranksvm")[name], text) == value


def test_what_is_no_number_is_none() -> None:
    assert parse_number("abc") is None
    with pytest.raises(SettingError):
        parse_value(settings_of("ranksvm")["C"], "abc")


def test_shards_alone_say_where_they_are_trained(command: Command) -> None:
    _, _, err = command("train", *MODEL, "--shards", "3")
    assert "Fold1: 3 shards" in err
    assert "Threads of this process train them." in err
    _, _, err = command("train", *MODEL, "--shards", "3")
    assert "Fold1: this run was made before; nothing is trained." in err


def test_an_export_that_fails_leaves_nothing_and_keeps_what_was_there(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = as_json(command("train", *MODEL, "--json"))[0]["run"]
    out, target = tmp_path / "out", tmp_path / "out" / "some.rankviz"
    out.mkdir()
    target.write_text("what was there")
    for output, why in (
        (tmp_path / "nowhere" / "x", "No such file or directory"),
        (target / "x", "Not a directory"),
        (out, "this is not a file"),
        ("/dev/full", "this is not a file"),
    ):
        status, said, err = command("export", run, "-o", str(output))
        assert (status, said, len(err.splitlines())) == (2, "", 1)
        assert err.startswith(f"rankviz: {output}: the file cannot be written")
        assert why in err
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with monkeypatch.context() as patch:
        patch.setattr("zipfile.ZipFile.writestr", Mock(side_effect=[None, full]))
        status, _, err = command("export", run, "-o", str(target))
    assert status == 2
    assert "No space left on device" in err
    assert [(path.name, path.read_text()) for path in out.iterdir()] == [(target.name, "what was there")]
    assert as_json(command("export", run, "-o", str(target), "--json"))["runs"] == 1
    assert command("import", str(target))[0] == 0


def test_an_export_to_a_full_disk(command: Command, tmp_path: Path) -> None:
    command("train", *MODEL)
    (run,) = (row["run"] for row in as_json(command("runs", "--json")))
    try:
        with small_disk(tmp_path / "disk") as disk:
            disk.fill()
            before = sorted(disk.path.iterdir())
            status, _, err = command("export", run, "-o", str(disk.path / "some.rankviz"))
            assert status == 2
            assert "No space left on device" in err
            assert sorted(disk.path.iterdir()) == before
    except NotAllowed as why:
        pytest.skip(str(why))


def test_a_reader_who_goes_is_no_fault(command: Command, store: RunStore) -> None:
    """As `rankviz runs | head` does."""
    command("train", *MODEL)
    words = f"{sys.executable} -m rankviz runs --json | true"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_whole_numbers_have_ranges_too(command: Command) -> None:
    words = ("--axis", "n_components=5..50", "--kind", "random", "--points", "3", "--plan", "--json")
    assert as_json(command("sweep", "small", *words))["runs"] == 3


def test_training_in_shards_is_the_same_run_and_says_its_plan_before(
    command: Command, store: RunStore
) -> None:
    status, _, err = command("train", *MODEL, "--shards", "3")
    assert status == 0
    assert "Fold1: 3 shards, features in double precision: about" in err
    (row,) = as_json(command("train", *MODEL, "--json"))  # without: found, for it is the same run
    assert len(store.listing.every()) == 1
    assert row["run"] == store.listing.every().index[0]


def test_a_model_that_shards_cannot_train_is_refused(command: Command) -> None:
    status, _, err = command("train", "small", "--method", "factorized", "--where", "here")
    assert status != 0
    assert "cannot be trained in shards" in err


@pytest.mark.parametrize("where", ["local:0", "local:two", "local:-1", "local:99999"])
def test_what_names_no_place_is_refused(command: Command, where: str) -> None:
    status, _, err = command("train", *MODEL, "--where", where)
    assert status != 0
    assert "must name 1 to 1,024 workers" in err


@pytest.mark.story
def test_a_sweep_on_a_cluster(command: Command, store: RunStore) -> None:
    status, _, err = command("sweep", *MODEL, "--axis", "C=2^-2..2^0", "--where", "local:2")
    assert status == 0
    assert "3 of 3 runs made" in err


def test_a_cluster_is_not_left_to_itself(command: Command) -> None:
    status, _, err = command("sweep", *MODEL, "--axis", "C=2^-2..2^0", "--where", "local:2", "--detach")
    assert status != 0
    assert "need this command to keep running" in err


def test_here_is_this_process() -> None:
    with place_of("here", 5) as where:
        assert isinstance(where, Here)
        assert where.count(10) == 5


def test_without_dask_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankviz.shards.backend.find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r"rankviz\[dask\]"), place_of("tcp://127.0.0.1:1"):
        pass


OWN = "nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7})@10"
"""NDCG@10 with its gains spelled out."""


def test_a_run_goes_out_and_comes_in_again_as_a_system(
    command: Command, store: RunStore, root: Path, tmp_path: Path
) -> None:
    (made,) = as_json(command("train", *MODEL, "--json"))
    data = ["--data-dir", str(root)]
    for form, file in (("trec", "test.run"), ("scores", "test.txt")):
        out = tmp_path / file
        command("export", made["run"], "--format", form, "-o", str(out), *data)
        named = ["--data", MODEL[0], "--name", form, "--json", "--metric", OWN]
        status, said, err = command("score", str(out), *named, "--metric", "NDCG@10", *data)
        assert (status, "scores: Fold1; test." in err) == (0, True)
        own, usual = json.loads(said)[0]["metrics"].values()
        assert own == usual, "the gains of 2^y - 1"
    table = store.listing.every()
    given = table[table["method"] == "given"]
    assert sorted(name.partition("@")[0] for name in given["system"]) == ["scores", "trec"]
    assert given["test:MAP"].tolist() == [made["metrics"]["test:MAP"]] * 2
    status, out, _ = command("compare", made["run"], *given.index, "--metric", "MAP", "--format", "latex")
    assert status == 0
    assert "trec & MAP" in out
    out = as_json(command("compare", made["run"], *given.index, "--metric", OWN, "--json", *data))
    assert {(row["label"], row["metric"], row["difference"]) for row in out["deltas"]} == {
        ("scores", OWN, 0.0),
        ("trec", OWN, 0.0),
    }
    status, out, _ = command("runs", "--metric", "test:nDCG@10")
    assert (status, "test:NDCG@10" in out) == (0, True)
    refused = tmp_path / "bad.run"
    refused.write_text("1 Q0 nobody 1 0.5 t\n")
    status, _, err = command("score", str(refused), "--data", MODEL[0], *data)
    assert (status, "line 1" in err) == (2, True)
    assert len(store.listing.every()) == len(table), "nothing of it is kept"
