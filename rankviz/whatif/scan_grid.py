"""Values of one feature at which to evaluate a margin so that no crossing is missed.

A look contains the ends of the range and all turning points of the margin. Between neighbours the margin is
monotone, so the signs show every crossing. One exception: two crossings may be missed if the margin between
them stays below `TOLERANCE` times the sum of all |terms|. Rounding may cause this.

- A straight line has no turning points.
- A sum of tents, Σ w_i exp(−γ|x − z_i|), turns at z_i, or once between two neighbours, where P e^{−γ(x − z)}
= Q e^{−γ(z′ − x)}: P and Q are the sums of all terms from the left and from the right.
- A smooth sum is replaced by polynomials through `NODES` Chebyshev nodes on equal panels. On a panel of
half-width h the error is at most h^n Σ|w_i| max|k_i⁽ⁿ⁾| / (2^{n−1} n!), as for any interpolation at these
nodes. Panels are so narrow that this is `TOLERANCE` Σ|w_i|. Turning points are the zeros of the polynomials'
derivatives: eigenvalues of a small matrix. The nodes are evaluated too.
- All other margins are scanned at `POINTS` values, and so are smooth ones that need too many panels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.polynomial.chebyshev import chebder, chebroots, chebtrim
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray
from rankviz.features.kernel_base import Smooth, Tents

Margin = Callable[[FloatArray], FloatArray]
"""Function of values (s,) of a feature -> (s,)."""
Sums = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Function of values (s,) of a feature -> margins (s,) and the sums of their |terms| (s,)."""
POINTS = 200
"""Number of values in a scan."""
NODES = 28
"""Number of values in a panel."""
TOLERANCE = 8 * np.finfo(float).eps
"""A margin below this share of the sum of its |terms| gets no sign: it may be rounding."""
PANELS = 1024
"""Largest number of panels in one look."""
ENTRIES = 20_000_000
"""Largest number of factors computed for one look: values · terms."""
FIRST = 8
"""Number of panels in the first search for the nearest crossing."""


@dataclass(frozen=True, eq=False)
class ScanGrid:
    """Margins at ascending values of a feature.

    Attributes
    ----------
    values, margins : (s,) float64
        A margin is 0 if rounding decides its sign.
    step : float
        Largest distance of neighbouring values between which crossings may be missed; 0 if none can be.
    """

    values: FloatArray
    margins: FloatArray
    step: float = 0.0


@dataclass(frozen=True, eq=False)
class Line:
    """The margin along one feature.

    Attributes
    ----------
    margin : Margin
    look : (low, high) -> Look
    reach : float
        Distance to either side covered by the first search for the nearest crossing.
    """

    margin: Margin
    look: Callable[[float, float], ScanGrid]
    reach: float = math.inf


def scanned_line(margin: Margin) -> Line:
    """Return the line of a margin without known properties."""
    return Line(margin, lambda low, high: _scan(margin, low, high, POINTS))


def straight_line(margin: Margin) -> Line:
    """Return the line of a margin that is a straight line."""

    def look(low: float, high: float) -> ScanGrid:
        ends = np.array([low, high])
        return ScanGrid(ends, margin(ends))

    return Line(margin, look)


def tents_line(margin: Margin, weights: FloatArray, tents: Tents, other: float) -> Line:
    """Return the line of Σ_i weights_i·tent_i − other."""

    def look(low: float, high: float) -> ScanGrid:
        places = np.append(tents.centres, [low, high])
        order = np.argsort(places, kind="stable")
        places, terms = places[order], np.append(weights, [0.0, 0.0])[order]
        gaps = np.diff(places)
        decays = np.exp(-tents.rate * gaps)
        left, right = _both_sides(terms, decays)
        with np.errstate(all="ignore"):
            inner = (gaps + np.log(left[:-1] / right[1:]) / tents.rate) / 2
            from_left, from_right = np.exp(-tents.rate * inner), np.exp(-tents.rate * (gaps - inner))
        turns = (inner > 0) & (inner < gaps)
        values = np.concatenate((places, (places[:-1] + inner)[turns]))
        values, first = np.unique(values, return_index=True)
        kept = first[(values >= low) & (values <= high)]

        def at_values(left: FloatArray, right: FloatArray, terms: FloatArray) -> FloatArray:
            between = left[:-1][turns] * from_left[turns] + right[1:][turns] * from_right[turns]
            found: FloatArray = np.concatenate((left + right - terms, between))[kept]
            return found

        sizes = at_values(*_both_sides(np.abs(terms), decays), np.abs(terms)) + abs(other)
        values = values[(values >= low) & (values <= high)]
        return ScanGrid(values, _signed(at_values(left, right, terms) - other, sizes))

    return Line(margin, look)


def smooth_line(sums: Sums, weights: NDArray[np.generic], profile: Smooth, other: float) -> Line:
    """Return the line of Re Σ_i weights_i·k_i − other."""
    largest = np.abs(weights)
    noise = TOLERANCE * (float(largest.sum()) + abs(other))
    width = _panel_width(largest, profile)
    most = min(PANELS, max(FIRST, ENTRIES // (NODES * max(len(weights), 1))))

    def look(low: float, high: float) -> ScanGrid:
        needed = (high - low) / width
        if needed > most:
            return _scan(lambda values: _signed(*sums(values)), low, high, most * NODES)
        edges = np.linspace(low, high, max(1, math.ceil(needed)) + 1)
        middles, halves = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
        nodes = (middles[:, None] + halves[:, None] * _UNIT).ravel()
        margins, sizes = sums(nodes)
        more = np.append(edges, _turns(margins.reshape(-1, NODES), middles, halves, noise))
        values, first = np.unique(np.append(nodes, more), return_index=True)
        more_margins, more_sizes = sums(more)
        signed = _signed(np.append(margins, more_margins), np.append(sizes, more_sizes))
        return ScanGrid(values, signed[first])

    return Line(lambda values: sums(values)[0], look, FIRST / 2 * width)


def _both_sides(terms: FloatArray, decays: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sums of the terms up to each place, from the left and from the right."""
    return _decayed(terms, decays), _decayed(terms[::-1], decays[::-1])[::-1]


def _decayed(terms: FloatArray, decays: FloatArray) -> FloatArray:
    """Return the decayed sums of all terms up to each one."""
    pairs = zip(terms[1:].tolist(), decays.tolist(), strict=True)
    found = accumulate(pairs, lambda before, pair: before * pair[1] + pair[0], initial=float(terms[0]))
    return np.fromiter(found, np.float64, len(terms))


def _panel_width(sizes: FloatArray, profile: Smooth) -> float:
    """Return the width of panels whose polynomials are accurate to rounding."""
    top = float(profile.rates.max(initial=0.0))
    if top == 0.0 or not sizes.any():
        return math.inf
    with np.errstate(under="ignore"):
        share = float(sizes @ (profile.rates / top) ** NODES / sizes.sum())
    if share == 0.0:
        return math.inf
    error = TOLERANCE * 2.0 ** (NODES - 1) * math.factorial(NODES) / (profile.factor(NODES) * share)
    return float(2 * error ** (1 / NODES) / top)


_ANGLES = (np.arange(NODES) + 0.5) * np.pi / NODES
_UNIT = np.cos(_ANGLES)
_COEFFICIENTS = np.cos(np.outer(np.arange(NODES), _ANGLES)) * 2 / NODES
_COEFFICIENTS[0] /= 2


def _turns(margins: FloatArray, middles: FloatArray, halves: FloatArray, noise: float) -> FloatArray:
    """Return the turning points of panels that may have a zero, from margins (panels, nodes)."""
    series = margins @ _COEFFICIENTS.T
    near = np.abs(series[:, 0]) <= np.abs(series[:, 1:]).sum(axis=1) + noise
    found = [np.zeros(0)]
    for panel in np.flatnonzero(near):
        roots = chebroots(chebder(chebtrim(series[panel], noise / NODES)))
        real = roots.real[(np.abs(roots.imag) < 0.01) & (np.abs(roots.real) < 1)]  # extra points do no harm
        found.append(middles[panel] + halves[panel] * real)
    return np.concatenate(found)


def _scan(margin: Margin, low: float, high: float, points: int) -> ScanGrid:
    values = np.linspace(low, high, points)
    return ScanGrid(values, margin(values), (high - low) / (points - 1))


def _signed(margins: FloatArray, sizes: FloatArray) -> FloatArray:
    return np.where(np.abs(margins) > TOLERANCE * sizes, margins, 0.0)
