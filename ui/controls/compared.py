"""Runs by digest and studies by id in session and address: those on the Compare page, and pins.

The sidebar of any page can send the current model there: its run on the current fold, and the visitor's
stored runs on other folds and with other seeds.

See docs/decisions/0025-state-shared-by-pages.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import pandas as pd
import streamlit as st

from rankviz.common.settings import SEED
from rankviz.runs.spec import RunSpec
from rankviz.store.study import DONE
from ui.controls.link import report_invalid
from ui.controls.settings import baseline, spec_from_state
from ui.controls.widgets import write_address
from ui.shell import words
from ui.shell.errors import errors_as_sentences
from ui.shell.page import go_to
from ui.shell.visitors import address, visitor
from ui.work.folds import digest_of
from ui.work.run_store import keeper, run_store

RUN, RUNS, STUDIES = "run", "runs", "studies"
WAITING = "compare-waits-for"
"""Session key of sent runs that do not exist yet."""
MOST = 200
"""Largest number of runs opened, and in an address."""
ID = re.compile(r"[0-9a-f]{16}(?:[0-9a-f]{16})?|i[0-9a-f]{15}")
"""Digests of runs, ids of studies, and keys of imported runs."""


def chosen(key: str) -> list[str]:
    """Return the digests (`RUNS`) or ids (`STUDIES`) to compare, and put them into the address."""
    state, told = st.session_state, st.query_params.get(key)
    written = f"{key}-written"  # the value last written to the address
    if key not in state or told not in (None, state.get(written)):  # from a link of another page
        asked = told.split(",") if told else []
        state[key] = _unlike(one for one in asked if ID.fullmatch(one))
        if unknown := [one for one in asked if one and not ID.fullmatch(one)]:
            report_invalid(key, ",".join(unknown))
    found: list[str] = state[key]
    state[written] = ",".join(found)
    write_address(key, state[written])
    return found


def named_as(key: str, other: str) -> str:
    """Return a link's runs, which links name `run` or `runs`; the address keeps them under `key`."""
    told = st.query_params.get(key) or st.query_params.get(other, "")
    write_address(other, "")
    write_address(key, told)
    return told


def choose(key: str, ids: Iterable[str]) -> None:
    """Compare these instead of the former ones (a callback)."""
    st.session_state[key] = _unlike(ids)


def add(key: str, ids: Iterable[str]) -> None:
    """Compare these too (a callback)."""
    choose(key, [*chosen(key), *ids])


def _unlike(ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ids))[:MOST]


def send_button() -> None:
    """Draw a button that adds the sidebar's model to the comparison."""
    st.button(
        "Compare this model",
        key="send-to-compare",
        icon=":material/rule:",
        width="stretch",
        on_click=send,
        help=words.COMPARE,
    )


@errors_as_sentences()
def send() -> None:
    """Add the runs of the sidebar's model, and open the page (a callback)."""
    (spec,) = _send([spec_from_state(st.session_state)])
    add(RUNS, _alike(spec))


@errors_as_sentences()
def send_all(specs: Sequence[RunSpec]) -> None:
    """Add these runs, and open the page (a callback)."""
    _send(specs)


@errors_as_sentences()
def send_with_linear(folds: Sequence[str], seeds: int) -> None:
    """Add the linear model and the sidebar's on these folds, and open the page (a callback).

    Each has this many seeds, from the sidebar's on, if it uses one.
    """
    two = (baseline(st.session_state), spec_from_state(st.session_state))
    _send(seeded(spec, k).but(fold=fold) for spec in two for fold in folds for k in range(seeds))


def seeded(spec: RunSpec, k: int) -> RunSpec:
    """Return the spec with the k-th seed from its own on, if it uses a seed."""
    return spec.but(seed=spec.seed + k) if SEED.name in spec else spec


def _send(specs: Iterable[RunSpec]) -> list[RunSpec]:
    """Add runs, made or not, and open the page; return them with the digests of their folds."""
    keeper().wait()  # stores pending runs of the previous page
    known = [spec.but(digest=digest_of(spec)) for spec in dict.fromkeys(specs)]
    made = run_store().records.made([spec.hash for spec in known])
    run_store().records.claim(list(made), visitor(), address())
    add(RUNS, [spec.hash for spec in known])
    wait_for([*waited_for(), *(spec for spec in known if spec.hash not in made)])
    go_to("compare")
    return known


def waited_for() -> list[RunSpec]:
    """Return the sent runs that do not exist yet."""
    return list(st.session_state.get(WAITING, []))


def wait_for(specs: Iterable[RunSpec]) -> None:
    """Set the sent runs that do not exist yet."""
    st.session_state[WAITING] = list(dict.fromkeys(specs))


def _alike(spec: RunSpec) -> list[str]:
    """Return a visitor's runs of the same model on other folds and with other seeds."""
    store = run_store()
    table = store.listing.seen_by(visitor())
    if table.empty:
        return []
    drawn = drawn_by(spec)
    fixed = {name: value for name, value in spec.values.items() if name not in drawn}
    fixed |= {"dataset": spec.dataset, "normalisation": spec.normalisation, "method": spec.method}
    there = table["state"] == DONE
    for name, value in fixed.items():
        there &= _equal(table[name], value) if name in table else value is None
    seen = store.listing.seen_among(list(table.index[there])[:MOST], visitor())
    return [digest for digest, (one, _) in seen.items() if _same_model(one, spec, drawn)]


def drawn_by(spec: RunSpec) -> list[str]:
    """Return the settings of a run that only control random draws."""
    return [name for name, setting in spec.declared().items() if setting.draws]


def _equal(column: pd.Series, value: object) -> pd.Series:
    if value is None:
        return column.isna()
    if isinstance(value, tuple):  # JSON has lists
        return column.map(lambda one: isinstance(one, list | tuple) and tuple(one) == value)
    return column == value


def _same_model(one: RunSpec, spec: RunSpec, drawn: Sequence[str]) -> bool:
    """Return True if a run is of the same model, and on the same data if on the same fold."""
    own = {name: one.get(name) for name in drawn}
    same = spec.but(fold=one.fold, digest=one.digest, **own) == one
    return same and (one.fold != spec.fold or one.digest == spec.digest)
