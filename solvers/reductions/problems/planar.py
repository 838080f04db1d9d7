"""Formulas drawn in the plane: variables on a line, clauses with three legs above and below it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reductions.problems.formula import Clause, Demand, Formula, planted_values

DRAWINGS = 100
"""Random drawings that are tried for one with room for the requested number of clauses."""


@dataclass(frozen=True, kw_only=True)
class PlanarFormula:
    """A formula with its rectilinear embedding (article 000, Definition 15).

    Raises PermanentError if two clauses on one side of the line cross.
    """

    formula: Formula
    order: tuple[int, ...]
    """The variables from left to right."""
    above: tuple[bool, ...]
    """For every clause, whether it is above the line."""

    def __post_init__(self) -> None:
        if sorted(self.order) != list(range(self.formula.variables)):
            raise PermanentError("an embedding's order does not name every variable once")
        if len(self.above) != len(self.formula.clauses):
            raise PermanentError("an embedding does not give every clause a side")
        for i, one in enumerate(self.spans):
            for j in range(i):
                if self.above[i] == self.above[j] and crosses(one, self.spans[j]):
                    raise PermanentError(
                        f"clauses {j + 1} and {i + 1} cross in the embedding; expected them on"
                        " different sides or one between two legs of the other"
                    )

    @cached_property
    def spans(self) -> tuple[Clause, ...]:
        """The positions of each clause's variables on the line, ascending."""
        place = {variable: i for i, variable in enumerate(self.order)}
        return tuple(span_of(clause, place) for clause in self.formula.clauses)

    @cached_property
    def inner(self) -> tuple[tuple[int, ...], ...]:
        """For every clause, those between its legs and the line."""
        return tuple(
            tuple(
                j
                for j, other in enumerate(self.spans)
                if self.above[i] == self.above[j] and lies_within(other, span)
            )
            for i, span in enumerate(self.spans)
        )

    @cached_property
    def inside_out(self) -> tuple[int, ...]:
        """The clauses in an order in which each comes after those inside it."""
        return tuple(sorted(range(len(self.spans)), key=lambda i: len(self.inner[i])))

    def legs(self, place: int, *, above: bool) -> tuple[int, ...]:
        """List the clauses that have a leg at a position of the line, on one side, left to right.

        First those that end there, from the inside out; then the one whose middle leg is there;
        then those that start there, from the outside in.
        """
        rank: list[tuple[int, int, int]] = []
        for i, (left, middle, right) in enumerate(self.spans):
            if self.above[i] != above or place not in (left, middle, right):
                continue
            if place == right:
                rank.append((0, right - left, i))
            elif place == middle:
                rank.append((1, 0, i))
            else:
                rank.append((2, left - right, i))
        return tuple(i for _, _, i in sorted(rank))


def span_of(clause: Clause, place: dict[int, int]) -> Clause:
    """Return the positions of a clause's variables, ascending."""
    a, b, c = sorted(place[variable] for variable in clause)
    return a, b, c


def lies_within(inner: Clause, outer: Clause) -> bool:
    """Return whether a clause fits between two neighbouring legs of another."""
    left, middle, right = outer
    return (left <= inner[0] and inner[2] <= middle) or (middle <= inner[0] and inner[2] <= right)


def crosses(one: Clause, other: Clause) -> bool:
    """Return whether two clauses cannot be drawn on one side of the line."""
    apart = one[2] <= other[0] or other[2] <= one[0]
    return not (apart or lies_within(one, other) or lies_within(other, one))


def random_planar_formula(variables: int, clauses: int, seed: int, demand: Demand) -> PlanarFormula:
    """Draw a formula that can be satisfied, together with its embedding.

    On each side of the line neighbouring stretches are joined at random, each join being a
    clause if a planted assignment satisfies it, until one stretch is left; such joins are
    preferred. Of these clauses the wanted number is drawn. Raises PermanentError where there is no
    room for that many.
    """
    if variables < 3:
        raise PermanentError(f"{variables} variables; expected at least 3, which a clause has")
    draw = random.Random(seed)
    found: list[tuple[Clause, bool]] = []
    for _ in range(DRAWINGS):
        found = max(found, _random_clauses(variables, draw, demand), key=len)
        if len(found) >= clauses:
            break
    else:
        raise PermanentError(
            f"{clauses} clauses; there was room for {len(found)} with {variables} variables and"
            f" seed {seed}"
        )
    chosen = draw.sample(found, clauses)
    names = list(range(variables))
    draw.shuffle(names)
    formula = Formula(
        variables=variables,
        clauses=tuple((names[a], names[b], names[c]) for (a, b, c), _ in chosen),
    )
    return PlanarFormula(
        formula=formula, order=tuple(names), above=tuple(side for _, side in chosen)
    )


def _random_clauses(
    variables: int, draw: random.Random, demand: Demand
) -> list[tuple[Clause, bool]]:
    """Fill both sides of the line; return the places of every clause and whether it is above."""
    planted = planted_values(variables, draw, demand)
    found: list[tuple[Clause, bool]] = []
    for above in (True, False):
        ends = list(range(variables))
        while len(ends) > 2:
            joins = list(range(1, len(ends) - 1))
            good = [i for i in joins if demand(sum(planted[v] for v in ends[i - 1 : i + 2]))]
            i = draw.choice(good or joins)
            clause = (ends[i - 1], ends[i], ends[i + 1])
            if demand(sum(planted[v] for v in clause)):
                found.append((clause, above))
            del ends[i]
    return found
