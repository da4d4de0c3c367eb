"""The field's terms in a sentence each, and the papers cited by pages."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

import streamlit as st


@dataclass(frozen=True)
class Term:
    """A term of the pages: `seen` finds it in a text, `paper` is the key of a reference."""

    seen: str
    meaning: str
    paper: str = ""


TERMS = {
    "NDCG@k": Term(
        r"\bNDCG@\d",
        "How good the first k documents are: grades count more towards the top, and 1 is the best order.",
        "jarvelin2002",
    ),
    "MeanNDCG": Term(
        r"\bMeanNDCG\b", "NDCG averaged over all cut-offs of a query, then over queries.", "qin2010"
    ),
    "MAP": Term(
        r"\bMAP\b",
        "Precision averaged over the ranks of a query's relevant documents, then over queries.",
        "qin2010",
    ),
    "P@k": Term(r"\bP@\d", "The share of relevant documents among the first k.", "qin2010"),
    "95 % interval": Term(
        r"\b95 % interval",
        "The differences that these queries support: where it holds 0, they cannot tell the two apart.",
    ),
    "Paired interval": Term(
        r"\bpaired(?: 95 %)? intervals?\b",
        "That of the differences of two models query by query: these decide, whether or not bands around "
        "the two means overlap, for what makes a query hard for both cancels.",
    ),
    "Paired randomisation test": Term(
        r"\bpaired randomisation tests?\b",
        "It asks how often two models that are alike would differ as much: signs of the differences by query "
        "are drawn anew, many times.",
        "smucker2007",
    ),
    "Holm's correction": Term(
        r"\b[Hh]olm's correction\b",
        "Among many comparisons some look good by chance, so each p-value is raised: at most one set of "
        "comparisons in 20 then has any difference that is none.",
        "holm1979",
    ),
    "Choice counted": Term(
        r"\bchoice counted\b",
        "The best of many models looks good by chance: its p is how often the best of models that are all "
        "like the baseline would look as good.",
        "westfall1993",
    ),
    "Within one standard error": Term(
        r"\bwithin one standard error\b",
        "So near the best in the mean over queries that the difference is about what other queries of the "
        "kind would change.",
        "breiman1984",
    ),
    "Preference pair": Term(
        r"\bpreference pairs?\b",
        "Two documents of one query of which one has the higher grade and should stand first.",
        "joachims2002",
    ),
    "Margin": Term(
        r"\bmargins?\b",
        "By how much the score of a pair's better document exceeds that of the other.",
        "herbrich2000",
    ),
    "C": Term(
        r"\bC\b",
        "How much errors on pairs weigh against the size of the model: a large C fits training closely.",
    ),
    "γ": Term("γ", "How fast a kernel falls with distance: a large γ makes it see near neighbours alone."),
    "m": Term(
        r"\bm\b",
        "The number of features that stand in for the kernel: more come closer to it and take longer.",
    ),
    "Landmark": Term(
        r"\blandmarks?\b",
        "A training document, or a point somebody put, that others are compared with: its kernel values are "
        "their features.",
        "williams2001",
    ),
    "Kernel": Term(
        r"\bkernels?\b(?! approximation)",
        "How alike two documents are, as a number; most kernels fall with the distance between the two.",
    ),
    "Kernel approximation K̃": Term(
        r"\b[Kk]ernel approximation|K̃",
        "The matrix of products of documents' m features, which stands in for the kernel's own matrix K.",
        "chen2017",
    ),
    "Hinge": Term(
        r"\bhinge\b",
        "The loss of a pair: what its margin lacks of 1, or the square of that, and 0 from a margin of 1 on.",
        "chapelle2010",
    ),
    "Objective": Term(
        r"\bobjective\b",
        "What training makes small: the size of the weights, and C times the losses of all pairs.",
        "joachims2002",
    ),
    "Newton step": Term(
        r"\bNewton steps?\b",
        "A move of the weights towards the lowest point of a bowl that is like the objective where they are.",
        "chapelle2010",
    ),
    "Weights w": Term(
        r"\bweights w\b",
        "A number for each feature, which training finds: a score is the sum of features times weights.",
    ),
    "Random Fourier feature": Term(
        r"\brandom Fourier\b",
        "A cosine of a random direction; averages over many of them give the kernel.",
        "rahimi2007",
    ),
    "Shapley value": Term(
        r"\bShapley\b",
        "A fair share of a whole: what a part adds, in the mean over all orders in which parts are added.",
        "shapley1953",
    ),
    "Sweep": Term(
        r"\b[Ss]weeps?\b",
        "Many runs of one model that differ in some settings, to see what each is worth and to choose.",
    ),
    "Cell of a sweep": Term(
        r"\bcells?\b",
        "One combination of the settings that vary in a sweep; complete once it was trained on every fold.",
    ),
    "One standard error": Term(
        r"\bstandard error\b",
        "How far the mean over folds would vary with other folds: of cells this near the best the simplest "
        "may as well be taken.",
    ),
    "Sobol points": Term(
        r"\bSobol\b",
        "Points that are spread more evenly over all settings than random ones, in any number of them.",
    ),
    "Spectrum": Term(
        r"\b(?:spectr|eigenvalue|singular value)",
        "The eigenvalues or singular values of a matrix in falling order.",
    ),
    "Dual variable": Term(
        r"\bdual variables?\b|\bα\b",
        "The weight α that training gives a preference pair; pairs with α = 0 do not shape the model.",
        "xu2019",
    ),
    "Study": Term(
        r"\b[Ss]tud(?:y|ies)\b",
        "Runs that somebody asked for together, such as those of a sweep; a run may be in several.",
    ),
    "Digest": Term(
        r"\bdigests?\b",
        "Sixteen signs that name a run: the same data, method and settings have the same ones everywhere.",
    ),
    "Rank": Term(
        r"\brank k\b|\bof rank\b|\blow rank\b",
        "How many singular values of a matrix are not zero: the fewer, the simpler it is.",
        "xu2019",
    ),
    "Energy": Term(
        r"\benergy\b",
        "The sum of the squared singular values; the first k of them hold a share of it.",
        "xu2019",
    ),
    "Flipped grade": Term(
        r"\bflipped\b",
        "A training grade that was replaced by another one at random, as a hasty judge might.",
    ),
    "Duality gap": Term(
        r"\bduality gap\b", "A proven bound on how far the objective still is above its minimum."
    ),
    "CG iteration": Term(
        r"\bCG iterations?\b",
        "A step of conjugate gradients, by which a Newton direction is found.",
        "chapelle2010",
    ),
    "Product": Term(
        r"\bproducts?\b(?= with the| that training| with Φ)",
        "One multiplication of the features with a vector, on which most of training's time is spent.",
        "chapelle2010",
    ),
}

PAPERS = {
    "benjamini1995": (
        "Y. Benjamini, Y. Hochberg. Controlling the False Discovery Rate: A Practical and Powerful Approach "
        "to Multiple Testing. Journal of the Royal Statistical Society B 57(1), 1995."
    ),
    "breiman1984": (
        "L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone. Classification and Regression Trees. "
        "Wadsworth, Belmont 1984."
    ),
    "chapelle2010": (
        "O. Chapelle, S. S. Keerthi. Efficient algorithms for ranking with SVMs. Information Retrieval "
        "13(3), 2010."
    ),
    "chen2017": (
        "K. Chen, R. Li, Y. Dou, Z. Liang, Q. Lv. Ranking Support Vector Machine with Kernel "
        "Approximation. Computational Intelligence and Neuroscience 2017. doi:10.1155/2017/4629534."
    ),
    "he2009": (
        "H.-J. He. Smooth Ranking Support Vector Machine Adapting to Web Retrieval (in Chinese). "
        "Pattern Recognition and Artificial Intelligence 22(6), 2009."
    ),
    "herbrich2000": (
        "R. Herbrich, T. Graepel, K. Obermayer. Large Margin Rank Boundaries for Ordinal Regression. "
        "Advances in Large Margin Classifiers, MIT Press 2000."
    ),
    "holm1979": (
        "S. Holm. A Simple Sequentially Rejective Multiple Test Procedure. Scandinavian Journal of "
        "Statistics 6(2), 1979."
    ),
    "jarvelin2002": (
        "K. Järvelin, J. Kekäläinen. Cumulated Gain-Based Evaluation of IR Techniques. ACM Transactions"
        " on Information Systems 20(4), 2002. doi:10.1145/582415.582418."
    ),
    "joachims2002": (
        "T. Joachims. Optimizing Search Engines Using Clickthrough Data. KDD 2002. doi:10.1145/775047.775067."
    ),
    "qin2010": (
        "T. Qin, T.-Y. Liu, J. Xu, H. Li. LETOR: A Benchmark Collection for Research on Learning to "
        "Rank for Information Retrieval. Information Retrieval 13, 2010. doi:10.1007/s10791-009-9123-y."
    ),
    "rahimi2007": (
        "A. Rahimi, B. Recht. Random Features for Large-Scale Kernel Machines. Advances in Neural "
        "Information Processing Systems 20, 2007."
    ),
    "shapley1953": (
        "L. S. Shapley. A Value for n-Person Games. Contributions to the Theory of Games II, Princeton "
        "University Press 1953."
    ),
    "smucker2007": (
        "M. D. Smucker, J. Allan, B. Carterette. A Comparison of Statistical Significance Tests for "
        "Information Retrieval Evaluation. CIKM 2007."
    ),
    "westfall1993": (
        "P. H. Westfall, S. S. Young. Resampling-Based Multiple Testing: Examples and Methods for p-Value "
        "Adjustment. Wiley, New York 1993."
    ),
    "williams2001": (
        "C. K. I. Williams, M. Seeger. Using the Nyström Method to Speed Up Kernel Machines. Advances "
        "in Neural Information Processing Systems 13, 2001."
    ),
    "xu2019": (
        "J. Xu, W. Zeng, Y. Lan, J. Guo, X. Cheng. Modeling the Parameter Interactions in Ranking SVM "
        "with Low-Rank Approximation. IEEE Transactions on Knowledge and Data Engineering 31(6), 2019. "
        "doi:10.1109/TKDE.2018.2851257."
    ),
}
"""References from docs/references.md that pages and `TERMS` cite."""


def glossary(first: Collection[str] = ()) -> str:
    """Return all terms as Markdown, these first, then all papers."""
    names = [*first, *(name for name in TERMS if name not in first)]
    found = ((name, TERMS[name]) for name in names)
    terms = (f"**{name}**: {term.meaning}" + f" ({term.paper})" * bool(term.paper) for name, term in found)
    papers = (f"**{key}**: {work}" for key, work in PAPERS.items())
    return "\n\n".join([*terms, "---", *papers])


def terms_in(text: str) -> str | None:
    """Return the terms used in a text, a sentence each, as Markdown; None without any."""
    found = [f"**{name}**: {term.meaning}" for name, term in TERMS.items() if re.search(term.seen, text)]
    return "\n\n".join(found) or None


def papers_in(text: str) -> str:
    """Return the references cited in a text by their keys, as Markdown."""
    return "\n\n".join(f"**{key}**: {work}" for key, work in PAPERS.items() if key in text)


def meaning(name: str) -> str | None:
    """Return the sentence on a term, or on a measure at a cut-off ("NDCG@10"), if there is one."""
    measure, at, _ = name.partition("@")
    found = TERMS.get(f"{measure}@k" if at else name)
    return found.meaning if found else None


def offer_terms(first: Collection[str] = ()) -> None:
    """Draw a button that shows the glossary, starting with these terms."""
    place = st.popover("Terms", type="tertiary", key="terms")  # a help text would cover the list
    place.markdown(glossary(first))
