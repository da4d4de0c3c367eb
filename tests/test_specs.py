"""RunSpec: a value that survives JSON, and whose hash is that of its text."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest_runs import SPEC

from rankviz import RankSVM, RunSpec
from rankviz.experiments.run import model_of

SPECS = [
    RunSpec("demo"),
    SPEC,
    RunSpec("OHSUMED", "Fold3", "00ff", "query_minmax", "fourier", 1, 1e-300, 1e300, seed=2**70, tol=0.5),
    RunSpec('name with "quotes", √ and \\', rank=4),
    SPEC.linear(2.0),
]


@pytest.mark.parametrize("spec", SPECS)
def test_json_round_trip(spec: RunSpec) -> None:
    again = RunSpec.from_json(spec.to_json())
    assert again == spec
    assert again.to_json() == spec.to_json()
    assert again.hash == spec.hash
    assert RunSpec.from_dict(dataclasses.asdict(spec)) == spec
    assert list(json.loads(spec.to_json())) == sorted(f.name for f in dataclasses.fields(RunSpec))


def test_hash_is_that_of_the_sorted_text_in_any_process() -> None:
    text = json.dumps(dataclasses.asdict(SPEC), sort_keys=True)
    assert SPEC.hash == hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    code = f"import rankviz; print(rankviz.RunSpec.from_json({SPEC.to_json()!r}).hash)"
    root = Path(__file__).resolve().parent.parent
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert run.stdout.strip() == SPEC.hash


def test_equal_specs_have_equal_text_and_others_other_hashes() -> None:
    whole = RunSpec("a", C=1, gamma=2, tol=1, n_components=np.int64(5), seed=np.int32(2), rank=np.int64(3))
    plain = RunSpec("a", C=1.0, gamma=np.float64(2), tol=np.float32(1), n_components=5, seed=2, rank=3)
    assert whole == plain
    assert whole.to_json() == plain.to_json()
    changes = {
        "dataset": "b",
        "fold": "Fold2",
        "digest": "1",
        "normalisation": "x",
        "feature_map": "linear",
        "loss": "y",
        "preconditioner": "none",
        "start": "zero",
        "landmarks": "kmeans++",
        "frequencies": "orthogonal",
        "costs": ((0.0, 0.0), (1.0, 0.0)),
        "solver": "lbfgs",
        "method": "factorized",
    }
    numbers = {
        "factors": 4,
        "nuclear": 0.5,
        "coupling": 3.0,
        "n_components": 6,
        "C": 1.5,
        "gamma": 2.5,
        "seed": 3,
        "tol": 0.5,
        "rank": None,
    }
    others = [dataclasses.replace(plain, **{k: v}) for k, v in (changes | numbers).items()]
    assert {f.name for f in dataclasses.fields(RunSpec)} == set(changes | numbers)
    assert len({plain.hash, *(s.hash for s in others)}) == 1 + len(others)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "dataset"),
        ({"dataset": "a", "nonsense": 1}, "nonsense"),
        *(({"dataset": v}, "dataset") for v in (None, 3, ["a"], True)),
        *(({"dataset": "a", "C": v}, "'C'") for v in ("1", None, True, [1.0], 10**400, -(10**400))),
        *(({"dataset": "a", "n_components": v}, "n_components") for v in (2.0, "5", None, False)),
        *(({"dataset": "a", "rank": v}, "rank") for v in (2.0, "5", True)),
        *(({"dataset": "a", "costs": v}, "costs") for v in (1, {}, [[1.0], ["a"]], [1, 2])),
        *(({"dataset": "a", "feature_map": v}, "feature_map") for v in (None, 1, {})),
    ],
)
def test_other_objects_are_refused_by_field(values: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        RunSpec.from_dict(values)
    with pytest.raises(ValueError, match=words):
        RunSpec.from_json(json.dumps(values))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", "null", '"a"', '{"dataset": "a", "C": NaN}', '{"dataset": "a", "gamma": 1e400}'],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        RunSpec.from_json(text)


def test_fields_may_be_left_out_and_null() -> None:
    assert RunSpec.from_json('{"dataset": "a", "C": 2, "rank": null}') == RunSpec("a", C=2.0)


def test_costs_are_the_same_value_however_they_are_written() -> None:
    table = [[0, 0], [1, 0]]
    specs = (
        RunSpec("a", costs=table),
        RunSpec("a", costs=np.array(table)),
        RunSpec("a", costs=((0, 0), (1, 0))),
    )
    assert len(set(specs)) == len({spec.hash for spec in specs}) == 1
    both = RunSpec("a", costs=["query", table])
    for spec in (*specs, both, RunSpec("a", costs="slack"), RunSpec("a")):
        assert RunSpec.from_json(spec.to_json()) == spec
    assert both.costs == ("query", specs[0].costs)


def test_frozen_and_hashable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        SPEC.C = 1.0
    assert len({SPEC, dataclasses.replace(SPEC), SPEC.linear(1.0)}) == 2


def test_the_linear_baseline_depends_on_data_and_c_only() -> None:
    other = dataclasses.replace(SPEC, n_components=7, gamma=9.0, rank=3, seed=8, feature_map="fourier")
    other = dataclasses.replace(other, landmarks="kmeans++", frequencies="orthogonal")
    assert other.linear(0.5) == SPEC.linear(0.5)
    assert SPEC.linear(0.5).C == 0.5
    assert model_of(SPEC.linear(0.5)).get_params()["feature_map"] == "linear"


def test_every_field_of_the_model_is_in_the_spec() -> None:
    params = model_of(SPEC).get_params()
    assert params.pop("random_state") == 3
    for name in ("max_iter", "memory_limit", "kernel", "degree", "coef0"):
        assert params.pop(name) == getattr(RankSVM(), name)
    assert params == {name: getattr(SPEC, name) for name in params}
