"""Pins as earlier versions wrote them, put into the words of `ui.shared.pins`.

`nystroem_m200_g-2_s0_c-4_t6` was Nyström with m = 200, γ = 2^-2, seed 0, C = 2^-4 and tolerance 10^-6; `_r50`
behind it kept rank 50, `_k` chose landmarks by k-means++, `_o` made frequencies orthogonal. The exact kernel
had neither m nor seed (`exact_g-2_c-4_t6`), the linear model no γ either (`linear_c-4_t6`). At the end stood
loss, costs and solver where they were not the usual ones: `_lhinge`, `_wgrade-query` or `_w1x2x1p3` for
λ = 1, 2, 1.3 (`_wu1x2x1p3` with μ), `_xsgd-pair`.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"(?P<map>linear|nystroem|fourier|exact)"
    r"(?:_m(?P<m>[0-9]{1,4}))?(?:_g(?P<g>-?[0-9]{1,2}))?(?:_s(?P<seed>[0-9]{1,10}))?"
    r"_c(?P<c>-?[0-9]{1,2})_t(?P<tol>[0-9])(?:_r(?P<rank>[1-9][0-9]{0,3}))?(?:_(?P<draw>[ko]))?"
    r"(?:_l(?P<loss>[a-z-]{1,20}))?"
    r"(?:_w(?:(?P<costs>query|grade|grade-query|slack|margin)|(?P<mu>u?)(?P<lam>[0-9p]{1,8}(?:x[0-9p]{1,8}){0,54})))?"
    r"(?:_x(?P<solver>[a-z-]{1,20}))?"
)
_OF_MAP = {
    "linear": set(),
    "nystroem": {"m", "g", "seed"},
    "fourier": {"m", "g", "seed"},
    "exact": {"g"},
}
"""Which of m, γ and seed a map had to have."""
_DRAWS = {"k": "landmarks_kmeans-2b2b-", "o": "freq_orthogonal"}


def translated(text: str) -> str | None:
    """The same model in the words of today; None for a text that is no pin of that time."""
    found = _TOKEN.fullmatch(text)
    if found is None:
        return None
    said = {key: value for key, value in found.groupdict().items() if value is not None}
    if _OF_MAP[said["map"]] != said.keys() & {"m", "g", "seed"}:
        return None
    told = [f"{key}_{said[key]}" for key in ("map", "m", "g", "seed", "c", "rank") if key in said]
    told += [f"{key}_{said[key].replace('-', '_')}" for key in ("loss", "costs", "solver") if key in said]
    told += [f"tol_1e-0{said['tol']}", *([_DRAWS[said["draw"]]] if "draw" in said else [])]
    if "lam" in said:
        told += [f"costs_{'table_query' if said['mu'] else 'table'}", f"lam_{said['lam']}"]
    return "~".join(told)
