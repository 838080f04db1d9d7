"""Subset sum: positive integers of which some add up to a target."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from nightgrid.solvers.errors import PermanentError


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetSum:
    """A multiset of positive integers and a target of 0 or more.

    Raises PermanentError naming the number that is none.
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


def random_subset_sum(count: int, most: int, seed: int, *, planted: bool) -> SubsetSum:
    """Draw numbers from 1 to `most`; the target is the sum of some of them if `planted`, else a
    number that may be one.
    """
    if count < 1 or most < 1:
        raise PermanentError(f"{count} numbers up to {most}; expected at least 1 of each")
    draw = random.Random(seed)
    numbers = tuple(draw.randint(1, most) for _ in range(count))
    if planted:
        target = sum(number for number in numbers if draw.random() < 0.5)
    else:
        target = draw.randint(0, sum(numbers))
    return SubsetSum(numbers=numbers, target=target)
