"""The jobs of a command wait for those before them, as far as these are not worked meanwhile."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.cli.ondemand.long_waits import LongWaits
from nightgrid.solvers.algebra import Expected
from nightgrid.workers.ondemand.jobs.expected_wait import ExpectedWait, Look
from nightgrid.workers.settings import Settings

SETTINGS = Settings(ondemand_wait_seconds=10, interactive_processes=2)  # type: ignore[call-arg]


def asked(looked_at: list[str], name: str) -> Any:
    """Ask of a board that takes four seconds."""

    def expected(*_: Any) -> Expected:
        looked_at.append(name)
        return Expected(seconds=4.0 - 0.02)

    bound = SimpleNamespace(expected=expected, to_arrays=lambda boards: boards)
    return SimpleNamespace(bound=bound, puzzle=name, ask="count")


@pytest.mark.parametrize(
    ("passed_s", "told"),
    [
        # Each waits for half of those before it: 2, 4, .. 12 s.
        (0.0, "6 would wait about 12 s for the jobs that come first; expected at most 10 s"),
        # Two processes work four seconds' worth in two.
        (2.0, ""),
    ],
)
def test_what_is_worked_meanwhile_delays_no_job(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    passed_s: float,
    told: str,
) -> None:
    now, looked_at = [0.0], list[str]()
    monkeypatch.setattr(ExpectedWait, "look", lambda _: Look(queue_s=0.0, large_s=()))
    with LongWaits(Lake.open(str(tmp_path)), SETTINGS, lambda: now[0]) as waits:
        waits.look()
        for number in range(7):
            waits.add(asked(looked_at, f"{number}"), f"{number}")
            assert looked_at == [f"{each}" for each in range(number + 1) if number]
            now[0] += passed_s
    err = capsys.readouterr().err
    assert told in err
    assert bool(err) is bool(told)
