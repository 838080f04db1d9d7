"""A cluster on this machine that is ready before the block of a test begins."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from nightgrid.workers.cluster.local import beginning_cluster
from nightgrid.workers.cluster.supervisor import ROLES
from nightgrid.workers.settings import Settings


@contextmanager
def local_cluster(
    settings: Settings, *, roles: Sequence[str] = ROLES
) -> Iterator[subprocess.Popen[bytes]]:
    """Run what `beginning_cluster` runs, and yield the supervisor once all of it is ready."""
    with beginning_cluster(settings, roles=roles) as ready:
        yield ready()
