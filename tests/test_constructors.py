"""Every constructor parameter is checked by its setting, before anything is computed."""

import inspect
import re

import numpy as np
import pytest
from conftest_solvers import DATA

from rankviz import FactorizedRankSVM, RankSVM, RegularizedRankSVM
from rankviz.common.errors import SettingError
from rankviz.common.settings import SEED, Whole, every
from rankviz.features.registry import KERNEL
from rankviz.learning.memory import MEMORY_LIMIT
from rankviz.learning.solvers import MAX_ITER

RANKERS = (RankSVM, FactorizedRankSVM, RegularizedRankSVM)
each = pytest.mark.parametrize("ranker", RANKERS)


def settings_of(ranker: type) -> dict[str, object]:
    """Parameter -> the setting that checks it."""
    declared = (s for s in every((*ranker.settings, MAX_ITER, MEMORY_LIMIT)) if s not in ranker.left_out)
    return {s.parameter: s for s in declared if s.parameter is not None}


@each
def test_every_parameter_has_a_setting(ranker: type) -> None:
    parameters = set(inspect.signature(ranker).parameters)
    assert parameters - set(settings_of(ranker)) - {SEED.parameter} == set()


@each
@pytest.mark.parametrize("wrong", [-1, 0, 1.5, "x", np.nan, np.inf, 1j, (), None, True])
def test_a_value_out_of_range_is_refused_with_the_words_of_its_setting(ranker: type, wrong: object) -> None:
    for parameter in inspect.signature(ranker).parameters:
        setting = settings_of(ranker)[parameter]
        try:
            setting.check(wrong)
        except SettingError as refused:
            words = re.escape(str(refused))
        else:
            continue
        words = f"random_state={re.escape(repr(wrong))}" if setting is SEED else words
        if setting is SEED and (wrong is None or wrong is True):
            continue  # None draws a seed, as scikit-learn has it, and True is one
        with pytest.raises(SettingError, match=words):
            ranker(**{parameter: wrong}).fit_data(DATA)


@each
def test_numbers_of_numpy_will_do(ranker: type) -> None:
    plain = ranker(C=0.25, tol=1e-3, max_iter=20, n_components=5, feature_map="nystroem").fit_data(DATA)
    numpys = {"C": np.float64(0.25), "tol": np.float64(1e-3), "max_iter": np.int64(20)}
    other = ranker(**numpys, n_components=np.int32(5), feature_map="nystroem").fit_data(DATA)
    np.testing.assert_array_equal(other.coef_, plain.coef_)


@each
def test_what_the_choices_made_do_not_read_is_checked_all_the_same(ranker: type) -> None:
    for change in ({"n_components": 0}, {"landmarks": "x"}, {"kernel": "x"}, {"degree": 0}):
        with pytest.raises(SettingError, match=f"{next(iter(change))}="):
            ranker(feature_map="linear", **change).fit_data(DATA)
    assert KERNEL.parameter in settings_of(ranker)


def test_rank_is_what_it_means_for_each() -> None:
    assert isinstance(settings_of(RankSVM)["rank"].domain, Whole)
    assert settings_of(RankSVM)["rank"].domain.optional
    assert not settings_of(FactorizedRankSVM)["rank"].domain.optional
    assert "rank" not in settings_of(RegularizedRankSVM)
    with pytest.raises(SettingError, match="rank=None must be a whole number of at least 1"):
        FactorizedRankSVM(rank=None).fit_data(DATA)
    RankSVM(rank=None).fit_data(DATA)
