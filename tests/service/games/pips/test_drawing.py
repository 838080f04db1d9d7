"""Drawings of boards: exact ones for boards of our own, and what must hold for any board."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.service.games.pips.view import draw_regions, draw_solution, list_dominoes
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import EASY, HARD, LOOSE, MEDIUM, Mix
from nightgrid.solvers.pips.puzzle import Cell, Puzzle, Region, RegionType
from nightgrid.solvers.pips.solution import Placement, Solution


def region(kind: str, *cells: Cell, target: int | None = None) -> Region:
    return Region(cells=cells, type=RegionType(kind), target=target)


RING = Puzzle(
    regions=(
        region("sum", (0, 0), (0, 1), target=7),
        region("less", (0, 2), target=5),
        region("empty", (1, 0)),
        region("equals", (1, 2), (2, 2)),
        region("unequal", (2, 0), (2, 1)),
    ),
    dominoes=((1, 6), (2, 3), (3, 3), (0, 4)),
)
RING_SOLUTION: Solution = (
    Placement(cell_a=(0, 0), cell_b=(0, 1), pip_a=1, pip_b=6),
    Placement(cell_a=(0, 2), cell_b=(1, 2), pip_a=2, pip_b=3),
    Placement(cell_a=(1, 0), cell_b=(2, 0), pip_a=4, pip_b=0),
    Placement(cell_a=(2, 1), cell_b=(2, 2), pip_a=3, pip_b=3),
)


def test_board_with_a_hole_shows_regions_and_constraints() -> None:
    expected = """\
┌───────┬───┐
│     7 │<5 │
├───┬───┼───┤
│ * │   │   │
├───┴───┤   │
│     ≠ │ = │
└───────┴───┘"""
    assert expected == draw_regions(RING)


def test_solution_shows_dominoes_and_pips() -> None:
    expected = """\
┌───────┬───┐
│ 1   6 │ 2 │
├───┬───┤   │
│ 4 │   │ 3 │
│   ├───┴───┤
│ 0 │ 3   3 │
└───┴───────┘"""
    assert expected == draw_solution(RING_SOLUTION)


def test_ragged_outline_has_no_walls_outside_and_no_trailing_spaces() -> None:
    puzzle = Puzzle(
        regions=(
            region("greater", (5, 9), (6, 8), (6, 9), target=10),
            region("sum", (6, 7), target=0),
            region("equals", (7, 7), (8, 7)),
        ),
        dominoes=((0, 1), (6, 6), (2, 2)),
    )
    expected = """\
        ┌────┐
        │    │
┌───┬───┘    │
│ 0 │    >10 │
├───┼────────┘
│   │
│   │
│ = │
└───┘"""
    assert expected == draw_regions(puzzle)


def test_disconnected_parts_stand_apart() -> None:
    puzzle = Puzzle(
        regions=(
            region("empty", (0, 0), (0, 1)),
            region("empty", (0, 3)),
            region("sum", (1, 3), target=4),
        ),
        dominoes=((1, 2), (3, 4)),
    )
    expected = """\
┌───────┐   ┌───┐
│     * │   │ * │
└───────┘   ├───┤
            │ 4 │
            └───┘"""
    assert expected == draw_regions(puzzle)


def test_long_pips_and_targets_widen_only_their_column() -> None:
    puzzle = Puzzle(
        regions=(region("sum", (0, 0), (1, 0), target=12345), region("empty", (0, 1), (1, 1))),
        dominoes=((12000, 345), (7, 10)),
    )
    expected = """\
┌──────┬───┐
│      │   │
│      │   │
│12345 │ * │
└──────┴───┘"""
    assert expected == draw_regions(puzzle)
    solution = (
        Placement(cell_a=(0, 0), cell_b=(1, 0), pip_a=12000, pip_b=345),
        Placement(cell_a=(0, 1), cell_b=(1, 1), pip_a=7, pip_b=10),
    )
    expected = """\
┌──────┬───┐
│12000 │ 7 │
│      │   │
│  345 │10 │
└──────┴───┘"""
    assert expected == draw_solution(solution)


def test_dominoes_are_listed_seven_a_line_in_columns() -> None:
    puzzle = Puzzle(
        regions=(region("empty", *((0, c) for c in range(18))),),
        dominoes=tuple((i, i + 3) for i in range(9)),
    )
    expected = """\
0-3    1-4    2-5    3-6    4-7    5-8    6-9
7-10   8-11"""
    assert expected == list_dominoes(puzzle)


def test_board_with_dominoes_thousands_of_cells_apart_is_not_drawn() -> None:
    puzzle = Puzzle(
        regions=(region("empty", (0, 0), (0, 1)), region("empty", (9000, 9000), (9000, 9001))),
        dominoes=((1, 2), (3, 4)),
    )
    assert draw_regions(puzzle) == (
        "(a board that spans 9001 rows and 9002 columns is too large to draw)"
    )


boards = st.tuples(st.sampled_from([EASY, MEDIUM, HARD, LOOSE]), st.integers(0, 10**6))


@settings(deadline=None)
@given(boards)
def test_walls_are_closed_lines_and_lines_end_without_spaces(board: tuple[Mix, int]) -> None:
    puzzle, solution = generate(*board)
    arms = {
        "│": "ud", "─": "lr", "┌": "rd", "┐": "ld", "└": "ru", "┘": "lu",
        "├": "urd", "┤": "uld", "┬": "lrd", "┴": "lru", "┼": "lrud",
    }  # fmt: skip
    steps = {"u": (-1, 0, "d"), "d": (1, 0, "u"), "l": (0, -1, "r"), "r": (0, 1, "l")}
    for text in (draw_regions(puzzle), draw_solution(solution)):
        lines = text.split("\n")
        assert lines == [line.rstrip() for line in lines]
        for y, line in enumerate(lines):
            for x, char in enumerate(line):
                for arm in arms.get(char, ""):
                    dy, dx, back = steps[arm]
                    assert back in arms.get(lines[y + dy][x + dx], "")


@settings(deadline=None)
@given(boards)
def test_solution_drawing_reads_back_as_the_pips(board: tuple[Mix, int]) -> None:
    _, solution = generate(*board)
    lines = draw_solution(solution).split("\n")
    for put in solution:
        for (r, c), pip in ((put.cell_a, put.pip_a), (put.cell_b, put.pip_b)):
            assert lines[2 * r + 1][4 * c + 2] == str(pip)
        (r, c), (s, _) = put.cell_a, put.cell_b
        between = lines[2 * r + 2][4 * c + 2] if s > r else lines[2 * r + 1][4 * c + 4]
        assert between == " ", "a domino has no wall between its halves"


@settings(deadline=None)
@given(boards)
def test_every_region_is_labelled_once(board: tuple[Mix, int]) -> None:
    puzzle, _ = generate(*board)
    text = "".join(char if char not in "│─┌┐└┘├┤┬┴┼" else " " for char in draw_regions(puzzle))
    marks = {"empty": "*", "equals": "=", "unequal": "≠"}
    signs = {"sum": "", "less": "<", "greater": ">"}
    expected = sorted(marks.get(r.type) or f"{signs[r.type]}{r.target}" for r in puzzle.regions)
    assert expected == sorted(text.split())
