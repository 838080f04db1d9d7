"""Check a cover against a board, the rules and a lexicon, without searching."""

from __future__ import annotations

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.strands.placing import crosses, strokes_of, touches_opposite_sides
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.score import component_costs
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


def missing_words(cover: Cover, rules: Rules, lexicon: Lexicon) -> tuple[str, ...]:
    """Name the words of a cover that are neither words nor compounds that the rules allow.

    A theme word may only be a compound if it touches two opposite sides. One that could be a
    compound is not named if its cells are unknown.
    """
    costs = component_costs(lexicon, rules.part_centizipf)
    parts = 1 if rules.spangram == "off" else rules.compound_parts
    cells = [cell for entry in cover.entries for cell in entry.path]
    ends = [max(line) for line in zip(*cells, strict=True)]

    def is_compound(text: str, parts: int, most: int) -> bool:
        return not text or (
            parts > 0
            and any(
                costs[word] <= most
                and is_compound(text[letters:], parts - 1, most - int(costs[word]))
                for letters, word in lexicon.beginnings(text)
            )
        )

    def may_span(entry: Entry) -> bool:
        lines = zip(zip(*entry.path, strict=True), ends, strict=False)
        return not entry.path or any({0, end} <= set(line) for line, end in lines)

    return tuple(
        entry.word
        for entry in cover.entries
        if lexicon.find(entry.word) < 0
        and not (may_span(entry) and is_compound(entry.word, parts, rules.compound_centibels))
    )
