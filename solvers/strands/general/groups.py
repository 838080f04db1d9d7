"""Decompose a board: drop useless pieces, and find independent groups of cells.

A piece that leaves some cell without a piece is in no cover. Cells that share a piece belong
together, and so do those whose pieces may cross, or are the same word if words may not repeat.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple

from nightgrid.solvers.strands.general.wide_pieces import bits_of
from nightgrid.solvers.strands.pieces.pieces import Found
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.states.cell_supports import COMPOUND, PLAIN, SPANNING

LOOK_MAX = 4096
"""A cell with more pieces than this rules out no other pieces."""


class Piece(NamedTuple):
    """A word or a compound on its cells."""

    name: tuple[str, int]
    """("word", row of found.words) or ("compound", row of found.compounds)."""
    cells: tuple[int, ...]
    """Ascending."""
    word: int
    """-1 for compounds, of which a cover holds one at most."""
    score: int
    kind: int
    """PLAIN, SPANNING or COMPOUND."""
    closes: tuple[frozenset[int], ...]
    """Its least sets of blocks; if words may cross, an empty one."""


class Group(NamedTuple):
    """Cells that are covered independently of others, and their pieces."""

    cells: list[int]
    """In the order in which they are covered."""
    pieces: list[Piece]


def list_pieces(found: Found, rules: Rules) -> list[Piece]:
    """List all pieces of a board, words before compounds."""
    listed = []
    for kind, pieces in (("word", found.words), ("compound", found.compounds)):
        bounds, blocks = pieces.block_offsets.tolist(), pieces.blocks.tolist()
        columns = (pieces.low, pieces.cells, pieces.word, pieces.score, pieces.spans)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for row, (low, cells, word, score, spans) in enumerate(rows):
            closes = (
                frozenset(low + bit for bit in bits_of(mask))
                for mask in blocks[bounds[row] : bounds[row + 1]]
            )
            spanning = SPANNING if spans and rules.spangram != "off" else PLAIN
            listed.append(
                Piece(
                    name=(kind, row),
                    cells=tuple(low + bit for bit in bits_of(cells)),
                    word=word if kind == "word" else -1,
                    score=score,
                    kind=spanning if kind == "word" else COMPOUND,
                    closes=tuple(closes),
                )
            )
    return listed


def groups_of(pieces: list[Piece], cell_count: int, rules: Rules, *, coupled: bool) -> list[Group]:
    """Find the groups of a board, those with the lowest cells first.

    `coupled`: everything is one group, because of a rule about the cover as a whole.
    """
    pieces = _without_dead(pieces, cell_count)
    root = list(range(cell_count))

    def top(cell: int) -> int:
        while root[cell] != cell:
            root[cell] = cell = root[root[cell]]
        return cell

    first_with: dict[Hashable, int] = {}
    for piece in pieces:
        shared: list[Hashable] = []
        if not rules.crossing:
            shared += frozenset().union(*piece.closes)
        if not rules.repeats and piece.word >= 0:
            shared.append(("word", piece.word))
        others = [first_with.setdefault(key, piece.cells[0]) for key in shared]
        for cell in (*piece.cells[1:], *others):
            one, other = sorted((top(piece.cells[0]), top(cell)))
            root[other] = one
    cells: dict[int, list[int]] = {}
    own: dict[int, list[Piece]] = {}
    for cell in range(cell_count):
        cells.setdefault(0 if coupled else top(cell), []).append(cell)
    for piece in pieces:
        own.setdefault(0 if coupled else top(piece.cells[0]), []).append(piece)
    return [Group(cells[first], own.get(first, [])) for first in cells]


def _without_dead(pieces: list[Piece], cell_count: int) -> list[Piece]:
    """Repeatedly drop pieces that leave some cell without a piece."""
    on: list[set[int]] = [set() for _ in range(cell_count)]
    for p, piece in enumerate(pieces):
        for cell in piece.cells:
            on[cell].add(p)
    waiting = set(range(cell_count))
    alive = [True] * len(pieces)
    while waiting:
        cell = waiting.pop()
        looks = sum(len(on[other]) for p in on[cell] for other in pieces[p].cells)
        if not on[cell] or (looks > LOOK_MAX and len(on[cell]) > 1):
            continue
        # A piece elsewhere that meets every piece on the cell leaves it without any.
        meets = (set().union(*(on[other] for other in pieces[p].cells)) for p in on[cell])
        for dead in set.intersection(*meets) - on[cell]:
            alive[dead] = False
            for other in pieces[dead].cells:
                on[other].discard(dead)
                waiting.add(other)
    return [piece for piece, is_alive in zip(pieces, alive, strict=True) if is_alive]


def ordered(group: Group, columns: int) -> Group:
    """Order a group's cells so that the border of what is covered stays short.

    The order with the shortest border: by rows, by columns, or from a far end of the graph of cells
    that share pieces, always the cell that adds the fewest cells to the border.
    """
    near: dict[int, set[int]] = {cell: set() for cell in group.cells}
    for piece in group.pieces:
        for cell in piece.cells:
            near[cell].update(piece.cells)
    orders = (
        group.cells,
        sorted(group.cells, key=lambda cell: (cell % columns, cell)),
        _short_border(group.cells, near),
    )
    return group._replace(cells=min(orders, key=lambda order: _border(order, near)))


def _border(order: Iterable[int], near: dict[int, set[int]]) -> tuple[int, int]:
    """Return the longest border while cells are covered in an order, and the sum of all."""
    covered: set[int] = set()
    border: set[int] = set()
    most = total = 0
    for cell in order:
        covered.add(cell)
        border |= near[cell]
        border -= covered
        most, total = max(most, len(border)), total + len(border)
    return most, total


def _short_border(cells: list[int], near: dict[int, set[int]]) -> list[int]:
    order: list[int] = []
    seen: set[int] = set()
    for cell in cells:
        if cell in seen:
            continue
        border = [_far_end(_far_end(cell, near), near)]
        seen.add(border[0])
        while border:
            best = min(border, key=lambda c: len(near[c] - seen))
            border.remove(best)
            order.append(best)
            new = sorted(near[best] - seen)
            border += new
            seen.update(new)
    return order


def _far_end(cell: int, near: dict[int, set[int]]) -> int:
    """Walk breadth first; return a cell that is reached last."""
    reached, seen = [cell], {cell}
    for at in reached:
        new = near[at] - seen
        reached += sorted(new)
        seen |= new
    return reached[-1]
