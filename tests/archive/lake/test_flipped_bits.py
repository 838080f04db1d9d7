"""One bit of a file changes: that is damage, or changes nothing; it is no outage of the lake."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import PARTS, RESULTS
from tests.archive.lake.test_encoding import rows_of

BYTES = 600
"""Bytes that are struck, one after the other; each costs a millisecond."""


@pytest.mark.parametrize("schema", [PARTS, RESULTS], ids=["parts", "results"])
def test_a_flipped_bit_is_damage_or_changes_nothing(tmp_path: Path, schema: pa.Schema) -> None:
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
            read = lake.read_table(path, schema)
        except DamagedFileError:
            outcomes["damaged"] += 1
        else:
            assert read.equals(rows), f"bit {bit} of byte {at}"
            outcomes["the same"] += 1
    assert all(outcomes.values()), outcomes
