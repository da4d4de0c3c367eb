"""The field's terms in a sentence each, and the papers cited by pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

import streamlit as st


@dataclass(frozen=True)
class Term:
    """A term of the pages.

    `seen` finds it in a text, empty for a basic one; `paper` is the key of a reference, `picture` is SVG.
    """

    seen: str
    meaning: str
    paper: str = ""
    picture: str = ""


_BARS = '<path d="M2 4h34M2 10h22M2 16h12" stroke-width="3"/>'
_NEAR = '<circle cx="20" cy="10" r="3" fill="gray"/><path d="M4 4l16 6 14-7M6 17l14-7 12 8"/>'

TERMS = {
    "Query": Term("", "A search whose documents are ranked."),
    "Document": Term("", "A result of a query: features and a grade."),
    "Grade": Term("", "Relevance judged by people; 0 is none."),
    "Preference pair": Term(
        r"\bpreference pairs?\b",
        "Two documents of one query; the higher grade should rank first.",
        "joachims2002",
        '<path d="M6 5h28M6 15h16"/><path d="M36 15V6m-3 3 3-3 3 3"/>',
    ),
    "Score": Term("", "A model's number for a document: highest first.", "", _BARS),
    "RankSVM": Term(
        r"\bRankSVM\b", "Learns scores with a margin between the documents of each pair.", "joachims2002"
    ),
    "Nyström": Term(
        r"\bNyström\b",
        "Features are similarities to m landmarks, which are training documents.",
        "williams2001",
        _NEAR,
    ),
    "Random Fourier features": Term(
        r"\brandom Fourier\b",
        "Cosines of random directions: averages give the kernel.",
        "rahimi2007",
        '<path d="M1 10C5-4 9-4 13 10s8 14 12 0 8-14 13 0"/>',
    ),
    "Fold": Term(
        "",
        "One split of the queries into training, validation and test.",
        "",
        '<path d="M2 6h22v8H2z" fill="gray"/><path d="M24 6h7v8h-7zM31 6h7v8h-7z"/>',
    ),
    "NDCG@k": Term(
        r"\bNDCG@\d",
        "Normalised discounted cumulative gain: quality of the first k documents, 1 at best.",
        "jarvelin2002",
    ),
    "MeanNDCG": Term(r"\bMeanNDCG\b", "NDCG averaged over all cut-offs of a query.", "qin2010"),
    "MAP": Term(
        r"\bMAP\b",
        "Precision averaged over the ranks of relevant documents.",
        "qin2010",
    ),
    "P@k": Term(r"\bP@\d", "Share of relevant documents in the first k.", "qin2010"),
    "95 % interval": Term(
        r"\b95 % interval",
        "No significant difference if it contains 0.",
    ),
    "Paired interval": Term(
        r"\bpaired(?: 95 %)? intervals?\b",
        "Interval of the differences query by query: it decides significance.",
    ),
    "Paired randomisation test": Term(
        r"\bpaired randomisation tests?\b",
        "Share of random signs with a mean difference this large.",
        "smucker2007",
    ),
    "Holm's correction": Term(
        r"\b[Hh]olm's correction\b",
        "Raises p-values: the chance of any false positive is at most 5 %.",
        "holm1979",
    ),
    "Adjusted for the choice": Term(
        r"\badjusted for the choice\b",
        "The p-value is corrected for choosing the best of many models.",
        "westfall1993",
    ),
    "Within one standard error": Term(
        r"\bwithin one standard error\b",
        "Worse than the best by at most one standard error.",
        "breiman1984",
    ),
    "Margin": Term(
        r"\bmargins?\b", "Score of a pair's better document minus the other score.", "herbrich2000"
    ),
    "C": Term(r"\bC\b", "Weight of errors on pairs: large C fits training closely."),
    "γ": Term("γ", "How fast a kernel decreases with distance."),
    "m": Term(r"\bm\b", "Number of features: large m is closer to the kernel, but slower."),
    "Landmark": Term(
        r"\blandmarks?\b",
        "A training document or your own point; kernel values with it are a feature.",
        "williams2001",
    ),
    "Kernel": Term(r"\bkernels?\b(?! approximation)", "Similarity of two documents."),
    "Kernel approximation K̃": Term(
        r"\b[Kk]ernel approximation|K̃",
        "Inner products of m features instead of kernel values.",
        "chen2017",
    ),
    "Hinge": Term(r"\bhinge\b", "Loss of a pair: max(0, 1 − margin), or its square.", "chapelle2010"),
    "Objective": Term(
        r"\bobjective\b",
        "Training minimises it: ½‖w‖² plus C times the losses of pairs.",
        "joachims2002",
    ),
    "Newton step": Term(
        r"\bNewton steps?\b",
        "A move to the minimum of the local quadratic approximation.",
        "chapelle2010",
    ),
    "Weights w": Term(r"\bweights w\b", "A score is the sum of features times weights."),
    "Shapley value": Term(r"\bShapley\b", "Mean effect of adding a part, over all orders.", "shapley1953"),
    "Sweep": Term(r"\b[Ss]weeps?\b", "Many runs with different settings."),
    "Cell of a sweep": Term(r"\bcells?\b", "One combination of settings, trained on every fold."),
    "One standard error": Term(
        r"\bstandard error\b",
        "Variation of the mean over other folds.",
    ),
    "Sobol points": Term(r"\bSobol\b", "Points spread more evenly than random ones."),
    "Spectrum": Term(
        r"\b(?:spectr|eigenvalue|singular value)", "Eigenvalues or singular values, largest first."
    ),
    "Dual variable": Term(
        r"\bdual variables?\b|\bα\b",
        "Weight α of a pair; with α = 0 it has no effect on the model.",
        "xu2019",
    ),
    "Study": Term(r"\b[Ss]tud(?:y|ies)\b", "Runs requested together, such as a sweep."),
    "Digest": Term(r"\bdigests?\b", "A 16-character run id: equal settings have equal ids."),
    "Rank": Term(
        r"\brank k\b|\bof rank\b|\blow rank\b",
        "Number of nonzero singular values.",
        "xu2019",
    ),
    "Energy": Term(r"\benergy\b", "Sum of squared singular values.", "xu2019"),
    "Flipped grade": Term(r"\bflipped\b", "A training grade replaced at random."),
    "Duality gap": Term(r"\bduality gap\b", "A proven bound on the distance to the minimum."),
    "CG iteration": Term(
        r"\bCG iterations?\b",
        "A step towards a Newton direction.",
        "chapelle2010",
    ),
    "Product": Term(
        r"\bproducts?\b(?= with the| that training| with Φ)",
        "One multiplication of the features by a vector.",
        "chapelle2010",
    ),
}

PAPERS = {
    "benjamini1995": "Controlling the False Discovery Rate.",
    "breiman1984": "Classification and Regression Trees. Wadsworth.",
    "chapelle2010": "Efficient algorithms for ranking with SVMs.",
    "chen2017": "Ranking Support Vector Machine with Kernel Approximation. doi:10.1155/2017/4629534.",
    "he2009": "Smooth Ranking Support Vector Machine Adapting to Web Retrieval (in Chinese).",
    "herbrich2000": "Large Margin Rank Boundaries for Ordinal Regression.",
    "holm1979": "A Simple Sequentially Rejective Multiple Test Procedure.",
    "jarvelin2002": "Cumulated Gain-Based Evaluation of IR Techniques. doi:10.1145/582415.582418.",
    "joachims2002": "Optimizing Search Engines Using Clickthrough Data. doi:10.1145/775047.775067.",
    "qin2010": "LETOR: A Benchmark Collection for Research on Learning to "
    "Rank. doi:10.1007/s10791-009-9123-y.",
    "rahimi2007": "Random Features for Large-Scale Kernel Machines.",
    "shapley1953": "A Value for n-Person Games.",
    "smucker2007": "A Comparison of Statistical Significance Tests for Information Retrieval Evaluation.",
    "westfall1993": "Resampling-Based Multiple Testing. Wiley.",
    "williams2001": "Using the Nyström Method to Speed Up Kernel Machines.",
    "xu2019": "Modeling the Parameter Interactions in Ranking SVM with "
    "Low-Rank Approximation. doi:10.1109/TKDE.2018.2851257.",
}
"""Titles of the works that pages and `TERMS` cite; docs/references.md has the full entries."""


def glossary() -> str:
    """Return all terms, then all papers as HTML; each is an entry that can be searched."""
    found = [(name, term.meaning, term.paper, term.picture) for name, term in TERMS.items()]
    found += [(key, work, "", "") for key, work in PAPERS.items()]
    return "".join(
        f'<p class="entry">{drawn and _image(drawn)}<b>{escape(name)}</b>: {escape(text)}'
        f"{paper and f' ({paper})'}</p>"
        for name, text, paper, drawn in found
    )


def _image(drawn: str) -> str:
    """Return a picture as HTML: Streamlit removes SVG from HTML, but keeps images."""
    return f'<img alt="" src="data:image/svg+xml,{quote(_PICTURE.format(drawn))}">'


def terms_in(text: str) -> str | None:
    """Return the terms used in a text, a sentence each, as Markdown; None without any."""
    seen = {name: term for name, term in TERMS.items() if term.seen and re.search(term.seen, text)}
    return "\n\n".join(f"**{name}**: {term.meaning}" for name, term in seen.items()) or None


def papers_in(text: str) -> str:
    """Return the references cited in a text by their keys, as Markdown."""
    return "\n\n".join(f"**{key}**: {work}" for key, work in PAPERS.items() if key in text)


def meaning(name: str) -> str | None:
    """Return the sentence on a term, or on a measure at a cut-off ("NDCG@10"), if there is one."""
    measure, at, _ = name.partition("@")
    found = TERMS.get(f"{measure}@k" if at else name)
    return found.meaning if found else None


def show_glossary() -> None:
    """Draw the glossary, closed."""
    st.html(_GLOSSARY.format(glossary()), width="content")


_PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20" fill="none" stroke="gray">{}</svg>'
_GLOSSARY = (
    '<details class="glossary"><summary>Terms</summary><div>'
    '<input type="search" placeholder="Search" aria-label="Search terms">{}</div></details>'
)
