"""Random small Strands boards with lexicons that cover them in many ways, and their reflections."""

from __future__ import annotations

import inspect
import itertools
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import strategies as st

from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from tests.oracles.strands_brute_force import (
    Cell,
    Covering,
    Path,
    TooLargeError,
    Vocabulary,
    are_neighbours,
    cells_of,
    enumerate_covers,
    spans,
)

needs_solver = pytest.mark.skipif(
    "NotImplementedError" in inspect.getsource(StrandsGame.solve),
    reason="the solver of Strands is not there yet",
)

ALPHABETS = (
    "A", "AB", "AB", "ABC", "ABC", "ABCD", "ABCDEF", "\u00c9\u0416", "\u00df7\U00010400-"
)  # fmt: skip
"""Few letters, so that words fit in many places; the last two beyond A to Z."""
LONGEST = 12
"""Letters of a planted spangram: longer ones have too many paths with few letters."""
FREQUENCIES = (0, 150, 299, 300, 301, 450, 733)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A question about a board, in plain values."""

    puzzle: Puzzle
    rules: Rules
    vocabulary: Vocabulary


def board(text: str, theme_words: int | None = None) -> Puzzle:
    """Make a board of rows separated by spaces."""
    return Puzzle(board=tuple(text.split()), theme_words=theme_words)


def lexicon_of_words(*words: str) -> Vocabulary:
    """Make a lexicon without frequencies."""
    return Vocabulary(words=dict.fromkeys(words, 0))


def walk(puzzle: Puzzle, rules: Rules, free: Iterable[Cell], most: int, rng: random.Random) -> Path:
    """Take a random path of bounded length over free cells."""
    left = set(free)
    path = [rng.choice(sorted(left))]
    left.discard(path[0])
    while len(path) < most:
        near = [cell for cell in sorted(left) if are_neighbours(path[-1], cell, rules)]
        if not near:
            break
        path.append(rng.choice(near))
        left.discard(path[-1])
    return tuple(path)


def spell(puzzle: Puzzle, path: Path) -> str:
    return "".join(puzzle.board[r][c] for r, c in path)


def planted(puzzle: Puzzle, rules: Rules, longest: int, rng: random.Random) -> list[Path]:
    """Cut the board into random paths."""
    free = set(cells_of(puzzle))
    paths = []
    while free:
        path = walk(puzzle, rules, free, rng.randint(1, longest), rng)
        paths.append(path)
        free -= set(path)
    return paths


def planted_spangram(puzzle: Puzzle, rules: Rules, longest: int, rng: random.Random) -> list[Path]:
    """Cut the board into a path that spans it and others, with few short ones."""
    best: list[Path] = []
    for _ in range(30):
        start = rng.choice([c for c in cells_of(puzzle) if 0 in c])
        path: Path = (start,)
        while not spans(puzzle, path):
            near = [
                cell
                for cell in cells_of(puzzle)
                if cell not in path and are_neighbours(path[-1], cell, rules)
            ]
            if not near or len(path) > LONGEST:
                break
            path = (*path, rng.choice(near))
        if not spans(puzzle, path) or len(path) > min(LONGEST, puzzle.cell_count * 3 // 4):
            continue
        free = set(cells_of(puzzle)) - set(path)
        paths = [path]
        while free:
            # From the cell with the fewest free neighbours, or it would be isolated.
            first = min(
                sorted(free), key=lambda a: sum(are_neighbours(a, b, rules) for b in free)
            )  # fmt: skip
            word: Path = (first,)
            most = rng.randint(min(rules.min_letters, longest), longest)
            while len(word) < most:
                near = [
                    c for c in sorted(free) if c not in word and are_neighbours(word[-1], c, rules)
                ]
                if not near:
                    break
                word = (*word, rng.choice(near))
            paths.append(word if rng.random() < 0.5 else word[::-1])
            free -= set(word)
        if not best or _too_short(paths, rules) < _too_short(best, rules):
            best = paths
        if not _too_short(best, rules):
            break
    return best or planted(puzzle, rules, longest, rng)


def _too_short(paths: list[Path], rules: Rules) -> int:
    return sum(len(path) < rules.min_letters for path in paths)


def random_zones(
    rng: random.Random,
    rules: Rules,
    *,
    shapes: Sequence[tuple[int, int]],
    alphabets: Sequence[str] = ALPHABETS,
    longest: int = 5,
    more_words: int = 8,
) -> Instance:
    """Make a board around a spangram that leaves zones, mostly with the right number of words."""
    rows, columns = rng.choice(shapes)
    alphabet = rng.choice(alphabets)
    puzzle = Puzzle(board=tuple("".join(rng.choices(alphabet, k=columns)) for _ in range(rows)))
    cover = planted_spangram(puzzle, rules, longest, rng)
    spangram, *words = [spell(puzzle, path) for path in cover]
    if rules.compound_parts > 1 and len(spangram) > 1 and rng.random() < 0.5:
        cuts = rng.sample(
            range(1, len(spangram)),
            min(rng.randint(1, rules.compound_parts - 1), len(spangram) - 1),
        )
        bounds = [0, *sorted(cuts), len(spangram)]
        words += [spangram[a:b] for a, b in itertools.pairwise(bounds)]
    else:
        words.append(spangram)
    least = min(rules.min_letters, longest)
    words += [
        spell(puzzle, walk(puzzle, rules, cells_of(puzzle), rng.randint(least, longest), rng))
        for _ in range(rng.randint(0, more_words))
    ]
    frequencies = FREQUENCIES if rng.random() < 0.7 else (0,)
    spanning = rules.spangram != "off"
    said = max(0, len(cover) - spanning + rng.choice([0, 0, 0, 0, 0, -1, 1]))
    return Instance(
        puzzle=replace(puzzle, theme_words=min(said, puzzle.cell_count)),
        rules=rules,
        vocabulary=Vocabulary(words={w: rng.choice(frequencies) for w in sorted(set(words))}),
    )


def random_instance(
    rng: random.Random, rules: Rules, *, most_cells: int = 12, longest: int = 5
) -> Instance:
    """Make a board and a lexicon: words cut from a cover, words read off it, words at random."""
    rows = rng.randint(1, 4)
    columns = rng.randint(1, min(max(4, most_cells // 2), most_cells // rows))
    if rng.random() < 0.5:
        rows, columns = columns, rows
    alphabet = rng.choice(ALPHABETS)
    puzzle = Puzzle(
        board=tuple("".join(rng.choices(alphabet, k=columns)) for _ in range(rows)),
    )
    cover = planted(puzzle, rules, longest, rng)
    words = [spell(puzzle, path) for path in cover]
    if rng.random() < 0.3:  # the longest is a spangram joined from two
        words.sort(key=len)
        last = words.pop()
        cut = rng.randint(1, max(1, len(last) - 1))
        words += [last[:cut], last[cut:] or last]
    words = [word for word in words if rng.random() < 0.95] or words[:1]
    words += [
        spell(puzzle, walk(puzzle, rules, cells_of(puzzle), rng.randint(1, longest), rng))
        for _ in range(rng.randint(0, 6))
    ]
    words += ["".join(rng.choices(alphabet, k=rng.randint(1, 4))) for _ in range(rng.randint(0, 4))]
    centizipf = {word: rng.choice(FREQUENCIES) for word in sorted(set(words))}
    has_frequencies = rng.random() < 0.7
    said = rng.choice([None, 0, 0, 0, -1, 1])
    if said is not None:
        count = len(cover) - (rules.spangram != "off") + said
        puzzle = replace(puzzle, theme_words=min(max(count, 0), puzzle.cell_count))
    return Instance(
        puzzle=puzzle,
        rules=rules,
        vocabulary=Vocabulary(words=centizipf if has_frequencies else dict.fromkeys(centizipf, 0)),
    )


all_rules = st.builds(
    Rules,
    spangram=st.sampled_from(["required", "one", "off"]),
    words=st.sampled_from(["given", "any"]),
    crossing=st.booleans(),
    repeats=st.booleans(),
    diagonal=st.sampled_from([True, True, True, False]),
    min_letters=st.sampled_from([1, 1, 2, 2, 3, 4]),
    compound_parts=st.sampled_from([1, 2, 2, 3, 4]),
    part_centizipf=st.sampled_from([0, 300, 450]),
    compound_centibels=st.sampled_from([300, 1100, 1250, 10_000]),
)


@st.composite
def instances(
    draw: st.DrawFn,
    rules: st.SearchStrategy[Rules] = all_rules,
    most_cells: int = 12,
    longest: int = 5,
) -> Instance:
    """Draw a question."""
    seed = draw(st.integers(0, 2**32))
    return random_instance(random.Random(seed), draw(rules), most_cells=most_cells, longest=longest)


SMALL = ((2, 3), (3, 3), (3, 4), (4, 3), (2, 6), (5, 3), (4, 4), (3, 6), (1, 9), (9, 1))
zone_rules = all_rules.map(lambda r: replace(r, words="given")).filter(
    lambda r: r.spangram != "off"
)
"""Rules under which a spangram and its zones are searched."""


@st.composite
def zoned(
    draw: st.DrawFn,
    rules: st.SearchStrategy[Rules] = zone_rules,
    shapes: Sequence[tuple[int, int]] = SMALL,
    alphabets: Sequence[str] = ALPHABETS,
    longest: int = 5,
    more_words: int = 8,
) -> Instance:
    """Draw a question about a board that a spangram divides."""
    seed = draw(st.integers(0, 2**32))
    return random_zones(
        random.Random(seed), draw(rules), shapes=shapes, alphabets=alphabets, longest=longest,
        more_words=more_words,
    )  # fmt: skip


def mirrored(puzzle: Puzzle) -> Puzzle:
    """Swap left and right."""
    return replace(puzzle, board=tuple(row[::-1] for row in puzzle.board))


def turned(puzzle: Puzzle) -> Puzzle:
    """Swap rows and columns."""
    return replace(
        puzzle, board=tuple("".join(column) for column in zip(*puzzle.board, strict=True))
    )


def mirror_cover(puzzle: Puzzle, cover: Covering) -> Covering:
    last = puzzle.column_count - 1
    return frozenset((w, frozenset((r, last - c) for r, c in cells)) for w, cells in cover)


def turn_cover(cover: Covering) -> Covering:
    return frozenset((w, frozenset((c, r) for r, c in cells)) for w, cells in cover)


def quick_covers(instance: Instance, most_steps: int = 6_000) -> set[Covering] | None:
    """Enumerate the covers by brute force; None if that takes long."""
    try:
        return enumerate_covers(
            instance.puzzle, instance.rules, instance.vocabulary, most_steps=most_steps
        )
    except TooLargeError:
        return None
