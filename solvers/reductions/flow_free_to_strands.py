"""Flow Free to Strands (article 000, section 4): a colour is a word of every length.

Empty cells have the letters O and I like the squares of a chessboard, the article's 0 and 1, which
no board in a file may have. A step along an edge changes the square's colour, and a diagonal step
does not. The words of a colour begin with its first terminal, alternate between O and I, starting
with the other square's, and end with its second terminal. Terminals on squares of the same colour
share a letter. On different squares, a shared letter would let the word be read backwards with
diagonal steps at both ends, so each has its own.
"""

from __future__ import annotations

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reductions.one_in_three_to_strands import RULES
from nightgrid.solvers.reductions.problems.flow_free import EMPTY, FlowFree, Flows, check_flows
from nightgrid.solvers.reductions.problems.letters import distinct_letters
from nightgrid.solvers.reductions.reduced import Reduced
from nightgrid.solvers.strands.puzzle import Cell, Puzzle
from nightgrid.solvers.strands.solution import Cover

SQUARES = "OI"


def _square(cell: Cell) -> int:
    return (cell[0] + cell[1]) % 2


def _terminal_letters(instance: FlowFree) -> tuple[tuple[str, str], ...]:
    letters = iter(distinct_letters(2 * len(instance.terminals), SQUARES))
    found = []
    for one, other in instance.terminals:
        first = next(letters)
        found.append((first, first if _square(one) == _square(other) else next(letters)))
    return tuple(found)


def reduce(instance: FlowFree, *, diagonal: bool = True) -> Reduced[FlowFree, Puzzle]:
    """Write a grid as a Strands board that can be covered if and only if it can be filled.

    Covers are the ways to divide the grid's cells among the colours, regardless of each colour's
    path on its cells. Words shorter than the distance of a colour's terminals, or longer than fits,
    are left out (except the shortest of each colour).
    """
    letters = _terminal_letters(instance)
    grid = [
        [SQUARES[_square((r, c))] if x == EMPTY else x for c, x in enumerate(row)]
        for r, row in enumerate(instance.rows)
    ]
    words: list[str] = []
    longest = len(instance.cells) - 2 * (len(letters) - 1)
    for (one, other), (first, last) in zip(instance.terminals, letters, strict=True):
        grid[one[0]][one[1]], grid[other[0]][other[1]] = first, last
        inner = SQUARES[1 - _square(one)] + SQUARES[_square(one)]
        apart = abs(one[0] - other[0]) + abs(one[1] - other[1])
        for between in range(apart - 1, max(longest - 1, apart), 2):
            words.append(first + (inner * (between // 2 + 1))[:between] + last)
    return Reduced(
        game="strands",
        instance=instance,
        puzzle=Puzzle(board=tuple("".join(row) for row in grid)),
        rules=RULES.format("yes" if diagonal else "no"),
        words=tuple(words),
    )


def solution_of(reduced: Reduced[FlowFree, Puzzle], cover: Cover) -> Flows:
    """Read the flows off a cover, and check them."""
    path = {entry.path[0]: entry.path for entry in cover.entries}
    path |= {entry.path[-1]: entry.path[::-1] for entry in cover.entries}
    for one, _ in reduced.instance.terminals:
        if one not in path:
            raise PermanentError(f"no word of the cover begins at the terminal {one}")
    flows = tuple(path[one] for one, _ in reduced.instance.terminals)
    check_flows(reduced.instance, flows)
    return flows
