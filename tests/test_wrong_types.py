"""A value of a wrong type gets a sentence, `SettingError` or `DataError`, from everything that users call."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankviz
from rankviz import (
    DataError,
    FactorizedRankSVM,
    RankSVM,
    RunSpec,
    SettingError,
    crossings,
    duals,
    execute,
    execute_all,
    explain_margin,
    fit_curve,
    refits_of,
    smallest_swap,
    with_feature_off,
    with_grades,
    with_only,
    without_query,
)
from rankviz.analysis.spectra import spectra_of
from rankviz.datasets import find_datasets, make_data, normalise
from rankviz.metrics import auc, kendall_tau, top_overlap
from rankviz.models.dual_truncation import Truncator
from rankviz.runs import Design, runs_table
from rankviz.shards import Here
from rankviz.shards.backend import place_of
from rankviz.whatif.crossings import margin_along
from rankviz.whatif.estimates import margins_without_queries
from rankviz.whatif.explanations import landmark_shares

ROOT = Path(__file__).resolve().parent.parent
DATA = make_data(n_queries=5, documents_per_query=(4, 6), n_features=3, seed=1)
MODEL = RankSVM("nystroem", n_components=5).fit_data(DATA)
A, B = DATA.X[:2]
SCORES = MODEL.predict(DATA.X)
WITHIN = (0.0, 1.0)
DEEP = "[" * 100_000
SCALARS = [None, True, "2", 1.5, -1, np.nan, np.inf, 10**400, object(), b"x"]
NUMBERS: list[Any] = [True, "2", 1.5, -1, np.nan, np.inf, 10**400, [], np.zeros((2, 2)), object(), {}, b"x"]
SMALL = [value for value in NUMBERS if not (isinstance(value, int) and value > 1)]  # a bound that never binds


def entered(where: Any, shards: Any = None) -> None:
    with place_of(where, shards):
        pass


def size(name: str) -> Callable[[Any], object]:
    return lambda value: make_data(**{"n_queries": 2, "documents_per_query": (2, 3), name: value})


CALLS: dict[str, tuple[Callable[[Any], object], list[Any]]] = {
    "Here(shards)": (Here, [*NUMBERS, 0]),
    "Here(threads)": (lambda value: Here(2, value), [*NUMBERS, 0]),
    "place_of(where)": (entered, [*SCALARS, [], {}, "local:" + "9" * 5000]),
    "place_of(shards)": (lambda value: entered("here", value), [*NUMBERS, 0]),
    "shard_plan": (lambda value: RankSVM().shard_plan(DATA, value), SCALARS),
    "execute(where)": (lambda value: execute(RunSpec("synthetic-demo"), where=value), ["here", 2]),
    "execute(spec)": (execute, [*SCALARS, [], {}]),
    "execute(callback)": (lambda value: execute(RunSpec("synthetic-demo"), value), [True, "2", 1.5, []]),
    "execute_all": (lambda value: next(execute_all(value)), [*SCALARS, [None]]),
    "crossings(model)": (lambda value: crossings(value, A, B, 0, WITHIN), [*SCALARS, [], {}]),
    "crossings(feature)": (lambda value: crossings(MODEL, A, B, value, WITHIN), [None, *NUMBERS, False]),
    "crossings(within)": (
        lambda value: crossings(MODEL, A, B, 0, value),
        [*SCALARS, [], {}, "23", (0.0,), (0, 1, 2), ("0", "1"), (0.0, None), (True, 2.0), np.zeros((2, 2))],
    ),
    "margin_along(values)": (
        lambda value: margin_along(MODEL, A, B, 0, value),
        [*SCALARS, ["x"], np.zeros((2, 3)), np.zeros((2, 2, 2))],
    ),
    "smallest_swap(model)": (lambda value: smallest_swap(value, A, B, DATA.X), SCALARS),
    "explain_margin(model)": (lambda value: explain_margin(value, A, B), SCALARS),
    "explain_margin(callback)": (lambda value: explain_margin(MODEL, A, B, callback=value), [True, "2", 1.5]),
    "landmark_shares(model)": (lambda value: landmark_shares(value, A, B, DATA), SCALARS),
    "margins_without_queries": (
        lambda value: margins_without_queries(refits_of(MODEL, DATA), value, B),
        [*SCALARS, []],
    ),
    "refits_of(model)": (lambda value: refits_of(value, DATA), SCALARS),
    "fit_curve(model)": (lambda value: next(fit_curve(value, DATA)), [*SCALARS, [], {}]),
    "fit_curve(C)": (lambda value: next(fit_curve(MODEL, DATA, C=value)), [*SCALARS, "12"]),
    "fit_curve(n_components)": (lambda value: next(fit_curve(MODEL, DATA, n_components=value)), SCALARS),
    "with_only": (lambda value: with_only(MODEL, DATA, value), [*SCALARS, np.zeros((2, 2, 2))]),
    "with_grades": (lambda value: with_grades(MODEL, DATA, value), [*SCALARS, []]),
    "with_feature_off": (lambda value: with_feature_off(MODEL, DATA, value), [None, *NUMBERS]),
    "without_query": (lambda value: without_query(MODEL, DATA, value), [None, [], np.zeros((2, 2)), (1,)]),
    "from_json": (RunSpec.from_json, [*SCALARS, DEEP, "[]", "nonsense", {}]),
    "from_dict": (RunSpec.from_dict, [*SCALARS, [], np.zeros((2, 2))]),
    "Design.from_json": (Design.from_json, [*SCALARS, DEEP, "[]", "nonsense"]),
    "runs_table": (runs_table, [*SCALARS, "ab", [1], [(1, 2)]]),
    "auc(data)": (lambda value: auc(SCORES, value), [*SCALARS, DATA.X]),
    "kendall_tau(data)": (lambda value: kendall_tau(SCORES, SCORES, value), SCALARS),
    "top_overlap(data)": (lambda value: top_overlap(SCORES, SCORES, value), SCALARS),
    "top_overlap(k)": (lambda value: top_overlap(SCORES, SCORES, DATA, value), [None, *SMALL, 0]),
    "spectra_of(duals)": (spectra_of, SCALARS),
    "spectra_of(matrix)": (lambda value: spectra_of(duals(MODEL, DATA), value), [*SCALARS, []]),
    "Truncator(duals)": (lambda value: Truncator(value, MODEL.feature_map_), SCALARS),
    "normalise(data)": (lambda value: normalise(value, "none"), SCALARS),
    "normalise(how)": (lambda value: normalise(DATA, value), [*SCALARS, [], {}]),
    "find_datasets": (find_datasets, [True, 1.5, -1, object(), "2"]),
    "n_queries": (size("n_queries"), [None, *NUMBERS, 0, 10**12]),
    "n_features": (size("n_features"), [None, *NUMBERS, 0, 10**12]),
    "documents_per_query": (size("documents_per_query"), [*SCALARS, [], (2,), (3, 2), (1, 2, 3), ("2", "3")]),
    "seed": (size("seed"), ["2", 1.5, -1, True, np.nan, object()]),
    "random_state": (lambda value: RankSVM(random_state=value).fit_data(DATA), [True, False, -1, "2", 1.5]),
    "costs": (lambda value: RankSVM(costs=value).fit_data(DATA), [10**400, [[10**400]]]),
    "n_components": (lambda value: RankSVM("nystroem", n_components=value).fit_data(DATA), [None, *SMALL, 0]),
    "rank": (lambda value: FactorizedRankSVM(rank=value).fit_data(DATA), [None, *NUMBERS, 0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_types_get_a_sentence(name: str) -> None:
    call, values = CALLS[name]
    for value in values:
        with pytest.raises((SettingError, DataError)) as caught:
            call(value)
        said = str(caught.value)
        assert len(said) > 15, (value, said)


def test_right_values_of_other_types_are_taken() -> None:
    """The checks refuse no number of NumPy's, no array for a list, and no generator."""
    assert Here(np.int64(3)).count(10) == 3
    expected = crossings(MODEL, A, B, 1, (-1.0, 2.0))
    found = crossings(MODEL, A, B, np.int64(1), np.array([-1.0, 2.0], np.float32))  # type: ignore[arg-type]
    np.testing.assert_array_equal(found, expected)
    ids = (query for query in DATA.query_labels[:3])
    assert with_only(MODEL, DATA, ids).n_features_in_ == 3
    assert [model.C for model in fit_curve(MODEL, DATA, C=np.array([1.0, 0.5]))] == [0.5, 1.0]
    assert RunSpec.from_json(RunSpec("x").to_json().encode()) == RunSpec("x")  # type: ignore[arg-type]
    assert RankSVM(random_state=np.int64(2)).seed() == 2


def test_texts_import_only_what_is_there() -> None:
    """Names that README and docs show are there, and what they call by its bare name is exported."""
    texts = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for path in texts:
        text = path.read_text(encoding="utf-8")
        for module, names in re.findall(r"from (rankviz[\w.]*) import ([\w, ]+)", text):
            home = __import__(module, fromlist=["_"])
            for name in names.split(","):
                assert hasattr(home, name.strip()), f"{path.name}: {module}.{name}"
        for name in re.findall(r"`((?:Setting|Data|Stop)(?:Error|Warning|Requested))`", text):
            assert name in rankviz.__all__, f"{path.name}: {name}"
