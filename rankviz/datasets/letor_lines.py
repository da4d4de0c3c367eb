"""Parses lines of LETOR text into numbers, a chunk of lines at a time; the only parser of the format.

A line is `grade qid:query index:value … # comment`, and `_LINE` defines it. `float` and index checks refuse
further lines. `letor_faults` explains refusals.

This module imports nothing of rankviz, because `letor_workers` runs it as a program: a process that loads
only NumPy starts in a fifth of a second and takes 30 MB.
"""

from __future__ import annotations

import math
import re
import signal
import struct
import sys
from array import array
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

INT64_MAX = 2**63 - 1
MAX_FEATURES = 100_000
DOCUMENT_ID_BYTES = 256

# possessive quantifiers (*+, ++) prevent backtracking: time stays linear in the length of a bad line
_LINE = re.compile(
    rb"[ \t]*+([0-9]{1,19}+)[ \t]++qid:(-?+[0-9]{1,19}+)"
    rb"((?:[ \t]++[0-9]{1,6}+:[-+.0-9eE]++)*+)"
    rb"[ \t]*+(?:\#(.*+))?+",
    re.DOTALL,
)
_NOT_A_DOCUMENT = re.compile(rb"[ \t]*+(?:\#.*+)?+", re.DOTALL)
_DOCUMENT_ID = re.compile(rb"(?:.*?[ \t])??docid[ \t]*=[ \t]*([^ \t]+)", re.DOTALL)
_COUNT = struct.Struct("<q")


class BadLine(ValueError):  # noqa: N818 - where it is; letor_faults says what is wrong with it
    """A line that is neither a document nor blank; `number` is its number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Block(NamedTuple):
    """Documents of one chunk.

    Attributes
    ----------
    lines, y, qid, lengths : (n,) int64
        Line, grade, query and number of listed values of each document.
    columns : (k,) int32
        One document's columns if all list the same k features in the same order; else the columns of all
        values, one after another.
    values : (listed,) float64
        Of all documents, one after another.
    documents : list of n bytes
        Their ids, b"" for none.
    """

    lines: NDArray[np.int64]
    y: NDArray[np.int64]
    qid: NDArray[np.int64]
    lengths: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]
    documents: list[bytes]

    @property
    def alike(self) -> bool:
        """True if all documents list the same features in the same order."""
        return len(self.y) * len(self.columns) == len(self.values)


def parse_lines(first: int, lines: list[bytes]) -> Block:
    """Parse consecutive lines, from line number `first`. Raises `BadLine` at the first bad one."""
    documents = _Documents()
    for number, line in enumerate(lines, first):
        if line and not documents.add(line, number) and not _NOT_A_DOCUMENT.fullmatch(line):
            raise BadLine(number)
    return documents.block()


class _Documents:
    """Collects documents line by line; reuses the last columns, because most lines list the same features."""

    def __init__(self) -> None:
        self._numbers: list[tuple[int, int, int, int]] = []
        self._ids: list[bytes] = []
        self._of_each: list[NDArray[np.int32]] = []
        self._values = array("d")
        self._indices: list[bytes] = []
        self._columns: NDArray[np.int32] | None = np.zeros(0, np.int32)

    def add(self, line: bytes, number: int) -> bool:
        """Add the document on a line; return False if it is none."""
        match = _LINE.fullmatch(line)
        if match is None:
            return False
        label, query, body, comment = match.groups()
        tokens = body.replace(b":", b" ").split()
        if tokens[::2] != self._indices:
            self._indices = tokens[::2]
            self._columns = _columns(self._indices)
        values, document = _values(tokens[1::2]), _document_id(comment)
        if self._columns is None or values is None or document is None:
            return False
        grade, qid = int(label), int(query)
        if grade > INT64_MAX or not -INT64_MAX - 1 <= qid <= INT64_MAX:
            return False
        self._numbers.append((number, grade, qid, len(values)))
        self._ids.append(document)
        self._of_each.append(self._columns)
        self._values.fromlist(values)
        return True

    def block(self) -> Block:
        """Return all documents added."""
        lines, y, qid, lengths = np.array(self._numbers, np.int64).reshape(-1, 4).T
        columns = np.zeros(0, np.int32)
        if self._of_each:
            alike = all(each is self._of_each[0] for each in self._of_each)
            columns = self._of_each[0] if alike else np.concatenate(self._of_each)
        values = np.frombuffer(self._values, np.float64) if self._values else np.zeros(0)
        return Block(lines, y, qid, lengths, columns, values, self._ids)


def _columns(indices: list[bytes]) -> NDArray[np.int32] | None:
    """Return columns (from 0) of feature indices (from 1); None if one is out of range or repeated."""
    numbers = [int(index) for index in indices]
    distinct = set(numbers)
    if len(distinct) < len(numbers) or 0 in distinct or max(numbers, default=0) > MAX_FEATURES:
        return None
    return np.array(numbers, np.int32) - np.int32(1)


def _values(tokens: list[bytes]) -> list[float] | None:
    """Parse values from digits, signs, points and e; None if one is malformed or overflows."""
    try:
        row = list(map(float, tokens))
    except ValueError:
        return None
    return row if math.isfinite(sum(row)) or all(map(math.isfinite, row)) else None


def _document_id(comment: bytes | None) -> bytes | None:
    """Return the token after `docid =`, b'' if there is none, None if it is too long."""
    match = _DOCUMENT_ID.match(comment) if comment else None
    document: bytes = match[1] if match else b""
    return document if len(document) <= DOCUMENT_ID_BYTES else None


# Protocol between processes: lengths, then bytes; nothing is pickled.


def send_chunk(stream: IO[bytes], first: int, lines: list[bytes]) -> None:
    """Send consecutive lines to a parsing process."""
    _send(stream, [_COUNT.pack(first), b"\n".join(lines)])


def receive_block(stream: IO[bytes]) -> Block | None:
    """Receive a parsed block, None if the process could not parse it. Raises EOFError if it has ended."""
    parts = _receive(stream)
    if not parts:
        return None
    lines, y, qid, lengths = np.frombuffer(parts[0], np.int64).reshape(4, -1)
    columns, values = np.frombuffer(parts[1], np.int32), np.frombuffer(parts[2], np.float64)
    documents = parts[3].split(b"\n") if len(y) else []
    return Block(lines, y, qid, lengths, columns, values, documents)


def _serve(chunks: IO[bytes], blocks: IO[bytes]) -> None:
    """Parse chunks until the input ends; send an empty reply for a chunk with a bad line."""
    while True:
        try:
            number, text = _receive(chunks)
        except EOFError:
            return
        try:
            block = parse_lines(_COUNT.unpack(number)[0], text.split(b"\n"))
        except (BadLine, MemoryError):
            _send(blocks, [])
            continue
        numbers = np.stack(block[:4]).tobytes()
        parts = [numbers, block.columns.tobytes(), block.values.tobytes(), b"\n".join(block.documents)]
        _send(blocks, parts)


def _send(stream: IO[bytes], parts: list[bytes]) -> None:
    sizes = [len(part) for part in parts]
    stream.write(struct.pack(f"<{1 + len(sizes)}q", len(sizes), *sizes))
    for part in parts:
        stream.write(part)
    stream.flush()


def _receive(stream: IO[bytes]) -> list[bytes]:
    (count,) = _COUNT.unpack(_exactly(stream, _COUNT.size))
    sizes = struct.unpack(f"<{count}q", _exactly(stream, count * _COUNT.size))
    return [_exactly(stream, size) for size in sizes]


def _exactly(stream: IO[bytes], size: int) -> bytes:
    found = stream.read(size)
    if len(found) < size:
        raise EOFError
    return found


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and kills this process
    _serve(sys.stdin.buffer, sys.stdout.buffer)
