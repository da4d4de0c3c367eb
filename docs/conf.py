"""How the documentation is built: `make docs` writes it into static/docs, from where the app serves it."""

import re
from pathlib import Path

import rankviz

project = "rankviz"
author = "The rankviz developers"
copyright = author
version = release = rankviz.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_static", "_templates"]
templates_path = ["_templates"]
default_role = "literal"
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say types in words
autoclass_content = "class"
napoleon_google_docstring = False
napoleon_use_rtype = False
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "rankviz"
html_static_path = ["_static"]
html_css_files = ["own.css"]
html_favicon = "../ui/icon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#00695c", "color-brand-content": "#00695c"},
    "dark_css_variables": {"color-brand-primary": "#80cbc4", "color-brand-content": "#80cbc4"},
    "footer_icons": [],
}

DOCS = Path(__file__).parent


def words_alone(app, docname, source):
    """Links from these pages into the rest of the repository are their words: it may not be at hand."""
    here = DOCS / Path(docname).parent

    def plain(link):
        inside = (here / link["path"]).resolve().is_relative_to(DOCS)
        return link[0] if inside else link["words"]

    source[0] = re.sub(r"(?<!!)\[(?P<words>[^]]*)\]\((?P<path>(?!\w+://|#)[^)#\s]+)[^)]*\)", plain, source[0])


def bars_as_they_are(app, what, name, obj, options, lines):
    """Docstrings are plain text with formulas in it: |x| is an absolute value, and no substitution."""
    lines[:] = [line if line.lstrip().startswith(">>>") else line.replace("|", r"\|") for line in lines]


def setup(app):
    """Sphinx calls this."""
    app.connect("source-read", words_alone)
    app.connect("autodoc-process-docstring", bars_as_they_are)
