"""Convert the pieces of a board to the arrays of the kernels."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import U64
from nightgrid.solvers.kernel.hash_table import EMPTY
from nightgrid.solvers.strands.pieces.pieces import Found, Pieces, order_of, reordered
from nightgrid.solvers.strands.pieces.words import on_board
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.zones import board as boards
from nightgrid.solvers.strands.zones.board import Geometry, Spangrams, Words, ZoneBoard


def _absolute_blocks(pieces: Pieces) -> U64:
    sizes = np.diff(pieces.block_offsets)
    return on_board(pieces.blocks, np.repeat(pieces.low, sizes))


_models: weakref.WeakKeyDictionary[Found, Model] = weakref.WeakKeyDictionary()


def model_of(puzzle: Puzzle, rules: Rules, found: Found) -> Model:
    """Return the model of a board's pieces, cached as long as they live.

    `found` belongs to one puzzle and one set of rules, for several asks.
    """
    if found not in _models:
        _models[found] = Model(puzzle, rules, found)
    return _models[found]


class Model:
    """A board of at most 63 cells, its theme words sorted by reduced cost, and its spangrams."""

    def __init__(self, puzzle: Puzzle, rules: Rules, found: Found) -> None:
        self.puzzle = puzzle
        self.rules = rules
        cells = puzzle.cell_count
        self.full = np.uint64((1 << cells) - 1)
        pieces = found.words
        theme = np.arange(len(pieces))
        if rules.spangram == "one":
            theme = theme[~pieces.spans]
        masks = on_board(pieces.cells, pieces.low)
        bits = _bits(masks[theme])
        prices = boards.price_cells(bits, masks[theme], cells)
        self._order(pieces, theme, bits, masks, prices)
        self.spangrams, self.members, self.member_offsets = self._spangrams(found, masks)
        self.board = _board_of(puzzle, rules, prices, self.words, puzzle.theme_words or 0)

    def _order(self, pieces: Pieces, theme: Any, bits: Any, masks: Any, prices: Any) -> None:
        reduced = boards.UNIT - bits.astype(np.int64) @ prices
        order = np.argsort(reduced, kind="stable")
        self.piece = theme[order]
        """Row of `found.words` of each theme word piece."""
        count = len(order)
        self.names, self.first, number = np.unique(
            pieces.word[self.piece], return_index=True, return_inverse=True
        )
        cells, bits = masks[self.piece], bits[order]
        bounds, places = reordered(pieces.block_offsets, self.piece)
        blocks = _absolute_blocks(pieces)[places]
        # The blocks that all sets of a piece hold.
        every_path = np.bitwise_and.reduceat(blocks, bounds[:-1]) if len(blocks) else blocks
        fields = np.zeros((count + 1, boards.WORD_FIELDS), np.int64)
        fields[:-1, boards.REDUCED] = reduced[order]
        fields[:-1, boards.SCORE] = pieces.score[self.piece]
        fields[:-1, boards.WORD] = self.first[number]
        fields[:, boards.RANK] = -1
        fields[:, boards.BLOCKS] = bounds
        slot_bits = max(4, int(2 * count).bit_length())
        listed, on = np.nonzero(bits.T)[::-1]
        self.words = Words(
            cells=cells,
            fields=fields,
            blocks=blocks,
            sets=np.empty((boards.SETS, (count + 63) // 64), np.uint64),
            spanning=np.empty(0, np.int64),
            offsets=_offsets(on, fields[listed, boards.REDUCED]),
            masks=np.append(cells[listed], np.full(boards.LANES, ~np.uint64(0))),
            lists=np.stack(
                [fields[listed, boards.REDUCED], listed, every_path[listed]], axis=1
            ).astype(np.uint64),
            slots=np.full(1 << slot_bits, EMPTY, np.uint32),
            slot_bits=slot_bits,
        )
        last = np.full(count, -1, np.int64)
        boards.link_pieces(self.words, last, twins=not self.rules.repeats)
        twin = fields[:-1, boards.TWIN, None] != 0
        self.words.sets[:] = _bitsets(np.concatenate([bits, _bits(every_path), twin], axis=1))

    def _spangrams(self, found: Found, masks: Any) -> tuple[Spangrams, Any, Any]:
        """Order spangrams by the largest zone they leave, then by cells, blocks and kind.

        Compounds on the same cells with the same single set of blocks become one row.
        `members[member_offsets[s]:member_offsets[s + 1]]` are the pieces of row s: a compound's
        row in `found.compounds`, or -1 - row for a word.
        """
        words = np.flatnonzero(found.words.spans)
        if self.rules.spangram == "off":
            words = words[:0]
        compounds = found.compounds
        cells = np.concatenate([masks[words], on_board(compounds.cells, compounds.low)])
        sizes = np.concatenate(
            [np.diff(found.words.block_offsets)[words], np.diff(compounds.block_offsets)]
        )
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        bounds, places = reordered(found.words.block_offsets, words)
        blocks = np.concatenate(
            [_absolute_blocks(found.words)[places], _absolute_blocks(compounds)]
        ).astype(np.uint64)
        kinds = np.concatenate([-1 - words, np.arange(len(compounds))]).astype(np.int64)
        first_block = blocks[offsets[:-1]] if len(sizes) else blocks
        largest = np.empty(len(cells), np.int64)
        boards.measure_zones(cells, self.full, geometry_of(self.puzzle, self.rules), largest)
        order = order_of(largest, cells, first_block, kinds)
        single = sizes[order] == 1
        joins = np.zeros(len(order), np.bool_)
        if len(order):
            a, b = order[:-1], order[1:]
            joins[1:] = (
                (cells[a] == cells[b])
                & (first_block[a] == first_block[b])
                & single[:-1]
                & single[1:]
                & (kinds[a] >= 0)
                & (kinds[b] >= 0)
            )
        heads = np.flatnonzero(~joins)
        member_offsets = np.append(heads, len(order)).astype(np.int64)
        rows = order[heads]
        fields = np.full((len(rows), 2), -1, np.int64)
        fields[:, 1] = 0
        self._own_words(fields, kinds[rows], cells[rows], found)
        bounds, places = reordered(offsets, rows)
        spangrams = Spangrams(
            cells=cells[rows], fields=fields, block_offsets=bounds, blocks=blocks[places]
        )
        return spangrams, kinds[order], member_offsets

    def _own_words(self, fields: Any, kinds: Any, cells: Any, found: Found) -> None:
        """Record which spangrams are words, and which theme words they exclude."""
        own = np.flatnonzero(kinds < 0)
        if not len(own):
            return
        piece = -1 - kinds[own]
        if not self.rules.repeats:
            word = found.words.word[piece]
            number = np.searchsorted(self.names, word)
            number[number == len(self.names)] = 0
            known = self.names[number] == word if len(self.names) else np.zeros(len(own), bool)
            fields[own[known], 0] = self.first[number[known]]
        if self.rules.spangram == "one":
            return
        rank_of = np.full(len(found.words), -1, np.int64)
        rank_of[piece] = own
        ranks = rank_of[self.piece]
        spanning = np.flatnonzero(ranks >= 0)
        self.words.fields[:-1, boards.RANK] = ranks
        self.words = self.words._replace(spanning=spanning)
        for s in own:
            lower = spanning[ranks[spanning] < s]
            if len(lower) and np.any((self.words.cells[lower] & cells[s]) == 0):
                # The kernel skips lower ranks; rank 0 has none.
                fields[s, 1] = s


def geometry_of(puzzle: Puzzle, rules: Rules) -> Geometry:
    """Convert size and rules for the kernels."""
    width = puzzle.column_count
    left = sum(1 << (r * width) for r in range(puzzle.row_count))
    return Geometry(
        columns=width,
        min_letters=rules.min_letters,
        repeats=rules.repeats,
        diagonal=rules.diagonal,
        left=np.uint64(left),
        right=np.uint64(left << (width - 1)),
    )


def _board_of(puzzle: Puzzle, rules: Rules, prices: Any, words: Words, words_max: int) -> ZoneBoard:
    depth = 2 * words_max + 4
    board = ZoneBoard(
        geometry=geometry_of(puzzle, rules),
        prices=prices,
        # No cell has a support at first: a word of all cells fits nowhere.
        support=np.full((boards.WORD_CELLS, boards.SUPPORT_FIELDS), ~np.uint64(0)),
        frames=np.zeros((depth, boards.F_FIELDS), np.uint64),
        bitsets=np.zeros((depth, 2, words.sets.shape[1]), np.uint64),
        shares=np.zeros((depth, 2, words_max + 2, 3), np.uint64),
        stamps=np.zeros(len(words.cells) + 1, np.int64),
    )
    board.frames[0, boards.F_LEFT] = np.uint64((1 << puzzle.cell_count) - 1)
    board.bitsets[0, boards.FITTING] = ~np.uint64(0)
    return board


def _offsets(on: Any, reduced: Any) -> U64:
    """Return the start of each cell's list, and its end for each slack.

    `on`: cells, ascending; `reduced`: of the pieces on each, ascending.
    """
    slack = np.minimum(reduced >> boards.SLACK_SHIFT, boards.SLACKS - 1)
    bounds = np.concatenate([[-1], np.arange(boards.SLACKS)])
    cells = np.arange(boards.WORD_CELLS)
    ends = cells[:, None] * boards.SLACKS + bounds
    return np.searchsorted(on * boards.SLACKS + slack, ends, side="right").astype(np.uint64)


def _bitsets(bits: Any) -> U64:
    """Convert bool[pieces, sets] to uint64[sets, bitset words]."""
    pieces, sets = bits.shape
    padded = np.zeros((sets, (pieces + 63) // 64 * 64), np.bool_)
    padded[:, :pieces] = bits.T
    packed = np.packbits(padded, axis=1, bitorder="little")
    words: U64 = packed.view(np.dtype("<u8")).astype(np.uint64)
    return words


def _bits(masks: Any) -> npt.NDArray[np.bool_]:
    """Convert masks to bool[masks, 64]."""
    bits = (masks[:, None] >> np.arange(boards.WORD_CELLS, dtype=np.uint64)) & np.uint64(1)
    return np.asarray(bits, np.bool_)
