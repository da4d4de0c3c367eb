"""Widgets that are part of the address, and choices for pages with their own control of a setting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.numbers import counted
from rankviz.common.settings import Powers, Steps
from rankviz.features.registry import N_COMPONENTS
from rankviz.learning.losses import LOSS_WEIGHT
from rankviz.metrics.formulas import direction
from rankviz.runs.spec import RunSpec
from ui.shell import words
from ui.shell.page import head
from ui.shell.texts import escaped
from ui.work import metrics
from ui.work.folds import datasets
from ui.work.metrics import METRICS, OWN, USUAL_METRIC


@dataclass(frozen=True)
class Bound:
    """Draws widgets whose values are in the address, under their keys.

    Options may be a sequence, or a mapping from values to their labels. `how` are further arguments of
    Streamlit's widgets, such as `width` and `disabled`.

    Attributes
    ----------
    place : module or DeltaGenerator
        Where the widgets are drawn.
    helps : mapping of str to str
        The page's help texts, by the keys of widgets.
    """

    place: Any = st
    helps: Mapping[str, str] = field(default_factory=dict)

    def at(self, place: Any) -> Bound:
        """Return the same for widgets at another place."""
        return replace(self, place=place)

    def menu(self, key: str, label: str, options: Options, start: Any = None, **how: Any) -> Any:
        """Draw a menu; return the chosen value, at first `start` or the first option."""
        values = list(options)
        at = start_index(key, values, start)
        return self.place.selectbox(label, values, at, **self._common(key, how, options))

    def menu_of_data(self, key: str, label: str, options: Options, first: int = 0, **how: Any) -> Any:
        """Draw a menu whose options and start depend on the data; keep its value while it is an option."""
        values = list(options)
        at = keep_choice(key, values, first)
        return self.place.selectbox(label, values, at, **self._common(key, how, options))

    def optional_menu(self, key: str, label: str, options: Options, placeholder: str, **how: Any) -> Any:
        """Draw a menu that begins empty, with a placeholder; return the chosen value or None."""
        values = list(options)
        if st.session_state.get(key) not in values:
            st.session_state[key] = None
        more = how | {"placeholder": placeholder}
        return self.place.selectbox(label, values, None, **self._common(key, more, options))

    def buttons(self, key: str, label: str, options: Options, start: Any = None, **how: Any) -> Any:
        """Draw a row of buttons of which one is pressed; return its value, at first `start` or the first."""
        values = list(options)
        first = values[0] if start is None else start
        common = self._common(key, {"required": True} | how, options)
        return self.place.segmented_control(label, values, default=first, **common)

    def several(self, key: str, label: str, options: Options, start: Sequence[Any], **how: Any) -> list[Any]:
        """Draw a menu of several values; return the chosen ones."""
        return list(self.place.multiselect(label, list(options), start, **self._common(key, how, options)))

    def switch(self, key: str, label: str, start: bool = False, **how: Any) -> bool:
        """Draw a switch; return True if it is on."""
        return bool(self.place.toggle(label, start, **self._common(key, how)))

    def slider(self, key: str, label: str, low: Any, high: Any, start: Any = None, **how: Any) -> Any:
        """Draw a slider over numbers; return its value, or two if `start` is a pair."""
        return self.place.slider(label, low, high, start, **self._common(key, how))

    def steps(self, key: str, label: str, options: Options, start: Any = None, **how: Any) -> Any:
        """Draw a slider over listed values; return the chosen one."""
        values = list(options)
        first = values[start_index(key, values, start)]
        return self.place.select_slider(label, values, first, **self._common(key, how, options))

    def named(
        self,
        draw: Callable[..., Any],
        key: str,
        label: str,
        options: Mapping[Any, str],
        start: Any,
        **how: Any,
    ) -> Any:
        """Draw a menu twice: one with values, hidden and in the address, and one with their labels.

        A menu in the address writes its labels there. Links need the values: names of folds.
        """
        chosen = draw(key, label, list(options), start, **how)
        self.place.html(f"<style>.st-key-{key} {{ display: none; }}</style>")
        twin = f"{key}-named"
        draw(twin, label, options, start, **(how | mirrored(key, twin)))
        return chosen

    def number(self, key: str, label: str, low: int, high: int, start: Any = "min", **how: Any) -> Any:
        """Draw a field for a number; return it."""
        return self.place.number_input(label, low, high, start, **self._common(key, how))

    def text(self, key: str, label: str, start: str = "", **how: Any) -> str:
        """Draw a field for a line of text; return it."""
        return str(self.place.text_input(label, start, **self._common(key, how)))

    def lines(self, key: str, label: str, start: str = "", **how: Any) -> str:
        """Draw a field for several lines of text; return it."""
        return str(self.place.text_area(label, start, **self._common(key, how)))

    def _common(self, key: str, how: Mapping[str, Any], options: Options = ()) -> dict[str, Any]:
        """Return the keyword arguments of a widget; labels of options follow from a mapping."""
        labels = {"format_func": options.__getitem__} if isinstance(options, Mapping) else {}
        return {"key": key, "bind": "query-params", "help": self.helps.get(key)} | labels | dict(how)


def mirrored(key: str, twin: str) -> dict[str, Any]:
    """Return arguments of a second widget, outside the address, that has and sets the value of the first."""
    state = st.session_state
    if state.get(twin) != state[key]:  # else a moving thumb would be set back
        state[twin] = state[key]
    return {"bind": None, "on_change": copy_value, "args": (twin, key)}


def copy_value(source: str, target: str) -> None:
    """Copy the value of a widget, if it is on the page, to another one (a callback)."""
    if source in st.session_state:
        st.session_state[target] = st.session_state[source]


Options = Sequence[Any] | Mapping[Any, str]
"""Options of a widget: values, or labels by value."""


def write_address(key: str, text: str) -> None:
    """Write a text into the address, or remove its parameter if the text is empty."""
    if text:
        st.query_params[key] = text
    else:
        st.query_params.pop(key, None)


def start_index(key: str, options: list[Any], start: Any) -> int:
    """Return the position of a widget's start among its options, and reset it if options changed.

    The start is given to the widget itself. If only the session state had it, the URL could not select the
    widget's first option, because Streamlit drops values equal to that.
    """
    position = options.index(start) if start in options else 0
    if st.session_state.get(key, options[position]) not in options:
        st.session_state[key] = options[position]
    return position


def keep_choice(key: str, options: Sequence[Any], first: int = 0) -> int:
    """Keep a menu's choice if it is still an option, else choose the first; return `first`.

    The address leaves out a menu's start value, which changes with the data. So every run sets the choice,
    and Streamlit writes it into the address if it is not the start value.
    """
    held = st.session_state.get(key)
    st.session_state[key] = held if held in options else options[first]
    return first


assert isinstance(LOSS_WEIGHT.offer, Powers)
assert isinstance(N_COMPONENTS.offer, Steps)
C_EXPONENTS = (LOSS_WEIGHT.offer.low, LOSS_WEIGHT.offer.high)
COMPONENTS: tuple[int, ...] = N_COMPONENTS.offer.values
_AGAIN = "metric-again"
THIS, ALL = "this fold", "all folds"


def metric_menu(place: Any, **how: Any) -> str:
    """Draw the menu of metrics, with a field for the visitor's own one; return the chosen metric.

    Another page begins with the metric chosen last, after a second run: in its first one Streamlit leaves the
    value out of the address, or takes the default after Back.
    """
    state, arrived, wanted = st.session_state, metrics.arrived(), metrics.chosen(metrics.MENU)
    text = metrics.chosen(metrics.FIELD)
    state[metrics.MENU] = wanted
    bound = Bound(place)
    offered, how = [*METRICS, OWN], {"width": 125} | how
    chosen: str = bound.menu(metrics.MENU, "Metric", offered, USUAL_METRIC, **how)
    text = own_field(bound, text, **how) if chosen == OWN else text
    if arrived and wanted != USUAL_METRIC and not state.pop(_AGAIN, False):
        metrics.keep(wanted, text)
        state[_AGAIN] = True
        st.rerun()
    metrics.keep(chosen, text)
    metrics.settle()
    metric, why = metrics.read_own() if chosen == OWN else (chosen, "")
    if direction(metric) < 0:
        why = words.LESS_IS_BETTER.format(metric=metric)
    if why:
        place.caption(escaped(why), width="content")
    return metric


def own_field(bound: Bound, text: str, **how: Any) -> str:
    """Draw the field for the visitor's own metric, at first with a text; return what it has now."""
    st.session_state[metrics.FIELD] = text
    about = {"placeholder": words.OWN_EXAMPLE, "help": words.OWN_HELP, "width": 200}
    return bound.text(metrics.FIELD, "Own metric", **(how | about))


def by_rank(metric: str) -> str:
    """Return the metric of a curve by rank: P for P@k, else NDCG, as MeanNDCG and MAP have no cut-off."""
    return "P" if metric.startswith(("P@", "P(")) else "NDCG"


def chosen_folds(row: Bound, spec: RunSpec, key: str, default: str) -> tuple[str, ...]:
    """Draw the choice between the sidebar's fold and all folds; return the chosen folds."""
    found = tuple(datasets()[spec.dataset].folds)
    both = [default, ALL if default == THIS else THIS]
    if st.session_state.get(key, default) not in both:  # the folds of a sweep have the same name
        del st.session_state[key]
    scope = row.buttons(key, "Folds", both, disabled=len(found) < 2)
    return found if scope == ALL and len(found) > 1 else (spec.fold,)


def part_shown(*specs: RunSpec) -> str:
    """Draw the "Reveal test" switch and return the part to show, "vali" or "test".

    A look is one experiment whose test result was shown in this session; repeated looks at the same one count
    once.
    """
    revealed = Bound().switch("test", "Reveal test", help=words.REVEAL)
    looks = note_looks(spec.hash for spec in specs if revealed)
    if looks:
        st.caption(f"test results shown: {counted(len(looks), 'run')}", width="content")
    return "test" if revealed else "vali"


def head_and_part(title: str, *specs: RunSpec) -> tuple[DeltaGenerator, str]:
    """Draw the head of a page on a part of a fold; return the place of its subject, and the part."""
    row = head(title)
    about = row.container(width="content")
    with row:
        return about, part_shown(*specs)


def note_looks(digests: Iterable[str]) -> set[str]:
    """Record experiments whose test results are shown; return all of this session."""
    looks: set[str] = st.session_state.setdefault("looks", set())
    looks.update(digests)
    return looks
