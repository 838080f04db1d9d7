"""The service's memory: Arrow takes its own from `malloc`, unless the environment names a pool."""

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
