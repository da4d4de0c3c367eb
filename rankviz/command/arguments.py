"""What the commands are asked for; nothing is imported here that --help has no use for."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction
from typing import Any

PLACE = "train in shards: here, by local:2 worker processes, or on a Dask cluster, tcp://host:8786"
WORKERS_AT = "who makes the runs: here, or the workers of a Dask cluster, local:2 or tcp://host:8786"
RESUME = "go on with a sweep that was stopped or paused, by its id; it keeps what it was started with"
WHERE = "only runs with this value of a setting, such as feature_map=nystroem or C=2^-7; may be repeated"


def add_commands(commands: Any) -> None:
    """Add the parsers of all commands to a parser's subparsers."""
    _train(commands.add_parser("train", help="train one model, on one fold or several, and say its metrics"))
    _sweep(
        commands.add_parser("sweep", help="train a design of runs in worker processes, and choose among them")
    )
    _runs(commands.add_parser("runs", help="list runs that were made, here or in the app"))
    _compare(commands.add_parser("compare", help="compare runs or studies, with tests"))
    _export(commands.add_parser("export", help="write runs to one file, to take along or to send"))
    _import(commands.add_parser("import", help="read runs from a file that export has written"))


def _common(parser: ArgumentParser, command: str) -> None:
    parser.set_defaults(command=command)
    parser.add_argument("--json", action="store_true", help="say what came of it as JSON, on standard output")


def _model(parser: ArgumentParser) -> None:
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


def _train(parser: ArgumentParser) -> None:
    _common(parser, "train")
    _model(parser)
    parser.add_argument("--where", metavar="PLACE", help=PLACE)
    parser.add_argument(
        "--shards",
        type=int,
        help="parts of whole queries, at most one for each query; by default as many as suit",
    )


def _sweep(parser: ArgumentParser) -> None:
    _common(parser, "sweep")
    _model(parser)
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
    parser.add_argument("--metric", help="what to choose by, on validation parts; default MAP")
    parser.add_argument(
        "--rule",
        help="how to choose: best (the default), or the simplest within one_standard_error or "
        "one_paired_error of it",
    )
    parser.add_argument("--per-fold", action=BooleanOptionalAction, help="choose for each fold by itself")
    parser.add_argument("--title", help="what to call it in the app")
    parser.add_argument("--workers", type=int, help="processes at once; default half the cores, at least 2")
    parser.add_argument("--where", metavar="PLACE", help=WORKERS_AT)
    parser.add_argument("--plan", action="store_true", help="say what it would cost, and make nothing")
    parser.add_argument("--detach", action="store_true", help="do not wait: workers go on by themselves")
    parser.add_argument("--resume", metavar="ID", help=RESUME)


def _runs(parser: ArgumentParser) -> None:
    _common(parser, "runs")
    parser.add_argument("--study", metavar="ID", help="of one study only")
    parser.add_argument("--data", metavar="NAME", help="of one data set only")
    parser.add_argument("--where", action="append", default=[], metavar="NAME=VALUE", help=WHERE)
    parser.add_argument("--metric", action="append", default=[], help="such as vali:NDCG@10; may be repeated")
    parser.add_argument(
        "--sort", metavar="COLUMN", help="largest first, by a metric or a setting; else latest first"
    )
    parser.add_argument("--limit", type=int, default=20, help="at most so many rows; default 20, 0 for all")
    parser.add_argument("--studies", action="store_true", help="list studies in place of runs")


def _chosen(parser: ArgumentParser) -> None:
    parser.add_argument(
        "run", nargs="*", help="runs by their digests, as `rankviz runs` lists them, or beginnings"
    )
    parser.add_argument("--study", action="append", default=[], metavar="ID", help="all runs of a study")


def _compare(parser: ArgumentParser) -> None:
    _common(parser, "compare")
    _chosen(parser)
    parser.add_argument("--baseline", metavar="RUN", help="what others are compared with; default the first")
    parser.add_argument(
        "--metric", action="append", default=[], help="may be repeated; default NDCG@10 and MAP"
    )
    parser.add_argument("--part", default="test", help="train, vali or test; default test")
    parser.add_argument("--format", default="text", help="text, markdown, latex or csv")


def _export(parser: ArgumentParser) -> None:
    _common(parser, "export")
    _chosen(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write")


def _import(parser: ArgumentParser) -> None:
    _common(parser, "import")
    parser.add_argument("file", help="a file that export has written")
