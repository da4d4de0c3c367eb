"""Error of the approximate kernels, and its dependence on m."""

from ui.controls.navigation import experiment
from ui.shell.errors import end_page, errors_as_sentences
from ui.shell.page import head, tabs
from ui.study import kernel_approximation as views

spec = experiment()
about = head("Nyström and Fourier").container(width="content")
with errors_as_sentences():
    asked = views.asked(spec, about)
    if asked is None:
        end_page()
    errors, draws = views.headline(asked)

tabs(
    {
        "κ against κ̃": lambda: views.entries(asked),
        "Residuals of one query": lambda: views.residual(asked),
        "Spectrum": lambda: views.spectrum(asked),
        "Error against seconds": lambda: views.seconds(asked, errors, draws),
        "Numbers": lambda: views.numbers(asked, errors),
    }
)
views.finish(asked, draws)
