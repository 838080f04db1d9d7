"""Drawings of boards: exact ones for our own boards, and properties for any board."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nightgrid.service.drawing.colours import PLAIN
from nightgrid.service.drawing.svg import LARGE_PX
from nightgrid.service.games.pips import view
from nightgrid.service.games.pips.view import Board, draw, list_dominoes, mark
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import EASY, HARD, LOOSE, MEDIUM, Mix
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell, Region, RegionType
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


def drawn(puzzle: Puzzle, solution: Solution = ()) -> str:
    return draw(puzzle, solution).plain


def test_solution_shows_dominoes_on_regions_and_constraints() -> None:
    expected = """\
┌7──────────┬<5───┐
│  1━━━━━6  │  2  │
├*────┬─────┼=─╂──┤
│  4  │     │  3  │
├≠─╂──┴─────┤     │
│  0     3━━┿━━3  │
└───────────┴─────┘"""
    assert expected == drawn(RING, RING_SOLUTION)


def test_long_pips_and_targets_widen_all_columns() -> None:
    puzzle = Puzzle(
        regions=(region("sum", (0, 0), (1, 0), target=1234), region("empty", (0, 1), (1, 1))),
        dominoes=((12000, 345), (7, 10)),
    )
    solution = (
        Placement(cell_a=(0, 0), cell_b=(1, 0), pip_a=12000, pip_b=345),
        Placement(cell_a=(0, 1), cell_b=(1, 1), pip_a=7, pip_b=10),
    )
    expected = """\
┌1234────┬*───────┐
│  12000 │    7   │
│    ┃   │    ┃   │
│   345  │    10  │
└────────┴────────┘"""
    assert expected == drawn(puzzle, solution)


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
    assert drawn(puzzle) == "(a board that spans 9001 rows and 9002 columns is too large to draw)"
    with pytest.raises(PermanentError, match="too large for a picture"):
        view.svg(puzzle, None, None)


boards = st.tuples(st.sampled_from([EASY, MEDIUM, HARD, LOOSE]), st.integers(0, 10**6))


@settings(deadline=None)
@given(boards)
def test_walls_are_closed_lines_and_lines_end_without_spaces(board: tuple[Mix, int]) -> None:
    puzzle, solution = generate(*board)
    arms = {
        "│": "ud", "─": "lr", "┌": "rd", "┐": "ld", "└": "ru", "┘": "lu",
        "├": "urd", "┤": "uld", "┬": "lrd", "┴": "lru", "┼": "lrud", "╂": "lr", "┿": "ud",
    }  # fmt: skip
    steps = {"u": (-1, 0, "d"), "d": (1, 0, "u"), "l": (0, -1, "r"), "r": (0, 1, "l")}
    for text in (drawn(puzzle), drawn(puzzle, solution)):
        lines = text.split("\n")
        # Marks are in walls.
        lines[::2] = [re.sub(r"[0-9<>=≠*]", "─", line) for line in lines[::2]]
        assert lines == [line.rstrip() for line in lines]
        for y, line in enumerate(lines):
            for x, char in enumerate(line):
                for arm in arms.get(char, ""):
                    dy, dx, back = steps[arm]
                    assert back in arms.get(lines[y + dy][x + dx], "")


@settings(deadline=None)
@given(boards)
def test_solution_drawing_reads_back_as_pips_and_dominoes(board: tuple[Mix, int]) -> None:
    puzzle, solution = generate(*board)
    lines = drawn(puzzle, solution).split("\n")
    marks = [mark(r) for r in puzzle.regions]
    assume(max(map(len, marks)) <= 2)  # Longer ones make columns wider.
    for put in solution:
        for (r, c), pip in ((put.cell_a, put.pip_a), (put.cell_b, put.pip_b)):
            assert lines[2 * r + 1][6 * c + 3] == str(pip)
        (r, c), (s, _) = put.cell_a, put.cell_b
        between = lines[2 * r + 2][6 * c + 3] if s > r else lines[2 * r + 1][6 * c + 6]
        assert between in ("┃╂" if s > r else "━┿"), "a stroke joins the halves"
    strokes = sum(line.count(c) for line in lines for c in "┃╂")
    strokes += sum(len(re.findall("[━┿]+", line)) for line in lines)
    assert strokes == len(solution)


@settings(deadline=None)
@given(boards)
def test_regions_side_by_side_have_different_tints(board: tuple[Mix, int]) -> None:
    puzzle, _ = generate(*board)
    tints = Board.of(puzzle).tints
    of = {cell: i for i, r in enumerate(puzzle.regions) for cell in r.cells}
    for (r, c), i in of.items():
        assert (tints[i] == PLAIN) == (puzzle.regions[i].type is RegionType.EMPTY)
        for beside in ((r, c + 1), (r + 1, c), (r + 1, c + 1), (r + 1, c - 1)):
            j = of.get(beside, i)
            if j != i and tints[i] != PLAIN:
                assert tints[i] != tints[j]


SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("solution", [None, RING_SOLUTION], ids=["board", "solved"])
def test_picture_shows_regions_targets_and_dominoes(solution: Solution | None) -> None:
    svg = ET.fromstring(view.svg(RING, solution, "Ring"))
    rects = svg.findall(f".//{SVG}rect")
    fills = [r.get("fill") for r in rects if r.get("data-cell")]
    assert sorted(fills) == sorted(
        tint for tint, r in zip(Board.of(RING).tints, RING.regions, strict=True) for _ in r.cells
    )
    texts = ["".join(t.itertext()) for t in svg.findall(f".//{SVG}text")]
    assert texts == ["Ring", "7", "<5", "=", "≠"]
    dominoes = [r for r in rects if r.get("stroke")]
    assert len(dominoes) == len(RING.dominoes)
    dots = len(svg.findall(f".//{SVG}circle"))
    assert dots == sum(a + b for a, b in RING.dominoes)
    right = max(float(r.get("x", 0)) + float(r.get("width", 0)) for r in dominoes)
    below = max(float(r.get("y", 0)) + float(r.get("height", 0)) for r in dominoes)
    assert right <= float(svg.get("width", 0))
    assert below <= float(svg.get("height", 0))


def test_more_than_six_pips_are_written_as_numbers() -> None:
    puzzle = Puzzle(regions=(region("empty", (0, 0), (0, 1)),), dominoes=((9, 12),))
    svg = ET.fromstring(view.svg(puzzle, None, None))
    assert [t.text for t in svg.findall(f".//{SVG}text")] == ["9", "12"]


def test_large_boards_are_drawn_smaller_and_larger_ones_not_at_all() -> None:
    def row(cells: int) -> Puzzle:
        return Puzzle(
            regions=(region("empty", *((0, c) for c in range(cells))),),
            dominoes=((0, 0),) * (cells // 2),
        )

    for cells in (30, 60):
        width = float(ET.fromstring(view.svg(row(cells), None, None)).get("width", 0))
        assert LARGE_PX * 0.9 < width < LARGE_PX * 1.1
    with pytest.raises(PermanentError, match="too large for a picture"):
        view.svg(row(500), None, None)
