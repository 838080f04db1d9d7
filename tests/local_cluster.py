"""A cluster on this machine that is ready when the block of a test starts."""

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
    """Run `beginning_cluster`, and yield the supervisor once everything is ready."""
    with beginning_cluster(settings, roles=roles) as ready:
        yield ready()
