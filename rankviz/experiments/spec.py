"""RunSpec: everything that decides what a run computes, as a frozen value that is also JSON."""

from __future__ import annotations

import hashlib
import json
import operator
import sys
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from rankviz.risk.costs import frozen_costs

STARTS = ("near", "zero")
"""What training may start from; see `RunSpec.start`."""

LOW_RANK_TOL = 1e-3
"""Tolerance of the factorised and the regularised model."""


@dataclass(frozen=True)
class RunSpec:
    """One training run: data, model, solver, seed. Equal specs give equal results, to the tolerance.

    Attributes
    ----------
    dataset, fold : str
        Names as `find_datasets` lists them, for example "OHSUMED" and "Fold1".
    digest : str
        Digest of the fold as read, before normalisation; "" accepts whatever is found.
    normalisation : str
        A name in `rankviz.datasets.NORMALISATIONS`.
    feature_map : str
        "linear", "nystroem", "fourier" or "exact".
    n_components : int
        m.
    C, gamma : float
        C multiplies the plain loss; γ of the RBF kernel.
    loss : str
        A name in `rankviz.risk.losses.LOSSES`.
    seed : int
        Of landmarks, frequencies and the preconditioner's pairs.
    tol : float
        Newton decrement over objective at which training stops; for other solvers see them.
    rank : int or None
        Nyström only: eigenvalues kept.
    preconditioner : str
        "auto", or "none" for plain conjugate gradients.
    landmarks : str
        Nyström only: "uniform" or "kmeans++".
    frequencies : str
        Random Fourier only: "gaussian" or "orthogonal".
    start : str
        "near" may start from the weights of a neighbouring run that is made with it, which is faster;
        "zero" starts from zero, so that its trace shows all of the way.
    costs : None, str or nested tuple
        What pairs cost: None, a name in `rankviz.risk.costs.RULES`, a table, or ("query", a table).
    solver : str
        A name in `rankviz.solvers.registry.SOLVERS`, or for other methods one of their own.
    method : str
        "ranksvm", "factorized" or "regularized" (see `rankviz.experiments.methods.METHODS`). The last two
        train the hinge.
    factors : int
        Factorised: K.
    nuclear, coupling : float
        Regularised: weights of the nuclear norm and of the distance between α and A.
    """

    dataset: str
    fold: str = "Fold1"
    digest: str = ""
    normalisation: str = "none"
    feature_map: str = "nystroem"
    n_components: int = 500
    C: float = 2.0**-7
    gamma: float = 2.0**-6
    loss: str = "squared_hinge"
    seed: int = 0
    tol: float = 1e-6
    rank: int | None = None
    preconditioner: str = "auto"
    landmarks: str = "uniform"
    frequencies: str = "gaussian"
    start: str = "near"
    costs: str | tuple[object, ...] | None = None
    solver: str = "newton"
    method: str = "ranksvm"
    factors: int = 5
    nuclear: float = 1.0
    coupling: float = 10.0

    def __post_init__(self) -> None:
        """Make floats of whole numbers and Python's of NumPy's: equal specs have equal text."""
        for name in ("C", "gamma", "tol", "nuclear", "coupling"):
            object.__setattr__(self, name, float(getattr(self, name)))
        for name in ("n_components", "seed", "rank", "factors"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, operator.index(getattr(self, name)))
        object.__setattr__(self, "costs", frozen_costs(self.costs))

    def to_json(self) -> str:
        """The spec as JSON text with sorted keys: the same text for equal specs."""
        return json.dumps(asdict(self), sort_keys=True, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote; ValueError names a field that is missing, unknown or mistyped."""
        values = json.loads(text)
        if not isinstance(values, dict):
            raise ValueError("a run spec is a JSON object")
        return cls.from_dict(values)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Build from a mapping of field names; see `from_json`."""
        types = {f.name: f.type for f in fields(cls)}
        unknown = sorted(set(values) - set(types))
        if unknown:
            raise ValueError(f"unknown field {unknown[0]!r}; a run spec has {', '.join(types)}")
        if "dataset" not in values:
            raise ValueError("a run spec names its 'dataset'")
        for name, value in values.items():
            if not _fits(value, str(types[name])):
                raise ValueError(f"field {name!r} is {value!r}, expected {types[name]}")
        return cls(**values)

    @property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that name the spec."""
        return hashlib.blake2b(self.to_json().encode(), digest_size=8).hexdigest()

    def factorized(self, factors: int, C: float, solver: str = "lbfgs") -> Self:
        """The factorised model on the same data and features (xu2019 §5.1)."""
        return replace(self._low_rank(C), method="factorized", factors=factors, solver=solver)

    def regularized(self, nuclear: float, coupling: float, C: float, solver: str = "fista") -> Self:
        """The regularised model on the same data and features (xu2019 §5.2)."""
        shared = replace(self._low_rank(C), method="regularized", solver=solver)
        return replace(shared, nuclear=nuclear, coupling=coupling)

    def _low_rank(self, C: float) -> Self:
        """What low-rank models do not know is put aside; they train the hinge, to their own tolerance."""
        plain = replace(self, C=C, loss="hinge", costs=None, rank=None, preconditioner="auto", start="zero")
        return replace(plain, tol=LOW_RANK_TOL)

    def linear(self, C: float) -> Self:
        """The linear baseline on the same data: no kernel, so no m, γ, rank, choices or seed of its own."""
        return replace(self.exact(), feature_map="linear", gamma=1.0, C=C)

    def exact(self) -> Self:
        """The exact kernel on the same data: nothing is drawn, so no m, rank, choices or seed of its own."""
        plain = replace(self, landmarks=type(self).landmarks, frequencies=type(self).frequencies)
        return replace(plain, feature_map="exact", n_components=1, rank=None, seed=0)


def _fits(value: object, kind: str) -> bool:
    if value is None:
        return "None" in kind
    if isinstance(value, bool):
        return False
    if "tuple" in kind:
        return isinstance(value, str | list | tuple)
    if kind.startswith("int"):
        return isinstance(value, int)
    if kind == "float":
        return isinstance(value, int | float) and abs(value) <= sys.float_info.max
    return isinstance(value, str)
