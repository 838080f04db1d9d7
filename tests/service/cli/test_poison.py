"""Poison is reported first, exits with 1 until it is solved, and can be retried."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nightgrid.solvers.pips.game import PipsGame
from tests.service.scenes import PAIR, payload

Invoke = Callable[..., tuple[int, str, str]]
SPEC = "pips:n=4,mix=easy,seed=4"


@pytest.mark.long(
    short="tests/service/cli/test_poison.py::test_a_night_shows_the_poison_of_earlier_ones_until_it_is_solved_again"
)
@pytest.mark.cluster
def test_a_board_of_which_workers_really_die_is_reported_until_it_is_solved_again(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Given a board that crashes the process that solves it, When it is counted by workers."""
    count = ("count", SPEC, "--lake", "lake", "--no-prefect", "--workers", "1")
    _, out, _ = invoke(*count, "--dry-run", "--json")
    crashing = json.loads(out)["largest"][0]["puzzle_id"]
    with monkeypatch.context() as patch:
        faulty = {"celery_app": "benchmarks.chaos.processes.inject"}
        patch.setenv("NIGHTGRID_TUNING", json.dumps(faulty | {"worker_lost_wait_seconds": 0.2}))
        patch.setenv("NIGHTGRID_CHAOS_DIR", str(tmp_path))
        patch.setenv("NIGHTGRID_CHAOS_SEGFAULT", crashing)
        patch.setenv("NIGHTGRID_ATTEMPTS_MAX", "2")
        code, out, err = invoke(*count)
    assert code == 1
    assert out.startswith("pips: 1 POISON, 4 puzzles, 3 solved, ")
    assert "SIGSEGV" in out
    *_, said = err.splitlines()
    assert "pips: 1 puzzle has NO ANSWER (poison)" in said
    assert said.endswith("the same command with --retry poison")

    code, out, err = invoke(*count)
    assert (code, "NO ANSWER" in err) == (1, True), "it is never just already known"
    assert "Nothing new to do: of 4 pips puzzles" in out
    assert ", 1 poison, which --retry poison works again." in out

    inline = (*count, "--inline")
    code, out, err = invoke(*inline, "--retry", "over_budget")
    assert (code, "NO ANSWER" in err) == (1, True)
    code, out, err = invoke(*inline, "--retry", "poison")
    assert (code, "POISON" in out, "NO ANSWER" in err) == (0, False, False)
    assert "pips: 4 puzzles (3 already known), 4 solved, " in out
    code, out, _ = invoke(*inline, "--retry", "all", "--json")
    report = json.loads(out)
    assert (code, report["statuses"], report["finished_before"]) == (0, {"solved": 4}, True)


def test_a_night_shows_the_poison_of_earlier_ones_until_it_is_solved_again(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "2026-01-05.json").write_text(json.dumps(payload(easy=PAIR)))
    night = ("nightly", "--source", "source", "--lake", "lake", "--inline", "--no-prefect")

    def fails(*_: Any) -> None:
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(PipsGame, "solve_batch", fails)
        patch.setattr(PipsGame, "solve", fails)
        code, out, err = invoke(*night)
    assert (code, out.startswith("pips: 1 POISON, 1 fetched, ")) == (1, True)
    assert "NO ANSWER (poison)" in err

    for _ in range(2):
        code, out, err = invoke(*night)
        assert (code, out.startswith("pips: 1 POISON, ")) == (1, True)
        assert "(1 already known, 1 of them as poison)" in out
        assert "pips/2026-01-05/easy: " in out, "it is named"
        assert err.splitlines()[-1].endswith("the same command with --retry poison")
    code, out, _ = invoke(*night, "--json")
    report = json.loads(out)
    assert (code, report["known_poison"], report["planned"]) == (1, 1, 0)

    code, out, err = invoke(*night, "--retry", "poison")
    assert (code, "POISON" in out, "NO ANSWER" in err) == (0, False, False)
    code, out, _ = invoke(*night, "--retry", "all")
    assert (code, "(1 already known)" in out) == (0, True)
