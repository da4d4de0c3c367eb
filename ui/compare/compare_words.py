"""Sentences of the Compare page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankviz.analysis.comparison import LEVEL, TESTS, Comparison
from rankviz.analysis.contestants import Contestant
from rankviz.common.numbers import counted, interval_in_words, small, with_minus
from rankviz.metrics.definitions import COMPARED
from rankviz.metrics.formulas import direction
from rankviz.metrics.significance import leader, queries_in_words
from rankviz.runs.description import PART_NAMES, fold_words
from rankviz.runs.selection import RULES, Choice
from ui.shell.figures import sentence
from ui.shell.texts import escaped

METRIC_HELP = "If a study has no metric, this metric also chooses its cell."
FURTHER_HELP = "p-values are corrected for all models × metrics."
TEST_HELP = "Decides significance."
BASELINE_HELP = "All others are compared with it."
REMOVE_HELP = "Removes the study's model."
CLEAR_HELP = "Runs are kept."
NO_STORE = "Cannot compare now."
NO_MODELS = "No models yet."
COMPARE_LATEST = "Compare the {n} models pinned or trained last"
HOW_TO_FILL = "Compare the current model with the linear one, or add models from your runs."
SEND_TWO = "Current model: {model}, on {data}"
EXAMPLE = "Example: two kernel approximations against the linear model"
SEND_TWO_HELP = "The sidebar's model; missing runs are trained."
SEEDS_HELP = "From the sidebar's seed on."
FIRST_RUNS = "Compared: {most} of {all} runs."
OPENING = "Opening …"
TOO_MANY = "{found} models are too many: choose up to {most}"
COMMON_FOLDS = "Some models lack {left_out}; compared on {common}."
UNREADABLE = "a run cannot be read: remove or train it again"
NO_RUNS = "No runs yet: train a model first."
LATEST = "The latest {shown} of {found:,} models."
SEARCH_HELP = "Finds rows with all words."
STUDY_HELP = "Adds the cell chosen on validation."
SLICES_HELP = "Groups of about the same size."
IDS_HELP = "Query ids, separated by commas."
NAME_QUERIES = "Enter query ids to compare them with all others."
SLICES = (
    "Mean difference to {baseline}; paired 95 % intervals, uncorrected. Hollow: interval contains 0. {about}."
)
UNKNOWN_QUERY = "query {query} is not among the {known} compared queries (see “Win and loss”)"
READING = "Reading …"
DATA_CHANGED = "files of {fold} of {dataset} changed after training; use other slices"
CHOOSING = "Choosing …"
DIFFERENCES = (
    f"Mean {{metric}} difference to {{baseline}} over queries ({COMPARED.label} definition); paired 95 % "
    "intervals. Full: significant (Holm's correction). {about}."
)
MEANS = f"Means over queries ({COMPARED.label} definition) with 95 % intervals. {{about}}."
ALONE = "{label} is the only model here: add another one."
FIRST = "{label} is the only model ready; other runs {state}."
TRAINING, OFFERED = "are still training", "wait for “Train in the background”"
"""What happens to runs that are not ready."""
METRICS_MEANS = (
    f"Means over queries ({COMPARED.label} definition) with 95 % intervals; dashed: baseline. Compare by the "
    "paired intervals above. "
)
FOLD_SD_HELP = "Standard deviation over folds."
SEED_SD_HELP = "Standard deviation over seeds, pooled over folds."
LESS = " Less is better."
CUTOFFS = "Means over queries; bands (up to {most} models): unpaired 95 % intervals. {about}."
TIMES = (
    "Mean training time per run. Bars: one standard error of the paired difference to the best "
    "(breiman1984). "
)
SETTINGS_SHOWN = "Only settings that differ; dash: not used."
ABOUT_P = "Probability of such a difference between equal models."
EFFECT_HELP = "Mean difference / standard deviation (Cohen's d)."
BH_HELP = "Corrected: below 0.05, at most 5 % false positives on average (benjamini1995)."
QUERY_BARS = "One bar per query: {metric} of {other} minus {baseline}. {about}."
OTHER_HELP = "Its wins and losses are drawn."
DETAILED_HELP = "Off: means only, one row per model. CSV has all numbers."
CORRECTED = "Corrected for the {family} comparisons of this table."
TICK_QUERY = "**Queries**: tick one."
GO_HELP = "Opens {title} with this query and model."

ON_VALIDATION = "Validation scores are optimistic. To judge, reveal the test part once."
NOTHING_LEFT = "None of the chosen runs can be shown."
NO_STUDY = "1 study left out: private or deleted."
UNSEEN = "{runs} left out: private or deleted."
UNMADE = "{runs} left out: not trained, or failed."


def about(models: Sequence[Contestant], part: str) -> str:
    """Return data set, folds, models and part, for the line beside the title and captions."""
    folds = sorted({fold for one in models for fold in one.folds})
    runs = sum(len(one.runs) for one in models)
    names = list(dict.fromkeys(one.spec.dataset for one in models))
    parts = (
        " and ".join(map(escaped, names[:2])),
        escaped(", ".join(map(fold_words, folds))) if len(folds) <= 2 else f"{len(folds)} folds",
        f"{counted(len(models), 'model')} ({counted(runs, 'run')})",
        PART_NAMES[part],
    )
    return " · ".join(parts)


def best(comparison: Comparison, metric: str) -> str:
    """Return the label of the best model except the baseline."""
    rows = comparison.standings[comparison.standings["metric"] == metric].set_index("label")["mean"]
    others = rows.drop(comparison.baseline)
    return str(leader(others, metric))


def headline(comparison: Comparison, metric: str) -> str:
    """Compare the best model with the baseline in words, with significance."""
    label, baseline = best(comparison, metric), comparison.baseline
    row = comparison.delta(label, metric)
    if math.isnan(row[comparison.test]):
        return sentence(escaped(comparison.sentence(label, metric)))
    ends = interval_in_words(row["low"], row["high"])
    size, family = f"{abs(row['difference']):.3f} {metric}", comparison.family
    n = queries_in_words(int(row["queries"]))
    correction = f" after Holm's correction over {family} comparisons" if family > 1 else ""
    if row["holm"] <= LEVEL:
        than = "better" if row["difference"] * direction(metric) > 0 else "worse"
        text = f"{label} is significantly {than} than {baseline} by {size} on {n} ({ends}){correction}"
    else:
        text = (
            f"{label} does not differ significantly from {baseline}: {with_minus(row['difference'], '+.3f')} "
            f"{metric} on {n} ({ends}), p = {small(row['holm'])}{correction}"
        )
    return sentence(escaped(text))


def tally(comparison: Comparison, metric: str) -> str:
    """Count models that are better and worse than the baseline, after correction."""
    rows = comparison.deltas[comparison.deltas["metric"] == metric]
    holds = rows[rows["holm"] <= LEVEL]
    gains = comparison.gains(holds)
    better, worse = int((gains > 0).sum()), int((gains < 0).sum())
    found = f"{better} {'is' if better == 1 else 'are'} significantly better, {worse} worse"
    return (
        f"{found if better + worse else 'No model differs significantly'}: {counted(len(rows), 'model')} "
        f"against {escaped(comparison.baseline)} by {metric} "
        f"({TESTS[comparison.test]}, Holm's correction over {counted(comparison.family, 'comparison')})."
    )


def study_note(title: str, choice: Choice, cells: int, folds: int) -> str:
    """Say which cell of a study is compared."""
    which = "the best" if choice.rule == "best" else f"the simplest within {RULES[choice.rule].label},"
    own = " The study itself chooses a cell for each fold." if choice.per_fold and folds > 1 else ""
    return (
        f"Study “{title}”: {which} of {counted(cells, 'cell')} by validation {choice.metric} over "
        f"{counted(folds, 'fold')}.{own}"
    )
