"""Runs in and out as files of other tools: records of given scores, TREC runs, and relevance judgements."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

import numpy as np
import pandas as pd

from rankviz.common.arrays import FloatArray
from rankviz.common.progress import silent
from rankviz.datasets.array_checks import score_array
from rankviz.datasets.group_files import score_lines
from rankviz.datasets.score_files import Given, Opened, names_in_runs, safe_name
from rankviz.datasets.types import RankingData
from rankviz.runs.description import PART_NAMES, describe
from rankviz.runs.families import evaluated
from rankviz.runs.record import RunRecord
from rankviz.runs.run import versions
from rankviz.runs.spec import RunSpec


def records_of(given: Given, dataset: str, folds: Opened) -> list[RunRecord]:
    """Return the runs of a system that was given by its scores, one for each fold and seed."""
    every = [(repr((at, part)), own) for at, parts in given.scores.items() for part, own in parts.items()]
    system, found = system_named(given.name, dict(every)), []
    for (name, seed), scores in given.scores.items():
        fold = folds[name]()
        spec = RunSpec(dataset, name, fold.digest, method="given", system=system, seed=seed)
        own = {part: data for part, data in fold.parts.items() if part in scores}
        found.append(record_of(spec, own, scores))
    return found


def system_named(name: str, scores: Mapping[str, FloatArray]) -> str:
    """Return the value of the setting `system`: the name with a digest of the scores."""
    h = hashlib.blake2b(digest_size=8)
    for place, values in sorted(scores.items()):
        h.update(f"{place} {len(values)}".encode() + np.ascontiguousarray(values).tobytes())
    return f"{safe_name(name)}@{h.hexdigest()}"


def record_of(spec: RunSpec, parts: Mapping[str, RankingData], scores: Mapping[str, FloatArray]) -> RunRecord:
    """Return the run of given scores on parts, with the metrics of every other run."""
    result = evaluated(parts, silent, lambda part, data, _: (scores[part], 0.0))
    return RunRecord(
        spec=spec,
        status="Its scores were read from files.",
        objective=math.nan,
        n_components=0,
        n_pairs=0,
        metrics=result.metrics,
        scores=result.scores,
        by_order=result.by_order,
        weights=np.zeros(0),
        trace=pd.DataFrame(),
        seconds={},
        peak_memory=math.nan,
        versions=dict(versions()),
    )


def write_run(record: RunRecord, part: str, data: RankingData, stream: IO[bytes]) -> None:
    """Write a part's scores as a TREC run with a header of ir_metadata (doi 10.1145/3477495.3531738)."""
    tag = safe_name(record.spec.get("system", "").rpartition("@")[0] or f"rankviz-{record.spec.hash}")
    stream.writelines(_header(record, part, tag))
    write_trec(record.scores[part], data, tag.replace(" ", "-"), stream)


def write_trec(scores: FloatArray, data: RankingData, tag: str, stream: IO[bytes]) -> None:
    """Write scores (n,) as lines `query Q0 document rank score tag`; ties in file order.

    Raises `DataError` unless there is one finite score per document.
    """
    values = score_array(scores, data.n_documents, data.name, data.query_of)
    of_query = np.repeat(np.arange(data.n_queries), np.diff(data.ptr))
    order = np.lexsort((data.rows, -values, of_query))
    ranks = np.arange(data.n_documents) - data.ptr[of_query] + 1
    queries, names = data.query_labels, names_in_runs(data)
    for q, row, rank, score in zip(of_query, order, ranks, values[order].tolist(), strict=True):
        stream.write(f"{queries[q]} Q0 {names[row]} {rank} {score!r} {tag}\n".encode())


def write_qrels(data: RankingData, stream: IO[bytes]) -> None:
    """Write the grades of a part as TREC's relevance judgements, lines `query 0 document grade`."""
    queries = np.repeat(data.query_labels, np.diff(data.ptr))
    for query, name, grade in zip(queries, names_in_runs(data), data.y.tolist(), strict=True):
        stream.write(f"{query} 0 {name} {grade}\n".encode())


def _header(record: RunRecord, part: str, tag: str) -> Iterator[bytes]:
    """Yield the lines of the header: YAML, whose texts JSON quotes."""
    spec = record.spec
    libraries = [f"{name}={number}" for name, number in record.versions.items()]
    about: dict[str, Any] = {
        "schema version": 0.1,
        "tag": tag,
        "platform": {"software": {"libraries": {"python": libraries}}},
        "research goal": {"evaluation": {"reported measures": list(record.metrics[part])}},
        "implementation": {"source": {"lang": "python"}},
        "method": {
            "automatic": True,
            "score ties": "file order",
            "retrieval": [{"name": tag, "method": str(describe(spec)), "settings": spec.values}],
        },
        "data": {
            "test collection": {"name": spec.dataset, "fold": spec.fold, "part": PART_NAMES[part]},
            "digest": spec.digest,
        },
    }
    yield b"# ir_metadata.start\n"
    for line in _yaml(about):
        yield f"# {line}\n".encode()
    yield b"# ir_metadata.end\n"


def _yaml(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines of YAML for nested mappings; all other values in JSON, which is YAML too."""
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield f"{key}:"
            yield from (f"  {line}" for line in _yaml(inner))
        else:
            yield f"{key}: {json.dumps(inner)}"


WRITERS: dict[str, Callable[[RunRecord, str, RankingData, IO[bytes]], object]] = {
    "trec": write_run,
    "scores": lambda record, part, data, stream: stream.writelines(score_lines(record.scores[part], data)),
    "qrels": lambda record, part, data, stream: write_qrels(data, stream),
}
"""Formats of other tools: writers of a record's part, with the data of the part."""
