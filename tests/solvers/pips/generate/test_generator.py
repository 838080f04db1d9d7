"""Generated boards are solvable, deterministic, and follow the mix they were asked to follow."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.pips.generate.generator import (
    SEEDS_PER_STREAM,
    generate,
    generate_many,
    to_payload,
)
from nightgrid.solvers.pips.generate.mix import (
    EASY,
    HARD,
    LOOSE,
    MEDIUM,
    PRESETS,
    Mix,
    fewest_pips,
    too_few_pips,
)
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell, Region, RegionType
from nightgrid.solvers.pips.solution import Solution
from tests.drawn import drawn

SEEDS = st.integers(0, 2**40)


@st.composite
def mixes(draw: st.DrawFn) -> Mix:
    """Draw any mix at all: every shape, size, set of dominoes and share."""
    rows = draw(st.none() | st.integers(1, 6))
    dominoes = draw(st.integers(1, 40)) if rows is None else rows * draw(st.integers(1, 6))
    kinds = [kind for kind in RegionType if kind is not RegionType.EMPTY]
    return Mix(
        dominoes=((dominoes, 1.0),),
        kinds=tuple(
            (kind, 1.0) for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, unique=True))
        ),
        sizes={kind: ((draw(st.integers(1, 7)), 1.0),) for kind in RegionType},
        unconstrained=draw(st.floats(0, 1)),
        max_pip=draw(st.sampled_from([0, 1, 2, 6, 12, 99])),
        duplicates=draw(st.booleans()),
        extremes=draw(st.floats(0, 1)),
        curation=draw(st.floats(0, 1)),
        freedom_bits=draw(st.none() | st.integers(0, 60)),
        components=((draw(st.integers(1, 5)), 1.0),),
        rows=rows,
    )


def pips_by_cell(solution: Solution) -> dict[Cell, int]:
    pips = {}
    for put in solution:
        pips[put.cell_a], pips[put.cell_b] = put.pip_a, put.pip_b
    return pips


def holds(region: Region, pips: dict[Cell, int]) -> bool:
    """Return whether the pips satisfy the region, straight from the rules of the game."""
    values = [pips[cell] for cell in region.cells]
    target = -1 if region.target is None else region.target
    return {
        RegionType.EMPTY: True,
        RegionType.SUM: sum(values) == target,
        RegionType.LESS: sum(values) < target,
        RegionType.GREATER: sum(values) > target,
        RegionType.EQUALS: len(set(values)) == 1,
        RegionType.UNEQUAL: len(set(values)) == len(values),
    }[region.type]


def components(cells: set[Cell]) -> int:
    left = set(cells)
    number = 0
    while left:
        number += 1
        stack = [left.pop()]
        while stack:
            r, c = stack.pop()
            for cell in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                if cell in left:
                    left.remove(cell)
                    stack.append(cell)
    return number


@settings(deadline=None, max_examples=drawn(150))
@given(mixes(), SEEDS)
def test_planted_solution_is_a_solution(mix: Mix, seed: int) -> None:
    puzzle, solution = generate(mix, seed)
    pips = pips_by_cell(solution)
    assert len(pips) == 2 * len(solution), "two dominoes share a cell"
    assert tuple(sorted(pips)) == puzzle.cells
    for put in solution:
        (r, c), (s, d) = put.cell_a, put.cell_b
        assert (s - r, d - c) in ((0, 1), (1, 0))
    used = sorted((min(p.pip_a, p.pip_b), max(p.pip_a, p.pip_b)) for p in solution)
    assert tuple(used) == puzzle.dominoes
    assert [r for r in puzzle.regions if not holds(r, pips)] == []
    assert list(solution) == sorted(solution, key=lambda put: put.cell_a)


@settings(deadline=None, max_examples=drawn(100))
@given(mixes(), SEEDS)
def test_regions_are_connected_and_start_at_the_origin(mix: Mix, seed: int) -> None:
    puzzle, _ = generate(mix, seed)
    assert all(components(set(region.cells)) == 1 for region in puzzle.regions)
    assert min(r for r, _ in puzzle.cells) == 0
    assert min(c for _, c in puzzle.cells) == 0


@settings(deadline=None, max_examples=drawn(100))
@given(mixes(), SEEDS)
def test_dominoes_are_distinct_unless_duplicates_are_allowed(mix: Mix, seed: int) -> None:
    puzzle, _ = generate(mix, seed)
    highest = max(max(domino) for domino in puzzle.dominoes)
    if mix.duplicates:
        assert highest <= mix.max_pip
        return
    assert len(set(puzzle.dominoes)) == len(puzzle.dominoes)
    # The smallest set that holds that many dominoes, if the wanted one does not.
    assert highest <= mix.max_pip or highest * (highest + 1) // 2 < len(puzzle.dominoes)


@settings(deadline=None, max_examples=drawn(100))
@given(mixes(), SEEDS)
def test_share_of_unconstrained_cells_is_exact_up_to_rounding(mix: Mix, seed: int) -> None:
    puzzle, _ = generate(mix, seed)
    cells = len(puzzle.cells)
    empty = sum(len(r.cells) for r in puzzle.regions if r.type is RegionType.EMPTY)
    assert abs(empty - mix.unconstrained * cells) < 1


@settings(deadline=None, max_examples=drawn(50))
@given(mixes(), SEEDS)
def test_shape_is_the_one_asked_for(mix: Mix, seed: int) -> None:
    puzzle, _ = generate(mix, seed)
    cells = set(puzzle.cells)
    wanted = mix.dominoes[0][0]
    assert len(puzzle.dominoes) == wanted
    if mix.rows is None:
        assert components(cells) == min(wanted, mix.components[0][0])
    else:
        assert cells == {(r, c) for r in range(mix.rows) for c in range(2 * wanted // mix.rows)}


@given(st.sampled_from(sorted(PRESETS)), SEEDS)
def test_same_mix_and_seed_give_the_same_board(name: str, seed: int) -> None:
    assert generate(PRESETS[name], seed) == generate(PRESETS[name], seed)


def test_boards_of_rarer_mixes_are_the_same_on_every_machine() -> None:
    mixes = [
        *PRESETS.values(),
        replace(PRESETS["hard"], duplicates=True, components=((1, 1.0), (3, 1.0))),
        replace(PRESETS["hard"], max_pip=60, freedom_bits=None),
        replace(PRESETS["easy"], max_pip=2, curation=0.0, extremes=1.0),
        replace(PRESETS["medium"], unconstrained=0.9),
    ]
    boards = generate_many(2026, 160, mixes)
    text = canonical_json([puzzle.to_json() for puzzle, _ in boards])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "1e0af9527a0df575"


def test_any_slice_of_a_stream_can_be_made_by_itself() -> None:
    cycle = [EASY, MEDIUM, HARD]
    whole = list(generate_many(3, 10, cycle))
    assert list(generate_many(3, 4, cycle, start=5)) == whole[5:9]
    assert whole[7] == generate(MEDIUM, 3 * SEEDS_PER_STREAM + 7)


def sample(mix: Mix, n: int) -> list[Puzzle]:
    return [puzzle for puzzle, _ in generate_many(11, n, [mix])]


PUBLISHED = {
    "easy": {"sum": 0.597, "equals": 0.243, "less": 0.074, "greater": 0.068, "unequal": 0.018},
    "medium": {"sum": 0.518, "equals": 0.264, "less": 0.097, "greater": 0.093, "unequal": 0.028},
    "hard": {"sum": 0.627, "equals": 0.207, "less": 0.072, "greater": 0.063, "unequal": 0.031},
}
"""Shares of constrained regions by kind on 264 published puzzles."""
PUBLISHED_CELLS = {
    "easy": {"sum": 1.84, "equals": 2.78},
    "medium": {"sum": 2.00, "equals": 3.11},
    "hard": {"sum": 1.94, "equals": 3.33},
}
"""Mean cells of a region, of the kinds that are frequent enough to have one."""


@pytest.mark.parametrize("name", ["easy", "medium", "hard"])
def test_presets_follow_the_published_mix(name: str) -> None:
    mix = PRESETS[name]
    puzzles = sample(mix, 300)
    weights = dict(mix.dominoes)
    wanted = sum(n * w for n, w in weights.items()) / sum(weights.values())
    assert sum(len(p.dominoes) for p in puzzles) / 300 == pytest.approx(wanted, rel=0.05)

    regions = [r for p in puzzles for r in p.regions if r.type is not RegionType.EMPTY]
    found = Counter(r.type for r in regions)
    for kind, share in PUBLISHED[name].items():
        assert found[RegionType(kind)] / len(regions) == pytest.approx(share, abs=0.12), kind
    for kind, size in PUBLISHED_CELLS[name].items():
        cells = [len(r.cells) for r in regions if r.type == kind]
        assert sum(cells) / len(cells) == pytest.approx(size, rel=0.15), kind

    split = sum(components(set(p.cells)) > 1 for p in puzzles) / 300
    parts = dict(mix.components)
    assert split == pytest.approx(1 - parts[1] / sum(parts.values()), abs=0.06)


def test_loose_boards_are_rectangles_with_wide_constraints() -> None:
    for puzzle in sample(replace(LOOSE, dominoes=((14, 1.0),)), 20):
        assert set(puzzle.cells) == {(r, c) for r in range(4) for c in range(7)}
    regions = [r for p in sample(LOOSE, 100) for r in p.regions if r.type is not RegionType.EMPTY]
    assert sum(len(r.cells) for r in regions) / len(regions) > 2


def test_nearly_all_dominoes_of_a_large_set_can_be_asked_for() -> None:
    mix = replace(LOOSE, dominoes=((900, 1.0),), max_pip=41)
    puzzle, _ = generate(mix, 2)
    assert len(set(puzzle.dominoes)) == 900


def test_negative_seed_is_refused() -> None:
    with pytest.raises(PermanentError, match="0 or more"):
        generate(EASY, -1)


@settings(deadline=None, max_examples=drawn(50))
@given(mixes(), SEEDS)
def test_payload_reads_back_as_the_same_board_and_solution(mix: Mix, seed: int) -> None:
    puzzle, solution = generate(mix, seed)
    day = dt.date(2026, 1, 5)
    payload = json.loads(json.dumps(to_payload(day, {"hard": (puzzle, solution)})))
    assert payload["printDate"] == "2026-01-05"
    board = payload["hard"]
    assert Puzzle.from_json(board) == puzzle
    assert board["constructors"] == payload["editor"] == "nightgrid generator"
    pips = {}
    for domino, cells in zip(board["dominoes"], board["solution"], strict=True):
        for pip, cell in zip(domino, cells, strict=True):
            pips[tuple(cell)] = pip
    assert pips == pips_by_cell(solution)
    assert all(
        ("target" in region) == (region["type"] in ("sum", "less", "greater"))
        for region in board["regions"]
    )


@pytest.mark.parametrize("dominoes", [1, 3, 6, 10, 28])
def test_a_set_with_too_few_dominoes_is_refused_and_the_smallest_sufficient_one_is_not(
    dominoes: int,
):
    least = fewest_pips(dominoes)
    enough = replace(PRESETS["hard"], dominoes=((dominoes, 1.0),), max_pip=least)
    assert too_few_pips(enough, "more") is None
    for seed in range(3):
        puzzle, _ = generate(enough, seed)
        assert max(pip for domino in puzzle.dominoes for pip in domino) <= least
    if least == 0:
        return
    short = replace(enough, max_pip=least - 1)
    fault = too_few_pips(short, "more")
    assert fault is not None
    assert fault.endswith(f"for boards of up to {dominoes}; expected at least {least}, or more")
    assert too_few_pips(replace(short, duplicates=True), "more") is None
    kept = generate(replace(short, duplicates=True), 1)[0]
    assert max(pip for domino in kept.dominoes for pip in domino) < least
