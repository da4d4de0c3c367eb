"""`rankviz export` and `rankviz import`: runs as one file."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from rankviz.command.chosen import runs_named
from rankviz.command.output import OWNER, note, say, say_json
from rankviz.common.errors import SettingError
from rankviz.common.numbers import counted
from rankviz.runs.record import NOT_MADE_HERE
from rankviz.store import RunStore
from rankviz.store.exchange import export_runs, import_runs


def run(chosen: Namespace) -> int:
    """Write the runs that are named to a file, or read those of one."""
    if chosen.command == "import" and not Path(chosen.file).is_file():
        raise SettingError(f"there is no file {chosen.file!r}: check the path")
    if chosen.command == "export" and not chosen.output:
        raise SettingError("-o names nothing: give the file to write")
    store = RunStore()
    try:
        if chosen.command == "export":
            digests, file = runs_named(store, chosen), chosen.output
            store.records.claim(digests, OWNER)  # what is asked for here is the command line's too
            number = export_runs(store, digests, OWNER, file)
        else:
            file = chosen.file
            number = import_runs(store, file, OWNER)
            note(f"They are {NOT_MADE_HERE}: training one again compares its figures.")
            for verdict in store.imports.compare(OWNER):
                note(f"{verdict.digest}: {verdict.sentence}")
    finally:
        store.close()
    say_json({"file": file, "runs": number}) if chosen.json else say(f"{counted(number, 'run')}: {file}")
    return 0
