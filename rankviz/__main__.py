"""The command `rankviz`, also `python -m rankviz`: starts the app, or runs another command.

It imports only what --help needs.
"""

from __future__ import annotations

import os
import runpy
import sys
from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction, Namespace
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import rankviz
from rankviz.common.errors import DataError, SettingError
from rankviz.common.files import shipped

NO_STREAMLIT = (
    "rankviz: the app needs Streamlit, which is not installed here. Install it together with rankviz: "
    'pip install "rankviz[app]"'
)
NO_DATA_SETS = (
    "rankviz: no data sets in {folder} yet. They are found as {folder}/NAME/Fold1/train.txt (with vali.txt "
    "and test.txt), or as single files {folder}/NAME.txt; what is added shows while the app runs.\n"
)
HELP = {
    "app": "start the app in the browser; so does rankviz alone",
    "train": "train one model, on one fold or several, and say its metrics",
    "score": "read the scores of your own system from files, and say its metrics",
    "sweep": "train a design of runs in worker processes, and choose among them",
    "runs": "list runs that were made, here or in the app",
    "compare": "compare runs or studies, with tests",
    "export": "write runs to one file, to take along or to send, or for other tools",
    "import": "read runs from a file that export has written",
}
"""Help texts of the commands, in the order of --help."""
MODULES = {"export": "runs", "import": "runs"}
"""Module in rankviz.command of a command, if its name differs."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command of the command line; without one, start the app.

    Raises SystemExit with a sentence if Streamlit is missing.
    """
    chosen = _parser().parse_args(arguments)
    if chosen.command != "app":
        raise SystemExit(_run_command(chosen))
    if find_spec("streamlit") is None:
        raise SystemExit(NO_STREAMLIT)
    for folder in chosen.data_dir:
        _warn_if_empty(folder)
    port = [] if chosen.port is None else [f"--server.port={chosen.port}"]
    folders = [word for folder in chosen.data_dir for word in ("--data-dir", folder)]
    # Streamlit reads the settings in .streamlit next to its script
    _run_app(["streamlit", "run", str(shipped("app.py")), *port, "--", *folders])


def _run_command(chosen: Namespace) -> int:
    """Run a command; return its exit status: 0, 1 if runs failed, 2 if it is impossible."""
    module = f"rankviz.command.{MODULES.get(chosen.command, chosen.command)}"
    try:
        status: int = import_module(module).run(chosen)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader has ended, like `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except UnicodeEncodeError:
        sys.stderr.write("rankviz: an argument is no text: type it in the encoding of the terminal\n")
        return 2
    except Exception as error:
        from rankviz.store.study import StoreError  # here: the import is slow, and --help does not need it

        if not isinstance(error, DataError | SettingError | StoreError):
            raise
        sys.stderr.write(f"rankviz: {error}\n")
        return 2
    return status


def _warn_if_empty(folder: str) -> None:
    """Print a sentence if a folder contains no data set; one may be added while the app runs."""
    from rankviz.datasets import find_datasets  # here: the import is slow, and --help does not need it

    if not find_datasets([Path(folder).expanduser()]):
        sys.stderr.write(NO_DATA_SETS.format(folder=folder))


def _run_app(command: list[str]) -> None:
    """Become Streamlit, in this process, so that signals and the exit status are its own."""
    from rankviz.common.memory import share_freed_memory

    share_freed_memory()
    sys.argv = command
    runpy.run_module("streamlit", run_name="__main__")


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="rankviz", description="Explore pairwise learning to rank in the browser.")
    parser.add_argument("--version", action="version", version=f"rankviz {rankviz.__version__}")
    parser.set_defaults(data_dir=[], port=None, command="app")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    commands = {name: subparsers.add_parser(name, help=text) for name, text in HELP.items()}
    for name, command in commands.items():
        command.set_defaults(command=name)
        if name != "app":
            command.add_argument(
                "--json", action="store_true", help="say what came of it as JSON, on standard output"
            )
    _add_app(commands["app"])
    _add_train(commands["train"])
    _add_score(commands["score"])
    _add_sweep(commands["sweep"])
    _add_runs(commands["runs"])
    _add_compare(commands["compare"])
    _add_named_runs(commands["export"])
    commands["export"].add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write")
    commands["export"].add_argument(
        "--format",
        default="rankviz",
        help="rankviz (all results), or of one run: trec (a run), scores (LETOR's) or qrels (its grades)",
    )
    commands["export"].add_argument("--part", default="test", help="for other tools; default test")
    commands["export"].add_argument(
        "--data-dir", action="append", default=[], metavar="FOLDER", help="a folder that holds data sets"
    )
    commands["import"].add_argument("file", help="a file that export has written")
    return parser


def _add_app(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--data-dir",
        action="append",
        metavar="FOLDER",
        type=_folder,
        default=[],
        help="a folder that holds data sets of your own (FOLDER/NAME/Fold1/train.txt, …), beside the "
        "bundled one; may be given several times",
    )
    parser.add_argument(
        "--port",
        type=_port,
        help="where the app answers on this machine; 8501 or the next free one unless given",
    )


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text[:9]) < 1 << 16:
        raise ArgumentTypeError(f"{text!r} is not a port: ports are 1 to 65535")
    return int(text)


def _folder(path: str) -> str:
    """Return the path of an existing folder; otherwise the app would start with the bundled data alone."""
    if not path:
        raise ArgumentTypeError("'' is not a folder: name the folder with the data sets")
    folder = Path(path).expanduser()
    if folder.is_dir():
        return path
    if folder.exists():
        raise ArgumentTypeError(f"{path!r} is a file: name the folder with the data sets")
    raise ArgumentTypeError(f"there is no folder {path!r}: check the path, or create it")


def _add_model(parser: ArgumentParser) -> None:
    parser.add_argument("dataset", nargs="?", help="the name of a data set, as the Data page lists it")
    parser.add_argument(
        "--fold", action="append", default=[], help="such as Fold2; may be repeated; default Fold1"
    )
    parser.add_argument("--all-folds", action="store_true", help="all folds of the data set")
    parser.add_argument(
        "--data-dir", action="append", default=[], metavar="FOLDER", help="a folder that holds data sets"
    )
    parser.add_argument("--normalisation", help="none (the default), or as the sidebar's menu has it")
    parser.add_argument("--method", help="such as factorized; default ranksvm")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting, such as feature_map=nystroem, n_components=500 or C=2^-7; may be repeated",
    )


OWN_METRIC = "may be repeated, also own gains: 'nDCG(gains={1: 1, 2: 9})@10'; default "


def _add_metric(parser: ArgumentParser, usual: str) -> None:
    parser.add_argument("--metric", action="append", default=[], help=OWN_METRIC + usual)


def _add_train(parser: ArgumentParser) -> None:
    _add_model(parser)
    _add_metric(parser, "MAP, MeanNDCG and NDCG@1, 5, 10")
    parser.add_argument(
        "--where",
        metavar="PLACE",
        help="train in shards: here, by local:2 worker processes, or on a Dask cluster, tcp://host:8786",
    )
    parser.add_argument(
        "--shards",
        type=int,
        help="parts of whole queries, at most one for each query; by default as many as suit",
    )


def _add_score(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="+", help="LETOR scores, TREC runs or CSV; or folders and zip archives of them"
    )
    parser.add_argument("--data", required=True, metavar="NAME", help="the data set that they belong to")
    parser.add_argument(
        "--data-dir", action="append", default=[], metavar="FOLDER", help="a folder of data sets"
    )
    parser.add_argument("--name", help="the name of the system; default by the files")
    parser.add_argument(
        "--fold", help="such as Fold2; default by the names of the files, or by their queries"
    )
    parser.add_argument("--part", help="train, vali or test; default by the names of the files")
    _add_metric(parser, "MAP, MeanNDCG and NDCG@1, 5, 10")


def _add_sweep(parser: ArgumentParser) -> None:
    _add_model(parser)
    parser.add_argument(
        "--axis",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="2^-12..2^6 (all powers between) or 0.1,1,10; of drawn cells a range, 0.1..10; may be repeated",
    )
    parser.add_argument("--kind", help="grid (the default), random or sobol")
    parser.add_argument("--points", type=int, help="how many cells random and sobol draw")
    parser.add_argument("--seed", action="append", type=int, default=[], help="every cell with each")
    parser.add_argument(
        "--preset",
        help="a paper's design: its name in place of axes; it chooses as the paper did, unless --metric or "
        "--no-per-fold say otherwise",
    )
    parser.add_argument(
        "--metric",
        help="what to choose by, on validation parts, also own gains: 'nDCG(gains={1: 1, 2: 9})@10', and "
        "MeanRank, of which less is better; default NDCG@10",
    )
    parser.add_argument(
        "--rule",
        help="how to choose: best (the default), or the simplest within one_standard_error or "
        "one_paired_error of it",
    )
    parser.add_argument("--per-fold", action=BooleanOptionalAction, help="choose for each fold by itself")
    parser.add_argument("--title", help="what to call it in the app")
    parser.add_argument("--workers", type=int, help="processes at once; default half the cores, at least 2")
    parser.add_argument(
        "--where",
        metavar="PLACE",
        help="who makes the runs: here, or the workers of a Dask cluster, local:2 or tcp://host:8786",
    )
    parser.add_argument("--plan", action="store_true", help="say what it would cost, and make nothing")
    parser.add_argument("--detach", action="store_true", help="do not wait: workers go on by themselves")
    parser.add_argument(
        "--resume",
        metavar="ID",
        help="go on with a sweep that was stopped or paused, by its id; it keeps what it was started with",
    )


def _add_runs(parser: ArgumentParser) -> None:
    parser.add_argument("--study", metavar="ID", help="of one study only")
    parser.add_argument("--data", metavar="NAME", help="of one data set only")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="only runs with this value of a setting, such as feature_map=nystroem or C=2^-7; may be "
        "repeated",
    )
    parser.add_argument("--metric", action="append", default=[], help="such as vali:NDCG@10; may be repeated")
    parser.add_argument(
        "--sort", metavar="COLUMN", help="largest first, by a metric or a setting; else latest first"
    )
    parser.add_argument("--limit", type=int, default=20, help="at most so many rows; default 20, 0 for all")
    parser.add_argument("--studies", action="store_true", help="list studies in place of runs")


def _add_named_runs(parser: ArgumentParser) -> None:
    parser.add_argument(
        "run", nargs="*", help="runs by their digests, as `rankviz runs` lists them, or beginnings"
    )
    parser.add_argument("--study", action="append", default=[], metavar="ID", help="all runs of a study")


def _add_compare(parser: ArgumentParser) -> None:
    _add_named_runs(parser)
    parser.add_argument(
        "--all-folds", action="store_true", help="also the runs' models on other folds and with other seeds"
    )
    parser.add_argument("--baseline", metavar="RUN", help="what others are compared with; default the first")
    _add_metric(parser, "NDCG@10 and MAP")
    parser.add_argument("--part", default="test", help="train, vali or test; default test")
    parser.add_argument(
        "--data-dir", action="append", default=[], metavar="FOLDER", help="for metrics that runs do not have"
    )
    parser.add_argument("--format", default="text", help="text, markdown, latex or csv")


if __name__ == "__main__":
    main()
