"""The command `rankviz`, also `python -m rankviz`: starts the app, or runs another command."""

from __future__ import annotations

import os
import runpy
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import rankviz
from rankviz.command.arguments import add_commands
from rankviz.common.errors import DataError, SettingError
from rankviz.common.files import shipped

NO_STREAMLIT = (
    "rankviz: the app needs Streamlit, which is not installed here. Install it together with rankviz: "
    'pip install "rankviz[app]"'
)

NOTHING_THERE = (
    "rankviz: no data sets in {folder} yet. They are found as {folder}/NAME/Fold1/train.txt (with vali.txt "
    "and test.txt), or as single files {folder}/NAME.txt; what is added shows while the app runs.\n"
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command of the command line; without one, start the app.

    Raises SystemExit with a sentence if Streamlit is missing.
    """
    chosen = _parser().parse_args(arguments)
    if chosen.command is not None:
        raise SystemExit(_done(chosen))
    if find_spec("streamlit") is None:
        raise SystemExit(NO_STREAMLIT)
    for folder in chosen.data_dir:
        _say_if_empty(folder)
    _run_app(_command(chosen))


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="rankviz", description="Explore pairwise learning to rank in the browser.")
    parser.add_argument("--version", action="version", version=f"rankviz {rankviz.__version__}")
    parser.set_defaults(data_dir=[], port=None, command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    app = commands.add_parser("app", help="start the app in the browser; so does rankviz alone")
    app.add_argument(
        "--data-dir",
        action="append",
        metavar="FOLDER",
        type=_folder,
        default=[],
        help="a folder that holds data sets of your own (FOLDER/NAME/Fold1/train.txt, …), beside the "
        "bundled one; may be given several times",
    )
    app.add_argument(
        "--port",
        type=_port,
        help="where the app answers on this machine; 8501 or the next free one unless given",
    )
    add_commands(commands)
    return parser


def _done(chosen: Namespace) -> int:
    """Run another command; return its exit status: 0, 1 if runs failed, 2 if it is impossible."""
    name = "export" if chosen.command == "import" else chosen.command
    try:
        status: int = import_module(f"rankviz.command.{name}").run(chosen)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader has ended, like `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except UnicodeEncodeError:
        sys.stderr.write("rankviz: an argument is no text: type it in the encoding of the terminal\n")
        return 2
    except (DataError, SettingError) as error:
        sys.stderr.write(f"rankviz: {error}\n")
        return 2
    except Exception as error:
        from rankviz.store.errors import StoreError

        if not isinstance(error, StoreError):
            raise
        sys.stderr.write(f"rankviz: {error}\n")
        return 2
    return status


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text[:9]) < 1 << 16:
        raise ArgumentTypeError(f"{text!r} is no port: they go from 1 to 65535")
    return int(text)


def _folder(path: str) -> str:
    """Return the path of an existing folder; otherwise the app would start with the bundled data alone."""
    if not path:
        raise ArgumentTypeError("'' names no folder: name the one that holds the data sets")
    folder = Path(path).expanduser()
    if folder.is_dir():
        return path
    if folder.exists():
        raise ArgumentTypeError(f"{path!r} is a file: name the folder that holds the data sets")
    raise ArgumentTypeError(f"there is no folder {path!r}: check the path, or make it first")


def _say_if_empty(folder: str) -> None:
    """Say if a folder contains no data set; one may be added while the app runs."""
    from rankviz.datasets import find_datasets  # here: the import is slow, and --help does not need it

    if not find_datasets([Path(folder).expanduser()]):
        sys.stderr.write(NOTHING_THERE.format(folder=folder))


def _command(chosen: Namespace) -> list[str]:
    """Return the command line of Streamlit, which reads settings in .streamlit next to its script."""
    port = [] if chosen.port is None else [f"--server.port={chosen.port}"]
    folders = [word for folder in chosen.data_dir for word in ("--data-dir", folder)]
    return ["streamlit", "run", str(shipped("app.py")), *port, "--", *folders]


def _run_app(command: list[str]) -> None:
    """Become Streamlit, in this process, so that signals and the exit status are its own."""
    sys.argv = command
    runpy.run_module("streamlit", run_name="__main__")


if __name__ == "__main__":
    main()
