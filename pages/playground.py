"""The plane: documents that are dragged, and what a model of scores can make of them."""

import streamlit as st

from ui.playground import views
from ui.playground.controls import controls
from ui.playground.state import held, to_address
from ui.shared.head import head
from ui.shared.navigation import announced
from ui.shared.runs import errors_as_sentences

announced()
with errors_as_sentences():
    plane, each, settings = controls()
    scene = held(plane, each, settings["random_state"])
    place = head("Playground in the plane", views.about(scene.scene, settings))
    short = to_address(scene.scene)
    views.plane(scene, settings)
    views.below(scene, short=short)
st.empty()
