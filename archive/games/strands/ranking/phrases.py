"""How well two words form a phrase that is in no list.

Lists of phrases are short: SALAD GREENS is in one, YOGA POSES is not. So a small network learned
from such a list which vectors precede which, against the same words swapped and against random
words. It distinguishes ROTARY PHONE from PHONE ROTARY and YOGA POSES from TREE POSES.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]

PHRASE = ("phrase", "phrase_least", "phrase_sum", "order", "order_least")
"""Features of a spangram of several words: scores of its neighbours in this order (mean, least,
sum), and minus their scores swapped (mean, least). 0 for one word."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Phrases:
    """A network of one hidden layer, plus a product of both words."""

    main: F32
    """float32[DIMENSIONS, directions]: projection of centred word vectors."""
    first: F32
    """float32[directions, hidden]."""
    second: F32
    """float32[directions, hidden]."""
    bias: F32
    """float32[hidden]."""
    out: F32
    """float32[hidden]."""
    product: F32
    """float32[directions, directions]."""
    shift: F32
    """float32[1]."""

    def scores(self, first: F32, second: F32) -> F32:
        """Score centred vectors of words in a row, in nats: float32[pairs]."""
        a, b = first @ self.main, second @ self.main
        hidden = np.maximum(a @ self.first + b @ self.second + self.bias, 0)
        scores: F32 = hidden @ self.out + ((a @ self.product) * b).sum(axis=1) + self.shift[0]
        return scores

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by name, as a file stores them."""
        return {f"phrases_{field.name}": getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Phrases:
        """Rebuild from the arrays of `arrays`."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: arrays[f"phrases_{name}"].astype(np.float32) for name in names})


def phrase_features(
    phrases: Phrases, parts: Sequence[Sequence[str]], vectors: Mapping[str, F32]
) -> list[tuple[float, ...]]:
    """Compute the features PHRASE of spangrams, given their words and the words' vectors."""
    pairs = list(dict.fromkeys(pair for words in parts for pair in pairwise(words)))
    if not pairs:
        return [(0.0,) * len(PHRASE) for _ in parts]
    first = np.array([vectors[a] for a, _ in pairs])
    second = np.array([vectors[b] for _, b in pairs])
    straight = phrases.scores(first, second)
    better = straight - phrases.scores(second, first)
    at = {pair: i for i, pair in enumerate(pairs)}
    rows = []
    for words in parts:
        own = [at[pair] for pair in pairwise(words)]
        if own:
            s, o = straight[own], better[own]
            values = s.mean(), s.min(), s.sum(), o.mean(), o.min()
            rows.append(tuple(float(value) for value in values))
        else:
            rows.append((0.0,) * len(PHRASE))
    return rows
