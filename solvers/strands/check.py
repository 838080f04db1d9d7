"""Check a cover against a board and the rules, without searching."""

from __future__ import annotations

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.strands.placing import crosses, strokes_of, touches_opposite_sides
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.solution import Cover, Entry


def check_cover(puzzle: Puzzle, rules: Rules, cover: Cover) -> None:
    """Raise PermanentError, naming the first rule that a cover breaks; else return.

    Does not check the vocabulary. Every entry needs a path.
    """
    taken: set[tuple[int, int]] = set()
    for entry in cover.entries:
        _check_entry(puzzle, rules, entry)
        if taken & entry.cells:
            raise PermanentError(f"{entry.word}: cell {min(taken & entry.cells)} is used twice")
        taken |= entry.cells
    if len(taken) != puzzle.cell_count:
        raise PermanentError(f"{len(taken)} of {puzzle.cell_count} cells are covered")
    words = [entry.word for entry in cover.entries]
    if not rules.repeats and len(set(words)) < len(words):
        raise PermanentError("a word occurs twice in the cover")
    if (
        rules.words == "given"
        and puzzle.theme_words is not None
        and len(cover.theme_words) != puzzle.theme_words
    ):
        raise PermanentError(f"{len(cover.theme_words)} theme words; expected {puzzle.theme_words}")
    spanning = [e for e in cover.entries if touches_opposite_sides(e.path, puzzle)]
    if rules.spangram != "off" and (cover.spangram is None or cover.spangram not in spanning):
        raise PermanentError("no spangram touches two opposite sides")
    if rules.spangram == "one" and len(spanning) != 1:
        raise PermanentError(f"{len(spanning)} words touch two opposite sides; expected one")
    if not rules.crossing:
        _check_crossing(cover)


def _check_entry(puzzle: Puzzle, rules: Rules, entry: Entry) -> None:
    path = entry.path
    if not path or len(set(path)) != len(path):
        raise PermanentError(f"{entry.word}: expected a path that uses no cell twice")
    inside = all(0 <= r < puzzle.row_count and 0 <= c < puzzle.column_count for r, c in path)
    if not inside or "".join(puzzle.board[r][c] for r, c in path) != entry.word:
        raise PermanentError(f"{entry.word}: its path does not spell it")
    for (r1, c1), (r2, c2) in zip(path, path[1:], strict=False):  # noqa: RUF007
        i, j = abs(r1 - r2), abs(c1 - c2)
        if max(i, j) != 1 or (i and j and not rules.diagonal):
            raise PermanentError(f"{entry.word}: cells {(r1, c1)} and {(r2, c2)} do not touch")
    if len(path) < rules.min_letters:
        raise PermanentError(f"{entry.word}: expected at least {rules.min_letters} letters")


def _check_crossing(cover: Cover) -> None:
    entries = cover.entries
    for i, one in enumerate(entries):
        for other in entries[i + 1 :]:
            if crosses(strokes_of(one.path), strokes_of(other.path)):
                raise PermanentError(f"{one.word} and {other.word} cross")
