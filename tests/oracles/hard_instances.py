"""Small instances of the hard problems, and their solutions by trying everything.

Boards made of such instances are compared with these.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reductions.problems.choices import SubsetSum, ThreeDMatching
from nightgrid.solvers.reductions.problems.flow_free import Cell, FlowFree, Flows
from nightgrid.solvers.reductions.problems.formula import Formula
from nightgrid.solvers.reductions.problems.planar import PlanarFormula


def all_formulas(variables: int, clauses: int) -> Iterator[Formula]:
    """List every formula of that size, up to the names of variables.

    A clause may be repeated.
    """
    triples = list(itertools.combinations(range(variables), 3))
    renamings = list(itertools.permutations(range(variables)))
    seen: set[tuple[tuple[int, ...], ...]] = set()
    for chosen in itertools.combinations_with_replacement(triples, clauses):
        if chosen in seen:
            continue
        for names in renamings:
            seen.add(tuple(sorted(tuple(sorted(names[v] for v in clause)) for clause in chosen)))
        yield Formula(variables=variables, clauses=chosen)


def planar_formulas(*sizes: tuple[int, int]) -> Iterator[PlanarFormula]:
    """List every formula of those sizes that can be embedded, once, by trying all embeddings."""
    for variables, clauses in sizes:
        for formula in all_formulas(variables, clauses):
            orders = itertools.permutations(range(variables))
            sides = list(itertools.product((True, False), repeat=clauses))
            for order, above in itertools.product(orders, sides):
                try:
                    yield PlanarFormula(formula=formula, order=order, above=above)
                except PermanentError:
                    continue
                break


def subsets(instance: SubsetSum) -> Iterator[tuple[int, ...]]:
    """Find every subset with the target's sum, as ascending indexes, by trying them all."""
    indexes = range(len(instance.numbers))
    for count in range(len(instance.numbers) + 1):
        for chosen in itertools.combinations(indexes, count):
            if sum(instance.numbers[i] for i in chosen) == instance.target:
                yield chosen


def all_three_d_matchings(size: int, triples: int) -> Iterator[ThreeDMatching]:
    """List every instance with that many triples over sets of that size."""
    elements = range(size)
    every = [(a, b, c) for a in elements for b in elements for c in elements]
    for chosen in itertools.combinations(every, triples):
        yield ThreeDMatching(size=size, triples=chosen)


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


def all_flows(instance: FlowFree) -> Iterator[Flows]:
    """Find all flows by drawing every path of every colour in turn. For small grids."""
    terminals = instance.terminals
    taken = {cell for pair in terminals for cell in pair}
    paths: list[tuple[Cell, ...]] = []
    size = len(instance.cells)

    def extend(path: list[Cell], goal: Cell) -> Iterator[Flows]:
        for cell in instance.neighbours(path[-1]):
            if cell == goal:
                paths.append((*path, goal))
                yield from begin()
                paths.pop()
            elif cell not in taken:
                taken.add(cell)
                path.append(cell)
                yield from extend(path, goal)
                path.pop()
                taken.remove(cell)

    def begin() -> Iterator[Flows]:
        if len(paths) < len(terminals):
            yield from extend([terminals[len(paths)][0]], terminals[len(paths)][1])
        elif len(taken) == size:
            yield tuple(paths)

    return begin()
