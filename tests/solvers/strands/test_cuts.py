from __future__ import annotations

from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.strands.paths import cut
from nightgrid.solvers.strands.rules import Rules


def test_a_compound_is_shown_in_the_parts_that_set_its_score():
    # Three parts cost 300 together and two 350, but a third part costs 100 more in the score.
    words = [("AB", 800), ("CD", 800), ("EF", 800), ("ABC", 725), ("DEF", 725)]
    assert cut("ABCDEF", Rules(), compile_lexicon(words)) == ("ABC", "DEF")


def test_parts_that_cost_too_much_together_are_no_cut():
    words = [("AB", 800), ("CD", 800), ("EF", 800), ("ABC", 725), ("DEF", 725)]
    rules = Rules(compound_centibels=320)
    assert cut("ABCDEF", rules, compile_lexicon(words)) == ("AB", "CD", "EF")


def test_words_that_are_a_phrase_are_cut_as_one():
    words = [("GAS", 500), ("MASK", 500), ("GASM", 510), ("ASK", 510)]
    phrases = [("GAS", "MASK", 450)]
    assert cut("GASMASK", Rules(), compile_lexicon(words, phrases)) == ("GAS", "MASK")
    assert cut("GASMASK", Rules(), compile_lexicon(words)) == ("GASM", "ASK")
