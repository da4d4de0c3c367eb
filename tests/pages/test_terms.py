"""Every term has one sentence, every paper that pages name its reference, and both are a tap away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from conftest_pages import Opener

from ui.controls.navigation import ENTRIES
from ui.learn.lessons import order
from ui.shell.term_pictures import PICTURES
from ui.shell.terms import LESSONS, PAGES, PAPERS, TERMS, explained, glossary, meaning, papers_in, terms_in

ROOT = Path(__file__).parents[2]
KEY = re.compile(r"\b[a-z]{2,}(?:19|20)\d\d\b")
REFERENCES = " ".join((ROOT / "docs" / "references.md").read_text(encoding="utf-8").replace("*", "").split())


TYPED = {
    "RankSVM",
    "Nyström",
    "MAP",
    "MeanNDCG",
    "RBP",
    "RR",
    "Rprec",
    "Bpref",
    "PairAccuracy",
    "C",
    "CG iteration",
    "Newton step",
    "Newton decrement",
    "Shapley value",
    "Sobol points",
    "LETOR",
    "Frobenius norm",
    "Hessian",
    "Wilcoxon test",
    "Cohen's d",
}
"""Terms that begin with a capital wherever they stand."""


def test_every_term_has_one_sentence_and_a_method_of_features_two() -> None:
    for name, term in TERMS.items():
        count = 2 if name in ("Nyström", "Random Fourier features") else 1
        assert re.fullmatch(rf"([A-Z0-9][^.]*\.( |$)){{{count}}}", term.meaning), name


def test_lessons_of_terms_exist_and_every_lesson_is_reached() -> None:
    assert list(LESSONS) == order()
    assert {name for names in LESSONS.values() for name in names} <= TERMS.keys()
    assert all(f'href="lessons?lesson={name}"' in glossary() for name in LESSONS)
    assert "[Lesson](lessons?lesson=loss)" in str(terms_in("the hinge"))


def test_a_term_has_a_lesson_or_else_a_page_that_shows_it() -> None:
    led = [name for names in (*LESSONS.values(), *PAGES.values()) for name in names]
    assert sorted(led) == sorted(TERMS)
    assert PAGES.keys() <= {entry.file for entry in ENTRIES}
    assert "[Page](sweep)" in explained("Sobol points")
    assert '<a href="low_rank" target="_self">Page</a>' in glossary().split("<b>Nuclear norm</b>")[1][:150]


def test_every_term_has_a_picture_of_its_own() -> None:
    assert PICTURES.keys() == TERMS.keys()
    assert len(set(PICTURES.values())) == len(TERMS)
    for drawn in PICTURES.values():
        assert len(ElementTree.fromstring(f"<svg>{drawn}</svg>"))
    for text in (glossary(), "".join(map(explained, TERMS))):
        shown = [unquote(one) for one in re.findall(r'data:image/svg\+xml,([^")]*)', text)]
        assert [ElementTree.fromstring(one).get("viewBox") for one in shown] == ["0 0 40 20"] * len(TERMS)


def test_other_words_find_a_term_in_the_glossary() -> None:
    entry = r'data-also="([^"]*)">(?:<img[^>]*>)?<b>([^<]*)</b>'
    also = {unescape(name): found.split() for found, name in re.findall(entry, glossary())}
    assert {"γ", "λ", "μ", "Nyström"} <= also.keys()
    assert (also["γ"], also["Nyström"]) == (["gamma"], ["williams2001", "Nystroem"])
    assert also["Singular value"] == ["SVD", "decomposition"]


def test_every_paper_that_pages_name_has_its_reference() -> None:
    sources = [*(ROOT / "ui").rglob("*.py"), *(ROOT / "rankviz" / "plots").rglob("*.py")]
    named = {key for path in sources for key in KEY.findall(path.read_text(encoding="utf-8"))}
    named |= {term.paper for term in TERMS.values()} - {""}
    assert len(named) > 3
    assert named == PAPERS.keys()


@pytest.mark.parametrize("key", PAPERS)
def test_references_are_those_of_the_documentation(key: str) -> None:
    entry = REFERENCES.split(f"- {key}: ")[1].split(" - ")[0]
    for part in re.split(r"(?<=\w{3})\. |, (?=\d{4}\.)", PAPERS[key]):
        assert part.rstrip(".") in entry


def test_terms_and_papers_are_found_where_they_stand() -> None:
    for name in {name for name, term in TERMS.items() if term.seen} - {
        "P@k",
        "NDCG@k",
        "ERR@k",
        "R@k",
        "Product",
        "Rank",
        "Rank correlation",
    }:
        assert f"**{name}**" in str(
            terms_in(f"The {name if name in TYPED else name[0].lower() + name[1:]} is")
        )
    assert terms_in("NDCG@10 with m = 5, as P@3") == "\n\n".join(
        explained(name) for name in ("NDCG@k", "P@k", "m")
    )
    assert terms_in("The first 15 ranks of a query, max and Cs") is None
    assert papers_in("as xu2019 (Eq. 3) found") == f"**xu2019**: {PAPERS['xu2019']}"
    assert papers_in("as nobody found") == ""


LABELS = (
    *(
        "a linear model",
        "Feature map",
        "the training query",
        "the test part",
        "costs of pairs",
        "active pairs",
    ),
    *("from iteration 2 on", "reach the tolerance", "at the optimum", "is significantly better"),
    *("pairwise: two documents", "rounds of boosted trees", "boosting: trees"),
    *(
        "p, Wilcoxon",
        "cores (log scale)",
        "the global z-score",
        "random forest",
        "qrels, one line a document",
    ),
    *("k-means++, mean", "matrices", "log₂ max(r, 2)", "exp(−γ‖x − y‖²)", "its trace", "eigenvalues of K"),
)
"""Words of labels, headings and captions that a newcomer does not know."""


@pytest.mark.parametrize("label", LABELS)
def test_technical_words_of_labels_open_a_sentence(label: str) -> None:
    assert str(terms_in(label)).startswith("![](data:image/svg+xml")


def test_an_answer_and_tiles_explain_their_terms(open_page: Opener) -> None:
    app = open_page("train", m=10)
    heading = app.header[0]
    assert "NDCG@10" in heading.value
    assert heading.help == terms_in(heading.value)
    assert TERMS["NDCG@k"].meaning in heading.help
    helps = {tile.label: tile.help for tile in app.metric}
    assert helps["NDCG@10"] == explained("NDCG@k")
    assert all(helps.values())


def test_measures_at_a_cut_off_have_the_sentence_of_their_kind() -> None:
    assert meaning("NDCG@10") == explained("NDCG@k")
    assert meaning("no such thing") is None


def test_the_glossary_stands_beside_the_title(open_page: Opener) -> None:
    app = open_page("low_rank", m=10)
    below = [getattr(one, "proto", None) for one in flat(app.main)]
    title = next(k for k, proto in enumerate(below) if getattr(proto, "tag", "") == "h1")
    assert glossary() in below[title + 1].body


def test_the_glossary_cites_author_and_year_and_is_searched_by_the_key_too() -> None:
    shown = re.sub(r"<[^>]*>", "", glossary())
    assert "(Joachims 2002)" in shown
    assert "Järvelin 2002: Cumulated Gain" in shown
    assert not KEY.findall(shown)
    assert all(f'data-also="{key}"><b>' in glossary() for key in PAPERS)


def test_the_glossary_begins_with_the_basic_terms() -> None:
    first = re.findall(r"<b>(.*?)</b>", glossary())[:9]
    assert " ".join(first).lower() == (
        "query document grade preference pair score ranksvm nyström random fourier features fold"
    )


def flat(node: Any) -> Iterator[Any]:
    for child in node.children.values():
        if hasattr(child, "children"):
            yield from flat(child)
        else:
            yield child
