"""From pieces back to words on paths that do not cross."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, pairwise

from solvers.lexicon.lexicon import Lexicon
from solvers.strands.cover import Cover, Entry
from solvers.strands.known import phrase_of
from solvers.strands.pieces import Found, priced_parts
from solvers.strands.puzzle import Cell, Puzzle
from solvers.strands.rules import Rules
from solvers.strands.score import FREQUENCY


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
    pieces = found.words if kind == "word" else found.compounds
    mask, low = int(pieces.cells[row]), int(pieces.low[row])
    return frozenset(low + b for b in range(mask.bit_length()) if mask >> b & 1)


@lru_cache(maxsize=4096)
def paths_on(
    board: tuple[str, ...], word: str, cells: frozenset[int], *, diagonal: bool
) -> tuple[tuple[tuple[int, ...], frozenset[int]], ...]:
    """List a word's paths on its cells with the blocks they close, one path for each set."""
    width = len(board[0])
    found: dict[frozenset[int], tuple[int, ...]] = {}

    def extend(path: tuple[int, ...]) -> None:
        if len(path) == len(word):
            found.setdefault(_blocks(path, cells, width), path)
            return
        r, c = divmod(path[-1], width)
        for cell in sorted(cells.difference(path)):
            i, j = cell // width - r, cell % width - c
            near = max(abs(i), abs(j)) == 1 and (diagonal or not (i and j))
            if near and board[cell // width][cell % width] == word[len(path)]:
                extend((*path, cell))

    for cell in sorted(cells):
        if board[cell // width][cell % width] == word[0]:
            extend((cell,))
    return tuple((path, blocks) for blocks, path in found.items())


def _blocks(path: tuple[int, ...], cells: frozenset[int], width: int) -> frozenset[int]:
    closed = set()
    for a, b in pairwise(path):
        (r1, c1), (r2, c2) = divmod(a, width), divmod(b, width)
        if r1 != r2 and c1 != c2:
            one, other = r1 * width + c2, r2 * width + c1
            if one not in cells and other not in cells:
                closed.add(max(r1, r2) * width + max(c1, c2))
    return frozenset(closed)


def build_cover(
    pieces: list[tuple[str, int]], score: int, puzzle: Puzzle, rules: Rules, found: Found,
    lexicon: Lexicon,
) -> Cover:  # fmt: skip
    """Write pieces as a cover, with the first paths that do not cross one another."""
    words = [spell(piece, found, lexicon) for piece in pieces]
    options = [
        paths_on(puzzle.board, word, cells_of(piece, found), diagonal=rules.diagonal)
        for word, piece in zip(words, pieces, strict=True)
    ]
    chosen: list[tuple[int, ...]] = []

    def choose(i: int, closed: frozenset[int]) -> bool:
        if i == len(options):
            return True
        for path, blocks in options[i]:
            if not rules.crossing and blocks & closed:
                continue
            chosen.append(path)
            if choose(i + 1, closed | blocks):
                return True
            chosen.pop()
        return False

    if not choose(0, frozenset()):
        raise AssertionError("a cover whose words cross was counted")
    width = puzzle.column_count
    entries = []
    spangram = None
    for piece, word, path in zip(pieces, words, chosen, strict=True):
        cells: tuple[Cell, ...] = tuple(divmod(cell, width) for cell in path)
        compound = piece[0] == "compound"
        parts = cut(word, rules, lexicon) if compound else (word,)
        entry = Entry(word=word, path=cells, parts=parts)
        entries.append((entry, compound, not compound and found.words.spans[piece[1]]))
    if rules.spangram != "off":
        # A compound is the spangram; else the longest of the words that span.
        spanning = [e for e, compound, _ in entries if compound]
        spanning += sorted((e for e, _, spans in entries if spans), key=_length_then_place)
        spangram = spanning[0]
    theme = sorted((e for e, _, _ in entries if e is not spangram), key=lambda e: min(e.path))
    return Cover(spangram=spangram, theme_words=tuple(theme), score=score)


def _length_then_place(entry: Entry) -> tuple[int, Cell]:
    return -len(entry.word), min(entry.path)


def cut(word: str, rules: Rules, lexicon: Lexicon) -> tuple[str, ...]:
    """Cut a compound into its parts of the highest score; of equal ones, into the fewest."""
    costs, _, prices = priced_parts(lexicon, rules, FREQUENCY)
    parts = [
        {at + letters: index for letters, index in lexicon.beginnings(word[at:])}
        for at in range(len(word))
    ]
    ways = []
    for count in range(2, rules.compound_parts + 1):
        for inner in combinations(range(1, len(word)), count - 1):
            bounds = list(pairwise((0, *inner, len(word))))
            if any(b not in parts[a] for a, b in bounds):
                continue
            numbers = [parts[a][b] for a, b in bounds]
            if sum(int(costs[n]) for n in numbers) > rules.compound_centibels:
                continue
            score = int(prices.counts[count]) + sum(int(prices.parts[n]) for n in numbers)
            score += sum(phrase_of(a, b, prices) for a, b in pairwise(numbers))
            ways.append((-score, count, tuple(word[a:b] for a, b in bounds)))
    return min(ways)[2]
