"""Play the boards of an archive to and fro, and check what the solver says of each position.

`.venv/bin/python -m benchmarks.kernels.hints ../shared/puzzles [I/N] [GAME]...` checks every Nth
board from the Ith on. A hint has to complete the moves of a player to one of all solutions of a
board, and "leads nowhere" is right if none of them has the moves. Of a board with more than LISTED
solutions only hints are checked: each has to use every cell once. Tiles is skipped: it has too many
solutions.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from nightgrid.archive.games import reader
from nightgrid.archive.payloads.published import Published
from nightgrid.archive.words.binding import bind_game, lexicon_for
from nightgrid.solvers.algebra import Ask, Budget, Status

LISTED, TRIES, BUDGET = 2000, 6, Budget(seconds=20.0)
RULES = {"letterboxed": "chains=2"}


def boards(folder: Path, game: str) -> Iterator[Any]:
    """Read the boards of an archive."""
    for path in sorted((folder / game).glob("*.json")):
        found = reader(game).read_puzzles(path.read_bytes(), "")
        yield from (item.puzzle for item in found if isinstance(item, Published))


def moves_of(game: str, value: Any) -> list[Any]:
    """Return a solution, as JSON, as the moves of a player."""
    if game == "strands":
        return [entry["path"] for entry in (value["spangram"], *value["theme_words"])]
    return list(value["words"] if game == "letterboxed" else value)


def named(game: str, moves: Any) -> list[Any]:
    """Name moves so that they are the same in every solution that has them."""
    return [frozenset(map(tuple, m)) if game == "strands" else str(m) for m in moves]


def parts(game: str, move: Any) -> set[str]:
    """Return what no two moves share: cells, and the domino that lies on them."""
    if game == "letterboxed":
        return {""}
    return set(map(str, move if game == "strands" else [*move[:2], sorted(move[2:])]))


def completes(game: str, moves: list[Any], puzzle: Any) -> bool:
    """Return whether moves take every cell of a board once."""
    if game == "letterboxed":
        return set("".join(moves)) == set("".join(puzzle.sides))
    cells = [tuple(cell) for move in moves for cell in (move if game == "strands" else move[:2])]
    return len(set(cells)) == len(cells) == puzzle.cell_count


def main() -> None:
    """Play every game and print what was checked."""
    folder, draw = Path(sys.argv[1]), random.Random(1)
    first, step = map(int, (*sys.argv[2:], "0/1")[0].split("/"))
    for game in sys.argv[3:] or ("pips", "letterboxed", "strands"):
        told: Counter[str] = Counter()
        for puzzle in islice(boards(folder, game), first, None, step):
            own_words = game == "letterboxed"
            bound = bind_game(game, RULES.get(game, ""), lexicon_for(game, own_words=own_words))
            every = bound.solve(puzzle, Ask(kind="all", limit=LISTED), None, BUDGET)
            solutions = [moves_of(game, bound.solution_to_json(one)) for one in every.solutions]
            told["boards"] += 1
            for _ in range(TRIES if solutions else 0):
                one, other = draw.choice(solutions), draw.choice(solutions)
                moves = one[: draw.randrange(len(one) + 1)]
                taken = {part for move in moves for part in parts(game, move)}
                # Half of the positions have a move of another solution, where it can be made.
                free = [move for move in other if taken.isdisjoint(parts(game, move))]
                moves += free[:1] if moves and not every.truncated and draw.random() < 0.5 else []
                found = bound.continuation(puzzle, moves, BUDGET)
                if every.truncated:
                    assert found.status is Status.SOLVED, puzzle
                    assert completes(game, [*moves, *found.solutions[0]], puzzle), puzzle
                    told["of many"] += 1
                    continue
                there = [set(named(game, each)) for each in solutions]
                is_open = any(each.issuperset(named(game, moves)) for each in there)
                assert found.status is (Status.SOLVED if is_open else Status.UNSOLVABLE), puzzle
                if is_open:
                    assert set(named(game, [*moves, *found.solutions[0]])) in there, puzzle
                told[found.status] += 1
        print(
            f"{game}: never wrong on {told['boards']} boards: {told['solved']} hints and "
            f"{told['unsolvable']} dead ends, and {told['of many']} hints of boards with many "
            "solutions",
            flush=True,
        )


if __name__ == "__main__":
    main()
