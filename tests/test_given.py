"""Systems that are given by their scores: files in and out, errors by line, runs, and arrays in notebooks."""

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rankviz import Fold, RankingData, RunRecord, RunSpec, compare, evaluate, execute, figures
from rankviz.analysis.comparison import best_of
from rankviz.analysis.contestants import Matched, contestants
from rankviz.analysis.tables import BETTER, WORSE, printed_table
from rankviz.common.errors import DataError, SettingError
from rankviz.datasets import make_fold, score_files
from rankviz.datasets.archives import Limits, Upload, list_members
from rankviz.datasets.score_files import Given, files_at, names_in_runs, read_given, safe_name
from rankviz.metrics.definitions import COMPARED
from rankviz.runs.description import describe
from rankviz.runs.given import WRITERS, record_of, records_of, system_named

FOLDS = {f"Fold{k}": make_fold(n_queries=15, documents_per_query=(3, 9), seed=k) for k in (1, 2)}
OPENED = {name: partial(lambda fold: fold, fold) for name, fold in FOLDS.items()}
ONE = {"Fold1": OPENED["Fold1"]}
TEST = FOLDS["Fold1"].test


def ids(data: RankingData, first: int = 0) -> RankingData:
    """The same data, its documents with ids."""
    names = [f"d{first + k}" for k in range(data.n_documents)]
    return RankingData.from_arrays(data.X, data.y, data.qid, document_ids=names)


def read(
    text: str | bytes, file: str = "x.txt", folds: dict[str, Callable[[], Fold]] = ONE, **how: str
) -> Given:
    content = text if isinstance(text, bytes) else text.encode()
    return read_given(list_members([Upload(file, io.BytesIO(content))], score_files.LIMITS), folds, **how)


def run_text(data: RankingData, scores: np.ndarray, tag: str = "mine") -> list[str]:
    names = names_in_runs(data)
    rows = zip(data.qid, names, scores.tolist(), strict=True)
    return [f"{q} Q0 {name} 1 {score!r} {tag}" for q, name, score in rows]


SCORES = np.random.default_rng(3).normal(size=TEST.n_documents)
RUN = run_text(TEST, SCORES)
CSV = ["query,document,score", *(",".join(np.array(line.split())[[0, 2, 4]]) for line in RUN)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "lines",
    [
        RUN,
        ["# ir_metadata.start", "# tag: x", "# ir_metadata.end", *RUN],
        [line.replace(" ", "\t") for line in RUN],
        CSV,
        CSV[1:],
        [line.replace(",", ";") for line in CSV],
        [line.replace(",", "\t") for line in CSV],
        ["score,extra,DocNo,qid", *(",".join(np.array(line.split())[[4, 1, 2, 0]]) for line in RUN)],
        [f'"{line.replace(",", chr(34) + "," + chr(34))}"' for line in CSV],
        [*reversed(RUN)],
    ],
)
def test_forms_of_named_documents(lines: list[str], end: str) -> None:
    given = read(end.join(lines) + end, "test.txt")
    np.testing.assert_array_equal(given.scores["Fold1", 0]["test"], SCORES)
    assert list(given.scores["Fold1", 0]) == ["test"]


def test_numbers_alone_are_in_file_order_and_fit_one_part() -> None:
    apart = RankingData.from_arrays(np.zeros((4, 1)), [0, 1, 2, 0], [7, 8, 7, 8], regroup=True)
    fold = Fold(TEST, FOLDS["Fold1"].vali, apart)
    found = read("1\n2\n3\n4\n", folds={"Fold1": lambda: fold}).scores["Fold1", 0]["test"]
    assert found.tolist() == [1, 3, 2, 4], "queries apart in the file are together here"


def test_the_fast_parser_reads_what_the_slow_one_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["\n".join(lines) for lines in (RUN, CSV, CSV[1:], [repr(float(s)) for s in SCORES])]
    fast = [read(text, "test.txt").scores["Fold1", 0]["test"] for text in texts]
    monkeypatch.setattr(score_files, "_at_once", lambda *_: (_ for _ in ()).throw(ValueError))
    for text, own in zip(texts, fast, strict=True):
        np.testing.assert_array_equal(read(text, "test.txt").scores["Fold1", 0]["test"], own)


def test_rows_name_documents_too_if_the_data_have_other_ids() -> None:
    fold = Fold(*(ids(part, 100) for part in FOLDS["Fold1"].parts.values()))
    folds = {"Fold1": lambda: fold}
    rows = zip(fold.test.qid, fold.test.rows + 1, SCORES.tolist(), strict=True)
    by_row = "\n".join(f"{q} Q0 {row} 1 {score!r} t" for q, row, score in rows)
    by_id = "\n".join(run_text(fold.test, SCORES))
    for text in (by_row, by_id):
        np.testing.assert_array_equal(read(text, "test.txt", folds).scores["Fold1", 0]["test"], SCORES)


def changed(at: int, new: str, lines: list[str] = RUN) -> str:
    return "\n".join([*lines[: at - 1], new, *lines[at:]])


Q, D = RUN[4].split()[0], RUN[4].split()[2]


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        (changed(5, f"{Q} Q0 {D} 1 nan t"), 5, "the score 'nan'"),
        (changed(5, f"{Q} Q0 {D} 1 inf t"), 5, "the score 'inf'"),
        (changed(5, f"{Q} Q0 {D} 1 1_0 t"), 5, "the score '1_0'"),
        (changed(5, f"{Q} Q0 {D} 1 high t"), 5, "the score 'high'"),
        (changed(5, f"{Q} Q0 zz 1 0.5 t"), 5, "document 'zz' of query"),
        (changed(5, f"999 Q0 {D} 1 0.5 t"), 5, "query '999'"),
        (changed(5, RUN[3]), 5, "again"),
        (changed(5, ""), 5, "an empty line"),
        (changed(5, "1 2 3"), 5, "3 fields"),
        (changed(5, RUN[4] + " more"), 5, "7 fields"),
        ("\n".join(RUN[:4] + RUN[5:]), None, f"no score of document {D} of query {Q}"),
        ("\n".join(["# x", *RUN[:-2], "a b"]), len(RUN), "2 fields"),
        (changed(5, f"{Q},{D},", CSV), 5, "an empty field"),
        (changed(1, "a,b,c", CSV), 1, "the columns 'a', 'b', 'c'"),
        (changed(1, "query,document,query,score", CSV), 1, "the columns"),
        (
            "\n".join(map(repr, [*SCORES.tolist(), 1.0])),
            TEST.n_documents + 1,
            f"{TEST.n_documents + 1} scores",
        ),
        ("\n".join(map(repr, SCORES[1:].tolist())), TEST.n_documents - 1, f"{TEST.n_documents - 1} scores"),
        ("1\n\n2", 2, "an empty line"),
        ("1\nx", 2, "the score 'x'"),
        ("", 1, "no scores"),
        ("# only", 2, "no scores"),
        ("1 2", 1, "2 fields"),
        (b"\xff\xfe1", None, "text in UTF-16"),
        (b"1\n\x00", 2, "a NUL byte"),
    ],
)
def test_a_fault_names_file_line_found_and_remedy(text: str | bytes, line: int | None, found: str) -> None:
    with pytest.raises(DataError) as caught:
        read(text, "test.txt")
    assert (caught.value.path, caught.value.line) == ("test.txt", line)
    assert found in caught.value.found
    assert caught.value.expected
    assert caught.value.remedy.endswith(".")


def test_a_double_line_names_the_first() -> None:
    with pytest.raises(DataError, match="each document once; line 4 has it"):
        read(changed(5, RUN[3]), "test.txt")


def test_a_text_beyond_the_limit_is_refused_by_its_size(tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text("\n".join(RUN))
    few = Limits(text_bytes=100)
    with pytest.raises(DataError, match="more than"):
        files_at([tmp_path / "test.txt"], few)
    with pytest.raises(DataError, match="more than"):
        read_given(files_at([tmp_path / "test.txt"]), ONE, limits=few)


def test_far_more_lines_than_documents_are_refused_before_they_are_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n = sum(data.n_documents for data in FOLDS["Fold1"].parts.values())
    with pytest.raises(DataError, match=r"one score for each document"):
        read("1\n" * (2 * n + 9_000))
    monkeypatch.setattr(score_files, "_lines", lambda *_: pytest.fail("they were parsed"))
    for line in ("1\n", '"1",1,1\r\n'):
        with pytest.raises(DataError, match=rf"lines\. Expected: at most one for each of {n:,} documents"):
            read(line * (2 * n + 10_001))


def test_a_very_long_field_is_refused() -> None:
    long = f'"{"a" * 200_000}",1,1'
    for lines in ([long], [*CSV, long]):
        with pytest.raises(DataError, match=r"x\.txt, line"):
            read("\n".join(lines))


def tree(folder: Path) -> dict[tuple[str, int, str], np.ndarray]:
    """Write random scores of two folds, two seeds and two parts below a folder, in several forms."""
    drawn = np.random.default_rng(0)
    found = {}
    for name, fold in FOLDS.items():
        for seed in (0, 1):
            for part in ("vali", "test"):
                data = fold.parts[part]
                own = found[name, seed, part] = drawn.normal(size=data.n_documents)
                path = folder / f"seed{seed + 7}" / name / f"{part}.txt"
                path.parent.mkdir(parents=True, exist_ok=True)
                text = map(repr, own.tolist()) if seed else run_text(data, own)
                path.write_text("\n".join(text))
    (folder / "README.md").write_text("not scores")
    return found


@pytest.mark.parametrize("packed", [False, True])
def test_folds_seeds_and_parts_by_their_names(packed: bool, tmp_path: Path) -> None:
    wanted = tree(tmp_path / "mine")
    source = tmp_path / "mine"
    if packed:
        source = tmp_path / "mine.zip"
        with zipfile.ZipFile(source, "w") as archive:
            for file in (tmp_path / "mine").rglob("*.txt"):
                archive.write(file, file.relative_to(tmp_path))
    given = read_given(files_at([source]), OPENED)
    found = {(*place, part): own for place, parts in given.scores.items() for part, own in parts.items()}
    assert found.keys() == wanted.keys()
    for place, own in wanted.items():
        np.testing.assert_array_equal(found[place], own)
    assert any("Seeds 7, 8 are numbered from 0" in note for note in given.notes)
    records = records_of(given, "made", OPENED)
    (one,) = contestants(records, "test")
    assert (one.label, one.folds, len(one.draws), one.balanced) == ("mine", ("Fold1", "Fold2"), 2, True)


def test_a_run_without_a_fold_goes_to_the_folds_that_test_its_queries() -> None:
    made = FOLDS["Fold1"]
    second = Fold(made.train, made.test, made.vali)
    folds = {"Fold1": lambda: made, "Fold2": lambda: second}
    drawn = np.random.default_rng(1)
    own = {name: drawn.normal(size=data.n_documents) for name, data in (("a", made.test), ("b", made.vali))}
    fold = Fold(ids(made.train), ids(made.vali, 1000), ids(made.test, 5000))
    folds = {"Fold1": lambda: fold, "Fold2": lambda: Fold(fold.train, fold.test, fold.vali)}
    lines = run_text(fold.test, own["a"], "cv") + run_text(fold.vali, own["b"], "cv")
    given = read("\n".join(lines), "all.run", folds)
    assert {place: list(parts) for place, parts in given.scores.items()} == {
        ("Fold1", 0): ["test"],
        ("Fold2", 0): ["test"],
    }
    np.testing.assert_array_equal(given.scores["Fold1", 0]["test"], own["a"])
    np.testing.assert_array_equal(given.scores["Fold2", 0]["test"], own["b"])
    assert given.name == "cv"
    assert given.notes[-1] == "No name of a file tells a part, so they are of test parts."


@pytest.mark.parametrize("inside", ["seed1/Fold1/test.txt", "Fold1.test.txt", "Fold1/seed_2/gbrt.txt"])
def test_a_system_is_called_after_its_archive_unless_its_files_say_more(inside: str) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(inside, "\n".join(map(repr, SCORES.tolist())))
    given = read(packed.getvalue(), "mine.zip")
    assert given.name == ("gbrt" if "gbrt" in inside else "mine")
    assert len(given.notes) == 1


def test_a_part_twice_is_refused() -> None:
    files = [Upload(f"test{k}.txt", io.BytesIO("\n".join(RUN).encode())) for k in (1, 2)]
    with pytest.raises(DataError, match="again scores of the test part of Fold1"):
        read_given(list_members(files, score_files.LIMITS), ONE)


def test_numbers_that_fit_two_parts_ask_for_a_name() -> None:
    fold = Fold(TEST, TEST, TEST)
    with pytest.raises(DataError, match=r"fit 3 parts.*Name fold and part"):
        read("\n".join(map(repr, SCORES.tolist())), folds={"Fold1": lambda: fold})
    with pytest.raises(DataError, match=r"Fold9.*one of Fold1"):
        read("\n".join(RUN), "Fold9_test.txt")


@pytest.mark.parametrize("name", ["a" + "_" * 300_000 + "b", "a" + " " * 300_000 + "b"], ids=["_", " "])
def test_a_very_long_name_of_a_system_is_cut_at_once(name: str) -> None:
    assert safe_name(name) == "a"


@pytest.mark.parametrize(
    "name", ["[x](//e.org)", "<b>", "a*b*", "$x$", ":red[x]", "www.e.org", "_a_ `b`", "@", ""]
)
def test_names_of_systems_are_reduced_to_safe_signs(name: str) -> None:
    safe = safe_name(name)
    assert safe
    assert not set(safe) & set("[]<>*$:`@/\\|~#!&{}")
    assert safe_name(safe) == safe
    assert "www." not in safe
    RunSpec("d", method="given", system=system_named(name, {"test": np.zeros(2)}))


@pytest.mark.parametrize("value", ["x", "x@12", "<b>@0123456789abcdef", 3, None])
def test_other_values_of_the_setting_are_refused(value: object) -> None:
    with pytest.raises(SettingError, match="system="):
        RunSpec("d", method="given", system=value)


@pytest.fixture(scope="module")
def linear() -> RunRecord:
    return execute(RunSpec("made", feature_map="linear"), fold=FOLDS["Fold1"])


@pytest.mark.parametrize("part", ["train", "vali", "test"])
@pytest.mark.parametrize("form", ["trec", "scores"])
def test_out_and_in_again_gives_equal_metrics(form: str, part: str, linear: RunRecord) -> None:
    data, text = FOLDS["Fold1"].parts[part], io.BytesIO()
    WRITERS[form](linear, part, data, text)
    (record,) = records_of(read(text.getvalue(), f"{part}.txt"), "made", ONE)
    np.testing.assert_array_equal(record.scores[part], linear.scores[part])
    assert record.metrics[part].equals(linear.metrics[part])


def test_a_run_has_a_header_that_tells_where_it_comes_from(linear: RunRecord) -> None:
    WRITERS["trec"](linear, "test", TEST, text := io.BytesIO())
    header = [line for line in text.getvalue().decode().splitlines() if line.startswith("#")]
    assert (header[0], header[-1]) == ("# ir_metadata.start", "# ir_metadata.end")
    wanted = {"platform:", "research goal:", "implementation:", "method:", "data:"}
    assert wanted <= {line.removeprefix("# ") for line in header}
    assert any(FOLDS["Fold1"].digest in line for line in header)
    lines = [line.split() for line in text.getvalue().decode().splitlines()[len(header) :]]
    for query in {line[0] for line in lines}:
        own = [line for line in lines if line[0] == query]
        assert [int(line[3]) for line in own] == list(range(1, len(own) + 1))
        assert (np.diff([float(line[4]) for line in own]) <= 0).all()


def test_qrels_have_each_grade(linear: RunRecord) -> None:
    WRITERS["qrels"](linear, "test", TEST, text := io.BytesIO())
    rows = [line.split() for line in text.getvalue().decode().splitlines()]
    assert [(row[0], row[2], int(row[3])) for row in rows] == [
        (str(q), name, y) for q, name, y in zip(TEST.qid, names_in_runs(TEST), TEST.y.tolist(), strict=True)
    ]
    assert {row[1] for row in rows} == {"0"}


def test_a_record_is_a_run_like_others_and_says_what_it_lacks(linear: RunRecord) -> None:
    (record,) = records_of(read("\n".join(RUN), "test.txt", name="my system"), "made", ONE)
    again = RunRecord.from_bytes(record.to_bytes())
    assert again.spec == record.spec
    assert again.metrics["test"].equals(evaluate_as_runs(SCORES))
    assert describe(record.spec).method == "my system"
    with pytest.raises(SettingError, match="my system has no scores of the training part, only of test"):
        again.metrics["train"]
    with pytest.raises(SettingError, match="no scores on this fold with seed 4"):
        execute(record.spec.but(seed=4), fold=FOLDS["Fold1"])
    assert record.spec.but(normalisation="query_zscore", share=0.5) == record.spec
    found = contestants([linear, record], "test")
    assert [one.label for one in found] == ["linear", "my system"]
    assert Matched.of(found).notes == ()


def evaluate_as_runs(scores: np.ndarray) -> object:
    """Metrics as runs have them."""
    spec = RunSpec("d", method="given", system=system_named("x", {"test": scores}))
    return record_of(spec, {"test": TEST}, {"test": scores}).metrics["test"]


def test_other_scores_are_another_system() -> None:
    names = {system_named("a", {"test": SCORES + k}) for k in (0, 1)} | {system_named("a", {"vali": SCORES})}
    assert len(names) == 3


def test_compare_takes_plain_arrays(linear: RunRecord) -> None:
    scores = {"svm": linear.scores["test"], "mine": SCORES}
    found = compare(scores, TEST, ["MAP"])
    assert found.baseline == "svm"
    means = found.standings.set_index("label")["mean"]
    assert means["mine"] == pytest.approx(evaluate(SCORES, TEST).mean["MAP"])
    by_arrays = compare(scores, TEST.y, ["MAP"], qid=TEST.qid, baseline="mine")
    assert by_arrays.baseline == "mine"
    assert by_arrays.standings["mean"].tolist() == means.tolist()
    data = {name: fold.test for name, fold in FOLDS.items()}
    drawn = np.random.default_rng(0)
    two = {
        label: {name: drawn.normal(size=part.n_documents) for name, part in data.items()} for label in "ab"
    }
    assert compare(two, data, ["MAP"]).standings["folds"].tolist() == [2, 2]
    with pytest.raises(SettingError, match=r"a has scores of Fold1, but the data are of Fold1, Fold2"):
        compare({"a": {"Fold1": SCORES}, "b": two["b"]}, data)
    with pytest.raises(SettingError, match="baseline"):
        compare(scores, TEST, baseline="x")
    with pytest.raises(DataError):
        compare({"a": SCORES[1:], "b": SCORES}, TEST)
    with pytest.raises(SettingError, match="by label"):
        compare(SCORES, TEST)  # type: ignore[arg-type]


def test_figures_take_plain_arrays() -> None:
    one = figures(SCORES, TEST)
    assert list(one) == ["ndcg", "precision", "metrics"]
    curve = evaluate(SCORES, TEST).mean
    np.testing.assert_allclose(one["ndcg"].data[0].y, [curve[f"NDCG@{k}"] for k in range(1, 11)])
    two = figures({"a": SCORES, "b": -SCORES}, TEST)
    assert list(two) == ["ndcg", "precision", "metrics", "differences"]
    assert len(two["ndcg"].data) == 2


def test_equal_scores_of_a_given_system_are_told() -> None:
    same = np.zeros(TEST.n_documents)
    found = compare({"mine": SCORES, "constant": same}, TEST, ["NDCG@1"])
    by_order = evaluate(same, TEST, at=[1]).mean["NDCG@1"]
    assert any(f"in the order of the file NDCG@1 would be {by_order:.3f}" in text for text in found.notes)
    mean = evaluate(same, TEST, at=[1], ties="mean").mean["NDCG@1"]
    standings = found.standings.set_index(["label", "metric"])["mean"]
    assert standings["constant", "NDCG@1"] == pytest.approx(mean)


def test_own_gains_are_compared() -> None:
    same = np.zeros(TEST.n_documents)
    own, usual = "nDCG(gains={0: 0, 1: 1, 2: 9})@5", "nDCG(gains={0: 0, 1: 1, 2: 3})@5"
    names = [own.replace("0: 0, ", ""), usual, "NDCG@5"]
    found = compare({"mine": SCORES, "constant": same}, TEST, names)
    standings = found.standings.set_index(["label", "metric"])["mean"]
    for label, scores in {"mine": SCORES, "constant": same}.items():
        wanted = evaluate(scores, TEST, replace(COMPARED, gain=(0, 1, 9)), at=[5]).mean["NDCG@5"]
        assert standings[label, own] == pytest.approx(wanted)
        assert standings[label, usual] == standings[label, "NDCG@5"] != standings[label, own]
    assert any(f"{own} would be" in text for text in found.notes)
    with pytest.raises(SettingError, match="cannot be read"):
        compare({"mine": SCORES, "constant": same}, TEST, ["nDCG(gain=)@5"])


def test_less_of_a_rank_is_better() -> None:
    data = make_fold(n_queries=100, documents_per_query=(8, 12), seed=4).test
    middle = np.random.default_rng(0).normal(size=data.n_documents)
    scores = {"middle": middle, "bad": -data.y, "good": data.y}
    found = compare(scores, data, ["MeanRank", "MAP"])
    n = found.delta("good", "MeanRank")["queries"]
    for metric, sign in (("MeanRank", -1), ("MAP", 1)):
        for label, better in (("good", 1), ("bad", -1)):
            row = found.delta(label, metric)
            assert np.sign(row["difference"]) == sign * better
            assert (row["better"] > row["worse"]) == (better > 0)
        assert "good is better than middle; bad is worse" in found.answer(metric)
        assert best_of(found.matched, metric, "middle").label == "good"
        assert "is better than middle" in best_of(found.matched, metric, "middle").sentence()
    assert f"on {found.delta('good', 'MeanRank')['better']} of {n} queries" in found.sentence(
        "good", "MeanRank"
    )
    assert "Less MeanRank is better." in found.notes
    cells = dict(printed_table(found).rows)
    assert [(cell.bold, cell.mark) for cell in cells["good"]] == [(True, BETTER)] * 2
    assert [(cell.bold, cell.mark) for cell in cells["bad"]] == [(False, WORSE)] * 2
