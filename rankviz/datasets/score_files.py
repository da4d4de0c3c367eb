"""Files of scores of any system, matched to the documents of folds: LETOR's, TREC runs and CSV.

A LETOR file has one number per line, in the order of a part's file. A TREC run has lines `query Q0 document
rank score tag`, a CSV file `query,document,score`. A document is named by its id, or by its row in the file
of its part, counted from 1. Names of files and folders tell fold, part and seed: Fold1, seed3, and a word
such as test.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rankviz.common.arrays import FloatArray, IntArray
from rankviz.common.errors import DataError
from rankviz.common.memory import megabytes
from rankviz.common.numbers import counted
from rankviz.datasets.archives import MB, Limits, Member, Upload, list_members, unpack
from rankviz.datasets.folds import PARTS, part_named
from rankviz.datasets.textfile import show, text_chunks
from rankviz.datasets.types import Fold, RankingData

LIMITS = Limits(text_bytes=256 * MB)
"""A TREC run of a million lines has about 45 MB."""
Names = NDArray[np.str_]
Opened = Mapping[str, Callable[[], Fold]]
"""Folds by their names, opened when needed."""
_TREC = ("query", "", "document", "", "score", "tag")
_PLAIN = ("query", "document", "score")
_COLUMNS = {
    "query": {"query", "qid", "query_id", "queryid", "topic"},
    "document": {"document", "docid", "doc_id", "document_id", "doc", "docno", "row"},
    "score": {"score", "prediction", "sim"},
}
_FORMATS = "one number a line, `query Q0 document rank score tag`, or query,document,score"
_LONGEST = 1000
"""Most characters of a name that are read."""
_FOLD = re.compile(r"(?<![a-z])fold[ _.-]?([0-9]{1,3})(?![0-9])")
_SEED = re.compile(r"(?<![a-z])seed[ _.-]?([0-9]{1,9})(?![0-9])")
_HEAD_LINES = 10_000
"""Comment lines and the like that a file may have besides."""
_PROSE = re.compile(r"(readme|licen[cs]e|changelog)\b.*|.*\.(md|pdf|json|py|ya?ml)", re.IGNORECASE)
_NAME_IT = "Name fold and part in the file's path, such as Fold1/test.txt, or choose them"


@dataclass(frozen=True)
class Given:
    """The scores of one system.

    Attributes
    ----------
    name : str
        Of safe signs only (see `safe_name`).
    scores : dict
        (fold, seed) -> part -> scores (n,), in the order of the part's documents.
    notes : tuple of str
        How the files were read, in sentences.
    """

    name: str
    scores: dict[tuple[str, int], dict[str, FloatArray]]
    notes: tuple[str, ...] = ()


def safe_name(name: str) -> str:
    """Reduce a name to signs that mean nothing in Markdown, HTML and addresses, 60 at most."""
    plain = unicodedata.normalize("NFC", name[:_LONGEST])  # long rows of one sign take quadratic time
    plain = re.sub(r" *[^\w.+()= -]+ *|(?<!\w)_+|_+(?!\w)", "-", plain)
    return re.sub(r"(?i)\bwww\.", "www-", plain).strip(" -._+=")[:60].strip() or "system"


def files_at(paths: Iterable[str | os.PathLike[str]], limits: Limits = LIMITS) -> list[Member]:
    """List the files at paths: files, folders with files, and zip archives. Raises `DataError` for none."""
    found: list[Member] = []
    for path in map(Path, paths):
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in inside:
            own = file.relative_to(path.parent).parts if path.is_dir() else (file.parent.name, file.name)
            if any(level.startswith(".") for level in own[1:]) or (path.is_dir() and not file.is_file()):
                continue
            if not file.is_file():
                raise _refused("no such file", "a file of scores", "Check the path.", str(path))
            if file.stat().st_size > limits.text_bytes:
                raise _too_large(str(file), limits)
            read = partial(_stream, file)
            if file.suffix.lower() == ".zip":
                found += list_members([Upload(file.name, read())], limits)
            else:
                found.append(Member(str(file), own, file.stat().st_size, read))
    return found


def _stream(file: Path) -> io.BytesIO:
    return io.BytesIO(file.read_bytes())


def read_given(
    files: Sequence[Member],
    folds: Opened,
    *,
    name: str = "",
    fold: str = "",
    part: str = "",
    limits: Limits = LIMITS,
) -> Given:
    """Read the scores of one system, called `name`, or after its files.

    `fold` and `part` apply to all files in place of their names. A file with query ids and without a fold is
    of the only fold, or of the test parts of all: each query's scores then go to the fold that tests it.
    Raises `DataError`, with file and line, for lines that are not scores, for documents that are unknown,
    missing or there twice, for a wrong number of scores, and beyond the limits.
    """
    found: dict[tuple[str, str], dict[str, FloatArray]] = {}
    tags, room, assumed = set[str](), limits.text_bytes, False
    files = [one for one in files if not _PROSE.fullmatch(one.path[-1])]
    for member in files:
        content = _content(member, room, limits)
        room -= len(content)
        where = _Place.of(member, folds, fold, part)
        _check_number(content, where.documents(folds), member.shown)
        lines = _lines(content, member.shown)
        tags |= {lines.tag} - {""}
        assumed |= not (where.fold or where.part)
        for of, own, scores in where.placed(lines, folds):
            parts = found.setdefault((of, where.seed), {})
            if own in parts:
                raise _refused(
                    f"again scores of the {own} part of {of}",
                    "each part once, or once for each seed",
                    "Leave one file out, or name seeds, such as seed1/ and seed2/.",
                    member.shown,
                )
            parts[own] = scores
    if not found:
        raise _refused("no scores", _FORMATS, "Choose files of scores.", files[0].shown if files else None)
    seeds = sorted({seed for _, seed in found}, key=lambda seed: (len(seed), seed))
    every = {(of, seeds.index(seed)): found[of, seed] for of, seed in sorted(found)}
    called = safe_name(name or (tags.pop() if len(tags) == 1 else _name_of(files)))
    notes = [*_notes(every, seeds), *["No name of a file tells a part, so they are of test parts."] * assumed]
    return Given(called, every, tuple(notes))


def _notes(scores: Mapping[tuple[str, int], Mapping[str, FloatArray]], seeds: Sequence[str]) -> Iterator[str]:
    folds = list(dict.fromkeys(fold for fold, _ in scores))
    parts = [part for part in PARTS if any(part in own for own in scores.values())]
    lines = sum(len(values) for own in scores.values() for values in own.values())
    yield f"{lines:,} scores: {', '.join(folds)}; {', '.join(parts)}."
    if len(seeds) > 1 and seeds != [str(k) for k in range(len(seeds))]:
        yield f"Seeds {', '.join(seeds)} are numbered from 0 here."


def _name_of(files: Sequence[Member]) -> str:
    """Return what the names of files have in common, or the folder or archive that is more than a place."""
    names = [file.path[-1].partition(".")[0] for file in files]
    same = next((k for k, signs in enumerate(zip(*names, strict=False)) if len(set(signs)) > 1), None)
    stem = min(names, key=len)[:same]
    archive = files[0].shown.rpartition(".zip: ")[0]
    return next((name for name in (stem, *files[0].path[:-1], archive) if not _is_place(name)), "system")


def _is_place(name: str) -> bool:
    """Return True for a name that tells only fold, part and seed, and for none."""
    words = re.split(r"[ _.-]+", _SEED.sub("", _FOLD.sub("", name.lower())))
    return all(not word or part_named(word) for word in words)


@dataclass(frozen=True)
class _Place:
    """Where a file says that its scores belong; "" for what it does not say."""

    fold: str
    part: str
    seed: str

    @classmethod
    def of(cls, member: Member, folds: Opened, fold: str, part: str) -> _Place:
        """Return what names of file and folders tell, or the given fold and part."""
        path = [level.lower() for level in member.path]
        numbers = {number for level in path for number in _FOLD.findall(level)}
        seeds = [number for level in path for number in _SEED.findall(level)]
        words = re.split(r"[^a-z]+", path[-1])
        parts = {found for word in words if (found := part_named(word))}
        named = f"Fold{int(numbers.pop())}" if len(numbers) == 1 else ""
        of = fold or named or (next(iter(folds)) if len(folds) == 1 else "")
        if of and of not in folds:
            raise _refused(of, f"one of {', '.join(folds)}", "Name the file after its fold.", member.shown)
        return cls(of, part or (parts.pop() if len(parts) == 1 else ""), seeds[-1] if seeds else "0")

    def documents(self, folds: Opened) -> int:
        """Return the number of documents to which a file may give scores."""
        names = [self.fold] if self.fold else list(folds)
        parts = [self.part] if self.part else PARTS
        return sum(folds[of]().parts[part].n_documents for of in names for part in parts)

    def placed(self, lines: _Lines, folds: Opened) -> Iterator[tuple[str, str, FloatArray]]:
        """Yield fold, part and scores of a file."""
        names = [self.fold] if self.fold else list(folds)
        parts = [self.part] if self.part else PARTS if self.fold else ["test"]
        return (self._by_row if lines.query is None else self._by_document)(lines, names, parts, folds)

    def _by_row(
        self, lines: _Lines, names: Sequence[str], parts: Sequence[str], folds: Opened
    ) -> Iterator[tuple[str, str, FloatArray]]:
        n = len(lines.scores)
        sizes = {(of, part): folds[of]().parts[part].n_documents for of in names for part in parts}
        fits = [place for place, size in sizes.items() if size == n]
        if len(fits) != 1:
            said = [f"{size:,} for the {part} part of {of}" for (of, part), size in sizes.items()]
            most = max(sizes.values())
            raise DataError(
                f"{n:,} scores" + (f", which fit {len(fits)} parts" if fits else ""),
                expected=f"one score for each document: {'; '.join(said[:6])}{'; …' * (len(said) > 6)}",
                remedy=f"{_NAME_IT}." if fits else "Write one number for each document of the part.",
                path=lines.shown,
                line=None if fits else lines.first + (most if n > most else n - 1),
            )
        ((of, part),) = fits
        data = folds[of]().parts[part]
        scores = np.empty(n)
        scores[np.argsort(data.rows, kind="stable")] = lines.scores
        yield of, part, scores

    def _by_document(
        self, lines: _Lines, names: Sequence[str], parts: Sequence[str], folds: Opened
    ) -> Iterator[tuple[str, str, FloatArray]]:
        places = [(of, part, folds[of]().parts[part]) for of in names for part in parts]
        queries = {(of, part): lines.queries_of(data) for of, part, data in places}
        known = np.logical_or.reduce([own >= 0 for own in queries.values()])
        if not known.all():
            at = int((~known).argmax())
            shown = f"{parts[0]} part" if len(parts) == 1 else "parts"
            raise DataError(
                f"query {lines.text('query', at)}",
                expected=f"a query of the {shown} of {', '.join(names)}, such as "
                f"{places[-1][2].query_labels[0]}",
                remedy=f"{_NAME_IT}.",
                path=lines.shown,
                line=lines.first + at,
            )
        for of, part, data in places:
            if (queries[of, part] >= 0).any():
                yield of, part, lines.matched(queries[of, part], data, f"the {part} part of {of}")


@dataclass(frozen=True)
class _Lines:
    """The lines of one file: scores (n,), and queries and documents if it names them; `first` is a line."""

    shown: str
    first: int
    scores: FloatArray
    query: pd.Categorical | None = None
    document: pd.Categorical | None = None
    tag: str = ""

    def text(self, column: str, at: int) -> str:
        """Quote a field for a message."""
        return show(str(getattr(self, column)[at]).encode())

    def queries_of(self, data: RankingData) -> IntArray:
        """Return each line's query by its position in a part; −1 for none."""
        assert self.query is not None
        labels = pd.Index([str(label) for label in data.query_labels])
        found: IntArray = labels.get_indexer(self.query.categories)[self.query.codes]
        return found

    def matched(self, queries: IntArray, data: RankingData, called: str) -> FloatArray:
        """Return a part's scores, by names of documents, or by rows if more of the file fits those."""
        names = names_in_runs(data)
        at, place = np.flatnonzero(queries >= 0), self._places(queries, data, names)
        if (place < 0).any():
            rows = (data.rows + 1).astype(str)
            by_row = self._places(queries, data, rows)
            if (by_row >= 0).sum() > (place >= 0).sum():
                names, place = rows, by_row
        again = pd.Series(place).duplicated().to_numpy()
        if ((place < 0) | again).any():
            raise self._wrong_document(queries, data, names, place, at, called)
        if len(place) < data.n_documents:
            missing = np.setdiff1d(np.arange(data.n_documents), place)
            more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
            raise DataError(
                f"no score of document {names[missing[0]]} of query {data.query_of(int(missing[0]))}{more}",
                expected=f"a score for each of the {data.n_documents:,} documents of {called}",
                remedy="Score the missing documents too; those that are not retrieved get the lowest score.",
                path=self.shown,
            )
        scores = np.empty(data.n_documents)
        scores[place] = self.scores[at]
        return scores

    def _places(self, queries: IntArray, data: RankingData, names: Names) -> IntArray:
        """Return the document of each line of a part; −1 for an unknown one."""
        assert self.document is not None
        codes, known = pd.factorize(pd.Index(names))
        at = queries >= 0
        there = pd.Index(known).get_indexer(self.document.categories)[self.document.codes[at]]
        of_query = np.repeat(np.arange(data.n_queries), np.diff(data.ptr))
        wanted = np.where(there < 0, -1, queries[at] * len(known) + there)
        found: IntArray = pd.Index(of_query * len(known) + codes).get_indexer(wanted)
        return found

    def _wrong_document(
        self,
        queries: IntArray,
        data: RankingData,
        names: Names,
        place: IntArray,
        at: IntArray,
        called: str,
    ) -> DataError:
        """Return the error for the first line with an unknown document, or with one that was there before."""
        unknown = place < 0
        line = int((unknown | pd.Series(place).duplicated().to_numpy()).argmax())
        q = int(queries[at[line]])
        found = f"document {self.text('document', at[line])} of query {data.query_labels[q]}"
        shown, number = self.shown, self.first + int(at[line])
        if not unknown[line]:
            before = self.first + at[int((place == place[line]).argmax())]
            expected = f"each document once; line {before:,} has it"
            return _refused(f"{found} again", expected, "Remove one of the lines.", shown, number)
        rows = data.query_slice(q)
        return _refused(
            found,
            f"one of the {rows.stop - rows.start:,} documents of this query in {called}, such as "
            f"{names[rows.start]}",
            "Name documents by the ids in the data file, or by their rows in it, from 1.",
            shown,
            number,
        )


def names_in_runs(data: RankingData) -> Names:
    """Return a document's name in runs: its id, or its row in the file if ids are missing or not unique."""
    ids = data.document_ids
    if ids is None or (ids == "").any() or pd.MultiIndex.from_arrays([data.qid, ids]).has_duplicates:
        return (data.rows + 1).astype(str)
    return ids.astype(str)


def _content(member: Member, room: int, limits: Limits) -> bytes:
    """Return the text of a file, within the room that is left, and checked to be text."""
    blocks, size = list[bytes](), 0
    for block in unpack(member, limits):
        size += len(block)
        if size > room:
            raise _too_large(member.shown, limits)
        blocks.append(block)
    content = b"".join(blocks)
    for _ in text_chunks(io.BytesIO(content), member.shown):
        pass  # raises for what is not text
    return content.removeprefix(b"\xef\xbb\xbf")


def _check_number(content: bytes, documents: int, shown: str) -> None:
    """Raise `DataError` for many more lines than documents, before each becomes Python's objects."""
    found = max(content.count(b"\n"), content.count(b"\r"))
    if found > 2 * documents + _HEAD_LINES:  # fewer are counted later, where the error can name a line
        raise _refused(
            f"{found:,} lines", f"at most one for each of {documents:,} documents", f"{_NAME_IT}.", shown
        )


def _too_large(shown: str, limits: Limits) -> DataError:
    most = megabytes(limits.text_bytes)
    return _refused(
        f"more than {most} of text", f"at most {most}", "Give fewer folds or seeds at once.", shown
    )


def _refused(found: str, expected: str, remedy: str, shown: str | None, line: int | None = None) -> DataError:
    return DataError(found, expected=expected, remedy=remedy, path=shown, line=line)


def _lines(content: bytes, shown: str) -> _Lines:
    """Parse a file by the form of its first line, after lines that begin with #."""
    start, first, end = 0, 1, len(content.rstrip())
    while content.startswith(b"#", start) and start < end:
        start, first = content.find(b"\n", start, end) + 1 or end, first + 1
    body = content[start:end]
    head = body[: body.find(b"\n")].strip() if b"\n" in body else body
    if not head:
        raise _refused(
            "no scores" if not body else "an empty line", _FORMATS, "Check the file.", shown, first
        )
    mark = next((sign for sign in ",;\t" if sign.encode() in head), "")
    fields = _fields(head.decode(), "" if mark == "\t" and len(head.split()) == len(_TREC) else mark)
    mark = "" if len(fields) == len(_TREC) and mark == "\t" else mark
    names: Sequence[str] = {1: ("score",), len(_PLAIN): _PLAIN, len(_TREC): _TREC}.get(len(fields), ())
    if (
        len(fields) > 1
        and len(names) != len(_TREC)
        and not _is_number(fields[names.index("score") if names else -1])
    ):
        names, body, first = _named(fields, shown, first), body.partition(b"\n")[2], first + 1
    if not names:
        raise _refused(
            f"{len(fields)} fields", _FORMATS, "Write the file in one of these forms.", shown, first
        )
    return _parsed(body, mark, names, shown, first)


def _named(fields: Sequence[str], shown: str, line: int) -> list[str]:
    """Return the columns of a CSV header: query, document and score, "" for others."""
    names = [next((own for own, known in _COLUMNS.items() if one.lower() in known), "") for one in fields]
    lacking = [own for own in _COLUMNS if names.count(own) != 1]
    if lacking:
        raise _refused(
            f"the columns {', '.join(show(one.encode()) for one in fields[:8])}",
            f"one column {' and one '.join(lacking)}",
            "Name the columns query, document and score.",
            shown,
            line,
        )
    return names


def _fields(line: str, mark: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=mark, skipinitialspace=True), []) if mark else line.split()
    except csv.Error:  # a field of more than 131,072 letters
        return line.split(mark)


def _is_number(text: str) -> bool:
    try:
        return not math.isnan(float(text))
    except ValueError:
        return False


def _parsed(body: bytes, mark: str, names: Sequence[str], shown: str, first: int) -> _Lines:
    """Parse equal lines at once; if that fails, line by line, to name the first fault."""
    columns = [name or f"other {number}" for number, name in enumerate(names)]
    with suppress(ValueError, Warning):  # ParserError is a ValueError
        return _at_once(body, mark, columns, shown, first)
    return _one_by_one(body, mark, columns, shown, first)


def _at_once(body: bytes, mark: str, columns: Sequence[str], shown: str, first: int) -> _Lines:
    """Parse lines without quotes; ValueError or a warning for a fault."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = pd.read_csv(
            io.BytesIO(body),
            sep=mark or r"\s+",
            header=None,
            names=list(columns),
            dtype=str,
            na_filter=False,
            skip_blank_lines=False,
            skipinitialspace=True,
            quoting=csv.QUOTE_NONE,
            index_col=False,
        )
    if b'"' in body or (table == "").to_numpy().any():
        raise ValueError("quotes or an empty field")
    texts = table.pop("score").tolist()
    scores = np.fromiter(map(_number, texts), np.float64, len(texts))
    return _of_columns(shown, first, scores, {name: table[name].array for name in columns if name != "score"})


def _number(text: str) -> float:
    """Return a finite number; ValueError for any other text."""
    number = float(text) if text.isascii() and "_" not in text else math.nan
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _one_by_one(body: bytes, mark: str, columns: Sequence[str], shown: str, first: int) -> _Lines:
    rows = list[list[str]]()
    scores = list[float]()
    at = columns.index("score")
    for number, line in enumerate(body.decode().split("\n"), first):
        fields = _fields(line.strip("\r "), mark)
        fault = counted(len(fields), "field") if len(fields) != len(columns) else ""
        fault = fault if fields else "an empty line"
        fault = fault or ("an empty field" if "" in fields else "")
        if fault:
            remedy = "Write every line in the form of the first one."
            raise _refused(fault, counted(len(columns), "field"), remedy, shown, number)
        try:
            scores.append(_number(fields[at].strip()))
        except ValueError:
            found = f"the score {show(fields[at].encode())}"
            raise _refused(found, "a finite number", "Give each document one.", shown, number) from None
        rows.append(fields)
    given = {name: [fields[k] for fields in rows] for k, name in enumerate(columns) if k != at}
    return _of_columns(shown, first, np.array(scores), given)


def _of_columns(shown: str, first: int, scores: FloatArray, given: Mapping[str, Any]) -> _Lines:
    tags: Any = pd.unique(pd.Series(given["tag"])) if "tag" in given else ()
    query, document = (pd.Categorical(given[name]) if name in given else None for name in _PLAIN[:2])
    return _Lines(shown, first, scores, query, document, str(tags[0]) if len(tags) == 1 else "")
