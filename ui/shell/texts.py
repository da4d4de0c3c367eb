"""Foreign text, such as names of data or parts of an address, shown literally.

Streamlit reads most texts as Markdown. So a data set's name could make the browser fetch a picture from
another host, or look like one of our links. Only `escaped` makes such a text safe. `describe` and
`data_words` escape the names in those of `rankviz.runs.description`. A test checks that pages use
these.

See docs/decisions/0022-security-in-the-browser.md.
"""

from __future__ import annotations

import html
import re
from dataclasses import replace

from rankviz.runs import description
from rankviz.runs.description import Description
from rankviz.runs.spec import RunSpec

_SIGNS = re.compile(r"[\\`*{}\[\]<>#|~$&!^\r\n]|(?<!\w)_|_(?!\w)")  # Markdown ignores _ inside a word
_ADDRESSES = re.compile(r"(?i)https?:(?=\\?/)|https?(?=\\:)|www(?=\\?\.)|ftp:(?=/)|mailto:|xmpp:|@(?=[\\\w])")
_JOINER = "\u2060"
"""A zero-width character without line break: it keeps addresses from becoming links."""


def escaped(text: object) -> str:
    """Escape a text for Markdown: no emphasis, formula, picture or link, and one line."""
    broken = _ADDRESSES.sub(lambda found: found[0] + _JOINER, str(text))
    return _SIGNS.sub(lambda found: " " if found[0] in "\r\n" else f"&#{ord(found[0])};", broken)


_FORMULA = re.compile(r"(\$[^$]+\$)")
_LINKS = re.compile(r"[\[\]<>]|&(?=#?\w+;)")
"""Signs of links, pictures and HTML; an entity could stand for a letter of an address."""
_IN_FORMULA = re.compile(r"\](?=[(\[:])|[<>]|&(?=#?\w+;)|:(?=[\w-]*[\[/])")
_AS_TEX = {"]": "]{}", "<": r"\lt ", ">": r"\gt ", "&": "&#38;", ":": "{:}"}
_MACROS = re.compile(r"\\(?=([gex]?def|(future)?let|(new|renew|provide)command)(?![a-zA-Z@]))")
"""A short formula of macros becomes millions of signs, and the browser of a reader stands still."""


def formatted(text: str) -> str:
    """Escape a visitor's Markdown: emphasis, lists and formulas stay; links, pictures and HTML do not.

    In what may be a formula, signs become TeX: KaTeX knows no entities. Formulas define no macros.
    """
    broken = _MACROS.sub(lambda found: found[0] + _JOINER, text)
    broken = _ADDRESSES.sub(lambda found: found[0] + _JOINER, broken)
    parts = _FORMULA.split(broken)
    parts[::2] = [_LINKS.sub(lambda found: f"&#{ord(found[0])};", part) for part in parts[::2]]
    parts[1::2] = [_IN_FORMULA.sub(lambda found: _AS_TEX[found[0]], part) for part in parts[1::2]]
    return "".join(parts)


def plain(markdown: str) -> str:
    """Undo `escaped`, for a text that is no longer Markdown."""
    return html.unescape(markdown).replace(_JOINER, "")


def describe(spec: RunSpec, part: str | None = None) -> Description:
    """Describe a run, for Markdown; see `rankviz.runs.description.describe`."""
    found = description.describe(spec, part)
    return replace(found, data=escaped(found.data), method=escaped(found.method))


def data_words(spec: RunSpec) -> str:
    """Name data set and fold, for Markdown."""
    return escaped(description.data_words(spec))
