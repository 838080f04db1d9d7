"""Flow Free (zig-zag Numberlink): join pairs of terminals by paths that fill a grid."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reductions.problems.letters import distinct_letters
from nightgrid.solvers.sentences import plural
from nightgrid.solvers.strands.generate import MIXING, filling_path

Cell = tuple[int, int]
"""(row, column), 0-based."""
Flows = tuple[tuple[Cell, ...], ...]
"""A path for every colour in the order of colours, from its first terminal (by row, then column)
to its second."""

EMPTY = "."
CELLS_MAX = 4096
_STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))


@dataclass(frozen=True, kw_only=True)
class FlowFree:
    """A grid: rows of equal length, "." for an empty cell, any other character a terminal.

    Raises PermanentError naming the row or the colour that breaks a rule.
    """

    rows: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.rows or not self.rows[0]:
            raise PermanentError("a grid has no cells; expected at least one row")
        for r, row in enumerate(self.rows):
            if len(row) != len(self.rows[0]):
                raise PermanentError(
                    f"row {r + 1} has {len(row)} cells; expected {len(self.rows[0])} as in row 1"
                )
        if len(self.rows) * len(self.rows[0]) > CELLS_MAX:
            raise PermanentError(f"a grid has more than {CELLS_MAX} cells")
        counts = Counter("".join(self.rows).replace(EMPTY, ""))
        if not counts:
            raise PermanentError("a grid has no terminals; expected two of each colour")
        for colour, count in sorted(counts.items()):
            if count != 2 or colour.isspace() or not colour.isprintable():
                raise PermanentError(
                    f"{colour!r} stands on {plural(count, 'cell')}; expected every colour on two"
                )

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell, row by row."""
        return tuple((r, c) for r, row in enumerate(self.rows) for c in range(len(row)))

    @cached_property
    def terminals(self) -> tuple[tuple[Cell, Cell], ...]:
        """The two terminals of every colour, ordered by the first."""
        found: dict[str, list[Cell]] = {}
        for r, c in self.cells:
            if self.rows[r][c] != EMPTY:
                found.setdefault(self.rows[r][c], []).append((r, c))
        return tuple((one, other) for one, other in found.values())

    def neighbours(self, cell: Cell) -> Iterator[Cell]:
        """Name the cells that share an edge with one."""
        for i, j in _STEPS:
            r, c = cell[0] + i, cell[1] + j
            if 0 <= r < len(self.rows) and 0 <= c < len(self.rows[0]):
                yield r, c


def check_flows(instance: FlowFree, flows: Flows) -> None:
    """Raise PermanentError naming the first rule that flows break; else return."""
    if len(flows) != len(instance.terminals):
        raise PermanentError(f"{len(flows)} flows; expected {len(instance.terminals)}")
    for path, (one, other) in zip(flows, instance.terminals, strict=True):
        if path[0] != one or path[-1] != other:
            raise PermanentError(
                f"a flow leads from {path[0]} to {path[-1]}; expected {one}, {other}"
            )
        for here, there in zip(path, path[1:], strict=False):  # noqa: RUF007
            if there not in instance.neighbours(here):
                raise PermanentError(f"cells {here} and {there} of a flow do not touch")
    covered = Counter(cell for path in flows for cell in path)
    for cell in instance.cells:
        if covered[cell] != 1:
            raise PermanentError(f"cell {cell} is on {covered[cell]} flows; expected 1")


def random_flow_free(rows: int, columns: int, colours: int, seed: int) -> FlowFree:
    """Cut a random path through all cells of a grid into pieces, and keep their ends.

    The instance has these pieces as a solution, and perhaps others. Raises PermanentError for fewer
    than two cells a colour.
    """
    size = rows * columns
    if min(rows, columns, colours) < 1 or size < 2 * colours:
        raise PermanentError(
            f"{colours} colours on {rows} x {columns} cells; expected two cells or more for each"
        )
    draw = random.Random(seed)
    path = next(islice(filling_path(draw.random, rows, columns, _STEPS), MIXING, None))
    sizes = [2] * colours
    for _ in range(size - 2 * colours):
        sizes[draw.randrange(colours)] += 1
    grid = [[EMPTY] * columns for _ in range(rows)]
    start = 0
    for colour, length in zip(distinct_letters(colours), sizes, strict=True):
        for r, c in (path[start], path[start + length - 1]):
            grid[r][c] = colour
        start += length
    return FlowFree(rows=tuple("".join(row) for row in grid))
