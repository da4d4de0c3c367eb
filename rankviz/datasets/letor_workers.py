"""Parses chunks of LETOR text in this process or in several, with the same results; explains bad lines.

The processes run `letor_lines` as a program and receive only lines. `multiprocessing` would import the
caller's main module in each process: it would run an unguarded script again, and in a server the app. Blocks
keep the order of their chunks, so the error is always about the first bad line. This process parses again any
chunk that a worker could not, and raises its errors. `explain` receives only lines that `letor_lines`
refused, so it never decides about acceptance.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import IO

from rankviz.common.errors import DataError
from rankviz.common.parallel import ENVIRONMENT, cores
from rankviz.datasets import letor_lines
from rankviz.datasets.letor_lines import (
    DOCUMENT_ID_BYTES,
    INT64_MAX,
    MAX_FEATURES,
    BadLine,
    Block,
    parse_lines,
    receive_block,
    send_chunk,
)
from rankviz.datasets.textfile import Chunk, estimated_text_bytes, show

_DIGITS = re.compile(rb"[0-9]+")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_MISSING = {b"null", b"nan", b"+nan", b"-nan", b"na", b"n/a", b"none", b"?"}
_INFINITE = {b"inf", b"+inf", b"-inf", b"infinity", b"+infinity", b"-infinity"}
_Fault = tuple[str, str, str]
"""Texts: found, expected, remedy."""
PARALLEL_BYTES = 64 << 20
"""Smallest text that starts processes: a start takes 0.2 s, enough to parse 4 MB here."""
MOST_WORKERS = 8
"""More would wait for this process, which reads, unpacks and stores."""
WINDOW = 2
"""Chunks per process: one in parsing and one waiting."""
Parsed = Iterator[tuple[Chunk, Block]]


def useful_workers(stream: IO[bytes]) -> int:
    """Return the useful number of processes for a stream's text; 1 means only this process."""
    return min(cores(), MOST_WORKERS) if estimated_text_bytes(stream) >= PARALLEL_BYTES else 1


def parse_chunk(chunk: Chunk, path: str) -> Block:
    """Parse a chunk. Raises `DataError` at the first bad line."""
    try:
        return parse_lines(*chunk)
    except BadLine as bad:
        number = bad.number
    raise explain(chunk.lines[number - chunk.first], path, number)


@contextlib.contextmanager
def parsed(chunks: Iterable[Chunk], path: str, workers: int) -> Iterator[Parsed]:
    """Yield chunks with their documents, in order; end all processes with the context.

    Errors of `chunks` arrive as in sequential parsing: a `DataError` after the errors of earlier chunks, a
    stop at once.
    """
    if workers < 2:
        yield ((chunk, parse_chunk(chunk, path)) for chunk in chunks)
        return
    with _Workers(workers, path) as pool:
        yield _in_order(chunks, pool, WINDOW * workers)


def _in_order(chunks: Iterable[Chunk], pool: _Workers, window: int) -> Parsed:
    under_way: deque[tuple[Chunk, Future[Block]]] = deque()
    source, fault = iter(chunks), None
    while True:
        try:
            chunk = next(source)
        except StopIteration:
            break
        except DataError as error:
            fault = error
            break
        if len(under_way) == window:
            first, block = under_way.popleft()
            yield first, block.result()
        under_way.append((chunk, pool.parse(chunk)))
    for first, block in under_way:
        yield first, block.result()
    if fault is not None:
        raise fault


class _Workers:
    """Parsing processes, each with a thread that waits for it."""

    def __init__(self, number: int, path: str) -> None:
        self._path, self._number = path, number
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._over = False

    def __enter__(self) -> _Workers:
        self._all = [_Worker() for _ in range(self._number)]
        for worker in self._all:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(self._number, "letor")
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the processes and wait for their end."""
        self._over = True
        for worker in self._all:
            worker.end()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._all:
            worker.close()

    def parse(self, chunk: Chunk) -> Future[Block]:
        """Parse a chunk in the next idle process."""
        return self._threads.submit(self._parse, chunk)

    def _parse(self, chunk: Chunk) -> Block:
        worker = self._idle.get()
        try:
            block = worker.parse(chunk)
        finally:
            self._idle.put(worker)
        if block is None and self._over:
            raise EOFError  # the caller has left: do not parse it here
        return parse_chunk(chunk, self._path) if block is None else block


class _Worker:
    """One process; if it cannot start or has ended, it parses nothing."""

    def __init__(self) -> None:
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", ENVIRONMENT)
        # -P keeps this folder off sys.path: its types.py would hide Python's
        command = [sys.executable, "-P", str(Path(letor_lines.__file__))]
        self._process: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(
                command,
                env=os.environ | dict.fromkeys(names, "1"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )

    def parse(self, chunk: Chunk) -> Block | None:
        """Parse a chunk; None for a bad line or an ended process."""
        if self._process is None or self._process.stdin is None or self._process.stdout is None:
            return None
        try:
            send_chunk(self._process.stdin, *chunk)
            return receive_block(self._process.stdout)
        except (OSError, EOFError):
            return None

    def end(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Wait for the process's end, and close its streams."""
        if self._process is not None:
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):  # unsent data in a broken pipe
                    stream.close() if stream is not None else None


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
    elif b"," in token or b";" in token:
        what = "the header of a CSV file" if re.search(rb"[A-Za-z_]", token) else "a line of a CSV file"
        yield (
            f"{show(token)}, which looks like {what}",
            "lines of LETOR's format, such as 2 qid:1 1:0.5 2:0.3",
            "Write each line as 'grade qid:query index:value …', without a header.",
        )
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
