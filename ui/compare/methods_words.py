"""Texts of the Methods page."""

from __future__ import annotations

from collections.abc import Sequence

from rankviz.common.numbers import counted
from rankviz.datasets.known import Recognition
from rankviz.runs.description import PART_NAMES, fold_words

SET, CHOSEN = "sidebar", "validation"
WEIGHTS = {SET: "Sidebar", CHOSEN: "Validation"}
WEIGHTS_HELP = (
    "C is not comparable between objectives. Validation: the best of 2⁻¹⁵, 2⁻¹² … 2⁹ by NDCG@10 on the "
    "validation part, for each fold by itself."
)
BASELINE_HELP = "Differences are to this method, query by query."
TREE = (
    "Methods are grouped by the input of one term of their objective. A filled circle is trained on {about}. "
    "Its number is the mean NDCG@10. Click on a circle to see what the method minimises."
)
GIVEN = (
    "This page trains methods. {system} has given scores only: compare it on Several models, under Compare."
)
TICK = "Tick methods to train them on the sidebar's data, with its features where they apply."
NOTHING = "No method is trained on these data yet"
DIFFERENCE_HELP = "Mean over queries, method minus baseline, with its 95 % interval."
SIGNIFICANT = "● marks differences that are significant after Holm's correction over all methods and metrics."
NOTES = "Notes on ties and runs"
C_HELP = "C of each fold."
SECONDS_HELP = "Training of one run, mean over folds."
PRINTED_HELP = (
    "LETOR's own result of the linear method on the test part of the same folds. Its script keeps equal "
    "scores in the order of the file."
)
CHOSEN_HERE = (
    "C, and the rounds of boosted trees, are chosen on this part, so these values are optimistic. To judge, "
    "reveal the test part once."
)
USE = "Use on Train"
USE_HELP = "Sets the sidebar to this method."
BASELINE_FIRST = "Tick the baseline, {label}, to see differences."


def about(dataset: str, folds: Sequence[str], part: str) -> str:
    """Return data set, folds and part, for the line beside the title and captions."""
    own = fold_words(folds[0]) if len(folds) == 1 else f"{len(folds)} folds"
    return f"{dataset} · {own} · {PART_NAMES[part]}"


def answer(best: str, value: float, metric: str, trained: int, listed: int) -> str:
    """Name the method with the highest mean, and say how many are trained."""
    return (
        f"{best} has the highest {metric}, {value:.3f}; {trained} of {counted(listed, 'method')} are trained"
    )


def no_printed(recognition: Recognition, part: str, folds: Sequence[str]) -> str:
    """Say why no printed results are shown; "" if they are."""
    if part != "test":
        return "LETOR prints results of the test part: reveal it to see them beside ours."
    if recognition.known is None or not recognition.complete:
        return f"LETOR's printed results are not shown. {recognition.sentence}"
    return f"LETOR prints no results of {', '.join(folds)} of {recognition.known.title}."


TWO_NEEDED = "Tick the baseline and another method in the table to see differences."
DIFFERENCES = "Mean difference in NDCG@10 to {baseline}, with 95 % intervals over queries. {about}."
