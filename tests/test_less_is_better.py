"""Test metrics of which less is better: choices, figures and words mirror those of the others.

`mirrored` replaces MAP by a mean rank of 5 − MAP: the best by one is the best by the other.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from conftest_sweeps import GRID, SPEC, bowl, made_up

from rankviz import RankSVM
from rankviz.analysis.slices import by_difficulty
from rankviz.datasets import make_fold
from rankviz.metrics import MeanRank
from rankviz.metrics.formulas import FORMULAS, direction
from rankviz.metrics.significance import compare, leader
from rankviz.plots import low_rank_models, per_query, sweep_map, sweep_settings
from rankviz.plots.style import LOW_TO_HIGH, colour_range, metric_range
from rankviz.runs import Design, Range, select
from rankviz.runs.adviser import advise
from rankviz.runs.selection import RULES
from rankviz.runs.sweep_table import curves, worth

LESS, MORE = "MeanRank", "MAP"
TABLE = made_up(GRID, bowl, test=bowl)


def mirrored(table: pd.DataFrame) -> pd.DataFrame:
    ranks = {f"{part}:{LESS}": 5 - table[f"{part}:{MORE}"] for part in ("vali", "test")}
    return table.drop(columns=[f"{part}:{MORE}" for part in ("vali", "test")]).assign(**ranks)


MIRRORED = mirrored(TABLE)


def test_only_the_mean_rank_is_better_if_less() -> None:
    assert {name for name, formula in FORMULAS.items() if not formula.more_is_better} == {LESS}
    names = (LESS, "MeanRank (letor)", "nDCG(gains={1: 1})@5", "?")
    assert [direction(name) for name in names] == [-1, -1, 1, 1]
    values = pd.Series([np.nan, 2.0, 1.0, 1.0 + 1e-15], ["a", "b", "c", "d"])
    assert (leader(values, MORE), leader(values, LESS)) == ("b", "c")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("per_fold", [False, True])
def test_a_sweep_chooses_the_smallest(rule: str, per_fold: bool) -> None:
    if per_fold and RULES[rule].least_folds > 1:
        pytest.skip("this rule needs folds")
    more = select(GRID, TABLE, MORE, per_fold=per_fold, rule=rule)
    less = select(GRID, MIRRORED, LESS, per_fold=per_fold, rule=rule)
    assert less.settings == more.settings
    assert less.validation == pytest.approx(5 - more.validation)
    assert less.test_means[LESS] == pytest.approx(5 - more.test_means[MORE])


def both(table_of: Callable[..., Any]) -> tuple[Any, Any]:
    return table_of(GRID, TABLE, MORE), table_of(GRID, MIRRORED, LESS)


def test_tables_of_sweeps_take_the_smallest() -> None:
    more, less = both(worth)
    np.testing.assert_allclose(less["best"], 5 - more["best"])
    more, less = both(partial(curves, setting="C"))
    assert less["cell"].tolist() == more["cell"].tolist()
    more, less = both(partial(sweep_settings.curves_data, setting="C", lines="gamma"))
    assert less["best"].tolist() == more["best"].tolist()
    more, less = both(sweep_settings.parallel_data)
    assert less.index.tolist() == more.index.tolist()
    more, less = both(sweep_map.map_data)
    assert less["best"].tolist() == more["best"].tolist()


@pytest.mark.parametrize(
    ("table_of", "draw"),
    [
        (sweep_map.map_data, sweep_map.map_figure),
        (sweep_settings.parallel_data, sweep_settings.parallel_figure),
    ],
)
def test_the_best_cell_has_the_same_colour(table_of: Callable[..., Any], draw: Callable[..., Any]) -> None:
    more, less = both(lambda design, table, metric: draw(table_of(design, table, metric), design, metric))
    assert colours(less) == colours(more)


def test_a_very_bad_value_does_not_hide_the_others() -> None:
    values = pd.Series([1.0, 2.0, 3.0, 40.0])
    assert colour_range(values, LESS, 0.25) == pytest.approx([0.98, 3.02], abs=0.03)
    ends = sweep_map.colours_between(values, LESS)
    assert sweep_map.bar_ticks(values, ends)["ticktext"][-1].startswith("≥ ")
    assert not sweep_map.bar_ticks(values, ends)["ticktext"][0].startswith("≤")
    table = pd.DataFrame({"nuclear": [1, 1], "coupling": [1, 2], "value": [3.0, 4.0], "all_zero": False})
    more, less = (
        [one[1] for one in low_rank_models.weights_figure(table, name, [1], [1, 2]).data[0].colorscale]
        for name in (MORE, LESS)
    )
    assert more == less[::-1]


def colours(figure: go.Figure) -> list[object]:
    """The colour of each cell of a map, or of the worst and the best lines, with the first place of all."""
    first = figure.data[0]
    if first.type != "heatmap":
        tones = [figure.data[at].line.color for at in (0, -2, -1)]
        return [*tones, *(trace.y[0] for trace in figure.data)]
    share = (np.array(first.z) - first.zmin) / (first.zmax - first.zmin)
    best_last = [one[1] for one in first.colorscale] == list(LOW_TO_HIGH)
    return np.round(share if best_last else 1 - share, 9).tolist()


def test_an_adviser_minimises_it() -> None:
    pytest.importorskip("optuna")
    axes = (Range("C", 2.0**-12, 2.0**6), Range("gamma", 2.0**-12, 4.0))
    design = Design(SPEC, axes, kind="random", points=40)  # it learns from ten cells on
    table = made_up(design, lambda spec: -abs(math.log2(spec.C)) / 100)
    found = advise(design, table, MORE, 3, seed=1)
    assert advise(design, mirrored(table), LESS, 3, seed=1) == found


def test_sentences_call_the_smaller_one_better() -> None:
    low = pd.Series(np.linspace(1, 2, 40))
    found = compare(low, low + 1 + np.linspace(0, 0.5, 40))
    assert (found.verdict(LESS), found.verdict(MORE)) == (1, -1)
    assert found.sentence("a", "b", LESS).startswith("a is better than b by 1.250 MeanRank")
    assert found.sentence("a", "b", MORE).startswith("a is worse than b by 1.250 MAP")
    assert found.effect(LESS).startswith("MeanRank (less is better) −1.25")
    assert found.effect(MORE).startswith("MAP −1.25")


def test_the_lead_of_a_query_is_that_of_the_smaller_value() -> None:
    table = pd.DataFrame(
        {"query": [1, 2, 3], "documents": 5, "left": [2.0, 9.0, np.nan], "right": [4.0, 3.0, np.nan]}
    )
    table = table.assign(difference=table["left"] - table["right"], tau=0.5, overlap=1.0)
    drawn = per_query.pair_styles(("linear", "nystroem"), ("A", "B"))
    figure = per_query.scatter_figure(table, drawn, LESS)
    points = next(trace for trace in figure.data if trace.name == "queries")
    assert list(points.marker.color)[:2] == [drawn[0].colour, drawn[1].colour]
    upper = next(note for note in figure.layout.annotations if note.x == 0.02)
    assert upper.text == "B ahead", "above the diagonal the left value is larger, which is worse"
    assert figure.layout.xaxis.range[1] > 9
    for new, title in (([2.0, 9.0, np.nan], "1 ▲ 1 ▼"), ([9.0, 9.0, np.nan], "0 ▲ 2 ▼")):
        changes = per_query.difference_data({"vali": table.assign(new=new, old=table["right"])})
        figure = per_query.difference_figure(changes, LESS, "#000000")
        assert figure.layout.annotations[0].text == f"validation (2)<br>{title}"
    assert metric_range(12.0, 80.0, LESS)[1] > 80
    assert metric_range(0.2, 1.2, MORE)[1] < 1.1


class Judge:
    """A contestant with given values by query."""

    label = "judge"

    def by_query(self, _: str) -> pd.Series:
        return pd.Series([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])


class Nobody:
    labels = ()


def test_hard_queries_come_first() -> None:
    groups = {m: list(by_difficulty(Nobody(), m, Judge()).groups.values()) for m in (LESS, MORE)}  # type: ignore[arg-type]
    assert groups[LESS][0].tolist() == [4, 5]
    assert groups[MORE][0].tolist() == [0, 1]


def test_a_grid_search_takes_the_smallest_mean_rank() -> None:
    import sklearn
    from sklearn.model_selection import GridSearchCV, GroupKFold

    train = make_fold(n_queries=24, documents_per_query=(8, 12), seed=0).train
    qid = np.repeat(train.query_labels, np.diff(train.ptr))
    with sklearn.config_context(enable_metadata_routing=True):
        model, scorer = RankSVM(feature_map="linear").set_fit_request(qid=True), MeanRank().scorer()
        folds = GroupKFold(3).split(train.X, train.y, qid)
        search = GridSearchCV(model, {"C": [2.0**-9, 1.0]}, scoring=scorer, cv=folds, refit=False)
        search.fit(train.X, train.y, qid=qid)
        value = scorer(model.fit(train.X, train.y, qid=qid), train.X, train.y, qid=qid)
    assert value == pytest.approx(-MeanRank()(model.predict(train.X), train.y, qid))
    means = search.cv_results_["mean_test_score"]
    assert (means < -1).all(), "scikit-learn maximises the negative mean rank"
    assert search.best_index_ == int(np.argmax(means))
