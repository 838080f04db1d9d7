"""How a chain of Letter Boxed is played: on which side every letter is taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from solvers.errors import PermanentError
from solvers.letterboxed.chain import Chain
from solvers.letterboxed.puzzle import Puzzle

Play = tuple[int, ...]
"""The side of every letter, in the order of play; the letter that two words share counts once."""


def strung(chain: Chain) -> str:
    """Write a chain's letters in the order of play, those that two words share once.

    Raises PermanentError where a word does not begin where the one before ended.
    """
    text = chain.words[0]
    for word in chain.words[1:]:
        if word[0] != text[-1]:
            raise PermanentError(f"{word:.40} does not begin where the word before it ended")
        text += word[1:]
    return text


def check_play(puzzle: Puzzle, words: Sequence[str], chain: Chain, play: Play) -> None:
    """Raise PermanentError naming what a play breaks of article 000, Definition 6; else return."""
    known = set(words)
    for word in chain.words:
        if word not in known:
            raise PermanentError(f"{word:.40} is no word of the dictionary")
    letters = strung(chain)
    if len(letters) != len(play):
        raise PermanentError(f"{len(letters)} letters are played on {len(play)} sides")
    for i, (letter, side) in enumerate(zip(letters, play, strict=True)):
        if letter not in puzzle.sides[side]:
            raise PermanentError(f"letter {i + 1}, {letter}, is not on side {side + 1}")
        if i and play[i - 1] == side:
            raise PermanentError(f"letters {i} and {i + 1} are both taken on side {side + 1}")
    taken = Counter(zip(play, letters, strict=True))
    for side, text in enumerate(puzzle.sides):
        for letter, wanted in Counter(text).items():
            if taken[side, letter] < wanted:
                raise PermanentError(
                    f"side {side + 1} has {letter} {wanted} times; it is taken"
                    f" {taken[side, letter]} times"
                )


def find_play(puzzle: Puzzle, chain: Chain) -> Play | None:
    """Find sides for a chain's letters such that every letter of the board is taken.

    Depth first, states that failed are not entered again, and what is left of a letter on the
    board never exceeds how often it is still to come. Returns None where no sides will do. Each
    letter that stands on several sides may double the states (to decide this for one word is
    NP-complete: article 000, Theorem 11).
    """
    letters = strung(chain)
    sides_of: dict[str, list[int]] = {}
    slot: dict[tuple[int, str], int] = {}
    left: list[int] = []
    for side, text in enumerate(puzzle.sides):
        for letter, count in sorted(Counter(text).items()):
            sides_of.setdefault(letter, []).append(side)
            slot[side, letter] = len(left)
            left.append(count)
    total = Counter("".join(puzzle.sides))
    to_come = Counter(letters)
    if any(total[letter] > to_come[letter] for letter in total):
        return None
    if any(letter not in sides_of for letter in letters):
        return None
    behind = [to_come[letter] for letter in letters]
    seen: Counter[str] = Counter()
    for i, letter in enumerate(letters):
        seen[letter] += 1
        behind[i] -= seen[letter]
    failed: set[tuple[int, int, tuple[int, ...]]] = set()
    play: list[int] = []
    options: list[list[int]] = []
    taken: list[bool] = []

    def enter() -> None:
        """List the sides for the next letter, those first that still have it."""
        i = len(play)
        letter = letters[i]
        before = play[-1] if play else -1
        found = [
            side
            for side in sides_of[letter]
            if side != before and total[letter] - (left[slot[side, letter]] > 0) <= behind[i]
        ]
        found.sort(key=lambda side: left[slot[side, letter]] == 0, reverse=True)
        options.append(found)

    enter()
    while True:
        if options[-1]:
            side = options[-1].pop()
            letter = letters[len(play)]
            place = slot[side, letter]
            takes = left[place] > 0
            left[place] -= takes
            total[letter] -= takes
            play.append(side)
            taken.append(takes)
            if len(play) == len(letters):
                return tuple(play)
            state = (len(play), side, tuple(left))
            if state in failed:
                options.append([])
            else:
                failed.add(state)
                enter()
            continue
        options.pop()
        if not options:
            return None
        side = play.pop()
        letter = letters[len(play)]
        if taken.pop():
            left[slot[side, letter]] += 1
            total[letter] += 1
