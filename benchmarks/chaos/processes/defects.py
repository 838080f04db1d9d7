"""Bugs that a careless change would bring, each put into the process that installs it.

Which fault finds which of them is in `benchmarks/chaos/bugs.py`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.chaos.processes.files import claim_death


def install(name: str) -> None:
    """Put a bug into this process."""
    DEFECTS[name]()


def _torn() -> None:
    """Write parts under their own names, piece by piece."""
    from nightgrid.archive.lake import local_commit as disk

    link = disk.link

    def torn(staged: Path, target: Path) -> bool:
        if target.parent.name == "parts":
            data = staged.read_bytes()
            target.write_bytes(data[: len(data) // 2])
            if claim_death():
                os.kill(os.getpid(), signal.SIGKILL)
            target.write_bytes(data)
            staged.unlink()
            return True
        return link(staged, target)

    disk.link = torn


def _unchecked() -> None:
    """Compare no rows with their sums."""
    from nightgrid.archive.lake import storage

    storage.check_rows = lambda *_: None


def _unsent() -> None:
    """Never send a chunk again."""
    from nightgrid.workers.driver.chunk_table import ChunkTable

    send, ready = ChunkTable.send, ChunkTable.ready
    sent: set[tuple[int, int]] = set()

    def noting(self: Any, place: tuple[int, int], now: float) -> None:
        sent.add(place)
        send(self, place, now)

    def never_sent(self: Any) -> Any:
        return (chunk for chunk in ready(self) if chunk.key not in sent)

    ChunkTable.send = noting  # type: ignore[method-assign]
    ChunkTable.ready = never_sent  # type: ignore[method-assign]


def _drifting() -> None:
    """Answer otherwise when a chunk is worked again."""
    import pyarrow as pa

    def wrong(part: pa.Table, attempt: int) -> pa.Table:
        if attempt == 1:
            return part
        at = part.schema.get_field_index("nodes")
        more = pa.array([n + 1 for n in part.column(at).to_pylist()], part.schema.field(at).type)
        return part.set_column(at, part.schema.field(at), more)

    _answer_by_attempt(wrong)


def _short() -> None:
    """Leave out the last row when a chunk is worked again."""

    def cut(part: Any, attempt: int) -> Any:
        return part if attempt == 1 else part.slice(0, max(1, part.num_rows - 1))

    _answer_by_attempt(cut)


def _answer_by_attempt(changed: Callable[[Any, int], Any]) -> None:
    """Let `changed` make the answers of a chunk from the right ones and the chunk's attempt."""
    from nightgrid.workers.chunks import solve as chunks

    solve_chunk, solve_rows = chunks.solve_chunk, chunks.solve_rows
    attempt = [1]

    def noting(lake: Any, ref: Any, *others: Any) -> Any:
        attempt[0] = ref.attempt
        return solve_chunk(lake, ref, *others)

    def answered(*arguments: Any) -> Any:
        return changed(solve_rows(*arguments), attempt[0])

    chunks.solve_chunk, chunks.solve_rows = noting, answered


def _at_once() -> None:
    """Finish a run while chunks are still being worked."""
    from nightgrid.workers.driver.chunk_records import State
    from nightgrid.workers.driver.chunk_table import ChunkTable

    def settled(self: Any) -> bool:
        return not self.in_flight and not self.number_in(State.DONE)

    def nothing(_: Any) -> Any:
        return iter(())

    ChunkTable.ready = nothing  # type: ignore[method-assign]
    ChunkTable.is_settled = property(settled)  # type: ignore[method-assign,assignment]


DEFECTS: dict[str, Callable[[], None]] = {
    "none": lambda: None,
    "torn": _torn,
    "unchecked": _unchecked,
    "unsent": _unsent,
    "drifting": _drifting,
    "short": _short,
    "at-once": _at_once,
}
