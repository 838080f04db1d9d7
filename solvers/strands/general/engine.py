"""The search for any board, group by group, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import chain
from operator import or_
from typing import NamedTuple

from nightgrid.solvers.algebra import Budget, Statistics
from nightgrid.solvers.kernel.codes import FIXED_TABLE_FULL, OUT_OF_BYTES
from nightgrid.solvers.meter import Meter
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.general.groups import (
    Group,
    Piece,
    groups_of,
    list_pieces,
    ordered,
)
from nightgrid.solvers.strands.pieces.pieces import Found
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.states.cell_supports import COMPOUND, PLAIN
from nightgrid.solvers.strands.states.engine import RootChildren

ANY = -1
"""Number of words left if any number is allowed."""
ALTERNATIVES_MAX = 256
"""Most alternatives of closed blocks of one state; a state with more is refused, never cut."""
PIECE_BYTES = 1024
"""Approximate memory of a piece with its placement."""
Value = tuple[int, int]
"""(count, best score)."""
NOTHING: Value = (0, 0)
NO_BLOCKS = frozenset({frozenset[int]()})


class GroupState(NamedTuple):
    """The key of a state: the ways to cover a group from a cell on."""

    first: int
    """Place of the first free cell in the group's order."""
    covered: int
    """Mask of the covered cells from there on."""
    closed: frozenset[frozenset[int]]
    """Alternatives of closed blocks that could still be crossed."""
    n: int
    """Pieces left, or ANY."""
    flag: int
    """Kind of the spangram so far."""
    bans: frozenset[int]
    """Words that must not recur and still fit somewhere."""


class PlacedPiece(NamedTuple):
    """A piece in the order of its group."""

    piece: Piece
    first: int
    """Place of its first cell."""
    mask: int
    """Its cells from there on."""


class _Frame:
    """A state being evaluated: its remaining steps, and the results of the others."""

    __slots__ = ("best", "count", "state", "steps")

    def __init__(self, state: GroupState, steps: list[tuple[int, GroupState]]) -> None:
        self.state, self.steps = state, steps
        self.count, self.best = 0, 0


class GroupSearch:
    """The states of one group, and their values."""

    def __init__(self, group: Group, rules: Rules, columns: int, meter: Meter) -> None:
        self.rules, self.columns, self.meter = rules, columns, meter
        self.size = len(group.cells)
        self.place = {cell: i for i, cell in enumerate(group.cells)}
        placed = [self._placed(piece) for piece in group.pieces]
        self.at: list[list[PlacedPiece]] = [[] for _ in group.cells]
        on: list[list[PlacedPiece]] = [[] for _ in group.cells]
        self.of_word: dict[int, list[PlacedPiece]] = {}
        for one in placed:
            self.at[one.first].append(one)
            self.of_word.setdefault(one.piece.word, []).append(one)
            for cell in one.piece.cells:
                on[self.place[cell]].append(one)
        # Pieces that fit begin on a free cell: those that begin late are tried first.
        self.on = [sorted(own, key=lambda one: -one.first) for own in on]
        # The cells that share a piece with a cell, as a mask from the lowest of them on.
        self.near = []
        for own in self.on:
            low = min((one.first for one in own), default=0)
            self.near.append((low, _union(one.mask << (one.first - low) for one in own)))
        sizes = [len(piece.cells) for piece in group.pieces] or [1]
        self.least, self.most = min(sizes), max(sizes)
        self.values: dict[GroupState, Value] = {}

    def _placed(self, piece: Piece) -> PlacedPiece:
        places = [self.place[cell] for cell in piece.cells]
        first = min(places)
        return PlacedPiece(piece, first, sum(1 << (place - first) for place in places))

    def root(self, n: int) -> GroupState:
        """Return the state in which nothing is covered."""
        return GroupState(0, 0, NO_BLOCKS, n, PLAIN, frozenset())

    def value(self, state: GroupState, *, exists: bool) -> Value:
        """Count the ways to cover a state, or only one with `exists`, and find the best score."""
        if state in self.values:
            return self.values[state]
        frames = [self._opened(state)]
        while frames:
            frame = frames[-1]
            if not frame.steps or (exists and frame.count):
                self.values[frame.state] = frame.count, frame.best
                self.meter.add_state(self.meter.states + 1)
                frames.pop()
                continue
            score, after = frame.steps[-1]
            known = self.values.get(after)
            if known is None:
                frames.append(self._opened(after))
                continue
            frame.steps.pop()
            count, best = known
            if count:
                frame.best = max(frame.best, score + best) if frame.count else score + best
                frame.count += count
        return self.values[state]

    def _opened(self, state: GroupState) -> _Frame:
        self.meter.add_node()
        frame = _Frame(state, [])
        left = self.size - state.first - state.covered.bit_count()
        if not left:
            ended = state.n in (0, ANY)
            frame.count = int(ended and (self.rules.spangram == "off" or state.flag != PLAIN))
        elif state.n == ANY or state.n * self.least <= left <= state.n * self.most:
            frame.steps = [(one.piece.score, after) for one, after in reversed(self.steps(state))]
        return frame

    def steps(self, state: GroupState) -> list[tuple[PlacedPiece, GroupState]]:
        """List the pieces that fit on the first free cell, each with the state after it."""
        if state.first == self.size or state.n == 0:
            return []
        steps = []
        for one in self.at[state.first]:
            if not one.mask & state.covered and self._is_allowed(one.piece, state):
                after = self._after(one, state)
                if after is not None:
                    steps.append((one, after))
        return steps

    def _is_allowed(self, piece: Piece, state: GroupState) -> bool:
        if piece.kind == COMPOUND and state.flag == COMPOUND:
            return False
        if self.rules.spangram == "one" and PLAIN not in (piece.kind, state.flag):
            return False
        return piece.word not in state.bans

    def _after(self, one: PlacedPiece, state: GroupState) -> GroupState | None:
        """Lay a piece; None if a cell near it has no piece left, or if it crosses."""
        piece, first, covered = one.piece, state.first, state.covered | one.mask
        near = (self.near[self.place[cell]] for cell in piece.cells)
        left = _union(_moved(mask, low - first) for low, mask in near) & ~covered
        while left:
            cell = first + (left & -left).bit_length() - 1
            fitting = next((o for o in self.on[cell] if _fits(o, first, covered)), None)
            if fitting is None:
                return None
            left &= ~(fitting.mask << (fitting.first - first))
        step = (~covered & (covered + 1)).bit_length() - 1
        first, covered = first + step, covered >> step
        closed = state.closed
        if not self.rules.crossing:
            closed = self._closed(piece, closed, first, covered)
            if not closed:
                return None
        bans = state.bans
        if not self.rules.repeats and (bans or len(self.of_word[piece.word]) > 1):
            bans = frozenset(
                word
                for word in (*bans, piece.word)
                if word >= 0 and any(_fits(o, first, covered) for o in self.of_word[word])
            )
        n = state.n if state.n == ANY else state.n - 1
        return GroupState(first, covered, closed, n, max(state.flag, piece.kind), bans)

    def _closed(
        self, piece: Piece, closed: frozenset[frozenset[int]], first: int, covered: int
    ) -> frozenset[frozenset[int]]:
        """Add a piece's closed blocks: the least alternatives, none if it crosses."""
        both = {one | own for one in closed for own in piece.closes if not one & own}
        open_blocks = {b for b in chain.from_iterable(both) if self._is_open(b, first, covered)}
        sets = {one & open_blocks for one in both}
        if len(sets) > ALTERNATIVES_MAX:
            raise BudgetSpentError(FIXED_TABLE_FULL)
        return frozenset(one for one in sets if not any(other < one for other in sets))

    def _is_open(self, block: int, first: int, covered: int) -> bool:
        """Return whether both cells of one of a block's diagonals are free."""
        for diagonal in ((block, block - self.columns - 1), (block - 1, block - self.columns)):
            places = [self.place.get(cell, -1) - first for cell in diagonal]
            if all(place >= 0 and not covered >> place & 1 for place in places):
                return True
        return False


def _union(masks: Iterable[int]) -> int:
    return reduce(or_, masks, 0)


def _moved(mask: int, by: int) -> int:
    return mask << by if by >= 0 else mask >> -by


def _fits(one: PlacedPiece, first: int, covered: int) -> bool:
    return one.first >= first and not (covered >> (one.first - first)) & one.mask


State = tuple[int, GroupState]
"""A group's number and its state; later groups are empty."""


class GeneralEngine(RootChildren):
    """Any board and any rules: cells in any order, states of any length."""

    def __init__(
        self, puzzle: Puzzle, rules: Rules, found: Found, budget: Budget, *, exists: bool
    ) -> None:
        self.budget, self.exists = budget, exists
        self.meter = Meter(budget)
        self.check_clock = self.meter.check_clock
        self.on_progress: Callable[[int, int], None] | None = None
        words = puzzle.theme_words if rules.words == "given" else None
        self.n = ANY if words is None else words + (rules.spangram != "off")
        coupled = self.n != ANY or rules.spangram != "off"
        if (len(found.words) + len(found.compounds)) * PIECE_BYTES > budget.table_bytes:
            raise BudgetSpentError(OUT_OF_BYTES)
        pieces = list_pieces(found, rules)
        self.check_clock()
        columns = puzzle.column_count
        self.searches = []
        for group in groups_of(pieces, puzzle.cell_count, rules, coupled=coupled):
            self.check_clock()
            self.searches.append(GroupSearch(ordered(group, columns), rules, columns, self.meter))
        self._behind: list[Value] | None = None
        self.root: State = 0, self.searches[0].root(self.n)
        self._root_children = self.children(self.root)

    def statistics(self) -> Statistics:
        """Return the cost so far."""
        return self.meter.statistics()

    def value(self, state: State) -> Value:
        """Count the covers below a state, and find the best score among them."""
        group, own = state
        count, best = self.searches[group].value(own, exists=self.exists)
        more, score = self._values_behind()[group] if count else NOTHING
        return count * more, best + score

    def _values_behind(self) -> list[Value]:
        """Value the groups after each group, the smallest first, since one may have no cover."""
        if self._behind is None:
            values = dict.fromkeys(range(1, len(self.searches)), NOTHING)
            for group in sorted(values, key=lambda group: self.searches[group].size):
                search = self.searches[group]
                values[group] = search.value(search.root(self.n), exists=self.exists)
                if not values[group][0]:
                    break
            self._behind = [(1, 0)]
            for group in range(len(self.searches) - 1, 0, -1):
                count, best = values[group]
                more, score = self._behind[-1]
                self._behind.append((count * more, best + score))
            self._behind.reverse()
        return self._behind

    def children(self, state: State) -> list[tuple[tuple[str, int], int, State]]:
        """List (piece, score, state) after each piece on the group's first free cell."""
        group, own = state
        kids = []
        for one, after in self.searches[group].steps(own):
            below: State = group, after
            if after.first == self.searches[group].size and group + 1 < len(self.searches):
                below = group + 1, self.searches[group + 1].root(self.n)
            kids.append((one.piece.name, one.piece.score, below))
        return kids
