"""Parquet files of the lake as other programs write them again."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def write_again(path: Path, rows: pa.Table, *, keep_sums: bool, group_rows: int) -> None:
    """Write other rows into a file of the lake, with the metadata that it has or those of rows."""
    metadata = pq.read_metadata(path).metadata if keep_sums else rows.schema.metadata
    kept = {key: value for key, value in (metadata or {}).items() if key != b"ARROW:schema"}
    pq.write_table(rows.replace_schema_metadata(kept), path, row_group_size=group_rows)
