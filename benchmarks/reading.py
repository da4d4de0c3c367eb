"""Reading LETOR text of 136 features, as MSLR's: by one process and several, into memory and into the cache.

RANKVIZ_READING names other sizes in MB, up to MSLR's: `RANKVIZ_READING="30 300 3900"`. Files are generated.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import report
from rankviz.common.memory import peak_memory, reset_peak_memory, resident_memory
from rankviz.common.threads import ENVIRONMENT, cores
from rankviz.datasets import letor_lines, letor_workers, read_cached, read_letor
from rankviz.datasets.letor_lines import receive_block, send_chunk
from rankviz.datasets.textfile import text_chunks

SIZES = "30 300"
"""Text, MB."""
ROUNDS = 3
LARGE = 10**9
"""Bytes of text from which on one round has to do, by all processes: one process alone takes long."""
FEATURES, DOCUMENTS_A_QUERY = 136, 120
INTO_MEMORY, FIRST, AGAIN = "into memory", "into the cache", "from the cache"
LOOKED_AT = f"{AGAIN}, all X looked at"
WAYS = ((INTO_MEMORY, 1), (INTO_MEMORY, cores()), (FIRST, 1), (FIRST, cores()), (AGAIN, 1), (LOOKED_AT, 1))
"""Ways of reading, and the processes that parse; what comes from the cache has been put there before."""


def main() -> None:
    rows, taken = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        for size in os.environ.get("RANKVIZ_READING", SIZES).split():
            path = Path(folder) / f"{size}.txt"
            generate(path, 10**6 * int(size))
            rows += measured(path)
            taken = memory_of_a_worker(path)
            path.unlink()
    notes = [
        f"Generated text of {FEATURES} features, all listed on every line. Each reading is a process of its "
        f"own, medians of {ROUNDS} rounds by turns, of text of {LARGE // 10**9} GB and more one round. Peak: "
        "what reading takes at most beyond what libraries took before, mapped pages that were looked at "
        f"among it. Processes that parse take {taken / 1e6:.0f} MB each beside that; here they do for files "
        f"of any size, otherwise for those of {letor_workers.WORTHWHILE_BYTES >> 20} MiB and more."
    ]
    report.write("reading", "Reading LETOR text", pd.DataFrame(rows), notes)


def generate(path: Path, size: int) -> None:
    """Write queries until the file has so many bytes: counts and decimals, as MSLR's features are."""
    rng = np.random.default_rng(0)
    with open(path, "wb") as stream:
        query = 0
        while stream.tell() < size:
            query += 1
            stream.write(lines(rng, query))


def lines(rng: np.random.Generator, query: int) -> bytes:
    """The documents of one query."""
    shape = (DOCUMENTS_A_QUERY, FEATURES // 2)
    counts, decimals = rng.integers(0, 2000, shape).tolist(), (10 * rng.random(shape)).tolist()
    form = " ".join(f"{2 * i + 1}:%d {2 * i + 2}:%.6f" for i in range(FEATURES // 2))
    out = []
    for grade, some, others in zip(rng.integers(0, 5, DOCUMENTS_A_QUERY), counts, decimals, strict=True):
        values = [value for pair in zip(some, others, strict=True) for value in pair]
        out.append(f"{grade} qid:{query} {form % tuple(values)} \n")
    return "".join(out).encode()


def measured(path: Path) -> list[dict[str, object]]:
    """A row for each way of reading a file."""
    large = path.stat().st_size >= LARGE
    ways = [way for way in WAYS if not large or way[1] == cores() or way[0] in (AGAIN, LOOKED_AT)]
    found: list[list[dict[str, float]]] = [[] for _ in ways]
    for _ in range(1 if large else ROUNDS):
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            for (way, processes), rounds in zip(ways, found, strict=True):
                cache = Path(folder) / str(processes if way == FIRST else cores())
                rounds.append(reading(path, way, processes, cache))
    return [row(path, way, processes, rounds) for (way, processes), rounds in zip(ways, found, strict=True)]


def row(path: Path, way: str, processes: int, rounds: list[dict[str, float]]) -> dict[str, object]:
    median = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    text, matrix = path.stat().st_size, median["matrix"]
    return {
        "text, MB": round(text / 1e6),
        "X, MB": round(matrix / 1e6),
        "way": way,
        "processes": processes,
        "seconds": median["seconds"],
        "MB/s": text / 1e6 / median["seconds"],
        "documents/s": round(median["documents"] / median["seconds"]),
        "peak, MB": median["peak"] / 1e6,
        "peak / X": median["peak"] / matrix,
    }


def memory_of_a_worker(path: Path) -> float:
    """The most that a process takes which parses chunks, in bytes, NumPy included; NaN where nobody tells."""
    command = [sys.executable, "-P", letor_lines.__file__]
    with path.open("rb") as stream, subprocess.Popen(command, stdin=-1, stdout=-1) as process:
        for chunk in itertools.islice(text_chunks(stream, path.name), 5):
            send_chunk(process.stdin, *chunk)
            receive_block(process.stdout)
        status = Path(f"/proc/{process.pid}/status")
        told = status.read_text().splitlines() if status.exists() else []
        return next((1024.0 * int(line.split()[1]) for line in told if line.startswith("VmHWM:")), np.nan)


def reading(path: Path, way: str, processes: int, cache: Path) -> dict[str, float]:
    """One reading, by a process of its own."""
    command = [sys.executable, "-m", "benchmarks.reading", str(path), way, str(cache)]
    environment = os.environ | {ENVIRONMENT: str(processes)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def read(path: str, way: str, cache: str) -> dict[str, float]:
    """What this process is started for."""
    letor_workers.WORTHWHILE_BYTES = 0
    before = resident_memory()
    reset_peak_memory()
    began = time.perf_counter()
    data = read_letor(path) if way == INTO_MEMORY else read_cached(path, cache_dir=cache)
    if way == LOOKED_AT:
        data.X.sum()
    return {
        "seconds": time.perf_counter() - began,
        "peak": peak_memory() - before,
        "documents": data.n_documents,
        "matrix": data.X.nbytes,
    }


if __name__ == "__main__":
    print(json.dumps(read(*sys.argv[1:])))
