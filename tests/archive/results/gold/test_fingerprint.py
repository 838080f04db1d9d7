"""Gold is rebuilt if and only if its inputs have changed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pytest

from nightgrid.archive.ingest.editions import current_editions, editions_path
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.lake.schemas import COUNTS_BY_DATE, EDITIONS, RESULTS, RUNTIMES
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.gold import rebuild
from nightgrid.archive.results.gold.rebuild import COUNTS_PATH, RUNTIMES_PATH, write_gold
from nightgrid.archive.skipped_files import forget
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.archive.state import state_path
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.question import question_of
from nightgrid.solvers.registry import game

SAMPLE = Path(__file__).parents[4] / "service" / "sample" / "strands"
COUNT = Ask(kind="count")
STRANDS = game("strands")
RUN = "results/r0.parquet"


def answered(lake: Lake, puzzle_ids: list[str], run: str, count: int = 7) -> None:
    question = question_of(STRANDS, COUNT)
    costs = dict.fromkeys(("states", "nodes", "parts", "kernel_ns", "table_bytes"), 1)
    more = {"status": "solved", "count": count, "reason": "", "run_id": run}
    rows = [
        {**question.to_json(), **costs, **more, "job_id": question.job_id(name), "puzzle_id": name}
        for name in puzzle_ids
    ]
    lake.write_table(f"results/{run}.parquet", pa.Table.from_pylist(rows, RESULTS))


@pytest.fixture
def fingerprinted(lake: Lake, now: Callable[[], dt.datetime]) -> Lake:
    """Return a lake with gold of two answered boards, and a current fingerprint."""
    fetch(lake, FolderSource(SAMPLE), game="strands", now=now)
    normalise(lake, game="strands")
    ids = current_editions(lake, "strands").column("puzzle_id").to_pylist()
    answered(lake, ids[:2], "r0")
    assert made(lake)
    assert not made(lake)
    return lake


def made(lake: Lake) -> bool:
    """Write gold; return whether it was rebuilt."""
    with mock.patch.object(rebuild, "Answers", wraps=rebuild.Answers) as read:
        write_gold(lake, STRANDS)
    return bool(read.call_count)


def statuses(lake: Lake) -> list[str]:
    return lake.read_table(COUNTS_PATH, COUNTS_BY_DATE).column("status").to_pylist()


def test_an_answer_that_is_lost_is_pending_again(fingerprinted: Lake) -> None:
    assert statuses(fingerprinted)[:3] == ["solved", "solved", "pending"]
    fingerprinted.delete(RUN)
    assert made(fingerprinted)
    assert set(statuses(fingerprinted)) == {"pending"}
    assert not made(fingerprinted)


def test_an_answer_that_is_damaged_is_pending_again_though_its_file_is_as_long(
    fingerprinted: Lake,
) -> None:
    data = bytearray(fingerprinted.read_bytes(RUN))
    data[60:200] = bytes(140)
    fingerprinted.write_bytes(RUN, bytes(data))
    try:
        assert made(fingerprinted)
    finally:
        forget(RUN)
    assert set(statuses(fingerprinted)) == {"pending"}


def test_a_new_answer_is_reported(fingerprinted: Lake) -> None:
    ids = current_editions(fingerprinted, "strands").column("puzzle_id").to_pylist()
    answered(fingerprinted, ids[2:3], "r1")
    assert made(fingerprinted)
    assert statuses(fingerprinted)[2] == "solved"


def test_answers_of_another_version_are_not_answers(
    fingerprinted: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(STRANDS), "solver_version", "later")
    assert made(fingerprinted)
    assert set(statuses(fingerprinted)) == {"pending"}


def test_a_revised_board_replaces_the_other(fingerprinted: Lake) -> None:
    path = editions_path("strands")
    rows = fingerprinted.read_table(path, EDITIONS).to_pylist()
    revised = rows[0] | {"revision": 2, "puzzle_id": rows[2]["puzzle_id"]}
    fingerprinted.write_table(path, pa.Table.from_pylist([*rows, revised], EDITIONS))
    assert made(fingerprinted)
    assert statuses(fingerprinted)[0] == "pending"


@pytest.mark.parametrize("path", [COUNTS_PATH, RUNTIMES_PATH])
@pytest.mark.parametrize("data", [None, b"", b"PAR1 and nothing else"])
def test_gold_that_is_lost_or_damaged_is_rebuilt(
    fingerprinted: Lake, path: str, data: bytes | None
) -> None:
    schema = COUNTS_BY_DATE if path == COUNTS_PATH else RUNTIMES
    before = fingerprinted.read_table(path, schema)
    if data is None:
        fingerprinted.delete(path)
    else:
        fingerprinted.write_bytes(path, data)
    assert made(fingerprinted)
    assert fingerprinted.read_table(path, schema).equals(before)


def test_a_state_that_is_lost_costs_only_time(fingerprinted: Lake) -> None:
    fingerprinted.delete(state_path("strands"))
    assert made(fingerprinted)
    assert not made(fingerprinted)
