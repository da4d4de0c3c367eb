"""RunSpec: everything that decides what a run computes, as a frozen value that is also JSON.

See docs/decisions/0013-a-run-is-a-value.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from rankviz.common.errors import SettingError
from rankviz.common.json_text import json_object
from rankviz.common.settings import Setting, instance, one_of
from rankviz.features import EXACT, LINEAR
from rankviz.models.low_rank.settings import DUAL_SOLVER, FACTOR_SOLVER
from rankviz.models.methods import METHODS, USUAL, Method
from rankviz.models.offers import Offers
from rankviz.whatif.samples import Sample


@dataclass(frozen=True)
class DataSpec:
    """Which data a run learns from.

    Attributes
    ----------
    dataset, fold : str
        Names as `find_datasets` lists them, for example "OHSUMED" and "Fold1".
    digest : str
        Digest of the fold as read, before normalisation; "" accepts whatever is found.
    normalisation : str
        A name in `rankviz.datasets.NORMALISATIONS`.
    share, flipped, draw
        What of the training part it learns from (see `rankviz.whatif.samples.Sample`).
    """

    dataset: str
    fold: str = "Fold1"
    digest: str = ""
    normalisation: str = "none"
    share: float = Sample.share
    flipped: float = Sample.flipped
    draw: int = Sample.draw

    def __post_init__(self) -> None:
        """Names are texts; which of them exist, only the data folders know."""
        for name in _NAMES:
            if not isinstance(getattr(self, name), str):
                raise SettingError(f"{name}={getattr(self, name)!r} must be a text")
        for name in _SAMPLE:
            object.__setattr__(self, name, getattr(self.sample, name))

    @property
    def sample(self) -> Sample:
        """What of the training part is learned from."""
        return Sample(self.share, self.flipped, self.draw)

    @property
    def whole(self) -> Self:
        """The same data, all of it learned from."""
        return replace(self, **{name: getattr(Sample, name) for name in _SAMPLE})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; a sample is there only where one is drawn."""
        return {name: getattr(self, name) for name in _NAMES} | self.sample.values


_SAMPLE = tuple(f.name for f in fields(Sample))
_DATA = tuple(f.name for f in fields(DataSpec))
_NAMES = tuple(name for name in _DATA if name not in _SAMPLE)


@dataclass(frozen=True, init=False, repr=False)
class RunSpec:
    """One training run: data, method and the settings of that method. Equal specs give equal results.

    `RunSpec("OHSUMED", "Fold1", feature_map="nystroem", n_components=500)`: settings are given by name, have
    defaults, and are attributes. A spec has those that its method and what is chosen there read, and no
    others: a linear model has no γ. Which there are, `settings` says.

    Parameters
    ----------
    dataset, fold, digest, normalisation : str
        See `DataSpec`.
    method : str
        A name in `rankviz.models.methods.METHODS`.
    share, flipped, draw
        What of the training part is learned from (see `rankviz.whatif.samples`): by default all of it.
    **settings
        Settings of the method. Raises `SettingError` for one that it does not read, or out of range.

    Attributes
    ----------
    data : DataSpec
    method : str
    settings : tuple of (str, value)
        In the order of their names.
    """

    data: DataSpec
    method: str
    settings: tuple[tuple[str, Any], ...]
    _values: dict[str, Any] = field(compare=False)

    def __init__(
        self,
        dataset: str,
        fold: str = "Fold1",
        digest: str = "",
        normalisation: str = "none",
        *,
        method: str = USUAL,
        share: float = Sample.share,
        flipped: float = Sample.flipped,
        draw: int = Sample.draw,
        **settings: Any,
    ) -> None:
        data = DataSpec(dataset, fold, digest, normalisation, share, flipped, draw)
        self._set(data, method, settings)

    def _set(self, data: DataSpec, method: str, given: Mapping[str, Any]) -> None:
        one_of("method", method, METHODS)
        values = METHODS[method].resolve(given)
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "method", method)
        object.__setattr__(self, "settings", tuple(sorted(values.items())))
        object.__setattr__(self, "_values", values)

    def __repr__(self) -> str:
        given = self.data.to_dict() | {"method": self.method} | self._values
        return f"RunSpec({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def __getattr__(self, name: str) -> Any:
        """A setting, or one of the names of the data; AttributeError where this run has no such setting."""
        if name in _DATA:
            return getattr(self.__dict__["data"], name)
        values = self.__dict__.get("_values", {})
        if name not in values:
            raise AttributeError(f"this run has no setting {name!r}; it has {', '.join(values)}")
        return values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """A setting, or the default where this run has none of that name."""
        return self._values.get(name, default)

    def __contains__(self, name: str) -> bool:
        """Whether the run has a setting of this name."""
        return name in self._values

    @property
    def values(self) -> dict[str, Any]:
        """Settings by name, in the order in which captions tell them."""
        return dict(self._values)

    @property
    def sample(self) -> Sample:
        """What of the training part it learns from."""
        return self.data.sample

    @property
    def kind(self) -> Method:
        """What its method declares."""
        return METHODS[self.method]

    @property
    def offers(self) -> Offers:
        """What its fitted model offers beside scores."""
        return self.kind.offers(self._values)

    def declared(self) -> dict[str, Setting]:
        """The settings it has, as objects, by name."""
        return {s.name: s for s, _ in self.kind.active(lambda s: self._values[s.name])}

    def but(self, **changes: Any) -> Self:
        """The same run with other data, method or settings.

        What the changed run does not read any more goes, what it reads anew has its default; a change that
        it does not read raises `SettingError`.
        """
        data = {name: changes.pop(name) for name in _DATA if name in changes}
        method = changes.pop("method", self.method)
        one_of("method", method, METHODS)
        before = self.declared()

        def value_of(setting: Setting) -> Any:
            if setting.name in changes:
                return setting.checked(changes[setting.name])
            kept = before.get(setting.name) is setting
            return self._values[setting.name] if kept else setting.default

        kept = {setting.name: value for setting, value in METHODS[method].active(value_of)}
        other = object.__new__(type(self))
        other._set(replace(self.data, **data), method, kept | changes)
        return other

    def linear(self, C: float) -> Self:
        """The linear model on the same data: the baseline of every kernel."""
        return self.but(method=USUAL, feature_map=LINEAR, C=C)

    def exact(self) -> Self:
        """The model of the exact kernel on the same data."""
        return self.but(method=USUAL, feature_map=EXACT)

    def factorized(self, factors: int, C: float, solver: str = FACTOR_SOLVER.default) -> Self:
        """The factorised model on the same data and features (xu2019 §5.1)."""
        return self.but(method="factorized", factors=factors, C=C, solver=solver)

    def regularized(
        self, nuclear: float, coupling: float, C: float, solver: str = DUAL_SOLVER.default
    ) -> Self:
        """The regularised model on the same data and features (xu2019 §5.2)."""
        return self.but(method="regularized", nuclear=nuclear, coupling=coupling, C=C, solver=solver)

    def option(self, name: str) -> Any:
        """What is chosen for a setting: the entry of its registry; None where the run has no such setting."""
        return self.declared()[name].options[self._values[name]] if name in self else None

    @property
    def problem(self) -> tuple[object, ...]:
        """What is minimised: data, method and settings without those that change the way only.

        Nor what only another way brings along, such as the seed of a stochastic solver.
        """
        usual = self._usual_way()
        declared = usual.declared()
        kept = tuple(pair for pair in usual.settings if not declared[pair[0]].how)
        return self.data, self.method, kept

    def reference(self, tol: float) -> Self:
        """The run that comes nearest to the end of the same problem: by the usual way, to a tolerance."""
        first = self._usual_way()
        return first.but(tol=tol) if "tol" in first else first

    def _usual_way(self) -> Self:
        """The same with the default of every setting that changes the way only."""
        read, own = METHODS[self.method], self.declared()

        def value_of(setting: Setting) -> Any:
            kept = own.get(setting.name) is setting and not setting.how
            return self._values[setting.name] if kept else setting.default

        usual = {setting.name: value for setting, value in read.active(value_of)}
        other = object.__new__(type(self))
        other._set(self.data, self.method, usual)
        return other

    def to_dict(self) -> dict[str, Any]:
        """The spec as plain values, for JSON."""
        return {"data": self.data.to_dict(), "method": self.method, "settings": dict(self.settings)}

    def to_json(self) -> str:
        """The spec as JSON text with sorted keys: the same text for equal specs."""
        return json.dumps(self.to_dict(), sort_keys=True, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote; ValueError names a field that is missing, unknown or mistyped.

        `SettingError`, a ValueError, for a text that is no JSON object.
        """
        return cls.from_dict(json_object(text, "a run spec"))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Build from what `to_dict` gave; see `from_json`."""
        instance("a run spec", values, Mapping, "an object with data, method and settings")
        if set(values) != {"data", "method", "settings"}:
            found = ", ".join(map(repr, values)) or "nothing"
            raise ValueError(f"a run spec has data, method and settings, this one has {found}")
        data, settings = values["data"], values["settings"]
        if not isinstance(data, Mapping) or not isinstance(settings, Mapping):
            raise ValueError("data and settings of a run spec are JSON objects")
        strangers = sorted(set(data) - set(_DATA))
        if strangers or "dataset" not in data:
            raise ValueError(f"the data of a run spec have {', '.join(_DATA)}; 'dataset' is needed")
        spec = object.__new__(cls)
        spec._set(DataSpec(**data), values["method"], settings)
        return spec

    @property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that name the spec."""
        return hashlib.blake2b(self.to_json().encode(), digest_size=8).hexdigest()
