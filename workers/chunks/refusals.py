"""Why a worker refuses work: another solver version, another lake, or an unfit machine.

A refusal is not an answer about a puzzle. The worker reports it, hands the chunk back and pauses.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from nightgrid.archive.lake.identity import read_lake_id
from nightgrid.archive.lake.location import is_folder
from nightgrid.solvers.errors import NightgridError, PermanentError, RefusalError
from nightgrid.solvers.game_contract import Game
from nightgrid.workers.runs.manifest import Run


def check_solver_version(run: Run, game: Game[Any, Any]) -> None:
    """Raise RefusalError for a run planned for another version of its solver."""
    planned = run.question.solver_version
    if game.solver_version != planned:
        raise RefusalError(
            f"run {run.run_id} was planned for {game.name} solver {planned}, this worker has "
            f"{game.solver_version}"
        )


def sees_other_lake(lake: str, lake_id: str) -> bool:
    """Return whether a folder holds another lake than the one with an id.

    A worker that started before the file system was mounted saw an empty folder. Buckets are not
    checked: their client does not survive the forks of a worker's main process.
    """
    if is_folder(lake):
        with contextlib.suppress(NightgridError):
            return read_lake_id(lake) not in (None, lake_id)
    return False


@contextlib.contextmanager
def refusing(fault: type[PermanentError] = PermanentError) -> Iterator[None]:
    """Raise RefusalError in place of an error that no puzzle can cause.

    That is `fault` and any OSError: solvers open no files, so a full disk, a missing permission or
    too many open files are never caused by a puzzle.
    """
    try:
        yield
    except fault as error:
        raise RefusalError(str(error)) from error
    except OSError as error:
        if isinstance(error, NightgridError):
            raise
        raise RefusalError(f"this machine does not let the process work: {error}") from error
