"""3D matching: triples of which some hold every element of three sets exactly once."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from solvers.errors import PermanentError

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


def matchings(instance: ThreeDMatching) -> Iterator[tuple[int, ...]]:
    """Find every matching as ascending indexes of triples, by trying the triples of each
    first element in turn.
    """
    by_first: list[list[int]] = [[] for _ in range(instance.size)]
    for i, triple in enumerate(instance.triples):
        by_first[triple[0]].append(i)

    def extend(first: int, second: frozenset[int], third: frozenset[int]) -> Iterator[list[int]]:
        if first == instance.size:
            yield []
            return
        for i in by_first[first]:
            _, b, c = instance.triples[i]
            if b not in second and c not in third:
                for rest in extend(first + 1, second | {b}, third | {c}):
                    yield [i, *rest]

    return (tuple(chosen) for chosen in extend(0, frozenset(), frozenset()))


def all_three_d_matchings(size: int, triples: int) -> Iterator[ThreeDMatching]:
    """List every instance with that many triples over sets of that size."""
    elements = range(size)
    every = [(a, b, c) for a in elements for b in elements for c in elements]
    for chosen in itertools.combinations(every, triples):
        yield ThreeDMatching(size=size, triples=chosen)


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
