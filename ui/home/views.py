"""The views of the Home page: the live figure, what is true of real sets, and where to go."""

from __future__ import annotations

from typing import Any

import streamlit as st

from rankviz.datasets import RankingData
from rankviz.datasets.folds import DEMONSTRATION
from rankviz.experiments.description import describe, in_a_sentence
from rankviz.experiments.record import RunRecord
from rankviz.experiments.spec import RunSpec
from rankviz.metrics.significance import compare
from rankviz.plots import metric_vs_m
from ui.shared.jobs import run_or_submit
from ui.shared.offers import COMPONENTS
from ui.shared.settings import baseline, spec_from_state
from ui.shared.show import bold_sentence, definition_caption, say_if_nothing_was_learned, show_figure

METRIC = "NDCG@10"
GRID = tuple(m for m in COMPONENTS if m <= 500)
PAGES = (
    ("pages/data.py", "dataset", "**Data**: bring your own; what grades, pairs and features are like"),
    ("pages/train.py", "model_training", "**Train** one model: its rankings, margins and convergence"),
    ("pages/ndcg_vs_m.py", "show_chart", "**NDCG against m**: how many features are enough, over seeds"),
    ("pages/convergence.py", "trending_down", "**Convergence** of any losses and solvers, step by step"),
    ("pages/influence.py", "tune", "**Influence of C and costs**: quality, seconds, ranked lists"),
    ("pages/kernel_approximation.py", "blur_on", "**Kernel approximation**: how close to the exact kernel"),
    ("pages/low_rank.py", "grid_on", "**Low rank**: dual variables of each query, two models of low rank"),
    ("pages/side_by_side.py", "compare", "**Side by side**: any two models, query by query"),
)


def headline(state: Any, data: RankingData) -> None:
    """NDCG@10 against m, both approximations over the linear level, with the sidebar's m or map marked."""
    spec = spec_from_state(state)
    linear = baseline(state)
    kernels = [spec_from_state(state, name) for name in APPROXIMATE]
    grid = sorted({*GRID, *(kernel.n_components for kernel in kernels)})
    wanted = [linear, *(kernel.but(n_components=m) for kernel in kernels for m in grid)]
    wanted += [spec] if spec.feature_map == "exact" else []
    title = f"NDCG against m, {linear.dataset}"
    baseline, *others = run_or_submit(wanted, title=title)
    others = [record for record in others if record is not None]
    if baseline is None or not others:
        return
    say_if_nothing_was_learned(baseline)
    table = metric_vs_m.data([baseline, *others], "vali", [METRIC])
    m = kernels[0].n_components
    beside = "; the exact kernel beside them" if spec.feature_map == "exact" else ""
    show_figure(
        metric_vs_m.figure(table, m if spec.feature_map in APPROXIMATE else None),
        table,
        key="ndcg-against-m",
        alt="NDCG at 10 against the number of features, Nyström and random Fourier over the linear level.",
        caption=f"{describe(kernels[0], 'vali')}; random Fourier alike{choices(kernels[1])}{beside}. "
        f"Mean over queries; {definition_caption(data)}.",
    )
    _reading(baseline, others, spec if spec.feature_map == "exact" else kernels[0])


def _reading(baseline: RunRecord, others: list[RunRecord], spec: RunSpec) -> None:
    """What the queries say about one model, if it is there, beside the linear one."""
    model = next((r for r in others if r.spec.but(digest="") == spec), None)
    if model is None:
        return
    name = in_a_sentence(spec.feature_map)
    name += f" with m = {spec.n_components}" if spec.feature_map in APPROXIMATE else ""
    found = compare(model.metrics["vali"][METRIC], baseline.metrics["vali"][METRIC])
    st.markdown(bold_sentence(found.sentence(name, "the linear model", METRIC)))


def what_is_true(dataset: str) -> None:
    """Says what the figure does and does not tell about real data."""
    synthetic = (
        f"`{dataset}` is **synthetic** and was made non-linear, so that kernels have something to find. "
        if dataset == DEMONSTRATION
        else ""
    )
    st.info(
        f"{synthetic}On the real sets OHSUMED and MQ2008 kernels do not beat the linear model beyond noise: "
        "on OHSUMED the paired 95 % interval of the difference in NDCG@10 is about [−0.013, +0.009]. Put "
        "your own folds into the data folder to see for yourself.",
        icon=":material/info:",
    )


def where_to_go() -> None:
    """Links to the other pages; the settings stay as they are."""
    st.subheader("Where to go")
    params = {key: str(value) for key, value in st.query_params.items()}
    for page, icon, label in PAGES:
        st.page_link(page, label=label, icon=f":material/{icon}:", query_params=params)
