"""How well each theme word fits the rest of its cover, summed over the words.

A mean over all pairs hides one word that is out of place. Here each word is compared with the
others without it, and what it adds is a broken line of its likeness: a sum of the likeness itself
and of the likeness cut off at a few heights.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

BREAKS: dict[str, tuple[float, ...]] = {
    "fits": (0.1, 0.2, 0.3),
    "nearest": (0.1, 0.2, 0.3),
    "near_spangram": (0.0, 0.1, 0.2),
    "joins": (-5.0, 0.0, 5.0, 10.0),
}
"""Where lines break: likeness to the sum of the other words and the spangram; to the nearest other
word; to the spangram; and how much likelier the word is given the others (in nats, PLDA)."""
FIT = tuple(
    name
    for line, breaks in BREAKS.items()
    for name in (line, *(f"{line}_to_{at:g}" for at in breaks))
)


def fit_features(words: F32, likeness: F32, spangram: F32, joins: F64) -> list[float]:
    """List the features FIT of a cover.

    `words` are its theme words' centred vectors, `likeness` float32[words, words] their products,
    `spangram` the spangram's vector.
    """
    count = len(words)
    rest = words.sum(axis=0) - words + spangram
    rest /= np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), 1e-9)
    others = np.where(np.eye(count, dtype=np.bool_), -1, likeness)
    lines = {
        "fits": (words * rest).sum(axis=1),
        "nearest": others.max(axis=1) if count > 1 else np.zeros(1),
        "near_spangram": words @ spangram,
        "joins": joins,
    }
    values = []
    for line, breaks in BREAKS.items():
        own = lines[line]
        values += [own.sum(), *(np.minimum(own, at).sum() for at in breaks)]
    return [float(value) for value in values]
