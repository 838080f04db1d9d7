"""Play all boards of an archive by hints and at random, and check what the solver says of each.

`.venv/bin/python -m benchmarks.kernels.hints ../shared/puzzles [BOARDS]`, at most so many of each
game. A hint has to complete the moves before it to a solution, by the checker of its game, which
searches nothing. "Leads nowhere" is held against the list of all solutions of a board of Pips or
Strands, where it is no longer than LISTED, and against a plain search of Letter Boxed.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from nightgrid.archive.games import reader
from nightgrid.archive.payloads.published import Published
from nightgrid.archive.words.binding import bind_game, lexicon_for
from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.errors import IllegalMoveError
from nightgrid.solvers.letterboxed.check import played
from nightgrid.solvers.letterboxed.playing import words_of
from nightgrid.solvers.letterboxed.solution import Chain
from nightgrid.solvers.pips.check import check_solution
from nightgrid.solvers.pips.solution import solution_from_json
from nightgrid.solvers.strands.check import check_cover
from nightgrid.solvers.strands.placing import touches_opposite_sides
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.solution import Cover, Entry
from nightgrid.solvers.tiles.check import check_walk
from nightgrid.solvers.tiles.generate import Form, generate
from nightgrid.solvers.tiles.rules import Rules as TilesRules
from nightgrid.solvers.tiles.solution import Walk

LISTED = 2000
TRIES = 6
"""Positions of a board: some with moves of one solution, some with moves of two."""
BUDGET = Budget(seconds=20.0)


def boards(folder: Path, game: str, most: int) -> Iterator[Any]:
    """Read the boards of an archive; of Tiles, which has none, those of a generator."""
    if game == "tiles":
        yield from (generate(Form(), seed) for seed in range(min(most, 300)))
        return
    files = sorted((folder / game).glob("*.json"))
    found = (item for path in files for item in reader(game).read_puzzles(path.read_bytes(), ""))
    yield from islice((item.puzzle for item in found if isinstance(item, Published)), most)


def check(game: str, puzzle: Any, moves: Sequence[Any]) -> None:
    """Raise if moves are no solution of a board."""
    if game == "pips":
        check_solution(puzzle, solution_from_json(moves))
    elif game == "letterboxed":
        played(puzzle, Chain(words=tuple(moves)))
    elif game == "tiles":
        left = [set(tile) for tile in puzzle.tiles]
        leaps = []
        for i, (before, tile) in enumerate(zip(moves, moves[1:], strict=False), 1):  # noqa: RUF007
            shared = left[before] & left[tile]
            leaps += [] if shared else [i]
            left[before] -= shared
            left[tile] -= shared
        walk = Walk(tiles=tuple(moves), teleports=tuple(leaps))
        check_walk(puzzle, walk, TilesRules(teleports="yes"))
    else:
        paths = [tuple((r, c) for r, c in path) for path in moves]
        words = ["".join(puzzle.board[r][c] for r, c in path) for path in paths]
        entries = [
            Entry(word=w, path=p, components=(w,)) for w, p in zip(words, paths, strict=True)
        ]
        at = next(i for i, path in enumerate(paths) if touches_opposite_sides(path, puzzle))
        theme = tuple(entries[:at] + entries[at + 1 :])
        # The paths of two covers may cross where others over the same cells do not.
        check_cover(
            puzzle, Rules(crossing=True), Cover(spangram=entries[at], theme_words=theme, score=0)
        )


def key(game: str, move: Any) -> Any:
    """Name a move so that it is the same in every solution that has it."""
    return frozenset(map(tuple, move)) if game == "strands" else repr(move)


def goes_on(puzzle: Any, words: Sequence[str], moves: Sequence[str]) -> bool:
    """Return whether a plain search finds a chain that begins with words of Letter Boxed."""
    board = "".join(puzzle.sides)
    bit = {letter: 1 << i for i, letter in enumerate(board)}
    edges: dict[str, set[tuple[str, int]]] = {}
    for word in words:
        edges.setdefault(word[0], set()).add((word[-1], sum(bit[c] for c in set(word))))
    now = (moves[-1][-1], sum(bit[c] for c in set("".join(moves))))
    seen, waiting = {now}, [now]
    while waiting:
        last, mask = waiting.pop()
        if mask == (1 << len(board)) - 1:
            return True
        for to, more in edges.get(last, ()):
            if (to, mask | more) not in seen:
                seen.add((to, mask | more))
                waiting.append((to, mask | more))
    return False


def play(game: str, puzzle: Any, draw: random.Random, told: Counter[str]) -> None:
    """Ask for hints in a few positions of a board, and check each."""
    bound = bind_game(game, "", lexicon_for(game, own_words=game == "letterboxed"))
    first = bound.continuation(puzzle, (), BUDGET)
    assert first.status in (Status.SOLVED, Status.OVER_BUDGET, Status.UNSOLVABLE), first
    if first.status is not Status.SOLVED:
        told[str(first.status)] += 1
        return
    check(game, puzzle, first.solutions[0])
    whole = list(first.solutions[0])
    several = (
        bound.solve(puzzle, Ask(kind="all", limit=LISTED), None, BUDGET)
        if (game in ("pips", "strands"))
        else None
    )
    every = [] if several is None else [bound.solution_to_json(one) for one in several.solutions]
    if game == "strands":
        every = [[e["path"] for e in (one["spangram"], *one["theme_words"])] for one in every]
    for i in range(TRIES):
        moves = _moves(game, whole, every, draw, i)
        if game == "pips" and i % 2 and len(moves) < len(whole):
            moves = [*moves, _any_placement(puzzle, moves, draw)]
        if game == "letterboxed":
            moves = _typed(words_of(bound.model(puzzle)), draw)  # type: ignore[attr-defined]
        began = time.process_time_ns()
        try:
            found = bound.continuation(puzzle, moves, BUDGET)
        except IllegalMoveError:
            told["not allowed"] += 1
            continue
        told["ns"] += time.process_time_ns() - began
        told[f"{found.status}"] += 1
        if found.status is Status.SOLVED:
            assert len(found.solutions) == 1
            check(game, puzzle, [*moves, *found.solutions[0]])
        if several is not None and not several.truncated and several.solutions:
            mine = {key(game, move) for move in moves}
            is_there = any(mine <= {key(game, move) for move in one} for one in every)
            assert is_there is (found.status is Status.SOLVED), (puzzle, moves)
            told["compared"] += 1
        if game == "letterboxed" and moves:
            is_there = goes_on(puzzle, words_of(bound.model(puzzle)), moves)  # type: ignore[attr-defined]
            assert is_there is (found.status is Status.SOLVED), (puzzle.sides, moves)
            told["compared"] += 1


def _moves(game: str, whole: list[Any], every: list[Any], draw: random.Random, i: int) -> list[Any]:
    if game == "tiles":
        return whole[: draw.randrange(len(whole) + 1)] + [draw.randrange(30)] * (i % 2)
    one = draw.choice(every) if every else whole
    other = draw.choice(every) if every and i % 2 else one
    moves = draw.sample(one, draw.randrange(len(one) + 1))
    there = {key(game, move) for move in moves}
    more = [move for move in other if key(game, move) not in there]
    return [*moves, *more[: i % 2 if game == "strands" else 0]]


def _any_placement(puzzle: Any, moves: Sequence[Any], draw: random.Random) -> Any:
    """Place a domino anywhere: mostly where no solution has it."""
    taken = {tuple(cell) for move in moves for cell in move[:2]}
    free = {cell for cell in puzzle.cells if cell not in taken}
    beside = [
        ((r, c), to) for r, c in sorted(free) for to in ((r, c + 1), (r + 1, c)) if to in free
    ]
    left = list(
        (Counter(puzzle.dominoes) - Counter(tuple(sorted(m[2:])) for m in moves)).elements()
    )
    if not beside:
        return moves[0]
    (a, b), pips = draw.choice(beside), draw.choice(left)
    return [list(a), list(b), *draw.sample(pips, 2)]


def _typed(words: list[str], draw: random.Random) -> list[str]:
    typed: list[str] = []
    for _ in range(draw.randrange(4)):
        near = [word for word in words if not typed or word[0] == typed[-1][-1]]
        typed += [draw.choice(near)] if near else []
    return typed


def main() -> None:
    """Play every game and print what was checked."""
    folder, most = Path(sys.argv[1]), int((*sys.argv[2:], 10**9)[0])
    for game in ("pips", "letterboxed", "tiles", "strands"):
        told: Counter[str] = Counter()
        draw = random.Random(1)
        for puzzle in boards(folder, game, most):
            told["boards"] += 1
            play(game, puzzle, draw, told)
        solved, dead = told["solved"], told["unsolvable"]
        ms = told["ns"] / 1e6 / max(1, solved + dead)
        print(
            f"{game}: {told['boards']:,} boards, never wrong: {solved:,} hints and {dead:,} "
            f"positions that lead nowhere, {told['compared']:,} compared with all solutions; "
            f"{told['over_budget']} over budget, {told['not allowed']:,} moves not allowed; "
            f"{ms:.1f} ms each"
        )


if __name__ == "__main__":
    main()
