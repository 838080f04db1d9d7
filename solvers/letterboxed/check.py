"""Check a chain against a board, its words and the rules, and say how it is played."""

from __future__ import annotations

from itertools import pairwise

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.playing import Playing
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.rules import Rules
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.lexicon.lexicon import Lexicon


def check_chain(puzzle: Puzzle, rules: Rules, chain: Chain, lexicon: Lexicon | None = None) -> None:
    """Raise PermanentError, naming the first rule that a chain breaks; else return.

    Words are looked up in the lexicon if there is one, else in the board's own dictionary if it
    has one. Whether fewer words or letters would do is not looked at.
    """
    for word in chain.words:
        if len(word) < rules.min_letters:
            raise PermanentError(f"{word}: expected at least {rules.min_letters} letters")
        if lexicon is not None:
            known = lexicon.find(word) >= 0
        else:
            known = puzzle.dictionary is None or word in puzzle.dictionary
        if not known:
            raise PermanentError(f"{word} is not among the words of the board")
    if isinstance(rules.chains, int) and len(chain.words) > rules.chains:
        raise PermanentError(f"{len(chain.words)} words; expected at most {rules.chains}")
    played(puzzle, chain)


def strokes(puzzle: Puzzle, chain: Chain) -> list[tuple[int, int]]:
    """Give (side, index on the side) of every letter of a way to play a chain.

    The letter that two words share is given once. Where a letter stands several times on a side,
    each time it is collected takes the next of them. Raises PermanentError as `check_chain` does.
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
    """Join the words of a chain; the letter that two words share stands once."""
    return chain.words[0] + "".join(word[1:] for word in chain.words[1:])


def played(puzzle: Puzzle, chain: Chain) -> list[int]:
    """Give the side of every letter of a way to play a chain, the shared letters once.

    Raises PermanentError when there is none, when words do not follow one another, or when every
    letter is collected before the last word.
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
    playing = Playing(puzzle, text)
    going = playing.start()
    for i in range(len(text)):
        if i:
            going = playing.step()
        if not going:
            raise PermanentError(
                f"{' '.join(chain.words)}: no way of playing it goes on from {text[:i]!r} to"
                f" {text[i]!r} on another side and collects every letter"
            )
        if i in ends and playing.complete:
            raise PermanentError(f"every letter is collected before the end: {text[: i + 1]!r}")
    return playing.sides()
