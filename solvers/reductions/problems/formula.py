"""Positive formulas with three variables a clause, and which assignments satisfy them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nightgrid.solvers.errors import PermanentError

VARIABLES_MAX = 100_000
CLAUSES_MAX = 100_000

Clause = tuple[int, int, int]
"""Three distinct variables, 0-based, ascending."""
Assignment = tuple[bool, ...]
"""A truth value for every variable."""
Demand = Callable[[int], bool]
"""The condition of a clause on the number of its true variables."""


def not_all_equal(true: int) -> bool:
    """Return whether a clause has both a true and a false variable."""
    return true in (1, 2)


def exactly_one(true: int) -> bool:
    """Return whether exactly one variable of a clause is true."""
    return true == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """Clauses over variables 0 to variables - 1, none of them negated.

    Variables within a clause are sorted; clauses stay in the order given, and may repeat. Raises
    PermanentError naming the first invalid clause (counted from 1).
    """

    variables: int
    clauses: tuple[Clause, ...]

    def __post_init__(self) -> None:
        if not 1 <= self.variables <= VARIABLES_MAX:
            raise PermanentError(
                f"a formula has {self.variables} variables; expected 1 to {VARIABLES_MAX}"
            )
        if len(self.clauses) > CLAUSES_MAX:
            raise PermanentError(
                f"a formula has {len(self.clauses)} clauses; expected at most {CLAUSES_MAX}"
            )
        for number, clause in enumerate(self.clauses, 1):
            inside = all(0 <= variable < self.variables for variable in clause)
            if len(set(clause)) != 3 or not inside:
                shown = " ".join(str(variable + 1) for variable in clause)
                raise PermanentError(
                    f"clause {number} is {shown!r}; expected three different variables from 1 to"
                    f" {self.variables}"
                )
        a_b_c = tuple(sorted(clause) for clause in self.clauses)
        object.__setattr__(self, "clauses", tuple((a, b, c) for a, b, c in a_b_c))

    @property
    def occurrences(self) -> tuple[int, ...]:
        """In how many clauses each variable occurs."""
        count = [0] * self.variables
        for clause in self.clauses:
            for variable in clause:
                count[variable] += 1
        return tuple(count)


def check_assignment(formula: Formula, assignment: Assignment, demand: Demand) -> None:
    """Raise PermanentError naming the first clause that an assignment breaks; else return."""
    if len(assignment) != formula.variables:
        raise PermanentError(
            f"an assignment has {len(assignment)} values; expected {formula.variables}"
        )
    for number, clause in enumerate(formula.clauses, 1):
        true = sum(assignment[v] for v in clause)
        if not demand(true):
            shown = " ".join(str(v + 1) for v in clause)
            raise PermanentError(f"clause {number} ({shown}) has {true} true variables")


def assignments(formula: Formula, demand: Demand) -> Iterator[Assignment]:
    """Find every satisfying assignment by trying the variables one after the other.

    False before true; a branch ends at the first complete clause that does not hold. Only for
    checking formulas of a few dozen variables.
    """
    complete: list[list[Clause]] = [[] for _ in range(formula.variables)]
    for clause in formula.clauses:
        complete[clause[2]].append(clause)
    values = [False] * formula.variables

    def extend(variable: int) -> Iterator[Assignment]:
        if variable == formula.variables:
            yield tuple(values)
            return
        for value in (False, True):
            values[variable] = value
            if all(demand(sum(values[v] for v in clause)) for clause in complete[variable]):
                yield from extend(variable + 1)
        values[variable] = False

    return extend(0)


def random_formula(variables: int, clauses: int, seed: int, demand: Demand) -> Formula:
    """Draw clauses at random, only those that a planted assignment satisfies."""
    if variables < 3:
        raise PermanentError(f"{variables} variables; expected at least 3, which a clause has")
    draw = random.Random(seed)
    planted = planted_values(variables, draw, demand)
    chosen: list[Clause] = []
    while len(chosen) < clauses:
        a, b, c = sorted(draw.sample(range(variables), 3))
        if demand(planted[a] + planted[b] + planted[c]):
            chosen.append((a, b, c))
    return Formula(variables=variables, clauses=tuple(chosen))


def planted_values(variables: int, draw: random.Random, demand: Demand) -> list[bool]:
    """Draw an assignment under which satisfied clauses are common.

    Of three variables or more, at least one is true and two are false.
    """
    many = variables // 2 if demand is not_all_equal else max(1, variables // 3)
    values = [i < many for i in range(variables)]
    draw.shuffle(values)
    return values
