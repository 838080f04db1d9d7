"""Bugs that a careless change would bring, each put into the process that installs it.

Which fault finds which of them is in `benchmarks/chaos_bugs.py`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.chaos_files import claim_death


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


def _unsent() -> None:
    """Never send a chunk again."""
    from nightgrid.workers.driver.chunk_states import State
    from nightgrid.workers.driver.chunk_table import ChunkTable

    send_first = ChunkTable._send_first  # noqa: SLF001 - a bug inside of it

    def forget(self: Any, place: tuple[int, int]) -> None:
        send_first(self, place)
        del self._open[State.READY][place]

    ChunkTable._send_first = forget  # type: ignore[method-assign]  # noqa: SLF001


def _drifting() -> None:
    """Answer otherwise when a chunk is worked again."""
    import pyarrow as pa

    from nightgrid.workers.runs import solve_chunk as chunks

    solve_chunk, solve_rows = chunks.solve_chunk, chunks.solve_rows
    attempt = [1]

    def noting(lake: Any, ref: Any, *others: Any) -> Any:
        attempt[0] = ref.attempt
        return solve_chunk(lake, ref, *others)

    def wrong(*arguments: Any) -> Any:
        part = solve_rows(*arguments)
        if attempt[0] == 1:
            return part
        at = part.schema.get_field_index("nodes")
        more = pa.array([n + 1 for n in part.column(at).to_pylist()], part.schema.field(at).type)
        return part.set_column(at, part.schema.field(at), more)

    chunks.solve_chunk, chunks.solve_rows = noting, wrong


def _short() -> None:
    """Leave out the last row when a chunk is worked again."""
    from nightgrid.workers.runs import solve_chunk as chunks

    solve_chunk, solve_rows = chunks.solve_chunk, chunks.solve_rows
    attempt = [1]

    def noting(lake: Any, ref: Any, *others: Any) -> Any:
        attempt[0] = ref.attempt
        return solve_chunk(lake, ref, *others)

    def cut(*arguments: Any) -> Any:
        part = solve_rows(*arguments)
        return part if attempt[0] == 1 else part.slice(0, max(1, part.num_rows - 1))

    chunks.solve_chunk, chunks.solve_rows = noting, cut


def _at_once() -> None:
    """Finish a run while chunks are still being worked."""
    from nightgrid.workers.driver.chunk_states import State
    from nightgrid.workers.driver.driver import _Driver

    work = _Driver.work

    def hasty(self: Any, stop: Any) -> None:
        self.growing.table._open[State.READY].clear()  # noqa: SLF001
        work(self, stop)

    _Driver.work = hasty  # type: ignore[method-assign]


DEFECTS: dict[str, Callable[[], None]] = {
    "none": lambda: None,
    "torn": _torn,
    "unsent": _unsent,
    "drifting": _drifting,
    "short": _short,
    "at-once": _at_once,
}
