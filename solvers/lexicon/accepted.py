"""English words that the dictionaries of word games accept, each with its probability.

Frequency alone cannot tell EXHUMING from BEKIR: a word is looked up in lists of real words as well
(hunspell's en_US as spylls carries it, symspellpy's), and a logistic model, fitted on published
dictionaries of Letter Boxed, weighs what the lists say. `accepted.json` has its weights and says
what they were fitted on; `python -m benchmarks.letterboxed_words --fit` fits them.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.lexicon.english import english_words, spelling_words
from nightgrid.solvers.lexicon.lexicon import DOUBT_PER_NAT, Lexicon

WEIGHTS_FILE = Path(__file__).with_suffix(".json")
PROBABILITY_MIN = 0.5
"""Words that are probably not accepted are left out: otherwise chains of two words that no game
accepts would precede accepted chains of three."""
ZIPF_KNEE = 3.0
"""The weight of frequency changes at one in a million words of text."""
ENDINGS = {
    "S": ("",), "ES": ("",), "IES": ("Y",), "ED": ("", "E"), "ING": ("", "E"), "ER": ("", "E"),
}  # fmt: skip
"""Endings of inflected words, and the endings of their bases."""

Features = dict[str, float]


class WordLists:
    """The lists' words of A to Z, in upper case."""

    def __init__(self) -> None:
        """Read the lists: about a second."""
        forms = {form for form in hunspell_forms() if form.isascii() and form.isalpha()}
        self.spelled = {word for word in spelling_words() if word.isascii() and word.isalpha()}
        self.lower = {form.upper() for form in forms if form.islower()}
        self.capital = {form.upper() for form in forms if not form.islower()}
        self.zipf: dict[str, float] = {}
        for word, centizipf in english_words():
            self.zipf[word] = max(self.zipf.get(word, 0.0), centizipf / 100)

    def words(self) -> set[str]:
        """Return the words of all lists together."""
        return self.spelled | self.lower | self.capital | self.zipf.keys()

    def features(self, word: str) -> Features:
        """Return the features of the model; `capital` are names and abbreviations."""
        spelled, lower = float(word in self.spelled), float(word in self.lower)
        capital = float(word in self.capital)
        zipf = self.zipf.get(word, 0.0)
        kinds = {"": 1.0, "spelled_only ": spelled * (1 - lower), "lower ": lower}
        frequency = {
            "unseen": float(zipf == 0),
            "zipf": min(zipf, ZIPF_KNEE),
            "zipf_over": max(zipf - ZIPF_KNEE, 0.0),
        }
        return {
            "one": 1.0,
            "spelled": spelled,
            "lower": lower,
            "capital": capital,
            "spelled lower": spelled * lower,
            "spelled capital": spelled * capital,
            "lower capital": lower * capital,
            **{
                kind + name: is_kind * value
                for kind, is_kind in kinds.items()
                for name, value in frequency.items()
            },
            "three_letters": float(len(word) <= 3),
            "four_letters": float(len(word) == 4),
            "tens_of_letters": len(word) / 10,
            "ends_in_s": float(word.endswith("S")),
            "inflected": float(self._is_inflected(word)),
        }

    def _is_inflected(self, word: str) -> bool:
        bases = (
            word.removesuffix(ending) + base
            for ending, bases in ENDINGS.items()
            if word.endswith(ending)
            for base in bases
        )
        return any(base in self.lower or base in self.spelled for base in bases)


def hunspell_forms() -> Iterator[str]:
    """Yield every form of hunspell's en_US: each stem with the suffixes and prefixes it takes."""
    from spylls.hunspell import Dictionary  # type: ignore[import-untyped]

    with warnings.catch_warnings():
        # It does not close its files.
        warnings.simplefilter("ignore", ResourceWarning)
        dictionary = Dictionary.from_files("en_US")
    suffixes, prefixes = dictionary.aff.SFX, dictionary.aff.PFX
    for word in dictionary.dic.words:
        stem, flags = word.stem, word.flags or ()
        fitting = [
            (affix, is_suffix)
            for table, is_suffix in ((suffixes, True), (prefixes, False))
            for flag in flags
            for affix in table.get(flag, ())
            if affix.cond_regexp.search(stem)
        ]
        ended = [
            (stem[: len(stem) - len(suffix.strip)] + suffix.add, suffix.crossproduct)
            for suffix, is_suffix in fitting
            if is_suffix
        ]
        yield stem
        yield from (form for form, _ in ended)
        for prefix, is_suffix in fitting:
            if not is_suffix:
                takes = [form for form, crosses in ended if crosses and prefix.crossproduct]
                yield from (prefix.add + form[len(prefix.strip) :] for form in [stem, *takes])


def acceptance(weights: Features) -> Callable[[Features], float]:
    """Return the probability that a game accepts a word, as a function of its features."""

    def probability(features: Features) -> float:
        return 1 / (1 + math.exp(-sum(weights[name] * value for name, value in features.items())))

    return probability


def accepted_words(
    lists: WordLists | None = None, probability: Callable[[Features], float] | None = None
) -> Iterator[tuple[str, int, int]]:
    """Yield the words that are probably accepted: (word, centizipf, doubt)."""
    lists = lists or WordLists()
    probability = probability or acceptance(json.loads(WEIGHTS_FILE.read_text())["weights"])
    for word in sorted(lists.words()):
        accepted = probability(lists.features(word))
        if accepted >= PROBABILITY_MIN:
            centizipf = round(100 * lists.zipf.get(word, 0.0))
            yield word, centizipf, round(-DOUBT_PER_NAT * math.log(accepted))


def compile_accepted(
    lists: WordLists | None = None, probability: Callable[[Features], float] | None = None
) -> Lexicon:
    """Compile these words, with their doubts, into a lexicon."""
    words = list(accepted_words(lists, probability))
    doubts = {word: doubt for word, _, doubt in words}
    return compile_lexicon([(word, centizipf) for word, centizipf, _ in words], doubts=doubts)
