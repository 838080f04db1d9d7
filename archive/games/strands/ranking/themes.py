"""How near the theme words, read together as one text, are to the spangram and to the clue.

Likeness of words one by one misses what they say together. Reading takes time, so that only the
few covers are read that are the likeliest so far.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.ranking.meaning import Meanings

F64 = npt.NDArray[np.float64]

READ = 5
"""Covers that are read: the likeliest before."""
SO_FAR = "so_far"
"""Names the weight of what a cover scored before."""
THEME = ("theme_spangram", "theme_clue", "titled_theme", "titled_spangram")
"""Likeness of the theme as one text to the spangram and to the clue; of the text "spangram: theme"
to the theme and to the spangram."""
SIGNAL = "theme as one text"


def theme_features(
    scores: F64, words: Sequence[Sequence[int]], spangrams: Sequence[Sequence[str]],
    clue: str | None, meanings: Meanings,
) -> F64:  # fmt: skip
    """List the features THEME of covers, given what each scored so far: float64[covers, THEME].

    `words` are the theme words of each cover by index, `spangrams` the components of each spangram.
    Features of the covers that are read are against the mean of these; those of others are 0, so
    that being read favours no cover.
    """
    rows = np.zeros((len(scores), len(THEME)))
    read = np.argsort(-scores, kind="stable")[:READ]
    if not len(read):
        return rows
    themes = [", ".join(meanings.text_of(word) for word in words[i]) for i in read]
    phrases = [" ".join(spangrams[i]).lower() for i in read]
    titled = meanings.embed([f"{a}: {b}" for a, b in zip(phrases, themes, strict=True)])
    as_one, titles = meanings.embed(themes), meanings.embed(phrases)
    rows[read, 0] = (as_one * titles).sum(axis=1)
    rows[read, 2] = (titled * as_one).sum(axis=1)
    rows[read, 3] = (titled * titles).sum(axis=1)
    if clue:
        rows[read, 1] = as_one @ meanings.embed([clue.lower()])[0]
    rows[read] -= rows[read].mean(axis=0)
    return rows
