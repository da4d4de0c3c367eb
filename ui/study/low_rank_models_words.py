"""Texts of the tabs on the factorised and the regularised model, computed from their tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from rankviz.common.numbers import counted, power_of_two, small
from rankviz.features import FEATURE_MAPS
from rankviz.learning.losses import EVERY_LOSS
from rankviz.metrics.formulas import direction
from rankviz.metrics.significance import compare
from rankviz.plots.low_rank_models import MODEL_NAMES, MODELS, first_within, is_plain, last_rows
from rankviz.runs.spec import RunSpec
from ui.shell.texts import describe
from ui.study.low_rank_computations import HINGE
from ui.study.low_rank_words import middle, off, percent, queries

if TYPE_CHECKING:
    from ui.study.low_rank_models import Settings

MATRIX_WORDS = {
    "low_rank": "low-rank A",
    "alpha": "dual variables α",
}
NO_QUERY_STEPS = ":gray[The paper's steps need rows of features; this exact kernel has none.]"
MORE_FACTORS = "if the number of factors is multiplied, the objective never rises"
ALIKE = 1e-5
"""Objectives that differ by a smaller share count as equal."""
TABLE_7 = "Diamonds: Table 7, taken as test results. "
METRICS_HELP = "In the table and in the comparisons below it."


def is_plain_hinge(spec: RunSpec) -> bool:
    """Return True if a plain model has the loss of the other two."""
    return spec.loss == HINGE and spec.costs is None


def own_settings(spec: RunSpec) -> list[str]:
    """Describe the model's settings besides features and C: "5 factors"."""
    if is_plain(spec):
        return list(describe(spec).words("loss", "costs", "solver"))
    return [s.format(spec.get(s.name)) for s in spec.kind.settings if s.named and not s.options]


def with_loss(spec: RunSpec) -> str:
    """Name the loss of a plain model, and its costs: "with the squared hinge and costs of pairs"."""
    return f"with the {EVERY_LOSS[spec.loss].label}" + (
        " and costs of pairs" if spec.costs is not None else ""
    )


def trained_losses(spec: RunSpec, C: float) -> str:
    """Say that the low-rank models train the hinge, and which sidebar settings they ignore."""
    other = [f"the {EVERY_LOSS[spec.loss].label}"] if spec.loss != HINGE else []
    other += ["costs of pairs"] if spec.costs is not None else []
    other += [f"rank {spec.rank}"] if spec.get("rank") is not None else []
    other += [f"C = {power_of_two(spec.C)}"] if spec.C != C else []
    plain = f"Plain is the current model, with {', '.join(other)}. " if other else ""
    return f":gray[{plain}The other two train the hinge with C = {power_of_two(C)}.]"


def all_the_hinge(spec: RunSpec, C: float) -> str:
    """Say that all models of a tab train the hinge, unlike the current model."""
    costs = ", without costs of pairs" if spec.get("costs") is not None else ""
    own = [with_loss(spec) if is_plain(spec) else describe(spec).method]
    own += [f"C = {power_of_two(spec.C)}"] if "C" in spec else []
    return (
        f":gray[All models here train the hinge with C = {power_of_two(C)}{costs}. The current model, "
        f"{', '.join(own)}, is above the tabs.]"
    )


def ranks(table: pd.DataFrame, measure: str, plain: RunSpec, of: str = "") -> str:
    """Give the medians of the three models."""
    values = [f"{MODEL_NAMES[model]} {middle(table, f'{measure}_{MODEL_NAMES[model]}')}" for model in MODELS]
    name = "numerical rank" if measure == "rank" else "k"
    said = f"{values[0]} {with_loss(plain)}; with the hinge {values[1]}, {values[2]}"
    if is_plain_hinge(plain):
        said = f"{', '.join(values)}, all with the hinge"
    return f"Median {name} of {queries(len(table), of)}: {said}"


def above_K(table: pd.DataFrame, factors: int) -> str:
    """Count factorised blocks with a rank above the number of factors."""
    above = int((table["rank_factorised"] > factors).sum())
    most = int(table["rank_factorised"].max())
    if above == 0:
        return f"No factorised block has a rank above {factors}, the number of factors."
    blocks = "block has" if above == 1 else "blocks have"
    return f"{above} factorised {blocks} a rank above {factors}, the number of factors: at most {most}."


def law(allowed: pd.DataFrame, factors: int, matrix: str) -> str:
    """Explain why the rank may exceed the number of factors."""
    rows = allowed[["grades", "bound"]].to_numpy().tolist()
    most = ", ".join(f"{bound} with {grades} grades" for grades, bound in rows)
    which, twice = ("A + Aᵀ", ", twice the limit of A") if matrix == "symmetrised" else ("A", "")
    return f"VVᵀ has rank {factors} (xu2019 calls this number K). {which} has rank at most {most}{twice}."


def growth(table: pd.DataFrame, measure: str) -> str:
    """Say if queries with more pairs have blocks of higher rank, by rank correlations."""
    if len(table) < 3 or table["pairs"].nunique() < 2:
        return ""
    said = []
    for model in MODELS:
        column = table[f"{measure}_{MODEL_NAMES[model]}"]
        alike = column.nunique() < 2
        value = "the same for all" if alike else f"{table['pairs'].corr(column, method='spearman'):.2f}"
        said.append(f"{MODEL_NAMES[model]} {value}")
    return (
        f"Rank correlations with the number of pairs (Spearman): {', '.join(said)}. xu2019 (§6.3.1) reports "
        "such a correlation for the regularised model, from three queries."
    ).replace("-", "−")


def all_zero(chosen: Settings, largest: float) -> str:
    """Explain why every A is 0."""
    return (
        f"Every A is 0: the threshold nuclear/(2·coupling) = {small(chosen.threshold)} removes all singular "
        f"values (largest: {small(largest)}). Lower nuclear, or raise coupling or C."
    )


def gaps(costs: pd.DataFrame) -> str:
    """Give the duality gaps of the models' dual variables for the hinge."""
    known = costs[costs["gap"].notna()]
    said = ", ".join(f"{row.name} {_percent(float(row['gap']))}" for _, row in known.iterrows())
    return f"Duality gap of the hinge: {said} of the objective"


def _percent(share: float) -> str:
    return "under 0.01 %" if share < 1e-4 else f"{small(100 * share)} %"


def power(value: float) -> str:
    """Format a number as 10⁻⁵ if it is a power of ten."""
    return small(value).removeprefix("1.0 × ")


def of_the_paper(table: pd.DataFrame) -> str:
    """Compare xu2019's claim on its two algorithms with the seconds here."""
    printed = first_within(table[table["printed"]], 0.01).set_index("model")
    if len(printed) < 2:
        return ""
    quicker = MODEL_NAMES[str(printed["seconds"].idxmin())]
    fewer = MODEL_NAMES[str(printed["iteration"].idxmin())]
    time = "less time" if quicker == fewer else f"the {quicker} model less time"
    return (
        "xu2019 (§6.3.2): the regularised model needs fewer iterations, the factorised model less time. "
        f"Here, to an objective within 1 %, the {fewer} model needs fewer iterations and {time}."
    )


def about(spec: RunSpec) -> str:
    """Describe data, features and C of low-rank runs, without each model's own settings."""
    return str(replace(describe(spec, "train"), method="").without("solver"))


def ended(statuses: Mapping[str, str]) -> str:
    """Describe how runs ended, by name: these sentences are too long for a column."""
    return "How they ended: " + "; ".join(f"**{name}** {status}" for name, status in statuses.items()) + "."


def ends_differ(table: pd.DataFrame) -> str:
    """Give the distances between the results of each model's runs, and explain them."""
    last = last_rows(table).groupby("model")["above"].agg(["max", "size"])
    apart = {str(model): off(float(row["max"])) for model, row in last.iterrows() if row["size"] > 1}
    here = f", here {apart['factorized']} of the objective apart" if "factorized" in apart else ""
    left = f", here {apart['regularized']}" if "regularized" in apart else ""
    said = {
        "factorized": f"The factorised problem is not convex: runs end differently{here}.",
        "regularized": (f"The regularised one is convex: its runs did not converge fully{left}."),
    }
    return " ".join(words for model, words in said.items() if model in last.index)


def line_of(seeds: int) -> str:
    """Explain the line and the band over seeds."""
    if seeds == 1:
        return "Line: one seed so far. "
    return f"Line: mean over {seeds} seeds; band: least to greatest. "


def clipped(values: pd.Series[float], low: float, high: float) -> str:
    """Count cells of a heat map outside its colours, if any."""
    outside = int(((values < low) | (values > high)).sum())
    if outside == 0:
        return ""
    side = "below" if (values < low).any() else "above"
    return f"{outside} of {len(values)} cells are {side} the colour scale. "


def seeds_draw(spec: RunSpec) -> str:
    """Say that seeds also draw features, if they do."""
    return "Seeds also draw features. " if FEATURE_MAPS[spec.feature_map].draws else ""


def objectives(table: pd.DataFrame) -> str:
    """Say how much more factors lower the objective: means over seeds with all runs."""
    by_seed = table.pivot_table(index="seed", columns="factors", values="value").dropna()
    if by_seed.shape[0] == 0 or by_seed.shape[1] < 2:
        return ""
    means = by_seed.mean()
    first, best = int(means.index[0]), int(means.idxmin())
    drop = float(means[first] - means[best])
    fall = drop / abs(float(means[best])) if drop > 0.0 else 0.0
    values = {K: f"{means[K]:,.7g}".replace("-", "−") for K in (first, best)}
    if fall < ALIKE:
        return f"More factors lower it by less than {100 * ALIKE:g} % here ({values[first]}); {MORE_FACTORS}"
    return (
        f"From {counted(first, 'factor')} to {best} the objective falls by {percent(fall)}, from "
        f"{values[first]} to {values[best]}; {MORE_FACTORS}"
    )


def spread(groups: dict[str, pd.Series[float]], metric: str) -> str:
    """Name the best and the worst setting, with the significance of their difference."""
    best, worst = _ends(groups, metric)
    top, low = float(groups[best].mean()), float(groups[worst].mean())
    if len(groups) == 1:
        return f"Only {best} so far: mean {metric} {top:.3f}"
    if top == low:
        return f"Mean {metric} is {top:.3f} for each of {len(groups)} settings so far"
    text = compare(groups[best], groups[worst]).sentence(best, worst, metric)
    text = text.removeprefix(f"By {metric}, ")
    return f"Mean {metric} lies between {min(low, top):.3f} and {max(low, top):.3f}; {text}"


def against_plain(groups: dict[str, pd.Series[float]], plain: pd.Series[float], metric: str) -> list[str]:
    """Compare the best and the worst setting with the plain model with the hinge."""
    return [
        compare(groups[name], plain).sentence(name, "the plain model with the hinge", metric)
        for name in dict.fromkeys(_ends(groups, metric))
    ]


def _ends(groups: dict[str, pd.Series[float]], metric: str) -> tuple[str, str]:
    means = {name: direction(metric) * float(values.mean()) for name, values in groups.items()}
    return max(means, key=means.__getitem__), min(means, key=means.__getitem__)
