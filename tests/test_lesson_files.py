"""Lessons as single HTML files: what they contain."""

import json
import re

from tools import lessons


def test_a_file_has_its_texts_and_fetches_nothing() -> None:
    names = list(lessons.texts("frame")["lessons"])
    page = lessons.page(names, "run()")
    found = re.search(r'<script type="application/json" id="texts">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    assert json.loads(found[1]) == {name: lessons.texts(name) for name in ("frame", *names)}
    assert not re.search(r"(src|href)=|url\(|@import|https?://(?!www\.w3\.org)", page)


def test_a_text_cannot_end_its_element(monkeypatch) -> None:
    foreign = {"title": "</script><b>", "steps": [], "words": {}}
    monkeypatch.setattr(lessons, "texts", lambda name: foreign)
    page = lessons.page(["one"], "run()")
    assert "</script><b>" not in page
    assert page.count("</script>") == 2
