"""Data sets: reading, checking, normalising and generating LETOR folds."""

from typing import TYPE_CHECKING

from rankviz.common import submodules
from rankviz.common.errors import DataError, DataWarning
from rankviz.datasets.cache import read_cached
from rankviz.datasets.folds import (
    Dataset,
    data_roots,
    find_datasets,
    load_demo,
    load_fold,
    open_fold,
    recognise_fold,
)
from rankviz.datasets.group_files import read_scores, write_scores
from rankviz.datasets.known import feature_names, recognise
from rankviz.datasets.letor import parse_letor, read_letor, write_letor
from rankviz.datasets.normalise import NORMALISATIONS, normalise
from rankviz.datasets.statistics import Summary, describe, feature_table, query_table
from rankviz.datasets.synthetic import make_data, make_fold
from rankviz.datasets.types import Fold, RankingData

__all__ = [
    "NORMALISATIONS",
    "DataError",
    "DataWarning",
    "Dataset",
    "Fold",
    "RankingData",
    "Summary",
    "data_roots",
    "describe",
    "feature_names",
    "feature_table",
    "find_datasets",
    "load_demo",
    "load_fold",
    "make_data",
    "make_fold",
    "normalise",
    "open_fold",
    "parse_letor",
    "query_table",
    "read_cached",
    "read_letor",
    "read_scores",
    "recognise",
    "recognise_fold",
    "write_letor",
    "write_scores",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = submodules(globals())
