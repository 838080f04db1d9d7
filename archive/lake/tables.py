"""Every table of the lake: explicit Arrow schemas, units in column names, never inferred.

The columns of a game's boards stand in its plug, nightgrid.archive.games.<game>.plug.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

SCHEMA_VERSION = 4
"""Raised whenever a column is added, dropped or changes its meaning."""
READABLE_VERSIONS = frozenset({1, 2, 3, 4})
"""Versions whose tables are read: what they lack is derived (nightgrid.archive.lake.conforming), or
else null."""


DELTA_CODED = "nightgrid.delta_coded"
"""Metadata of a schema that names the column path whose texts are stored as what differs from the
text before: small for sorted words."""


def _schema(name: str, *fields: pa.Field, delta_coded: str | None = None) -> pa.Schema:
    metadata = {"nightgrid.table": name, "nightgrid.schema_version": str(SCHEMA_VERSION)}
    if delta_coded is not None:
        metadata[DELTA_CODED] = delta_coded
    return pa.schema(fields, metadata=metadata)


def list_of(item: pa.DataType) -> pa.ListType:
    """Name the type of a list without nulls."""
    return pa.list_(pa.field("item", item, nullable=False))


_TIME = pa.timestamp("us", tz="UTC")

RAW = _schema(
    "raw",
    pa.field("sha256", pa.string(), nullable=False),
    pa.field("url", pa.string(), nullable=False),
    pa.field("game", pa.string(), nullable=False),
    pa.field("date", pa.date32(), nullable=False),
    pa.field("sequence", pa.int32(), nullable=False),
    pa.field("fetched_at", _TIME, nullable=False),
    pa.field("http_status", pa.int32()),
    pa.field("etag", pa.string()),
    pa.field("last_modified", pa.string()),
    pa.field("body_bytes", pa.int64(), nullable=False),
    pa.field("fault_rule", pa.string()),
    pa.field("fault_message", pa.string()),
)
"""One row per sighting that is normalised: a body for a date that differs from the one seen
before it, or shows on its date that a draft was final (`sequence` runs from 1 for each date). The
body lies under raw/, named by sha256.
`fault_*` say why a body that was received is no payload: an error page, a body cut at the bound."""


def puzzles_schema(game: str, columns: Mapping[str, str]) -> pa.Schema:
    """Build the schema of a game's puzzles table from the columns of its boards and their types.

    One row a board: puzzle_id and game come first, and `size`, which grows with the board, last.
    Types are named as Arrow does, "int32[]" is a list without nulls.
    """
    return _schema(
        f"puzzles.{game}",
        pa.field("puzzle_id", pa.string(), nullable=False),
        pa.field("game", pa.string(), nullable=False),
        *(pa.field(name, _type(text), nullable=False) for name, text in columns.items()),
        pa.field("size", pa.int32(), nullable=False),
    )


def _type(text: str) -> pa.DataType:
    item = pa.type_for_alias(text.removesuffix("[]"))
    return list_of(item) if text.endswith("[]") else item


DICTIONARIES = _schema(
    "dictionaries",
    pa.field("dictionary_id", pa.string(), nullable=False),
    pa.field("words", list_of(pa.string()), nullable=False),
    delta_coded="words.list.element",
)
"""The words that boards bring along, once per content and sorted; the id is the hash of them."""

EDITIONS = _schema(
    "editions",
    pa.field("game", pa.string(), nullable=False),
    pa.field("date", pa.date32(), nullable=False),
    pa.field("level", pa.string(), nullable=False),
    pa.field("revision", pa.int32(), nullable=False),
    pa.field("puzzle_id", pa.string(), nullable=False),
    pa.field("seen_at", _TIME, nullable=False),
    pa.field("raw_sha256", pa.string(), nullable=False),
    pa.field("source_id", pa.string()),
    pa.field("backend_id", pa.string()),
    pa.field("editor", pa.string()),
    pa.field("constructors", pa.string()),
    pa.field("clue", pa.string()),
    pa.field("official_solution", pa.string()),
    pa.field("draft", pa.bool_()),
    pa.field("par", pa.int32()),
    pa.field("yesterday", pa.string()),
)
"""Which board stood where, when: one row per revision, the highest revision is the current one.
`official_solution` is the game's solution JSON, null where the payload has none. `draft`: it was
seen before its date only (UTC), and may still change; null, which schema version 1 left, is no
draft. `clue` is what the player is told beside the board, `par` the number of words it is to be
solved in. `yesterday` is what the payload says of the edition of the day before, as JSON: it is
compared with that edition (OBSERVATIONS) and never trusted."""

QUARANTINE = _schema(
    "quarantine",
    pa.field("game", pa.string(), nullable=False),
    pa.field("date", pa.date32()),
    pa.field("level", pa.string()),
    pa.field("raw_sha256", pa.string(), nullable=False),
    pa.field("url", pa.string(), nullable=False),
    pa.field("seen_at", _TIME, nullable=False),
    pa.field("rule", pa.string(), nullable=False),
    pa.field("place", pa.string(), nullable=False),
    pa.field("message", pa.string(), nullable=False),
)
"""One row per broken rule, with the place in the payload that breaks it."""

OBSERVATIONS = _schema("observations", *QUARANTINE)
"""One row per contradiction between current editions, which costs none of them: what a payload says
of another day and that day's own does not, an id that two boards bear. Columns as in QUARANTINE,
of the payload in which it stands."""

CORPUS_INPUTS = _schema(
    "corpora.inputs",
    pa.field("slice", pa.int32(), nullable=False),
    pa.field("source", pa.string(), nullable=False),
    pa.field("row_group", pa.int32()),
    pa.field("body_bytes", pa.int64(), nullable=False),
    pa.field("sha256", pa.string(), nullable=False),
)
"""The files that a corpus is read from, or of Parquet files the row groups, and which slice takes
each. `source` is the path within the folder that was named."""

CORPUS_ROWS = _schema(
    "corpora.rows",
    pa.field("source", pa.string(), nullable=False),
    pa.field("source_row", pa.int64(), nullable=False),
    pa.field("date", pa.date32()),
    pa.field("level", pa.string()),
    pa.field("puzzle_id", pa.string()),
)
"""What every row of a corpus has become: joins results back to where their puzzles came from.
`source_row` counts the puzzles of a payload, the rows of a Parquet file or the boards of a
generator from 0; `puzzle_id` is null for a row that is in the corpus's quarantine."""

CORPUS_QUARANTINE = _schema(
    "corpora.quarantine",
    pa.field("source", pa.string(), nullable=False),
    pa.field("source_row", pa.int64(), nullable=False),
    pa.field("level", pa.string()),
    pa.field("rule", pa.string(), nullable=False),
    pa.field("place", pa.string(), nullable=False),
    pa.field("message", pa.string(), nullable=False),
)
"""One row per broken rule of a corpus, with the place in its source that breaks it."""

MANIFEST_HEAD = (
    pa.field("job_no", pa.int64(), nullable=False),
    pa.field("job_id", pa.string(), nullable=False),
    pa.field("ask", pa.string(), nullable=False),
    pa.field("part", pa.string(), nullable=False),
    pa.field("part_path", pa.string(), nullable=False),
)
"""First columns of a run's manifest, followed by the columns of the game's puzzles table. One row
per job or part of a job; `part` is the part's JSON ("" for a whole job) and `part_path` its
place among its siblings ("" for a whole job, "3" or "3.1" for parts), which orders a merge."""


def manifest_schema(puzzles: pa.Schema) -> pa.Schema:
    """Build the manifest schema of a game from the schema of its puzzles table."""
    return _schema("manifest", *MANIFEST_HEAD, *puzzles)


UNASKED = ("puzzle_id", "game", "ask")
"""Columns of a manifest that say nothing of what is to be solved."""


COUNT = pa.decimal128(38, 0)

RESULTS = _schema(
    "results",
    pa.field("job_id", pa.string(), nullable=False),
    pa.field("puzzle_id", pa.string(), nullable=False),
    pa.field("game", pa.string(), nullable=False),
    pa.field("ask", pa.string(), nullable=False),
    pa.field("rules", pa.string(), nullable=False),
    pa.field("lexicon_id", pa.string(), nullable=False),
    pa.field("solver_version", pa.string(), nullable=False),
    pa.field("status", pa.string(), nullable=False),
    pa.field("count", COUNT),
    pa.field("value", pa.int64()),
    pa.field("reason_code", pa.string()),
    pa.field("reason", pa.string(), nullable=False),
    pa.field("states", pa.int64(), nullable=False),
    pa.field("nodes", pa.int64(), nullable=False),
    pa.field("parts", pa.int32(), nullable=False),
    pa.field("kernel_ns", pa.int64(), nullable=False),
    pa.field("table_bytes", pa.int64(), nullable=False),
    pa.field("run_id", pa.string(), nullable=False),
)
"""One row per job. `value` is what the best solution is worth, the fewest words, letters or moves;
null in games that compare nothing. `reason_code` is a nightgrid.solvers.reasons.ReasonCode, null
where the job ended as asked, and `reason` says the same in a sentence. Everything but kernel_ns and
run_id is the same on every machine and at any time, as long as no budget of seconds ran out. Where
one did, whether and how a job was divided depends on time, and with it states, nodes, parts,
table_bytes, and whether status, count, value and reasons say over_budget; a count or an unsolvable
that is there is the same whichever way it was found."""

PARTS = _schema(
    "parts",
    pa.field("job_no", pa.int64(), nullable=False),
    pa.field("job_id", pa.string(), nullable=False),
    pa.field("part_path", pa.string(), nullable=False),
    pa.field("status", pa.string(), nullable=False),
    pa.field("count", COUNT),
    pa.field("value", pa.int64()),
    pa.field("value_at_least", pa.int64()),
    pa.field("value_at_most", pa.int64()),
    pa.field("solutions", pa.string()),
    pa.field("truncated", pa.bool_(), nullable=False),
    pa.field("reason_code", pa.string()),
    pa.field("reason", pa.string(), nullable=False),
    pa.field("children", pa.string()),
    pa.field("states", pa.int64(), nullable=False),
    pa.field("nodes", pa.int64(), nullable=False),
    pa.field("kernel_ns", pa.int64(), nullable=False),
    pa.field("table_bytes", pa.int64(), nullable=False),
)
"""What one chunk writes: one row per manifest row of the chunk, in manifest order. `solutions`
is a JSON list for first, best and all, null for count. `value_at_least` and `value_at_most` are
what an over_budget part knows of the lowest value. A part that came back split has status
"split" and its children, a JSON list of parts, in `children`; their rows stand in a later
segment. A part of a staged count that goes on in the next stage has status "carried", and says in
`children` how many states it has left there."""


def frontier_schema(row_words: int) -> pa.Schema:
    """Build the schema of spilled states: words of 8 bytes, the lowest byte of each first.

    They are the words of a state's key, then the halves of its count, the high one first.
    """
    return _schema("frontier", pa.field("state", pa.binary(8 * row_words), nullable=False))


SOLUTIONS = _schema(
    "solutions",
    pa.field("job_id", pa.string(), nullable=False),
    pa.field("puzzle_id", pa.string(), nullable=False),
    pa.field("game", pa.string(), nullable=False),
    pa.field("ask", pa.string(), nullable=False),
    pa.field("rank", pa.int64(), nullable=False),
    pa.field("solution", pa.string(), nullable=False),
    pa.field("run_id", pa.string(), nullable=False),
)
"""Solutions asked for, in canonical order, those of `best` from the highest score down: rank 0 is
the first."""

COUNTS_BY_DATE = _schema(
    "gold.counts_by_date",
    pa.field("game", pa.string(), nullable=False),
    pa.field("date", pa.date32(), nullable=False),
    pa.field("level", pa.string(), nullable=False),
    pa.field("revision", pa.int32(), nullable=False),
    pa.field("puzzle_id", pa.string(), nullable=False),
    pa.field("size", pa.int32(), nullable=False),
    pa.field("status", pa.string(), nullable=False),
    pa.field("count", COUNT),
    pa.field("value", pa.int64()),
    pa.field("states", pa.int64(), nullable=False),
    pa.field("kernel_ns", pa.int64(), nullable=False),
    pa.field("official_solution_valid", pa.bool_()),
    pa.field("official_solution_best", pa.bool_()),
)
"""For people: how many solutions each published puzzle has, current revisions only, no drafts, and
in games that ask for the fewest of something how few that is and whether the official solution
needs no more."""

RANKS_COLUMNS = (
    pa.field("game", pa.string(), nullable=False),
    pa.field("date", pa.date32(), nullable=False),
    pa.field("level", pa.string(), nullable=False),
    pa.field("revision", pa.int32(), nullable=False),
    pa.field("puzzle_id", pa.string(), nullable=False),
    pa.field("ask", pa.string(), nullable=False),
    pa.field("status", pa.string(), nullable=False),
    pa.field("best_count", pa.int64()),
    pa.field("official_rank", pa.int64()),
)


def ranks_schema(game: str) -> pa.Schema:
    """Build the schema of a game's ranks.

    For people: where the official solution stands among the best ones; 1 is the best one, null is
    not among them. `best_count` is how many of them there are, at most the k of the ask. Current
    revisions with an official solution, no drafts.
    """
    return _schema(f"gold.{game}_ranks", *RANKS_COLUMNS)


RUNTIMES = _schema(
    "gold.runtimes",
    pa.field("game", pa.string(), nullable=False),
    pa.field("ask", pa.string()),
    pa.field("level", pa.string(), nullable=False),
    pa.field("job_count", pa.int64(), nullable=False),
    pa.field("solved_count", pa.int64(), nullable=False),
    pa.field("kernel_ns_p50", pa.int64(), nullable=False),
    pa.field("kernel_ns_p99", pa.int64(), nullable=False),
    pa.field("kernel_ns_max", pa.int64(), nullable=False),
    pa.field("kernel_ns_total", pa.int64(), nullable=False),
    pa.field("states_total", pa.int64(), nullable=False),
)
"""For people: what the kernels cost, per game, ask and level."""
