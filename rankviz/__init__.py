"""rankviz: pairwise learning to rank with kernel approximations, to compute with and to look at."""

from rankviz.datasets.folds import load_fold
from rankviz.datasets.types import DataError, DataWarning, Fold, RankingData
from rankviz.estimators import RankSVM
from rankviz.experiments.record import RunRecord
from rankviz.experiments.run import execute
from rankviz.experiments.spec import RunSpec
from rankviz.metrics import evaluate
from rankviz.progress import Progress, StopRequested
from rankviz.storage import load, save

__version__ = "0.1.0"

__all__ = [
    "DataError",
    "DataWarning",
    "Fold",
    "Progress",
    "RankSVM",
    "RankingData",
    "RunRecord",
    "RunSpec",
    "StopRequested",
    "evaluate",
    "execute",
    "load",
    "load_fold",
    "save",
]
