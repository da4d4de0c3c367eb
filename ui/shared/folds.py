"""The choice between the sidebar's fold and all folds of its data set."""

from __future__ import annotations

from streamlit.delta_generator import DeltaGenerator

from rankviz.runs.spec import RunSpec
from ui.shared.runs import datasets

THIS, ALL = "this fold", "all folds"


def chosen_folds(row: DeltaGenerator, spec: RunSpec, *, default: str, key: str, told: str) -> tuple[str, ...]:
    """Draw the control, with its default and `told` as help; return the chosen folds."""
    found = tuple(datasets()[spec.dataset].folds)
    scope = row.segmented_control(
        "Folds",
        [default, ALL if default == THIS else THIS],
        default=default,
        required=True,
        key=key,
        bind="query-params",
        disabled=len(found) < 2,
        help=told,
    )
    return found if scope == ALL and len(found) > 1 else (spec.fold,)
