"""Faults of LETOR lines: the first fault of a line in words, with a remedy.

It receives only lines that `letor_lines` refused, so it never decides about acceptance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankviz.common.errors import DataError
from rankviz.datasets.letor_lines import DOCUMENT_ID_BYTES, INT64_MAX, MAX_FEATURES

_DIGITS = re.compile(rb"[0-9]+")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MISSING = {b"null", b"nan", b"+nan", b"-nan", b"na", b"n/a", b"none", b"?"}
_INFINITE = {b"inf", b"+inf", b"-inf", b"infinity", b"+infinity", b"-infinity"}

_Fault = tuple[str, str, str]
"""Texts: found, expected, remedy."""


def explain(line: bytes, path: str, number: int) -> DataError:
    """Return the error for the first fault of a refused line."""
    head, _, _ = line.partition(b"#")
    tokens = [token for token in re.split(rb"[ \t]+", head) if token]
    fault = next(_faults(tokens), None) or (
        f"a document id of more than {DOCUMENT_ID_BYTES} bytes",
        "a short token after 'docid ='",
        "Shorten the document ids.",
    )
    found, expected, remedy = fault
    return DataError(found, expected=expected, remedy=remedy, path=path, line=number)


def no_features(path: str) -> DataError:
    """Return the error for a file without features."""
    return DataError(
        "no features on any line",
        expected="index:value after the qid",
        remedy="Check that the features were exported too.",
        path=path,
    )


def show(token: bytes, limit: int = 40) -> str:
    """Quote a token for a message, shortened to `limit` characters."""
    text = token.decode("utf-8", errors="backslashreplace")
    return repr(text if len(text) <= limit else text[:limit] + "…")


# Only the first fault of these generators is used, so each check may rely on the earlier ones.


def _faults(tokens: list[bytes]) -> Iterator[_Fault]:
    yield from _grade_faults(tokens[0])
    yield from _query_faults(tokens)
    seen: set[int] = set()
    for token in tokens[2:]:
        yield from _feature_faults(token, seen)


def _grade_faults(token: bytes) -> Iterator[_Fault]:
    whole = "a relevance grade, a whole number ≥ 0, written without a point"
    if token.startswith(b"\xef\xbb\xbf"):
        yield "a byte-order mark inside the file", whole, "Remove it (were files joined?)."
    elif b":" in token:
        yield f"{show(token)} where the grade should be", whole, "Start each line with the grade."
    elif _DIGITS.fullmatch(token):
        yield from _too_large(token, "grade")
    elif _NUMBER.fullmatch(token):
        kind = "negative" if token.startswith(b"-") else "not a plain whole number"
        yield f"grade {show(token)}, which is {kind}", whole, "Recode the grades to 0, 1, 2 and so on."
    else:
        yield f"grade {show(token)}, which is not a number", whole, "Recode the grades to 0, 1, 2 and so on."


def _too_large(digits: bytes, what: str) -> Iterator[_Fault]:
    if len(digits) > 19 or int(digits) > INT64_MAX:
        yield f"{what} {show(digits)}", f"a {what} below 2^63", f"Renumber the {what}s."


def _query_faults(tokens: list[bytes]) -> Iterator[_Fault]:
    expected, remedy = (
        "qid:query right after the grade",
        "Write each line as 'grade qid:query index:value …', or give a group file (train.txt.query).",
    )
    if len(tokens) < 2 or not tokens[1].startswith(b"qid:"):
        late = [token for token in tokens[2:] if token.startswith(b"qid:")]
        if late:
            yield f"{show(late[0])} after {show(tokens[1])}", expected, remedy
        elif len(tokens) < 2:
            yield "no qid", expected, remedy
        else:
            yield f"no qid, but {show(tokens[1])}", expected, remedy
        return
    query = tokens[1].removeprefix(b"qid:")
    digits = query.removeprefix(b"-")
    if not _DIGITS.fullmatch(digits):
        found = f"query id {show(query)}" if query else "an empty query id"
        yield found, "an integer after 'qid:'", "Number the queries."
    elif query != b"-%d" % (INT64_MAX + 1):
        yield from _too_large(digits, "query id")


def _feature_faults(token: bytes, seen: set[int]) -> Iterator[_Fault]:
    index, colon, value = token.partition(b":")
    if not colon:
        yield f"{show(token)} without a colon", "index:value", "Write each feature as index:value."
    elif index == b"qid":
        yield f"a second query id {show(token)}", "one qid a line", "Put each document on its own line."
    yield from _index_faults(index, token)
    if int(index) in seen:
        yield f"feature {int(index)} twice", "each feature once per line", "Remove one of them."
    seen.add(int(index))
    yield from _value_faults(value, token)


def _index_faults(index: bytes, token: bytes) -> Iterator[_Fault]:
    expected = f"a feature index from 1 to {MAX_FEATURES}"
    if not _DIGITS.fullmatch(index):
        remedy = "Number the features from 1."
        yield f"feature index {show(index)} in {show(token)}", expected, remedy
    if len(index) > 6 or int(index) > MAX_FEATURES:
        yield f"feature index {show(index)}", expected, "Number the features 1, 2, 3, … without gaps."
    if int(index) == 0:
        yield "feature index 0", expected, "Number the features from 1 (add 1 to each index)."


def _value_faults(value: bytes, token: bytes) -> Iterator[_Fault]:
    expected = "a finite decimal number"
    if not value:
        yield f"no value in {show(token)}", expected, "Write each feature as index:value, without spaces."
    if value.lower() in _MISSING:
        remedy = "Leave the feature out (it is then 0) or fill in the query's minimum."
        yield f"missing value {show(value)} in {show(token)}", expected, remedy
    if value.lower() in _INFINITE:
        yield f"infinite value in {show(token)}", expected, "Replace infinite values."
    if not _NUMBER.fullmatch(value):
        yield f"value {show(value)} in {show(token)}", expected, "Write numbers like 0.25 or 2.5e-3."
    if abs(float(value)) == float("inf"):
        yield f"value {show(value)}, too large for float64", expected, "Rescale the feature."
