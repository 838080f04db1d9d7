"""Fit weights on lists of covers: of the search, of whole covers, of what the model reads.

What is fitted first is an input of what is fitted next, so that the second fit takes, for each
block of dates, the first one fitted without it. Ridges are chosen by cross-validation over the
blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.strands_fit import start
from benchmarks.strands_fit.data import BLOCKS, block_of, generator, say
from benchmarks.strands_fit.learn import Choice, chances, learn, learn_plda
from benchmarks.strands_fit.lists import (
    MAIN_DIRECTIONS,
    NAMES,
    Listed,
    features_of,
    main_directions,
    meaning_sums,
    rescored,
)
from nightgrid.archive.games.strands.ranking.features import FEATURES, Learned, texts_of
from nightgrid.archive.games.strands.ranking.meaning import Meanings
from nightgrid.archive.games.strands.ranking.phrases import Phrases
from nightgrid.archive.games.strands.ranking.plda import Plda
from nightgrid.archive.games.strands.ranking.ranker import LISTED
from nightgrid.archive.games.strands.ranking.themes import THEME, theme_features

F64 = npt.NDArray[np.float64]
Ridges = tuple[float, float]
"""On what is weighed, and on directions of likeness to board words; 0 for none."""
SEARCH_RIDGES = (30.0, 100.0, 300.0)
"""One of 10 gains no first cover in all stages on the early boards (docs/adr/0040)."""
MEANING_RIDGES = (100.0, 300.0, 1000.0)
"""Ridges on the directions of likeness to board words."""
COVER_RIDGES = (3.0, 10.0, 30.0, 100.0)
THEME_RIDGES = (0.3, 1.0, 3.0, 10.0)
PLDA_DIRECTIONS = 80
BACKGROUND_WORDS, BACKGROUND_OF = 8000, 60_000
"""Words, drawn from the commonest, that PLDA tells the words of a theme from."""


class Fit:
    """Everything that is fitted on some lists."""

    def __init__(
        self, listed: list[Listed], meanings: Meanings, phrases: Phrases,
        ridges: Mapping[str, Ridges] | None = None,
    ) -> None:  # fmt: skip
        """Take lists by date. Phrases come from a list of English, not from boards.

        `ridges` are known for what they name; others are chosen.
        """
        self.meanings = meanings
        self.phrases = phrases
        self.listed = listed
        self.ridges = dict(ridges or {})
        self.block = [block_of(i, len(listed)) for i in range(len(listed))]
        self.directions = main_directions(meanings)
        self.sums = [
            np.hstack([one.sums, meaning_sums(one, meanings, self.directions)]) for one in listed
        ]
        # A term that no board teaches keeps its weight, that of a prior included.
        known = start.SCORE.weights()
        self.origin = np.array([known[name] for name in NAMES])
        vectors = meanings.vectors
        common = min(BACKGROUND_OF, len(vectors.words))
        count = min(BACKGROUND_WORDS, common)
        rows = np.sort(generator(0).choice(common, count, replace=False))
        self.background = vectors.centred(vectors.of_rows(rows))
        self.report: dict[str, Any] = {}

    def before(self, count: int) -> Fit:
        """Fit on the first lists alone: what is known on a date."""
        return Fit(self.listed[:count], self.meanings, self.phrases)

    def with_more(self, listed: list[Listed]) -> Fit:
        """Take later lists, too, under the ridges that were chosen here."""
        return Fit([*self.listed, *listed], self.meanings, self.phrases, self.ridges)

    def _without(self, block: int | None) -> list[int]:
        return [i for i, own in enumerate(self.block) if own != block]

    def choices(self, *, alone: bool) -> list[Choice]:
        """Put the sums of lists as choices; `alone`: without what the model knows of words."""
        keep = np.ones(len(NAMES) + MAIN_DIRECTIONS)
        if alone:
            keep[[NAMES.index("clue"), NAMES.index("spangram_clue")]] = 0
            keep[len(NAMES) :] = 0
        return [
            Choice(features=sums * keep, meant=np.array(one.meant, np.int64))
            for sums, one in zip(self.sums, self.listed, strict=True)
        ]

    def search(self, *, alone: bool) -> tuple[F64, list[F64]]:
        """Fit the additive weights: on all boards, and without each block."""
        choices = self.choices(alone=alone)
        origin = np.concatenate([self.origin, np.zeros(MAIN_DIRECTIONS)])

        def fitted(rows: list[int], ridge: float, meaning: float) -> F64:
            ridges = np.concatenate([np.full(len(NAMES), ridge), np.full(MAIN_DIRECTIONS, meaning)])
            return learn([choices[i] for i in rows], ridges, origin)

        options = [(r, m) for r in SEARCH_RIDGES for m in MEANING_RIDGES[: 1 if alone else None]]
        ridge, meaning, folds = self._chosen(
            "search alone" if alone else "search", options, choices, fitted
        )
        return fitted(self._without(None), ridge, meaning), folds

    def _chosen(
        self, what: str, options: list[Ridges], choices: list[Choice], fitted: Any
    ) -> tuple[float, float, list[F64]]:
        best: tuple[float, Ridges, list[F64]] | None = None
        trials = {}
        for option in [self.ridges[what]] if what in self.ridges else options:
            folds = [fitted(self._without(block), *option) for block in range(BLOCKS)]
            own = [folds[block] for block in self.block]
            nats, first = judged(choices, own)
            say(f"{what} {option}: {nats:.4f} nats, first {first:.3f}")
            trials[" ".join(f"{value:g}" for value in option if value)] = round(nats, 4)
            if best is None or nats > best[0]:
                best = nats, option, folds
                self.report[what] = {"ridge": option[0], "nats": round(nats, 4),
                                     "first": round(first, 4), "trials": trials}  # fmt: skip
        assert best is not None
        self.ridges[what] = best[1]
        return *best[1], best[2]

    def plda(self, block: int | None) -> Plda:
        """Learn what words of one theme are like from the official sets of all other blocks."""
        vectors = self.meanings.vectors
        sets = []
        for i in self._without(block):
            board = self.listed[i].board
            words = sorted(word.lower() for word in board.official - {board.spangram})
            sets.append(vectors.centred(self.meanings.embed(words)))
        return learn_plda(sets, self.background, PLDA_DIRECTIONS)

    def learned(self, block: int | None) -> Learned:
        """Put together what features of covers are taken with, learned without a block."""
        return Learned(plda=self.plda(block), phrases=self.phrases)

    def cover_choices(self, folds: list[F64]) -> list[Choice]:
        """Take the features of covers on lists that are ordered without their own block."""
        learned = [self.learned(block) for block in range(BLOCKS)]
        choices = []
        for i, one in enumerate(self.listed):
            block = self.block[i]
            rows, meant = features_of(
                one, self.sums[i] @ folds[block], LISTED, self.meanings, learned[block]
            )
            choices.append(Choice(features=rows, meant=meant))
            if i % 50 == 49:
                say(f"features of {i + 1} of {len(self.listed)}")
        return choices

    def covers(self, folds: list[F64]) -> tuple[F64, list[F64], list[Choice]]:
        """Fit the weights of covers, given the search's weights without each block."""
        choices = self.cover_choices(folds)
        origin = np.array([float(name == "additive") for name in FEATURES])

        def fitted(rows: list[int], ridge: float, _: float) -> F64:
            return learn([choices[i] for i in rows], ridge, origin)

        options = [(ridge, 0.0) for ridge in COVER_RIDGES]
        ridge, _, own = self._chosen("covers", options, choices, fitted)
        return fitted(self._without(None), ridge, 0.0), own, choices

    def themes(self, folds: list[F64], own: list[F64], choices: list[Choice]) -> F64:
        """Fit what the language model reads weighs, on scores that do not know their own block."""
        read = []
        for i in range(len(self.listed)):
            block = self.block[i]
            read.append(self.as_read(i, folds[block], own[block], choices[i]))
            if i % 50 == 49:
                say(f"themes of {i + 1} of {len(self.listed)}")
        return self.theme_weights(read)

    def as_read(self, i: int, search: F64, cover: F64, choice: Choice) -> Choice:
        """Have the language model read the likeliest covers of a list: the score so far, THEME."""
        one = self.listed[i]
        scores = choice.features @ cover
        covers, _ = rescored(one, self.sums[i] @ search, LISTED)
        texts = texts_of(one.board.ranked, covers, self.meanings.vocabulary)
        rows = theme_features(scores, texts.words, texts.spangrams, one.board.clue, self.meanings)
        return Choice(features=np.column_stack([scores, rows]), meant=choice.meant)

    def theme_weights(self, read: list[Choice]) -> F64:
        """Fit the weights of the score so far and of THEME, before a temperature divides them."""
        origin = np.array([1.0] + [0.0] * len(THEME))

        def fitted(rows: list[int], ridge: float, _: float) -> F64:
            return learn([read[i] for i in rows], ridge, origin)

        options = [(ridge, 0.0) for ridge in THEME_RIDGES]
        ridge, _, _ = self._chosen("theme", options, read, fitted)
        return fitted(self._without(None), ridge, 0.0)


def judged(choices: list[Choice], weights: list[F64]) -> tuple[float, float]:
    """Judge weights, one array a board: mean nats of the meant cover, share of it first."""
    nats, first = [], 0
    for choice, own in zip(choices, weights, strict=True):
        if len(choice.meant):
            share = chances(choice, own)
            nats.append(np.log(share[choice.meant].sum()))
            first += int(np.argmax(share)) in choice.meant
    return float(np.mean(nats)), first / len(choices)
