"""The reductions by name: reading and drawing instances, making boards, mapping solutions back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
from nightgrid.solvers.reductions.problems.dimacs import (
    literals_of,
    read_formula,
    read_planar,
    write_formula,
    write_planar,
)
from nightgrid.solvers.reductions.problems.flow_free import FlowFree, Flows, random_flow_free
from nightgrid.solvers.reductions.problems.formula import (
    Formula,
    exactly_one,
    not_all_equal,
    random_formula,
)
from nightgrid.solvers.reductions.problems.planar import PlanarFormula, random_planar_formula
from nightgrid.solvers.reductions.problems.subset_sum import SubsetSum, random_subset_sum
from nightgrid.solvers.reductions.problems.texts import (
    filled,
    read_flow_free,
    read_subset_sum,
    read_three_d_matching,
    write_flow_free,
    write_subset_sum,
    write_three_d_matching,
)
from nightgrid.solvers.reductions.problems.three_d_matching import (
    ThreeDMatching,
    random_three_d_matching,
)
from nightgrid.solvers.reductions.reduced import Reduced

SIDES_LEAST = 4
NUMBER_MOST = 1_000_000
"""Of random subset sums: small numbers have few sums, and are easy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """One reduction, with everything that is needed to use it."""

    name: str
    game: str
    line: str
    """What it reduces, in a few words."""
    size: str
    """What the size of a random instance counts."""
    read: Callable[[str], Any]
    """Read an instance from its text."""
    write: Callable[[Any], str]
    random: Callable[[int, int, bool], Any]
    """Draw an instance of a size, with a seed; planted, so that it can be solved, or not."""
    reduce: Callable[..., Reduced[Any, Any]]
    solution_of: Callable[[Any, Any], Any]
    """Map a solution of the board back, checked."""
    to_json: Callable[[Any, Any], Any]
    """Write a solution of an instance as a JSON value."""
    to_text: Callable[[Any, Any], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A board and the way back from its solutions to those of the instance."""

    reduction: Reduction
    instance: Any
    steps: tuple[tuple[Reduced[Any, Any], Callable[[Any, Any], Any]], ...]
    """The boards made one from the other, each with what maps its solutions back."""

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
    connected: bool = False,
    diagonal: bool = True,
    blocks_size: int | None = None,
    sides: int | None = None,
) -> Made:
    """Make the board of an instance, in the variant that is wanted.

    `connected`: one piece (Pips, of formulas). `diagonal`: diagonal steps are allowed (Strands).
    `blocks_size`: enlarge cells to blocks (Strands). `sides`: add sides until there are that many
    (Letter Boxed). Raises PermanentError for a variant that the reduction does not have.
    """
    _check_variants(
        reduction, connected=connected, diagonal=diagonal, blocks_size=blocks_size, sides=sides
    )
    options: dict[str, bool] = {}
    if reduction.game == "strands":
        options = {"diagonal": diagonal}
    elif connected:
        options = {"connected": True}
    steps: list[tuple[Reduced[Any, Any], Callable[[Any, Any], Any]]] = [
        (reduction.reduce(instance, **options), reduction.solution_of)
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


def _check_variants(
    reduction: Reduction,
    *,
    connected: bool,
    diagonal: bool,
    blocks_size: int | None,
    sides: int | None,
) -> None:
    asked = (
        ("a connected board", connected, reduction.name == "planar-pips"),
        ("steps without diagonals", not diagonal, reduction.game == "strands"),
        ("blocks", blocks_size is not None, reduction.game == "strands"),
        ("more sides", sides is not None, reduction.game == "letterboxed"),
    )
    for what, wanted, possible in asked:
        if wanted and not possible:
            raise PermanentError(f"{reduction.name} has no variant with {what}")
    if sides is not None and sides < SIDES_LEAST:
        raise PermanentError(f"{sides} sides; expected at least {SIDES_LEAST}")


def reduction(name: str) -> Reduction:
    """Look a reduction up by name. Raises PermanentError for a name that is none."""
    for known in REDUCTIONS:
        if known.name == name:
            return known
    names = ", ".join(known.name for known in REDUCTIONS)
    raise PermanentError(f"unknown reduction {name!r:.40}; expected one of {names}")


def _random_formula(clauses: int, seed: int, planted: bool) -> Formula:
    variables = max(3, (clauses + 1) // 2)
    return random_formula(variables, clauses, seed, not_all_equal if planted else None)


def _random_planar(clauses: int, seed: int, planted: bool) -> PlanarFormula:
    return random_planar_formula(clauses + 2, clauses, seed, exactly_one if planted else None)


def _random_matching(size: int, seed: int, planted: bool) -> ThreeDMatching:
    return random_three_d_matching(size, min(3 * size, size**3), seed, planted=planted)


def _random_sum(count: int, seed: int, planted: bool) -> SubsetSum:
    return random_subset_sum(count, NUMBER_MOST, seed, planted=planted)


def _random_flow(side: int, seed: int, planted: bool) -> FlowFree:
    if not planted:
        raise PermanentError("random grids of Flow Free are cut from a path, so can be solved")
    return random_flow_free(side, side, max(1, side - 1), seed)


def _literals(instance: object, assignment: tuple[bool, ...]) -> list[int]:
    del instance
    return literals_of(assignment)


def _literals_text(instance: object, assignment: tuple[bool, ...]) -> str:
    return f"v {' '.join(map(str, _literals(instance, assignment)))} 0"


def _triples(instance: ThreeDMatching, chosen: tuple[int, ...]) -> list[list[int]]:
    return [[element + 1 for element in instance.triples[i]] for i in chosen]


def _triples_text(instance: ThreeDMatching, chosen: tuple[int, ...]) -> str:
    return "\n".join(" ".join(map(str, triple)) for triple in _triples(instance, chosen))


def _numbers(instance: SubsetSum, chosen: tuple[int, ...]) -> list[int]:
    return [instance.numbers[i] for i in chosen]


def _numbers_text(instance: SubsetSum, chosen: tuple[int, ...]) -> str:
    return f"{' + '.join(map(str, _numbers(instance, chosen))) or 0} = {instance.target}"


def _paths(instance: FlowFree, flows: Flows) -> list[list[list[int]]]:
    del instance
    return [[list(cell) for cell in path] for path in flows]


def _filled_text(instance: FlowFree, flows: Flows) -> str:
    return "\n".join(filled(instance, flows))


REDUCTIONS: tuple[Reduction, ...] = (
    Reduction(
        name="nae-letterboxed",
        game="letterboxed",
        line="positive not-all-equal 3-SAT to Letter Boxed with one word",
        size="clauses",
        read=read_formula,
        write=write_formula,
        random=_random_formula,
        reduce=not_all_equal_to_letterboxed.reduce,
        solution_of=not_all_equal_to_letterboxed.solution_of,
        to_json=_literals,
        to_text=_literals_text,
    ),
    Reduction(
        name="matching-letterboxed",
        game="letterboxed",
        line="3D matching to Letter Boxed with words of five letters",
        size="elements of a set",
        read=read_three_d_matching,
        write=write_three_d_matching,
        random=_random_matching,
        reduce=matching_to_letterboxed.reduce,
        solution_of=matching_to_letterboxed.solution_of,
        to_json=_triples,
        to_text=_triples_text,
    ),
    Reduction(
        name="planar-pips",
        game="pips",
        line="positive planar 1-in-3-SAT to Pips with 0-0 and 1-1",
        size="clauses",
        read=read_planar,
        write=write_planar,
        random=_random_planar,
        reduce=one_in_three_to_pips.reduce,
        solution_of=one_in_three_to_pips.solution_of,
        to_json=_literals,
        to_text=_literals_text,
    ),
    Reduction(
        name="sum-pips",
        game="pips",
        line="subset sum to Pips with one constraint",
        size="numbers",
        read=read_subset_sum,
        write=write_subset_sum,
        random=_random_sum,
        reduce=subset_sum_to_pips.reduce,
        solution_of=subset_sum_to_pips.solution_of,
        to_json=_numbers,
        to_text=_numbers_text,
    ),
    Reduction(
        name="planar-strands",
        game="strands",
        line="positive planar 1-in-3-SAT to Strands with seven words",
        size="clauses",
        read=read_planar,
        write=write_planar,
        random=_random_planar,
        reduce=one_in_three_to_strands.reduce,
        solution_of=one_in_three_to_strands.solution_of,
        to_json=_literals,
        to_text=_literals_text,
    ),
    Reduction(
        name="flow-strands",
        game="strands",
        line="Flow Free to Strands",
        size="rows and columns",
        read=read_flow_free,
        write=write_flow_free,
        random=_random_flow,
        reduce=flow_free_to_strands.reduce,
        solution_of=flow_free_to_strands.solution_of,
        to_json=_paths,
        to_text=_filled_text,
    ),
)
