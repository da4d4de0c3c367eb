"""The views of the Methods page: families, and all methods beside a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pandas as pd
import streamlit as st

from rankviz.analysis import methods as tables
from rankviz.analysis.comparison import LEVEL, Comparison
from rankviz.common.errors import SettingError
from rankviz.common.numbers import with_minus
from rankviz.datasets import recognise_fold
from rankviz.plots import methods as plot
from rankviz.plots import model_comparison
from rankviz.runs.record import RunRecord
from rankviz.runs.spec import RunSpec
from ui.compare import methods_words as words
from ui.compare.compare_words import ON_VALIDATION
from ui.controls.settings import state_of
from ui.controls.widgets import THIS, Bound, chosen_folds
from ui.shell.figures import CONFIG, alt_of, show_answer, show_figure, show_table, themed
from ui.shell.page import go_to
from ui.shell.texts import escaped
from ui.work.folds import fold_of
from ui.work.jobs import found_records, run_or_submit

TABLE, PICKED = "methods-table", "methods-picked"
"""Session keys: the table, with its ticked rows; the clicked method."""
TREE, NARROW_TREE = "methods-tree", "methods-tree-narrow"
METRIC = tables.METRICS[0]


@dataclass(frozen=True, eq=False)
class Shown:
    """What the page shows.

    Attributes
    ----------
    spec : RunSpec
        The sidebar's run.
    part : str
    folds : tuple of str
    baseline : str
        Key of a method.
    specs : dict
        Method -> fold -> its runs, one for each C to choose from. A method that cannot have the sidebar's
        settings is in `refused`, with the reason.
    refused : dict
    records : dict
        Method -> its record of each fold, for methods with all of them.
    chooses : bool
        True if C is chosen on the validation part.
    """

    spec: RunSpec
    part: str
    folds: tuple[str, ...]
    baseline: str
    specs: dict[str, list[list[RunSpec]]]
    refused: dict[str, str]
    records: dict[str, list[RunRecord]]
    chooses: bool

    @cached_property
    def about(self) -> str:
        """Data, folds and part in words."""
        return words.about(self.spec.dataset, self.folds, self.part)

    @cached_property
    def compared(self) -> tuple[Comparison | None, pd.DataFrame]:
        """The comparison with the baseline, None without it, and the table of methods with records."""
        key = tuple(record.spec.hash for own in self.records.values() for record in own)
        return _compared(key, self.part, self.baseline, self.records)


def chosen(spec: RunSpec, part: str) -> Shown:
    """Draw the controls, make what was asked for, and return what the page shows."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="wrapped-controls")
    bound = Bound(row)
    folds = chosen_folds(bound, spec, "folds", THIS)
    way = bound.buttons("cfrom", "C from", words.WEIGHTS, words.CHOSEN, help=words.WEIGHTS_HELP)
    labels = {key: one.label for key, one in tables.catalogue().items()}
    baseline = Bound(row.container(width=260)).menu("beside", "Baseline", labels, help=words.BASELINE_HELP)
    digests = {fold: fold_of(spec.but(fold=fold, digest="")).digest for fold in folds}
    specs: dict[str, list[list[RunSpec]]] = {}
    refused: dict[str, str] = {}
    for key, one in tables.catalogue().items():
        try:
            own = [one.on(spec, fold, digests[fold]) for fold in folds]
        except SettingError as error:
            refused[key] = str(error)
        else:
            specs[key] = [tables.with_weights(run) if way == words.CHOSEN else [run] for run in own]
    ticked = _ticked()  # with the baseline, so that there is something to compare with
    asked = [key for key in dict.fromkeys((*ticked, baseline)) if key in specs] if ticked else []
    wanted = [run for key in asked for fold in specs[key] for run in fold]
    run_or_submit(wanted, title=f"Methods, {spec.dataset}")  # also shows the job of a link
    made = found_records([run for own in specs.values() for fold in own for run in fold])
    records = {
        key: [tables.best_on_validation([made[run] for run in fold]) for fold in own]
        for key, own in specs.items()
        if all(run in made for fold in own for run in fold)
    }
    return Shown(spec, part, folds, baseline, specs, refused, records, way == words.CHOSEN)


def _ticked() -> list[str]:
    """Return the ticked methods; the table is drawn further below."""
    keys, state = list(tables.catalogue()), st.session_state.get(TABLE)
    return [keys[row] for row in state["selection"]["rows"]] if state else []


@st.cache_resource(max_entries=64, show_spinner="Comparing …")
def _compared(
    key: tuple[str, ...], part: str, baseline: str, _records: dict[str, list[RunRecord]]
) -> tuple[Comparison | None, pd.DataFrame]:
    return tables.compared(_records, part, baseline)


def _answer(shown: Shown) -> str:
    """Name the method with the highest mean, and those that differ significantly from the baseline."""
    found, numbers = shown.compared
    if numbers.empty:
        return words.NOTHING
    listed, means = tables.catalogue(), numbers[f"{METRIC} mean"]
    said = words.answer(listed[means.idxmax()].label, means.max(), METRIC, len(means), len(listed))
    return said if found is None else f"{said}. {found.answer(METRIC)}"


def differences(shown: Shown) -> None:
    """Draw every method's difference to the baseline by NDCG@10."""
    found = shown.compared[0]
    if found is None:
        st.info(words.TWO_NEEDED)
        return
    drawn = model_comparison.deltas_data(found)
    show_figure(
        model_comparison.deltas_figure(drawn[drawn["metric"] == METRIC]),
        drawn,
        key="methods-differences",
        caption=words.DIFFERENCES.format(about=shown.about, baseline=found.baseline),
    )


def tree(shown: Shown) -> None:
    """Draw the families of methods; a click on one shows what it minimises."""
    listed, numbers = tables.catalogue(), shown.compared[1]
    values = {} if numbers.empty else numbers[f"{METRIC} mean"].to_dict()
    table = plot.tree_data(listed.values(), values, METRIC)
    picked = st.session_state.get(PICKED, "")
    wide, narrow = (plot.tree_figure(table, METRIC, picked, one_column) for one_column in (False, True))
    show_answer(escaped(_answer(shown)))
    st.plotly_chart(  # in place of the other on a phone: page.css
        themed(narrow),
        key=NARROW_TREE,
        alt=alt_of(wide),
        config=CONFIG,
        on_select=partial(_pick, NARROW_TREE),
    )
    show_figure(
        wide, table, key=TREE, caption=words.TREE.format(about=shown.about), on_select=partial(_pick, TREE)
    )
    if (picked := st.session_state.get(PICKED)) in listed:
        _card(shown, picked)


def _pick(tree: str) -> None:
    """Remember the method that was clicked in a tree (a callback)."""
    if points := st.session_state[tree]["selection"]["points"]:
        st.session_state[PICKED] = points[0]["customdata"][0]


def _card(shown: Shown, key: str) -> None:
    """Draw what a method minimises, and a button that sets the sidebar to it."""
    one = tables.catalogue()[key]
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{escaped(one.label)}** ({one.family}): {escaped(one.minimises)}")
        if key in shown.refused:
            st.caption(escaped(shown.refused[key]))
            return
        spec = shown.records[key][0].spec if key in shown.records else shown.specs[key][0][0]
        st.button(words.USE, key="methods-use", help=words.USE_HELP, on_click=_use, args=(spec,))


def _use(spec: RunSpec) -> None:
    """Set the sidebar to a run and open Train (a callback)."""
    st.session_state.update(state_of(spec))
    go_to("train")


def table(shown: Shown) -> None:
    """Draw all methods with metrics, differences, printed results and seconds; ticked ones are trained."""
    found, numbers = shown.compared
    recognition = recognise_fold(shown.spec.dataset, fold_of(shown.spec))
    printed = tables.printed_means(recognition, shown.folds) if shown.part == "test" else pd.DataFrame()
    listed = tables.catalogue()
    rows = [_row(key, numbers, printed, found is not None) for key in listed]
    st.caption(words.TICK)
    show_table(
        pd.DataFrame(rows).dropna(axis="columns", how="all"),
        hide_index=True,
        height="content",
        key=TABLE,
        on_select="rerun",
        selection_mode="multi-row",
        column_config=_columns(),
        alt="One row for each method.",
    )
    for key in _ticked():
        if key in shown.refused:
            st.caption(f"{escaped(listed[key].label)}: {escaped(shown.refused[key])}")
    said = [words.SIGNIFICANT] if found is not None else []
    if shown.part == "vali":
        said.append(words.CHOSEN_HERE if shown.chooses else ON_VALIDATION)
    if shown.baseline not in shown.records:
        said.append(words.BASELINE_FIRST.format(label=escaped(listed[shown.baseline].label)))
    if printed.empty:
        said.append(escaped(words.no_printed(recognition, shown.part, shown.folds)))
    st.caption(" ".join(said))
    if found is not None and found.notes:
        with st.expander(words.NOTES, type="compact"):
            st.markdown("\n".join(f"- {escaped(note)}" for note in found.notes))


def _row(key: str, numbers: pd.DataFrame, printed: pd.DataFrame, several: bool) -> dict[str, Any]:
    one = tables.catalogue()[key]
    row: dict[str, Any] = {"method": one.label, "family": one.family}
    known = numbers.loc[key] if key in numbers.index else {}
    for metric in tables.METRICS:
        row[metric] = known.get(f"{metric} mean")
        row[f"{metric} difference"] = _difference(known, metric) if several else None
        row[f"{metric} printed"] = printed[metric].get(key) if metric in printed else None
    return (
        row | {name: known.get(name) for name in ("seconds", "features", "C")} | {"minimises": one.minimises}
    )


def _difference(known: Any, metric: str) -> str | None:
    """Return a difference with its interval, and a mark if it is significant."""
    value = known.get(f"{metric} difference")
    if value is None or pd.isna(value):
        return None
    ends = [known[f"{metric} difference_{end}"] for end in ("low", "high")]
    interval = "" if pd.isna(ends).any() else f" [{', '.join(with_minus(end, '+z.3f') for end in ends)}]"
    mark = " ●" if known[f"{metric} holm"] <= LEVEL else ""
    return f"{with_minus(value, '+z.3f')}{interval}{mark}"


def _columns() -> dict[str, Any]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    columns: dict[str, Any] = {
        "family": text(width=170),  # as wide as the longest, "pointwise and pairwise"
        "seconds": number("training, s", format="%.3g", help=words.SECONDS_HELP),
        "C": text(help=words.C_HELP),
    }
    for metric in tables.METRICS:
        columns[metric] = number(format="%.3f")
        columns[f"{metric} difference"] = text(f"{metric}, difference", width=170, help=words.DIFFERENCE_HELP)
        columns[f"{metric} printed"] = number(f"{metric}, LETOR", format="%.3f", help=words.PRINTED_HELP)
    return columns
