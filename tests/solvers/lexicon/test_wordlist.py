from __future__ import annotations

import pytest

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.lexicon.wordlist import read_word_list

UNCLEAR = "may be a phrase or have a count; expected a TAB or comma between phrase and count"


def words(text: str) -> list[str]:
    return [word for word, _ in read_word_list(text.encode(), "list")]


def refusal(data: bytes) -> str:
    with pytest.raises(PermanentError) as caught:
        read_word_list(data, "my.txt")
    return str(caught.value)


def test_one_word_a_line_in_any_case_without_frequencies():
    pairs = read_word_list(b"apple\nBanana\nCHERRY", "list")
    assert pairs == [("APPLE", 0), ("BANANA", 0), ("CHERRY", 0)]
    assert not compile_lexicon(pairs).has_frequencies


def test_a_byte_order_mark_crlf_comments_and_blank_lines_are_skipped():
    text = "\ufeff# my words\r\n\r\napple\r\n  \n   # more\n\tbanana  \n"
    assert words(text) == ["APPLE", "BANANA"]


def test_contractions_lose_their_apostrophe():
    assert words("don't\nO\u2019Brien\n") == ["DONT", "OBRIEN"]


def test_lines_that_are_not_one_word_are_counted_and_named_not_joined():
    text = "Te pidly\nkilo-watt\n123\nfine\nnon\u2011stop\t5\nno\u00a0one\nr2d2\n"
    named = (
        r"^word list list: 6 lines are not one word of letters and skipped: 'Te pidly', "
        r"'kilo-watt', '123', 'non.stop', 'no.+one', \.\.\.$"
    )
    with pytest.warns(RuntimeWarning, match=named):
        assert words(text) == ["FINE"]
    with pytest.warns(RuntimeWarning, match=r"1 line is .* skipped: 'ice cream'$"):
        assert words("fine\nice cream") == ["FINE"]


def test_accents_stay_and_every_letter_is_one_character():
    # Decomposed (letter and mark), composed, and a letter whose capital would be two.
    assert words("a\u0308on\n\u00e4on\nstra\u00dfe\n") == ["ÄON", "ÄON", "STRAßE"]


@pytest.mark.parametrize("separator", ["\t", " ", "   ", ",", ", ", " , ", " \t "])
def test_a_count_may_follow_a_word(separator):
    pairs = read_word_list(f"the{separator}90\nof{separator}9.9\nrare{separator}0.1".encode(), "x")
    # 90, 9.9 and 0.1 of 100: 10^8.95, 10^8.00 and 10^6 in 10^9.
    assert pairs == [("THE", 895), ("OF", 800), ("RARE", 600)]


def test_lines_without_a_count_in_a_list_with_counts_are_of_unknown_frequency():
    pairs = read_word_list(b"known 5\nunknown\nnever,0\n", "x")
    assert pairs == [("KNOWN", 900), ("UNKNOWN", 0), ("NEVER", 0)]
    assert compile_lexicon(pairs).has_frequencies


def test_the_rarest_counted_word_is_more_frequent_than_an_unknown_one():
    pairs = dict(read_word_list(b"all 999999999999999\nrare 0.000000001\nunknown\n", "x"))
    assert pairs["RARE"] == 1 > pairs["UNKNOWN"]


def test_the_unit_of_counts_does_not_matter():
    once = read_word_list(b"a 1\nb 20\nc 300\n", "x")
    assert read_word_list(b"a 7\nb 140\nc 2100\n", "x") == once


COUNTED = "expected how often it was counted, such as 0, 123 or 0.5"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ice cream 12", f"'ice cream 12' {UNCLEAR}"),
        ("12 monkeys", f"'12 monkeys' {UNCLEAR}"),
        ("1 2", f"'1 2' {UNCLEAR}"),
        ("word\tmany", f"'many' after the word; {COUNTED}"),
        ("word,-3", f"'-3' after the word; {COUNTED}"),
        ("word,1e6", f"'1e6' after the word; {COUNTED}"),
        ("word\t5\tnoun", f"'5\\tnoun' after the word; {COUNTED}"),
        ("word,1,234", f"'1,234' after the word; {COUNTED}"),
        ("word,", f"'' after the word; {COUNTED}"),
        ("word -3", f"'-3' after the word; {COUNTED}"),
        ("word +3", f"'+3' after the word; {COUNTED}"),
        ("word 1e6", f"'1e6' after the word; {COUNTED}"),
        ("word 3rd", f"'3rd' after the word; {COUNTED}"),
        ("word,nan", f"'nan' after the word; {COUNTED}"),
        ("word\tinf", f"'inf' after the word; {COUNTED}"),
        (",5", "'' has no letters"),
        ("r&b", "'r&b' has '&', which no board has; expected letters"),
        ("u.s.", "'u.s.' has '.', which no board has; expected letters"),
        ("one\rtwo", "'one\\rtwo' has '\\r', which no board has; expected letters"),
        ("---", "'---' has no letters"),
        ("nul\0", "'nul\\x00' has '\\x00', which no board has; expected letters"),
    ],
)
def test_a_line_that_is_not_clear_is_refused_with_its_number(line, message):
    assert refusal(f"fine\n\n{line}\n".encode()) == f"word list my.txt, line 3: {message}"


@pytest.mark.parametrize("data", [b"", b"\n\n", b"# nothing\n", b"\xef\xbb\xbf"])
def test_a_list_without_words_is_refused(data):
    assert refusal(data) == "word list my.txt has no words; expected one a line"


def test_a_list_that_is_not_utf_8_is_refused_at_its_byte():
    data = "fine\nna\xefve\n".encode("latin-1")
    assert refusal(data) == "word list my.txt, line 2: byte 0xef is not UTF-8"
    assert refusal("word\n".encode("utf-16")).startswith("word list my.txt, line 1: byte 0xff")


def test_a_list_beyond_the_bound_is_refused(monkeypatch):
    monkeypatch.setattr("nightgrid.solvers.lexicon.wordlist.WORD_LIST_MAX_BYTES", 8)
    assert words("one\ntwo\n") == ["ONE", "TWO"]
    assert refusal(b"one\ntwo\nx") == "word list my.txt: more than 8 bytes"


def test_a_list_of_too_many_words_or_a_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr("nightgrid.solvers.lexicon.wordlist.WORDS_MAX", 2)
    assert len(read_word_list(b"# c\na\nb\n", "w")) == 2
    with pytest.raises(PermanentError, match=r"^word list w has more than 2 words$"):
        read_word_list(b"a\nb\nc\n", "w")
    monkeypatch.setattr("nightgrid.solvers.lexicon.wordlist.LINE_MAX_BYTES", 5)
    assert len(read_word_list(b"a\nbcde\n", "w")) == 2
    with pytest.raises(PermanentError, match="line 2: longer than 5 bytes; expected one word"):
        read_word_list(b"a\nbcdef\n", "w")
