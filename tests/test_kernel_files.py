"""Models of every kernel as files: a file keeps the kernel that was fitted."""

from pathlib import Path

import numpy as np
import pytest
from conftest_kernels import DATA, X, each_kernel, model

import rankviz
from rankviz import DataError
from rankviz.common import npz
from rankviz.features import KERNELS, Polynomial


@each_kernel
@pytest.mark.parametrize("feature_map", ["nystroem", "fourier", "exact", "own space"])
def test_files(kernel: str, feature_map: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if feature_map == "fourier" and not KERNELS[kernel].shift_invariant:
        return
    if feature_map == "own space":
        monkeypatch.setattr("rankviz.features.exact.SMALL", 10)
    name = "exact" if feature_map == "own space" else feature_map
    fitted = model(kernel, name, n_components=15).fit_data(DATA)
    again = rankviz.load(rankviz.save(fitted, tmp_path / "m"))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.get_params() == fitted.get_params()
    assert again.feature_map_.kernel == fitted.feature_map_.kernel
    assert again.gamma_ == fitted.gamma_


def test_what_is_stored_is_the_kernel_that_was_fitted(tmp_path: Path) -> None:
    fitted = model("polynomial", "nystroem", n_components=9).fit_data(DATA)
    expected = fitted.predict(X)
    fitted.set_params(kernel="rbf", degree=5)
    again = rankviz.load(rankviz.save(fitted, tmp_path / "m"))
    assert again.feature_map_.kernel == Polynomial(0.4, 2, 0.5)
    np.testing.assert_array_equal(again.predict(X), expected)


@pytest.mark.parametrize(
    "kernel",
    [
        "polynomial",
        [],
        7,
        None,
        {"name": "polynomial"},
        {"name": "os.system", "settings": {}},
        {"name": ["rbf"], "settings": {}},
        {"name": "polynomial", "settings": {"degree": 2}},
        {"name": "polynomial", "settings": {"degree": 2.5, "coef0": 0.5}},
        {"name": "polynomial", "settings": {"degree": 2, "coef0": -0.5}},
        {"name": "polynomial", "settings": {"degree": 2, "coef0": float(2**60), "gamma": 3}}
        | {"settings": 3},
    ],
)
def test_other_descriptions_of_kernels_are_refused(kernel: object, tmp_path: Path) -> None:
    fitted = model("polynomial", "nystroem", n_components=9).fit_data(DATA)
    meta, arrays = npz.read_npz(rankviz.save(fitted, tmp_path / "m"), "model")
    with pytest.raises(DataError):
        rankviz.load(npz.write_npz(tmp_path / "wrong", meta | {"kernel": kernel}, arrays))
