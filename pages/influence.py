"""Effects of C and of the costs of pairs: ranking quality, seconds, and the top of a ranked list."""

from ui.controls.navigation import OF_COSTS, experiment
from ui.controls.widgets import head_and_part
from ui.shell.errors import errors_as_sentences
from ui.shell.page import show_subject, tabs
from ui.study import influence as views

spec = experiment()
about, part = head_and_part("C and costs", spec)
with errors_as_sentences():
    spec, settings = views.controls(spec)
show_subject(about, str(views.about(spec, settings, part)))
tabs(
    {
        "Influence of C": lambda: views.of_C(spec, settings, part),
        OF_COSTS: lambda: views.of_costs(spec, settings, part),
    }
)
