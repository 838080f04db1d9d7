"""From certificates to solutions: the inverse of the reductions, and the number of solutions.

Each converts an assignment, a matching, a subset or flows to a solution, for the game's own check
and for `solution_of` of the reduction.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed.check import text_of
from nightgrid.solvers.letterboxed.puzzle import Puzzle as LetterBoxed
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.pips.solution import Placement, Solution
from nightgrid.solvers.reductions import (
    matching_to_letterboxed,
    more_sides,
    one_in_three_to_pips,
    one_in_three_to_strands,
    subset_sum_to_pips,
)
from nightgrid.solvers.reductions.blocks import route
from nightgrid.solvers.reductions.not_all_equal_to_letterboxed import (
    AWAY,
    FALSE,
    HOME,
    TRUE,
    letters_of,
)
from nightgrid.solvers.reductions.problems.choices import check_matching, check_subset
from nightgrid.solvers.reductions.problems.flow_free import Flows, check_flows
from nightgrid.solvers.reductions.problems.formula import (
    Assignment,
    check_assignment,
    exactly_one,
    not_all_equal,
)
from nightgrid.solvers.reductions.reduced import Reduced
from nightgrid.solvers.strands.puzzle import Cell, Puzzle
from nightgrid.solvers.strands.solution import Cover, Entry


def chain_of_matching(reduced: Reduced[Any, Any], chosen: tuple[int, ...]) -> Chain:
    """Write a matching as a chain, in the order given."""
    check_matching(reduced.instance, chosen)
    words = matching_to_letterboxed._words(reduced.instance)
    return Chain(words=tuple(words[i] for i in chosen))


def matching_chain_count(reduced: Reduced[Any, Any], chosen: tuple[int, ...]) -> int:
    """Count the chains of one matching: its triples in every order."""
    del reduced
    return math.factorial(len(chosen))


def chain_on_more_sides(reduced: Reduced[Any, Any], chain: Chain) -> Chain:
    """Make a chain of the new board from one of the old."""
    a, b, c = more_sides._new_letters(reduced.instance)
    first, *rest = chain.words
    closing = [b + c] + [c + c] * (more_sides.closing_words(reduced.instance.puzzle) - 1)
    return Chain(words=(a + first, *rest, chain.words[-1][-1] + b, *closing))


def arrangement_of_model(reduced: Reduced[Any, Any], assignment: Assignment) -> Solution:
    """Lay the dominoes according to a satisfying assignment; leftover ones come first."""
    check_assignment(reduced.instance.formula, assignment, exactly_one)
    layout = one_in_three_to_pips._layout_of(reduced)
    ones = len(layout.cleanup)
    pip: dict[one_in_three_to_pips.Tile, int] = {}
    for tiles, value in zip(layout.variables, assignment, strict=True):
        pip |= dict.fromkeys(tiles, int(value))
        ones -= len(tiles) if value else 0
    for tiles in (*layout.clauses, layout.links):
        pip |= dict.fromkeys(tiles, 0)
    pip |= {tile: int(i < ones) for i, tile in enumerate(layout.cleanup)}
    placed = [
        Placement(cell_a=min(tile), cell_b=max(tile), pip_a=pip[tile], pip_b=pip[tile])
        for tile in pip
    ]
    return tuple(sorted(placed, key=lambda put: put.cell_a))


def model_arrangement_count(reduced: Reduced[Any, Any], assignment: Assignment) -> int:
    """Count the solutions of one assignment: the ways to lay leftover dominoes."""
    layout = one_in_three_to_pips._layout_of(reduced)
    used = sum(
        len(tiles) for tiles, value in zip(layout.variables, assignment, strict=True) if value
    )
    return math.comb(len(layout.cleanup), used)


def arrangement_of_subset(reduced: Reduced[Any, Any], chosen: tuple[int, ...]) -> Solution:
    """Lay the numbers in their order, those chosen with their pips in the row."""
    check_subset(reduced.instance, chosen)
    placed = []
    for c, number in enumerate(reduced.instance.numbers):
        pips = {(subset_sum_to_pips.ROW, c): number, subset_sum_to_pips._beside(c): 0}
        if c not in chosen:
            pips = {(subset_sum_to_pips.ROW, c): 0, subset_sum_to_pips._beside(c): number}
        a, b = sorted(pips)
        placed.append(Placement(cell_a=a, cell_b=b, pip_a=pips[a], pip_b=pips[b]))
    return tuple(sorted(placed, key=lambda put: put.cell_a))


def subset_arrangement_count(reduced: Reduced[Any, Any], chosen: tuple[int, ...]) -> int:
    """Count the solutions of one choice of numbers: the orders of the dominoes.

    Equal dominoes are interchangeable, and so are choices of equal numbers; summed over all
    choices, the two cancel out.
    """
    del chosen
    repeats = Counter(reduced.instance.numbers).values()
    return math.factorial(len(reduced.instance.numbers)) // math.prod(map(math.factorial, repeats))


def cover_of_model(reduced: Reduced[Any, Any], assignment: Assignment) -> Cover:
    """Cover the board according to a satisfying assignment."""
    check_assignment(reduced.instance.formula, assignment, exactly_one)
    layout = one_in_three_to_strands.lay_out(reduced.instance)
    paths: list[tuple[Cell, ...]] = []
    for row, value in zip(layout.rows, assignment, strict=True):
        r, c = row.first
        before = (r, c + 1)
        paths += [(row.first,)] if value else [(row.first, before)]
        for cell_c, cell_d, cell_e, cell_x in row.modules:
            paths.append((before, cell_c, cell_d, cell_x) if value else (cell_c, cell_d, cell_e))
            before = cell_e
        paths += [(row.last, before)] if value else [(row.last,)]
    places = reduced.instance.order
    for span, edges, (near, far) in zip(
        reduced.instance.spans, layout.edges, layout.clauses, strict=True
    ):
        for place, edge in zip(span, edges, strict=True):
            if not assignment[places[place]]:
                paths += [(edge[i], edge[i + 1]) for i in range(0, len(edge), 2)]
                continue
            paths += [(edge[i + 1], edge[i]) for i in range(1, len(edge) - 1, 2)]
            beside = edge[-1][0] == far[0]
            paths.append((edge[-1], far, near) if beside else (edge[-1], near, far))
    return cover_with_blanks(reduced.puzzle, paths, one_in_three_to_strands.BLANK)


def cover_with_blanks(puzzle: Puzzle, paths: list[tuple[Cell, ...]], blank: str) -> Cover:
    """Make a cover of paths, with every blank cell as a word of its own."""
    paths = paths + [
        ((r, c),) for r, row in enumerate(puzzle.board) for c, x in enumerate(row) if x == blank
    ]
    entries = []
    for path in paths:
        word = "".join(puzzle.board[r][c] for r, c in path)
        entries.append(Entry(word=word, path=path, components=(word,)))
    entries.sort(key=lambda entry: min(entry.path))
    return Cover(spangram=None, theme_words=tuple(entries), score=0)


def cover_of_flows(reduced: Reduced[Any, Any], flows: Flows) -> Cover:
    """Lay the words along flows."""
    check_flows(reduced.instance, flows)
    return cover_with_blanks(reduced.puzzle, list(flows), "")


def cover_of_blocks(reduced: Reduced[Any, Any], cover: Cover) -> Cover:
    """Enlarge a cover.

    Raises PermanentError for one with a word that needs a diagonal step.
    """
    small = reduced.instance.puzzle
    size = reduced.puzzle.row_count // small.row_count
    entries = []
    for entry in cover.entries:
        blocks = straight_path(small, entry)
        corner = (0, 0)
        path: list[Cell] = []
        for i, (r, c) in enumerate(blocks):
            way = (0, 1) if i + 1 == len(blocks) else _step((r, c), blocks[i + 1])
            end = _exit(size, corner, way)
            path += [(r * size + a, c * size + b) for a, b in route(size, corner, end)]
            corner = ((end[0] + way[0]) % size, (end[1] + way[1]) % size)
        word = "".join(reduced.puzzle.board[r][c] for r, c in path)
        entries.append(Entry(word=word, path=tuple(path), components=(word,)))
    entries.sort(key=lambda entry: min(entry.path))
    return Cover(spangram=None, theme_words=tuple(entries), score=0)


def _step(here: Cell, there: Cell) -> Cell:
    return there[0] - here[0], there[1] - here[1]


def _exit(size: int, corner: Cell, way: Cell) -> Cell:
    """Return the neighbouring corner on the side to which a path leads."""
    last = size - 1
    if way[0]:
        row = last if way[0] > 0 else 0
        return (row, corner[1]) if corner[0] != row else (row, last - corner[1])
    column = last if way[1] > 0 else 0
    return (corner[0], column) if corner[1] != column else (last - corner[0], column)


def straight_path(puzzle: Puzzle, entry: Entry) -> tuple[Cell, ...]:
    """Find a path of a word on its cells without diagonal steps.

    Raises PermanentError if there is none.
    """
    cells = entry.cells

    def extend(path: tuple[Cell, ...]) -> tuple[Cell, ...] | None:
        if len(path) == len(entry.word):
            return path
        for r, c in sorted(cells - set(path)):
            near = not path or abs(r - path[-1][0]) + abs(c - path[-1][1]) == 1
            if near and puzzle.board[r][c] == entry.word[len(path)]:
                found = extend((*path, (r, c)))
                if found is not None:
                    return found
        return None

    found = extend(())
    if found is None:
        raise PermanentError(f"{entry.word} needs a diagonal step on its cells")
    return found


Play = tuple[int, ...]
"""The side of every letter, in the order of play; shared letters count once."""


def play_of(reduced: Reduced[Any, Any], assignment: Assignment) -> tuple[Chain, Play]:
    """Play the word according to a satisfying assignment."""
    formula = reduced.instance
    check_assignment(formula, assignment, not_all_equal)
    times = formula.occurrences
    mine = [TRUE if value else FALSE for value in assignment]
    other = [TRUE + FALSE - side for side in mine]
    play = [HOME]
    used = [v for v, count in enumerate(times) if count]
    for v in used:
        play += [mine[v], other[v]] * times[v] + [HOME]
    for v in used:
        play += [mine[v], AWAY] * times[v]
    for clause in formula.clauses:
        for v in clause:
            play += [other[v], mine[v], HOME]
        rarer = TRUE if sum(assignment[v] for v in clause) == 1 else FALSE
        play += [rarer, HOME]
    (word,) = reduced.puzzle.dictionary or ("",)
    pads = len(word) - len(play)
    play += [AWAY, HOME] * (pads // 2)
    return Chain(words=(word,)), tuple(play)


def assignment_of(reduced: Reduced[Any, Any], chain: Chain, play: Play) -> Assignment:
    """Read the assignment off a play, and check both.

    A variable is true if its first x is taken on side 2, and false if it is in no clause.
    """
    check_play(reduced.puzzle, chain, play)
    (word,) = chain.words
    letters = letters_of(reduced.instance)
    assignment = tuple(
        v in letters.x and play[word.index(letters.x[v])] == TRUE
        for v in range(reduced.instance.variables)
    )
    check_assignment(reduced.instance, assignment, not_all_equal)
    return assignment


def check_play(puzzle: LetterBoxed, chain: Chain, play: Play) -> None:
    """Raise PermanentError naming what a play breaks of article 000, Definition 6; else return."""
    known = set(puzzle.dictionary or ())
    for i, word in enumerate(chain.words):
        if word not in known:
            raise PermanentError(f"{word:.40} is not a word of the dictionary")
        if i and word[0] != chain.words[i - 1][-1]:
            raise PermanentError(f"{word:.40} does not begin where the word before it ended")
    letters = text_of(chain)
    if len(letters) != len(play):
        raise PermanentError(f"{len(letters)} letters are played on {len(play)} sides")
    for i, (letter, side) in enumerate(zip(letters, play, strict=True)):
        if letter not in puzzle.sides[side]:
            raise PermanentError(f"letter {i + 1}, {letter}, is not on side {side + 1}")
        if i and play[i - 1] == side:
            raise PermanentError(f"letters {i} and {i + 1} are both taken on side {side + 1}")
    taken = Counter(zip(play, letters, strict=True))
    for side, text in enumerate(puzzle.sides):
        for letter, wanted in Counter(text).items():
            if taken[side, letter] < wanted:
                raise PermanentError(
                    f"side {side + 1} has {letter} {wanted} times; it is taken"
                    f" {taken[side, letter]} times"
                )
