"""Faults inside a worker: the Celery app of nightgrid, with some of its steps going wrong.

`celery --app benchmarks.chaos.processes.inject worker`. The environment says what goes wrong:

NIGHTGRID_CHAOS_DIR        folder of the files of `benchmarks/chaos/processes/files.py`
NIGHTGRID_CHAOS_PAUSE_S    every chunk of many rows takes this much longer
NIGHTGRID_CHAOS_SEGFAULT   puzzle ids, separated by commas, whose boards crash the process
NIGHTGRID_CHAOS_FOREVER    puzzle ids whose boards never end
NIGHTGRID_CHAOS_READ_ONLY  the lake refuses every write
NIGHTGRID_CHAOS_NO_ROOM    the quota of this worker is used up: it can write nothing
NIGHTGRID_CHAOS_OLDER      version of the solver of Pips, of an earlier worker
NIGHTGRID_CHAOS_DOUBLE     module whose `install()` puts another game in the place of one of ours
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import os
import signal
import time
from pathlib import Path
from typing import Any

from benchmarks.chaos.processes.files import DISK_FULL, EXECUTIONS, chaos_folder, claim_death


def install_double() -> None:
    """Put another game in the place of one of ours, if the environment names one."""
    name = os.environ.get("NIGHTGRID_CHAOS_DOUBLE")
    if name:
        importlib.import_module(name).install()


def _install_older_version(version: str) -> None:
    """Make this a worker of an earlier version."""
    from nightgrid.solvers.pips.game import PipsGame

    PipsGame.solver_version = version


def _install_faults() -> None:
    from nightgrid.archive.lake import local_commit as disk
    from nightgrid.workers.chunks import solve as chunks

    folder = chaos_folder()
    pause_s = float(os.environ.get("NIGHTGRID_CHAOS_PAUSE_S") or 0)
    crashing = _ids("NIGHTGRID_CHAOS_SEGFAULT")
    endless = _ids("NIGHTGRID_CHAOS_FOREVER")
    read_only = "NIGHTGRID_CHAOS_READ_ONLY" in os.environ
    no_room = "NIGHTGRID_CHAOS_NO_ROOM" in os.environ
    write_note, solve_rows = chunks.write_note, chunks.solve_rows
    link, commit = disk._link, disk.LocalFolder.commit  # noqa: SLF001 - a fault goes in there
    ids: list[str] = []  # of the boards of the chunk in hand: workers themselves do not read them

    def noted(lake: Any, ref: Any, note: Any) -> None:
        # Not `time.time`, which may be skewed.
        now = time.clock_gettime(time.CLOCK_REALTIME)
        line = f"{now:.3f} {ref.name} {ref.attempt} {note.worker}\n"
        if crashing or endless:
            boards = lake.read_row_groups(ref.manifest_path, [ref.chunk], ["puzzle_id"])
            ids[:] = boards.column("puzzle_id").to_pylist()
        with (folder / EXECUTIONS).open("ab", buffering=0) as log:
            log.write(line.encode())
        write_note(lake, ref, note)

    def faulty_rows(lake: Any, game: Any, run: Any, rows: Any, settings: Any) -> Any:
        if crashing.intersection(ids):
            ctypes.string_at(0)
        while endless.intersection(ids):
            time.sleep(0.1)
        if rows.num_rows > 1:
            time.sleep(pause_s)
        return solve_rows(lake, game, run, rows, settings)

    def deadly_link(staged: Path, target: Path) -> bool:
        if target.parent.name == "parts" and claim_death():
            os.kill(os.getpid(), signal.SIGKILL)
        return link(staged, target)

    def scarce_commit(*arguments: Any, **others: Any) -> bool:
        if read_only:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        if no_room:
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        if (folder / DISK_FULL).exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return commit(*arguments, **others)

    chunks.write_note = noted
    disk.LocalFolder.commit = scarce_commit
    chunks.solve_rows = faulty_rows
    disk._link = deadly_link  # noqa: SLF001


def _ids(name: str) -> set[str]:
    return {text for text in os.environ.get(name, "").split(",") if text}


install_double()
if "NIGHTGRID_CHAOS_DIR" in os.environ:
    _install_faults()
if "NIGHTGRID_CHAOS_OLDER" in os.environ:
    _install_older_version(os.environ["NIGHTGRID_CHAOS_OLDER"])

from nightgrid.workers.celery_worker import tasks  # noqa: E402 - the faults come first

app = tasks.app
