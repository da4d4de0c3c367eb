"""A slow reader of LETOR text that is obviously right: no regular expressions, one rule after another."""

import gzip
import zlib
from dataclasses import dataclass, field

DIGITS = set("0123456789")
INT64 = range(-(2**63), 2**63)


class RefusedError(Exception):
    pass


@dataclass
class NaiveDocument:
    grade: int
    query: int
    features: dict[int, float]
    document: str


@dataclass
class NaiveFile:
    """Documents in file order; `grouped` gives positions by query, in order of first appearance."""

    documents: list[NaiveDocument] = field(default_factory=list)

    def grouped(self) -> dict[int, list[int]]:
        queries: dict[int, list[int]] = {}
        for position, document in enumerate(self.documents):
            queries.setdefault(document.query, []).append(position)
        return queries

    @property
    def width(self) -> int:
        return max((max(d.features, default=0) for d in self.documents), default=0)


def naive_read(content: bytes) -> NaiveFile:
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError, zlib.error) as error:
            raise RefusedError("gzip") from error
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError("encoding") from error
    _require(not content.startswith((b"PK\x03\x04", b"BZh", b"Rar!")), "an archive")
    out = NaiveFile()
    for line in text.removeprefix("\ufeff").split("\n"):
        line = line.removesuffix("\r")
        _require("\0" not in line and "\r" not in line, "control characters")
        head, _, comment = line.partition("#")
        if head.strip(" \t"):
            out.documents.append(_document(head, comment))
    _require(out.width > 0, "no documents, or none with features")
    return out


def _document(head: str, comment: str) -> NaiveDocument:
    tokens = head.replace("\t", " ").split(" ")
    tokens = [token for token in tokens if token]
    _require(len(tokens) >= 2 and tokens[1].startswith("qid:"), "qid")
    query = tokens[1][len("qid:") :]
    negative = query.startswith("-")
    features: dict[int, float] = {}
    for token in tokens[2:]:
        _require(token.count(":") == 1, "index:value")
        index, value = token.split(":")
        number = _whole(index, 6)
        _require(1 <= number <= 100_000 and number not in features, "index")
        features[number] = _decimal(value)
    grade, query_id = _whole(tokens[0], 19), _whole(query[negative:], 19) * (-1 if negative else 1)
    _require(grade in INT64 and query_id in INT64, "int64")
    return NaiveDocument(grade, query_id, features, _document_id(comment))


def _whole(text: str, digits: int) -> int:
    _require(1 <= len(text) <= digits and set(text) <= DIGITS, "digits")
    return int(text)


def _decimal(text: str) -> float:
    """sign? (digits point? digits? | point digits) (e sign? digits)?, and finite"""
    body = text.replace("E", "e")
    mantissa, marker, exponent = body.partition("e")
    if mantissa[:1] in ("+", "-"):
        mantissa = mantissa[1:]
    whole, _, fraction = mantissa.partition(".")
    _require(bool(whole + fraction) and set(whole + fraction) <= DIGITS, "mantissa")
    if marker:
        if exponent[:1] in ("+", "-"):
            exponent = exponent[1:]
        _require(bool(exponent) and set(exponent) <= DIGITS, "exponent")
    value = float(text)
    _require(value - value == 0.0, "finite")
    return value


def _document_id(comment: str) -> str:
    """The token after the first `docid =` that begins the comment or follows white space."""
    comment = comment.replace("\t", " ")
    for at in range(len(comment)):
        if comment.startswith("docid", at) and (at == 0 or comment[at - 1] == " "):
            rest = comment[at + len("docid") :].lstrip(" ")
            if rest.startswith("=") and rest[1:].strip(" "):
                token = rest[1:].strip(" ").split(" ")[0]
                _require(len(token.encode()) <= 256, "document id")
                return token
    return ""


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise RefusedError(what)
