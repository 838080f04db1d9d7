"""The reductions by name: parse or draw instances, make boards, map solutions back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.rules import Rules as ChainRules
from nightgrid.solvers.reductions import (
    blocks,
    flow_free_to_strands,
    matching_to_letterboxed,
    more_sides,
    not_all_equal_to_letterboxed,
    one_in_three_to_pips,
    one_in_three_to_strands,
    subset_sum_to_pips,
)
from nightgrid.solvers.reductions.problems import texts
from nightgrid.solvers.reductions.problems.choices import random_subset_sum, random_three_d_matching
from nightgrid.solvers.reductions.problems.flow_free import random_flow_free
from nightgrid.solvers.reductions.problems.formula import (
    exactly_one,
    not_all_equal,
    random_formula,
)
from nightgrid.solvers.reductions.problems.planar import random_planar_formula
from nightgrid.solvers.reductions.reduced import Reduced

NUMBER_MOST = 1_000_000
"""Maximum of random numbers of subset sums: small numbers have few sums, and are easy."""


class Problem(NamedTuple):
    """A problem to reduce, with the formats of its instances and solutions."""

    read: Callable[[str], Any]
    """Parse an instance."""
    write: Callable[[Any], str]
    random: Callable[[int, int], Any]
    """Draw a solvable instance of a size, with a seed."""
    to_json: Callable[[Any, Any], Any]
    """Return a solution of an instance as a JSON value."""
    to_text: Callable[[Any, Any], str]
    """Format the same for people."""


class Reduction(NamedTuple):
    """One reduction, with everything needed to use it."""

    name: str
    game: str
    line: str
    """Problem and game, in a few words."""
    problem: Problem
    reduce: Callable[..., Reduced[Any, Any]]
    solution_of: Callable[[Any, Any], Any]
    """Map a solution of the board back, and check it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A board, with the maps from its solutions back to the instance."""

    reduction: Reduction
    instance: Any
    steps: tuple[tuple[Reduced[Any, Any], Callable[[Any, Any], Any]], ...]
    """The boards, each made from the previous one, with the map of its solutions."""

    @property
    def reduced(self) -> Reduced[Any, Any]:
        """The last board."""
        return self.steps[-1][0]

    def solution_of(self, solution: Any) -> Any:
        """Map a solution of the last board back to the instance, checked at every step."""
        for reduced, back in reversed(self.steps):
            solution = back(reduced, solution)
        return solution


def make(
    reduction: Reduction,
    instance: Any,
    *,
    blocks_size: int | None = None,
    sides: int | None = None,
    **variant: bool,
) -> Made:
    """Make the board of an instance, in a variant.

    `variant`: options of the reduction, such as `diagonal` of those to Strands. `blocks_size`:
    enlarge cells to blocks (Strands). `sides`: add sides until there are that many (Letter Boxed).
    """
    steps: list[tuple[Reduced[Any, Any], Callable[[Any, Any], Any]]] = [
        (reduction.reduce(instance, **variant), reduction.solution_of)
    ]
    if blocks_size is not None:
        steps.append((blocks.enlarge(steps[-1][0], blocks_size), blocks.solution_of))
    while sides is not None and len(steps[-1][0].puzzle.sides) < sides:
        last = steps[-1][0]
        most = ChainRules.parse(last.rules).chains
        assert isinstance(most, int)
        wider = more_sides.reduce(more_sides.Instance(puzzle=last.puzzle, words=most))
        steps.append((wider, more_sides.solution_of))
    return Made(reduction=reduction, instance=instance, steps=tuple(steps))


def reduction(name: str) -> Reduction:
    """Look up a reduction. Raises PermanentError for an unknown name."""
    for known in REDUCTIONS:
        if known.name == name:
            return known
    names = ", ".join(known.name for known in REDUCTIONS)
    raise PermanentError(f"unknown reduction {name!r:.40}; expected one of {names}")


FORMULA = Problem(
    read=texts.read_formula,
    write=texts.write_formula,
    random=lambda clauses, seed: random_formula(
        max(3, (clauses + 1) // 2), clauses, seed, not_all_equal
    ),
    to_json=lambda _, assignment: texts.literals_of(assignment),
    to_text=lambda _, assignment: f"v {' '.join(map(str, texts.literals_of(assignment)))} 0",
)
PLANAR = FORMULA._replace(
    read=texts.read_planar,
    write=texts.write_planar,
    random=lambda clauses, seed: random_planar_formula(clauses + 2, clauses, seed, exactly_one),
)
MATCHING = Problem(
    read=texts.read_three_d_matching,
    write=texts.write_three_d_matching,
    random=lambda size, seed: random_three_d_matching(size, min(3 * size, size**3), seed),
    to_json=lambda instance, chosen: [[e + 1 for e in instance.triples[i]] for i in chosen],
    to_text=lambda instance, chosen: "\n".join(
        " ".join(str(e + 1) for e in instance.triples[i]) for i in chosen
    ),
)
SUM = Problem(
    read=texts.read_subset_sum,
    write=texts.write_subset_sum,
    random=lambda count, seed: random_subset_sum(count, NUMBER_MOST, seed),
    to_json=lambda instance, chosen: [instance.numbers[i] for i in chosen],
    to_text=lambda instance, chosen: (
        f"{' + '.join(str(instance.numbers[i]) for i in chosen) or 0} = {instance.target}"
    ),
)
FLOW = Problem(
    read=texts.read_flow_free,
    write=texts.write_flow_free,
    random=lambda side, seed: random_flow_free(side, side, max(1, side - 1), seed),
    to_json=lambda _, flows: [[list(cell) for cell in path] for path in flows],
    to_text=lambda instance, flows: "\n".join(texts.filled(instance, flows)),
)
REDUCTIONS: tuple[Reduction, ...] = tuple(
    Reduction(name, game, line, problem, module.reduce, module.solution_of)
    for name, game, problem, module, line in (
        (
            "nae-letterboxed", "letterboxed", FORMULA, not_all_equal_to_letterboxed,
            "positive not-all-equal 3-SAT to Letter Boxed with one word",
        ),
        (
            "matching-letterboxed", "letterboxed", MATCHING, matching_to_letterboxed,
            "3D matching to Letter Boxed with words of five letters",
        ),
        (
            "planar-pips", "pips", PLANAR, one_in_three_to_pips,
            "positive planar 1-in-3-SAT to Pips with 0-0 and 1-1",
        ),
        (
            "sum-pips", "pips", SUM, subset_sum_to_pips,
            "subset sum to Pips with one constraint",
        ),
        (
            "planar-strands", "strands", PLANAR, one_in_three_to_strands,
            "positive planar 1-in-3-SAT to Strands with seven words",
        ),
        (
            "flow-strands", "strands", FLOW, flow_free_to_strands,
            "Flow Free to Strands",
        ),
    )
)  # fmt: skip
