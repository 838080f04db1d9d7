"""How likely a language model finds the spangram after the clue, and the theme words after both.

Likeness of single words misses their joint meaning. A language model, prompted with a few made-up
puzzles, reads the clue and then a cover, and returns their probabilities. Reading is slow, so it
only reads the likeliest covers so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.ranking.meaning import Meanings

F64 = npt.NDArray[np.float64]

READ = 12
"""Most covers that are read, the likeliest so far."""
NATS_BEHIND = 6.0
"""Covers further behind the likeliest are not read."""
SO_FAR = "so_far"
"""Name of the weight of a cover's score so far."""
THEME = ("told_spangram", "told_theme")
"""Log probability, in nats, of the spangram after the clue, and of the theme words after both."""
SIGNAL = "read by the language model"
EXAMPLES = """\
Word puzzles. Each has a hint, an answer, and a list of words that belong to the answer.

Hint: Straight from the oven
Answer: baked goods
Words: muffin, croissant, bread, scone, bagel, biscuit

Hint: Up, up and away!
Answer: flying machines
Words: helicopter, airplane, rocket, balloon, glider, zeppelin

Hint: Not a dry eye in the house
Answer: waterworks
Words: weep, bawl, sniffle, blubber, whimper, snivel

Hint: Bright lights, big city
Answer: las vegas strip
Words: casino, fountain, neon, buffet, jackpot, dealer

Hint: Under the hood
Answer: car parts
Words: engine, battery, radiator, piston, alternator, gasket

Hint: Quiet, please
Answer: librarian
Words: shelf, catalog, archive, loan, whisper, reference

Hint: Knock on it
Answer: types of wood
Words: maple, cedar, walnut, ebony, birch, mahogany

Hint: It takes two
Answer: perfect pairs
Words: socks, salt, thunder, bow, cheese, lock

Hint:"""
"""Made-up puzzles for the model: they show what a hint, an answer and words are."""
NO_CLUE = "What is it?"


def theme_features(
    scores: F64, words: Sequence[Sequence[int]], spangrams: Sequence[Sequence[str]],
    clue: str | None, meanings: Meanings,
) -> F64:  # fmt: skip
    """List the features THEME of covers, given their scores so far: float64[covers, THEME].

    `words` are the theme words of each cover by index, `spangrams` the components of each spangram.
    Features of read covers are relative to their mean; those of others are 0, so that being read
    favours no cover.
    """
    rows = np.zeros((len(scores), len(THEME)))
    read = np.argsort(-scores, kind="stable")[:READ]
    read = read[scores[read] >= scores.max(initial=-np.inf) - NATS_BEHIND]
    if len(read) < 2:
        return rows
    phrases = [" ".join(spangrams[i]).lower() for i in read]
    themes = in_order(phrases, [[meanings.text_of(word) for word in words[i]] for i in read])
    texts = [
        [f" {clue or NO_CLUE}\nAnswer:", f" {phrase}\n", f"Words: {', '.join(theme)}\n"]
        for phrase, theme in zip(phrases, themes, strict=True)
    ]
    chances = np.array(meanings.language.log_chances(EXAMPLES, texts))
    rows[read] = chances[:, 1:] - chances[:, 1:].mean(axis=0)
    return rows


def in_order(phrases: Sequence[str], themes: Sequence[Sequence[str]]) -> list[list[str]]:
    """Order the words of each cover: words that most covers of its spangram share come first.

    So covers have long common prefixes, which are read once.
    """
    counts: dict[str, Counter[str]] = {}
    for phrase, theme in zip(phrases, themes, strict=True):
        counts.setdefault(phrase, Counter()).update(theme)
    return [
        sorted(theme, key=lambda word: (-counts[phrase][word], word))
        for phrase, theme in zip(phrases, themes, strict=True)
    ]
