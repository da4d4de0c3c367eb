"""What a browser keeps of what Streamlit sends it, and what it sends back: no network, no clock.

Learned from Streamlit's own frontend: elements by their places, stale ones dropped when a script has ended;
the states of the widgets that are shown, sent along with each rerun; the address, to which widgets are bound;
large messages that the server may refer to later; timers of fragments. Widgets of other kinds than
`first_state` knows are drawn without a state.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.proto.Slider_pb2 import Slider
from streamlit.proto.WidgetStates_pb2 import WidgetState

FIGURE = "plotly_chart"
_COOKIE = re.compile(r'document\.cookie = "([^=";]+)=([^";]+)')


@dataclass(frozen=True)
class Shown:
    """An element of the page, the run of the script that drew it last, its fragment and its script."""

    element: Element
    run: str
    fragment: str
    script: str

    @property
    def kind(self) -> str:
        return self.element.WhichOneof("type") or ""

    @property
    def proto(self) -> Any:
        return getattr(self.element, self.kind)

    @property
    def id(self) -> str:
        """The widget's id, "" for what is no widget."""
        return getattr(self.proto, "id", "") if self.kind else ""


ADDED = re.compile(r'told\.has\("(\w+)"\).*"\1=([^"]*)"', re.DOTALL)
"""What a script of the page adds to the address where it is missing (`ui/shared/history.py`)."""


class CacheMissError(RuntimeError):
    """The server referred to a message that the browser does not hold."""


class Page:
    """The page of one session.

    Attributes
    ----------
    query : dict
        The parameters in the address.
    states : dict
        Widget id -> its state.
    timers : dict
        Fragment id -> seconds after which it is run again and again.
    pages : dict
        Title in the menu -> hash of its script.
    run : str
        The latest run of the script, be it of a fragment.
    running : bool
        Whether the server says that the script runs.
    cookies : dict
        Those that a script of the page has set.
    said : Counter
        ("error" or "warning", text) -> how often it was drawn.
    """

    def __init__(self, url: str, query: str = "") -> None:
        self._root, self._path, self.query = url, "", dict(parse_qsl(query))
        self.elements: dict[tuple[int, ...], Shown] = {}
        self.states: dict[str, WidgetState] = {}
        self.timers: dict[str, float] = {}
        self.pages: dict[str, str] = {}
        self.cookies: dict[str, str] = {}
        self.said: Counter[tuple[str, str]] = Counter()
        self.run, self.running = "", False
        self._script, self._main = "", ""
        self._closed: set[tuple[int, ...]] = set()
        self._cached: dict[str, tuple[ForwardMsg, int, str]] = {}
        self._runs, self._oldest = 0, 2

    def take(self, message: ForwardMsg) -> ForwardMsg:
        """Draw a message; returns it, or the one it refers to. Raises `CacheMissError`."""
        message = self._recalled(message)
        kind = message.WhichOneof("type")
        draw = getattr(self, f"_take_{kind}", None)
        if draw is not None:
            draw(getattr(message, kind), message.metadata)
        return message

    def figures(self) -> list[str]:
        """The ids of the figures that are shown."""
        return [shown.proto.id for shown in self.elements.values() if shown.kind == FIGURE]

    def widgets(self) -> dict[str, Shown]:
        """The widgets that are shown, by the keys that the app gave them."""
        shown = (one for one in self.elements.values() if one.id.startswith("$$ID-"))
        return {one.id.split("-", 2)[2]: one for one in shown}

    @property
    def title(self) -> str:
        """The page of the app that is shown, as the menu calls it; "" before the menu is there."""
        return next((title for title, script in self.pages.items() if script == self._script), "")

    def rerun(self, fragment: str = "", *, auto: bool = False, script: str | None = None) -> BackMsg:
        """The request to run the script again, or a fragment of it."""
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string = urlencode(self.query)
        asked.widget_states.widgets.extend(self.states.values())
        asked.page_script_hash = self._script if script is None else script
        asked.fragment_id, asked.is_auto_rerun = fragment, auto
        asked.cached_message_hashes.extend(self._cached)
        asked.context_info.timezone, asked.context_info.locale = "UTC", "en-US"
        asked.context_info.timezone_offset, asked.context_info.is_embedded = 0, False
        asked.context_info.url = f"{self._root}/{self._path}"
        asked.context_info.color_scheme = "light"
        return message

    def press(self, key: str) -> BackMsg:
        """Press a button; KeyError where it is not shown."""
        shown = self.widgets()[key]
        message = self.rerun(shown.fragment)
        message.rerun_script.widget_states.widgets.add(id=shown.id, trigger_value=True)
        return message

    def move(self, key: str, value: float | str) -> BackMsg:
        """Move a slider to a number, or to one of its words; the address follows. KeyError as `press`."""
        shown = self.widgets()[key]
        state, text = self.states[shown.id], str(value)
        if isinstance(value, str):
            state.string_array_value.data[:] = [value]
            default = [shown.proto.options[int(place)] for place in shown.proto.default]
        else:
            state.double_array_value.data[:] = [value]
            default, text = [f"{at:g}" for at in shown.proto.default], f"{value:g}"
        if name := shown.proto.query_param_key:
            self.query.pop(name, None)
            if [text] != default:
                self.query[name] = text
        return self.rerun()

    def turn_to(self, title: str) -> BackMsg:
        """Go to another page of the app: only what stands in the frame of all pages stays."""
        self.timers.clear()
        self.elements = {at: shown for at, shown in self.elements.items() if shown.script == self._main}
        self._forget_states()
        bound = {getattr(shown.proto, "query_param_key", "") for shown in self.elements.values()}
        self.query = {name: text for name, text in self.query.items() if name in bound}
        return self.rerun(script=self.pages[title])

    def _recalled(self, message: ForwardMsg) -> ForwardMsg:
        if message.WhichOneof("type") != "ref_hash":
            if message.metadata.cacheable:
                self._cached[message.hash] = message, self._runs, message.delta.fragment_id
            return message
        if message.ref_hash not in self._cached:
            raise CacheMissError(message.ref_hash)
        kept, _, fragment = self._cached[message.ref_hash]
        self._cached[message.ref_hash] = kept, self._runs, fragment
        recalled = ForwardMsg()
        recalled.CopyFrom(kept)
        recalled.metadata.CopyFrom(message.metadata)
        return recalled

    def _take_new_session(self, session: Any, metadata: Any) -> None:
        self.run, self.running = metadata.run.script_run_id, True
        if session.initialize.session_id and session.config.max_cached_message_age:
            self._oldest = session.config.max_cached_message_age
        if metadata.run.fragment_ids:
            return
        self.timers.clear()
        self._script, self._main = session.page_script_hash, session.main_script_hash

    def _take_session_status_changed(self, status: Any, _: Any) -> None:
        self.running = status.script_is_running

    def _take_navigation(self, navigation: Any, _: Any) -> None:
        self.pages = {page.page_name: page.page_script_hash for page in navigation.app_pages}
        self._script = navigation.page_script_hash
        paths = {one.page_script_hash: one.url_pathname for one in navigation.app_pages if not one.is_default}
        self._path = paths.get(self._script, "")

    def _take_page_info_changed(self, info: Any, _: Any) -> None:
        self.query = dict(parse_qsl(info.query_string))

    def _take_auto_rerun(self, timer: Any, _: Any) -> None:
        self.timers[timer.fragment_id] = timer.interval

    def _take_stop_auto_rerun(self, stopped: Any, _: Any) -> None:
        for fragment in stopped.fragment_ids:
            self.timers.pop(fragment, None)

    def _take_delta(self, delta: Any, metadata: Any) -> None:
        if delta.WhichOneof("type") == "add_block":
            note = self._closed.add if delta.add_block.HasField("popover") else self._closed.discard
            note(tuple(metadata.delta_path))
        if delta.WhichOneof("type") != "new_element":
            return
        for name, value in ADDED.findall(delta.new_element.html.body):
            self.query.setdefault(name, value)
        at = tuple(metadata.delta_path)
        for below in [place for place in self.elements if place[: len(at)] == at]:
            del self.elements[below]
        shown = Shown(delta.new_element, self.run, delta.fragment_id, metadata.active_script_hash)
        self.elements[at] = shown
        if shown.id and getattr(shown.proto, "set_value", False):
            self.states.pop(shown.id, None)
        if any(at[: len(place)] == place for place in self._closed):
            return  # the browser draws it when it is opened
        if shown.id and shown.id not in self.states and (state := first_state(shown)) is not None:
            self.states[shown.id] = state
        self.said.update(complaints(shown))
        if shown.kind == "html" and shown.proto.unsafe_allow_javascript:
            self.cookies.update(_COOKIE.findall(shown.proto.body))

    def _take_script_finished(self, status: int, metadata: Any) -> None:
        if status == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return
        fragments = set(metadata.run.fragment_ids)
        self.elements = {
            at: shown
            for at, shown in self.elements.items()
            if shown.run == metadata.run.script_run_id or (fragments and shown.fragment not in fragments)
        }
        self._forget_states()
        self._runs += 1
        self._cached = {
            name: (message, run, fragment)
            for name, (message, run, fragment) in self._cached.items()
            if (fragments and fragment not in fragments) or self._runs - run <= self._oldest
        }

    def _forget_states(self) -> None:
        shown = {element.id for element in self.elements.values()}
        self.states = {name: state for name, state in self.states.items() if name in shown}


def first_state(shown: Shown) -> WidgetState | None:
    """The state that a widget begins with; None for what the browser sends nothing of until it is used."""
    proto, state, kind = shown.proto, WidgetState(id=shown.id), shown.kind
    if kind in ("selectbox", "radio"):
        if proto.HasField("raw_value" if proto.set_value else "default") and (
            proto.set_value or proto.options
        ):
            state.string_value = proto.raw_value if proto.set_value else proto.options[proto.default]
    elif kind == "slider" and proto.type == Slider.SELECT_SLIDER:
        words = proto.raw_value if proto.set_value else [proto.options[int(at)] for at in proto.default]
        state.string_array_value.data[:] = words
    elif kind == "slider":
        state.double_array_value.data[:] = proto.value if proto.set_value else proto.default
    elif kind in ("multiselect", "button_group"):
        names = [one if isinstance(one, str) else one.content for one in proto.options]
        state.string_array_value.data[:] = (
            proto.raw_values if proto.set_value else [names[at] for at in proto.default]
        )
    elif kind == "number_input":
        value = proto.value if proto.set_value else proto.default
        if proto.data_type == NumberInput.INT:
            state.int_value = int(value)
        else:
            state.double_value = value
    elif kind == "text_input":
        state.string_value = proto.value if proto.set_value else proto.default
    elif kind == "checkbox":
        state.bool_value = proto.value if proto.set_value else proto.default
    else:
        return None
    return state


def complaints(shown: Shown) -> list[tuple[str, str]]:
    """What an element says that went wrong: ("error" or "warning", text)."""
    if shown.kind == "exception":
        return [("error", f"{shown.proto.type}: {shown.proto.message}")]
    if shown.kind == "toast" and "error" in shown.proto.icon:
        return [("error", shown.proto.body)]
    levels = {Alert.ERROR: "error", Alert.WARNING: "warning"}
    if shown.kind == "alert" and shown.proto.format in levels:
        return [(levels[shown.proto.format], shown.proto.body)]
    return []
