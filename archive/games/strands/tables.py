"""The puzzles table of Strands, as an explicit Arrow schema."""

from __future__ import annotations

import pyarrow as pa

from nightgrid.archive.lake.tables import list_of, puzzles_schema

STRANDS_PUZZLES = puzzles_schema(
    "strands",
    pa.field("row_count", pa.int32(), nullable=False),
    pa.field("column_count", pa.int32(), nullable=False),
    pa.field("letter", list_of(pa.int32()), nullable=False),
    pa.field("theme_word_count", pa.int32(), nullable=False),
)
"""One row per board. `letter` holds the code point of each cell, row by row; theme_word_count is
-1 where the number of words beside the spangram is not known; `size` is the number of cells."""
