"""The data: documents, grades, pairs, and features."""

from ui.controls.navigation import experiment
from ui.controls.settings import data_from_state
from ui.model import data as views
from ui.model import uploads
from ui.shell.errors import errors_as_sentences
from ui.shell.page import head, tabs
from ui.work.folds import fold_of

spec = experiment(data_from_state)
row = head("Data")
with row:
    part = views.part_chosen(spec)
uploads.add_data(spec.dataset)
with errors_as_sentences():
    fold = fold_of(spec)

views.show_origin(spec, fold)
uploads.own_data(spec.dataset)
views.headline(spec, fold, part)
tabs(
    {
        "Grades and pairs": lambda: views.distributions(spec, fold, part),
        "Features": lambda: views.features(spec, fold, part),
        "One query": lambda: views.one_query(spec, fold, part),
        "Normalisation": lambda: views.normalisations(spec, fold, part),
        "Counts and download": lambda: views.counts(spec, fold, part),
    }
)
