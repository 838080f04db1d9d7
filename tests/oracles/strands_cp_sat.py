"""Enumerate the covers of a Strands board with OR-Tools CP-SAT, as a user would model it.

One Boolean for each (word, path), where paths over the same cells by the same diagonals are one.
Unlike in the brute force, words are found by walking the board, and compounds by cutting walks.
"""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ortools.sat.python import cp_model

from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from tests.oracles.strands_brute_force import FEW, Cell, Covering, Steps, Vocabulary

MOST_STEPS = 400_000
Corner = tuple[int, int]
"""The upper left cell of a 2 x 2 block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One way to lay one piece."""

    word: str
    cells: frozenset[Cell]
    blocks: frozenset[Corner]
    """The 2 x 2 blocks of which it uses a diagonal."""
    is_compound: bool
    spans: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Enumeration:
    """The result of CP-SAT: `complete` is False if a limit ended it."""

    covers: frozenset[Covering]
    complete: bool
    wall_s: float


class _Collector(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
    def __init__(self, laid: dict[Row, cp_model.IntVar], limit: int | None) -> None:
        super().__init__()
        self.laid = laid
        self.limit = limit
        self.covers: set[Covering] = set()

    def on_solution_callback(self) -> None:
        self.covers.add(
            frozenset((r.word, r.cells) for r, chosen in self.laid.items() if self.value(chosen))
        )
        if self.limit is not None and len(self.covers) >= self.limit:
            self.stop_search()


def rows_of(
    puzzle: Puzzle, rules: Rules, vocabulary: Vocabulary, steps: Steps | None = None
) -> set[Row]:
    """Walk from every cell while the letters can still become a piece."""
    taken = steps or Steps(MOST_STEPS)
    height, width = len(puzzle.board), len(puzzle.board[0])
    starts = {word[:i] for word in vocabulary.words for i in range(1, len(word) + 1)}
    parts = vocabulary.parts(rules)
    part_starts = {part[:i] for part in parts for i in range(1, len(part) + 1)}
    most_parts = 1 if rules.spangram == "off" else rules.compound_parts

    @functools.cache
    def ends(text: str) -> dict[int, int]:
        """The numbers of parts that the text can be cut into, each with the least cost."""
        found: dict[int, int] = {} if text else {0: 0}
        for i in range(len(text)):
            if text[i:] in parts:
                for n, cost in ends(text[:i]).items():
                    found[n + 1] = min(found.get(n + 1, 10**9), cost + parts[text[i:]])
        return found

    @functools.cache
    def may_grow(text: str) -> bool:
        return text in starts or (
            most_parts > 1
            and any(
                text[i:] in part_starts and any(n < most_parts for n in ends(text[:i]))
                for i in range(len(text))
            )
        )

    moves = [
        (dr, dc)
        for dr, dc in itertools.product((-1, 0, 1), repeat=2)
        if (dr or dc) and (rules.diagonal or not dr or not dc)
    ]

    def walk(text: str, path: tuple[Cell, ...]) -> Iterator[tuple[str, tuple[Cell, ...]]]:
        taken.take()
        if not may_grow(text):
            return
        yield text, path
        for dr, dc in moves:
            r, c = path[-1][0] + dr, path[-1][1] + dc
            if 0 <= r < height and 0 <= c < width and (r, c) not in path:
                yield from walk(text + puzzle.board[r][c], (*path, (r, c)))

    rows = set()
    for r, c in itertools.product(range(height), range(width)):
        for text, path in walk(puzzle.board[r][c], ((r, c),)):
            is_word = text in vocabulary.words
            is_compound = not is_word and any(
                2 <= n <= most_parts and cost <= rules.compound_centibels
                for n, cost in ends(text).items()
            )
            touched = (any(i == 0 for i, _ in path) and any(i == height - 1 for i, _ in path)) or (
                any(j == 0 for _, j in path) and any(j == width - 1 for _, j in path)
            )
            if len(text) < rules.min_letters or not (is_word or (is_compound and touched)):
                continue
            rows.add(
                Row(
                    word=text,
                    cells=frozenset(path),
                    blocks=frozenset(
                        (min(a[0], b[0]), min(a[1], b[1]))
                        for a, b in itertools.pairwise(path)
                        if a[0] != b[0] and a[1] != b[1]
                    ),
                    is_compound=is_compound,
                    spans=touched,
                )
            )
    return rows


def build_model(
    puzzle: Puzzle, rules: Rules, vocabulary: Vocabulary, steps: Steps | None = None
) -> tuple[cp_model.CpModel, dict[Row, cp_model.IntVar]]:
    """Model a board; return the model and the Boolean of each row."""
    model = cp_model.CpModel()
    laid = {
        row: model.new_bool_var(f"row {number}")
        for number, row in enumerate(rows_of(puzzle, rules, vocabulary, steps))
    }
    for cell in itertools.product(range(puzzle.row_count), range(puzzle.column_count)):
        model.add(sum(chosen for row, chosen in laid.items() if cell in row.cells) == 1)
    if not rules.crossing:
        by_block: dict[Corner, list[cp_model.IntVar]] = defaultdict(list)
        for row, chosen in laid.items():
            for corner in row.blocks:
                by_block[corner].append(chosen)
        for users in by_block.values():
            # Two different pieces in one block lie on different diagonals of it.
            model.add_at_most_one(users)
    if not rules.repeats:
        by_word: dict[str, list[cp_model.IntVar]] = defaultdict(list)
        for row, chosen in laid.items():
            by_word[row.word].append(chosen)
        for users in by_word.values():
            model.add_at_most_one(users)
    model.add(sum(chosen for row, chosen in laid.items() if row.is_compound) <= 1)
    spanning = sum(chosen for row, chosen in laid.items() if row.spans)
    if rules.spangram == "required":
        model.add(spanning >= 1)
    elif rules.spangram == "one":
        model.add(spanning == 1)
    if rules.words == "given" and puzzle.theme_words is not None:
        entries = puzzle.theme_words + (rules.spangram != "off")
        model.add(sum(laid.values()) == entries)
    return model, laid


def enumerate_covers(
    puzzle: Puzzle,
    rules: Rules,
    vocabulary: Vocabulary,
    *,
    limit: int | None = None,
    time_limit_s: float | None = None,
    most_steps: int = MOST_STEPS,
) -> Enumeration:
    """Enumerate every cover on one thread, up to a limit in number or seconds.

    Raises TooLargeError after `most_steps` cells walked.
    """
    if rules.compound_parts > FEW:
        few = replace(rules, compound_parts=FEW)
        found = enumerate_covers(
            puzzle, few, vocabulary,
            limit=limit, time_limit_s=time_limit_s, most_steps=most_steps,
        )  # fmt: skip
        if found.covers or not found.complete:
            return found
    model, laid = build_model(puzzle, rules, vocabulary, Steps(most_steps))
    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    if time_limit_s is not None:
        solver.parameters.max_time_in_seconds = time_limit_s
    collector = _Collector(laid, limit)
    status = solver.solve(model, collector)
    return Enumeration(
        covers=frozenset(collector.covers),
        complete=status in (cp_model.OPTIMAL, cp_model.INFEASIBLE),
        wall_s=solver.wall_time,
    )
