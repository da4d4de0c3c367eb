"""Every setting of every method: its default, what it refuses, its words, its own name, the page of all."""

import json
import math
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import strangers

from rankviz import RunSpec
from rankviz.common.errors import SettingError
from rankviz.common.settings import (
    Choice,
    Positive,
    Powers,
    Real,
    Setting,
    Steps,
    Typed,
    Whole,
    active,
    every,
)
from rankviz.features import FEATURE_MAPS, FREQUENCIES, LANDMARKS
from rankviz.features.registry import FEATURE_MAP, FREQUENCY_CHOICE, LANDMARK_CHOICE
from rankviz.learning.pairs import COSTS, RULES
from rankviz.models.methods import METHODS, Method
from tools import settings_table

EVERY = {
    f"{name}: {s.name}{'' if s.key in ('', s.name) else f' ({s.key})'}": s
    for name, method in METHODS.items()
    for s in every(method.settings)
}
DISTINCT = list(dict.fromkeys(EVERY.values()))

each = pytest.mark.parametrize("setting", EVERY.values(), ids=EVERY)


def wrong(setting: Setting) -> list[object]:
    """Values that a setting of this domain may not have."""
    if setting.options:
        return ["nonsense", "", None, 3, ["x"]]
    if isinstance(setting.domain, Whole):
        most = [] if setting.domain.most is None else [setting.domain.most + 1]
        return [setting.domain.least - 1, 2.0, "5", True, 1.5, *most]
    if isinstance(setting.domain, Real):
        low = [] if setting.domain.low == -math.inf else [math.nextafter(setting.domain.low, -math.inf)]
        return [math.nan, math.inf, -math.inf, "x", None, True, 10**400, *low]
    if isinstance(setting.domain, Positive):
        return [0, -1.0, math.nan, math.inf, "x", None, True, 10**400]
    return [{}, [[1.0], ["a"]], "nonsense"]


@each
def test_counts_have_an_upper_bound(setting: Setting) -> None:
    """Pages predict the work of any valid setting, also of an import; its steps must end."""
    assert setting.draws or not isinstance(setting.domain, Whole) or setting.domain.most is not None


@each
def test_the_default_is_one_of_its_values(setting: Setting) -> None:
    for value in (setting.default, setting.first, *available(setting)):
        assert setting.checked(value) == setting.checked(setting.checked(value))
        hash(setting.checked(value))


def available(setting: Setting) -> list[object]:
    offer = setting.offer
    if isinstance(offer, Powers):
        return [float(offer.base) ** k for k in range(offer.low, offer.high + 1)]
    if isinstance(offer, Steps):
        return list(offer.values)
    if isinstance(offer, Typed):
        kind = int if isinstance(setting.domain, Whole) else float
        least = setting.domain.least if isinstance(setting.domain, Whole) else offer.low
        return [kind(max(offer.low, least)), kind(offer.high)]
    return list(setting.options)


@each
def test_a_value_out_of_its_range_is_refused_by_name_saying_what_would_do(setting: Setting) -> None:
    for value in wrong(setting):
        with pytest.raises(SettingError) as refused:
            setting.checked(value)
        assert setting.name in str(refused.value)
        assert all(words in str(refused.value) for words in would_do(setting))
        if setting.parameter is not None:
            with pytest.raises(SettingError, match=f"^{setting.parameter}"):
                setting.check(value)


def would_do(setting: Setting) -> list[str]:
    """Return the valid values that an error names."""
    if setting.name == "costs":
        return [repr(rule) for rule in RULES]
    return [*map(repr, setting.options)] if setting.options else [setting.domain.words]


@each
def test_what_is_there_for_a_page(setting: Setting) -> None:
    assert setting.label
    assert setting.symbol
    assert setting.help.endswith(".")
    assert setting.help[0].isalnum() or setting.help[0] == "κ"
    assert setting.key or setting.name in ("start", "preconditioner")  # pages choose these themselves
    assert all(getattr(option, "label", "") for option in setting.options.values())


@each
def test_values_survive_json(setting: Setting) -> None:
    for value in (setting.default, setting.first, *available(setting)):
        plain = setting.checked(value)
        assert setting.checked(json.loads(json.dumps(plain, allow_nan=False))) == plain


@each
def test_words(setting: Setting) -> None:
    for value in map(setting.checked, (setting.first, *available(setting))):
        assert isinstance(setting.words(value), str)
        quiet = setting.quiet and value == setting.default
        assert setting.words(value) == ("" if quiet else setting.format(value))
        if setting.caption is None:
            symbol = f"{setting.symbol} = "
            own = setting.options[value].label if value in setting.options else symbol
            assert setting.format(value).startswith(own)
    told = [setting.format(setting.checked(value)) for value in available(setting)]
    assert len(set(told)) == len(told) or set(told) == {""}


def test_no_two_settings_share_a_key() -> None:
    """In addresses and pins; a setting of the same name in another method has a key of its own."""
    assert max(Counter(setting.key for setting in DISTINCT if setting.key).values()) == 1
    assert not {setting.key for setting in DISTINCT} & {"dataset", "fold", "method", "part", "norm"}


def test_within_a_method_names_and_parameters_are_unique() -> None:
    for method in METHODS.values():
        settings = [s for s in every(method.settings) if s not in method.left_out]
        assert max(Counter(s.name for s in settings).values()) == 1
        assert max(Counter(s.parameter for s in settings if s.parameter is not None).values()) == 1
        assert all(s in every(method.settings) for s in method.left_out)


# --- domains ------------------------------------------------------------------------------------------------


def test_numbers_of_any_kind_become_pythons_own() -> None:
    positive, whole = Positive(names=("scale",)), Whole(optional=True)
    for value in (2, 2.0, np.float32(2), np.int64(2), Fraction(2)):
        positive.check("x", value)
        assert type(positive.plain(value)) is float
    assert positive.plain("scale") == "scale"
    for value in (2, np.int64(2), np.uint8(2)):
        whole.check("x", value)
        assert type(whole.plain(value)) is int
    whole.check("x", None)
    assert whole.plain(None) is None
    Real(low=0.0).check("x", 0)
    Real().check("x", -1e300)
    with pytest.raises(SettingError, match="x=-1 must be a finite number of at least 0"):
        Real(low=0.0).check("x", -1)
    with pytest.raises(
        SettingError, match="x=0 must be a whole number of at least 1 and at most 9,999 or None"
    ):
        Whole(1, 9999, optional=True).check("x", 0)
    with pytest.raises(SettingError, match="or 'scale'"):
        positive.check("x", "scales")


def test_long_values_are_cut_in_sentences() -> None:
    for setting, value in ((Whole(1, 9), 10**400), (Real(), "x" * 400), (Positive(), [1] * 400)):
        with pytest.raises(SettingError, match="… must be") as caught:
            setting.check("x", value)
        assert len(str(caught.value)) < 150


def test_costs_of_another_shape_are_refused() -> None:
    for value in (1, [1, 2]):
        with pytest.raises(
            SettingError, match=r"costs=a table of shape .* needs a row and a column for every"
        ):
            COSTS.checked(value)


def test_a_choice_follows_its_registry() -> None:
    registry = {"a": SimpleNamespace(label="A")}
    setting = Setting("pick", "pick", "Pick", Choice(registry), "a", "One of them.", "pick")
    with pytest.raises(SettingError, match="pick='b' is not known; choose one of 'a'"):
        setting.checked("b")
    registry["b"] = SimpleNamespace(label="B", settings=())
    assert setting.checked("b") == "b"
    assert setting.format("b") == "B"


@pytest.mark.parametrize(
    ("setting", "options"),
    [
        (LANDMARK_CHOICE, LANDMARKS),
        (FREQUENCY_CHOICE, FREQUENCIES),
        (FEATURE_MAP, FEATURE_MAPS),
        (COSTS, {name: rule for name, rule in RULES.items() if name != "grade_query"}),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_a_help_lists_every_option_with_its_own_meaning(setting: Setting, options: dict[str, Any]) -> None:
    for option in options.values():
        assert option.meaning
        assert f"{option.label}: {option.meaning}" in setting.help


def test_what_is_chosen_brings_its_settings_along_and_none_comes_twice() -> None:
    inner = Setting("size", "s", "Size", Whole(), 1, "How many.", "size")
    registry = {"big": SimpleNamespace(label="big", settings=(inner,)), "none": SimpleNamespace(label="none")}
    first, second = (
        Setting(name, name, name, Choice(registry), "big", "One of them.", name) for name in ("one", "two")
    )
    last = Setting("last", "l", "Last", Whole(), 1, "The last.", "last")
    names = [s.name for s, _ in active((first, second, last), lambda s: s.default)]
    assert names == ["one", "size", "two", "last"]
    values = {"one": "none", "two": "none", "last": 2}
    assert [s.name for s, _ in active((first, second, last), lambda s: values[s.name])] == list(values)
    assert [s.name for s, _ in active((first, last), lambda s: s.default, (inner,))] == ["one", "last"]
    assert "size" in [s.name for s, _ in active((first, inner), lambda s: s.default, (inner,))]
    assert every((first, second)) == [first, inner, second]


# --- in runs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_says_nothing_has_the_defaults(method: str) -> None:
    spec = RunSpec("demo", method=method)
    assert spec.values == {name: s.checked(s.default) for name, s in spec.declared().items()}
    assert list(spec.values) == [s.name for s, _ in METHODS[method].active(lambda s: s.default)]


@pytest.mark.parametrize("method", METHODS)
def test_a_run_refuses_what_a_setting_refuses(method: str) -> None:
    spec = RunSpec("demo", method=method)
    for name, setting in spec.declared().items():
        for value in wrong(setting):
            with pytest.raises(SettingError, match=name):
                RunSpec("demo", method=method, **{name: value})
            with pytest.raises(SettingError, match=name):
                spec.but(**{name: value})


WIDTH = Setting("width", "w|h", "Width", Whole(), 3, "Of the stranger.", key="width", offer=Steps((1, 3)))


def test_the_page_is_up_to_date() -> None:
    written = settings_table.TARGET.read_text(encoding="utf-8")
    assert written == settings_table.table(), "run: python -m tools.settings_table"


def test_a_new_setting_comes_into_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    mood = Setting("mood", "mood", "Mood", Choice({"good": strangers.LOSS}), "good", "Of it.")
    monkeypatch.setitem(METHODS, "odd", Method("odd one", strangers.FeatureMean, (WIDTH, mood)))
    rows = settings_table.table().splitlines()
    values = "a whole number of at least 1; the app offers 1, 3"
    assert f"| `width` | w\\|h | Width | {values} | `3` | `width` | odd one | Of the stranger. |" in rows
    assert "| `mood` | mood | Mood | `good` (exponential) | `good` | – | odd one | Of it. |" in rows


def test_every_setting_is_there_once_with_its_readers() -> None:
    names = [setting.name for setting in settings_table.settings()]
    for method in METHODS.values():
        assert {setting.name for setting in method.settings} <= set(names)
    assert {"degree", "gamma", "rank", "preconditioner", "normalisation", "baseline_C"} <= set(names)
    assert len(settings_table.settings()) == len({id(one) for one in settings_table.settings()})
