"""Count covers of a Strands board by plain exact cover, for boards with few ways to lay words.

Independent of every engine: pieces are found by walking, and the cell with the fewest pieces left
is always covered next, so forced pieces come first.
"""

from __future__ import annotations

from collections.abc import Iterator

from nightgrid.solvers.strands.puzzle import Cell, Puzzle

Piece = tuple[str, frozenset[Cell]]


def pieces_of(puzzle: Puzzle, words: tuple[str, ...], *, diagonal: bool) -> set[Piece]:
    cells = {(r, c): x for r, row in enumerate(puzzle.board) for c, x in enumerate(row)}
    steps = [
        (i, j)
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if (i, j) != (0, 0) and (diagonal or i == 0 or j == 0)
    ]
    found: set[Piece] = set()

    def walk(word: str, path: tuple[Cell, ...]) -> None:
        if len(path) == len(word):
            found.add((word, frozenset(path)))
            return
        r, c = path[-1]
        for i, j in steps:
            cell = (r + i, c + j)
            if cells.get(cell) == word[len(path)] and cell not in path:
                walk(word, (*path, cell))

    for word in words:
        for cell, letter in cells.items():
            if letter == word[0]:
                walk(word, (cell,))
    return found


def exact_covers(
    puzzle: Puzzle, words: tuple[str, ...], *, diagonal: bool
) -> Iterator[frozenset[Piece]]:
    pieces = sorted(pieces_of(puzzle, words, diagonal=diagonal), key=lambda p: (p[0], sorted(p[1])))
    at: dict[Cell, set[int]] = {
        (r, c): set() for r, row in enumerate(puzzle.board) for c in range(len(row))
    }
    for i, (_, cells) in enumerate(pieces):
        for cell in cells:
            at[cell].add(i)

    def search(free: dict[Cell, set[int]], taken: tuple[int, ...]) -> Iterator[frozenset[Piece]]:
        while free:
            cell = min(free, key=lambda x: (len(free[x]), x))
            if len(free[cell]) != 1:
                break
            (i,) = free[cell]
            free, taken = lay(free, i), (*taken, i)
        if not free:
            yield frozenset(pieces[i] for i in taken)
            return
        for i in sorted(free[cell]):
            yield from search(lay(free, i), (*taken, i))

    def lay(free: dict[Cell, set[int]], i: int) -> dict[Cell, set[int]]:
        gone = set().union(*(free[cell] for cell in pieces[i][1]))
        touched = {cell for j in gone for cell in pieces[j][1]}
        return {
            cell: left - gone if cell in touched else left
            for cell, left in free.items()
            if cell not in pieces[i][1]
        }

    return search(at, ())
