"""The plane: documents to drag, and the model that learns from them."""

from ui.learn import playground as views
from ui.learn.playground import controls, in_words
from ui.learn.playground_scene import plane_state, to_address
from ui.learn.playground_words import about
from ui.shell.errors import errors_as_sentences
from ui.shell.page import head

plane, each, seed = controls()
now = plane_state(plane, each, seed)
told = f"{in_words()} · {about(now.scene)}{views.landmarks_there_are(now.scene)}"
head("Playground in the plane", told)
short = to_address(now.scene)
with errors_as_sentences():
    views.plane(now)
    views.below(now, short=short)
