"""Settings as objects: name, allowed values and spelling of each setting, declared once.

A `Setting` is declared beside what it belongs to. Constructor checks, run specs, addresses, the sidebar,
pins, captions and the documentation's tables all read it. An option (a feature map, a kernel, a solver, …)
declares its own settings in `settings`. So `active` finds all settings of a run: those of its method, then
those of the options chosen there, and so on.

See docs/decisions/0002-declare-do-not-guess.md.
"""

from __future__ import annotations

import json
import math
import numbers
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from rankviz.common.errors import SettingError
from rankviz.common.numbers import exact, power_of_two

_HALVES = re.compile("[\ud800-\udfff]")


class Domain(Protocol):
    """The values that a setting may have."""

    def check(self, name: str, value: object) -> None:
        """Raise `SettingError`, with the allowed values, for any other value."""
        ...

    def plain(self, value: Any) -> Any:
        """Return a checked value as a hashable Python value; equal settings give equal values."""
        ...

    @property
    def words(self) -> str:
        """Return the allowed values in words."""
        ...


@dataclass(frozen=True)
class Positive:
    """Positive finite numbers, and names that stand for one ("scale"); None too if it is `optional`."""

    names: tuple[str, ...] = ()
    optional: bool = False

    def check(self, name: str, value: object) -> None:
        """Raise `SettingError` for any other value."""
        if (isinstance(value, str) and value in self.names) or (value is None and self.optional):
            return
        if not 0 < as_float(value) < math.inf:
            raise SettingError(f"{name}={shown(value)} must be {self.words}")

    def plain(self, value: Any) -> Any:
        """Return a float, the name, or None."""
        return value if value is None or isinstance(value, str) else float(value)

    @property
    def words(self) -> str:
        """Return the allowed values in words."""
        others = [*map(repr, self.names), *(["None"] if self.optional else [])]
        return " or ".join(("a positive finite number", *others))


@dataclass(frozen=True)
class Real:
    """Finite numbers from `low` on."""

    low: float = -math.inf

    def check(self, name: str, value: object) -> None:
        """Raise `SettingError` for any other value."""
        if not self.low <= as_float(value) < math.inf or as_float(value) == -math.inf:
            raise SettingError(f"{name}={shown(value)} must be {self.words}")

    def plain(self, value: Any) -> float:
        """Return a float."""
        return float(value)

    @property
    def words(self) -> str:
        """Return the allowed values in words."""
        return "a finite number" + ("" if self.low == -math.inf else f" of at least {self.low:g}")


@dataclass(frozen=True)
class Share:
    """Numbers from 0 to 1; above 0 if it is `positive`."""

    positive: bool = False

    def check(self, name: str, value: object) -> None:
        """Raise `SettingError` for any other value."""
        number = as_float(value)
        if not 0 <= number <= 1 or (self.positive and number == 0):
            raise SettingError(f"{name}={shown(value)} must be {self.words}")

    def plain(self, value: Any) -> float:
        """Return a float."""
        return float(value)

    @property
    def words(self) -> str:
        """Return the allowed values in words."""
        return "a number above 0 and at most 1" if self.positive else "a number from 0 to 1"


@dataclass(frozen=True)
class Whole:
    """Whole numbers from `least` to `most`; None too if it is `optional`."""

    least: int = 1
    most: int | None = None
    optional: bool = False

    def check(self, name: str, value: object) -> None:
        """Raise `SettingError` for any other value."""
        if value is None and self.optional:
            return
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        most = math.inf if self.most is None else self.most
        if not whole or not self.least <= int(value) <= most:  # type: ignore[call-overload]
            raise SettingError(f"{name}={shown(value)} must be {self.words}")

    def plain(self, value: Any) -> int | None:
        """Return an int, or None."""
        return None if value is None else int(value)

    @property
    def words(self) -> str:
        """Return the allowed values in words."""
        upper = "" if self.most is None else f" and at most {self.most:,}"
        return f"a whole number of at least {self.least}{upper}" + (" or None" if self.optional else "")


def as_float(value: object) -> float:
    """Return a number as a float; NaN for other objects and for numbers beyond float64."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


@dataclass(frozen=True, eq=False)
class Choice:
    """The names of a registry, which may grow while the program runs."""

    options: Mapping[str, Any]

    def check(self, name: str, value: object) -> None:
        """Raise `SettingError` unless value is one of the names."""
        one_of(name, value, self.options)

    def plain(self, value: Any) -> str:
        """Return the name."""
        return str(value)

    @property
    def words(self) -> str:
        """Return the allowed values in words."""
        return f"one of {', '.join(map(repr, self.options))}"


@dataclass(frozen=True, eq=False)
class ChoiceOrObject(Choice):
    """The names of a registry, or an object of a kind that need not be in it.

    Estimators take objects; runs and files take names only, because they store names.

    Attributes
    ----------
    kind : type
        Class of the objects.
    base : str
        Dotted name of the class to derive from.
    declares : tuple of str
        Attributes that an object must have.
    """

    kind: type[Any]
    base: str
    declares: tuple[str, ...] = ()

    def check(self, name: str, value: object) -> None:
        """Raise `SettingError` unless value is one of the names, or an object of this kind."""
        if isinstance(value, str) and value in self.options:
            return
        if isinstance(value, type):
            raise SettingError(f"{name} is the class {value.__name__}; give an instance")
        if not isinstance(value, self.kind):
            raise SettingError(f"{name}={shown(value)} is not known; choose {self.words}")
        lacking = [attribute for attribute in self.declares if not hasattr(value, attribute)]
        if lacking:
            raise SettingError(
                f"{name}={shown(value)} does not define {', '.join(lacking)}; "
                f"see {self.base} for what they are"
            )

    def plain(self, value: Any) -> str:
        """Return the name; `SettingError` for an object."""
        if not isinstance(value, str):
            raise SettingError(
                f"{value!r} is an object, but runs and files store names; enter it in the registry, beside "
                f"{', '.join(map(repr, self.options))}, and give its name"
            )
        return value

    @property
    def words(self) -> str:
        """Valid values, in words."""
        return f"{super().words}, or give an object of a class derived from {self.base}"


@dataclass(frozen=True)
class Powers:
    """Powers of `base` with exponents from `low` to `high`, as in the papers."""

    low: int
    high: int
    base: int = 2


@dataclass(frozen=True)
class Steps:
    """Values of a list."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Typed:
    """A typed number between two ends."""

    low: float
    high: float
    step: float = 1


Offer = Powers | Steps | Typed | None


@dataclass(frozen=True, eq=False)
class Setting:
    """One setting.

    Attributes
    ----------
    name : str
        Name in run specs and, by default, of the estimator's parameter.
    symbol : str
        Its letter in formulas and captions ("γ"), or its name.
    label : str
        Label of its control.
    domain : Domain
        Its allowed values.
    default : object
        Value of a run that does not set it.
    help : str
        Its effect, in a sentence or two.
    key : str
        Short name in addresses and pins.
    offer : Powers, Steps, Typed or None
        Values that a page offers; None for all names of a choice, and for settings without a control.
    start : object
        Value that the app starts from, if it is not the default.
    caption : value -> str
        Text for a caption, "" for none; by default "symbol = value".
    quiet : bool
        True if captions leave out the default.
    named : bool
        True if captions put it beside its owner's name: "Nyström m = 500".
    how : bool
        True if it changes the computation only, not the objective: a solver, a tolerance.
    draws : bool
        True if it only selects a random draw, like a seed: runs that differ only in it are draws of one
        model.
    parameter : str or None
        Name of the estimator's parameter, if it differs; None without a parameter.
    """

    name: str
    symbol: str
    label: str
    domain: Domain
    default: Any
    help: str
    key: str = ""
    offer: Offer = None
    start: Any = None
    caption: Callable[[Any], str] | None = None
    quiet: bool = False
    named: bool = False
    how: bool = False
    draws: bool = False
    parameter: str | None = field(default="")

    def __post_init__(self) -> None:
        """Name the parameter like the setting by default."""
        if self.parameter == "":
            object.__setattr__(self, "parameter", self.name)

    def check(self, value: object) -> None:
        """Raise `SettingError` for an invalid value of the estimator's parameter."""
        self.domain.check(self.parameter or self.name, value)

    def checked(self, value: Any) -> Any:
        """Return the value as a Python value. Raises `SettingError` for an invalid one."""
        self.domain.check(self.name, value)
        return self.domain.plain(value)

    @property
    def options(self) -> Mapping[str, Any]:
        """Return the options of a choice by name; empty for other domains."""
        return self.domain.options if isinstance(self.domain, Choice) else {}

    @property
    def first(self) -> Any:
        """Return the value that the app starts from."""
        return self.default if self.start is None else self.start

    def settings_of(self, value: Any) -> tuple[Setting, ...]:
        """Return the settings that the chosen option declares."""
        if not isinstance(value, str) or value not in self.options:  # a list or an object may have no hash
            return ()
        return tuple(getattr(self.options[value], "settings", ()))

    def words(self, value: Any) -> str:
        """Return the setting for a caption; "" if it is quiet and has its default."""
        return "" if self.quiet and value == self.default else self.format(value)

    def format(self, value: Any) -> str:
        """Return the setting in words, also if captions leave it out."""
        if self.caption is not None:
            return self.caption(value)
        if value in self.options:
            return str(self.options[value].label)
        if isinstance(value, float):
            value = power_of_two(value) if isinstance(self.offer, Powers) else exact(value)
        return f"{self.symbol} = {value}"


def active(
    settings: Iterable[Setting], value_of: Callable[[Setting], Any], left_out: Iterable[Setting] = ()
) -> Iterator[tuple[Setting, Any]]:
    """Yield settings with their values, each followed by the settings of its chosen option; none twice.

    Settings `left_out` are skipped, also if an option declares them.
    """
    waiting, seen = list(settings), {setting.name for setting in left_out}
    seen -= {setting.name for setting in waiting}
    while waiting:
        setting = waiting.pop(0)
        if setting.name in seen:
            continue
        seen.add(setting.name)
        value = value_of(setting)
        waiting[:0] = setting.settings_of(value)
        yield setting, value


def every(settings: Iterable[Setting]) -> list[Setting]:
    """Return these settings and those of all their options, recursively; each once, in this order."""
    found: dict[Setting, None] = {}
    for setting in settings:
        found.setdefault(setting)
        for option in setting.options.values():
            if brought := getattr(option, "settings", ()):
                found |= dict.fromkeys(every(brought))
    return list(found)


def shown(value: object) -> str:
    """Return a value as in code, cut if it is long: files from others may hold any."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


LONGEST_SHOWN = 60
"""Most characters of a value in a sentence."""


def one_of(name: str, value: object, allowed: Iterable[str]) -> None:
    """Raise `SettingError` unless value is one of the allowed names."""
    names = tuple(allowed)
    if not isinstance(value, str) or value not in names:
        raise SettingError(f"{name}={shown(value)} is not known; choose one of {', '.join(map(repr, names))}")


def instance(name: str, value: object, kind: type[Any], what: str) -> None:
    """Raise `SettingError` unless value is of this kind, called `what`: "a ranker of rankviz"."""
    if not isinstance(value, kind):
        raise SettingError(f"{name} is of type {type(value).__name__}; it must be {what}")


def is_text(value: object, longest: int) -> bool:
    """Return True for a text of at most so many characters.

    JSON may contain half of a surrogate pair, which can neither be stored nor shown.
    """
    return isinstance(value, str) and len(value) <= longest and not _HALVES.search(value)


def listed(name: str, values: Any) -> list[Any]:
    """Return the values of a list or any other iterable; `SettingError` for a single value or a text."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise SettingError(f"{name} is of type {type(values).__name__}; it must be a list of values")
    return list(values)


LARGEST_SEED = 2**31 - 1

SEED = Setting(
    name="seed",
    symbol="seed",
    label="Seed",
    domain=Whole(least=0),
    default=0,
    help="Seed of random landmarks, frequencies and starts. Equal seeds give equal models.",
    key="seed",
    offer=Typed(0, LARGEST_SEED),
    caption=lambda seed: f"seed {seed}",
    draws=True,
    parameter="random_state",
)


def json_object(text: object, what: str) -> dict[str, Any]:
    """Return the object in a JSON text. Raises `SettingError`, with its name `what`, for any other text."""
    if not isinstance(text, str | bytes):
        raise SettingError(f"{what} is a JSON text, not {type(text).__name__}")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingError(f"{what} is a JSON object; this text cannot be read ({error})") from error
    if not isinstance(values, dict):
        raise SettingError(f"{what} is a JSON object, not {type(values).__name__}")
    return values
