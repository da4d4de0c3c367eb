"""`fit_curve`: one model over many m, γ and C, for little more than the cost of the most expensive one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from sklearn.base import clone

from rankviz.common.progress import Callback, reporter
from rankviz.common.settings import instance, listed
from rankviz.datasets.types import RankingData, require_data
from rankviz.learning.result import Status
from rankviz.models.ranksvm import RankSVM


def fit_curve(
    model: RankSVM,
    data: RankingData,
    *,
    n_components: Sequence[int] = (),
    C: Sequence[float] = (),
    gamma: Sequence[float] = (),
    callback: Callback | None = None,
) -> Iterator[RankSVM]:
    """Fit copies of a model with every combination of these settings, and yield each when it is done.

    The order is γ outermost, then m, then C, each ascending; omitted settings keep the model's own value.
    Features are computed once, for the largest m, and each fit starts from the weights of an earlier one. The
    results equal those of separate fits to the tolerance `tol`. Maps truncated to a `rank` are not nested, so
    each m then has its own features.

    A `callback` that returns True ends the curve: with the current model if Newton steps have begun,
    otherwise with `StopRequested`. Warns like `fit` if a model's solver ended before its tolerance was met,
    or if all its scores are equal.

    Examples
    --------
    >>> from rankviz import RankSVM, fit_curve
    >>> from rankviz.datasets import make_data
    >>> data = make_data(n_queries=12, documents_per_query=(8, 20), seed=0)
    >>> for model in fit_curve(RankSVM("fourier"), data, n_components=[20, 10], C=[0.01, 0.1]):
    ...     print(model.n_components, model.C, model.start_)
    10 0.01 zero
    10 0.1 the weights for C = 0.01
    20 0.01 the weights for m = 10
    20 0.1 the weights for m = 10
    """
    require_data(data, "Give fit_curve RankingData.from_arrays(X, y, qid).")
    instance("model", model, RankSVM, "a RankSVM")
    base = clone(model).set_params(random_state=model.seed())
    gammas: list[float | str] = sorted(listed("gamma", gamma)) or [model.gamma]
    ms = sorted(listed("n_components", n_components)) or [model.n_components]
    Cs = sorted(listed("C", C)) or [model.C]
    report, keep = reporter(callback), len(gammas) > 1
    widths = [[m] for m in ms] if model.rank is not None else [ms]
    for nested in widths:
        training = clone(base).set_params(n_components=nested[-1]).training(data, report, keep_arguments=keep)
        for g, m, c in product(gammas, nested, Cs):
            fitted = clone(base).set_params(gamma=g, n_components=m, C=c)
            fitted.warn_of_settings()
            fitted.fit_in(training, report)
            fitted.warn_of_equal_scores(data)
            fitted.warn_of_doubt()
            yield fitted
            if fitted.status_ is Status.STOPPED:
                return
