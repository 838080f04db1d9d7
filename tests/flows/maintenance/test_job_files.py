"""Files of jobs on demand that came to harm: named by a check, mended, and sound afterwards."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.archive.lake.faults import LakeRefusesError
from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.maintenance.check import Finding, check_lake_files
from nightgrid.flows.maintenance.files import Mend
from nightgrid.flows.maintenance.repair import repair_lake
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.question import Question
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.record import Record
from nightgrid.workers.ondemand.record_files import (
    create_record,
    end_record,
    ended_path,
    is_set_aside,
    raise_limits,
    read_ended,
    read_record,
    record_path,
)
from nightgrid.workers.runs.interests import INTERESTS, add_interest, withdraw_interest
from nightgrid.workers.settings import Settings

OPEN, OVER = "ab" * 16, "cd" * 16
SUBMITTED_AT = 1.0
RECORD = record_path(OPEN)
RAISED = f"{RECORD.removesuffix('.json')}.budget.json"
END = ended_path(OVER)
INTEREST = f"{INTERESTS}/{OPEN}/mine.json"
MENDS = {RECORD: Mend.JOB, RAISED: Mend.FORGET, END: Mend.FORGET, INTEREST: Mend.FORGET}


def record_of(job_id: str) -> Record:
    ask = Ask(kind="count")
    question = Question(game="pips", rules="", lexicon_id="", ask=ask, solver_version="v")
    budget = JobBudget.of(Settings())
    return Record(
        job_id=job_id, question=question, puzzle={}, budget=budget, submitted_at=SUBMITTED_AT
    )


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake with one job that is wanted by two clients, and one that was cancelled."""
    lake = Lake.open(str(tmp_path / "lake"))
    for job_id in (OPEN, OVER):
        assert create_record(lake, record_of(job_id))
        add_interest(lake, job_id, SUBMITTED_AT, "mine")
    raise_limits(lake, record_of(OPEN), record_of(OPEN))
    end_record(lake, record_of(OVER), "cancelled", "by a test")
    return lake


def findings(lake: Lake) -> list[Finding]:
    return list(check_lake_files(lake))


def of_another_job(text: str) -> str:
    return text.replace(OPEN, "0" * 32).replace(OVER, "0" * 32)


def without_times_and_budgets(text: str) -> str:
    left = {"job_id": "0" * 32}
    return json.dumps({k: v for k, v in json.loads(text).items() if k in left})


DAMAGES: dict[str, Callable[[str], str]] = {
    "truncated": lambda text: text[: len(text) // 2],
    "empty": lambda _: "",
    "a list": lambda _: "[1]",
    "keys that are gone": without_times_and_budgets,
}


def test_sound_files_of_jobs_are_no_findings(lake: Lake) -> None:
    assert set(MENDS) <= set(lake.list("runs"))
    assert findings(lake) == []
    assert list(repair_lake(lake)) == []


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("path", MENDS, ids=["record", "raised", "end", "interest"])
def test_a_damaged_file_of_a_job_is_named_and_mended(
    lake: Lake, path: str, damage: Callable[[str], str]
) -> None:
    lake.write_bytes(path, damage(lake.read_bytes(path).decode()).encode())
    (found,) = findings(lake)
    assert (found.path, found.fault, found.mend) == (path, "damaged", MENDS[path])
    assert found.what.startswith(path)
    told = list(repair_lake(lake))
    assert [(one.path, one.mended) for one in told] == [(path, True)]
    assert not lake.exists(path)
    assert findings(lake) == []
    assert list(repair_lake(lake)) == []


@pytest.mark.parametrize("path", [RECORD, END])
def test_a_file_about_another_job_is_damaged(lake: Lake, path: str) -> None:
    lake.write_bytes(path, of_another_job(lake.read_bytes(path).decode()).encode())
    (found,) = findings(lake)
    assert found.what == f"{path} is about job {'0' * 32}"


def test_a_damaged_record_lies_where_status_looks_for_it(lake: Lake) -> None:
    """Given a record that is none, When it is mended, Then it is as the keeper would leave it."""
    lake.write_bytes(RECORD, b"{")
    (told,) = repair_lake(lake)
    assert told.what.endswith(f"moved to runs/set-aside/{OPEN}.json")
    assert is_set_aside(lake, OPEN)
    assert lake.read_bytes(f"runs/set-aside/{OPEN}.json") == b"{"
    assert create_record(lake, record_of(OPEN))
    assert not is_set_aside(lake, OPEN)


def test_what_is_left_of_a_job_is_read_as_before(lake: Lake) -> None:
    """Given damage to all but the record, When it is mended, Then the job is still wanted."""
    for path in (RAISED, END, INTEREST):
        lake.write_bytes(path, b"{")
    assert [one.mended for one in repair_lake(lake)] == [True, True, True]
    assert read_record(lake, OPEN) == record_of(OPEN)
    assert read_ended(lake, OVER) is None
    assert withdraw_interest(lake, OPEN, SUBMITTED_AT, "mine") == 0


def test_what_is_no_file_of_a_job_is_foreign(lake: Lake) -> None:
    lake.write_bytes("runs/ended/notes.txt", b"mine")
    (found,) = findings(lake)
    assert (found.path, found.fault) == ("runs/ended/notes.txt", "foreign")


def test_a_named_pipe_in_the_place_of_a_file_is_named_and_left(lake: Lake) -> None:
    lake.delete(END)
    os.mkfifo(Path(lake.url) / END)
    (found,) = findings(lake)
    assert (found.path, found.fault) == (END, "unreadable")
    assert found.what == f"{END} is a named pipe; expected a file: move it out of the lake"
    with pytest.raises(LakeRefusesError, match="is a named pipe"):
        list(repair_lake(lake))
