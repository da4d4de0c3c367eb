"""Test descriptions: their parts in order, once each, and parts left out or changed."""

from dataclasses import replace

import pytest

from rankviz import RunSpec
from rankviz.common.settings import Choice, Setting, Steps, Whole
from rankviz.datasets import NORMALISATIONS
from rankviz.features import FEATURE_MAPS
from rankviz.features.registry import FEATURE_MAP
from rankviz.models.methods import METHODS, Method
from rankviz.models.ranker import Ranker
from rankviz.runs.description import (
    Description,
    changes,
    data_words,
    describe,
    distinct_labels,
    in_a_sentence,
    method_label,
    own_C,
    short_labels,
)

NYSTROEM = RunSpec("OHSUMED", "Fold1", n_components=500, gamma=2.0**-6, C=2.0**-7)
LINEAR = NYSTROEM.linear(0.25)
FULL = NYSTROEM.but(
    normalisation="query_zscore",
    rank=4,
    landmarks="kmeans++",
    seed=3,
    loss="huber",
    costs="grade",
    solver="lbfgs",
    tol=1e-4,
    start="zero",
)
TEXTS = {
    LINEAR: "OHSUMED fold 1 · linear · C = 2⁻² · squared hinge",
    NYSTROEM: "OHSUMED fold 1 · Nyström m = 500 · C = 2⁻⁷ · γ = 2⁻⁶ · seed 0 · squared hinge",
    NYSTROEM.exact(): "OHSUMED fold 1 · exact kernel · C = 2⁻⁷ · γ = 2⁻⁶ · squared hinge",
    NYSTROEM.but(feature_map="fourier", frequencies="orthogonal"): (
        "OHSUMED fold 1 · random Fourier m = 500, orthogonal frequencies · C = 2⁻⁷ · γ = 2⁻⁶ · seed 0 · "
        "squared hinge"
    ),
    LINEAR.factorized(5, 0.25).but(seed=2): (
        "OHSUMED fold 1 · factorised RankSVM, 5 factors · linear · C = 2⁻² · seed 2"
    ),
    LINEAR.regularized(0.5, 3.0, 0.25, solver="alternating").but(tol=1e-2): (
        "OHSUMED fold 1 · regularised RankSVM, nuclear 0.5, coupling 3 · linear · C = 2⁻² · alternating "
        "steps from random α (xu2019) · seed 0 · tolerance 0.01"
    ),
    NYSTROEM.factorized(2, 0.25): (
        "OHSUMED fold 1 · factorised RankSVM, 2 factors · Nyström m = 500 · C = 2⁻² · γ = 2⁻⁶ · seed 0"
    ),
}


@pytest.mark.parametrize(("spec", "text"), TEXTS.items(), ids=range(len(TEXTS)))
def test_texts(spec: RunSpec, text: str) -> None:
    assert str(describe(spec)) == text


def test_all_parts_in_their_order() -> None:
    described = describe(FULL, "test")
    assert described.data == "OHSUMED fold 1"
    assert described.method == ""
    assert described.model == "Nyström m = 500, rank 4, k-means++ landmarks"
    assert described.normalisation == f"normalised: {NORMALISATIONS[FULL.normalisation].label}"
    assert described.part == "test"
    names = [name for name, _ in described.settings]
    assert names == [name for name in FULL.values if name in names]
    assert set(names) == {"C", "gamma", "seed", "loss", "costs", "solver", "tol"}
    told = [described.data, described.model, *(text for _, text in described.settings)]
    assert str(described) == " · ".join([*told, described.normalisation, described.part])


@pytest.mark.parametrize("spec", [*TEXTS, FULL])
def test_nothing_is_said_twice_and_no_part_is_empty(spec: RunSpec) -> None:
    said = str(describe(spec, "vali")).split(" · ")
    pieces = [piece for part in said for piece in part.split(", ")]
    assert all(pieces)
    assert len(set(pieces)) == len(pieces)
    assert said[0] == data_words(spec)
    assert said[-1] == "validation"


@pytest.mark.parametrize("spec", [*TEXTS, FULL])
def test_every_setting_is_told_unless_it_goes_without_saying(spec: RunSpec) -> None:
    text = str(describe(spec))
    for name, setting in spec.declared().items():
        assert setting.words(spec.values[name]) in text
    for name, setting in spec.declared().items():
        other = next((option for option in setting.options if option != spec.values[name]), None)
        if other is not None and name != "start":
            assert str(describe(spec.but(**{name: other}))) != text


def test_runs_that_differ_are_told_apart() -> None:
    specs = [*TEXTS, FULL, FULL.but(C=1.0), FULL.but(fold="Fold2"), FULL.but(normalisation="none")]
    assert len({str(describe(spec)) for spec in specs}) == len(specs)


def test_some_settings_left_out_or_asked_for() -> None:
    described = describe(FULL)
    fewer = described.without("C", "gamma", "n_components")
    assert [name for name, _ in fewer.settings] == ["seed", "loss", "costs", "solver", "tol"]
    assert fewer.model == described.model
    assert described.words("gamma", "C", "start", "nothing") == ("C = 2⁻⁷", "γ = 2⁻⁶")
    assert str(replace(described, data="", normalisation="")).startswith("Nyström m = 500")
    assert described.names == ("Nyström m = 500, rank 4, k-means++ landmarks",)
    assert describe(NYSTROEM.factorized(2, 1.0)).names == ("factorised RankSVM, 2 factors", "Nyström m = 500")
    assert str(Description("a", "", "", ())) == "a"


def test_legends_and_sentences() -> None:
    assert [method_label(spec) for spec in (LINEAR, NYSTROEM, NYSTROEM.exact())] == [
        "linear",
        "Nyström, m = 500",
        "exact kernel",
    ]
    assert method_label(NYSTROEM.factorized(2, 1.0)) == "factorised RankSVM, 2 factors"
    assert [in_a_sentence(spec) for spec in (LINEAR, NYSTROEM, NYSTROEM.exact())] == [
        kind.in_a_sentence for name, kind in FEATURE_MAPS.items() if name in ("linear", "nystroem", "exact")
    ]
    assert in_a_sentence(LINEAR.factorized(2, 1.0)) == "factorised RankSVM"
    assert data_words(RunSpec("My data", "everything")) == "My data everything"


PLAIN = RunSpec("OHSUMED", feature_map="linear", C=2.0**-7)


def test_a_table_of_costs_is_told_pair_by_pair() -> None:
    table = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (2.0, 1.3, 0.0))
    assert "λ₁₀ = 1, λ₂₀ = 2, λ₂₁ = 1.3" in str(describe(PLAIN.but(costs=table)))
    assert "λ₂₁ = 1.3, × μ by query" in str(describe(PLAIN.but(costs=("query", table))))


# --- methods of nowhere -------------------------------------------------------------------------------------

DEPTH = Setting("depth", "d", "Depth", Whole(), 3, "How deep.", "depth", Steps((1, 2, 3)), named=True)
LEAVES = Setting("leaves", "L", "Leaves", Whole(), 8, "How many.", "leaves", Steps((4, 8)), named=True)
ROUNDS = Setting("rounds", "T", "Rounds", Whole(), 9, "How often.", "rounds", Steps((9,)))


class Growth:
    """A choice that brings a setting along."""

    label = "by leaves"
    settings = (LEAVES,)


GROWTH = Setting(
    "growth", "growth", "Growth", Choice({"leaves": Growth}), "leaves", "How it grows.", "growth"
)


def test_a_method_without_a_map_tells_all_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "trees", Method("trees", Ranker, (ROUNDS, DEPTH, GROWTH)))
    described = describe(RunSpec("a", method="trees"))
    assert str(described) == "a fold 1 · trees, d = 3, L = 8 · T = 9 · by leaves"
    assert (described.method, described.model) == ("trees, d = 3, L = 8", "")
    assert method_label(RunSpec("a", method="trees", depth=2)) == "trees, d = 2, L = 8"


def test_a_method_on_a_map_keeps_their_settings_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "trees", Method("trees", Ranker, (DEPTH, FEATURE_MAP)))
    described = describe(RunSpec("a", method="trees", n_components=7, rank=2))
    assert described.names == ("trees, d = 3", "Nyström m = 7, rank 2")
    assert describe(RunSpec("a", method="trees", feature_map="linear")).names == ("trees, d = 3", "linear")


SPEC = RunSpec("demo", feature_map="nystroem", n_components=50, C=2.0**-4, gamma=2.0**-2)


def test_method_and_m_are_enough_where_they_tell_models_apart() -> None:
    specs = [SPEC.linear(2.0**-10), SPEC, SPEC.but(n_components=10)]
    assert short_labels(specs)[1:] == ["Nyström, m = 50", "Nyström, m = 10"]


def test_a_linear_model_beside_others_names_a_C_of_its_own() -> None:
    nystroem, linear = SPEC.but(C=2.0**-4), SPEC.linear(2.0**-10)
    assert short_labels([linear, nystroem]) == ["linear, C = 2⁻¹⁰", "Nyström, m = 50"]
    assert short_labels([linear.but(C=2.0**-4), nystroem]) == ["linear", "Nyström, m = 50"]
    assert own_C(nystroem, [linear, nystroem]) == ()


def test_all_that_differs_is_said_of_models_that_look_alike() -> None:
    specs = [SPEC, SPEC.linear(2.0**-10), SPEC.but(n_components=10, C=2.0**-7)]
    assert short_labels(specs) == [
        "Nyström, m = 50, C = 2⁻⁴",
        "linear, C = 2⁻¹⁰",
        "Nyström, m = 10, C = 2⁻⁷",
    ]


def test_otherwise_what_differs_is_said() -> None:
    specs = [SPEC, SPEC.but(C=2.0**-7)]
    assert short_labels(specs) == ["Nyström, m = 50, C = 2⁻⁴", "Nyström, m = 50, C = 2⁻⁷"]
    hinges = [SPEC.linear(1.0).but(loss="hinge"), SPEC.linear(1.0)]
    assert short_labels(hinges) == ["linear, hinge", "linear, squared hinge"]


def test_a_method_on_two_maps_is_told_apart_by_them() -> None:
    model = SPEC.factorized(5, 2.0**-7)
    fourier = model.but(feature_map="fourier")
    assert short_labels([model, fourier]) == [
        "factorised RankSVM, 5 factors, Nyström",
        "factorised RankSVM, 5 factors, random Fourier",
    ]
    assert short_labels([model, model.but(n_components=10)]) == [
        "factorised RankSVM, 5 factors, m = 50",
        "factorised RankSVM, 5 factors, m = 10",
    ]


def test_the_name_is_not_said_again() -> None:
    model = SPEC.factorized(5, 2.0**-7)
    assert distinct_labels([model, model.but(factors=2)]) == [
        "factorised RankSVM, 5 factors",
        "factorised RankSVM, 2 factors",
    ]
    assert distinct_labels([SPEC, SPEC.but(n_components=10)]) == ["Nyström, m = 50", "Nyström, m = 10"]


def test_changes_name_each_setting_that_both_runs_have() -> None:
    before = RunSpec("synthetic-demo", n_components=50, C=2.0**-4, gamma=0.25)
    assert changes(before, before) == []
    assert changes(before, before.but(C=2.0**-1, n_components=100)) == [
        ("m", "50", "100"),
        ("C", "2⁻⁴", "2⁻¹"),
    ]
    ((name, old, new),) = changes(before, before.linear(before.C))
    assert (name, old, new) == ("", FEATURE_MAPS["nystroem"].label, "linear, C = 2⁻⁴")
    assert changes(before, before.linear(2.0**-7)) == [
        ("", FEATURE_MAPS["nystroem"].label, FEATURE_MAPS["linear"].label),
        ("C", "2⁻⁴", "2⁻⁷"),
    ]
    (fold,) = changes(before, before.but(fold="Fold2"))
    assert fold == ("", data_words(before), data_words(before.but(fold="Fold2")))
