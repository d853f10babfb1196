"""Every method that comes with the package is explained where a report or a comparison names it."""

from hardlabels.delivery import methods
from hardlabels.reporting.meanings import MEANING, meaning
from hardlabels.reporting.tables.sheet import METHODS


def test_every_method_of_a_report_has_words_of_its_own():
    assert set(METHODS) <= set(MEANING) <= set(methods())
    assert len(set(MEANING.values())) == len(MEANING)


def test_a_method_without_words_is_called_by_its_name():
    assert meaning("of_my_own,strength=2") == "of_my_own,strength=2"
