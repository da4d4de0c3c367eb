"""What options of menus were called in earlier versions: the address has labels, and old links still open."""

from __future__ import annotations

FORMER = {
    ("map", "exact kernel (RBF)"): "exact",
    ("freq", "Gaussian"): "gaussian",
    ("costs", "Μ by query"): "query",
    ("costs", "Λ by grades"): "grade",
    ("costs", "Λ by grades × μ by query"): "grade_query",
    ("model", "the sidebar's"): "current model",
    ("shown", "k for t of the energy"): "k for the share of the energy",
}
"""Keys of widgets with former labels -> the option's name."""
