"""Parses chunks of LETOR text in this process or in several, with the same results.

The processes run `letor_lines` as a program and receive only lines. `multiprocessing` would import the
caller's main module in each process: it would run an unguarded script again, and in a server the app. Blocks
keep the order of their chunks, so the error is always about the first bad line. This process parses again any
chunk that a worker could not, and raises its errors.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import IO

from rankviz.common.errors import DataError
from rankviz.common.threads import ENVIRONMENT, cores
from rankviz.datasets import letor_lines
from rankviz.datasets.letor_faults import explain
from rankviz.datasets.letor_lines import BadLine, Block, parse_lines, receive_block, send_chunk
from rankviz.datasets.textfile import Chunk, text_ahead

WORTHWHILE_BYTES = 64 << 20
"""Smallest text that starts processes: a start takes 0.2 s, enough to parse 4 MB here."""
MOST_WORKERS = 8
"""More would wait for this process, which reads, unpacks and stores."""
WINDOW = 2
"""Chunks per process: one in parsing and one waiting."""

Parsed = Iterator[tuple[Chunk, Block]]


def worthwhile(stream: IO[bytes]) -> int:
    """Return the useful number of processes for a stream's text; 1 means only this process."""
    return min(cores(), MOST_WORKERS) if text_ahead(stream) >= WORTHWHILE_BYTES else 1


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
