"""Labels: models are told apart by what differs, and by nothing else."""

from __future__ import annotations

from rankviz import RunSpec
from rankviz.runs.labels import distinct_labels, short_labels

SPEC = RunSpec("demo", feature_map="nystroem", n_components=50, C=2.0**-4, gamma=2.0**-2)


def test_method_and_m_are_enough_where_they_tell_models_apart() -> None:
    specs = [SPEC.linear(2.0**-10), SPEC, SPEC.but(n_components=10)]
    assert short_labels(specs) == ["linear", "Nyström, m = 50", "Nyström, m = 10"]


def test_all_that_differs_is_said_of_models_that_look_alike() -> None:
    specs = [SPEC, SPEC.linear(2.0**-10), SPEC.but(n_components=10, C=2.0**-7)]
    assert short_labels(specs) == ["Nyström, m = 50, C = 2⁻⁴", "linear", "Nyström, m = 10, C = 2⁻⁷"]


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
