"""The texts that pages share: the sidebar, jobs, the cluster, links, pins, log-in and faults."""

from __future__ import annotations

from collections.abc import Iterable

from rankviz.runs.description import PART_NAMES

LOG_IN = (
    "Please log in. Your data sets and jobs belong to your account; the operator of this server can see them."
)
FAULT = "This is a fault of the program, not of your data or settings. To report it, copy the details below."
TOO_MANY_SESSIONS = "Too many pages are open on this server. Try again in a few minutes."
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
NOT_USED_SETTINGS = "Settings not used on this page"
NOT_BY_LINEAR = "Not used: this page has a linear model with equally weighted pairs."
OTHER_C = "Not used: the linear model has its own C (More settings)."
SWEEP_HAS_ITS_OWN = "Not used: this sweep has its own settings."
COSTS_EXPECTED = "one number from 0 to {largest:g} for every two grades: λ₁₀, λ₂₀, λ₂₁, …"
SWITCHED = "Solver: {solver}, as {before} cannot train {loss}."
NOT_USED_BY = "Not used by {model}, only by other models in figures."
ONLY_LINEAR_BASELINE = "Not used by the linear model, which has its own C. Choose “{model}” above the figure."
ALL_FOLDS = "Not used: the page pools all folds. Choose “{this}” above the figure."
# links and pins
NO_PAGE = "Page not found"
NO_PAGE_HERE = "There is no page at this address. Choose one:"


def not_available(name: str, asked: str, used: str = "") -> str:
    """Say that a link's value is not available, with the one used instead."""
    return f"{name} = {asked} is not available" + (f"; using {used}." if used else ".")


OTHER_VERSION = "This link is from another version (v = {version}); settings not in it have today's defaults."
REFUSED = "Your browser sent a value that its control cannot have; the control has its first value again."
IGNORED = "This page ignores {named} in its link."
NOT_READ_YET = "Used after the training: {named}."
NO_SUCH_MODEL = "{label}: {asked} is not available; showing {shown}."
RUN_OF_LINK = "the run of this link"
PINS_LEFT_OUT = "Only valid pins are shown, at most {most}."
PIN_RUN = "Keep in the figure (up to {most})."
# test results, selected queries, features, figures
REVEAL = "Looks are counted: test results must not guide choices."
QUERY = "Default: the largest difference."
WHY_DIFFERENT = "Why do the numbers differ?"
NOTHING_LEARNED = "No preference pairs: nothing to learn. Documents keep file order."
PICTURES = (
    "SVG has lines and letters, with their font; PNG and PDF have pixels, 300 per inch on paper. For a "
    "PDF with lines choose Print, then “Save as PDF”."
)
NAMES = "Numbers start at 1; names stay in this browser tab."
OWN_NAMES = "From the data set."
NO_NAMES = "The data set has no feature names."
LINES_NOT_READ = "Not read: {lines}. Write lines like “12: clicks”, with numbers from 1 to {d}."
OWN_EXAMPLE = "nDCG(gains={1: 1, 2: 9})@10"
OWN_HELP = (
    "Own gains by grade: nDCG(gains={1: 1, 2: 9})@10. Own discounts by rank: nDCG(discount=(1, 0.5))@2. "
    "Other names are ERR@5, RBP(p=0.5), P(rel=2)@5, MeanRank. The other rules are those of all metrics here, "
    "unless a definition follows: nDCG@20 (textbook)."
)
NO_OWN_METRIC = "Write a metric in the field; until then, {usual} is shown."
UNREAD_METRIC = "{why}."
LESS_IS_BETTER = "Less {metric} is better."
SHORT_QUERY = "{metric} is 0 here: LETOR's definition needs {k} documents, this query has {n}."
SHORT_QUERIES = (
    "NDCG@{k} is 0 for {short:,} of {n:,} queries, whatever the model: LETOR's definition needs {k} "
    "documents. This lowers the curves at large k."
)
# jobs
SO_FAR = "so far, "
NO_POINT_YET = "No point is ready yet; points appear as runs finish."
NO_POINT_ASKED = "No point is ready yet. Press “Train in the background”; points appear as runs finish."
WAITING = "Waiting for another visitor's training"
OTHER_DATA = "Use {name}"
STOPPED = "Stopped before the model was ready."
CROWDED = "Others are training. Changing a setting stops your run."
SLOW = "This took longer than predicted, so it goes on in the background. Changing a setting stops it."
NO_JOB = "The job of this link does not exist. It may have been deleted."
OF_OTHERS = "Another visitor asked for the same runs."
RESTING = "They start when you stop changing settings."
COST = "Training {runs} will take **{predicted}** (estimate). It continues when you leave."
RETRAINING = "Training {runs} again in the background. Runs will show whether the figures agree."
# the cluster
SWEEP_THERE = "Each worker trains whole families of runs."
MODEL_THERE = "All workers train one model together, if it can be divided."
ASKING = "Asking …"
NO_WORKER = "The cluster has no worker now."
NO_CHANGE_YET = "Change a setting to see its effect here."
OTHER_QUERIES = "other queries, so there is no paired difference"
NOT_TRAINED_HERE = "not trained yet"
BACK = "Go back to these settings."
PIN, UNPIN = "Pin the comparison", "Unpin the comparison"
COMPARE_WITH_LAST = "Compare with the settings before the latest change again."


def effect(changes: Iterable[tuple[str, str, str]], difference: str, title: str = "") -> str:
    """Return changes of settings, as name, old and new value, and their effect, after a title if given."""
    changed = ", ".join(f"{name} {old} → {new}".strip() for name, old, new in changes)
    return f"**{title}{changed}:** {difference}"


def same_model(before: tuple[str, str, float], now: tuple[str, str, float]) -> str:
    """Return the values of one model before and after a change of part or metric."""
    (part, metric, value), (other_part, other, other_value) = before, now
    old, new = f"{metric} {value:.3f}", f"{other} {other_value:.3f}"
    changed = [f"{metric} → {other}"] * (metric != other)
    if part != other_part:
        old, new = f"{old} ({PART_NAMES[part]})", f"{new} ({PART_NAMES[other_part]})"
        changed += [f"{PART_NAMES[part]} → {PART_NAMES[other_part]}"]
    return f"**{', '.join(changed)}:** the same model has {old} and {new}."


def settings(changes: Iterable[tuple[str, str, str]]) -> str:
    """Return the new values of changes."""
    return ", ".join(f"{name} {new}".strip() for name, _, new in changes)


OTHER_SEED = "Another seed alone: {difference}."
KEEP_COMPARING = "Keep comparing with {settings} after further changes."
# sequences of views (lectures)
VIEW_ADDED = "Added as view {number}. Its order and text are on the Lecture page."
ADD_VIEW = "Add this view to the lecture"
ADD_VIEW_HELP = "Keeps this page with its settings. The Lecture page lists all views."
VIEWS, VIEW_BACK, VIEW_ON = "Views of the lecture", "← Back", "Next →"
ALL_VIEWS, EDIT_LECTURE = "All views", "Edit the lecture"
BACK_TO_VIEW = "Back to view {at} of {n}"
CLASS_CLOSED = "The class is closed."
CONTROLS_LOCKED = ":material/lock: Controls are locked in this view."
IN_CLASS = "You are in the class."
WAIT = "When the lecturer starts, a link to that view appears here. Start opens the first view now."
LECTURER_AT, GO_TO_VIEW = "The lecturer is at view {at}.", "Go to view {at}"
NOBODY = "No student is in the class yet."
IN_LIST = "waiting", "", "on a view", ""
ON_VIEWS = "on this view", "on an earlier view", "on a later view", "at the list of views"
NO_PREDICTIONS = "No student has made a prediction yet. The chart of all predictions will appear here."
GAPS = "Number of students by {axis}. {counts}."
