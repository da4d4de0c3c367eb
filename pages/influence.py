"""Effects of C and of the costs of pairs: ranking quality, seconds, and the top of a ranked list."""

from ui.controls.navigation import OF_COSTS, experiment
from ui.controls.widgets import part_shown
from ui.influence import views
from ui.shell.errors import errors_as_sentences
from ui.shell.page import head, tabs

spec = experiment()
row = head("Influence of C and costs")
about = row.container(width="content")
with row:
    part = part_shown(spec)
with errors_as_sentences():
    spec, settings = views.controls(spec)
about.caption(str(views.about(spec, settings, part)), width="content")
tabs(
    {
        "Influence of C": lambda: views.of_C(spec, settings, part),
        OF_COSTS: lambda: views.of_costs(spec, settings, part),
    }
)
