"""rankviz: computation and visualisation of pairwise learning to rank with kernel approximations.

Names are imported from their modules at first use. So a program that needs few of them (such as the command
that prints the version) does not load all libraries.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

from rankviz.common import submodules

if TYPE_CHECKING:  # the same names as in _HOMES, for type checkers
    from rankviz.analysis.model_duals import duals
    from rankviz.analysis.systems import compare
    from rankviz.common.errors import DataError, DataWarning, SettingError, SettingWarning
    from rankviz.common.progress import Progress, StopRequested
    from rankviz.datasets.folds import load_demo, load_fold
    from rankviz.datasets.group_files import read_scores
    from rankviz.datasets.letor import load_binary, read_letor, write_letor
    from rankviz.datasets.types import Fold, RankingData
    from rankviz.metrics import MAP, NDCG, MeanNDCG, P, evaluate, measure
    from rankviz.models.adarank import AdaRankMAP, AdaRankNDCG
    from rankviz.models.approx_ndcg import ApproxNDCG
    from rankviz.models.coordinate_ascent import CoordinateAscent
    from rankviz.models.forest import RandomForest
    from rankviz.models.frank import FRank
    from rankviz.models.hidden_layer import HiddenLayer
    from rankviz.models.lambda_rank import LambdaLoss, LambdaRank
    from rankviz.models.lambdamart import LambdaMART
    from rankviz.models.low_rank import FactorizedRankSVM, RegularizedRankSVM
    from rankviz.models.mart import MART
    from rankviz.models.rankboost import RankBoost
    from rankviz.models.ranksvm import RankSVM, fit_curve
    from rankviz.models.smooth_rank import SmoothRank
    from rankviz.models.storage import load, save
    from rankviz.models.xgboost_trees import XGBoostRanker
    from rankviz.plots.systems import figures
    from rankviz.runs.record import RunRecord
    from rankviz.runs.run import execute, execute_all
    from rankviz.runs.spec import RunSpec
    from rankviz.whatif.crossings import crossings, smallest_swap
    from rankviz.whatif.explanations import explain_margin
    from rankviz.whatif.refits import refits_of, with_feature_off, with_grades, with_only, without_query

__version__ = "0.1.0"

# NumPy and SciPy have an OpenBLAS each. Its threads keep a core busy for 25 ms by default while they wait for
# work, and block the other's: 2^20 clock cycles are enough. This works only if imported before them; the
# Makefile does the same for the app, because Streamlit imports NumPy first.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")

__all__ = [
    "MAP",
    "MART",
    "NDCG",
    "AdaRankMAP",
    "AdaRankNDCG",
    "ApproxNDCG",
    "CoordinateAscent",
    "DataError",
    "DataWarning",
    "FRank",
    "FactorizedRankSVM",
    "Fold",
    "HiddenLayer",
    "LambdaLoss",
    "LambdaMART",
    "LambdaRank",
    "MeanNDCG",
    "P",
    "Progress",
    "RandomForest",
    "RankBoost",
    "RankSVM",
    "RankingData",
    "RegularizedRankSVM",
    "RunRecord",
    "RunSpec",
    "SettingError",
    "SettingWarning",
    "SmoothRank",
    "StopRequested",
    "XGBoostRanker",
    "compare",
    "crossings",
    "duals",
    "evaluate",
    "execute",
    "execute_all",
    "explain_margin",
    "figures",
    "fit_curve",
    "load",
    "load_binary",
    "load_demo",
    "load_fold",
    "measure",
    "read_letor",
    "read_scores",
    "refits_of",
    "save",
    "smallest_swap",
    "with_feature_off",
    "with_grades",
    "with_only",
    "without_query",
    "write_letor",
]

_HOMES = {
    "rankviz.datasets.folds": ("load_demo", "load_fold"),
    "rankviz.datasets.letor": ("load_binary", "read_letor", "write_letor"),
    "rankviz.datasets.group_files": ("read_scores",),
    "rankviz.datasets.types": ("Fold", "RankingData"),
    "rankviz.models.ranksvm": ("RankSVM", "fit_curve"),
    "rankviz.runs.record": ("RunRecord",),
    "rankviz.runs.run": ("execute", "execute_all"),
    "rankviz.runs.spec": ("RunSpec",),
    "rankviz.models.approx_ndcg": ("ApproxNDCG",),
    "rankviz.models.forest": ("RandomForest",),
    "rankviz.models.hidden_layer": ("HiddenLayer",),
    "rankviz.models.lambda_rank": ("LambdaLoss", "LambdaRank"),
    "rankviz.models.smooth_rank": ("SmoothRank",),
    "rankviz.models.adarank": ("AdaRankMAP", "AdaRankNDCG"),
    "rankviz.models.coordinate_ascent": ("CoordinateAscent",),
    "rankviz.models.frank": ("FRank",),
    "rankviz.models.lambdamart": ("LambdaMART",),
    "rankviz.models.rankboost": ("RankBoost",),
    "rankviz.models.xgboost_trees": ("XGBoostRanker",),
    "rankviz.models.mart": ("MART",),
    "rankviz.models.low_rank": ("FactorizedRankSVM", "RegularizedRankSVM"),
    "rankviz.metrics": ("MAP", "NDCG", "MeanNDCG", "P", "evaluate", "measure"),
    "rankviz.analysis.model_duals": ("duals",),
    "rankviz.analysis.systems": ("compare",),
    "rankviz.plots.systems": ("figures",),
    "rankviz.common.errors": ("DataError", "DataWarning", "SettingError", "SettingWarning"),
    "rankviz.common.progress": ("Progress", "StopRequested"),
    "rankviz.models.storage": ("load", "save"),
    "rankviz.whatif.crossings": ("crossings", "smallest_swap"),
    "rankviz.whatif.explanations": ("explain_margin",),
    "rankviz.whatif.refits": ("refits_of", "with_feature_off", "with_grades", "with_only", "without_query"),
}
"""Module -> its public names."""

_module, _names = submodules(globals())

if not TYPE_CHECKING:  # a type checker that saw this would accept any name

    def __getattr__(name):
        """Import a public name or a package at first use (PEP 562)."""
        home = next((module for module, names in _HOMES.items() if name in names), None)
        if home is None:
            return _module(name)
        globals()[name] = found = getattr(import_module(home), name)
        return found


def __dir__() -> list[str]:
    """List all names, including those that are not imported yet."""
    return sorted({*__all__, *_names()})
