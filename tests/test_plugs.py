"""Games are known by their plugs alone: above `solvers` only a game's own modules name it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from nightgrid.solvers.registry import GAMES
from tests.service.scenes import environment

ROOT = Path(__file__).resolve().parent.parent


def test_loading_every_plug_loads_no_kernel_and_no_arrow() -> None:
    code = (
        "import sys; from nightgrid.solvers.registry import GAMES;"
        "from nightgrid.archive.games import archive_plug;"
        "from nightgrid.service.games import ALL; [archive_plug(game) for game in GAMES];"
        "print([m for m in ('numba', 'pyarrow', 'celery', 'rich') if m in sys.modules], len(ALL))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split(maxsplit=1)[0] == "[]"
    assert done.stdout.split()[1] == str(len(GAMES))


def test_every_file_of_the_fifth_game_is_explained() -> None:
    page = (ROOT / "docs/how-to/add-a-game.md").read_text()
    listed = set(re.findall(r"^\| `(coins/\w+\.py)` \|", page, re.MULTILINE))
    folder = ROOT / "tests" / "fifth_game"
    files = {path.relative_to(folder).as_posix() for path in folder.glob("coins/*.py")}
    assert listed == files - {"coins/__init__.py"}
