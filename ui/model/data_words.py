"""The texts of the Data page: a data set in words, uploads, and the sentences of its figures."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from rankviz.common.numbers import percent, span, with_minus
from rankviz.datasets import NORMALISATIONS, Summary
from rankviz.datasets.archives import MB
from rankviz.datasets.folds import DEMONSTRATION
from rankviz.datasets.statistics import queries_holding
from rankviz.datasets.synthetic import Recipe
from rankviz.datasets.upload_folders import KEEP_DAYS
from rankviz.datasets.uploads import LIMITS
from rankviz.runs.description import PART_NAMES
from rankviz.runs.spec import RunSpec
from ui.shell.texts import data_words

ADD = "Bring your own data or scores"
PRIVATE = f"Your data are private, and deleted {KEEP_DAYS} days after your last visit."
FILES = "train.txt, vali.txt and test.txt of a fold, one file, or a zip archive of folds"
FORMATS = (
    "LETOR / SVMlight text, plain or gzip. An archive holds Fold1, Fold2, …, each with three parts. One file "
    "is split by query into five folds (60 % training, 20 % validation, 20 % test). "
    f"At most {LIMITS.upload_bytes // MB} MB, unpacked {LIMITS.text_bytes // MB} MB."
)
UNNAMED = "default: the file name"
NAME = "Name in the menu."
NOTHING_ADDED = "Nothing was added."
SCORES_FILES = "Scores of your system on {dataset}"
SCORES_FORMATS = (
    "LETOR scores (one number a line, in the order of a part), TREC runs, or CSV with query, document and "
    "score; several files, or a zip archive. A document's name is its id, or its row in the part's file. "
    "Names of files and folders tell fold, part and seed: Fold1/test.txt, seed2. "
    f"At most {LIMITS.upload_bytes // MB} MB."
)
SCORES_KEPT = "They are kept as runs, which only you see unless you share them."
BY_NAME = "as the files say"
OF_FOLD = "A file without a fold belongs to the folds whose test part has its queries."
OF_PART = "A file without fold and part belongs to test parts."
ONLY_TEST = "Pages show them when *Reveal test* is on."
READING = "Reading …"
UNPACKING = "Unpacking …"
WAITING = "Waiting for another visitor's data set"
QUERIES = "Of all three parts."
SIZES = "Log-uniform: many small queries."
NONLINEARITY = "Variance share that no linear model explains."
NOISE = "Standard deviation; the signal's is about 1."
PAIR = "Preference pair: documents of one query with different grades."
DOWNLOADS_FULL = "Files for downloads take much memory now. Wait a minute."
DOWNLOAD = "Before normalisation, with exact values."
FEATURES = "{described}. {CORRELATION}. Features as in the file."
CORRELATING = "Computing …"
ALREADY = "This file is here already."
NOT_HERE = "The link's data set “{name}” is not here. Another one is shown."
CAN_BE_GENERATED = "You can generate it: about {documents:,.0f} documents, for you alone."
CANNOT_BE_GENERATED = "It cannot be generated: {why}"
OWN = "Only you see **{name}**."
MISSING_FOLDS = (
    "{missing} missing between the folds of **{name}**. Results over folds cover only {folds}. To have all, "
    "upload an archive with every fold."
)
GENERATED = "About {documents:,.0f} documents, 60 % for training. Links to **{name}** give the same data."
THINNED = " Drawn: {drawn:,} of {of:,} {what}."


def histograms(queries: int, documents: int) -> str:
    """Return the histograms' caption."""
    return (
        f"{counted(queries)}, {documents:,} documents by grade. Then queries by size, share graded above "
        "0, and preference pairs."
    )


HEATMAP = (
    "Query {query}, {documents:,} documents. Colours: each feature's range in this query; blank: constant."
)
NORMALISED = "{feature}. Queries sorted by median; the global z-score uses the training part."
# files in memory
UPLOAD_EXPIRED = (
    "Your upload expired; choose the files again. Unchecked files stay for {minutes} minutes, for {crowded} "
    "if memory is short, and for {seconds} seconds without a connection."
)
TOO_LARGE = "More than {most} at once. Compress files, upload one fold, or use a data folder."
TOO_SLOW = "The upload was too slow, or took too long."
SHARE_FULL = (
    "Uploads from your network address take {held} of its {most} of memory. Try again later, or compress "
    "your files."
)
MEMORY_FULL = "Uploads take {held} of {most} of memory. Try again later, or compress your files."


def synthetic(dataset: str) -> str:
    """Describe a synthetic data set in a sentence; "" for others."""
    if dataset == DEMONSTRATION:
        return "Synthetic: the demonstration set of rankviz."
    if Recipe.named(dataset) is not None:
        return "Synthetic, by the recipe in the name."
    return ""


def missing_folds(name: str, folds: Iterable[str]) -> str:
    """Warn of a gap in the numbers of folds, and say what follows from it; "" for no gap."""
    numbers = sorted(int(fold.removeprefix("Fold")) for fold in folds)
    gap = sorted(set(range(numbers[0], numbers[-1])) - set(numbers))
    if not gap:
        return ""
    missing, there = (", ".join(f"Fold{number}" for number in own) for own in (gap, numbers))
    missing += " is" if len(gap) == 1 else " are"
    return MISSING_FOLDS.format(missing=missing, name=name, folds=there)


def described(spec: RunSpec, part: str) -> str:
    """Name the data only: "OHSUMED fold 1 · training"."""
    return f"{data_words(spec)} · {PART_NAMES[part]}"


def reading(summary: Summary, queries: pd.DataFrame) -> str:
    """Say which queries give most pairs, and which give none."""
    if summary.pairs == 0:
        return "no query has two documents of different grades: no preference pairs"
    half = queries_holding(0.5, queries["pairs"].to_numpy())
    low, median, high = summary.documents_per_query
    sizes = f"{span(low, high, ',')} document{'' if high == 1 else 's'}"
    sizes += f" (median {median:,.0f})" if low < high else ""
    relevant = 1 - summary.grades.get(0, 0) / summary.documents
    return (
        f"{half:,} of {counted(summary.queries)} have half of the {summary.pairs:,} preference pairs; "
        f"{sizes} per query, {percent(relevant)} graded above 0"
    )


def counted(n: int) -> str:
    """Format a number of queries."""
    return f"{n:,} {'query' if n == 1 else 'queries'}"


def features_reading(table: pd.DataFrame) -> str:
    """Name the feature most correlated with the grade; count negative correlations and constant features."""
    correlation = table["correlation"]
    constant = int(table["constant"].sum())
    words = (
        [f"{constant} of {len(table)} features {'is' if constant == 1 else 'are'} constant"]
        if constant
        else []
    )
    if correlation.notna().any():
        best = table.loc[correlation.abs().idxmax()]
        negative = int((correlation < 0).sum())
        words.insert(
            0,
            f"{best['label']} correlates most with the grade (ρ = {with_minus(best['correlation'], '.2f')}); "
            f"{negative} of {int(correlation.notna().sum())} correlations are negative",
        )
    else:
        words.insert(0, "no feature correlates with the grade")
    return "; ".join(words)


def normalisation_reading(table: pd.DataFrame, feature: str) -> str:
    """Give the share of a feature's variance between queries, before and after."""
    between = table.groupby("normalisation", sort=False)["between"].first()
    if np.isnan(between["none"]):
        return f"{feature} is constant; every normalisation makes it 0"
    after = [
        f"{percent(between[key])} after {NORMALISATIONS[key].label}"
        for key in between.index
        if key != "none" and not np.isnan(between[key])
    ]
    shares = f" ({', '.join(after)})" if after else "; it is constant within every query"
    return (
        f"{percent(between['none'])} of the variance of {feature} lies between queries, where a linear "
        f"ranking cannot use it{shares}"
    )


def rows(summary: Summary) -> dict[str, str]:
    """Return the counts of a part by name."""
    low, median, high = summary.documents_per_query
    constant = ", ".join(map(str, summary.constant_features[:12]))
    more = ", …" if len(summary.constant_features) > 12 else ""
    rows = {
        "queries": f"{summary.queries:,}",
        "documents": f"{summary.documents:,}",
        "documents per query (least, median, most)": f"{low:,}, {median:,.0f}, {high:,}",
    }
    rows |= {f"documents of grade {grade}": f"{n:,}" for grade, n in summary.grades.items()}
    return rows | {
        "preference pairs": f"{summary.pairs:,}",
        "queries without relevant documents": f"{summary.queries_without_relevant:,}",
        "queries without a pair": f"{summary.queries_without_pairs:,}",
        "features": f"{summary.features:,}",
        "constant features": f"{len(summary.constant_features)}{f' ({constant}{more})' if constant else ''}",
        "documents equal to an earlier one": f"{summary.duplicate_documents:,}",
        "documents with all features 0": f"{summary.zero_documents:,}",
    }
