"""RunSpec: everything that determines the result of a run, as a frozen value that is also JSON.

See docs/decisions/0013-a-run-is-a-value.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

from rankviz.common.errors import SettingError
from rankviz.common.settings import Setting, instance, is_text, json_object
from rankviz.datasets.normalise import check_normalisation
from rankviz.datasets.samples import Sample
from rankviz.features import EXACT, LINEAR
from rankviz.learning.losses import LOSS
from rankviz.learning.solvers import SOLVER, suitable_solver
from rankviz.models.low_rank_settings import DUAL_SOLVER, FACTOR_SOLVER
from rankviz.models.methods import METHODS, USUAL, Capabilities, Method, check_method

LONGEST_NAME = 1000
"""Most characters of the names of a data set and a fold."""


@dataclass(frozen=True)
class DataSpec:
    """The data of a run.

    Attributes
    ----------
    dataset, fold : str
        Names as `find_datasets` lists them, for example "OHSUMED" and "Fold1".
    digest : str
        Digest of the fold as read, before normalisation; "" accepts any.
    normalisation : str
        A name in `rankviz.datasets.NORMALISATIONS`.
    share, flipped, draw
        The sample of the training part (see `rankviz.datasets.samples.Sample`).
    """

    dataset: str
    fold: str = "Fold1"
    digest: str = ""
    normalisation: str = "none"
    share: float = Sample.share
    flipped: float = Sample.flipped
    draw: int = Sample.draw

    def __post_init__(self) -> None:
        """Check types and the normalisation; the data folders determine which data sets and folds exist."""
        for name in _NAMES:
            if not is_text(getattr(self, name), LONGEST_NAME):
                raise SettingError(f"{name}={getattr(self, name)!r:.60} must be a short text")
        check_normalisation(self.normalisation)
        checked = self.sample
        for name in _SAMPLE:
            object.__setattr__(self, name, getattr(checked, name))

    @property
    def sample(self) -> Sample:
        """The sample of the training part."""
        return Sample(self.share, self.flipped, self.draw)

    @property
    def whole(self) -> Self:
        """The same data, without sampling."""
        return replace(self, **{name: getattr(Sample, name) for name in _SAMPLE})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; include the sample only if one is drawn."""
        return {name: getattr(self, name) for name in _NAMES} | self.sample.values


def _read_data(data: DataSpec, method: str) -> DataSpec:
    """Return the data that a method reads: given scores depend on neither normalisation nor sample."""
    if METHODS[method].trains:
        return data
    return replace(data.whole, normalisation=DataSpec.normalisation)


_SAMPLE = tuple(f.name for f in fields(Sample))
_DATA = tuple(f.name for f in fields(DataSpec))
_NAMES = tuple(name for name in _DATA if name not in _SAMPLE)


@dataclass(frozen=True, init=False, repr=False)
class RunSpec:
    """One training run: data, method and the settings of that method. Equal specs give equal results.

    `RunSpec("OHSUMED", "Fold1", feature_map="nystroem", n_components=500)`: settings are given by name, have
    defaults, and are attributes. A spec has only the settings that its method and choices read: a linear
    model has no γ. `settings` lists them.

    Parameters
    ----------
    dataset, fold, digest, normalisation : str
        See `DataSpec`.
    method : str
        A name in `rankviz.models.methods.METHODS`.
    share, flipped, draw
        The sample of the training part (see `rankviz.datasets.samples`): by default all of it.
    **settings
        Settings of the method. Raises `SettingError` for an unread one or an invalid value.

    Attributes
    ----------
    data : DataSpec
    method : str
    settings : tuple of (str, value)
        Sorted by name.
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
        check_method(method)
        values = METHODS[method].resolve(given)
        object.__setattr__(self, "data", _read_data(data, method))
        object.__setattr__(self, "method", method)
        object.__setattr__(self, "settings", tuple(sorted(values.items())))
        object.__setattr__(self, "_values", values)

    def __repr__(self) -> str:
        given = self.data.to_dict() | {"method": self.method} | self._values
        return f"RunSpec({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def __getattr__(self, name: str) -> Any:
        """Return a setting or a field of the data. Raises AttributeError if this run has none."""
        if name in _DATA:
            return getattr(self.__dict__["data"], name)
        values = self.__dict__.get("_values", {})
        if name not in values:
            raise AttributeError(f"this run has no setting {name!r}; it has {', '.join(values)}")
        return values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return a setting, or the default if this run has none of that name."""
        return self._values.get(name, default)

    def __contains__(self, name: str) -> bool:
        """Return True if the run has a setting of this name."""
        return name in self._values

    @property
    def values(self) -> dict[str, Any]:
        """Settings by name, in the order of captions."""
        return dict(self._values)

    @property
    def sample(self) -> Sample:
        """The sample of the training part."""
        return self.data.sample

    @property
    def kind(self) -> Method:
        """Its method's declaration."""
        return METHODS[self.method]

    @property
    def offers(self) -> Capabilities:
        """Capabilities of its fitted model beside scores."""
        return self.kind.offers(self._values)

    def declared(self) -> Mapping[str, Setting]:
        """Return its settings as objects, by name; found once, because a page asks hundreds of times."""
        found: Mapping[str, Setting] | None = self.__dict__.get("_declared")
        if found is None:
            found = {s.name: s for s, _ in self.kind.active(lambda s: self._values[s.name])}
            object.__setattr__(self, "_declared", found)
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy in another process needs: settings as objects cannot be sent there."""
        return {name: value for name, value in self.__dict__.items() if name != "_declared"}

    def but(self, **changes: Any) -> Self:
        """Return the run with other data, method or settings.

        Settings that it no longer reads are removed, and newly read ones get their defaults. Raises
        `SettingError` for a change that it does not read.
        """
        data = {name: changes.pop(name) for name in _DATA if name in changes}
        method = changes.pop("method", self.method)
        check_method(method)
        other, moved = object.__new__(type(self)), replace(self.data, **data) if data else self.data
        before = self.declared()
        if method == self.method and changes.keys() <= before.keys():
            checked = {name: before[name].checked(value) for name, value in changes.items()}
            if all(
                before[n].settings_of(v) == before[n].settings_of(self._values[n]) for n, v in checked.items()
            ):  # the same settings are read
                values = self._values | checked
                other.__dict__.update(
                    data=_read_data(moved, method),
                    method=method,
                    settings=tuple(sorted(values.items())),
                    _values=values,
                    _declared=before,
                )
                return other

        def value_of(setting: Setting) -> Any:
            if setting.name in changes:
                return setting.checked(changes[setting.name])
            kept = before.get(setting.name) is setting
            return self._values[setting.name] if kept else setting.default

        kept = {setting.name: value for setting, value in METHODS[method].active(value_of)}
        other._set(moved, method, kept | changes)
        return other

    def linear(self, C: float) -> Self:
        """Return the linear model on the same data, the baseline of every kernel."""
        return self.but(method=USUAL, feature_map=LINEAR, C=C)

    def exact(self) -> Self:
        """Return the exact kernel's model on the same data."""
        return self.but(method=USUAL, feature_map=EXACT)

    def factorized(self, factors: int, C: float, solver: str = FACTOR_SOLVER.default) -> Self:
        """Return the factorised model on the same data and features (xu2019 §5.1)."""
        return self.but(method="factorized", factors=factors, C=C, solver=solver)

    def regularized(
        self, nuclear: float, coupling: float, C: float, solver: str = DUAL_SOLVER.default
    ) -> Self:
        """Return the regularised model on the same data and features (xu2019 §5.2)."""
        return self.but(method="regularized", nuclear=nuclear, coupling=coupling, C=C, solver=solver)

    def option(self, name: str) -> Any:
        """Return the registry entry chosen for a setting; None if the run has no such setting."""
        return self.declared()[name].options[self._values[name]] if name in self else None

    @property
    def problem(self) -> tuple[object, ...]:
        """Key of the minimisation problem: data, method and the settings that change its solution.

        Settings of the way only are left out, also those that only another way adds, such as a solver's seed.
        """
        usual = self._usual_way()
        declared = usual.declared()
        kept = tuple(pair for pair in usual.settings if not declared[pair[0]].how)
        return self.data, self.method, kept

    def reference(self, tol: float) -> Self:
        """Return the most exact run of the same problem: by the default way, to a tolerance."""
        first, loss = self._usual_way(), self.option(LOSS.name)
        if loss is not None and first.declared().get(SOLVER.name) is SOLVER:
            first = first.but(solver=suitable_solver(loss))
        return first.but(tol=tol) if "tol" in first else first

    def _usual_way(self) -> Self:
        """Return the run with defaults for every setting that changes only the way."""
        read, own = METHODS[self.method], self.declared()

        def value_of(setting: Setting) -> Any:
            kept = own.get(setting.name) is setting and not setting.how
            return self._values[setting.name] if kept else setting.default

        usual = {setting.name: value for setting, value in read.active(value_of)}
        other = object.__new__(type(self))
        other._set(self.data, self.method, usual)
        return other

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as plain values, for JSON."""
        return {"data": self.data.to_dict(), "method": self.method, "settings": dict(self.settings)}

    def to_json(self) -> str:
        """Return the spec as JSON text with sorted keys, the same for equal specs."""
        return json.dumps(self.to_dict(), sort_keys=True, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the text of `to_json`.

        Raises ValueError with the name of a field that is missing, unknown or of a wrong type.
        """
        return cls.from_dict(json_object(text, "a run spec"))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Build a spec from `to_dict`; raises as `from_json`."""
        instance("a run spec", values, Mapping, "an object with data, method and settings")
        if set(values) != {"data", "method", "settings"}:
            found = ", ".join(map(repr, values)) or "nothing"
            raise ValueError(f"a run spec needs data, method and settings; this one has {found}")
        data, settings = values["data"], values["settings"]
        if not isinstance(data, Mapping) or not isinstance(settings, Mapping):
            raise ValueError("data and settings of a run spec are JSON objects")
        strangers = sorted(set(data) - set(_DATA))
        if strangers or "dataset" not in data:
            raise ValueError(f"the data of a run spec have {', '.join(_DATA)}; 'dataset' is needed")
        spec = object.__new__(cls)
        spec._set(DataSpec(**data), values["method"], settings)
        return spec

    @cached_property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that name the spec."""
        return hashlib.blake2b(self.to_json().encode(), digest_size=8).hexdigest()
