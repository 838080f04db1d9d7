"""The service's memory: one pool, unless the environment names one, and freed pages go back."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from nightgrid.service.cli.serving.serve import serve
from nightgrid.service.http.memory import share_one_pool
assert "pyarrow" not in sys.modules, "it would have read its variable"
share_one_pool()
import pyarrow
print(pyarrow.default_memory_pool().backend_name)
"""


@pytest.mark.parametrize(("named", "used"), [(None, "system"), ("mimalloc", "mimalloc")])
def test_arrow_takes_its_memory_from_malloc(named: str | None, used: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "ARROW_DEFAULT_MEMORY_POOL"}
    if named is not None:
        environment["ARROW_DEFAULT_MEMORY_POOL"] = named

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == used


SCATTERED = """
import resource
from nightgrid.service.http.memory import share_one_pool
from nightgrid.workers.freed_memory import trim
share_one_pool()

def resident() -> int:
    with open("/proc/self/statm") as told:
        return int(told.read().split()[1]) * resource.getpagesize()

# Larger than what Python keeps in pools of its own, smaller than what `malloc` maps alone.
blocks = [bytes(50_000) for _ in range(2_000)]
kept = blocks[::20]
del blocks
before = resident()
trim()
print(before - resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="malloc_trim is a function of glibc")
def test_freed_pages_between_others_go_back_to_the_system() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCATTERED], capture_output=True, text=True, check=True
    )

    assert int(done.stdout) > 60_000_000, "of 100 MB, 95 were freed"
