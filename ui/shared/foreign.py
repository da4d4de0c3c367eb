"""Foreign text, such as names of data and what came in an address: shown as it is, whatever it says.

Streamlit reads most texts as Markdown: a name of a data set could have the browser fetch a picture from
another host, or look like a link of ours. `escaped` is the one way for such a text into one of ours;
`describe` and `data_words` are those of `rankviz.experiments.description` with the names in them escaped, and
a test sees to it that pages use these.

See docs/decisions/0022-security-in-the-browser.md.
"""

from __future__ import annotations

import html
import re
from dataclasses import replace

from rankviz.experiments import description
from rankviz.experiments.description import Description
from rankviz.experiments.spec import RunSpec

_SIGNS = re.compile(r"[\\`*{}\[\]<>#|~$&!^\r\n]|(?<!\w)_|_(?!\w)")  # within a word _ means nothing
_ADDRESSES = re.compile(r"(?i)https?:(?=/)|www(?=\.)|ftp:(?=/)|mailto:|xmpp:|@(?=\w)")
_JOINER = "\u2060"
"""A sign of no width that no line is broken at: an address with it inside is not made a link of."""


def escaped(text: object) -> str:
    """A text in Markdown that is shown as it is: no emphasis, formula, picture or link, and one line."""
    broken = _ADDRESSES.sub(lambda found: found[0] + _JOINER, str(text))
    return _SIGNS.sub(lambda found: " " if found[0] in "\r\n" else f"&#{ord(found[0])};", broken)


def plain(markdown: str) -> str:
    """What `escaped` was given, where it stands within a text that is no Markdown any more."""
    return html.unescape(markdown).replace(_JOINER, "")


def describe(spec: RunSpec, part: str | None = None) -> Description:
    """A run in words, for Markdown; see `rankviz.experiments.description.describe`."""
    found = description.describe(spec, part)
    return replace(found, data=escaped(found.data))


def data_words(spec: RunSpec) -> str:
    """Data set and fold in words, for Markdown."""
    return escaped(description.data_words(spec))
