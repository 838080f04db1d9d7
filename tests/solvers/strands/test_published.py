"""Published boards have the numbers of covers with ENABLE on which public programs agree."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from nightgrid.solvers.algebra import Ask, Status
from nightgrid.solvers.lexicon.compile import compile_lexicon
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.registry import game
from nightgrid.solvers.strands.puzzle import Puzzle
from tests.solvers.strands.boards import needs_solver

pytestmark = [pytest.mark.archive, needs_solver]

ANY = "words=any compound_parts=1"
CROSSING = f"{ANY} spangram=off crossing=yes repeats=yes"
REPEATS = f"{ANY} spangram=off repeats=yes"
NO_REPEATS = f"{ANY} spangram=off"
SPANGRAM = f"{ANY} spangram=required"

COUNTS: tuple[tuple[str, str, int], ...] = (
    ("2025-09-15", CROSSING, 1_440_477),
    ("2025-10-03", CROSSING, 64_288),
    ("2025-10-04", CROSSING, 365_610),
    ("2025-09-15", REPEATS, 632_180),
    ("2025-10-03", REPEATS, 38_470),
    ("2025-10-04", REPEATS, 46_026),
    ("2025-09-15", NO_REPEATS, 630_130),
    ("2025-10-03", NO_REPEATS, 38_470),
    ("2025-10-04", NO_REPEATS, 46_026),
    ("2024-04-18", NO_REPEATS, 53_518),
    ("2025-09-15", SPANGRAM, 0),
    ("2025-10-03", SPANGRAM, 81),
    ("2025-10-04", SPANGRAM, 0),
    ("2024-04-18", SPANGRAM, 420),
)


@pytest.fixture(scope="module")
def enable(published: Path) -> Lexicon:
    """The ENABLE word list, next to the published payloads."""
    path = published.parent / "words" / "enable1.txt"
    if not path.is_file():
        if os.environ.get("CI") == "true":
            pytest.fail(f"no word list at {path}")
        pytest.skip(f"no word list at {path}")
    words = path.read_text(encoding="ascii").split()
    assert len(words) >= 172_819
    return compile_lexicon((word.upper(), 0) for word in words)


def board_of(published: Path, date: str) -> Puzzle:
    payload = json.loads((published / "strands" / f"{date}.json").read_text(encoding="utf-8"))
    return Puzzle(board=tuple(payload["startingBoard"]))


@pytest.mark.slow
@pytest.mark.parametrize(("date", "rules", "count"), COUNTS)
def test_published_boards_have_the_known_number_of_covers(
    published: Path, enable: Lexicon, date: str, rules: str, count: int
) -> None:
    outcome = game("strands", rules, enable).solve(board_of(published, date), Ask(kind="count"))
    assert outcome.count == count
    assert outcome.status is (Status.SOLVED if count else Status.UNSOLVABLE)
