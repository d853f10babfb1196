"""Which items select the checkpoint by default: items of their own, but in recipes that repeat the paper or have records."""

from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from hardlabels.configuration import CONF

RESULTS = Path(__file__).parents[1] / "results"

EXCEPTIONS = {"paper": "the paper's own protocol", "smoke": "only shows that it runs, as quickly as it can"}
"""Recipes without committed records that select as the paper does, and why."""

RECORDED = {"pocket", "text_head"}
"""Recipes whose committed records were selected as the paper's are."""

RECIPES = sorted(file.stem for file in (CONF / "recipe").glob("*.yaml"))


def split_of(*words: str) -> str:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("train", list(words)).recipe.split


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_new_recipe_selects_on_items_of_their_own(recipe):
    assert split_of(f"recipe={recipe}") == ("paper" if recipe in {*EXCEPTIONS, *RECORDED} else "three_way")


def test_what_keeps_the_papers_split_for_its_records_has_them():
    """No recipe without committed records is excused by them: their archives are named by their recipes."""
    recorded = {path.name.removesuffix(".tar.xz") for path in RESULTS.glob("*/*/*.tar.xz")}
    assert recorded >= RECORDED
    assert not recorded & set(EXCEPTIONS)


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_users_own_data_select_on_items_of_their_own_with_any_recipe(recipe):
    assert split_of("data=files", f"recipe={recipe}") == "three_way"


def test_who_asks_for_the_papers_split_gets_it():
    assert split_of("data=files", "recipe.split=paper") == "paper"
