"""`rankviz export` and `rankviz import`: runs as one file."""

from __future__ import annotations

from argparse import Namespace

from rankviz.command.chosen import runs_named
from rankviz.command.output import OWNER, note, say, say_json
from rankviz.experiments.record import NOT_MADE_HERE
from rankviz.store import RunStore
from rankviz.store.exchange import export_runs, import_runs


def run(chosen: Namespace) -> int:
    """Write the runs that are named to a file, or read those of one."""
    store = RunStore()
    try:
        if chosen.command == "export":
            digests = runs_named(store, chosen)
            store.records.claim(digests, OWNER)  # what is asked for here is the command line's too
            number = export_runs(store, digests, OWNER, chosen.output)
            what = {"file": chosen.output, "runs": number}
        else:
            what = {"file": chosen.file, "runs": import_runs(store, chosen.file, OWNER)}
            note(f"They are {NOT_MADE_HERE}: training one again compares its figures.")
            for verdict in store.imports.compare(OWNER):
                note(f"{verdict.digest}: {verdict.sentence}")
    finally:
        store.close()
    say_json(what) if chosen.json else say(f"{what['runs']} runs: {what['file']}")
    return 0
