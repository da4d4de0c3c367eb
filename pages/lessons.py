"""Lessons: short ones in the browser, in which the reader predicts first."""

from ui.learn import lessons as views
from ui.shell.errors import errors_as_sentences
from ui.shell.page import head

row = head("Lessons")
with errors_as_sentences():
    with row:
        name = views.chosen()
    views.lesson(name)
