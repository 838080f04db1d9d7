"""Convert pieces back to words on paths that do not cross."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from operator import itemgetter

from nightgrid.solvers.kernel.compiling import I32
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.strands.pieces.compounds import ScoreWeights, phrase_of
from nightgrid.solvers.strands.pieces.pieces import Found, scored_components
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.solution import Cover, Entry

Options = tuple[tuple[tuple[int, ...], frozenset[int]], ...]
"""A word's paths on its cells, each with the blocks it closes."""


def spell(piece: tuple[str, int], found: Found, lexicon: Lexicon) -> str:
    """Write the letters of a piece."""
    kind, row = piece
    if kind == "word":
        return lexicon.word(int(found.words.word[row]))
    code = (int(found.codes[row, 0]) << 64) | int(found.codes[row, 1])
    letters = []
    while code > 1:
        letters.append(chr(int(lexicon.alphabet[code & 63])))
        code >>= 6
    return "".join(reversed(letters))


def cells_of(piece: tuple[str, int], found: Found) -> frozenset[int]:
    """List the cells of a piece."""
    kind, row = piece
    return (found.words if kind == "word" else found.compounds).cells_on(row)


@lru_cache(maxsize=4096)
def paths_on(
    board: tuple[str, ...], word: str, cells: frozenset[int], *, diagonal: bool
) -> Options:
    """List a word's paths on its cells with the blocks they close, the first for each set.

    Of paths that have reached the same cell over the same cells and close the same blocks, only the
    first is continued.
    """
    graph = _PieceGraph(board, word, cells, diagonal=diagonal)
    walks: dict[tuple[int, int, frozenset[int]], tuple[int, ...]] = {
        (1 << at, at, frozenset()): (at,) for at in graph.starts()
    }
    for _ in word[1:]:
        longer: dict[tuple[int, int, frozenset[int]], tuple[int, ...]] = {}
        # In order of their cells, so that the first to reach a place is the least.
        for (used, at, blocks), path in sorted(walks.items(), key=lambda walk: walk[1]):
            for to in graph.steps(used, at):
                closed = graph.blocks[at].get(to)
                now = blocks if closed is None else blocks | {closed}
                longer.setdefault((used | 1 << to, to, now), (*path, to))
        walks = longer
    first: dict[frozenset[int], tuple[int, ...]] = {}
    for (_, _, blocks), path in sorted(walks.items(), key=lambda walk: walk[1]):
        first.setdefault(blocks, graph.named(path))
    return tuple((path, blocks) for blocks, path in first.items())


@lru_cache(maxsize=4096)
def path_on(
    board: tuple[str, ...], word: str, cells: frozenset[int], *, diagonal: bool
) -> tuple[int, ...]:
    """Find a word's first path on its cells."""
    graph = _PieceGraph(board, word, cells, diagonal=diagonal)
    lost: set[tuple[int, int]] = set()
    path: list[int] = []
    options = [iter(graph.starts())]
    used = 0
    while len(path) < len(word):
        to = next(options[-1], None)
        if to is None:
            options.pop()
            at = path.pop()
            lost.add((used, at))
            used ^= 1 << at
        elif (used | 1 << to, to) not in lost:
            path.append(to)
            used |= 1 << to
            options.append(iter(graph.steps(used, to)))
    return graph.named(tuple(path))


class _PieceGraph:
    """The cells of a piece, numbered in order, and the possible steps of a word on them."""

    def __init__(
        self, board: tuple[str, ...], word: str, cells: frozenset[int], *, diagonal: bool
    ) -> None:
        self.word, self.cells = word, sorted(cells)
        width = len(board[0])
        self.letters = [board[cell // width][cell % width] for cell in self.cells]
        number = {cell: i for i, cell in enumerate(self.cells)}
        self.near: list[list[int]] = []
        self.around: list[int] = []
        self.blocks: list[dict[int, int]] = []
        self.full = (1 << len(self.cells)) - 1
        for cell in self.cells:
            r, c = divmod(cell, width)
            near, blocks = [], {}
            for i, j in ((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j):
                to = number.get(cell + i * width + j)
                if to is None or not 0 <= c + j < width or (i and j and not diagonal):
                    continue
                near.append(to)
                beside = (cell + i * width) in number or (cell + j) in number
                if i and j and not beside:
                    blocks[to] = max(r, r + i) * width + max(c, c + j)
            self.near.append(near)
            self.around.append(sum(1 << to for to in near))
            self.blocks.append(blocks)

    def starts(self) -> list[int]:
        """List where the word may begin."""
        return [i for i, letter in enumerate(self.letters) if letter == self.word[0]]

    def steps(self, used: int, at: int) -> list[int]:
        """List the next cells of a path, if it can still reach every cell."""
        size = used.bit_count()
        left = self.full ^ used
        if not left or not self._is_one(left):
            return []
        return [
            to for to in self.near[at] if left >> to & 1 and self.letters[to] == self.word[size]
        ]

    def _is_one(self, left: int) -> bool:
        seen = border = left & -left
        while border:
            near = 0
            while border:
                low = border & -border
                near |= self.around[low.bit_length() - 1]
                border ^= low
            border = near & left & ~seen
            seen |= border
        return seen == left

    def named(self, path: tuple[int, ...]) -> tuple[int, ...]:
        """Return the cells of a path in the numbering of the board."""
        return tuple(self.cells[i] for i in path)


def paths_without_crossing(options: list[Options]) -> list[tuple[int, ...]]:
    """Choose of each piece's paths the first so that no two cross.

    Pieces that can close no block in common are independent.
    """
    first = [ways[0][1] for ways in options]
    if sum(map(len, first)) == len(frozenset().union(*first)):
        return [ways[0][0] for ways in options]
    by_block: dict[int, list[int]] = {}
    for i, ways in enumerate(options):
        for block in frozenset().union(*(blocks for _, blocks in ways)):
            by_block.setdefault(block, []).append(i)
    root = list(range(len(options)))

    def top(i: int) -> int:
        while root[i] != i:
            root[i] = i = root[root[i]]
        return i

    for own in by_block.values():
        for i in own[1:]:
            a, b = sorted((top(own[0]), top(i)))
            root[b] = a
    together: dict[int, list[int]] = {}
    for i in range(len(options)):
        together.setdefault(top(i), []).append(i)
    chosen = [0] * len(options)
    for pieces in together.values():
        closed: list[frozenset[int]] = [frozenset()]
        tried = [0]
        while len(tried) <= len(pieces):
            i = pieces[len(tried) - 1]
            while tried[-1] < len(options[i]) and options[i][tried[-1]][1] & closed[-1]:
                tried[-1] += 1
            if tried[-1] == len(options[i]):
                if len(tried) == 1:
                    raise AssertionError("a cover whose words cross was counted")
                tried.pop()
                closed.pop()
                tried[-1] += 1
                continue
            chosen[i] = tried[-1]
            closed.append(closed[-1] | options[i][tried[-1]][1])
            tried.append(0)
    return [ways[choice][0] for ways, choice in zip(options, chosen, strict=True)]


def cover_builder(
    puzzle: Puzzle, rules: Rules, found: Found, lexicon: Lexicon
) -> Callable[[list[tuple[str, int]], int], Cover]:
    """Return a function that writes pieces and their score as a cover.

    Its paths are the first that do not cross one another. Pieces of several covers are converted
    once.
    """
    width = puzzle.column_count

    @cache
    def read(piece: tuple[str, int]) -> tuple[str, Options]:
        word, cells = spell(piece, found, lexicon), cells_of(piece, found)
        if rules.crossing:
            path = path_on(puzzle.board, word, cells, diagonal=rules.diagonal)
            return word, ((path, frozenset()),)
        return word, paths_on(puzzle.board, word, cells, diagonal=rules.diagonal)

    @cache
    def lay(piece: tuple[str, int], path: tuple[int, ...]) -> tuple[int, tuple[int, int], Entry]:
        # The lowest cell and the entry; the spangram is a compound, or the longest spanning word.
        word, compound = read(piece)[0], piece[0] == "compound"
        rank = 0 if compound else 1 if found.words.spans[piece[1]] else 2
        parts = cut(word, rules, lexicon) if compound else (word,)
        cells = tuple(divmod(cell, width) for cell in path)
        return min(path), (rank, -len(word)), Entry(word=word, path=cells, components=parts)

    def build(pieces: list[tuple[str, int]], score: int) -> Cover:
        paths = paths_without_crossing([read(piece)[1] for piece in pieces])
        laid = sorted(map(lay, pieces, paths), key=itemgetter(0))
        spangram = None if rules.spangram == "off" else min(laid, key=itemgetter(1))[2]
        theme = tuple(entry for _, _, entry in laid if entry is not spangram)
        return Cover(spangram=spangram, theme_words=theme, score=score)

    return build


def cut(word: str, rules: Rules, lexicon: Lexicon) -> tuple[str, ...]:
    """Cut a compound into its components of the highest score; of equal ones, into the fewest."""
    costs, weights = scored_components(lexicon, rules)
    best = best_cut(word, lexicon, costs, weights, rules.compound_parts, rules.compound_centibels)
    assert best is not None
    return best[1]


def best_cut(
    text: str, lexicon: Lexicon, costs: I32, weights: ScoreWeights, parts_max: int, cost_max: int
) -> tuple[int, tuple[str, ...]] | None:
    """Cut a text into two components or more: (score, components), or None.

    Of equal scores the fewest components.
    """
    # Merging by (at, components so far, last component) would suffice, but texts are short.
    ways: list[tuple[int, int, tuple[int, ...], int]] = [(0, 0, (), 0)]
    done: list[tuple[int, int, tuple[int, ...]]] = []
    while ways:
        at, cost, parts, value = ways.pop()
        for letters, word in lexicon.beginnings(text[at:]):
            spent = cost + int(costs[word])
            if spent > cost_max:
                continue
            more = (*parts, word)
            score = value + int(weights.components[word])
            if parts:
                score += int(phrase_of(parts[-1], word, weights))
            if at + letters == len(text):
                if len(more) > 1:
                    done.append((-score - int(weights.counts[len(more)]), len(more), more))
            elif len(more) < parts_max:
                ways.append((at + letters, spent, more, score))
    if not done:
        return None
    negative, _, best = min(done)
    return -negative, tuple(map(lexicon.word, best))
