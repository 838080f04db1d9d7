"""Play a board: propose a word, receive the answer, and update.

The state is a list of covers with probabilities, and for each cover the probability of each word to
be the spangram. Chances are the posterior over this list given all answers, by Bayes' rule. When
little probability is left, the covers of the board are searched and ranked again under all answers.
That gives a new list with new probabilities, not a posterior of the first list: the ranking does
not know the answers, it only ranks covers that agree with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Answer = Literal["theme word", "spangram", "not in the list"]
"""The game's answer to a guess."""
WRONG: Answer = "not in the list"
WRONG_A_HINT = 3
"""Number of words not in the list that earn a hint."""
HINT_BELOW = 0.5
"""An earned hint is taken if no word is as likely as this: the next guess is then more likely wrong
than right. It was not fitted."""
SEARCH_BELOW = 0.1
"""Covers are searched again when those that agree had together less than this probability.

The list of 100 lacks the meant cover of 1 to 2 boards in 100 (benchmarks/RESULTS.md, strands-rank).
By Bayes' rule a share of 0.02 that is not listed weighs, against 0.1 that is left, at most one in
six; below that it may be the likelier one. It was not fitted: a search takes about a second, and a
larger number searches after more answers."""
ROLE_ERROR = 0.02
"""Probability that scores are uninformative about the spangram: each word that may be it is then
equally likely. So no answer removes a cover with the right spanning words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Possible:
    """A cover that may be the one that was meant."""

    spangram: str
    theme_words: frozenset[str]
    probability: float
    cells: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Cells of words; a word without an entry may be anywhere."""
    spans: frozenset[str] | None = None
    """Words that touch two opposite sides, each of which may be the spangram; None: any may."""
    roles: Mapping[str, float] = field(default_factory=dict)
    """Probability of each word to be the spangram, by scores; sums to 1. Empty if only `spangram`
    may be."""

    @property
    def words(self) -> frozenset[str]:
        """All words. Which of them is the spangram may be open: two may span the board."""
        return self.theme_words | {self.spangram}

    def role_chances(self) -> dict[str, float]:
        """Return the probability of each word to be the spangram, if this cover was meant."""
        may = self.words if self.spans is None else self.spans | {self.spangram}
        told = self.roles or {self.spangram: 1.0}
        return {
            word: (1 - ROLE_ERROR) * told.get(word, 0.0) + ROLE_ERROR / len(may)
            for word in sorted(may)
        }

    def spangrams_given(self, answers: Mapping[str, Answer]) -> dict[str, float]:
        """Return the probability of each spangram that is consistent with all these answers.

        They sum to the probability of the answers if this cover was meant.
        """
        if any((word in self.words) is (answer == WRONG) for word, answer in answers.items()):
            return {}
        roles = {word: answer for word, answer in answers.items() if answer != WRONG}
        return {
            spangram: chance
            for spangram, chance in self.role_chances().items()
            if all((word == spangram) is (said == "spangram") for word, said in roles.items())
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """All answers about a board so far."""

    answers: Mapping[str, Answer]
    cells: Mapping[str, frozenset[int]]
    """Cells of words of the list, as far as known."""
    hints: tuple[frozenset[int], ...]
    """Cells of one word each."""

    def agrees(self, cover: Possible) -> bool:
        """Return whether a cover agrees with the answers."""
        return (
            bool(cover.spangrams_given(self.answers))
            and all(cover.cells.get(word, at) == at for word, at in self.cells.items())
            and all(_has_word_on(cover, hint) for hint in self.hints)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """A proposed word."""

    word: str
    chance: float
    """Probability that it is in the list."""
    spangram_chance: float
    """Probability that it is the spangram."""
    cells: frozenset[int]
    """Its cells in the likeliest cover that has it; empty if unknown."""

    @property
    def role(self) -> str:
        """Its more likely role, if it is in the list."""
        return "spangram" if 2 * self.spangram_chance > self.chance else "theme word"


Search = Callable[[Known], Sequence[Possible]]
"""Lists covers of the board that agree with the answers so far."""


class Play:
    """One board while it is being played."""

    def __init__(self, covers: Sequence[Possible], search: Search | None = None) -> None:
        self.covers = list(covers)
        self.heard: dict[str, Answer] = {}
        self.cells: dict[str, frozenset[int]] = {}
        self.hints: list[frozenset[int]] = []
        self._search = search
        self._mass = sum(cover.probability for cover in covers)

    @property
    def known(self) -> Known:
        """All answers so far."""
        return Known(answers=dict(self.heard), cells=dict(self.cells), hints=tuple(self.hints))

    @property
    def is_solved(self) -> bool:
        """Whether every word of a remaining cover has been found."""
        right = set(self.found)
        return any(cover.words <= right for cover in self.covers)

    @property
    def found(self) -> list[str]:
        """Words of the list that were guessed."""
        return [word for word, answer in self.heard.items() if answer != WRONG]

    @property
    def wrong_count(self) -> int:
        """How many guesses were not in the list."""
        return sum(answer == WRONG for answer in self.heard.values())

    @property
    def hint_count(self) -> int:
        """How many hints were taken."""
        return len(self.hints)

    @property
    def hints_earned(self) -> int:
        """How many hints may be taken now."""
        return self.wrong_count // WRONG_A_HINT - len(self.hints)

    def chances(self) -> dict[str, float]:
        """Return the probability of each word not guessed to be on the board's list."""
        weights = self._weights()
        total = sum(weights)
        chances: dict[str, float] = {}
        for cover, weight in zip(self.covers, weights, strict=True):
            for word in (cover.spangram, *sorted(cover.theme_words)):
                if word not in self.heard:
                    chances[word] = chances.get(word, 0.0) + weight
        return {word: mass / total for word, mass in chances.items()} if total else chances

    def spangram_chance(self, word: str) -> float:
        """Return the probability that a word is the spangram."""
        total = sum(self._weights())
        given = (
            cover.probability * cover.spangrams_given(self.heard).get(word, 0.0)
            for cover in self.covers
        )
        return sum(given) / total if total else 0.0

    def guess(self) -> str | None:
        """Return the likeliest word, the alphabetically first of equals; None without any."""
        chances = self.chances()
        return min(chances, key=lambda word: (-chances[word], word)) if chances else None

    def proposal(self) -> Guess | None:
        """Return the likeliest word, with its role and its cells."""
        word = self.guess()
        if word is None:
            return None
        weighed = zip(self._weights(), self.covers, strict=True)
        having = [(weight, cover) for weight, cover in weighed if word in cover.words]
        _, likeliest = max(having, key=lambda pair: pair[0])
        return Guess(
            word=word,
            chance=self.chances()[word],
            spangram_chance=self.spangram_chance(word),
            cells=likeliest.cells.get(word, frozenset()),
        )

    def _weights(self) -> list[float]:
        """Return each cover's weight: its probability times that of the answers given it."""
        return [
            cover.probability * sum(cover.spangrams_given(self.heard).values())
            for cover in self.covers
        ]

    @property
    def wants_hint(self) -> bool:
        """Whether a hint is earned and more informative than a guess."""
        if self.hints_earned < 1:
            return False
        return max(self.chances().values(), default=0.0) < HINT_BELOW

    def hear(self, word: str, answer: Answer, cells: frozenset[int] | None = None) -> None:
        """Keep the covers that agree with an answer, and with the cells of the word if given."""
        self.heard[word] = answer
        if cells and answer != WRONG:
            self.cells[word] = cells
        self._condition()

    def take_hint(self, cells: frozenset[int]) -> None:
        """Keep the covers in which one word, not found yet, has these cells."""
        self.hints.append(cells)
        self._condition()

    def _condition(self) -> None:
        known = self.known
        self.covers = [cover for cover in self.covers if known.agrees(cover)]
        if self._search is None or sum(self._weights()) >= SEARCH_BELOW * self._mass:
            return
        self.covers = [cover for cover in self._search(known) if known.agrees(cover)]
        self._mass = sum(self._weights())


def _has_word_on(cover: Possible, hint: frozenset[int]) -> bool:
    """Return whether a word of a cover has the cells of a hint, as far as known."""
    return len(cover.cells) < len(cover.words) or hint in cover.cells.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """Summary of a played board."""

    wrong: int
    hints: int
    solved: bool
    guesses: tuple[tuple[Guess, Answer], ...] = ()


def play_board(
    play: Play,
    truth: Mapping[str, Answer],
    cells: Mapping[str, frozenset[int]] | None = None,
    on_guess: Callable[[Guess, Answer], object] | None = None,
    on_hint: Callable[[frozenset[int]], object] | None = None,
) -> Played:
    """Play against a known answer, with hints if `cells` has the cells of its words.

    `truth` has every word of the answer. A hint shows the first theme word that is not found.
    """
    cells = cells or {}
    guesses: list[tuple[Guess, Answer]] = []
    while len(play.found) < len(truth):
        hint = _next_hint(play, truth, cells)
        if hint is not None and play.wants_hint:
            if on_hint is not None:
                on_hint(hint)
            play.take_hint(hint)
            continue
        guess = play.proposal()
        if guess is None:
            break
        answer = truth.get(guess.word, WRONG)
        guesses.append((guess, answer))
        if on_guess is not None:
            on_guess(guess, answer)
        play.hear(guess.word, answer, cells.get(guess.word))
    return Played(
        wrong=play.wrong_count,
        hints=play.hint_count,
        solved=len(play.found) == len(truth),
        guesses=tuple(guesses),
    )


def _next_hint(
    play: Play, truth: Mapping[str, Answer], cells: Mapping[str, frozenset[int]]
) -> frozenset[int] | None:
    for word, answer in truth.items():
        shown = cells.get(word)
        if answer == "theme word" and word not in play.heard and shown and shown not in play.hints:
            return shown
    return None
