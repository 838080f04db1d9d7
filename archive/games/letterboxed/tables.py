"""The puzzles table of Letter Boxed, as an explicit Arrow schema."""

from __future__ import annotations

import pyarrow as pa

from nightgrid.archive.lake.tables import list_of, puzzles_schema

LETTERBOXED_PUZZLES = puzzles_schema(
    "letterboxed",
    pa.field("letter", list_of(pa.int32()), nullable=False),
    pa.field("side_size", list_of(pa.int32()), nullable=False),
    pa.field("dictionary_id", pa.string(), nullable=False),
)
"""One row per board. `letter` holds the code points of the letters, side by side, `side_size` how
many each side has; `dictionary_id` names the board's own words in the table of dictionaries, ""
for a board without; `size` is the number of letters."""
