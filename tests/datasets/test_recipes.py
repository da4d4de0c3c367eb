"""Recipes: the name of a generated data set is enough to make it again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rankviz.datasets.synthetic import Recipe
from rankviz.datasets.uploads import _tidy


@pytest.mark.parametrize(
    "recipe",
    [Recipe(), Recipe(5, 1, 1, 1, 2, 0.0, 0.0, 0), Recipe(2000, 8, 500, 200, 9, 1.0, 3.25, 2**31 - 1)],
)
def test_name_and_recipe_are_the_same_thing(recipe):
    assert Recipe.named(recipe.name) == recipe
    assert _tidy(recipe.name) == recipe.name  # the folder carries it unchanged


@pytest.mark.parametrize(
    "name",
    [
        "",
        "synthetic-demo",
        "../x",
        Recipe().name + " ",
        Recipe().name + "-",
        Recipe().name.replace("q2", "q02"),
    ],
)
def test_other_names_are_no_recipes(name):
    assert Recipe.named(name) is None


def test_equal_recipes_make_equal_data():
    recipe = Recipe(queries=20, largest=20, seed=4)
    assert recipe.make().digest == recipe.make().digest
    assert recipe.make().digest != replace(recipe, noise=0.7).make().digest


def test_expected_documents():
    recipe = Recipe(queries=2000, features=1)
    made = sum(part.n_documents for part in recipe.make().parts.values())
    assert made == pytest.approx(recipe.expected_documents, rel=0.05)
    assert Recipe(queries=7, smallest=4, largest=4).expected_documents == pytest.approx(31.4, abs=0.1)


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(queries=2000, largest=500, features=200),
        Recipe(smallest=9, largest=8),
        Recipe(smallest=0),
        Recipe(grades=1),
    ],
)
def test_recipes_out_of_range(recipe):
    with pytest.raises(ValueError, match=r"choose fewer|must be|at least"):
        recipe.make()
