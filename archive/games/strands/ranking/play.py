"""Play a board: propose a word, hear what it is, and think again.

What is known is a list of covers with probabilities. An answer leaves the covers that agree with
it, so that what is left is the posterior over the list, exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Answer = Literal["theme word", "spangram", "not in the list"]
"""What the game says of a guess."""
WRONG: Answer = "not in the list"


@dataclass(frozen=True, slots=True, kw_only=True)
class Possible:
    """A cover that may be the one that was meant."""

    spangram: str
    theme_words: frozenset[str]
    probability: float

    @property
    def words(self) -> frozenset[str]:
        """All words. Which of them is the spangram may be open: two may span the board."""
        return self.theme_words | {self.spangram}


class Play:
    """One board while it is played."""

    def __init__(self, covers: Sequence[Possible]) -> None:
        self.covers = list(covers)
        self.heard: dict[str, Answer] = {}

    @property
    def is_solved(self) -> bool:
        """Whether every word of a cover that is left has been found."""
        right = {word for word, answer in self.heard.items() if answer != WRONG}
        return any(cover.words <= right for cover in self.covers)

    @property
    def wrong_count(self) -> int:
        """How many guesses were in no list."""
        return sum(answer == WRONG for answer in self.heard.values())

    def chances(self) -> dict[str, float]:
        """Give each word that was not guessed the probability that it is on the board's list."""
        total = sum(cover.probability for cover in self.covers)
        chances: dict[str, float] = {}
        for cover in self.covers:
            for word in (cover.spangram, *sorted(cover.theme_words)):
                if word not in self.heard:
                    chances[word] = chances.get(word, 0.0) + cover.probability
        return {word: mass / total for word, mass in chances.items()} if total else chances

    def guess(self) -> str | None:
        """Choose the likeliest word, of equal ones the first by letters; None without any."""
        chances = self.chances()
        return min(chances, key=lambda word: (-chances[word], word)) if chances else None

    def hear(self, word: str, answer: Answer) -> None:
        """Leave the covers that agree with an answer: those that have the word, or do not."""
        self.heard[word] = answer
        right = answer != WRONG
        self.covers = [cover for cover in self.covers if (word in cover.words) == right]


def play_out(covers: Sequence[Possible], truth: Mapping[str, Answer]) -> tuple[int, bool]:
    """Play against a known answer: wrong guesses, and whether every word was found.

    `truth` names every word of the answer; a board whose cover is not among those listed ends when
    no listed cover agrees with what was heard.
    """
    play = Play(covers)
    while len([word for word in truth if word in play.heard]) < len(truth):
        word = play.guess()
        if word is None:
            return play.wrong_count, False
        play.hear(word, truth.get(word, WRONG))
    return play.wrong_count, True


def play_in_order(words: Sequence[str], truth: Mapping[str, Answer]) -> tuple[int, bool]:
    """Guess words in a fixed order: wrong guesses up to the last right one, and whether it came."""
    left, wrong = set(truth), 0
    for word in words:
        if not left:
            break
        if word in left:
            left.remove(word)
        else:
            wrong += 1
    return wrong, not left
