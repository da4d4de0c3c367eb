"""Error of the approximate kernels, and its dependence on m."""

from ui.kernel_approximation import views
from ui.kernel_approximation import views as in_tabs
from ui.shared.ends import end_page
from ui.shared.head import head
from ui.shared.navigation import experiment
from ui.shared.runs import errors_as_sentences
from ui.shared.views import tabs

spec = experiment()
about = head("Kernel approximation").container(width="content")
with errors_as_sentences():
    asked = views.asked(spec, about)
    if asked is None:
        end_page()
    errors, draws = views.headline(asked)

tabs(
    {
        "κ against κ̃": lambda: in_tabs.entries(asked),
        "Residuals of one query": lambda: in_tabs.residual(asked),
        "Spectrum": lambda: in_tabs.spectrum(asked),
        "Error against seconds": lambda: in_tabs.seconds(asked, errors, draws),
        "Numbers": lambda: in_tabs.numbers(asked, errors),
    }
)
views.finish(asked, draws)
