"""Runs of the Convergence page: valid combinations, and labels."""

from __future__ import annotations

from itertools import product

from rankviz.common.errors import SettingError
from rankviz.learning.solver_settings import PRECONDITIONER, PRECONDITIONERS
from rankviz.learning.solvers import SolverChoice
from rankviz.runs.spec import RunSpec

PLAIN = next(name for name, kind in PRECONDITIONERS.items() if not kind.used)


def from_zero(spec: RunSpec) -> RunSpec:
    """Return the same run from zero, so that its trace is complete."""
    return spec.but(start="zero") if "start" in spec else spec


def plain_of(spec: RunSpec) -> RunSpec | None:
    """Return the same run without its preconditioner; None if it has none."""
    reads = spec.declared().get(PRECONDITIONER.name) is PRECONDITIONER
    return spec.but(preconditioner=PLAIN) if reads and spec.preconditioner != PLAIN else None


def go_together(
    spec: RunSpec, losses: list[str], solvers: list[str], Cs: list[float]
) -> tuple[list[RunSpec], list[str]]:
    """Return the sidebar's spec with every further loss, solver and C, itself first; and those left out."""
    further = {"loss": losses, "solver": solvers, "C": Cs}
    names = [name for name in further if name in spec]
    chosen = [
        spec.but(**dict(zip(names, values, strict=True)))
        for values in product(*([spec.get(name), *further[name]] for name in names))
    ]
    left_out = dict.fromkeys(filter(None, map(refusal, chosen)))
    return [one for one in chosen if not refusal(one)], list(left_out)


def refusal(spec: RunSpec) -> str:
    """Explain why a run's choices cannot be combined; "" if they can."""
    try:
        spec.kind.check(spec.values)
    except SettingError as error:
        loss, solver = spec.option("loss"), spec.option("solver")
        lacking = solver.lacks(loss) if isinstance(solver, SolverChoice) and loss is not None else []
        if not lacking:
            return str(error)
        return f"{loss.label} with {solver.label}, which needs a loss with {' and '.join(lacking)}"
    return ""
