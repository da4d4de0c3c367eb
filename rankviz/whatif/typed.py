"""New documents from typed or pasted text."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

import numpy as np

from rankviz.common.errors import DataError, DataWarning
from rankviz.datasets.letor import parse_letor

_NAME = "the text"
_BETWEEN = re.compile(r"[\s,;]+")


@dataclass(frozen=True)
class Typed:
    """A new document: its features (d,), and its grade if the text has one."""

    features: tuple[float, ...]
    grade: int | None


def typed_documents(text: str, n_features: int) -> list[Typed]:
    """Return a text's documents, one per line: LETOR lines, or d numbers with blanks, commas or semicolons.

    Query ids of LETOR lines are ignored; missing features are 0. Raises `DataError` with the line for other
    text.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise DataError(
            "an empty text",
            expected=f"a document: “1 qid:1 1:0.5 2:0.25 …”, or its {n_features} features",
            remedy="Type or paste one.",
        )
    read = _letor if ":" in lines[0].partition("#")[0] else _numbers
    return [read(line, place, n_features) for place, line in enumerate(lines, start=1)]


def _letor(line: str, place: int, n_features: int) -> Typed:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # one line needs no regrouping
        data = parse_letor(line.encode(), name=f"{_NAME}, document {place}")
    if data.n_features > n_features:
        raise _other_width(f"feature {data.n_features} in document {place}", n_features)
    features = np.zeros(n_features)
    features[: data.n_features] = data.X[0]
    return Typed(tuple(features.tolist()), int(data.y[0]))


def _numbers(line: str, place: int, n_features: int) -> Typed:
    words = [word for word in _BETWEEN.split(line.strip()) if word]
    try:
        values = tuple(float(word) for word in words)
    except ValueError as error:
        raise DataError(
            f"document {place} of the text has something that is no number ({error})",
            expected=f"{n_features} numbers with blanks, commas or semicolons between them",
            remedy="Write decimal points as points, or paste a line of LETOR.",
        ) from error
    if len(values) != n_features:
        raise _other_width(f"{len(values)} numbers in document {place}", n_features)
    if not np.isfinite(values).all():
        raise DataError(
            f"document {place} of the text has a feature that is not finite",
            expected="finite numbers",
            remedy="Give a number for every feature.",
        )
    return Typed(values, None)


def _other_width(found: str, n_features: int) -> DataError:
    return DataError(
        found,
        expected=f"{n_features} features, as the other documents have",
        remedy="Leave out what is too much, or add what is missing.",
    )
