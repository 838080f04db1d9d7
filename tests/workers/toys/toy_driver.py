"""A driver as a program of its own, to be killed: works the toy boards of a lake with a cluster."""

import sys

import toy_game

toy_game.install()

from nightgrid.archive.lake.storage import Lake  # noqa: E402
from nightgrid.workers.cluster.local import beginning_cluster  # noqa: E402
from nightgrid.workers.driver.drive import drive  # noqa: E402
from nightgrid.workers.driver.outbox import CeleryOutbox  # noqa: E402
from nightgrid.workers.settings import Settings  # noqa: E402


def main():
    settings = Settings()
    with beginning_cluster(settings, roles=("server", "batch")) as ready:
        ready()
        drive(
            Lake.open(settings.lake),
            sys.argv[1],
            CeleryOutbox(settings),
            lambda progress: print(progress.chunks_done, flush=True),
            settings=settings,
        )


if __name__ == "__main__":
    main()
