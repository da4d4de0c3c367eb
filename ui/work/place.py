"""Choice of this machine or the configured cluster for training, and the cluster's state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rankviz.common.memory import megabytes
from rankviz.common.numbers import counted
from rankviz.store.environment import cluster_address
from rankviz.store.execution import cluster_seen
from rankviz.store.study import HERE, SHARDS, TASKS
from ui.shell.errors import errors_as_sentences
from ui.shell.texts import escaped
from ui.shell.words import ASKING, MODEL_THERE, NO_WORKER, SWEEP_THERE
from ui.work.run_store import run_store, workers

THIS_MACHINE, CLUSTER = "this machine", "the cluster"
POLL_SECONDS = 2.0
_CHOSEN = "where-chosen"
HINTS = {TASKS: SWEEP_THERE, SHARDS: MODEL_THERE}


def choose_place(row: DeltaGenerator, place: str) -> str:
    """Draw the choice if a cluster is configured; return `place` for the cluster, else `HERE`.

    It is not in the address, because a link must not start work on a cluster.
    """
    if not cluster_address():
        return HERE
    options = [THIS_MACHINE, CLUSTER]
    chosen = row.selectbox(
        "Where to train",
        options,
        options.index(st.session_state.get(_CHOSEN, THIS_MACHINE)),
        key=f"where-{place}",
        width=170,
        help=HINTS[place],
    )
    st.session_state[_CHOSEN] = chosen  # for the other page with this choice
    if chosen == THIS_MACHINE:
        return HERE
    workers().start_dispatcher(place)  # starts its observation in advance
    return place


def threads_of(place: str) -> int:
    """Return the number of threads of the cluster's workers; 0 while unknown."""
    return sum(int(worker["threads"]) for worker in _workers(cluster_seen(run_store(), place)))


def show_cluster(place: str) -> None:
    """Draw a line on the cluster, updated regularly."""
    st.fragment(_seen, run_every=POLL_SECONDS)(place)


@errors_as_sentences()
def _seen(place: str) -> None:
    cluster_line(place)


def cluster_line(place: str) -> bool:
    """Draw the cluster's state, or why it is not reachable; return True if it is reachable."""
    trouble = workers().trouble(place)
    if trouble:
        st.warning(escaped(f"{trouble[0].upper()}{trouble[1:].rstrip('.')}."), icon=":material/cloud_off:")
    else:
        seen = cluster_seen(run_store(), place)
        if not seen:  # its observer has ended, because there was nothing to do
            workers().start_dispatcher(place)
        st.caption(cluster_words(seen))
    return not trouble


def cluster_words(seen: Mapping[str, Any]) -> str:
    """Describe workers, threads, memory, and workers that joined or left during observation."""
    found = _workers(seen)
    if not found:
        return ASKING if "workers" not in seen else NO_WORKER
    taken, limit = (sum(float(worker[name]) for worker in found) for name in ("memory", "limit"))
    busy = sum(int(worker["tasks"]) > 0 for worker in found)
    memory = f"{megabytes(taken)} of {megabytes(limit)}" if limit else megabytes(taken)
    threads = counted(sum(int(worker["threads"]) for worker in found), "thread")
    words = [
        f"The cluster: {counted(len(found), 'worker')} with {threads}, {busy} at work, {memory} of memory"
    ]
    if seen.get("came") or seen.get("left"):
        words.append(f"{seen.get('left', 0)} left and {seen.get('came', 0)} joined")
    return "; ".join(words) + "."


def _workers(seen: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = seen.get("workers", ())
    return list(found) if isinstance(found, list) else []
