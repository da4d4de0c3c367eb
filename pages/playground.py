"""The plane: documents to drag, and the scores of a model."""

from ui.learn import playground as views
from ui.learn.playground import controls, in_words
from ui.learn.playground_scene import plane_state, to_address
from ui.learn.playground_words import about, landmarks_there_are
from ui.shell.errors import errors_as_sentences
from ui.shell.page import head

plane, each, settings = controls()
now = plane_state(plane, each, settings["random_state"])
told = f"{in_words()} · {about(now.scene)}{landmarks_there_are(now.scene, settings)}"
head("Playground in the plane", told)
short = to_address(now.scene)
with errors_as_sentences():
    views.plane(now, settings)
    views.below(now, short=short)
