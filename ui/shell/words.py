"""The texts that pages share: the sidebar, jobs, the cluster, links, pins, log-in and faults."""

from __future__ import annotations

from collections.abc import Iterable

LOG_IN = (
    "Please log in. Your data sets and jobs belong to your account; the operator of this server can see them."
)
FAULT = "This is a fault of the program, not of your data or settings. To report it, copy the details below."

# the sidebar

METHOD = "How scores are learned."
NORMALISATION = "Scaling of the features before training."
BASELINE_C = "C of the linear model shown for comparison."
DATA_SET = "Add LETOR folds to the data folder, or use `make app DATA=folder`."
FOLD = "Choose settings on validation, judge once on test."
COSTS_BY_GRADE = "Costs for “λ as below”: grades 1 over 0, 2 over 0, 2 over 1, …"
COSTS_REMEDY = "Three grades need three numbers, such as 1, 2, 1.3."
LINK = "Link with all settings:"
COMPARE = "Adds this model's finished runs to Compare."

NOT_USED = "Not used on this page."
NOT_BY_LINEAR = "Not used: this page has a linear model with equally weighted pairs."
OTHER_C = "Not used: the linear model has its own C (More settings)."
SWEEP_HAS_ITS_OWN = "Not used: this sweep has its own settings."


def costs_expected(largest: float) -> str:
    """Return which numbers are expected of costs by grade."""
    return f"one number from 0 to {largest:g} for every two grades: λ₁₀, λ₂₀, λ₂₁, …"


def not_used_by(model: str) -> str:
    """Return why a setting is greyed out that only other models of a figure use."""
    return f"Not used by {model}, only by other models in figures."


def not_by_linear(model: str) -> str:
    """Return why Influence does not use a setting, and the name of the model that does."""
    return f"Not used by the linear model, which has its own C. Choose “{model}” above the figure."


def all_folds(this: str) -> str:
    """Return why Influence does not use the fold, and the choice that does."""
    return f"Not used: the page pools all folds. Choose “{this}” above the figure."


# links and pins

NO_PAGE = "Page not found"
NO_PAGE_HERE = "There is no page at this address. Choose one:"


def not_available(name: str, asked: str, used: str = "") -> str:
    """Say that a link's value is not available, with the one used instead."""
    return f"{name} = {asked} is not available" + (f"; using {used}." if used else ".")


def other_version(version: str) -> str:
    """Say that a link comes from another version of the app."""
    return f"This link is from another version (v = {version}); settings not in it have today's defaults."


def ignored(named: str) -> str:
    """Say that a page does not use parameters of its link."""
    return f"This page ignores {named} in its link."


def not_read_yet(named: str) -> str:
    """Return that a page reads parameters of its link once its runs exist."""
    return f"Used after the training: {named}."


def no_such_model(label: str, asked: str, shown: str) -> str:
    """Say that a link's model is not available, with the one that is shown."""
    return f"{label}: {asked} is not available; showing {shown}."


def pins_left_out(most: int) -> str:
    """Say that pins of the address are left out."""
    return f"Only valid pins are shown, at most {most}."


def pin(most: int) -> str:
    """Return the help of pins."""
    return f"Keep in the figure (up to {most})."


# test results, selected queries, features, figures

REVEAL = "Looks are counted: test results must not guide choices."
QUERY = "Default: the largest difference."
NOTHING_LEARNED = "No preference pairs: nothing to learn. Documents keep file order."
PICTURES = (
    "SVG has lines and letters, with their font; PNG and PDF have pixels, 300 per inch on paper. For a "
    "PDF with lines choose Print, then “Save as PDF”."
)
NAMES = "Numbers start at 1; names stay in this browser tab."
OWN_NAMES = "From the data set."
NO_NAMES = "The data set has no feature names."


def lines_not_read(d: int, lines: str) -> str:
    """Return which lines are not names of features."""
    return f"Not read: {lines}. Write lines like “12: clicks”, with numbers from 1 to {d}."


# jobs

NO_POINT_YET = "No results yet; points appear as runs finish."
MORE_TO_COME = "More points will appear."
WAITING = "Waiting for another visitor's training"
STOPPED = "Stopped before the model was ready."
CROWDED = "Others are training. Changing a setting stops your run."
SLOW = "This takes longer than predicted. Changing a setting stops it."
OF_OTHERS = "Another visitor asked for the same runs."
RESTING = "They start when you stop changing settings."


def cost(runs: str, predicted: str) -> str:
    """Say how long runs will take on this machine."""
    return f"Training {runs} will take **{predicted}** (estimate). It continues when you leave."


def retraining(runs: str) -> str:
    """Say that imported runs are trained again."""
    return f"Training {runs} again in the background. Runs will show whether the figures agree."


# the cluster

SWEEP_THERE = "Each worker trains whole families of runs."
MODEL_THERE = "All workers train one model together, if it can be divided."
ASKING = "Asking …"
NO_WORKER = "The cluster has no worker now."


NO_CHANGE_YET = "Change a setting to see its effect here."
OTHER_QUERIES = "other queries, so there is no paired difference"
NOT_TRAINED_HERE = "not trained yet"
BACK = "Go back to these settings."
COMPARE_WITH_LAST = "Compare with the settings before the latest change again."


def effect(changes: Iterable[tuple[str, str, str]], difference: str) -> str:
    """Return changes of settings, as name, old and new value, and their effect."""
    return f"**{', '.join(f'{name} {old} → {new}'.strip() for name, old, new in changes)}:** {difference}"


def settings(changes: Iterable[tuple[str, str, str]]) -> str:
    """Return the new values of changes."""
    return ", ".join(f"{name} {new}".strip() for name, _, new in changes)


def other_seed(difference: str) -> str:
    """Return the effect of another seed."""
    return f"Another seed alone: {difference}."


def keep_comparing(settings: str) -> str:
    """Return the help of the button that keeps the comparison."""
    return f"Keep comparing with {settings} after further changes."
