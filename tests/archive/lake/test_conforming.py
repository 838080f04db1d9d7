"""Tables and attempts of schema version 3 are read with the codes that they do not have."""

from __future__ import annotations

import pyarrow as pa
import pytest

from nightgrid.archive.lake.conforming import (
    DERIVED,
    columns_to_read,
    conform,
    shaped,
    upgraded,
    with_codes,
)
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import PARTS, RESULTS
from nightgrid.archive.results.results import find_results
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reasons import ReasonCode

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


def _field(kind: pa.DataType, **options: bool) -> pa.Schema:
    return pa.schema([pa.field("a", kind, **options)])


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (pa.array([1, None], pa.int32()), pa.int64()),
        (pa.array([1, None], pa.uint8()), pa.int64()),
        (pa.array([1, None]), pa.float64()),
        (pa.array([1, None]), pa.decimal128(38, 0)),
        (pa.array([1.5], pa.float32()), pa.float64()),
        (pa.nulls(2), pa.int64()),
        (pa.nulls(2), pa.string()),
        (pa.array(["x"], pa.large_string()), pa.string()),
        (pa.array(["x"], pa.string_view()), pa.string()),
        (pa.array(["x"]).dictionary_encode(), pa.string()),
        (pa.array(["x"]), pa.large_string()),
        (pa.array([[1]], pa.list_(pa.int32())), pa.list_(pa.int64())),
        (pa.array([[1]], pa.large_list(pa.int32())), pa.list_(pa.int64())),
        (pa.array([[1]], pa.list_(pa.int32())), pa.large_list(pa.int64())),
        (pa.array([True]), pa.bool_()),
        (pa.array([0], pa.timestamp("s")), pa.timestamp("us")),
        (pa.array([0], pa.date32()), pa.date64()),
    ],
)
def test_a_column_of_the_same_kind_is_taken_however_wide(
    given: pa.Array, kind: pa.DataType
) -> None:
    table = conform(pa.table({"a": given}), _field(kind))
    assert table.schema == _field(kind)
    assert table.column("a").cast(kind).to_pylist() == given.cast(kind).to_pylist()


@pytest.mark.parametrize(
    ("given", "kind", "says"),
    [
        (pa.array([1]), pa.string(), "column a is int64; expected string"),
        (pa.array(["1"]), pa.int64(), "column a is string; expected int64"),
        (pa.array([1.0]), pa.int64(), "column a is double; expected int64"),
        (pa.array([1]), pa.bool_(), "column a is int64; expected bool"),
        (pa.array([True]), pa.int64(), "column a is bool; expected int64"),
        (pa.array([b"x"]), pa.string(), "column a is binary; expected string"),
        (pa.array([["1"]]), pa.list_(pa.int64()), "column a is list<"),
        (pa.array([[1]]), pa.int64(), "column a is list<"),
        (pa.array([1]), pa.date32(), "column a is int64; expected date32[day]"),
        (pa.array([2**40]), pa.int32(), "column a: Integer value 1099511627776 not in range"),
    ],
)
def test_a_column_of_another_kind_is_refused(given: pa.Array, kind: pa.DataType, says: str) -> None:
    with pytest.raises(PermanentError) as error:
        conform(pa.table({"a": given}), _field(kind))
    assert str(error.value).startswith(says)


def test_columns_are_those_of_the_schema_in_its_order_and_with_its_metadata() -> None:
    schema = pa.schema(
        [pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.string())],
        metadata={"version": "1"},
    )
    table = conform(pa.table({"b": ["x"], "a": [1]}), schema)
    assert table.schema.equals(schema, check_metadata=True)
    assert table.to_pylist() == [{"a": 1, "b": "x"}]
    assert conform(table, schema) is table
    for given, says in (
        ({"a": [1], "b": ["x"], "c": [1], "d": [1]}, "columns c, d are not in the schema"),
        ({"a": [1]}, "column b is missing; expected string"),
        ({"a": [1, None], "b": ["x", None]}, "column a has nulls; expected none"),
    ):
        with pytest.raises(PermanentError) as error:
            conform(pa.table(given), schema)
        assert str(error.value) == says
    assert conform(pa.table({"a": [1], "b": pa.nulls(1)}), schema).to_pylist() == [
        {"a": 1, "b": None}
    ]


@pytest.mark.parametrize(
    ("wanted", "there", "read"),
    [
        (["job_id"], ["status", "reason", "job_id"], ["job_id"]),
        (["reason_code"], ["status", "reason"], ["status", "reason"]),
        (["status", "reason_code"], ["status", "reason", "x"], ["status", "reason"]),
        (["value_at_most"], ["status", "reason", "x"], ["status", "reason"]),
        (["reason_code", "status"], ["status", "reason", "reason_code"], ["reason_code", "status"]),
        (["reason_code"], ["status"], []),
        (["value_at_least"], ["x", "reason"], []),
    ],
)
def test_what_a_code_is_derived_from_is_read_with_it_where_there_is_none(
    wanted: list[str], there: list[str], read: list[str]
) -> None:
    assert columns_to_read(wanted, there) == read


def test_only_what_an_earlier_version_lacks_and_can_be_derived_is_added() -> None:
    table = pa.table(
        {
            "status": ["over_budget"],
            "reason": ["the budget of nodes ran out; at least 9 moves"],
            "value_at_least": [8],
        }
    )
    wanted = ["reason_code", "value_at_least", "nodes"]
    assert upgraded(table, wanted).to_pylist() == [{"value_at_least": 8, "reason_code": "nodes"}]
    now = table.append_column("reason_code", pa.array(["nodes"]))
    assert upgraded(now, wanted) is now


def test_two_columns_of_one_name_are_damage() -> None:
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([1])], ["a", "a"])
    with pytest.raises(DamagedFileError, match=r"^x: two of its columns have one name$"):
        shaped(twice, _field(pa.int64()), "x")
