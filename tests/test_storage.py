"""Models as files: exact round trips, writing aside, and nothing but DataError for what is no model."""

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from naive_ranking import problem, qid_of
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import rankviz
from rankviz import DataError, FactorizedRankSVM, RankingData, RankSVM, RegularizedRankSVM
from rankviz.common import npz
from rankviz.datasets import DataWarning
from rankviz.models.ranker import Ranker

X, Y, PTR = problem()
QID = qid_of(PTR)
MODELS: dict[str, dict[str, object]] = {
    "linear": {},
    "nystroem": {"feature_map": "nystroem", "n_components": 20, "gamma": 0.3},
    "truncated": {"feature_map": "nystroem", "n_components": 20, "gamma": 0.3, "rank": 5},
    "fourier": {"feature_map": "fourier", "n_components": 20, "gamma": "scale"},
    "spread": {"feature_map": "nystroem", "n_components": 20, "gamma": 0.3, "landmarks": "kmeans++"},
    "costs": {"loss": "hinge", "costs": ("query", ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (2.0, 1.5, 0.0)))},
    "orthogonal": {"feature_map": "fourier", "n_components": 20, "frequencies": "orthogonal"},
}


def fitted(name: str, **settings: object) -> RankSVM:
    return RankSVM(**MODELS[name] | settings).fit(X, Y, qid=QID)


ESTIMATORS: dict[str, Ranker] = {
    **{name: RankSVM(**settings) for name, settings in MODELS.items()},
    "exact": RankSVM("exact", gamma=0.3, loss="hinge"),
    "unfinished": RankSVM(max_iter=1, C=10.0),
    "sgd": RankSVM(solver="sgd_query"),
    "factorised": FactorizedRankSVM(rank=2, C=0.05),
    "factorised, nystroem": FactorizedRankSVM(3, 0.05, "nystroem", n_components=12, gamma=0.3),
    "regularised, fourier": RegularizedRankSVM(0.05, 0.1, 5.0, "fourier", n_components=12),
    "regularised, exact": RegularizedRankSVM(0.05, 0.1, 5.0, "exact", gamma=0.3),
    "by query": FactorizedRankSVM(rank=2, C=0.05, solver="query_steps", max_iter=3),
    "regularised": RegularizedRankSVM(C=0.05, nuclear=0.1),
    "alternating": RegularizedRankSVM(C=0.05, solver="alternating", max_iter=3),
}


early = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
"""Some end before they should, on purpose."""


@early
@pytest.mark.parametrize("name", ESTIMATORS)
def test_everything_that_fit_has_set_is_there_after_loading(tmp_path: Path, name: str) -> None:
    data, model = RankingData.from_arrays(X, Y, QID), ESTIMATORS[name].fit(X, Y, qid=QID)
    once = rankviz.load(str(rankviz.save(model, tmp_path / "m")))
    again = rankviz.load(rankviz.save(once, tmp_path / "twice"))
    assert (type(again), again.get_params()) == (type(model), model.get_params())
    found = {attribute: value for attribute, value in vars(model).items() if attribute != "_rows"}
    assert set(vars(again)) == set(found)  # `trace_` is made of these rows
    for attribute, value in found.items():
        other = getattr(again, attribute)
        if isinstance(value, np.ndarray):
            assert value.dtype == other.dtype
            np.testing.assert_array_equal(other, value)
        elif isinstance(value, pd.DataFrame):
            pd.testing.assert_frame_equal(other, value)
        elif attribute == "feature_map_":
            assert type(other) is type(value)
        else:
            assert (type(other), other) == (type(value), value)
    others = np.random.default_rng(1).normal(size=(30, 4))
    np.testing.assert_array_equal(again.predict(others), model.predict(others))
    before, after = rankviz.duals(model, data), rankviz.duals(again, data)
    assert after.gap == before.gap == model.gap_
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one.alpha, other.alpha)


def test_a_file_that_has_no_gap_says_so(tmp_path: Path) -> None:
    meta, arrays = contents("linear", tmp_path)
    meta["ended"]["numbers"].pop("gap")
    path = rewrite(tmp_path / "stored", meta, {"coef": arrays["coef"]})
    with pytest.warns(DataWarning, match="has no duality gap.*fit it again") as caught:
        model = rankviz.load(path)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(model.predict(X), fitted("linear").predict(X))
    assert np.isnan(model.gap_)
    assert np.isnan(rankviz.duals(model, RankingData.from_arrays(X, Y, QID)).gap)


def test_a_gap_that_is_no_number_is_kept_as_none(tmp_path: Path) -> None:
    model = RankSVM().fit(X, Y, qid=QID, callback=lambda progress: progress.stage == "newton")
    assert (len(model.trace_), np.isnan(model.gap_)) == (0, True)
    again = rankviz.load(rankviz.save(model, tmp_path / "m"))
    assert np.isnan(again.gap_)
    assert again.status_ is model.status_


def test_a_file_holds_its_arrays_and_nothing_else(tmp_path: Path) -> None:
    with zipfile.ZipFile(npz.write_npz(tmp_path / "m", {}, {"a": np.zeros(2)})) as archive:
        assert sorted(archive.namelist()) == ["a.npy", "meta.npy"]


def test_a_map_that_skipped_landmarks_still_leads_to_smaller_ones(tmp_path: Path) -> None:
    line = np.repeat(X[:, :1], 3, axis=1)
    svm = RankSVM(feature_map="nystroem", n_components=40, gamma=0.01).fit(line, Y, qid=QID)
    again = rankviz.load(rankviz.save(svm, tmp_path / "m"))
    assert svm.n_components_ < 40
    for m in (2, 10, 40):
        small, expected = again.feature_map_.leading(m), svm.feature_map_.leading(m)
        np.testing.assert_array_equal(small.landmarks, expected.landmarks)
    meta, arrays = npz.read_npz(tmp_path / "m", "model")
    kept = arrays["kept"]
    for wrong in (kept[::-1], kept[1:], kept - 1, kept.astype(float), kept[:, None], np.zeros_like(kept)):
        refused(rewrite(tmp_path / "wrong", meta, arrays | {"kept": wrong}), "kept")


def test_parameters_of_a_grid_search_can_be_saved(tmp_path: Path) -> None:
    svm = fitted("nystroem", n_components=np.int64(7), C=np.float32(0.5), random_state=np.int64(3))
    again = rankviz.load(rankviz.save(svm, tmp_path / "m"))
    assert again.get_params() == svm.get_params()
    assert type(again.n_components) is int


def test_a_random_state_that_is_not_a_number_is_not_kept(tmp_path: Path) -> None:
    svm = fitted("fourier", random_state=np.random.RandomState(1))
    again = rankviz.load(rankviz.save(svm, tmp_path / "m"))
    assert again.random_state is None
    np.testing.assert_array_equal(again.predict(X), svm.predict(X))


class Derived(FactorizedRankSVM):
    """A class derived from a model of ours."""


def test_classes_derived_from_a_model_are_stored_as_it(tmp_path: Path) -> None:
    model = Derived(rank=2, C=0.05).fit(X, Y, qid=QID)
    again = rankviz.load(rankviz.save(model, tmp_path / "m"))
    assert type(again) is FactorizedRankSVM
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


class Unknown(Ranker):
    """None of ours."""

    def fit_data(self, data: object, *, callback: object = None) -> object:
        return self


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (RankSVM(), "this RankSVM is not fitted yet"),
        (FactorizedRankSVM(), "this FactorizedRankSVM is not fitted yet"),
        (RegularizedRankSVM(), "this RegularizedRankSVM is not fitted yet"),
        (
            Unknown(),
            "Unknown cannot be saved; models that can: RankSVM, FactorizedRankSVM, RegularizedRankSVM",
        ),
        (make_pipeline(RankSVM()), r"Pipeline cannot be saved.*Save its last step, pipeline\[-1\]"),
        (GridSearchCV(RankSVM(), {}), r"GridSearchCV cannot be saved.*Save its best_estimator_"),
    ],
)
def test_what_cannot_be_saved(tmp_path: Path, model: Ranker, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rankviz.save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("fault", [OSError("disk full"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_an_interrupted_save_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    path = rankviz.save(fitted("linear"), tmp_path / "m")
    before = path.read_bytes()

    def replace(*paths: object) -> None:
        raise fault

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(type(fault)):
        rankviz.save(fitted("fourier"), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_python_objects_are_never_written(tmp_path: Path) -> None:
    for objects in (np.array([{}, None]), np.zeros(2, [("a", object)])):
        with pytest.raises(ValueError, match="array 'c' contains Python objects"):
            npz.write_npz(tmp_path / "a.npz", {}, {"c": objects})
    assert list(tmp_path.iterdir()) == []


# --- files that are no models -----------------------------------------------------------------------------


Contents = tuple[dict[str, Any], dict[str, np.ndarray]]


def contents(name: str, folder: Path) -> Contents:
    model = ESTIMATORS[name].fit(X, Y, qid=QID)
    return npz.read_npz(rankviz.save(model, folder / "source.npz"), "model")


def without(arrays: dict[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    return {key: array for key, array in arrays.items() if key != name}


def rewrite(path: Path, meta: object, arrays: dict[str, np.ndarray]) -> Path:
    text = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, meta=text, **arrays)
    return path


def refused(path: Path, words: str | None = None) -> None:
    with pytest.raises(DataError, match=words) as caught:
        rankviz.load(path)
    assert caught.value.path == str(path)
    assert "model" in str(caught.value)


def with_number(meta: dict[str, Any], name: str, value: object) -> dict[str, Any]:
    """The description with another number at the end of training."""
    ended = meta["ended"]
    return meta | {"ended": ended | {"numbers": ended["numbers"] | {name: value}}}


KEPT = ("format", "model", "params", "kernel", "columns", "weighed_digest", "ended")
META_CHANGES: dict[str, Callable[[dict[str, object]], object]] = {
    "other format": lambda m: m | {"format": 2},
    "a list": lambda m: [1, 2],
    "a number": lambda m: 7,
    **{f"no {name}": lambda m, name=name: {k: v for k, v in m.items() if k != name} for name in KEPT},
    "unknown model": lambda m: m | {"model": "os.system"},
    "model in a list": lambda m: m | {"model": ["RankSVM"]},
    "unknown parameter": lambda m: m | {"params": {"nonsense": 1}},
    "parameters in a list": lambda m: m | {"params": [1]},
    "unknown map": lambda m: m | {"map": "os.system"},
    "map in a list": lambda m: m | {"map": ["FittedLinear"]},
    "another map": lambda m: m | {"map": "FittedFourier"},
    "more features": lambda m: m | {"n_features": 5},
    "infinite features": lambda m: m | {"n_features": float("inf")},
    "no features": lambda m: m | {"n_features": None},
    "gamma is text": lambda m: m | {"gamma": "scale?"},
    "gamma is not a number": lambda m: m | {"gamma": float("nan")},
    "gamma is negative": lambda m: m | {"gamma": -1.0},
    "unknown status": lambda m: m | {"ended": m["ended"] | {"status": "FINE"}},
    "no numbers": lambda m: m | {"ended": {}},
    "gap is text": lambda m: m | {"ended": m["ended"] | {"numbers": {"gap": "small"}}},
    "gap in a list": lambda m: m | {"ended": m["ended"] | {"numbers": {"gap": []}}},
    "seconds are a number": lambda m: m | {"ended": m["ended"] | {"seconds": 1}},
    "the end in a list": lambda m: m | {"ended": ["status"]},
    "objective is a list": lambda m: m | {"objective": []},
    "objective is not a number": lambda m: m | {"objective": "nan"},
    "objective is negative": lambda m: m | {"objective": -5.0},
    "pairs are negative": lambda m: m | {"n_pairs": -3},
    "half a pair": lambda m: m | {"n_pairs": 2.5},
    "half a step": lambda m: with_number(m, "n_iter", 1.5),
    "steps that the trace has not": lambda m: with_number(m, "n_iter", 77),
    "a gap that the trace has not": lambda m: with_number(m, "gap", 0.0),
    "no gap where the trace has one": lambda m: with_number(m, "gap", None),
}
OF_LOW_RANK: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("factorised", lambda m: m | {"params": m["params"] | {"rank": "two"}}),
    ("factorised", lambda m: m | {"params": m["params"] | {"rank": None}}),
    ("factorised", lambda m: m | {"model": "RegularizedRankSVM"}),
    ("regularised", lambda m: m | {"model": "RankSVM"}),
]


@pytest.mark.parametrize(
    ("name", "change"),
    [*(pytest.param("nystroem", change, id=key) for key, change in META_CHANGES.items()), *OF_LOW_RANK],
)
def test_other_descriptions(tmp_path, name, change):
    meta, arrays = contents(name, tmp_path)
    refused(rewrite(tmp_path / "m", change(meta), arrays))


ARRAY_CHANGES: dict[str, tuple[str, Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]]] = {
    "no weights": ("nystroem", lambda a: without(a, "coef")),
    "too few weights": ("nystroem", lambda a: a | {"coef": a["coef"][:-1]}),
    "weights of the linear map": ("linear", lambda a: {"coef": a["coef"][:-1]}),
    "weights not finite": ("linear", lambda a: {"coef": a["coef"] * np.nan}),
    "weights in float32": ("linear", lambda a: {"coef": a["coef"].astype(np.float32)}),
    "weights in a matrix": ("linear", lambda a: {"coef": a["coef"][None]}),
    "weights as text": ("linear", lambda a: {"coef": a["coef"].astype(str)}),
    "no landmarks": ("nystroem", lambda a: without(a, "landmarks")),
    "landmarks are a number": ("nystroem", lambda a: a | {"landmarks": np.array(1.0)}),
    "narrow landmarks": ("nystroem", lambda a: a | {"landmarks": a["landmarks"][:, 1:]}),
    "infinite landmarks": ("nystroem", lambda a: a | {"landmarks": a["landmarks"] * np.inf}),
    "small factor": ("nystroem", lambda a: a | {"L": a["L"][1:, 1:]}),
    "singular factor": ("nystroem", lambda a: a | {"L": 0 * a["L"]}),
    "no factor": ("nystroem", lambda a: without(a, "L")),
    "flat basis": ("truncated", lambda a: a | {"T": a["T"][0]}),
    "a short trace": ("linear", lambda a: a | {"trace.gap": a["trace.gap"][1:]}),
    "trace as text": ("linear", lambda a: a | {"trace.gap": a["trace.gap"].astype(str)}),
    "flat trace": ("linear", lambda a: a | {"trace.gap": a["trace.gap"][None]}),
    "wrong basis": ("truncated", lambda a: a | {"T": a["T"][1:]}),
    "fewer frequencies": ("fourier", lambda a: a | {"frequencies": a["frequencies"][:, 1:]}),
    "phases are a number": ("fourier", lambda a: a | {"phases": np.array(2.0)}),
    "no factors": ("factorised", lambda a: without(a, "factors")),
    "factors of another rank": ("factorised", lambda a: a | {"factors": a["factors"][:, :1]}),
    "flat factors": ("factorised", lambda a: a | {"factors": a["factors"].ravel()}),
    "factors are a number": ("factorised", lambda a: a | {"factors": np.array(1.0)}),
    "factors not finite": ("factorised", lambda a: a | {"factors": a["factors"] * np.nan}),
    "factors in float32": ("factorised", lambda a: a | {"factors": a["factors"].astype(np.float32)}),
    "no gap": ("factorised", lambda a: without(a, "gap")),
    "two gaps": ("regularised", lambda a: a | {"gap": np.zeros(2)}),
    "gap not finite": ("regularised", lambda a: a | {"gap": np.array([np.nan])}),
    "no alpha": ("regularised", lambda a: without(a, "alpha")),
    "short alpha": ("regularised", lambda a: a | {"alpha": a["alpha"][1:]}),
    "no matrices": ("regularised", lambda a: without(a, "low_rank")),
    "matrices as text": ("regularised", lambda a: a | {"low_rank": a["low_rank"].astype(str)}),
    "no weights of low rank": ("regularised", lambda a: without(a, "coef")),
}


@pytest.mark.parametrize(("name", "change"), ARRAY_CHANGES.values(), ids=ARRAY_CHANGES)
def test_other_arrays(
    tmp_path: Path, name: str, change: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]
) -> None:
    meta, arrays = contents(name, tmp_path)
    with np.errstate(invalid="ignore"):
        changed = change(arrays)
    refused(rewrite(tmp_path / "m", meta, changed))


def test_pickled_objects_are_not_read(tmp_path: Path) -> None:
    meta, arrays = contents("linear", tmp_path)
    objects = np.array([print, None], dtype=object)
    refused(rewrite(tmp_path / "m", meta, arrays | {"coef": objects}), "Python objects")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.6, 0.9, 0.99])
def test_truncated_files(tmp_path: Path, share: float) -> None:
    path = rankviz.save(fitted("nystroem"), tmp_path / "m")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    refused(path)


@pytest.mark.parametrize("name", ["linear", "factorised", "regularised"])
def test_damaged_files(tmp_path: Path, name: str) -> None:
    """Whatever byte is changed, loading gives a model or DataError, and never a warning or another error."""
    path = rankviz.save(ESTIMATORS[name].fit(X, Y, qid=QID), tmp_path / "m")
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    refusals = 0
    for at in rng.choice(len(whole), 100, replace=False):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            assert np.isfinite(rankviz.load(path).predict(X)).all()
        except DataError:
            refusals += 1
    assert refusals > 40


def zipped(path: Path, entries: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


def array_bytes(shape: str) -> bytes:
    """An npy header that claims float64 of `shape`, with no data behind it."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()


def test_other_files(tmp_path: Path) -> None:
    path = tmp_path / "m"
    refused(tmp_path)
    for content in (b"", b"not a model", b"\x80\x04K\x01.", b"PK\x05\x06" + 18 * b"\0"):
        path.write_bytes(content)
        refused(path)
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(3))
    path.write_bytes(buffer.getvalue())
    refused(path)


@pytest.mark.parametrize(
    "entries",
    [
        {"meta": b"no array at all"},
        {"meta.npy": b"no array at all"},
        {"meta.npy": array_bytes("(1 << 60,)")},
        {"meta.npy": array_bytes("(1152921504606846976,)")},
        {"meta.npy": array_bytes("(-1,)")},
        {"meta.npy": array_bytes("'x'")},
        {"a.npy": array_bytes("(0,)")},
        {"meta.npy": array_bytes("(0,)")},
    ],
)
def test_crafted_archives(tmp_path: Path, entries: dict[str, bytes]) -> None:
    refused(zipped(tmp_path / "m", entries))


@pytest.mark.parametrize("kind", ["'|S0'", "'<U0'", "'|V0'", "[]", "[('a', '<f8', (0,))]"])
def test_arrays_of_empty_texts_cannot_claim_any_number(tmp_path: Path, kind: str) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.frombuffer(b"{}", np.uint8))
    head = f"{{'descr': {kind}, 'fortran_order': False, 'shape': (1000000000,), }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    entry = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head
    path = zipped(tmp_path / "m", {"meta.npy": buffer.getvalue(), "a.npy": entry})
    refused(path, r"a\.npy claims 1000000000 bytes")


def test_deeply_nested_descriptions(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.frombuffer(b"[" * 100_000, np.uint8))
    refused(zipped(tmp_path / "m", {"meta.npy": buffer.getvalue()}))


def test_a_damaged_compressed_stream(tmp_path: Path) -> None:
    path = zipped(tmp_path / "m", {"meta.npy": array_bytes("(9,)") + 72 * b"a"}, zipfile.ZIP_DEFLATED)
    data = bytearray(path.read_bytes())
    data[40:60] = 20 * b"\xff"
    path.write_bytes(data)
    refused(path)


def test_files_that_claim_too_much_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = rankviz.save(fitted("fourier"), tmp_path / "m")
    with zipfile.ZipFile(path) as archive:
        claimed = [entry.file_size for entry in archive.infolist()]
    monkeypatch.setattr(npz, "MAX_BYTES", sum(claimed))
    rankviz.load(path)
    monkeypatch.setattr(npz, "MAX_BYTES", sum(claimed) - 1)
    assert max(claimed) < npz.MAX_BYTES
    monkeypatch.setattr(np, "load", lambda *args, **kwargs: pytest.fail("it was read"))
    refused(path, f"claim {sum(claimed)} bytes")


def test_what_json_cannot_hold_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="JSON"):
        npz.write_npz(tmp_path / "m", {"a": object()}, {})
    with pytest.raises(ValueError, match="JSON"):
        npz.write_npz(tmp_path / "m", {"a": float("nan")}, {})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "columns", [{"names": ["a"]}, {"names": [1, 2, 3, 4]}, {"labels": "abc"}, {"words": None}, ["a"] * 4]
)
def test_columns_that_do_not_fit_are_refused(tmp_path: Path, columns: object) -> None:
    path = rankviz.save(fitted("linear"), tmp_path / "m")
    meta, arrays = npz.read_npz(path, "model")
    refused(rewrite(tmp_path / "wrong", meta | {"columns": columns}, arrays), "columns|argument")


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.npz: no such file\. Expected: a model file"):
        rankviz.load(tmp_path / "nowhere.npz")
