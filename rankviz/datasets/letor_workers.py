"""Chunks of LETOR text parsed one after another, or by several processes at once, with the same results.

The processes run `letor_lines` as a program and are told nothing but lines. They are no pool of
`multiprocessing`, which imports the caller's main module once more: a script without a guard would run again
in each, and in a server that would be the app. Blocks come in the order of their chunks, so that the first
bad line is the one that is told; what a process cannot parse, and what one that is gone did not, is parsed
here, where errors find their words.
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
"""Text from which on processes are started: they take a fifth of a second, in which 4 MB are parsed."""
MOST_WORKERS = 8
"""More would wait for this process, which reads, unpacks and puts away what they parse."""
WINDOW = 2
"""Chunks under way for each process: one that it parses, one that is ready for it."""

Parsed = Iterator[tuple[Chunk, Block]]


def worthwhile(stream: IO[bytes]) -> int:
    """How many processes are worth while for the text of a stream; 1 stands for none beside this one."""
    return min(cores(), MOST_WORKERS) if text_ahead(stream) >= WORTHWHILE_BYTES else 1


def parse_chunk(chunk: Chunk, path: str) -> Block:
    """The documents of a chunk; raises `DataError` at the first bad line."""
    try:
        return parse_lines(*chunk)
    except BadLine as bad:
        number = bad.number
    raise explain(chunk.lines[number - chunk.first], path, number)


@contextlib.contextmanager
def parsed(chunks: Iterable[Chunk], path: str, workers: int) -> Iterator[Parsed]:
    """Give the chunks with their documents, in order; no process is left when the context does.

    What `chunks` raises comes where it would if they were parsed one after another: after the errors of
    chunks before, if it is a `DataError`, and at once, if somebody asks for a stop.
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
    """Processes that parse, and for each a thread that waits for it."""

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
        """End the processes, whatever they are at, and wait until they are gone."""
        self._over = True
        for worker in self._all:
            worker.end()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._all:
            worker.close()

    def parse(self, chunk: Chunk) -> Future[Block]:
        """Have one parse a chunk as soon as it has nothing else to do."""
        return self._threads.submit(self._parse, chunk)

    def _parse(self, chunk: Chunk) -> Block:
        worker = self._idle.get()
        try:
            block = worker.parse(chunk)
        finally:
            self._idle.put(worker)
        if block is None and self._over:
            raise EOFError  # nobody asks any more
        return parse_chunk(chunk, self._path) if block is None else block


class _Worker:
    """One process; where it cannot be started, or is gone, it parses nothing."""

    def __init__(self) -> None:
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", ENVIRONMENT)
        # -P, for the `types` that lies beside this file is not Python's
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
        """The documents of a chunk; None for one with a bad line, and where the process is gone."""
        if self._process is None or self._process.stdin is None or self._process.stdout is None:
            return None
        try:
            send_chunk(self._process.stdin, *chunk)
            return receive_block(self._process.stdout)
        except (OSError, EOFError):
            return None

    def end(self) -> None:
        """End the process, in the midst of what it does."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Wait until the process is gone, and let go what connects with it."""
        if self._process is not None:
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):  # what was not sent yet
                    stream.close() if stream is not None else None
