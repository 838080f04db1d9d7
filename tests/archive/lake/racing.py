"""Processes and drivers that create the same files of a lake at the same time."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.registry import game
from nightgrid.workers.runs.manifest import SegmentTakenError, add_segment, open_run
from nightgrid.workers.runs.run_files import segment_path
from tests.workers.planning import plan_run

SCRIPT = """
import sys
from pathlib import Path
from nightgrid.archive.lake.storage import Lake

def refuse(*_):
    raise OSError(95, "no hard links")

url, links, rounds, mark = sys.argv[1:]
if links == "without":
    Path.hardlink_to = refuse
lake = Lake.open(url)
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(rounds)):
    print(int(lake.write_bytes(f"race/{number}", mark.encode(), new=True)), flush=True)
"""


def raced(url: str, rounds: int, *, links: str = "with") -> list[list[str]]:
    """Let the processes `a` and `b` create race/0, race/1, ... and list the winner of each round.

    One list a process, with "1" for each round that it won and "0" for the others. Each writes its
    name.
    """
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, url, links, str(rounds), mark],
            cwd=Path(__file__).parents[3],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for mark in "ab"
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    return [racer.communicate(timeout=60)[0].split() for racer in racers]


def segments_raced(url: str, rounds: int, drivers: int = 8) -> tuple[int, int]:
    """Let drivers add segments of a run at once, each with chunks of another size.

    Returns the rounds with exactly one winner, and those after which the segment has only its rows.
    """
    lakes = [Lake.open(url) for _ in range(drivers)]
    boards = [generate(PRESETS["easy"], seed)[0] for seed in range(16)]
    pips = game("pips")
    run_id = plan_run(lakes[0], pips, puzzles_table(pips, boards), Ask(kind="count"), Budget())
    rows = lakes[0].read_row_groups(segment_path(run_id, 0), [0])
    first = len(open_run(lakes[0], run_id).segments)
    barrier = threading.Barrier(drivers, timeout=60.0)

    def add(driver: int, number: int) -> bool:
        size = 1 + driver % 3
        chunks = [rows.slice((driver + i * size) % (len(rows) - size), size) for i in range(2)]
        barrier.wait()
        try:
            add_segment(lakes[driver], run_id, number, "split", [(0, driver)] * 2, chunks)
        except SegmentTakenError:
            return False
        return True

    won_by_one = right = 0
    with ThreadPoolExecutor(drivers) as pool:
        for number in range(first, first + rounds):
            won = list(pool.map(add, range(drivers), [number] * drivers))
            won_by_one += won.count(True) == 1
            found = lakes[0].read_table(segment_path(run_id, number), rows.schema)
            right += any(won) and len(found) == 2 * (1 + won.index(True) % 3)
    return won_by_one, right
