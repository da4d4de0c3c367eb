"""Lecture: views in their order, to follow, to share and for a class."""

from ui.learn import lecture as views
from ui.learn import lecture_words as words
from ui.shell.errors import errors_as_sentences
from ui.shell.page import head

head("Lecture", words.ABOUT)
with errors_as_sentences():
    views.show()
