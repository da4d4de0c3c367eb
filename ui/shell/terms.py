"""The field's terms in a sentence or two, and the papers cited by pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape
from urllib.parse import quote

import streamlit as st

from rankviz.metrics.significance import METHOD
from ui.shell.term_pictures import PICTURES


@dataclass(frozen=True)
class Term:
    """A term of the pages.

    `seen` finds it in a text, empty for a basic one; `paper` is the key of a reference; `also` has other
    words that find it in the glossary.
    """

    seen: str
    meaning: str
    paper: str = ""
    also: str = ""


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
        "Features are similarities to m landmarks, which are training documents. "
        "So training does not need the similarity of every two documents.",
        "williams2001",
        also="Nystroem",
    ),
    "Random Fourier features": Term(
        r"\brandom Fourier\b",
        "Cosines of random directions: averages give the kernel. "
        "Twice the mean product of two documents' cosines is near their similarity: the more, the nearer.",
        "rahimi2007",
        also="RFF",
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
        f"{METHOD}; no significant difference if it contains 0.",
        "hall1992",
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
    "γ": Term("γ", "How fast a kernel decreases with distance.", also="gamma"),
    "m": Term(r"\bm\b", "Number of features: large m is closer to the kernel, but slower."),
    "Landmark": Term(
        r"\blandmarks?\b",
        "A training document or your own point; kernel values with it are a feature.",
        "williams2001",
    ),
    "Kernel": Term(r"\bkernels?\b(?! approximation)", "Similarity of two documents.", also="bump"),
    "Kernel approximation K̃": Term(
        r"\b[Kk]ernel approximation|K̃",
        "Inner products of m features instead of kernel values.",
        "chen2017",
    ),
    "Hinge": Term(
        r"\bhinge\b",
        "Loss of a pair: max(0, 1 − margin), or its square.",
        "chapelle2010",
        also="squared hinge",
    ),
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
    "Spectrum": Term(r"\bspectr", "Eigenvalues or singular values, largest first."),
    "Eigenvalue": Term(
        r"\beigenvalues?\b", "Factor by which a symmetric matrix stretches one of its own directions."
    ),
    "Singular value": Term(
        r"\bsingular values?\b",
        "Size of one of the tables “row × column” that add up to a matrix, from the largest on.",
        also="SVD decomposition",
    ),
    "Matrix": Term(r"\bmatri(?:x|ces)\b", "A table of numbers in rows and columns."),
    "Inverse": Term(
        r"\binverse\b",
        "W⁻¹ undoes what the matrix W does, as 1/3 undoes 3: their product has 1 on its diagonal, else 0.",
    ),
    "Trace": Term(r"\btrace\b", "Sum of the diagonal of a matrix."),
    "Dual variable": Term(
        r"\bdual variables?\b|\bα\b",
        "Weight α of a pair; with α = 0 it has no effect on the model.",
        "xu2019",
        also="alpha",
    ),
    "Study": Term(r"\b[Ss]tud(?:y|ies)\b", "Runs requested together, such as a sweep."),
    "Digest": Term(r"\bdigests?\b", "A 16-character run id: equal settings have equal ids."),
    "Rank": Term(
        r"\brank k\b|\bof rank\b|\blow rank\b",
        "Least number of tables “row × column” that add up to a matrix; number of nonzero singular values.",
        "xu2019",
    ),
    "Energy": Term(r"\benergy\b", "Sum of squared singular values.", "xu2019"),
    "Flipped grade": Term(r"\bflipped\b", "A training grade replaced at random."),
    "Duality gap": Term(r"\bduality gap\b", "A proven bound on the distance to the minimum."),
    "CG iteration": Term(
        r"\bCG iterations?\b|\bconjugate gradients\b",
        "A step towards a Newton direction.",
        "chapelle2010",
    ),
    "Product": Term(
        r"\bproducts?\b(?= with the| that training| with Φ)",
        "One multiplication of the features by a vector.",
        "chapelle2010",
    ),
    "Feature": Term(
        r"\bfeatures?\b", "A number that describes a document; a score adds features times weights."
    ),
    "Gain": Term(r"\bgains?\b", "What a document of a grade is worth, such as 2^grade − 1."),
    "Discount": Term(r"\bdiscounts?\b", "Factor of a rank in NDCG: smaller further down.", "jarvelin2002"),
    "Cut-off": Term(r"\bcut-offs?\b", "Number k of documents from the top that a metric counts."),
    "Tie": Term(
        r"\b(?:ties|tied|tie|equal scores)\b", "Documents with equal scores: their order needs a rule."
    ),
    "Validation": Term(r"\bvalidation\b", "Queries that choose the settings; training does not use them."),
    "Normalisation": Term(r"\bnormalis(?:ation|ed|es)\b", "Scaling of the features before training."),
    "Loss": Term(r"\bloss(?:es)?\b", "Penalty of a pair: the smaller its margin, the larger."),
    "Logistic loss": Term(r"\blogistic\b", "Loss of a pair: log(1 + exp(−margin)), never 0."),
    "Gradient": Term(r"\bgradients?\b", "Direction in which a function increases fastest."),
    "Solver": Term(r"\bsolvers?\b", "An algorithm that finds the minimum of the objective."),
    "Preconditioner": Term(
        r"\bprecondition(?:er|ed|ing)\b", "An approximate inverse: CG needs fewer iterations with it."
    ),
    "Regularisation": Term(
        r"\bregularis(?:ation|ed)\b", "The term ½‖w‖² of the objective keeps weights small."
    ),
    "Frequency": Term(
        r"\bfrequenc(?:y|ies)\b|\bwaves?\b",
        "Direction and speed of one cosine.",
        "rahimi2007",
        also="ω omega",
    ),
    "Residual": Term(r"\bresiduals?\b", "What an approximation leaves: K − K̃."),
    "Relative error": Term(
        r"\brelative errors?\b|\bkernel error\b", "Size of K − K̃ divided by that of K: 0 is exact."
    ),
    "Effective dimension": Term(
        r"\beffective dimension\b", "Number of directions that C lets the kernel use."
    ),
    "Nuclear norm": Term(
        r"\bnuclear norm\b", "Sum of singular values: as a penalty it lowers the rank.", "xu2019"
    ),
    "p-value": Term(r"\bp-values?\b", "Chance of a difference this large without a real one."),
    "Rank correlation": Term(
        r"\brank correlation\b|\bKendall\b|\bSpearman\b", "Agreement of two orders, from −1 to 1."
    ),
    "λ": Term("λ", "Weight of pairs of two grades in training.", also="lambda"),
    "μ": Term("μ", "Weight of the pairs of a query in training.", also="mu"),
    "LETOR": Term(
        r"\bLETOR\b", "Public search data with a definition of metrics that many papers use.", "qin2010"
    ),
    "Frobenius norm": Term(r"\bFrobenius\b", "Size of a matrix: root of the sum of squares of all entries."),
    "Baseline": Term(r"\bbaselines?\b", "The model that another one is compared with."),
    "Seed": Term(r"\bseeds?\b", "Number that fixes all random draws."),
    "Influence": Term(r"\binfluence\b", "Change of a result when a setting or a query changes."),
    "Linear model": Term(r"\blinear model\b", "Its score adds features times weights, without a kernel."),
    "k-means++": Term(
        r"k-means\+\+",
        "Draws landmarks at random, with more chance for documents far from those that it has.",
        "arthur2007",
    ),
    "Cosine": Term(r"\bcosines?\b", "A regular wave between 1 and −1, with 1 at its start."),
    "Exponential function": Term(
        r"\bexponential functions?\b|\bexp\(",
        "A power of e, a fixed number below 3: 1 for e⁰, nearly 0 for a power far below 0.",
        also="exp",
    ),
    "Logarithm": Term(
        r"\blogarithms?\b|\blog₂", "The power of 2 that gives a number: log₂ 8 = 3, as 2³ = 8.", also="log"
    ),
    "Log scale": Term(
        r"\blog scale\b|\b[Ll]og-uniform\b", "Equal steps along an axis multiply by the same number."
    ),
    "Slope": Term(r"\bslopes?\b", "How much a function rises for a small step.", also="derivative"),
    "Curvature": Term(r"\bcurvature\b", "How fast the slope changes.", also="second derivative"),
    "Hessian": Term(r"\bHessian\b", "Matrix of the curvature in all directions.", "chapelle2010"),
    "Feature map": Term(
        r"\b[Ff]eature maps?\b", "Turns a document's features into m others, such as cosines."
    ),
    "Training part": Term(
        r"\btraining (?:part|quer(?:y|ies))\b", "Queries and grades from which the model learns."
    ),
    "Test part": Term(
        r"\btest (?:part|quer(?:y|ies))\b", "Queries for the last judgement: no training or choice uses them."
    ),
    "Costs of pairs": Term(r"\bcosts of pairs\b", "Weights of pairs in training, by grades and queries."),
    "Active pair": Term(r"\bactive pairs?\b", "A pair with a loss above 0: it pulls the weights."),
    "Iteration": Term(r"(?<!CG )\b[Ii]terations?\b", "One step of a solver, from weights to better ones."),
    "Tolerance": Term(r"\btolerance\b", "Remaining error at which a solver ends."),
    "Optimum": Term(r"\boptimum\b", "Weights at which the objective is smallest."),
    "Significant": Term(r"\bsignificant(?:ly)?\b", "Chance alone would rarely give so large a difference."),
    "Pointwise, pairwise, listwise": Term(
        r"\b(?:point|pair|list)wise\b", "Training looks at one document, at two, or at a whole list."
    ),
    "Boosted trees": Term(
        r"\bboost(?:ed|ing)\b", "Many small decision trees: each corrects those before it."
    ),
    "Newton decrement": Term(
        r"\bNewton decrements?\b", "Decrease of the objective that a Newton step predicts."
    ),
    "Convex": Term(r"\b[Cc]onvex\b", "Like a bowl: no minimum is above another one."),
    "Block of α": Term(r"\bblocks?\b", "The α of one query's pairs as a matrix.", "xu2019"),
    "Factorised model": Term(
        r"\b[Ff]actorised\b", "Each block of α is a product of two thin matrices.", "xu2019"
    ),
    "Principal component": Term(r"\bcomponents?\b", "Direction along which documents differ most."),
    "Learning curve": Term(r"\b[Ll]earning curves?\b", "Quality against the number of training queries."),
    "Refit": Term(r"\brefit(?:s|ted)?\b", "Training again after a change of the data."),
    "Correlation": Term(
        r"(?<!rank )\bcorrelat(?:ions?|ed)\b", "How closely two numbers rise together, from −1 to 1."
    ),
    "Median": Term(r"\bmedians?\b", "Half of the values are below it, half above."),
    "Quartile": Term(
        r"\bquartiles?\b", "A quarter of the values are below the first, a quarter above the third."
    ),
    "Standard deviation": Term(
        r"\bstandard deviations?\b", "Typical distance of values from their mean.", also="SD"
    ),
    "Variance": Term(r"\bvariance\b", "Square of the standard deviation."),
    "Standardised": Term(
        r"\b[Ss]tandardised\b|\bz-scores?\b",
        "A value minus the mean, divided by the standard deviation.",
        also="z-score",
    ),
    "Wilcoxon test": Term(r"\bWilcoxon\b", "Ranks the differences by size and compares both signs."),
    "Cohen's d": Term(r"\bCohen's d\b", "Mean difference divided by its standard deviation."),
    "Random forest": Term(
        r"\brandom forests?\b", "Mean of many decision trees, each from a random part of the data."
    ),
    "Coordinate ascent": Term(
        r"\bcoordinate ascent\b", "Changes one weight at a time, as long as a metric rises."
    ),
    "Run": Term("", "One training with its settings, weights and results."),
    "Job": Term("", "A run or a sweep that a worker trains in the background.", also="worker queue"),
    "qrels": Term(r"\bqrels\b", "TREC's file of grades: query, document, grade."),
}

LESSONS = {
    "pairs": (
        *("Query", "Document", "Feature", "Score", "Weights w", "Preference pair", "PairAccuracy"),
        *("RankSVM", "Margin", "Linear model"),
    ),
    "ndcg": ("Grade", "Gain", "Discount", "Cut-off", "Tie", "NDCG@k", "MeanNDCG", "LETOR", "Logarithm"),
    "loss": ("Loss", "Hinge", "Logistic loss", "Active pair"),
    "regularisation": ("Objective", "C", "Regularisation", "Validation", "Training part", "Flipped grade"),
    "newton": (
        *("Newton step", "Gradient", "Solver", "Iteration", "Tolerance", "Optimum"),
        *("Slope", "Curvature", "Hessian"),
    ),
    "kernel": ("Kernel", "γ", "Exponential function"),
    "nystroem": (
        *("Nyström", "Landmark", "Kernel approximation K̃", "Relative error", "Frobenius norm"),
        *("Matrix", "Inverse", "k-means++"),
    ),
    "fourier": ("Random Fourier features", "Frequency", "m", "Feature map", "Cosine", "Log scale"),
    "alpha": ("Dual variable", "Block of α", "Rank", "Spectrum", "Energy", "Singular value"),
}
"""Terms that each lesson explains."""

PAGES = {
    "data": (
        *("Fold", "Normalisation", "Median", "Correlation", "Standard deviation", "Variance"),
        *("Standardised", "qrels"),
    ),
    "train": ("MAP", "P@k", "95 % interval", "Seed", "Baseline", "Test part"),
    "why": ("Shapley value",),
    "what_if": ("Refit",),
    "kernel_approximation": ("Residual", "Effective dimension", "Principal component", "Eigenvalue", "Trace"),
    "ndcg_vs_m": ("Learning curve", "Quartile"),
    "influence": ("Influence", "Costs of pairs", "λ", "μ"),
    "convergence": ("Duality gap", "CG iteration", "Product", "Preconditioner", "Newton decrement"),
    "low_rank": ("Nuclear norm", "Factorised model"),
    "sweep": (
        *("Sweep", "Cell of a sweep", "One standard error", "Within one standard error", "Sobol points"),
        "Adjusted for the choice",
    ),
    "side_by_side": ("Significant", "Rank correlation"),
    "compare": (
        *("Paired interval", "p-value", "Paired randomisation test", "Holm's correction"),
        *("Wilcoxon test", "Cohen's d"),
    ),
    "methods": (
        *("Pointwise, pairwise, listwise", "Boosted trees", "Convex"),
        *("Random forest", "Coordinate ascent"),
    ),
    "definitions": ("ERR@k", "RBP", "RR", "R@k", "Rprec", "Bpref"),
    "runs": ("Study", "Digest", "Run", "Job"),
}
"""Pages that show the terms that no lesson explains."""
_LEADS = {name: ("Lesson", f"lessons?lesson={one}") for one, names in LESSONS.items() for name in names}
_LEADS |= {name: ("Page", page) for page, names in PAGES.items() for name in names}
"""Term -> name and address of its link."""

PAPERS = {
    "arthur2007": "k-means++: The Advantages of Careful Seeding.",
    "benjamini1995": "Controlling the False Discovery Rate.",
    "breiman1984": "Classification and Regression Trees. Wadsworth.",
    "buckley2004": "Retrieval Evaluation with Incomplete Information. doi:10.1145/1008992.1009000.",
    "chapelle2009": "Expected Reciprocal Rank for Graded Relevance. doi:10.1145/1645953.1646033.",
    "chapelle2010": "Efficient algorithms for ranking with SVMs.",
    "chen2017": "Ranking Support Vector Machine with Kernel Approximation. doi:10.1155/2017/4629534.",
    "hall1992": "On the Removal of Skewness by Transformation.",
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


@cache
def glossary() -> str:
    """Return all terms, then all papers as HTML; each is an entry that can be searched."""
    papers = (_entry(cited(key), Term("", work), also=key) for key, work in PAPERS.items())
    return "".join((*(_entry(name, term) for name, term in TERMS.items()), *papers))


def cited(key: str) -> str:
    """Return author and year of a paper: "Joachims 2002" for joachims2002."""
    author, year = key[:-4], key[-4:]
    return f"{'Järvelin' if author == 'jarvelin' else author.capitalize()} {year}"


def _entry(name: str, term: Term, also: str = "") -> str:
    """Return an entry; `also` is another word that finds it."""
    paper = f" ({cited(term.paper)})" if term.paper else ""
    link = ' <a href="{1}" target="_self">{0}</a>'.format(*_LEADS[name]) if name in TERMS else ""
    also = f"{also or term.paper} {term.also}".strip()
    picture = f'<img alt="" src="{_picture(name)}">' if name in TERMS else ""
    text = f"<b>{escape(name)}</b>: {escape(term.meaning)}{paper}{link}"
    return f'<p class="entry" data-also="{also}">{picture}{text}</p>'


def _picture(name: str) -> str:
    """Return the address of a term's picture: Streamlit removes SVG from HTML, but keeps images."""
    return f"data:image/svg+xml,{quote(_PICTURE.format(PICTURES[name]))}"


@lru_cache(maxsize=500)  # a page has the same texts at every run, and a search takes a millisecond
def terms_in(text: str) -> str | None:
    """Return the terms used in a text, a sentence each, as Markdown; None without any."""
    seen = {name: term for name, term in TERMS.items() if term.seen and re.search(term.seen, text)}
    return "\n\n".join(explained(name) for name in seen) or None


def explained(name: str) -> str:
    """Return a term's picture, its sentence, and its lesson, else a page that shows it, as Markdown."""
    label, address = _LEADS[name]
    return f"![]({_picture(name)}) **{name}**: {TERMS[name].meaning} [{label}]({address})"


def papers_in(text: str) -> str:
    """Return the references cited in a text by their keys, as Markdown."""
    return "\n\n".join(f"**{key}**: {work}" for key, work in PAPERS.items() if key in text)


def meaning(name: str) -> str | None:
    """Explain a term, or a measure at a cut-off ("NDCG@10"), as Markdown; None if there is no such term."""
    measure, at, _ = name.partition("@")
    known = f"{measure}@k" if at else name
    return explained(known) if known in TERMS else None


def show_glossary() -> None:
    """Draw the glossary, closed."""
    st.html(_GLOSSARY.format(glossary()), width="content")


_PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" viewBox="0 0 40 20" '
    'fill="none" stroke="gray">{}</svg>'
)
_GLOSSARY = (
    '<details class="glossary"><summary>Terms</summary><div>'
    '<input type="search" placeholder="Search" aria-label="Search terms">{}'
    '<p class="none" role="status" hidden>No term found.</p></div></details>'
)
