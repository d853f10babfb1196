"""Names of folders and headings: what one function writes its inverse reads, and nothing gets lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardlabels.errors import InputError
from hardlabels.runs.spelling import (
    NamedMethod,
    NamedRecipe,
    read_method,
    read_recipe,
    read_votes,
    write_method,
    write_recipe,
    write_votes,
)

words = st.from_regex(r"[A-Za-z0-9_.+-]{1,8}", fullmatch=True)


@given(words, st.dictionaries(words, words, max_size=3))
def test_every_text_that_can_be_read_is_written_again_to_the_letter(name, settings):
    text = ",".join([name, *(f"{key}={value}" for key, value in settings.items())])
    assert write_method(*read_method(text)) == text


@given(
    words, st.dictionaries(words, st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none())
)
def test_settings_come_back_as_values(name, settings):
    again = read_method(write_method(name, settings))
    assert again == NamedMethod(name, tuple(settings.items()))
    assert [type(value) for _, value in again.settings] == [type(value) for value in settings.values()]


@given(words, st.none() | words)
def test_a_recipe_and_its_tag_come_back(name, tag):
    assert read_recipe(write_recipe(name, tag)) == NamedRecipe(name, tag)


@given(st.none() | st.integers(1, 10**6))
def test_votes_come_back(k):
    assert read_votes(write_votes(k)) == k
    assert write_votes(float("inf") if k is None else float(k)) == write_votes(k)


@pytest.mark.parametrize("value", ["a,b", "a=b", [1, 2]])
def test_a_value_that_would_look_like_another_setting_is_refused(value):
    with pytest.raises(InputError, match=r"method\.mode must be a value without ',' and '='"):
        write_method("sls", {"mode": value})


@pytest.mark.parametrize("text", ["sls,hold", "sls,", "sls,=5"])
def test_what_follows_a_comma_is_a_setting(text):
    with pytest.raises(InputError, match="expected a method such as sls or sls,hold=5, got"):
        read_method(text)
