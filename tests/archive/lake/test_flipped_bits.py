"""One bit of a file changes: that is damage, or changes nothing; it is no outage of the lake."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS, PARTS, RESULTS
from tests.archive.lake.test_encoding import rows_of

BYTES = 600
"""Bytes that are struck, one after the other; each costs a millisecond."""


def _whole(lake: Lake, path: str, schema: pa.Schema) -> pa.Table:
    return lake.read_table(path, schema)


def _by_key(lake: Lake, path: str, schema: pa.Schema) -> pa.Table:
    """Look for all rows by a column, as look-ups do."""
    values = rows_of(schema).column("game").combine_chunks()
    return lake.rows_among(path, schema, schema.names, "game", values)


@pytest.mark.parametrize(
    ("schema", "read"),
    [(PARTS, _whole), (RESULTS, _whole), (RESULTS, _by_key), (EDITIONS, _by_key)],
    ids=["parts", "results", "results by key", "editions by key"],
)
def test_a_flipped_bit_is_damage_or_changes_nothing(
    tmp_path: Path, schema: pa.Schema, read: Callable[[Lake, str, pa.Schema], pa.Table]
) -> None:
    lake, path = Lake.open(str(tmp_path)), "runs/x.parquet"
    rows = rows_of(schema)
    lake.write_table(path, rows)
    data = lake.read_bytes(path)
    seed = random.randrange(2**32)
    print(f"seed: {seed}")
    draw = random.Random(seed)
    outcomes: dict[str, int] = {"damaged": 0, "the same": 0}
    for at in draw.sample(range(len(data)), min(BYTES, len(data))):
        bit = 1 << draw.randrange(8)
        # Without fsync: what is on the disk is not the subject.
        (tmp_path / path).write_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
        try:
            found = read(lake, path, schema)
        except DamagedFileError:
            outcomes["damaged"] += 1
        else:
            assert found.equals(rows), f"bit {bit} of byte {at}"
            outcomes["the same"] += 1
    assert all(outcomes.values()), outcomes
