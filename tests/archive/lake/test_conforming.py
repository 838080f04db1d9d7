"""Tables and attempts of schema version 3 are read with the codes that they do not have."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from nightgrid.archive.lake.conforming import DERIVED, shaped, with_codes
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import PARTS, RESULTS
from nightgrid.archive.results.results import find_results
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.runs.attempts import Attempts, read_attempts
from nightgrid.workers.runs.run_files import ChunkRef

SENTENCES = [
    ("over_budget", "the budget of nodes ran out", ReasonCode.NODES),
    ("split", "the budget of table bytes ran out", ReasonCode.TABLE_BYTES),
    (
        "over_budget",
        "the budget of table bytes ran out: the tilings of the frontier exceed it",
        ReasonCode.TABLE_BYTES,
    ),
    ("over_budget", "the budget of seconds ran out; at least 9 moves", ReasonCode.SECONDS),
    (
        "over_budget",
        "the count is 10^38 or more, which is more than a result holds",
        ReasonCode.COUNT_TOO_LARGE,
    ),
    ("over_budget", "the count is 10^38 or more", ReasonCode.COUNT_TOO_LARGE),
    (
        "over_budget",
        "more sets of alternative paths, or of words in use, than the solver has room for",
        ReasonCode.FIXED_TABLE_FULL,
    ),
    (
        "over_budget",
        "the board is too large to search: at most 512 tiles and 4096 features; at least 7 moves",
        ReasonCode.CAPACITY,
    ),
    ("split", "not worked: the chunk's time was up", ReasonCode.DEFERRED),
    ("over_budget", "another part of the job is over budget", ReasonCode.UNRECOVERABLE_JOB),
    ("poison", "its worker died (3 attempts)", ReasonCode.WORKER_LOST),
    ("poison", "part 4.1: its process died: signal 9 (3 attempts)", ReasonCode.PROCESS_LOST),
    ("poison", "exceeded the hard limit of 60 s (3 attempts)", ReasonCode.HARD_LIMIT),
    (
        "poison",
        "it was interrupted together with its driver (8 attempts)",
        ReasonCode.INTERRUPTED,
    ),
    ("poison", "nothing heard for 600 s after it began (3 attempts)", ReasonCode.OVERDUE),
    ("poison", "RuntimeError: too much (3 attempts)", ReasonCode.EXCEPTION),
    ("invalid", "regions[3]: the budget of nodes", ReasonCode.INVALID_PUZZLE),
    ("solved", "", None),
]


def old(schema: pa.Schema, rows: list[dict[str, object]]) -> pa.Table:
    """Make a table as version 3 wrote it."""
    fields = [field for field in schema if field.name not in DERIVED]
    version = {**schema.metadata, b"nightgrid.schema_version": b"3"}
    return pa.Table.from_pylist(rows, pa.schema(fields, metadata=version))


def part(number: int, status: str, reason: str) -> dict[str, object]:
    return {
        "job_no": number,
        "job_id": f"{number:032x}",
        "part_path": "",
        "status": status,
        "truncated": False,
        "reason": reason,
        "states": 1,
        "nodes": 1,
        "kernel_ns": 1,
        "table_bytes": 1,
    }


def result(number: int, status: str, reason: str) -> dict[str, object]:
    texts = {"puzzle_id": "p", "game": "pips", "ask": "count", "rules": "", "lexicon_id": ""}
    row = {**part(number, status, reason), **texts, "solver_version": "pips-1", "parts": 1}
    del row["job_no"], row["part_path"], row["truncated"]
    return {**row, "run_id": "r"}


@pytest.fixture
def lake(tmp_path: object) -> Lake:
    return Lake.open(str(tmp_path))


@pytest.mark.parametrize(("status", "reason", "code"), SENTENCES)
def test_every_sentence_of_version_3_has_its_code(
    lake: Lake, status: str, reason: str, code: ReasonCode | None
) -> None:
    lake.write_table("parts/a.parquet", old(PARTS, [part(0, status, reason)]))
    (row,) = lake.read_table("parts", PARTS).to_pylist()
    assert (row["reason_code"], row["reason"]) == (code, reason)
    (row,) = lake.read_table("parts", PARTS, ["job_no", "reason_code"]).to_pylist()
    assert row == {"job_no": 0, "reason_code": code}
    (row,) = lake.read_table("parts", PARTS, ["job_no", "status"]).to_pylist()
    assert row == {"job_no": 0, "status": status}


def test_what_parts_know_of_the_fewest_moves_is_read_out_of_their_sentences(lake: Lake) -> None:
    spent = "the budget of seconds ran out; at least"
    sentences = [
        f"{spent} 9 moves",
        f"{spent} 7 moves, 12 were found",
        "the budget of nodes ran out",
    ]
    rows = [part(i, "over_budget", text) for i, text in enumerate(sentences)]
    lake.write_table("parts/a.parquet", old(PARTS, rows))
    table = lake.read_table("parts", PARTS)
    assert table.column("value_at_least").to_pylist() == [9, 7, None]
    assert table.column("value_at_most").to_pylist() == [None, 12, None]


def test_results_of_both_versions_are_read_together(lake: Lake) -> None:
    lake.write_table(
        "results/a.parquet", old(RESULTS, [result(0, "poison", "its worker died (3 attempts)")])
    )
    now = {**result(1, "over_budget", "told in other words"), "reason_code": "nodes"}
    quiet = result(2, str(Status.SOLVED), "")
    lake.write_table("results/b.parquet", pa.Table.from_pylist([now, quiet], RESULTS))
    codes = ["worker_lost", "nodes", None]
    found = find_results(lake, [f"{number:032x}" for number in range(3)])
    assert found.column("reason_code").to_pylist() == codes
    assert lake.read_table("results", RESULTS).column("reason_code").to_pylist() == codes
    scanned = pa.concat_tables(lake.scan("results", RESULTS, ["job_id", "reason_code"]))
    assert scanned.column("reason_code").to_pylist() == codes


def test_attempts_of_version_3_are_read_with_codes(lake: Lake) -> None:
    ref = ChunkRef(run_id="0" * 32, segment=0, chunk=0)
    failures = ["its worker died", "its process died: signal 9 (SIGKILL)", "ValueError: no"]
    value = {"attempt": 4, "failures": failures, "interruptions": 0}
    lake.write_bytes(ref.attempts_path, json.dumps(value).encode())
    codes = (ReasonCode.WORKER_LOST, ReasonCode.PROCESS_LOST, ReasonCode.EXCEPTION)
    expected = tuple(
        Reason(code=code, sentence=text) for code, text in zip(codes, failures, strict=True)
    )
    assert read_attempts(lake, ref) == Attempts(attempt=4, failures=expected)


def test_codes_are_derived_where_they_are_null_and_kept_elsewhere() -> None:
    table = pa.table(
        {
            "status": ["over_budget", "poison", "over_budget", "solved"],
            "reason": ["the budget of nodes ran out", "x", "the budget of nodes ran out", ""],
            "reason_code": pa.array([None, "worker_lost", "seconds", None], pa.string()),
        }
    )
    codes = with_codes(table).column("reason_code").to_pylist()
    assert codes == ["nodes", "worker_lost", "seconds", None]
    assert with_codes(table.select(["status", "reason"])).column_names == ["status", "reason"]
    # Nothing is derived where nothing lacks.
    whole = table.slice(1, 2)
    assert with_codes(whole) is whole


def test_a_table_is_shaped_with_nulls_for_what_it_lacks() -> None:
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.string())])
    assert shaped(pa.table({"a": [1]}), schema, "x").to_pylist() == [{"a": 1, "b": None}]
    with pytest.raises(DamagedFileError, match=r"^x: column a is missing; expected int64$"):
        shaped(pa.table({"b": ["1"]}), schema, "x")
