"""Escapes foreign text for LaTeX and Markdown, so that it prints unchanged."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Markup:
    """A language of printed tables.

    Attributes
    ----------
    text : text -> str
        Escapes the text's special characters; one line.
    bold, raised : str -> str
        Set escaped text in bold or as a superscript.
    """

    text: Callable[[str], str]
    bold: Callable[[str], str]
    raised: Callable[[str], str]


_NAMED = """
    α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi
    ρ rho σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi
    Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega ≤ leq ≥ geq × times · cdot ± pm ∞ infty ≈ approx ≠ neq ∈ in √ surd
    → rightarrow ← leftarrow ↑ uparrow ↓ downarrow ‖ Vert ∇ nabla ∑ sum
"""
"""Characters, each followed by its name in LaTeX's math."""

_LATEX = {
    **{sign: f"$\\{name}$" for sign, name in zip(_NAMED.split()[::2], _NAMED.split()[1::2], strict=True)},
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{sign: f"{{{sign}}}" for sign in "[]*"},  # after \\ LaTeX would read them as its options
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': "{''}",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "\u00a0": "~",
    "\u00b5": r"$\mu$",  # micro sign, a code point of its own
    "\u2044": "/",  # fraction slash
}
_LIGATURE = re.compile(r"([-',?!])(?=[-',`])")
_HIGH, _LOW = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "₀₁₂₃₄₅₆₇₈₉₋₊"
_INDEX = re.compile(f"[{_HIGH}]+|[{_LOW}]+")
_PLAIN = str.maketrans(_HIGH + _LOW, "0123456789-+" * 2)
_LATIN = 0x180
"""Recent LaTeX has all letters below this code point; others are spelled out."""


def _latex(text: str) -> str:
    """Escape a text: Greek letters and signs as math, accented letters unchanged, unknown ones by number."""
    found, last = [], 0
    for index in _INDEX.finditer(text):
        place = "^" if index[0][0] in _HIGH else "_"
        found += [_between(text[last : index.start()]), f"${place}{{{index[0].translate(_PLAIN)}}}$"]
        last = index.end()
    return "".join((*found, _between(text[last:])))


def _between(text: str) -> str:
    """Escape a text without superscripts; separate characters that LaTeX would join into a ligature."""
    return "".join(map(_sign, _LIGATURE.sub("\\1\ufeff", text)))


def _sign(sign: str) -> str:
    if sign == "\ufeff":
        return "{}"
    if sign in _LATEX:
        return _LATEX[sign]
    if sign.isspace() or unicodedata.category(sign).startswith("C"):
        return " "
    if sign.isascii() or (ord(sign) < _LATIN and sign.isalpha()):
        return sign
    simpler = unicodedata.normalize("NFKD", sign)
    return f"{{[}}U+{ord(sign):04X}{{]}}" if simpler == sign else _latex(simpler)


_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>#|~$&!^]|:(?=//)|(?<=www)\.|@(?=[^\W\d])")


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\g<0>", re.sub(r"\s+", " ", text))


LATEX = Markup(_latex, lambda text: rf"\textbf{{{text}}}", lambda text: f"\\textsuperscript{{{text}}}")
MARKDOWN = Markup(_markdown, lambda text: f"**{text}**", lambda text: text)
