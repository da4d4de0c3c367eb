"""All runs that this visitor may see, with actions."""

from ui.compare import runs as views
from ui.compare.runs_filters import Columns
from ui.compare.runs_words import found_words
from ui.shell.errors import errors_as_sentences
from ui.shell.page import head

about = head("Runs")
with errors_as_sentences():
    known = views.runs_of_visitor()
    if known.empty:
        views.nothing_yet()
    else:
        columns = Columns(known)
        shown = views.filtered(columns)
        about.caption(found_words(shown), width="content")
        views.answer_and_list(shown, columns)
