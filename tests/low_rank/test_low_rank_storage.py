"""Low-rank models as files: the same scores and dual variables again; nothing but DataError for damage."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from naive_low_rank import data_of
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import rankviz
from rankviz import DataError
from rankviz.common import npz
from rankviz.models.low_rank import FactorizedRankSVM, LowRankRanker, RegularizedRankSVM
from rankviz.models.ranker import Ranker

DATA = data_of("three grades")
MODELS: dict[str, LowRankRanker] = {
    "factorised": FactorizedRankSVM(rank=2, C=0.05),
    "factorised, nystroem": FactorizedRankSVM(3, 0.05, "nystroem", n_components=12, gamma=0.3),
    "regularised": RegularizedRankSVM(C=0.05, nuclear=0.1),
    "regularised, fourier": RegularizedRankSVM(0.05, 0.1, 5.0, "fourier", n_components=12),
    "regularised, exact": RegularizedRankSVM(0.05, 0.1, 5.0, "exact", gamma=0.3),
}


def fitted(name: str) -> LowRankRanker:
    return clone(MODELS[name]).fit_data(DATA)


def test_classes_derived_from_a_model_are_stored_as_it(tmp_path: Path) -> None:
    class Mine(FactorizedRankSVM):
        pass

    model = Mine(rank=2, C=0.05).fit_data(DATA)
    again = rankviz.load(rankviz.save(model, tmp_path / "m"))
    assert type(again) is FactorizedRankSVM
    np.testing.assert_array_equal(again.predict(DATA.X), model.predict(DATA.X))


class Unknown(Ranker):
    """None of ours."""

    def fit_data(self, data: object, *, callback: object = None) -> Unknown:
        return self


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (FactorizedRankSVM(), "this FactorizedRankSVM is not fitted yet"),
        (RegularizedRankSVM(), "this RegularizedRankSVM is not fitted yet"),
        (
            Unknown(),
            "Unknown cannot be saved; models that can: RankSVM, FactorizedRankSVM, RegularizedRankSVM",
        ),
        (make_pipeline(rankviz.RankSVM()), r"Pipeline cannot be saved.*Save its last step, pipeline\[-1\]"),
        (GridSearchCV(rankviz.RankSVM(), {}), r"GridSearchCV cannot be saved.*Save its best_estimator_"),
    ],
)
def test_what_cannot_be_saved(tmp_path: Path, model: Ranker, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rankviz.save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


# --- files that are no models -------------------------------------------------------------------------------

Contents = tuple[dict[str, object], dict[str, np.ndarray]]


def rewrite(path: Path, meta: dict[str, object], arrays: dict[str, np.ndarray]) -> Path:
    with path.open("wb") as file:
        np.savez(file, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)
    return path


def without(arrays: dict[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    return {key: array for key, array in arrays.items() if key != name}


CHANGES: dict[str, tuple[str, Callable[[dict, dict], Contents]]] = {
    "no factors": ("factorised", lambda m, a: (m, without(a, "factors"))),
    "factors of another rank": ("factorised", lambda m, a: (m, a | {"factors": a["factors"][:, :1]})),
    "flat factors": ("factorised", lambda m, a: (m, a | {"factors": a["factors"].ravel()})),
    "factors are a number": ("factorised", lambda m, a: (m, a | {"factors": np.array(1.0)})),
    "factors not finite": ("factorised", lambda m, a: (m, a | {"factors": a["factors"] * np.nan})),
    "factors in float32": ("factorised", lambda m, a: (m, a | {"factors": a["factors"].astype(np.float32)})),
    "rank is text": ("factorised", lambda m, a: (m | {"params": m["params"] | {"rank": "two"}}, a)),
    "rank is nothing": ("factorised", lambda m, a: (m | {"params": m["params"] | {"rank": None}}, a)),
    "no gap": ("factorised", lambda m, a: (m, without(a, "gap"))),
    "two gaps": ("regularised", lambda m, a: (m, a | {"gap": np.zeros(2)})),
    "gap not finite": ("regularised", lambda m, a: (m, a | {"gap": np.array([np.nan])})),
    "no alpha": ("regularised", lambda m, a: (m, without(a, "alpha"))),
    "short alpha": ("regularised", lambda m, a: (m, a | {"alpha": a["alpha"][1:]})),
    "no matrices": ("regularised", lambda m, a: (m, without(a, "low_rank"))),
    "matrices as text": ("regularised", lambda m, a: (m, a | {"low_rank": a["low_rank"].astype(str)})),
    "no weights": ("regularised", lambda m, a: (m, without(a, "coef"))),
    "another model": ("factorised", lambda m, a: (m | {"model": "RegularizedRankSVM"}, a)),
    "plain model": ("regularised", lambda m, a: (m | {"model": "RankSVM"}, a)),
    "unknown model": ("factorised", lambda m, a: (m | {"model": "os.system"}, a)),
    "model in a list": ("factorised", lambda m, a: (m | {"model": ["RankSVM"]}, a)),
    "parameters in a list": ("factorised", lambda m, a: (m | {"params": [1]}, a)),
}


@pytest.mark.parametrize(("name", "change"), CHANGES.values(), ids=CHANGES)
def test_damaged_models_are_refused(tmp_path, name, change):
    contents = npz.read_npz(rankviz.save(fitted(name), tmp_path / "source"), "model")
    path = rewrite(tmp_path / "m", *change(*contents))
    with pytest.raises(DataError, match="model") as caught:
        rankviz.load(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize("name", ["factorised", "regularised"])
def test_damaged_files(tmp_path: Path, name: str) -> None:
    """Whatever byte is changed, loading gives a model or DataError, and never a warning or another error."""
    path = rankviz.save(fitted(name), tmp_path / "m")
    whole, rng, refusals = path.read_bytes(), np.random.default_rng(0), 0
    for at in rng.choice(len(whole), 50, replace=False):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            assert np.isfinite(rankviz.load(path).predict(DATA.X)).all()
        except DataError:
            refusals += 1
    assert refusals > 20
