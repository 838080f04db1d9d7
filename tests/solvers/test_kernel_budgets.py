"""A first question compiles few kernels: each takes a fraction of a second of processor time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUDGETS = {
    ("pips", "first"): 22,
    ("pips", "count"): 72,
    ("strands", "count"): 80,
    ("letterboxed", "best(2)"): 6,
    ("tiles", "first"): 0,
}
"""Kernels that the first question of a machine may compile, Numba's own included. A function that
is compiled for two signatures counts twice. Lower a number when fewer are needed."""

TILES = '{"tiles": [["A", "B"], ["A", "C"], ["B", "C"], ["D", "E"], ["D", "E"]]}'
COUNTED = """
import json, sys
from numba.core import event
import nightgrid

class Names(event.Listener):
    def on_start(self, start):
        function = start.data["dispatcher"].py_func
        print(f"{function.__module__}.{function.__qualname__}")

    def on_end(self, end):
        pass

board = nightgrid.read(json.loads(sys.argv[1]))[-1]
with event.install_listener("numba:compile", Names()):
    print(nightgrid.solve(board, sys.argv[2]).status)
"""


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("game", "ask"), BUDGETS)
def test_a_first_question_compiles_few_kernels(tmp_path: Path, game: str, ask: str) -> None:
    sample = ROOT / "service" / "sample" / game / "2026-01-05.json"
    payload = sample.read_text() if sample.exists() else TILES
    *compiled, status = subprocess.run(
        [sys.executable, "-c", COUNTED, payload, ask],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert status == "solved"
    assert len(compiled) <= BUDGETS[game, ask], sorted(compiled)
