"""Drive a run: in this process, with workers that are running, or with workers of our own.

The modules that drive runs and talk to a server are imported only when there is work: a night that
finds nothing new does not need them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from typing import TYPE_CHECKING

from nightgrid.flows.runs import RunSettings, stopped

if TYPE_CHECKING:
    from nightgrid.workers.driver.drive import RunSummary
    from nightgrid.workers.driver.progress import Progress


class OwnWorkers(AbstractContextManager["OwnWorkers"]):
    """Workers of our own, which end with the block; started on first use, if any are needed.

    They load the given games and serve only the batch queue. Workers of another supervisor in our
    folder, such as another count's, may end before we do; ours then take their place.
    """

    def __init__(self, settings: RunSettings, games: Sequence[str]) -> None:
        self._settings = settings
        self._games = games
        self._begun = ExitStack()
        self._wait: Callable[[], object] | None = None

    def __exit__(self, *_: object) -> None:
        self._begun.close()

    def begin(self) -> None:
        """Start our workers, unless they are started or other workers do the work.

        Raises the server's error if it refuses us.
        """
        workers = self._settings.workers
        if self._wait is not None or self._settings.executor == "inline":
            return
        from nightgrid.workers.broker.redis_keys import BATCH
        from nightgrid.workers.broker.worker_keys import served_queues
        from nightgrid.workers.cluster import server
        from nightgrid.workers.cluster.local import beginning_cluster
        from nightgrid.workers.cluster.supervisor import SERVER, supervisor_state

        server.check(workers)
        if BATCH in served_queues(workers) and supervisor_state(workers) is None:
            return
        ours = workers.model_copy(update={"games": ",".join(self._games)})
        cluster = beginning_cluster(ours, roles=(SERVER, BATCH), standby=True)
        self._wait = self._begun.enter_context(cluster)

    def ready(self) -> None:
        """Wait until there are workers.

        Raises TransientError if none of ours become ready; the next call starts others.
        """
        self.begin()
        if self._wait is None:
            return
        try:
            self._wait()
        except BaseException:
            self._wait = None
            self._begun.close()
            raise


def work_run(
    settings: RunSettings,
    run_id: str,
    workers: OwnWorkers,
    on_progress: Callable[[Progress], None],
    check_planner: Callable[[], None] | None = None,
) -> RunSummary:
    """Drive a run to its end, as soon as there are workers.

    `check_planner` raises if the planner of an unfinished plan has died. Raises TransientError if
    workers or lake are unavailable, StoppedError after a signal and for a cancelled run.
    """
    from nightgrid.workers.driver import drive
    from nightgrid.workers.driver.outbox import CeleryOutbox, InlineOutbox

    workers.ready()
    lake = settings.lake
    inline = settings.executor == "inline"
    with closing(
        InlineOutbox(lake, settings.workers) if inline else CeleryOutbox(settings.workers)
    ) as outbox:
        summary = drive.drive(
            lake,
            run_id,
            outbox,
            on_progress,
            settings=settings.workers,
            check_planner=check_planner,
        )
    if not summary.finished:
        raise stopped(settings, run_id, cancelled=summary.cancelled)
    return summary
