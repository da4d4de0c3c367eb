"""What options of menus were called in earlier versions: the address has labels, and old links still open."""

from __future__ import annotations

FORMER = {
    ("map", "exact kernel (RBF)"): "exact",
    ("freq", "Gaussian"): "gaussian",
}
"""Keys of widgets with former labels -> the option's name."""
