"""What the programs of workers load before they begin: nothing large that they may never need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from nightgrid.workers.app import WORKER_MODULES

PROGRAM = """
import importlib, json, sys
for name in {modules}:
    importlib.import_module(name)
print(json.dumps([name for name in {large} if name in sys.modules]))
"""
WORKER = WORKER_MODULES


def test_a_worker_loads_no_kernels_before_it_knows_its_games(tmp_path: Path) -> None:
    assert _loaded(WORKER, ("numba", "llvmlite"), tmp_path) == []


def _loaded(modules: tuple[str, ...], large: tuple[str, ...], folder: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(modules=modules, large=large)],
        env={**os.environ, "NIGHTGRID_LAKE": str(folder / "lake")},
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[str] = json.loads(done.stdout)
    return found
