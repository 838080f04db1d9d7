"""3D matching: triples of which some hold every element of three sets exactly once."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from nightgrid.solvers.errors import PermanentError

SIZE_MAX = 100_000

Triple = tuple[int, int, int]
"""An element of each of three sets, each counted from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreeDMatching:
    """Three sets of `size` elements and triples of them (article 000, Definition 12).

    Triples are sorted, each kept once. Raises PermanentError naming the triple that is none.
    """

    size: int
    triples: tuple[Triple, ...]

    def __post_init__(self) -> None:
        if not 1 <= self.size <= SIZE_MAX:
            raise PermanentError(f"the sets have {self.size} elements; expected 1 to {SIZE_MAX}")
        for number, triple in enumerate(self.triples, 1):
            if not all(0 <= element < self.size for element in triple):
                shown = " ".join(str(element + 1) for element in triple)
                raise PermanentError(
                    f"triple {number} is {shown!r}; expected three numbers from 1 to {self.size}"
                )
        object.__setattr__(self, "triples", tuple(sorted(set(self.triples))))


def check_matching(instance: ThreeDMatching, chosen: Sequence[int]) -> None:
    """Raise PermanentError unless the triples with those indexes hold every element once."""
    for kind in range(3):
        elements = sorted(instance.triples[i][kind] for i in chosen)
        if elements != list(range(instance.size)):
            raise PermanentError(
                f"the triples hold elements {[e + 1 for e in elements]} of set {kind + 1};"
                f" expected each from 1 to {instance.size} once"
            )


def random_three_d_matching(size: int, triples: int, seed: int, *, planted: bool) -> ThreeDMatching:
    """Draw different triples at random; if `planted`, some of them are a matching."""
    if triples > size**3 or (planted and triples < size):
        raise PermanentError(
            f"{triples} triples over sets of {size}; expected {size if planted else 0} to {size**3}"
        )
    draw = random.Random(seed)
    chosen: set[Triple] = set()
    if planted:
        second, third = draw.sample(range(size), size), draw.sample(range(size), size)
        chosen = set(zip(range(size), second, third, strict=True))
    while len(chosen) < triples:
        chosen.add((draw.randrange(size), draw.randrange(size), draw.randrange(size)))
    return ThreeDMatching(size=size, triples=tuple(chosen))
