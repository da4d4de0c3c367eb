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

    `seen` finds it in a text, empty for a basic one; `paper` is the key of a reference.
    """

    seen: str
    meaning: str
    paper: str = ""


TERMS = {
    "Query": Term("", "A search whose documents are ranked."),
    "Document": Term("", "A result of a query: features and a grade."),
    "Grade": Term("", "Relevance judged by people; 0 is none."),
    "Preference pair": Term(
        r"\bpreference pairs?\b",
        "Two documents of one query; the higher grade should rank first.",
        "joachims2002",
    ),
    "Score": Term("", "A model's number for a document: highest first."),
    "RankSVM": Term(
        r"\bRankSVM\b", "Learns scores with a margin between the documents of each pair.", "joachims2002"
    ),
    "Nyström": Term(
        r"\bNyström\b",
        "Features are similarities to m landmarks, which are training documents.",
        "williams2001",
    ),
    "Random Fourier features": Term(
        r"\brandom Fourier\b",
        "Cosines of random directions: averages give the kernel.",
        "rahimi2007",
    ),
    "Fold": Term(
        "",
        "One split of the queries into training, validation and test.",
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
    "ERR@k": Term(
        r"\bERR@\d", "1/rank at which a reader stops: the better a document, the likelier.", "chapelle2009"
    ),
    "RBP": Term(
        r"\bRBP\b", "Relevant documents, each rank with p times the weight of the one before.", "moffat2008"
    ),
    "RR": Term(r"\bRR\b", "1/rank of the first relevant document.", "voorhees1999"),
    "R@k": Term(r"\bR@\d", "Share of the relevant documents that are in the first k.", "manning2008"),
    "Rprec": Term(
        r"\bRprec\b", "Precision of the first R of a query with R relevant documents.", "manning2008"
    ),
    "Bpref": Term(r"\bBpref\b", "How few irrelevant documents stand above relevant ones.", "buckley2004"),
    "PairAccuracy": Term(
        r"\bPairAccuracy\b", "Share of pairs of different grades in the right order.", "joachims2002"
    ),
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

PICTURES = {
    "Query": '<circle cx="15" cy="9" r="6"/><path d="M20 13l8 6"/>',
    "Document": '<path d="M12 2h12l4 4v12H12zM16 8h8M16 12h8"/>',
    "Grade": '<path d="M6 18V13M16 18V9M26 18V4" stroke-width="4"/>',
    "Preference pair": '<path d="M6 5h28M6 15h16"/><path d="M36 15V6m-3 3 3-3 3 3"/>',
    "Score": '<path d="M2 4h34M2 10h22M2 16h12" stroke-width="3"/>',
    "RankSVM": (
        '<path d="M4 17L34 3"/><circle cx="12" cy="6" r="2.5" fill="gray"/><circle cx="26" cy="15" r="2.5"/>'
    ),
    "Nyström": '<circle cx="20" cy="10" r="3" fill="gray"/><path d="M4 4l16 6 14-7M6 17l14-7 12 8"/>',
    "Random Fourier features": '<path d="M1 10C5-4 9-4 13 10s8 14 12 0 8-14 13 0"/>',
    "Fold": '<path d="M2 6h22v8H2z" fill="gray"/><path d="M24 6h7v8h-7zM31 6h7v8h-7z"/>',
    "NDCG@k": '<path d="M4 18V2M11 18V8M18 18V11M25 18V13M32 18V14" stroke-width="4"/>',
    "95 % interval": '<path d="M5 10h30M5 6v8M35 6v8"/><circle cx="20" cy="10" r="2.5" fill="gray"/>',
    "Paired interval": (
        '<path d="M5 10h22M5 6v8M27 6v8M34 2v16"/><circle cx="16" cy="10" r="2.5" fill="gray"/>'
    ),
    "Margin": (
        '<path d="M4 12h32M13 5h13m-3-2 3 2-3 2"/>'
        '<circle cx="10" cy="12" r="3"/><circle cx="29" cy="12" r="3"/>'
    ),
    "C": '<path d="M3 16C12 2 22 2 37 5"/><path d="M3 17C14 12 26 11 37 10" stroke-dasharray="3 2"/>',
    "γ": (
        '<path d="M2 18C14 18 15 2 20 2s6 16 18 16"/>'
        '<path d="M2 13C10 9 14 6 20 6s10 3 18 7" stroke-dasharray="3"/>'
    ),
    "m": '<path d="M4 4v12M10 4v12M16 4v12M22 4v12M28 4v12M34 4v12" stroke-width="2"/>',
    "Landmark": (
        '<circle cx="20" cy="10" r="4" fill="gray"/>'
        '<circle cx="7" cy="5" r="2"/><circle cx="33" cy="6" r="2"/>'
    ),
    "Kernel": '<path d="M2 18C14 18 14 3 20 3s6 15 18 15"/>',
    "Kernel approximation K̃": '<path d="M6 2h12v16H6zM6 10h12M12 2v16M26 2v16M32 2v16M24 5h10M24 15h10"/>',
    "Hinge": '<path d="M3 3L24 17H38"/>',
    "Objective": '<path d="M3 3C9 22 27 22 36 3"/>',
    "Newton step": (
        '<path d="M3 2C9 20 27 20 36 2"/><circle cx="8" cy="11" r="2" fill="gray"/><path d="M10 12l9 4"/>'
    ),
    "Weights w": '<path d="M4 10h32M9 10V3M17 10v6M25 10V6M32 10v4" stroke-width="2"/>',
    "Sweep": '<path d="M6 2h28v16H6zM6 7h28M6 12h28M15 2v16M25 2v16"/>',
    "Duality gap": '<path d="M2 3C12 9 24 9 38 9M2 18C12 12 24 11 38 11"/>',
    "Spectrum": '<path d="M4 18V2M10 18V9M16 18V14M22 18V16M28 18V17" stroke-width="4"/>',
    "Dual variable": (
        '<path d="M8 2h24v16H8zM8 7h24M8 12h24M16 2v16M24 2v16"/><path d="M8 2h8v5H8z" fill="gray"/>'
    ),
    "Rank": '<path d="M4 3v14M8 3v14" stroke-width="2"/><path d="M14 6h20M14 10h20" stroke-width="2"/>',
}
"""Small pictures of terms, as SVG."""
LESSONS = {
    "pairs": ("Preference pair", "RankSVM", "Margin", "Score"),
    "ndcg": ("NDCG@k", "MeanNDCG", "Grade"),
    "loss": ("Hinge",),
    "regularisation": ("Objective", "C"),
    "newton": ("Newton step",),
    "kernel": ("Kernel", "γ"),
    "nystroem": ("Nyström", "Landmark", "Kernel approximation K̃"),
    "fourier": ("Random Fourier features", "m"),
    "alpha": ("Dual variable", "Rank", "Spectrum", "Energy"),
}
"""Terms that each lesson explains."""
_LESSON_OF = {name: lesson for lesson, names in LESSONS.items() for name in names}

PAPERS = {
    "benjamini1995": "Controlling the False Discovery Rate.",
    "breiman1984": "Classification and Regression Trees. Wadsworth.",
    "buckley2004": "Retrieval Evaluation with Incomplete Information. doi:10.1145/1008992.1009000.",
    "chapelle2009": "Expected Reciprocal Rank for Graded Relevance. doi:10.1145/1645953.1646033.",
    "chapelle2010": "Efficient algorithms for ranking with SVMs.",
    "chen2017": "Ranking Support Vector Machine with Kernel Approximation. doi:10.1155/2017/4629534.",
    "he2009": "Smooth Ranking Support Vector Machine Adapting to Web Retrieval (in Chinese).",
    "herbrich2000": "Large Margin Rank Boundaries for Ordinal Regression.",
    "holm1979": "A Simple Sequentially Rejective Multiple Test Procedure.",
    "jarvelin2002": "Cumulated Gain-Based Evaluation of IR Techniques. doi:10.1145/582415.582418.",
    "joachims2002": "Optimizing Search Engines Using Clickthrough Data. doi:10.1145/775047.775067.",
    "manning2008": "Introduction to Information Retrieval. Cambridge University Press.",
    "moffat2008": "Rank-Biased Precision for Measurement of Retrieval Effectiveness.",
    "qin2010": "LETOR: A Benchmark Collection for Research on Learning to "
    "Rank. doi:10.1007/s10791-009-9123-y.",
    "rahimi2007": "Random Features for Large-Scale Kernel Machines.",
    "shapley1953": "A Value for n-Person Games.",
    "smucker2007": "A Comparison of Statistical Significance Tests for Information Retrieval Evaluation.",
    "voorhees1999": "The TREC-8 Question Answering Track Report.",
    "westfall1993": "Resampling-Based Multiple Testing. Wiley.",
    "williams2001": "Using the Nyström Method to Speed Up Kernel Machines.",
    "xu2019": "Modeling the Parameter Interactions in Ranking SVM with "
    "Low-Rank Approximation. doi:10.1109/TKDE.2018.2851257.",
}
"""Titles of the works that pages and `TERMS` cite; docs/references.md has the full entries."""


def glossary() -> str:
    """Return all terms, then all papers as HTML; each is an entry that can be searched."""
    found = TERMS | {key: Term("", work) for key, work in PAPERS.items()}
    return "".join(_entry(name, term) for name, term in found.items())


def _entry(name: str, term: Term) -> str:
    picture = _image(PICTURES[name]) if name in PICTURES else ""
    paper = f" ({term.paper})" if term.paper else ""
    lesson = _LESSON_OF.get(name)
    link = f' <a href="lessons?lesson={lesson}" target="_self">Lesson</a>' if lesson else ""
    also = ' data-also="gamma"' if name == "γ" else ""
    return f'<p class="entry"{also}>{picture}<b>{escape(name)}</b>: {escape(term.meaning)}{paper}{link}</p>'


def _image(drawn: str) -> str:
    """Return a picture as HTML: Streamlit removes SVG from HTML, but keeps images."""
    return f'<img alt="" src="data:image/svg+xml,{quote(_PICTURE.format(drawn))}">'


def terms_in(text: str) -> str | None:
    """Return the terms used in a text, a sentence each, as Markdown; None without any."""
    seen = {name: term for name, term in TERMS.items() if term.seen and re.search(term.seen, text)}
    return (
        "\n\n".join(f"**{name}**: {term.meaning}{lesson_link(name)}" for name, term in seen.items()) or None
    )


def lesson_link(name: str) -> str:
    """Return a link to the lesson about a term, as Markdown; "" without one."""
    return f" [Lesson](lessons?lesson={_LESSON_OF[name]})" if name in _LESSON_OF else ""


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
    '<input type="search" placeholder="Search" aria-label="Search terms">{}'
    '<p class="none" role="status" hidden>No term found.</p></div></details>'
)
