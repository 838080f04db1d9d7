"""An answer that cannot be written as JSON costs no other, and does not end the filing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from nightgrid.archive.results.asked import AskedPuzzle
from nightgrid.service.http.solves.quick import filing as module
from nightgrid.service.http.solves.quick.filing import Filing
from nightgrid.workers.ondemand.answers import Answer
from nightgrid.workers.ondemand.filer import to_line

PATIENCE_S = 60.0
HALF = "\ud83d"
"""Half of a character: Unicode has no bytes for it."""


class Lines:
    """Keeps the jobs of each line that was written."""

    def __init__(self) -> None:
        self.filed: list[list[str]] = []

    def begin(self) -> None: ...

    def put(self, answers: Sequence[Answer], puzzles: Sequence[AskedPuzzle]) -> None:
        value = json.loads(to_line(answers, puzzles))
        self.filed.append([row["job_id"] for row, _ in value["answers"]])

    def end(self) -> None: ...


def answer(job_id: str, reason: str = "") -> Answer:
    row: dict[str, Any] = {"job_id": job_id, "reason": reason}
    return Answer(row=row, solutions=[])


@pytest.mark.parametrize("of_puzzle", [False, True])
def test_an_answer_with_half_a_character_is_logged_and_the_others_are_filed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, of_puzzle: bool
) -> None:
    monkeypatch.setattr(module, "PAUSE_S", 0.0)
    lines = Lines()
    filing = Filing(lines)
    puzzle = AskedPuzzle("p" * 32, "pips", {"text": HALF}) if of_puzzle else None
    filing.add(answer("first"), None)
    filing.add(answer("half", "" if of_puzzle else HALF), puzzle)
    filing.add(answer("second"), None)
    filing.begin()
    assert filing.wait_for("first", PATIENCE_S)
    assert filing.wait_for("second", PATIENCE_S)
    assert not filing.wait_for("half", PATIENCE_S)
    assert filing.holds("half"), "the lake does not have it"
    filing.add(answer("later"), None)
    assert filing.wait_for("later", PATIENCE_S), "the filing goes on"
    filing.end()
    assert lines.filed == [["first"], ["second"], ["later"]]
    err = capsys.readouterr().err
    assert err.count("answer cannot be filed") == 1
    assert "half" in err
