"""Positive planar 1-in-3-SAT to Strands (article 000, Theorem 3): seven short words.

A variable is a row A E (C D E)^d A with an X above or below each of its d D's, where an edge
begins. Starting with the word A, the row continues ECDX ... ECDX and ends with AE: true, and every
X is taken. Starting with AE, it continues CDE ... CDE and ends with A: false, and every X is left.
An edge is X Y X Y ... of even length. With its X left it is covered by XY alone. With its X taken,
every Y goes with the X after it, and the last Y takes the two K's of the clause that the edge ends
at: YKK. So a clause is covered exactly once if and only if one of its variables is true.
"""

from __future__ import annotations

from dataclasses import dataclass

from nightgrid.solvers.reductions.problems.formula import Assignment, check_assignment, exactly_one
from nightgrid.solvers.reductions.problems.planar import PlanarFormula
from nightgrid.solvers.reductions.reduced import Reduced
from nightgrid.solvers.strands.puzzle import Cell, Puzzle
from nightgrid.solvers.strands.solution import Cover

BLANK = "\u1427"
"""A letter that looks like a dot: cells between gadgets, each a word of its own."""
WORDS = (BLANK, "A", "AE", "CDE", "ECDX", "XY", "YKK")
RULES = "spangram=off words=any crossing=yes repeats=yes diagonal={} min_letters=1"
STEP = 3
"""Columns of a module, C D E."""
FIRST_LEVEL = 2
"""Rows from the X's to the nearest K. Even, so that the middle edge has an even length."""
LEVEL = 4
"""Rows from the nearest K of a clause to that of the clause around it: two of K's, one blank, and
one more because the distance has to be even."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The place of a variable."""

    first: Cell
    """The A that it begins with."""
    modules: tuple[tuple[Cell, Cell, Cell, Cell], ...]
    """The C, D, E and X of every edge."""

    @property
    def last(self) -> Cell:
        """The A that it ends with."""
        r, c = self.first
        return r, c + STEP * len(self.modules) + 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The places of variables and clauses, by index."""

    rows: tuple[Row, ...]
    edges: tuple[tuple[tuple[Cell, ...], ...], ...]
    """The three edges of every clause, from the X to the Y next to it, left to right."""
    clauses: tuple[tuple[Cell, Cell], ...]
    """The two K's of every clause, the one nearer to the line first."""
    row_count: int
    column_count: int


def lay_out(instance: PlanarFormula) -> Layout:
    """Place the gadgets of a formula."""
    distance = [FIRST_LEVEL] * len(instance.spans)
    for i in instance.inside_out:
        distance[i] = max([FIRST_LEVEL, *(distance[j] + LEVEL for j in instance.inner[i])])
    height = {
        above: max((distance[i] + 2 for i, a in enumerate(instance.above) if a == above), default=0)
        for above in (True, False)
    }
    line = height[True]
    column = 0
    rows: dict[int, Row] = {}
    port: dict[tuple[int, int], Cell] = {}
    for place, variable in enumerate(instance.order):
        modules = []
        first = (line, column)
        column += 2
        for above in (True, False):
            for clause in instance.legs(place, above=above):
                start = (line - 1 if above else line + 1, column + 1)
                port[clause, place] = start
                c, d, e = ((line, column + i) for i in range(STEP))
                modules.append((c, d, e, start))
                column += STEP
        rows[variable] = Row(first=first, modules=tuple(modules))
        column += 2
    edges = []
    clauses = []
    for i, span in enumerate(instance.spans):
        up = -1 if instance.above[i] else 1
        left, middle, right = (port[i, place] for place in span)
        near = (middle[0] + up * distance[i], middle[1])
        clauses.append((near, (near[0] + up, near[1])))
        edges.append(
            (
                _bent(left, near, up),
                tuple((r, middle[1]) for r in range(middle[0], near[0], up)),
                _bent(right, near, up),
            )
        )
    return Layout(
        rows=tuple(rows[v] for v in range(instance.formula.variables)),
        edges=tuple(edges),
        clauses=tuple(clauses),
        row_count=line + 1 + height[False],
        column_count=column - 1,
    )


def _bent(start: Cell, near: Cell, up: int) -> tuple[Cell, ...]:
    """Lead an edge up or down, then next to the nearer or farther K: the one of even length."""
    across = 1 if near[1] > start[1] else -1
    cells = abs(near[0] - start[0]) + abs(near[1] - start[1])
    end = near[0] if cells % 2 == 0 else near[0] + up
    return tuple((r, start[1]) for r in range(start[0], end, up)) + tuple(
        (end, c) for c in range(start[1], near[1], across)
    )


def reduce(instance: PlanarFormula, *, diagonal: bool = True) -> Reduced[PlanarFormula, Puzzle]:
    """Write a formula as a Strands board that can be covered if and only if it has a 1-in-3 model.

    Covers and models correspond one to one, with diagonal steps or without (Corollary 19).
    """
    layout = lay_out(instance)
    grid = [[BLANK] * layout.column_count for _ in range(layout.row_count)]

    def write(cells: tuple[Cell, ...], letters: str) -> None:
        for (r, c), letter in zip(cells, letters, strict=True):
            grid[r][c] = letter

    for row in layout.rows:
        r, c = row.first
        write((row.first, (r, c + 1), row.last), "AEA")
        for module in row.modules:
            write(module, "CDEX")
    for edges, clause in zip(layout.edges, layout.clauses, strict=True):
        for edge in edges:
            write(edge, "XY" * (len(edge) // 2))
        write(clause, "KK")
    return Reduced(
        game="strands",
        instance=instance,
        puzzle=Puzzle(board=tuple("".join(row) for row in grid)),
        rules=RULES.format("yes" if diagonal else "no"),
        words=WORDS,
    )


def solution_of(reduced: Reduced[PlanarFormula, Puzzle], cover: Cover) -> Assignment:
    """Read the assignment off a cover, and check it."""
    word = {cell: entry.word for entry in cover.entries for cell in entry.path}
    layout = lay_out(reduced.instance)
    assignment = tuple(word[row.first] == "A" for row in layout.rows)
    check_assignment(reduced.instance.formula, assignment, exactly_one)
    return assignment
