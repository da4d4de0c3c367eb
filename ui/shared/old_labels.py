"""What options of menus were called in earlier versions: the address has labels, and old links still open."""

from __future__ import annotations

FORMER = {
    ("map", "exact kernel (RBF)"): "exact",
    ("freq", "Gaussian"): "gaussian",
    ("costs", "Μ by query"): "query",
    ("costs", "Λ by grades"): "grade",
    ("costs", "Λ by grades × μ by query"): "grade_query",
    ("model", "the sidebar's"): "current model",
    ("fsolver", "L-BFGS-B on all factors (SciPy), from one factor to K"): "lbfgs",
    ("clow", "the sidebar's C"): "the current model's C",
    ("plainmodel", "as in the sidebar"): "the current model",
    ("sweep", "factorised: K"): "factorised: number of factors",
    ("shown", "k for t of the energy"): "k for the share of the energy",
}
"""Keys of widgets with former labels -> the option's name."""
