"""The Letter Boxed puzzle: a polygon whose sides are multisets of letters, and its dictionary."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nightgrid.solvers.canonical import canonical_json, digest
from nightgrid.solvers.errors import Faults, InvalidPuzzleError, check_object, place_of
from nightgrid.solvers.lexicon.spelling import upper

SIDES_MAX = 64
LETTERS_MAX = 4096
"""Letters on all sides together."""
WORDS_MAX = 1_000_000
WORD_LETTERS_MAX = 1_000_000
DICTIONARY_LETTERS_MAX = 10_000_000
"""Letters of all words of a dictionary together."""


@dataclass(frozen=True, kw_only=True)
class Puzzle:
    """A validated board. Sides are strings, one upper-case letter a place, as they are drawn.

    The general instance of article 000, Definition 5: any number of sides, any alphabet, a letter
    several times on one side or on several. Order does not matter in the game, so boards that
    differ only in the order of sides, or of letters on a side, have the same `puzzle_id`. Raises
    InvalidPuzzleError naming the rule and the place that breaks it.
    """

    sides: tuple[str, ...]
    dictionary: tuple[str, ...] | None = None
    """The board's own words, sorted, each once; None if it needs a lexicon."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sides", tuple(upper(side) for side in self.sides))
        _check_sides(self.sides, "sides")
        if self.dictionary is not None:
            words = tuple(upper(word) for word in self.dictionary)
            _check_words(words, "dictionary")
            object.__setattr__(self, "dictionary", tuple(sorted(set(words))))

    @property
    def letter_count(self) -> int:
        """Letters to collect, on all sides together."""
        return sum(map(len, self.sides))

    @cached_property
    def dictionary_id(self) -> str:
        """Hash of the board's own words; "" for none."""
        return "" if self.dictionary is None else dictionary_id(self.dictionary)

    @cached_property
    def puzzle_id(self) -> str:
        """Hash of the board up to the order of sides and letters, and of its dictionary."""
        sides = sorted("".join(sorted(side)) for side in self.sides)
        return digest("letterboxed", canonical_json(sides), self.dictionary_id)

    def to_json(self) -> dict[str, Any]:
        """Return the board as it is drawn, with its own words if it has any."""
        value: dict[str, Any] = {"game": "letterboxed", "sides": list(self.sides)}
        if self.dictionary is not None:
            value["dictionary"] = list(self.dictionary)
        return value

    @classmethod
    def from_json(cls, value: object, place: str = "") -> Puzzle:
        """Validate a JSON value with `sides` and optionally `dictionary`.

        Both are lists of strings; a side may be a list of letters as well. `place` is the path of
        the value in its document and starts every place that an error names. Other keys are
        ignored.
        """
        given = check_object(value, place)
        at = place_of(place, "sides")
        sides = given.get("sides")
        if sides is None:
            raise InvalidPuzzleError("sides-missing", at, "missing; expected a list of sides")
        if not isinstance(sides, list | tuple) or not all(map(_is_side, sides)):
            raise InvalidPuzzleError("sides-type", at, "expected a list of strings, one for a side")
        joined = tuple(upper("".join(side)) for side in sides)
        faults = Faults()
        with faults:
            _check_sides(joined, at)
        words = given.get("dictionary")
        if words is not None:
            with faults:
                _check_dictionary(words, place_of(place, "dictionary"))
        faults.check()
        return cls(sides=joined, dictionary=None if words is None else tuple(words))


def dictionary_id(words: tuple[str, ...]) -> str:
    """Hash words that are sorted and distinct."""
    return digest("dictionary", *words)


def _is_side(side: object) -> bool:
    if isinstance(side, list | tuple):
        return all(isinstance(letter, str) and len(letter) == 1 for letter in side)
    return isinstance(side, str)


def _check_sides(sides: tuple[str, ...], place: str) -> None:
    if not 1 <= len(sides) <= SIDES_MAX:
        raise InvalidPuzzleError(
            "side-count", place, f"{len(sides)} sides; expected 1 to {SIDES_MAX}"
        )
    letters = sum(map(len, sides))
    if letters > LETTERS_MAX:
        raise InvalidPuzzleError(
            "letter-count", place, f"{letters} letters; expected at most {LETTERS_MAX}"
        )
    faults = Faults()
    for i, side in enumerate(sides):
        if not side:
            message = "expected at least one letter"
            faults.add(InvalidPuzzleError("side-empty", f"{place}[{i}]", message))
        odd = _no_letter(side)
        if odd:
            faults.add(InvalidPuzzleError("letter", f"{place}[{i}]", f"{odd!r}; expected a letter"))
    faults.check()


def _check_dictionary(words: object, place: str) -> None:
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise InvalidPuzzleError("dictionary-type", place, "expected a list of words or null")
    if not words:
        raise InvalidPuzzleError("no-dictionary", place, "expected at least one word")
    _check_words(tuple(words), place)


def _check_words(words: tuple[str, ...], place: str) -> None:
    if len(words) > WORDS_MAX:
        raise InvalidPuzzleError(
            "dictionary-size", place, f"{len(words):,} words; expected at most {WORDS_MAX:,}"
        )
    letters = sum(map(len, words))
    if letters > DICTIONARY_LETTERS_MAX:
        raise InvalidPuzzleError(
            "dictionary-size",
            place,
            f"{letters:,} letters in all words; expected at most {DICTIONARY_LETTERS_MAX:,}",
        )
    faults = Faults()
    for i, word in enumerate(words):
        if not 1 <= len(word) <= WORD_LETTERS_MAX:
            message = f"{len(word)} letters; expected 1 to {WORD_LETTERS_MAX:,}"
            faults.add(InvalidPuzzleError("word-length", f"{place}[{i}]", message))
        odd = _no_letter(word)
        if odd:
            message = f"{odd!r}; expected letters"
            faults.add(InvalidPuzzleError("word-letter", f"{place}[{i}]", message))
    faults.check()


def _no_letter(text: str) -> str:
    """Return the first character that is not a letter, or ""."""
    return "" if text.isalpha() else next((c for c in text if not c.isalpha()), "")
