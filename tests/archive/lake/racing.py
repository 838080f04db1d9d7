"""Two processes that create the same files of a lake at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
    print(int(lake.create_bytes(f"race/{number}", mark.encode())), flush=True)
"""


def raced(url: str, rounds: int, *, links: str = "with") -> list[list[str]]:
    """Let the processes `a` and `b` create race/0, race/1, ... and list who has won each round.

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
