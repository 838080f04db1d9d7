"""What a choice forces: cells that one piece only fits on get it, and so on from there.

Listing covers goes row by row, whatever order the values of states are found in. Most steps
on a large board are forced by earlier ones far away; they are known from a map of forced pieces,
which is laid along the way down and taken back on the way up, and need no search.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import I64, Int, search_kernel
from nightgrid.solvers.strands.general.groups import Laid

LOST = -1


class Step:
    """A state on the way down: what led here, what that forced, and what is known of it."""

    __slots__ = ("depth", "first", "forced", "group", "kids", "parent", "piece", "state", "values")

    def __init__(self, parent: Step | None, piece: int, group: int) -> None:
        self.parent, self.piece, self.group = parent, piece, group
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.state: Any = None
        self.first = 0
        """The first free cell."""
        self.values: Any = None
        self.forced: tuple[Any, Any] | None = None
        """Cells, and the piece that each of them gets; None: nothing new."""
        self.kids: dict[int, tuple[Any, Any] | None] | None = None
        """What each piece on the first free cell would force; None for those that cannot be."""


class Trail:
    """The map of forced pieces, as it is at one step."""

    def __init__(self, laid: Laid) -> None:
        self.laid = laid
        cells = len(laid.on_offsets) - 1
        self.map = np.full(cells, -1, np.int64)
        self._queue = np.empty(cells, np.int64)
        self._queued = np.zeros(cells, np.bool_)
        self._path: list[Step] = []

    def move_to(self, step: Step) -> None:
        """Lay the map as it is at a step."""
        path = self._path
        down = []
        while not (step.depth < len(path) and path[step.depth] is step):
            down.append(step)
            if step.parent is None:
                break
            step = step.parent
        keep = down[-1].depth if down else step.depth + 1
        while len(path) > keep:
            forced = path.pop().forced
            if forced is not None:
                self.map[forced[0]] = -1
        for below in reversed(down):
            if below.forced is not None:
                self.map[below.forced[0]] = below.forced[1]
            path.append(below)

    def force(self, piece: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
        """Find what a piece forces where the map is laid now; None if it cannot be."""
        laid = self.laid
        count = _force(piece, laid, self.map, self._queue, self._queued)
        if count == LOST:
            return None
        cells = self._queue[:count].copy()
        pieces = self.map[cells]
        self.map[cells] = -1
        return cells, pieces


@search_kernel
def _force(piece: Int, laid: Laid, forced: I64, queue: I64, queued: npt.NDArray[np.bool_]) -> Int:
    """Lay a piece and all that follows on the map; list its cells in `queue`, return how many.

    LOST, with the map as it was, when some cell is left without a piece.
    """
    offsets, cells, alive = laid.offsets, laid.cells, laid.alive
    on_offsets, on = laid.on_offsets, laid.on
    count = 0
    for j in range(offsets[piece], offsets[piece + 1]):
        if forced[cells[j]] >= 0:
            return LOST
    for j in range(offsets[piece], offsets[piece + 1]):
        forced[cells[j]] = piece
        queue[count] = cells[j]
        count += 1
    head = 0
    lost = False
    while head < count and not lost:
        c = queue[head]
        head += 1
        # Only cells that share a piece with a cell that is taken now can have become poorer.
        for i in range(on_offsets[c], on_offsets[c + 1]):
            p = on[i]
            if not alive[p] or lost:
                continue
            for j in range(offsets[p], offsets[p + 1]):
                d = cells[j]
                if forced[d] >= 0 or queued[d]:
                    continue
                queued[d] = True
                only, fitting = np.int64(-1), 0
                for k in range(on_offsets[d], on_offsets[d + 1]):
                    q = on[k]
                    if not alive[q]:
                        continue
                    fits = True
                    for m in range(offsets[q], offsets[q + 1]):
                        if forced[cells[m]] >= 0:
                            fits = False
                            break
                    if fits:
                        only = q
                        fitting += 1
                        if fitting == 2:
                            break
                if fitting == 0:
                    lost = True
                    break
                if fitting == 1:
                    for m in range(offsets[only], offsets[only + 1]):
                        forced[cells[m]] = only
                        queue[count] = cells[m]
                        count += 1
        # What was looked at for this cell may have to be looked at again for the next.
        for i in range(on_offsets[c], on_offsets[c + 1]):
            p = on[i]
            for j in range(offsets[p], offsets[p + 1]):
                queued[cells[j]] = False
    if lost:
        for i in range(count):
            forced[queue[i]] = -1
        return LOST
    return count
