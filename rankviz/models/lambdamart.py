"""LambdaMART by LightGBM: boosted trees on the gradients of LambdaRank (burges2010)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankviz.common.arrays import FloatArray
from rankviz.common.errors import DataError, SettingError
from rankviz.common.npz import Arrays
from rankviz.common.settings import Setting, Steps, Whole
from rankviz.datasets.types import RankingData
from rankviz.models.rounds import BOOSTING, IMPORTANCE, BoostedTrees, Grown, Watch, shares
from rankviz.models.trees import LEAF, Terms, Trees

LONGEST = 10_000
"""Most documents of a query that LightGBM takes."""

TEXT = "lightgbm"
"""Array of a file with LightGBM's text."""
MOST_TEXT = 2**28
"""Most bytes of that text."""

TRUNCATION = Setting(
    name="truncation",
    symbol="truncation",
    label="Truncation",
    domain=Whole(1, 2_147_483_647),
    default=30,
    help="Only pairs with a document among the first so many ranks count.",
    key="truncation",
    offer=Steps((5, 10, 15, 20, 30, 50, 100, 1000)),
    caption=lambda k: f"truncation {k}",
    quiet=True,
)


@dataclass(eq=False, repr=False)
class LambdaMART(BoostedTrees):
    """LambdaMART: each tree fits the gradients λ of the pairwise logistic loss, weighted by |ΔNDCG|.

    λ_ij = −|ΔNDCG_ij| / (1 + exp(f_i − f_j)) for y_i > y_j. |ΔNDCG| depends on the present ranking, so no
    fixed function is minimised. Gains are 2^y − 1. LightGBM's own NDCG is not read: early stopping uses
    `rankviz.evaluate`.

    Parameters
    ----------
    n_rounds, patience : int
        Largest number of trees, and rounds without a higher validation NDCG@10 before training ends.
    leaves, leaf_documents : int
        Most leaves of a tree, and least documents of a leaf.
    learning_rate : float
    truncation : int
        Pairs need a document among the first so many ranks.
    random_state, n_threads : int
        Nothing is drawn at random unless there are more than 200,000 documents, whose bins come from a
        sample. Results do not depend on the number of threads.

    Attributes
    ----------
    lightgbm_text_ : str
        The kept rounds in LightGBM's own format, for `lightgbm.Booster(model_str=...)`.

    Examples
    --------
    >>> from rankviz import LambdaMART
    >>> from rankviz.datasets import make_fold
    >>> fold = make_fold(n_queries=20, documents_per_query=(8, 20), seed=0)
    >>> train, vali = fold.train, fold.vali
    >>> model = LambdaMART(n_rounds=40, patience=10, leaves=4)
    >>> model = model.fit(train.X, train.y, qid=train.qid, validation=(vali.X, vali.y, vali.qid))
    >>> model.n_rounds_ < len(model.trace_) <= 41
    True
    """

    settings = (*BOOSTING, TRUNCATION)
    library = "lightgbm"
    measured_later = True

    truncation: int = 30

    def lightgbm_parameters(self, gains: FloatArray) -> dict[str, Any]:
        """Return the parameters given to LightGBM; `gains` are those of the grades' codes."""
        return {
            "objective": "lambdarank",
            "metric": "None",
            "label_gain": gains.tolist(),
            "num_leaves": self.leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": self.leaf_documents,
            "lambdarank_truncation_level": self.truncation,
            "num_threads": self.n_threads,
            "seed": self.random_state,
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }

    def grow(self, parts: Sequence[RankingData], watch: Watch) -> Grown:
        """Boost by LightGBM, which keeps the scores of all parts."""
        lightgbm = _lightgbm()
        _refuse_long(parts[0])
        levels = np.unique(parts[0].y)
        parameters = self.lightgbm_parameters(np.exp2(levels.astype(np.float64)) - 1.0)
        labels = np.searchsorted(levels, parts[0].y)
        train = lightgbm.Dataset(parts[0].X, labels, group=np.diff(parts[0].ptr), params=parameters)
        booster, seen = lightgbm.Booster(parameters, train), np.zeros(0)

        def keep(scores: FloatArray, _: Any) -> tuple[str, float, bool]:
            nonlocal seen
            seen = scores
            return "", 0.0, True

        for part in parts[1:]:
            none = np.zeros(part.n_documents)  # LightGBM measures nothing on it
            group = np.diff(part.ptr)
            own = lightgbm.Dataset(part.X, none, group=group, reference=train, params=parameters)
            booster.add_valid(own, "")
        read = () if watch.later else (booster.eval_train, booster.eval_valid)[: len(parts)]
        for _ in range(self.n_rounds):
            finished, scores = booster.update(), []
            for measure in read:
                measure(keep)
                scores.append(seen.copy())
            if watch(scores) or finished:
                break

        def grown(kept: int) -> tuple[Trees, FloatArray]:
            self.lightgbm_text_ = booster.model_to_string(num_iteration=kept)
            return trees_of(self.lightgbm_text_), shares(booster.feature_importance("gain", kept))

        return grown

    @property
    def stored(self) -> Arrays:
        """Arrays of a file: the text in place of the trees, unless the model comes from a record."""
        if not hasattr(self, "lightgbm_text_"):
            return super().stored
        return {
            IMPORTANCE: self.feature_importances_,
            TEXT: np.frombuffer(self.lightgbm_text_.encode(), np.uint8),
        }

    def trees_from(self, arrays: Arrays, d: int) -> Trees | Terms:
        """Return the trees in LightGBM's text, which only this module reads, or in arrays."""
        if TEXT not in arrays:
            return super().trees_from(arrays, d)
        if arrays[TEXT].dtype != np.uint8 or arrays[TEXT].size > MOST_TEXT:
            raise ValueError(f"LightGBM's text is no text of at most {MOST_TEXT:,} bytes")
        self.lightgbm_text_ = arrays[TEXT].tobytes().decode("ascii")
        found = trees_of(self.lightgbm_text_)
        found.check(d)
        return found


def _lightgbm() -> Any:
    """Return LightGBM, imported at the first fit; raise `SettingError` where it does not load."""
    try:
        import lightgbm
    except (ImportError, OSError) as error:  # OSError: a system without OpenMP's library
        raise SettingError(
            f"LambdaMART needs LightGBM, which does not load here ({error}): install lightgbm, and OpenMP's "
            "library (libgomp1 on Debian, libomp on macOS), or choose another method"
        ) from error
    return lightgbm


def _refuse_long(data: RankingData) -> None:
    """Raise `DataError` for a query that LightGBM does not take."""
    sizes = np.diff(data.ptr)
    if sizes.max() > LONGEST:
        q = int(sizes.argmax())
        raise DataError(
            f"query {data.query_labels[q]} has {sizes[q]:,} documents",
            expected=f"at most {LONGEST:,} documents in a query, as LightGBM takes no more",
            remedy="Take part of that query's documents, or choose another method.",
            path=data.name or None,
        )


def trees_of(text: str) -> Trees:
    """Return the trees in LightGBM's text. Raises KeyError or ValueError for damaged text."""
    whole, end, _ = text.partition("\nend of trees")
    head, *blocks = whole.split("\nTree=")
    sizes = head.partition("\ntree_sizes=")[2].partition("\n")[0].split()
    if not end or not blocks or len(blocks) != len(sizes):
        raise ValueError("LightGBM's text lacks trees")
    return Trees.of(
        [_tree(dict(line.split("=", 1) for line in b.splitlines() if "=" in line)) for b in blocks]
    )


def _tree(fields: dict[str, str]) -> list[FloatArray]:
    """Return the nodes of one tree: LightGBM numbers splits from 0, and leaf k as −1 − k."""

    def numbers(name: str, kind: type[np.generic] = np.float64) -> Any:
        return np.array(fields[name].split(), kind)

    values, n = numbers("leaf_value"), int(fields["num_leaves"]) - 1
    if n == 0:
        return [np.array([float(LEAF)]), np.zeros(1), np.zeros(1), np.zeros(1), values]
    if set(fields["decision_type"].split()) > {"0", "2", "8", "10"} or fields["num_cat"] != "0":
        raise ValueError("a split is not numerical")
    feature, left, right = (
        numbers(name, np.int64) for name in ("split_feature", "left_child", "right_child")
    )
    threshold = numbers("threshold")
    if any(len(column) != n for column in (feature, threshold, left, right)) or len(values) != n + 1:
        raise ValueError("columns of a tree differ in length")
    ends, none = np.full(n + 1, float(LEAF)), np.zeros(n + 1)
    left, right = (np.where(child < 0, n - 1 - child, child) for child in (left, right))
    return [
        np.concatenate(pair)
        for pair in ((feature, ends), (threshold, none), (left, none), (right, none), (np.zeros(n), values))
    ]
