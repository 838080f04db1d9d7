"""Check a chain against a board, its words and the rules, and reconstruct how it is played.

Letters are played one by one, keeping every relevant way of playing: a side and the letters left to
use, one integer with a field for every letter of every side.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Rules
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.lexicon.lexicon import Lexicon

WAYS_MAX = 200_000
"""Most ways of playing the same letters that are tracked, some seconds of work."""

Way = tuple[int, int]
"""(side, fields of the letters left)"""


def check_chain(puzzle: Puzzle, rules: Rules, chain: Chain, lexicon: Lexicon | None = None) -> None:
    """Raise PermanentError, naming the first rule that a chain breaks; else return.

    Words are looked up in the lexicon if there is one, else in the board's own dictionary if it has
    one. Does not check whether fewer words or letters suffice.
    """
    for word in chain.words:
        if len(word) < rules.min_letters:
            raise PermanentError(f"{word}: expected at least {rules.min_letters} letters")
        if lexicon is not None:
            known = lexicon.find(word) >= 0
        else:
            known = puzzle.dictionary is None or word in puzzle.dictionary
        if not known:
            raise PermanentError(f"{word} is not one of the board's words")
    if isinstance(rules.chains, int) and len(chain.words) > rules.chains:
        raise PermanentError(f"{len(chain.words)} words; expected at most {rules.chains}")
    played(puzzle, chain)


def strokes(puzzle: Puzzle, chain: Chain) -> list[tuple[int, int]]:
    """Return (side, index on the side) of every letter of one way to play a chain.

    The letter that two words share appears once. If a letter occurs several times on a side, each
    use takes the next of them. Raises PermanentError as `check_chain` does.
    """
    letters = text_of(chain)
    visits: dict[tuple[int, str], int] = {}
    found = []
    for side, letter in zip(played(puzzle, chain), letters, strict=True):
        places = [i for i, other in enumerate(puzzle.sides[side]) if other == letter]
        visit = visits.get((side, letter), 0)
        visits[side, letter] = visit + 1
        found.append((side, places[min(visit, len(places) - 1)]))
    return found


def text_of(chain: Chain) -> str:
    """Join the words of a chain, with shared letters once."""
    return chain.words[0] + "".join(word[1:] for word in chain.words[1:])


def played(puzzle: Puzzle, chain: Chain) -> list[int]:
    """Return the side of every letter of one way to play a chain, shared letters once.

    Raises PermanentError if there is none, if words do not follow one another, or if every letter
    is used before the last word.
    """
    if not chain.words or not all(chain.words):
        raise PermanentError("expected a chain of at least one word, each of at least one letter")
    for before, after in pairwise(chain.words):
        if before[-1] != after[0]:
            raise PermanentError(f"{after} does not begin with {before[-1]!r}, as {before} ends")
    board = set("".join(puzzle.sides))
    for word in chain.words:
        odd = next((letter for letter in word if letter not in board), "")
        if odd:
            raise PermanentError(f"{word}: the board has no {odd!r}")
    text = text_of(chain)
    missing = "".join(sorted(board - set(text)))
    if missing:
        raise PermanentError(f"{missing!r} is not collected")
    ends = set()
    place = 0
    for word in chain.words[:-1]:
        place += len(word) - 1
        ends.add(place)
    return _play(puzzle, chain, ends)


class TooManyWaysError(PermanentError):
    """There are too many ways of playing the letters to follow them all."""


def _play(puzzle: Puzzle, chain: Chain, ends: set[int]) -> list[int]:
    """Play a chain in every relevant way; return the sides of one that uses every letter.

    `ends` are the places of letters that two words share.
    """
    text = text_of(chain)
    fields: dict[str, list[tuple[int, int, int]]] = {}
    full = shift = 0
    for side, letters in enumerate(puzzle.sides):
        for letter, times in sorted(Counter(letters).items()):
            width = times.bit_length()
            fields.setdefault(letter, []).append((side, shift, (1 << width) - 1))
            full |= times << shift
            shift += width
    to_come = Counter(text)
    start = (-1, full)
    # For each letter played, the ways of playing so far, each with the one that it continues.
    trail: list[dict[Way, Way]] = [{start: start}]
    for i, letter in enumerate(text):
        to_come[letter] -= 1
        ways: dict[Way, Way] = {}
        for way in trail[-1]:
            for side, shift, mask in fields[letter]:
                if side == way[0]:
                    continue
                left = way[1] - (1 << shift) if way[1] >> shift & mask else way[1]
                # A way that the remaining letters cannot complete is a dead end.
                lacks = sum(left >> at & field for _, at, field in fields[letter])
                if lacks <= to_come[letter]:
                    ways.setdefault((side, left), way)
        if not ways:
            raise PermanentError(
                f"{' '.join(chain.words)}: no way of playing it continues from {text[:i]!r} to"
                f" {letter!r} on another side and collects every letter"
            )
        if len(ways) > WAYS_MAX:
            raise TooManyWaysError(
                f"there are more than {WAYS_MAX:,} ways of playing the first {i + 1} letters, which"
                " are too many to follow"
            )
        if i in ends and any(not left for _, left in ways):
            raise PermanentError(f"every letter is collected before the end: {text[: i + 1]!r}")
        trail.append(ways)
    way = min(way for way in trail[-1] if not way[1])
    sides = []
    for ways in reversed(trail[1:]):
        sides.append(way[0])
        way = ways[way]
    return sides[::-1]
