"""`rankviz sweep --resume`: a sweep goes on with all that it was started with, and with nothing else."""

import json
from collections.abc import Callable

import pytest
from conftest_store import Command, as_json

from rankviz import RunSpec
from rankviz.common.errors import SettingError
from rankviz.runs import Design, Values, select
from rankviz.runs.selection import Choice
from rankviz.store import RunStore, Study

SWEEP = ("small", "--set", "feature_map=linear", "--axis", "C=2^-8,2^-4,1,16")


@pytest.fixture
def paused(store: RunStore, interrupted: Callable[..., str]) -> str:
    """The id of a sweep by NDCG@3, for each fold, that was interrupted."""
    err = interrupted(*SWEEP, "--metric", "NDCG@3", "--per-fold", "--title", "Mine")
    (study,) = store.studies.every()
    assert f"rankviz sweep --resume {study.id}" in err
    return study.id


def test_what_was_chosen_by_is_chosen_by_after_the_resume(
    command: Command, store: RunStore, paused: str
) -> None:
    found = as_json(command("sweep", "--resume", paused, "--json"))
    table, design = store.listing.of_studies([paused]), design_of(store, paused)
    meant, other = select(design, table, "NDCG@3", per_fold=True), select(design, table, "MAP")
    assert meant.settings != other.settings  # else nobody would see which it is
    assert found["settings"] == meant.settings
    assert found["test"] == pytest.approx(meant.test_means.to_dict())
    assert found["choice"] == {"metric": "NDCG@3", "rule": "best", "per_fold": True}
    _, out, err = command("sweep", "--resume", paused)
    assert "By validation NDCG@3, rule best, a cell for each fold:" in out
    assert "had no rule of choice" not in err


DIFFERENT = [
    (("--metric", "MAP"), "NDCG@3"),
    (("--rule", "one_standard_error"), "best"),
    (("medium",), "small"),
    (("--fold", "Fold2"), "Fold1"),
    (("--data-dir", "/tmp"), "data"),
    (("--normalisation", "query_minmax"), "none"),
    (("--method", "factorized"), "ranksvm"),
    (("--set", "loss=hinge"), "loss=squared_hinge"),
    (("--axis", "C=1,2"), "C=0.00390625,0.0625,1.0,16.0"),
    (("--axis", "gamma=1,2"), "no such axis"),
    (("--kind", "sobol"), "grid"),
    (("--points", "4"), "0"),
    (("--seed", "3"), "none"),
    (("--preset", "he2009"), "C=0.00390625,"),
    (("--title", "Yours"), "Mine"),
]
"""Arguments beside --resume, and what of the sweep's own is said then."""


def test_an_argument_that_differs_is_refused_before_anything_goes_on(
    command: Command, store: RunStore, paused: str
) -> None:
    for words, own in DIFFERENT:
        status, out, err = command("sweep", "--resume", paused, *words)
        assert (status, out, len(err.splitlines())) == (2, "", 1)
        assert words[0] in err or "data set medium" in err
        assert "with --resume: this sweep was started with" in err
        assert own in err, words
        assert store.studies.status(paused).asked == "paused"


def test_equal_arguments_and_those_of_how_to_wait_are_fine(command: Command, paused: str) -> None:
    same = (*SWEEP, "--metric", "NDCG@3", "--rule", "best", "--per-fold", "--title", "Mine", "--all-folds")
    more = ("--fold", "Fold1", "--method", "ranksvm", "--normalisation", "none", "--kind", "grid")
    how = ("--workers", "1", "--where", "here", "--json")
    assert as_json(command("sweep", "--resume", paused, *same, *more, *how))["runs"] == {"done": 4}


def test_another_axis_of_the_same_values_and_a_plan(command: Command, paused: str) -> None:
    status, _, err = command("sweep", "--resume", paused, "--plan", "--axis", "C=0.00390625,2^-4,1,16")
    assert (status, len(err.splitlines())) == (2, 1)
    assert "--plan with --resume" in err


def test_where_a_cluster_worked_the_pause_says_so(store: RunStore, interrupted: Callable[..., str]) -> None:
    err = interrupted(*SWEEP, "--where", "local:1")
    assert f"--resume {store.studies.every()[0].id} --where local:1" in err


def test_a_sweep_that_did_not_say_how_to_choose_says_what_is_used(
    command: Command, store: RunStore, paused: str
) -> None:
    """As those of earlier versions and of the app."""
    store.studies.redesign(paused, "command line", design_of(store, paused).to_dict())
    status, out, err = command("sweep", "--resume", paused, "--metric", "P@1")
    assert status == 0
    assert "had no rule of choice; it now has: validation P@1, rule best, one cell" in err
    assert "By validation P@1" in out
    _, again, err = command("sweep", "--resume", paused)
    assert again == out
    assert "had no rule" not in err
    assert "was started with P@1" in command("sweep", "--resume", paused, "--metric", "MAP")[2]


def test_an_old_sweep_cannot_be_told_to_choose_by_what_is_not_there(
    command: Command, store: RunStore, paused: str
) -> None:
    store.studies.redesign(paused, "command line", design_of(store, paused).to_dict())
    for words, said in (
        (("--metric", "NOPE"), "'NOPE' is not a metric"),
        (("--rule", "one_paired_error"), "over 2 folds at least"),
    ):
        status, _, err = command("sweep", "--resume", paused, *words)
        assert (status, len(err.splitlines())) == (2, 1)
        assert said in err
    assert Choice.of_study(store.studies.status(paused).study.design) is None


def test_a_study_that_is_no_sweep_is_a_sentence(command: Command, store: RunStore, paused: str) -> None:
    job = store.studies.submit(Study("you", "A job", kind="job"), store.studies.specs(paused))
    status, _, err = command("sweep", "--resume", job)
    assert (status, len(err.splitlines())) == (2, 1)
    assert "is not a sweep that this version can read" in err


def test_a_choice_for_each_fold_has_no_standard_error() -> None:
    design = Design(RunSpec("demo"), (Values("C", (1.0, 2.0)),), folds=("Fold1", "Fold2"))
    Choice(rule="one_standard_error").check(design)
    with pytest.raises(SettingError, match="over 2 folds at least, and each choice is made on 1 fold"):
        Choice(rule="one_standard_error", per_fold=True).check(design)
    kept = Choice("P@3", "one_paired_error").beside(design)
    assert Design.from_dict(json.loads(json.dumps(kept))) == design
    assert Choice.of_study(kept) == Choice("P@3", "one_paired_error")


def design_of(store: RunStore, study: str) -> Design:
    return Design.from_dict(store.studies.status(study).study.design)


def test_a_preset_chooses_as_its_paper_did(command: Command, store: RunStore) -> None:
    """Each fold has a C of its own, by NDCG@10; what is typed goes first."""
    paper = ("small", "--preset", "chapelle2010", "--json")
    found = as_json(command("sweep", *paper))
    assert found["choice"] == {"metric": "NDCG@10", "rule": "best", "per_fold": True}
    status, _, err = command("sweep", *paper, "--rule", "one_standard_error")
    assert status == 2
    assert "needs a standard error" in err
    own = as_json(command("sweep", *paper, "--metric", "P@1", "--no-per-fold"))
    assert own["choice"] == {"metric": "P@1", "rule": "best", "per_fold": False}
    status, _, err = command("sweep", "--resume", found["study"], "--no-per-fold")
    assert status == 2
    assert "--no-per-fold with --resume: this sweep was started with --per-fold" in err
