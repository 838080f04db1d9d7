"""Selection problems: 3D matching and subset sum.

3D matching chooses triples that hold every element of three sets exactly once, subset sum positive
integers that add up to a target.
"""

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

    Triples are sorted, each kept once. Raises PermanentError naming an invalid triple.
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


def random_three_d_matching(size: int, triples: int, seed: int) -> ThreeDMatching:
    """Draw different triples at random, some of which are a matching."""
    if not size <= triples <= size**3:
        raise PermanentError(f"{triples} triples over sets of {size}; expected {size} to {size**3}")
    draw = random.Random(seed)
    second, third = draw.sample(range(size), size), draw.sample(range(size), size)
    chosen: set[Triple] = set(zip(range(size), second, third, strict=True))
    while len(chosen) < triples:
        chosen.add((draw.randrange(size), draw.randrange(size), draw.randrange(size)))
    return ThreeDMatching(size=size, triples=tuple(chosen))


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetSum:
    """A multiset of positive integers and a target of 0 or more.

    Raises PermanentError naming an invalid number.
    """

    numbers: tuple[int, ...]
    target: int

    def __post_init__(self) -> None:
        if not self.numbers:
            raise PermanentError("there are no numbers; expected at least one")
        for i, number in enumerate(self.numbers, 1):
            if number < 1:
                raise PermanentError(f"number {i} is {number}; expected a positive integer")
        if self.target < 0:
            raise PermanentError(f"the target is {self.target}; expected 0 or more")


def check_subset(instance: SubsetSum, chosen: Sequence[int]) -> None:
    """Raise PermanentError unless the numbers with those indexes add up to the target."""
    if len(set(chosen)) != len(chosen):
        raise PermanentError("a number is taken twice")
    total = sum(instance.numbers[i] for i in chosen)
    if total != instance.target:
        raise PermanentError(f"the numbers add up to {total}; expected {instance.target}")


def random_subset_sum(count: int, most: int, seed: int) -> SubsetSum:
    """Draw numbers from 1 to `most`; the target is the sum of some of them."""
    if count < 1 or most < 1:
        raise PermanentError(f"{count} numbers up to {most}; expected at least 1 of each")
    draw = random.Random(seed)
    numbers = tuple(draw.randint(1, most) for _ in range(count))
    target = sum(number for number in numbers if draw.random() < 0.5)
    return SubsetSum(numbers=numbers, target=target)
