"""Which items select the checkpoint by default: items of their own, but in recipes that repeat the paper or have records."""

import pytest
from hydra import compose, initialize_config_dir

from hardlabels.configuration import CONF

AS_THE_PAPER = {"paper", "pocket", "smoke", "text_head"}
"""The paper's own, those whose committed records were selected so, and the one that only shows that it runs."""

RECIPES = sorted(file.stem for file in (CONF / "recipe").glob("*.yaml"))


def split_of(*words: str) -> str:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("train", list(words)).recipe.split


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_new_recipe_selects_on_items_of_their_own(recipe):
    assert split_of(f"recipe={recipe}") == ("paper" if recipe in AS_THE_PAPER else "three_way")


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_users_own_data_select_on_items_of_their_own_with_any_recipe(recipe):
    assert split_of("data=files", f"recipe={recipe}") == "three_way"


def test_who_asks_for_the_papers_split_gets_it():
    assert split_of("data=files", "recipe.split=paper") == "paper"
