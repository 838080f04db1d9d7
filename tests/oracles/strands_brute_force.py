"""Enumerate the covers of a small Strands board by trying everything.

Written to be obviously right, not fast, and without a line of the solver: only the values that
describe a question (Puzzle, Rules) are shared. Every word is laid out letter by letter, every
compound is spelled out beforehand, and every choice of paths is tried one by one.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules

Cell = tuple[int, int]
Path = tuple[Cell, ...]
Piece = tuple[str, frozenset[Cell]]
"""The identity of an entry of a cover: its letters and its cells."""
Covering = frozenset[Piece]
"""The identity of a cover."""

MOST_STEPS = 400_000
FEW = 3
"""Words of spangrams that count first; longer ones count where these give no cover."""


class TooLargeError(Exception):
    """The board has more to try than an oracle should."""


class Steps:
    """Count steps, so that a test never hangs on an unlucky board."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken = 0

    def take(self) -> None:
        """Count a step; raises TooLargeError when it is one too many."""
        self.taken += 1
        if self.taken > self.most:
            raise TooLargeError(f"more than {self.most} steps")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """A lexicon as plain Python: words with frequencies in hundredths of the Zipf scale."""

    words: Mapping[str, int]
    """All 0 if no frequencies are known."""

    def parts(self, rules: Rules) -> dict[str, int]:
        """List the words that may be parts of a compound, with their costs.

        A part of up to three letters has at least the rules' frequency, and half a decade of the
        Zipf scale less for every further letter. Its cost is 9 minus its frequency on that scale.
        """
        if not any(self.words.values()):
            return dict.fromkeys(self.words, 0)
        return {
            word: max(0, 900 - centizipf)
            for word, centizipf in self.words.items()
            if centizipf > 0 and centizipf >= rules.part_centizipf - 50 * max(0, len(word) - 3)
        }

    def score(self, rules: Rules, pieces: Iterable[Piece]) -> int:
        """Add up the default score.

        A word scores its centizipf below 900, of which a third counts beyond 350. A compound
        scores the best of its allowed cuts: the parts' costs, and 100 for all but the first.
        """
        if not any(self.words.values()):
            return 0
        total = 0
        for word, _ in pieces:
            if word in self.words:
                beyond = max(0, self.words[word] - 350)
                total += self.words[word] - beyond + beyond // 3 - 900
            else:
                total -= min(
                    cost + 100 * (len(cut) - 1)
                    for cut, cost in cuts_of(word, rules, self)
                    if cost <= rules.compound_centibels
                )
        return total


def cells_of(puzzle: Puzzle) -> list[Cell]:
    return [(r, c) for r in range(len(puzzle.board)) for c in range(len(puzzle.board[0]))]


def are_neighbours(a: Cell, b: Cell, rules: Rules) -> bool:
    rows, columns = abs(a[0] - b[0]), abs(a[1] - b[1])
    return max(rows, columns) == 1 and (rules.diagonal or rows + columns == 1)


def paths_of(
    puzzle: Puzzle,
    rules: Rules,
    word: str,
    allowed: Iterable[Cell] | None = None,
    steps: Steps | None = None,
) -> Iterator[Path]:
    """Yield every path that spells the word, on the whole board or on the allowed cells only."""
    cells = cells_of(puzzle) if allowed is None else sorted(allowed)
    steps = steps or Steps(MOST_STEPS)

    def extend(path: Path) -> Iterator[Path]:
        steps.take()
        if len(path) == len(word):
            yield path
            return
        for cell in cells:
            if (
                puzzle.board[cell[0]][cell[1]] == word[len(path)]
                and cell not in path
                and (not path or are_neighbours(path[-1], cell, rules))
            ):
                yield from extend((*path, cell))

    yield from extend(())


def spans(puzzle: Puzzle, cells: Iterable[Cell]) -> bool:
    """Return whether cells touch two opposite sides of the board."""
    rows = {r for r, _ in cells}
    columns = {c for _, c in cells}
    return {0, puzzle.row_count - 1} <= rows or {0, puzzle.column_count - 1} <= columns


def diagonals_of(path: Path) -> frozenset[frozenset[Cell]]:
    """List the diagonal steps of a path, whichever way they are walked."""
    return frozenset(
        frozenset((a, b)) for a, b in itertools.pairwise(path) if a[0] != b[0] and a[1] != b[1]
    )


def cross(one: Path, other: Path) -> bool:
    """Return whether two paths without a common cell use both diagonals of one 2 x 2 block."""

    def blocks(path: Path) -> set[Cell]:
        return {(min(r for r, _ in d), min(c for _, c in d)) for d in diagonals_of(path)}

    return bool(blocks(one) & blocks(other))


def is_word(word: str, rules: Rules, vocabulary: Vocabulary) -> bool:
    return word in vocabulary.words and len(word) >= rules.min_letters


def cuts_of(word: str, rules: Rules, vocabulary: Vocabulary) -> list[tuple[list[str], int]]:
    """Cut letters into two or more parts in every way; list the parts and their costs."""
    costs = vocabulary.parts(rules)
    cuts = [
        [word[i:j] for i, j in itertools.pairwise((0, *inner, len(word)))]
        for count in range(2, rules.compound_parts + 1)
        for inner in itertools.combinations(range(1, len(word)), count - 1)
    ]
    return [(cut, sum(costs[part] for part in cut)) for cut in cuts if set(cut) <= set(costs)]


def cheapest_cut(word: str, rules: Rules, vocabulary: Vocabulary) -> int | None:
    """Cut letters into two or more parts at the least cost; None if they cannot be cut."""
    return min((cost for _, cost in cuts_of(word, rules, vocabulary)), default=None)


def is_compound(word: str, rules: Rules, vocabulary: Vocabulary) -> bool:
    """Return whether letters are two or more joined words, and not a word themselves."""
    cost = cheapest_cut(word, rules, vocabulary)
    return (
        rules.spangram != "off"
        and len(word) >= rules.min_letters
        and word not in vocabulary.words
        and cost is not None
        and cost <= rules.compound_centibels
    )


def pieces_of(
    puzzle: Puzzle, rules: Rules, vocabulary: Vocabulary, steps: Steps | None = None
) -> dict[Piece, list[Path]]:
    """Find every piece of the board with all its paths: words, and compounds that span."""
    supply = Counter("".join(puzzle.board))

    def is_at_hand(text: str) -> bool:
        return len(text) <= puzzle.cell_count and Counter(text) <= supply

    words = {w for w in vocabulary.words if is_word(w, rules, vocabulary) and is_at_hand(w)}
    compounds: set[str] = set()
    if rules.spangram != "off":
        costs = {part: cost for part, cost in vocabulary.parts(rules).items() if is_at_hand(part)}

        def run_together(text: str, cost: int, count: int) -> None:
            if steps is not None:
                steps.take()
            if cost > rules.compound_centibels or not is_at_hand(text):
                return
            if count >= 2 and len(text) >= rules.min_letters and text not in vocabulary.words:
                compounds.add(text)
            if count < rules.compound_parts:
                for part, more in costs.items():
                    run_together(text + part, cost + more, count + 1)

        run_together("", 0, 0)
    found: dict[Piece, list[Path]] = defaultdict(list)
    for text in sorted(words | compounds):
        for path in paths_of(puzzle, rules, text, steps=steps):
            if text in words or spans(puzzle, path):
                found[text, frozenset(path)].append(path)
    return dict(found)


def broken_rule(
    puzzle: Puzzle, rules: Rules, vocabulary: Vocabulary, pieces: Sequence[Piece]
) -> str:
    """Return the rule that a set of pieces breaks, apart from cells and crossings; else ""."""
    words = Counter(word for word, _ in pieces)
    if not rules.repeats and max(words.values(), default=0) > 1:
        return "a word occurs twice"
    compounds = sum(word not in vocabulary.words for word, _ in pieces)
    spanning = sum(spans(puzzle, cells) for _, cells in pieces)
    if compounds > 1:
        return "more than one compound"
    if rules.spangram == "required" and spanning == 0:
        return "no spangram"
    if rules.spangram == "one" and spanning != 1:
        return f"{spanning} pieces span the board, not one"
    if rules.words == "given" and puzzle.theme_words is not None:
        theme_words = len(pieces) - (rules.spangram != "off")
        if theme_words != puzzle.theme_words:
            return f"{theme_words} theme words, not {puzzle.theme_words}"
    return ""


def why_no_cover(
    puzzle: Puzzle, rules: Rules, vocabulary: Vocabulary, pieces: Iterable[Piece]
) -> str:
    """Explain why a set of pieces is not a cover of the board; "" if it is one."""
    pieces = list(pieces)
    covered = Counter(cell for _, cells in pieces for cell in cells)
    if covered != Counter(cells_of(puzzle)):
        return "the pieces do not cover every cell once"
    choices: list[list[Path]] = []
    for word, cells in pieces:
        if not is_word(word, rules, vocabulary):
            if not is_compound(word, rules, vocabulary):
                return f"{word} is neither a word nor a compound"
            if not spans(puzzle, cells):
                return f"{word} is a compound and spans no two sides"
        choices.append([p for p in paths_of(puzzle, rules, word, cells) if len(p) == len(cells)])
        if not choices[-1]:
            return f"{word} has no path on its cells"
    broken = broken_rule(puzzle, rules, vocabulary, pieces)
    if broken or rules.crossing or _some_paths_do_not_cross(choices):
        return broken
    return "the words cross whatever their paths"


def _some_paths_do_not_cross(
    choices: Sequence[Sequence[Path]], chosen: Sequence[Path] = ()
) -> bool:
    if len(chosen) == len(choices):
        return True
    return any(
        not any(cross(path, other) for other in chosen)
        and _some_paths_do_not_cross(choices, [*chosen, path])
        for path in choices[len(chosen)]
    )


def enumerate_covers(
    puzzle: Puzzle, rules: Rules, vocabulary: Vocabulary, *, most_steps: int = MOST_STEPS
) -> set[Covering]:
    """List every cover, each once, however many paths its words have.

    Raises TooLargeError after `most_steps` letters and paths tried.
    """
    if rules.compound_parts > FEW:
        few = replace(rules, compound_parts=FEW)
        found = enumerate_covers(puzzle, few, vocabulary, most_steps=most_steps)
        if found:
            return found
    steps = Steps(most_steps)
    through: dict[Cell, list[tuple[Piece, Path]]] = defaultdict(list)
    for piece, paths in pieces_of(puzzle, rules, vocabulary, steps).items():
        # Crossings depend only on diagonal steps, so one path of each kind is enough, or one in all
        # if crossing is allowed.
        kinds = {frozenset() if rules.crossing else diagonals_of(path): path for path in paths}
        for cell in piece[1]:
            through[cell] += [(piece, path) for path in kinds.values()]
    board = cells_of(puzzle)
    covers: set[Covering] = set()

    def place(chosen: list[tuple[Piece, Path]], free: frozenset[Cell]) -> None:
        steps.take()
        if not free:
            pieces = [piece for piece, _ in chosen]
            if not broken_rule(puzzle, rules, vocabulary, pieces):
                covers.add(frozenset(pieces))
            return
        for piece, path in through[min(free)]:
            if piece[1] <= free and (
                rules.crossing or not any(cross(path, other) for _, other in chosen)
            ):
                place([*chosen, (piece, path)], free - piece[1])

    place([], frozenset(board))
    return covers
